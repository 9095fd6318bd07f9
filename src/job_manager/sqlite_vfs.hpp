// SqliteVfs: SQLite's files are the platform's Files, so that a database lives on the simulated
// disk as well, and is torn there.
//
// For a rollback journal (no shared memory). Any lock of SQLite's is Files::lock of the database's
// file, so that one connection at a time reads or writes; another one is told SQLITE_BUSY, and
// where there are no locks nobody gets at the database. Temporary files are refused (PRAGMA
// temp_store = MEMORY). A new file's name is made durable at its first sync, as SQLite expects.
//
// SQLite itself draws the salt of its rollback journal from the system's default VFS; nothing that
// a simulated run does depends on it.
//
// Lifecycle: registered under a name of its own from construction to destruction; outlives the
// databases opened with it. Thread: as they are used. Errors: SQLite's codes; what the disk said
// about the last failure is last_failure().
#pragma once

#include <memory>
#include <string>

#include <hummer/status.hpp>

#include "platform/platform.hpp"

struct sqlite3_vfs;

namespace hummer {

class SqliteVfs {
 public:
  explicit SqliteVfs(Platform& platform);
  ~SqliteVfs();
  SqliteVfs(const SqliteVfs&) = delete;
  SqliteVfs& operator=(const SqliteVfs&) = delete;

  // For sqlite3_open_v2.
  const char* name() const { return name_.c_str(); }
  const Status& last_failure() const { return last_failure_; }
  void forget_failure() { last_failure_ = Status(); }

  // ---- for SQLite's calls ----
  Platform& platform() { return platform_; }
  // Keeps it; the code for SQLite.
  int failed(Status failure, int code);

 private:
  Platform& platform_;
  std::string name_;
  Status last_failure_;
  std::unique_ptr<sqlite3_vfs> vfs_;
};

}  // namespace hummer
