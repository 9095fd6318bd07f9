#include "job_manager/sqlite_database.hpp"

#include <fmt/format.h>
#include <sqlite3.h>

// SQLite's own names for what it registers with every database: full-text search, R-trees and a
// table of statements. Nothing here uses them, and they are a quarter of it. Where the archive
// keeps them in objects of their own (Debian's does), these stand in and they stay out; where not,
// they are weak and without effect.
extern "C" {
#define HUMMER_LEFT_OUT(name) \
  int name(sqlite3*);         \
  [[gnu::weak]] int name(sqlite3*) { return SQLITE_OK; }
HUMMER_LEFT_OUT(sqlite3Fts3Init)
HUMMER_LEFT_OUT(sqlite3Fts5Init)
HUMMER_LEFT_OUT(sqlite3RtreeInit)
HUMMER_LEFT_OUT(sqlite3StmtVtabInit)
#undef HUMMER_LEFT_OUT
}

namespace hummer {
namespace {

ErrorCode code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return ErrorCode::corrupt_file;
    case SQLITE_FULL: return ErrorCode::disk_full;
    case SQLITE_BUSY:
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_NOMEM: return ErrorCode::io_error;
    default: return ErrorCode::internal;
  }
}

}  // namespace

SqliteDatabase::~SqliteDatabase() {
  const int code = sqlite3_close(database_);
  HUMMER_ASSERT(code == SQLITE_OK);  // else a statement is left
}

Status SqliteDatabase::failure(int code) const {
  std::string text =
      fmt::format("database '{}': {}", path_,
                  database_ != nullptr ? sqlite3_errmsg(database_) : "out of memory");
  const ErrorCode kind = code_of(code);
  const bool of_disk = kind == ErrorCode::io_error || kind == ErrorCode::disk_full;
  if (of_disk && !vfs_.last_failure().ok()) text += ": " + vfs_.last_failure().message();
  return {kind, std::move(text)};
}

Status SqliteDatabase::open(const std::string& path) {
  HUMMER_ASSERT(database_ == nullptr);
  path_ = path;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const int code = sqlite3_open_v2(path.c_str(), &database_, flags, vfs_.name());
  if (code != SQLITE_OK) return failure(code);
  sqlite3_extended_result_codes(database_, 1);
  HUMMER_TRY(run("PRAGMA temp_store = MEMORY; PRAGMA synchronous = FULL"));
  // The answer is the mode that it has then.
  const Result<std::string> mode = text("PRAGMA journal_mode = TRUNCATE");
  return mode.ok() ? Status() : mode.status();
}

Status SqliteDatabase::run(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status() : failure(code);
}

Result<std::int64_t> SqliteDatabase::number(const std::string& sql) {
  SqliteStatement statement(*this);
  HUMMER_TRY(statement.prepare(sql));
  const Result<bool> row = statement.step();
  if (!row.ok()) return row.status();
  return *row ? statement.number(0) : std::int64_t{0};
}

Result<std::string> SqliteDatabase::text(const std::string& sql) {
  SqliteStatement statement(*this);
  HUMMER_TRY(statement.prepare(sql));
  const Result<bool> row = statement.step();
  if (!row.ok()) return row.status();
  return *row ? statement.bytes(0) : std::string();
}

void SqliteDatabase::roll_back() {
  if (sqlite3_get_autocommit(database_) != 0) return;  // SQLite has done it
  (void)run("ROLLBACK");
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

Status SqliteStatement::prepare(std::string_view sql) {
  HUMMER_ASSERT(statement_ == nullptr);
  const int code = sqlite3_prepare_v2(database_.database_, sql.data(), static_cast<int>(sql.size()),
                                      &statement_, nullptr);
  return code == SQLITE_OK ? Status() : database_.failure(code);
}

void SqliteStatement::bind(int parameter, std::int64_t value) {
  const int code = sqlite3_bind_int64(statement_, parameter, value);
  HUMMER_ASSERT(code == SQLITE_OK);
}

void SqliteStatement::bind(int parameter, std::string_view bytes) {
  // A null pointer would be NULL, not an empty one.
  const char* data = bytes.empty() ? "" : bytes.data();
  const int code = sqlite3_bind_blob64(statement_, parameter, data, bytes.size(), SQLITE_TRANSIENT);
  HUMMER_ASSERT(code == SQLITE_OK);
}

Result<bool> SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code == SQLITE_ROW) return true;
  const Status failed = code == SQLITE_DONE ? Status() : database_.failure(code);
  sqlite3_reset(statement_);
  if (!failed.ok()) return failed;
  return false;
}

Status SqliteStatement::run() {
  const Result<bool> row = step();
  return row.ok() ? Status() : row.status();
}

std::int64_t SqliteStatement::number(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string SqliteStatement::bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_, column);
  if (data == nullptr) return {};
  return {static_cast<const char*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

}  // namespace hummer
