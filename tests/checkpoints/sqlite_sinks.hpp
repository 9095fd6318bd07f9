// Sinks as a job's author writes them, into a database that is SQLite: one idempotent, one of two
// phases. Both keep the running counts of keys, in a database file per subtask; so the parallelism
// of a job may not change from one run to the next. docs/writing_a_job.md shows the classes.
#pragma once

#include <hummer/detail/connector_context.hpp>
#include <hummer/hummer.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "job_manager/sqlite_database.hpp"

namespace hummer {

// A database on the disk of the platform that its user runs on.
class Database {
 public:
  Status open(OperatorContext& context, const std::string& path) {
    return open(connector_context(context).platform(), path);
  }
  Status open(Platform& platform, const std::string& path) {
    vfs_.emplace(platform);
    database_.emplace(*vfs_);
    return database_->open(path);
  }
  // One statement without rows; `values` are its parameters.
  template <typename... Values>
  Status run(std::string_view sql, const Values&... values) {
    SqliteStatement statement(*database_);
    HUMMER_TRY(statement.prepare(sql));
    int parameter = 0;
    (statement.bind(++parameter, values), ...);
    return statement.run();
  }
  // Everything since the last time is durable; the next transaction begins.
  Status next_transaction() {
    HUMMER_TRY(run("COMMIT"));
    return run("BEGIN");
  }
  // Rows of two numbers as lines, sorted.
  Result<std::vector<std::string>> lines(std::string_view sql) {
    SqliteStatement statement(*database_);
    HUMMER_TRY(statement.prepare(sql));
    std::vector<std::string> lines;
    for (;;) {
      const Result<bool> row = statement.step();
      if (!row.ok()) return row.status();
      if (!*row) break;
      lines.push_back(std::to_string(statement.number(0)) + "\t" +
                      std::to_string(statement.number(1)));
    }
    std::sort(lines.begin(), lines.end());
    return lines;
  }

 private:
  std::optional<SqliteVfs> vfs_;
  std::optional<SqliteDatabase> database_;
};

inline std::string database_of(const std::string& path, int subtask) {
  return path + "-" + std::to_string(subtask);
}

using Count = KeyValue<std::uint64_t, std::uint64_t>;

// A row is known by its key and count: written again, it changes nothing.
class UpsertedCounts : public SinkFunction<Count> {
 public:
  explicit UpsertedCounts(std::string path) : path_(std::move(path)) {}

  Status open(OperatorContext& context) override {
    context_ = &context;
    HUMMER_TRY(database_.open(context, database_of(path_, context.subtask())));
    HUMMER_TRY(
        database_.run("CREATE TABLE IF NOT EXISTS counts (key, count, UNIQUE (key, count))"));
    return database_.run("BEGIN");
  }
  OperatorResult write(std::span<const Count> counts) override {
    for (const Count& each : counts) {
      Status status =
          database_.run("INSERT OR REPLACE INTO counts VALUES (?, ?)", each.key, each.value);
      if (!status.ok()) return context_->fail(std::move(status));
    }
    return OperatorResult::done;
  }
  // A barrier: the checkpoint completes only behind this.
  OperatorResult flush(std::uint64_t /*epoch*/) override {
    Status status = database_.next_transaction();
    return status.ok() ? OperatorResult::done : context_->fail(std::move(status));
  }

 private:
  const std::string path_;
  OperatorContext* context_ = nullptr;
  Database database_;
};

// Rows are staged under the handle of their transaction, and moved when it is committed.
class CommittedCounts : public TwoPhaseSinkFunction<Count> {
 public:
  explicit CommittedCounts(std::string path) : path_(std::move(path)) {}

  Status open(OperatorContext& context) override {
    context_ = &context;
    HUMMER_TRY(database_.open(context, database_of(path_, context.subtask())));
    HUMMER_TRY(database_.run("CREATE TABLE IF NOT EXISTS staged (handle, key, count)"));
    HUMMER_TRY(database_.run("CREATE TABLE IF NOT EXISTS counts (key, count)"));
    return database_.run("BEGIN");
  }
  Status abort_all_but(const std::vector<std::string>& handles) override {
    std::string kept = " ";
    for (const std::string& handle : handles) kept += handle + " ";
    return database_.run("DELETE FROM staged WHERE instr(?, ' ' || handle || ' ') = 0", kept);
  }
  OperatorResult write(std::span<const Count> counts) override {
    // Nobody else ever has this handle.
    if (handle_.empty()) {
      handle_ = std::to_string(context_->run()) + "." + std::to_string(context_->attempt()) + "." +
                std::to_string(++transactions_);
    }
    for (const Count& each : counts) {
      Status status =
          database_.run("INSERT INTO staged VALUES (?, ?, ?)", handle_, each.key, each.value);
      if (!status.ok()) return context_->fail(std::move(status));
    }
    return OperatorResult::done;
  }
  Result<std::string> prepare(std::uint64_t /*epoch*/) override {
    if (handle_.empty()) return std::string();
    HUMMER_TRY(database_.next_transaction());
    return std::exchange(handle_, {});
  }
  // The second time there is nothing left to move.
  Status commit(const std::string& handle) override {
    HUMMER_TRY(
        database_.run("INSERT INTO counts SELECT key, count FROM staged WHERE handle = ?", handle));
    HUMMER_TRY(database_.run("DELETE FROM staged WHERE handle = ?", handle));
    return database_.next_transaction();
  }

 private:
  const std::string path_;
  OperatorContext* context_ = nullptr;
  Database database_;
  std::string handle_;  // of the open transaction; empty: nothing was written
  std::uint64_t transactions_ = 0;
};

}  // namespace hummer
