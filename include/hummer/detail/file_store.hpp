// FileStore: where the files of follow_files and write_files lie (hummer/files.hpp): a local or
// mounted directory, or an object store. Sources and sinks know nothing of it but this.
//
//   std::unique_ptr<FileStore> store = factory->make(context);
//
//   auto lister = store->list("/in");                       // page by page, never all at once
//   while (lister->next(files) == FileLister::Step::more) …
//   Result<StoredFile> file = store->look_at("/in/a");      // with its version
//   auto reader = store->open(*file);                       // that version, or file_changed
//   (*reader)->read_at(0, into);
//
//   auto upload = store->begin_upload("/out", "dt=1/part-…");
//   (*upload)->append(bytes);
//   Result<std::string> handle = (*upload)->finish();       // durable, and nobody sees it
//   store->publish(*handle);                                // whole, under its name
//
// Paths: `directory` is as the job's author writes it ("/data/in", "bucket/prefix"); what is listed
// has whole paths, which open and look_at take; `name` is relative to the directory, its parts are
// parted by '/'.
//
// Uploads. One that is begun is invisible until it is published, and stays until it is published or
// aborted, also when its process dies. `finish` makes it durable and answers a handle: all that any
// process needs to publish it, also years later. Publishing
//   - replaces nothing: a file of this name that is not of this upload is invalid_argument
//   - once more does nothing, as long as the file is there
//   - answers not_found when neither the upload nor the file is there: whether it was published,
//     and its file taken away since, is for the caller to know (it keeps notes).
// An upload that goes on over a checkpoint is saved: `save` makes what was appended so far durable,
// and answers a token; finish_saved makes of it a finished upload of exactly those bytes, also when
// the process that wrote on is dead, or, cut off, still writes, and also when the upload was
// finished and published with more behind them: then the file that is there is set aside before the
// new one is published. Where the file has exactly those bytes it is the one. A store that can't
// answers false in can_save, and its uploads end with each checkpoint.
//
// Notes: small files of the sink's own (put, get), replaced as a whole: a reader sees the old or
// the new one, and a put that has answered is durable.
//
// Hidden: a path with a component that begins with '.' or '_', below the directory that is listed.
// Uploads that are not published, and notes (whose names begin with '.'), are hidden.
//
// Errors name the path and what to do: not_found, permission_denied, disk_full, file_changed,
// io_error for the rest. A failure leaves what was published as it was; an upload that has failed
// is of no use any more. What may come better at another try (a connection that broke) the store
// tries again by itself, for a bounded time.
//
// Thread: a store and what it opened belong to the operator that has made it, and go with it: one
// thread at a time. Every call may wait for the store and holds its slot meanwhile, so those that
// would wait long where it matters, listing and reading, can say so instead: `wake`, from any
// thread, says that it is worth asking again; not once what it was given to is destroyed.
//
// Cost: append is called with 64 KiB or more, but for the end of a file.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/captured_values.hpp>
#include <hummer/operator.hpp>
#include <hummer/status.hpp>

namespace hummer {

struct StoredFile {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;  // since 1970
  // What tells this content from other content of the same path, size and time, such as an ETag;
  // empty where listing does not say it: look_at does. At most 1 KiB.
  std::string version;
};

class FileLister {
 public:
  enum class Step : std::uint8_t { more, waiting, done, failed };

  virtual ~FileLister() = default;
  // Appends the next page, in any order: at most some thousand files, of those that are not hidden.
  virtual Step next(std::vector<StoredFile>& files) = 0;
  // Behind `failed`.
  virtual Status failure() const = 0;
};

class StoreReader {
 public:
  virtual ~StoreReader() = default;
  // Fills `into` as far as the file goes: fewer bytes only at its end, 0 behind it.
  virtual Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) = 0;
  // Whether these bytes (as far as there are any) can be had without waiting; if not they are being
  // fetched, and `wake` of open follows. Asked ahead of reading from front to back; true is always
  // right.
  virtual bool is_at_hand(std::uint64_t /*offset*/, std::size_t /*length*/) { return true; }
};

// Destroying one that is neither finished nor saved aborts it, if the store can be reached.
class FileUpload {
 public:
  virtual ~FileUpload() = default;
  virtual Status append(std::string_view bytes) = 0;
  // See above; nothing may be appended behind finish.
  virtual Result<std::string> finish() = 0;
  virtual Result<std::string> save() = 0;
};

// One that was begun and not published. `name`: the last part of that of its file.
struct PendingUpload {
  std::string name;
  std::string handle;  // for abort
};

class FileStore {
 public:
  virtual ~FileStore() = default;

  // ---- reading ----

  // All files below `directory`, at any depth. not_found, at once or by a step, where a store has
  // directories and this one is missing.
  virtual Result<std::unique_ptr<FileLister>> list(const std::string& directory,
                                                   std::function<void()> wake) = 0;
  // As it is now, with its version. not_found.
  virtual Result<StoredFile> look_at(const std::string& path) = 0;
  // not_found, or file_changed where it is not the one that was looked at.
  virtual Result<std::unique_ptr<StoreReader>> open(const StoredFile& file,
                                                    std::function<void()> wake) = 0;
  // Whether files appear as a whole, so that one that is listed is complete.
  virtual bool files_appear_whole() const = 0;

  // ---- writing ----

  // Makes what is needed to write below `directory`, such as itself; whether it may be written to.
  virtual Status prepare_directory(const std::string& directory) = 0;
  virtual Result<std::unique_ptr<FileUpload>> begin_upload(const std::string& directory,
                                                           const std::string& name) = 0;
  virtual bool can_save() const = 0;
  virtual Result<std::string> finish_saved(const std::string& token) = 0;
  virtual Status publish(const std::string& handle) = 0;
  // Of a handle of finish, a token of save or a PendingUpload, that is not published; nothing
  // happens where it is gone.
  virtual Status abort(const std::string& handle) = 0;
  // Of all sinks on this directory, whoever began them.
  virtual Result<std::vector<PendingUpload>> pending_uploads(const std::string& directory) = 0;
  // Renames a published file to a hidden name, replacing nothing; not_found: somebody was faster.
  virtual Status hide(const std::string& path, const std::string& to) = 0;

  // ---- notes, and other small files ----

  virtual Status put(const std::string& path, std::string_view bytes) = 0;
  // not_found. limit_exceeded above `most_bytes`.
  virtual Result<std::string> get(const std::string& path, std::size_t most_bytes) = 0;
  // Names in `<directory>/<folder>`, of notes; empty where the folder is missing.
  virtual Result<std::vector<std::string>> notes(const std::string& directory,
                                                 const std::string& folder) = 0;
};

// Made when the job is described, and used by every subtask, from several threads.
class FileStoreFactory {
 public:
  virtual ~FileStoreFactory() = default;
  // `context` lives as long as the store.
  virtual Result<std::unique_ptr<FileStore>> make(OperatorContext& context) const = 0;
  // The settings, but for secrets, which client and workers compare.
  virtual CapturedValues captured() const = 0;
};

// Files of the machine, or of what is mounted there.
std::shared_ptr<const FileStoreFactory> local_files();

}  // namespace hummer
