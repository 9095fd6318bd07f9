// SqliteDatabase, SqliteStatement: SQLite with Status and values that close themselves.
//
// Made for small, precious data: every transaction is durable when it returns (synchronous = FULL,
// rollback journal truncated at the end). A text that is stored is bytes (BLOB).
//
// Errors: corrupt_file (damaged, or no database), disk_full, io_error, internal (our SQL); they
// name the file, and what the disk said.
//
// Thread: one at a time. Ownership: a statement is destroyed before its database.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "job_manager/sqlite_vfs.hpp"

struct sqlite3;
struct sqlite3_stmt;

namespace hummer {

class SqliteDatabase {
 public:
  explicit SqliteDatabase(SqliteVfs& vfs) : vfs_(vfs) {}
  ~SqliteDatabase();
  SqliteDatabase(const SqliteDatabase&) = delete;
  SqliteDatabase& operator=(const SqliteDatabase&) = delete;

  // Made when it is missing. Once.
  Status open(const std::string& path);
  // Statements without results, separated by semicolons.
  Status run(const std::string& sql);
  // The first value of the first row.
  Result<std::int64_t> number(const std::string& sql);
  Result<std::string> text(const std::string& sql);
  // Gives up the transaction that is open, if one is.
  void roll_back();

  // Of the last call; `code` is what SQLite returned.
  Status failure(int code) const;

 private:
  friend class SqliteStatement;
  SqliteVfs& vfs_;
  std::string path_;
  sqlite3* database_ = nullptr;
};

// What is bound stays bound until it is bound anew.
class SqliteStatement {
 public:
  explicit SqliteStatement(SqliteDatabase& database) : database_(database) {}
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  Status prepare(std::string_view sql);
  // Parameters count from 1. A number of 64 bits without sign is stored as its bits.
  void bind(int parameter, std::int64_t value);
  void bind(int parameter, std::uint64_t value) {
    bind(parameter, static_cast<std::int64_t>(value));
  }
  void bind(int parameter, std::string_view bytes);
  // Whether there is a row. After the last one, and after a failure, it begins anew.
  Result<bool> step();
  // For a statement without rows.
  Status run();
  // Of the row; columns count from 0.
  std::int64_t number(int column) const;
  std::string bytes(int column) const;

 private:
  SqliteDatabase& database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace hummer
