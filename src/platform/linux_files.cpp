#include "platform/linux_files.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <utility>

#include "platform/descriptor.hpp"
#include "platform/fault_guard.hpp"
#include "platform/linux_mapping.hpp"
#include "platform/system_error.hpp"

namespace hummer {
namespace {

std::int64_t modified_ms(const struct stat& information) {
  return static_cast<std::int64_t>(information.st_mtim.tv_sec) * 1000 +
         information.st_mtim.tv_nsec / 1'000'000;
}

Result<std::size_t> read_whole(int file, const std::string& path, std::uint64_t offset,
                               std::span<char> into) {
  std::size_t done = 0;
  while (done < into.size()) {
    const ssize_t got =
        ::pread(file, into.data() + done, into.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_failure(errno, "read", path);
    if (got == 0) break;
    done += static_cast<std::size_t>(got);
  }
  return done;
}

Status sync_data(int file, const std::string& path) {
  if (::fdatasync(file) == 0) return {};
  // Not every kernel and not every kind of file can: there is nothing to make durable then.
  if (errno == EINVAL || errno == ENOSYS || errno == EROFS) return {};
  return file_failure(errno, "sync", path);
}

class LinuxReadableFile final : public ReadableFile {
 public:
  LinuxReadableFile(std::string path, Descriptor file, std::uint64_t size_bytes, bool guarded)
      : path_(std::move(path)),
        file_(std::make_shared<const Descriptor>(std::move(file))),
        size_bytes_(size_bytes),
        guarded_(guarded) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return size_bytes_; }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return read_whole(file_->number(), path_, offset, into);
  }

  Result<std::unique_ptr<Mapping>> map(std::uint64_t offset, std::size_t length) override {
    return LinuxMapping::make(file_, path_, offset, length, guarded_);
  }

  void advise_sequential() override {
    ::posix_fadvise(file_->number(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

 private:
  std::string path_;
  std::shared_ptr<const Descriptor> file_;
  std::uint64_t size_bytes_;
  bool guarded_;
};

class LinuxWritableFile final : public WritableFile {
 public:
  LinuxWritableFile(std::string path, Descriptor file, std::uint64_t size_bytes)
      : path_(std::move(path)), file_(std::move(file)), size_bytes_(size_bytes) {}

  const std::string& path() const override { return path_; }
  std::uint64_t size_bytes() const override { return size_bytes_; }

  Status append(std::string_view bytes) override {
    if (!file_.valid()) return already_closed();
    while (!bytes.empty()) {
      const ssize_t put = ::write(file_.number(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return file_failure(errno, "write", path_);
      size_bytes_ += static_cast<std::uint64_t>(put);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

  void expect_sync() override {
    if (!file_.valid() || size_bytes_ - begun_bytes_ < written_back_at_once) return;
    // What can't be begun waits for sync(), which tells failures.
    static_cast<void>(::sync_file_range(file_.number(), static_cast<off_t>(begun_bytes_),
                                        static_cast<off_t>(size_bytes_ - begun_bytes_),
                                        SYNC_FILE_RANGE_WRITE));
    begun_bytes_ = size_bytes_;
  }

  Status sync() override {
    if (!file_.valid()) return already_closed();
    return sync_data(file_.number(), path_);
  }

  Status close() override {
    const int error = file_.reset();
    // After EINTR the descriptor is gone on Linux and nothing is lost.
    if (error == 0 || error == EINTR) return {};
    return file_failure(error, "close", path_);
  }

 private:
  Status already_closed() const {
    return {ErrorCode::invalid_argument, "cannot write '" + path_ + "': it was closed"};
  }

  static constexpr std::uint64_t written_back_at_once = std::uint64_t{8} << 20;

  std::string path_;
  Descriptor file_;
  std::uint64_t size_bytes_;
  std::uint64_t begun_bytes_ = size_bytes_;  // what the disk has begun with
};

class LinuxUpdatableFile final : public UpdatableFile {
 public:
  LinuxUpdatableFile(std::string path, Descriptor file)
      : path_(std::move(path)), file_(std::move(file)) {}

  const std::string& path() const override { return path_; }

  Result<std::uint64_t> size_bytes() const override {
    struct stat information{};
    if (::fstat(file_.number(), &information) != 0) return file_failure(errno, "look at", path_);
    return static_cast<std::uint64_t>(information.st_size);
  }

  Result<std::size_t> read_at(std::uint64_t offset, std::span<char> into) override {
    return read_whole(file_.number(), path_, offset, into);
  }

  Status write_at(std::uint64_t offset, std::string_view bytes) override {
    while (!bytes.empty()) {
      const ssize_t put =
          ::pwrite(file_.number(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) return file_failure(errno, "write", path_);
      offset += static_cast<std::uint64_t>(put);
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    return {};
  }

  Status truncate(std::uint64_t size_bytes) override {
    while (::ftruncate(file_.number(), static_cast<off_t>(size_bytes)) != 0) {
      if (errno != EINTR) return file_failure(errno, "truncate", path_);
    }
    return {};
  }

  Status sync() override { return sync_data(file_.number(), path_); }

 private:
  std::string path_;
  Descriptor file_;
};

class LinuxFileLock final : public FileLock {
 public:
  explicit LinuxFileLock(Descriptor file) : file_(std::move(file)) {}

 private:
  Descriptor file_;  // the lock is the open file's
};

}  // namespace

LinuxFiles::LinuxFiles(bool guard_mappings) : guard_mappings_(guard_mappings) {
  if (guard_mappings_) install_fault_guard();
}

Result<std::unique_ptr<ReadableFile>> LinuxFiles::open_for_reading(const std::string& path) {
  // Not blocking, or opening a named pipe would wait for its writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.valid()) return file_failure(errno, "open", path);
  struct stat information{};
  if (::fstat(file.number(), &information) != 0) return file_failure(errno, "open", path);
  if (!S_ISREG(information.st_mode)) {
    return Status(ErrorCode::not_a_file,
                  "cannot read '" + path + "': it is " +
                      (S_ISDIR(information.st_mode) ? "a directory" : "not a regular file"));
  }
  return std::unique_ptr<ReadableFile>(std::make_unique<LinuxReadableFile>(
      path, std::move(file), static_cast<std::uint64_t>(information.st_size), guard_mappings_));
}

Result<std::unique_ptr<WritableFile>> LinuxFiles::open_for_writing(const std::string& path,
                                                                   WriteMode mode) {
  int flags = O_WRONLY | O_CREAT | O_CLOEXEC;
  if (mode == WriteMode::truncate) flags |= O_TRUNC;
  if (mode == WriteMode::append) flags |= O_APPEND;
  if (mode == WriteMode::create_new) flags |= O_EXCL;
  Descriptor file(::open(path.c_str(), flags, 0666));
  if (!file.valid()) return file_failure(errno, "open for writing", path);
  struct stat information{};
  std::uint64_t size_bytes = 0;
  if (mode == WriteMode::append && ::fstat(file.number(), &information) == 0) {
    size_bytes = static_cast<std::uint64_t>(information.st_size);
  }
  return std::unique_ptr<WritableFile>(
      std::make_unique<LinuxWritableFile>(path, std::move(file), size_bytes));
}

Result<std::unique_ptr<UpdatableFile>> LinuxFiles::open_for_updating(const std::string& path,
                                                                     bool create) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0666));
  if (!file.valid()) return file_failure(errno, "open for writing", path);
  return std::unique_ptr<UpdatableFile>(
      std::make_unique<LinuxUpdatableFile>(path, std::move(file)));
}

Result<std::unique_ptr<FileLock>> LinuxFiles::lock(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC | O_CREAT, 0666));
  if (!file.valid()) return file_failure(errno, "open for writing", path);
  if (::flock(file.number(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EWOULDBLOCK) return std::unique_ptr<FileLock>();
    const Status failure = file_failure(error, "lock", path);
    const bool has_none =
        error == ENOLCK || error == EOPNOTSUPP || error == ENOSYS || error == EINVAL;
    if (!has_none) return failure;
    return Status(ErrorCode::invalid_configuration,
                  failure.message() + " (its file system has no locks)");
  }
  return std::unique_ptr<FileLock>(std::make_unique<LinuxFileLock>(std::move(file)));
}

Result<FileInformation> LinuxFiles::stat(const std::string& path) {
  struct stat information{};
  if (::stat(path.c_str(), &information) != 0) return file_failure(errno, "look at", path);
  return FileInformation{S_ISDIR(information.st_mode), S_ISREG(information.st_mode),
                         static_cast<std::uint64_t>(information.st_size), modified_ms(information)};
}

Result<std::vector<std::string>> LinuxFiles::list_directory(const std::string& path) {
  DIR* directory = ::opendir(path.c_str());
  if (directory == nullptr) return file_failure(errno, "list", path);
  std::vector<std::string> names;
  while (true) {
    errno = 0;
    const dirent* entry = ::readdir(directory);
    if (entry == nullptr) break;
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  const int error = errno;
  ::closedir(directory);
  if (error != 0) return file_failure(error, "list", path);
  std::sort(names.begin(), names.end());
  return names;
}

Status LinuxFiles::rename(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return file_failure(errno, "rename", from + "' to '" + to);
}

// Not every file system can rename without replacing; what it can then is one more name for a file.
// Whoever dies between the two calls leaves both names, and goes on from there.
Status LinuxFiles::rename_new(const std::string& from, const std::string& to) {
  const auto refused = [&](int error) -> Status {
    if (error != EEXIST) return file_failure(error, "rename", from + "' to '" + to);
    return {ErrorCode::invalid_argument,
            "cannot rename '" + from + "' to '" + to + "': the latter exists"};
  };
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return {};
  if (errno != EINVAL && errno != ENOSYS) return refused(errno);
  if (::link(from.c_str(), to.c_str()) != 0) {
    const int error = errno;
    struct stat one{}, other{};
    const bool linked = error == EEXIST && ::stat(from.c_str(), &one) == 0 &&
                        ::stat(to.c_str(), &other) == 0 && one.st_dev == other.st_dev &&
                        one.st_ino == other.st_ino;
    if (!linked) return refused(error);
  }
  if (::unlink(from.c_str()) == 0) return {};
  return refused(errno);
}

Status LinuxFiles::remove(const std::string& path) {
  if (::remove(path.c_str()) == 0) return {};
  return file_failure(errno, "remove", path);
}

Result<bool> LinuxFiles::make_directory(const std::string& path) {
  if (::mkdir(path.c_str(), 0777) == 0) return true;
  if (errno == EEXIST) return false;
  return file_failure(errno, "create directory", path);
}

Status LinuxFiles::sync_directory(const std::string& path) {
  Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.valid()) return file_failure(errno, "sync", path);
  if (::fsync(directory.number()) == 0) return {};
  if (errno == EINVAL || errno == ENOSYS || errno == EROFS) return {};
  return file_failure(errno, "sync", path);
}

}  // namespace hummer
