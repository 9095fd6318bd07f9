#include "job_manager/sqlite_vfs.hpp"

#include <algorithm>
#include <cstring>
#include <new>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

namespace hummer {
namespace {

constexpr int sector_bytes = 4096;
constexpr int longest_path = 4096;
constexpr std::int64_t julian_ms_of_1970 = 210'866'760'000'000;

struct OpenFile {
  SqliteVfs& vfs;
  std::unique_ptr<UpdatableFile> file;
  bool is_new;                     // its name is not durable yet
  std::unique_ptr<FileLock> lock;  // while SQLite has any of its locks
};

// What SQLite makes room for.
struct FileHandle {
  sqlite3_file base;
  OpenFile* open;
};

OpenFile& opened(sqlite3_file* file) { return *reinterpret_cast<FileHandle*>(file)->open; }
SqliteVfs& instance(sqlite3_vfs* vfs) { return *static_cast<SqliteVfs*>(vfs->pAppData); }

// ---- one file ----

int close_file(sqlite3_file* file) {
  delete std::exchange(reinterpret_cast<FileHandle*>(file)->open, nullptr);
  return SQLITE_OK;
}

int read_file(sqlite3_file* file, void* into, int size, sqlite3_int64 offset) {
  OpenFile& open = opened(file);
  char* bytes = static_cast<char*>(into);
  const auto wanted = static_cast<std::size_t>(size);
  const Result<std::size_t> got =
      open.file->read_at(static_cast<std::uint64_t>(offset), std::span(bytes, wanted));
  if (!got.ok()) return open.vfs.failed(got.status(), SQLITE_IOERR_READ);
  if (*got == wanted) return SQLITE_OK;
  std::memset(bytes + *got, 0, wanted - *got);
  return SQLITE_IOERR_SHORT_READ;
}

int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  OpenFile& open = opened(file);
  const std::string_view text(static_cast<const char*>(bytes), static_cast<std::size_t>(size));
  Status written = open.file->write_at(static_cast<std::uint64_t>(offset), text);
  if (written.ok()) return SQLITE_OK;
  const bool full = written.code() == ErrorCode::disk_full;
  return open.vfs.failed(std::move(written), full ? SQLITE_FULL : SQLITE_IOERR_WRITE);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  OpenFile& open = opened(file);
  Status cut = open.file->truncate(static_cast<std::uint64_t>(size));
  return cut.ok() ? SQLITE_OK : open.vfs.failed(std::move(cut), SQLITE_IOERR_TRUNCATE);
}

int sync_file(sqlite3_file* file, int) {
  OpenFile& open = opened(file);
  Status synced = open.file->sync();
  if (!synced.ok()) return open.vfs.failed(std::move(synced), SQLITE_IOERR_FSYNC);
  if (!open.is_new) return SQLITE_OK;
  synced = open.vfs.platform().files().sync_directory(parent_of(open.file->path()));
  if (!synced.ok()) return open.vfs.failed(std::move(synced), SQLITE_IOERR_DIR_FSYNC);
  open.is_new = false;
  return SQLITE_OK;
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  OpenFile& open = opened(file);
  const Result<std::uint64_t> bytes = open.file->size_bytes();
  if (!bytes.ok()) return open.vfs.failed(bytes.status(), SQLITE_IOERR_FSTAT);
  *size = static_cast<sqlite3_int64>(*bytes);
  return SQLITE_OK;
}

// One lock stands for all of SQLite's: readers keep each other away too.
int lock_file(sqlite3_file* file, int) {
  OpenFile& open = opened(file);
  if (open.lock != nullptr) return SQLITE_OK;
  Result<std::unique_ptr<FileLock>> lock = open.vfs.platform().files().lock(open.file->path());
  if (!lock.ok()) return open.vfs.failed(lock.status(), SQLITE_IOERR_LOCK);
  if (*lock == nullptr) return SQLITE_BUSY;
  open.lock = std::move(*lock);
  return SQLITE_OK;
}
int unlock_file(sqlite3_file* file, int level) {
  if (level == SQLITE_LOCK_NONE) opened(file).lock.reset();
  return SQLITE_OK;
}
int is_reserved(sqlite3_file*, int* reserved) {
  *reserved = 0;
  return SQLITE_OK;
}
int control_file(sqlite3_file*, int, void*) { return SQLITE_NOTFOUND; }
int size_of_sector(sqlite3_file*) { return sector_bytes; }
// Bytes beside an overwritten range stay as they were.
int characteristics(sqlite3_file*) { return SQLITE_IOCAP_POWERSAFE_OVERWRITE; }

constexpr sqlite3_io_methods methods = {1,
                                        close_file,
                                        read_file,
                                        write_file,
                                        truncate_file,
                                        sync_file,
                                        size_of_file,
                                        lock_file,
                                        unlock_file,
                                        is_reserved,
                                        control_file,
                                        size_of_sector,
                                        characteristics,
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        nullptr,
                                        nullptr};

// ---- the disk ----

int open_file(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags,
              int* flags_given) {
  SqliteVfs& self = instance(vfs);
  auto* handle = reinterpret_cast<FileHandle*>(file);
  handle->base.pMethods = nullptr;
  if (name == nullptr || (flags & SQLITE_OPEN_DELETEONCLOSE) != 0) return SQLITE_CANTOPEN;
  Files& files = self.platform().files();
  const bool create = (flags & SQLITE_OPEN_CREATE) != 0;
  const bool is_new = create && !files.stat(name).ok();
  Result<std::unique_ptr<UpdatableFile>> opened = files.open_for_updating(name, create);
  if (!opened.ok()) return self.failed(opened.status(), SQLITE_CANTOPEN);
  handle->open = new OpenFile{self, std::move(*opened), is_new, nullptr};
  handle->base.pMethods = &methods;
  if (flags_given != nullptr) *flags_given = flags;
  return SQLITE_OK;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync_directory) {
  SqliteVfs& self = instance(vfs);
  Files& files = self.platform().files();
  Status removed = files.remove(name);
  if (removed.code() == ErrorCode::not_found) return SQLITE_IOERR_DELETE_NOENT;
  if (!removed.ok()) return self.failed(std::move(removed), SQLITE_IOERR_DELETE);
  if (sync_directory == 0) return SQLITE_OK;
  Status synced = files.sync_directory(parent_of(name));
  return synced.ok() ? SQLITE_OK : self.failed(std::move(synced), SQLITE_IOERR_DIR_FSYNC);
}

// An empty file counts as none, as with SQLite's own VFS: an ended rollback journal.
int access_file(sqlite3_vfs* vfs, const char* name, int, int* is_there) {
  const Result<FileInformation> found = instance(vfs).platform().files().stat(name);
  if (!found.ok() && found.status().code() != ErrorCode::not_found) {
    return instance(vfs).failed(found.status(), SQLITE_IOERR_ACCESS);
  }
  *is_there = found.ok() && found->size_bytes > 0 ? 1 : 0;
  return SQLITE_OK;
}

int full_path(sqlite3_vfs*, const char* name, int size, char* into) {
  const std::size_t length = std::strlen(name) + 1;
  if (length > static_cast<std::size_t>(size)) return SQLITE_CANTOPEN;
  std::memcpy(into, name, length);
  return SQLITE_OK;
}

int draw(sqlite3_vfs* vfs, int size, char* into) {
  instance(vfs).platform().random().fill(std::span(into, static_cast<std::size_t>(size)));
  return size;
}

int pass_time(sqlite3_vfs*, int) { return 0; }  // nobody waits for a lock

int now_in_ms(sqlite3_vfs* vfs, sqlite3_int64* now) {
  *now = instance(vfs).platform().wall_time_ms() + julian_ms_of_1970;
  return SQLITE_OK;
}

int now_in_days(sqlite3_vfs* vfs, double* now) {
  sqlite3_int64 in_ms = 0;
  const int code = now_in_ms(vfs, &in_ms);
  *now = static_cast<double>(in_ms) / 86'400'000.0;
  return code;
}

int last_error(sqlite3_vfs*, int, char*) { return 0; }

}  // namespace

SqliteVfs::SqliteVfs(Platform& platform)
    : platform_(platform),
      name_(fmt::format("hummer-{}", fmt::ptr(this))),
      vfs_(std::make_unique<sqlite3_vfs>()) {
  vfs_->iVersion = 2;
  vfs_->szOsFile = sizeof(FileHandle);
  vfs_->mxPathname = longest_path;
  vfs_->zName = name_.c_str();
  vfs_->pAppData = this;
  vfs_->xOpen = open_file;
  vfs_->xDelete = delete_file;
  vfs_->xAccess = access_file;
  vfs_->xFullPathname = full_path;
  vfs_->xRandomness = draw;
  vfs_->xSleep = pass_time;
  vfs_->xCurrentTime = now_in_days;
  vfs_->xCurrentTimeInt64 = now_in_ms;
  vfs_->xGetLastError = last_error;
  const int code = sqlite3_vfs_register(vfs_.get(), 0);
  HUMMER_ASSERT(code == SQLITE_OK);
}

SqliteVfs::~SqliteVfs() { sqlite3_vfs_unregister(vfs_.get()); }

int SqliteVfs::failed(Status failure, int code) {
  last_failure_ = std::move(failure);
  return code;
}

}  // namespace hummer
