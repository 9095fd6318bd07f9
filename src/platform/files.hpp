// Files: everything that the engine does with a disk.
//
// Calls may block for as long as the disk takes; they do not suspend. A path is
// UTF-8 or whatever the system takes, absolute or relative to the process.
//
// Errors: every message names the path. not_found, permission_denied (also a
// read-only file system), not_a_file (a directory where a file is needed),
// disk_full (also quota), invalid_argument, io_error for the rest. A file that
// shrank is file_changed.
//
// Thread: Files, ReadableFile and Mapping from any thread at once (each reader
// has its own offset); a WritableFile or UpdatableFile from one thread at a time.
// Handles may outlive the Files that opened them, but not the Platform.
//
// Durability: append(), write_at(), truncate() and close() promise nothing after a
// power cut; sync() makes a file's bytes durable, sync_directory() the names in a directory
// (files created, renamed or removed there).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

class ObjectStore;

// A part of a file in memory, read-only, until destroyed.
//
// The file may be truncated by someone else meanwhile. Reading behind its new
// end is safe (it reads zero bytes, see fault_guard.hpp), and truncated() tells.
// So: read, then ask truncated() before the result counts.
class Mapping {
 public:
  // Bytes past size() that may be read (their content means nothing), so that
  // vector code need not stop short.
  static constexpr std::size_t readable_past_end = 64;

  virtual ~Mapping() = default;
  virtual const char* data() const = 0;
  virtual std::size_t size() const = 0;
  std::string_view text() const { return {data(), size()}; }
  // Whether the file became shorter than the mapped part. A system call: ask per block.
  virtual bool truncated() const = 0;
  // A hint: these bytes will be read next (cheaper than one fault per page group).
  virtual void prefault(std::size_t offset, std::size_t length) = 0;
  // A hint: [0, end) will not be read again soon.
  virtual void release_before(std::size_t end) = 0;
};

class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  virtual const std::string& path() const = 0;
  // When it was opened.
  virtual std::uint64_t size_bytes() const = 0;
  // Fills `into` as far as the file goes: less than asked only at its end, 0 at or behind it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;
  // The mapping may outlive the file object. file_changed when the file is too short for it;
  // limit_exceeded or io_error when it can't be mapped here: use read_at then.
  virtual Result<std::unique_ptr<Mapping>> map(std::uint64_t offset, std::size_t length) = 0;
  // A hint: it will be read from front to back.
  virtual void advise_sequential() = 0;
};

// Destroying it without close() closes it and forgets the outcome.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual const std::string& path() const = 0;
  // All of `bytes` or a failure; after a failure the file may end with a part of them.
  virtual Status append(std::string_view bytes) = 0;
  // Bytes in the file as far as this handle knows.
  virtual std::uint64_t size_bytes() const = 0;
  // A hint, as often as one likes: sync() will come. Where much was appended since the last time,
  // the disk begins with it now, so that sync() has less to wait for.
  virtual void expect_sync() {}
  virtual Status sync() = 0;
  // Idempotent; append afterwards is invalid_argument.
  virtual Status close() = 0;
};

// A file that is read and written in place, such as a database. Destroying it closes it.
class UpdatableFile {
 public:
  virtual ~UpdatableFile() = default;
  virtual const std::string& path() const = 0;
  virtual Result<std::uint64_t> size_bytes() const = 0;
  // Fills `into` as far as the file goes, as ReadableFile::read_at.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;
  // All of `bytes` or a failure, after which a part of them may be there. A gap between the
  // file's end and `offset` reads as zeros.
  virtual Status write_at(std::uint64_t offset, std::string_view bytes) = 0;
  // Makes it longer (by zeros) or shorter.
  virtual Status truncate(std::uint64_t size_bytes) = 0;
  virtual Status sync() = 0;
};

// Something that one holder has at a time, on this machine; see Files::lock. Destroying it gives it
// back, and so does the end of the process, however it comes.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

enum class WriteMode {
  truncate,    // make it, or empty it
  append,      // make it, or go on at its end
  create_new,  // invalid_argument when it exists
};

struct FileInformation {
  bool is_directory = false;
  bool is_regular = false;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;  // since 1970
};

class Files {
 public:
  virtual ~Files() = default;

  virtual Result<std::unique_ptr<ReadableFile>> open_for_reading(const std::string& path) = 0;
  virtual Result<std::unique_ptr<WritableFile>> open_for_writing(const std::string& path,
                                                                 WriteMode mode) = 0;
  // Made when it is missing and `create`; else not_found.
  virtual Result<std::unique_ptr<UpdatableFile>> open_for_updating(const std::string& path,
                                                                   bool create) = 0;
  // Made when it is missing, and left behind. Null when somebody holds it, in this process or
  // another. invalid_configuration where the file system has no locks: then nobody has it.
  virtual Result<std::unique_ptr<FileLock>> lock(const std::string& path) = 0;
  virtual Result<FileInformation> stat(const std::string& path) = 0;
  // Names (not paths), sorted by bytes, without "." and "..".
  virtual Result<std::vector<std::string>> list_directory(const std::string& path) = 0;
  // Replaces `to` when it exists; atomic.
  virtual Status rename(const std::string& from, const std::string& to) = 0;
  // Replaces nothing: invalid_argument when `to` exists, also when somebody makes it at this very
  // moment. A file.
  virtual Status rename_new(const std::string& from, const std::string& to) = 0;
  // A file or an empty directory.
  virtual Status remove(const std::string& path) = 0;
  // One; false when something has the name. Its name is durable once the directory above is synced.
  virtual Result<bool> make_directory(const std::string& path) = 0;
  virtual Status sync_directory(const std::string& path) = 0;
  // Null: a disk. Else the store that the path is in, which has no directories and renames nothing
  // (object_store.hpp). invalid_configuration: one that can't be had here.
  virtual Result<ObjectStore*> object_store(const std::string& /*path*/) { return nullptr; }

  // With all that are missing above it; no failure when it is there. The names of those that it
  // makes are durable, so that what is synced in them later is found after a power cut. In an
  // object store there is nothing to make.
  Status create_directories(const std::string& path);

  // invalid_argument where `path` is in an object store; `instead`: what to do there.
  Status must_be_on_disk(const std::string& path, std::string_view instead);

  // Existing paths that match, sorted by bytes; empty when none does. `*`, `?` and `[a-z]`
  // match within one path component, never a leading dot; `\` quotes. Scheme and bucket of an
  // object store are what they are. Failures: those of stat and list_directory but not_found.
  Result<std::vector<std::string>> glob(const std::string& pattern);
};

// Whether `pattern` (one path component) has a wildcard, and whether it matches `name`.
bool has_wildcard(std::string_view pattern);
bool matches_wildcard(std::string_view pattern, std::string_view name);

// The directory that `path` is in, by its text alone: "/" of "/a" and of "/", "." of a bare name. A
// slash at the end does not count.
std::string parent_of(const std::string& path);

}  // namespace hummer
