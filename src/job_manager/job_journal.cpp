#include "job_manager/job_journal.hpp"

#include <set>
#include <utility>

#include <fmt/format.h>
#include <hummer/detail/key_hash.hpp>

namespace hummer {
namespace {

constexpr std::int64_t application_id = 0x48554d4a;  // "HUMJ"
constexpr std::int64_t schema_version = 1;

constexpr const char* schema =
    "CREATE TABLE cluster(one INTEGER PRIMARY KEY CHECK(one = 1), identity INTEGER NOT NULL,"
    "  epoch INTEGER NOT NULL, last_job INTEGER NOT NULL);"
    "CREATE TABLE jobs(job INTEGER PRIMARY KEY, submission INTEGER NOT NULL UNIQUE,"
    "  request BLOB NOT NULL, request_hash INTEGER NOT NULL, library INTEGER NOT NULL,"
    "  submitted_ms INTEGER NOT NULL, attempt INTEGER NOT NULL, wish INTEGER NOT NULL,"
    "  state INTEGER NOT NULL, started_ms INTEGER NOT NULL, ended_ms INTEGER NOT NULL,"
    "  failure_code INTEGER NOT NULL, failure BLOB NOT NULL, next_checkpoint INTEGER NOT NULL,"
    "  newest_checkpoint INTEGER NOT NULL, newest_path BLOB NOT NULL, stopped INTEGER NOT NULL);";

std::int64_t hash_of(std::string_view bytes) {
  return static_cast<std::int64_t>(hash_bytes(bytes.data(), bytes.size()));
}

}  // namespace

struct JobJournal::Statements {
  explicit Statements(SqliteDatabase& database)
      : add(database), change(database), remove(database), number(database), epoch(database) {}

  Status prepare() {
    HUMMER_TRY(add.prepare(
        "INSERT OR REPLACE INTO jobs(job, attempt, wish, state, started_ms, ended_ms, failure_code,"
        " failure, next_checkpoint, newest_checkpoint, newest_path, stopped, submission, request,"
        " request_hash, library, submitted_ms) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11,"
        " ?12, ?13, ?14, ?15, ?16, ?17)"));
    HUMMER_TRY(change.prepare(
        "UPDATE jobs SET attempt = ?2, wish = ?3, state = ?4, started_ms = ?5, ended_ms = "
        "?6,"
        " failure_code = ?7, failure = ?8, next_checkpoint = ?9, newest_checkpoint = ?10,"
        " newest_path = ?11, stopped = ?12 WHERE job = ?1"));
    HUMMER_TRY(remove.prepare("DELETE FROM jobs WHERE job = ?1"));
    HUMMER_TRY(number.prepare("UPDATE cluster SET last_job = max(last_job, ?1)"));
    return epoch.prepare("SELECT epoch FROM cluster");
  }

  SqliteStatement add, change, remove, number, epoch;
};

JobJournal::JobJournal(Platform& platform, std::string directory)
    : platform_(platform),
      directory_(std::move(directory)),
      libraries_(platform.files(), directory_ + "/libraries"),
      vfs_(platform),
      database_(vfs_) {}

JobJournal::~JobJournal() = default;

Result<std::unique_ptr<JobJournal>> JobJournal::open(Platform& platform,
                                                     const std::string& directory) {
  std::unique_ptr<JobJournal> journal(new JobJournal(platform, directory));
  HUMMER_TRY(journal->open());
  return journal;
}

Status JobJournal::damaged(const Status& why) const {
  return {ErrorCode::corrupt_file,
          fmt::format("the JobManager's journal is damaged ({}); put back a copy of '{}', or move "
                      "that directory away to begin without jobs",
                      why.message(), directory_)};
}

Status JobJournal::open() {
  Files& files = platform_.files();
  HUMMER_TRY(files.create_directories(directory_ + "/libraries"));
  // Also of directories that an earlier process made and died before it had synced them.
  HUMMER_TRY(files.sync_directory(directory_));
  HUMMER_TRY(files.sync_directory(parent_of(directory_)));
  Result<std::unique_ptr<FileLock>> lock = files.lock(directory_ + "/lock");
  if (lock.status().code() == ErrorCode::invalid_configuration) {
    return lock.status().with_context(
        fmt::format("a second JobManager could not be kept away from the state directory '{}'; "
                    "choose one on a file system with locks, such as a local one",
                    directory_));
  }
  if (!lock.ok()) return lock.status();
  if (*lock == nullptr) {
    return {ErrorCode::invalid_configuration,
            fmt::format("another JobManager uses the state directory '{}'; end it, or give this "
                        "one a directory of its own",
                        directory_)};
  }
  lock_ = std::move(*lock);
  bool is_new = false;
  Status status = database_.open(database_path());
  if (status.ok()) status = check_format(is_new);
  if (status.ok()) status = begin_epoch(is_new);
  statements_ = std::make_unique<Statements>(database_);
  if (status.ok()) status = statements_->prepare();
  if (status.ok()) status = read_jobs();
  if (status.ok()) return remove_unused_libraries();
  return status.code() == ErrorCode::corrupt_file ? damaged(status) : status;
}

Status JobJournal::check_format(bool& is_new) {
  const Result<std::int64_t> pages = database_.number("PRAGMA page_count");
  if (!pages.ok()) return pages.status();
  is_new = *pages == 0;
  if (is_new) return {};
  const Result<std::int64_t> application = database_.number("PRAGMA application_id");
  if (!application.ok()) return application.status();
  if (*application != application_id) {
    return {ErrorCode::invalid_configuration,
            fmt::format("'{}' is a database of another program; choose another state directory",
                        database_path())};
  }
  const Result<std::int64_t> version = database_.number("PRAGMA user_version");
  if (!version.ok()) return version.status();
  if (*version != schema_version) {
    return {ErrorCode::invalid_configuration,
            fmt::format("'{}' has version {} of the journal, this engine reads version {}; run the "
                        "engine that wrote it, or choose another state directory",
                        database_path(), *version, schema_version)};
  }
  vfs_.forget_failure();
  const Result<std::string> verdict = database_.text("PRAGMA integrity_check(1)");
  if (!verdict.ok()) return verdict.status();
  if (*verdict == "ok") return {};
  if (!vfs_.last_failure().ok()) return vfs_.last_failure();  // it could not be read
  return {ErrorCode::corrupt_file, fmt::format("database '{}': {}", database_path(), *verdict)};
}

Status JobJournal::begin_epoch(bool is_new) {
  Status status = database_.run("BEGIN IMMEDIATE");
  if (status.ok() && is_new) {
    const auto identity = static_cast<std::int64_t>(platform_.random().next() | 1);
    status = database_.run(
        fmt::format("{} INSERT INTO cluster VALUES(1, {}, 0, 0); PRAGMA application_id = {};"
                    "PRAGMA user_version = {}",
                    schema, identity, application_id, schema_version));
  }
  if (status.ok()) status = database_.run("UPDATE cluster SET epoch = epoch + 1");
  if (status.ok()) status = database_.run("COMMIT");
  if (!status.ok()) {
    database_.roll_back();
    return status;
  }
  SqliteStatement row(database_);
  HUMMER_TRY(row.prepare("SELECT identity, epoch, last_job FROM cluster"));
  const Result<bool> there = row.step();
  if (!there.ok()) return there.status();
  if (!*there) return {ErrorCode::corrupt_file, "the cluster's row is missing"};
  recorded_.identity = static_cast<std::uint64_t>(row.number(0));
  recorded_.epoch = static_cast<std::uint64_t>(row.number(1));
  recorded_.last_job = static_cast<std::uint64_t>(row.number(2));
  epoch_ = recorded_.epoch;
  return {};
}

Status JobJournal::check_epoch() {
  HUMMER_TRY(successor_);
  SqliteStatement& row = statements_->epoch;
  const Result<bool> there = row.step();
  if (!there.ok()) return there.status();
  const std::uint64_t now = *there ? static_cast<std::uint64_t>(row.number(0)) : 0;
  if (*there) (void)row.step();  // to its end, which gives the lock back
  if (now == epoch_) return {};
  successor_ = {ErrorCode::invalid_configuration,
                fmt::format("another JobManager has taken over the state directory '{}' (start "
                            "number {}, this one is {}): locks do not keep the two apart there; "
                            "run one only, with a directory on a file system whose locks hold "
                            "between all machines that see it",
                            directory_, now, epoch_)};
  return successor_;
}

Status JobJournal::read_jobs() {
  SqliteStatement row(database_);
  HUMMER_TRY(row.prepare(
      "SELECT job, submission, request, request_hash, library, submitted_ms, attempt, wish, state,"
      " started_ms, ended_ms, failure_code, failure, next_checkpoint, newest_checkpoint,"
      " newest_path, stopped FROM jobs ORDER BY job"));
  while (true) {
    const Result<bool> more = row.step();
    if (!more.ok()) return more.status();
    if (!*more) return {};
    JobRecord& record = recorded_.jobs.emplace_back();
    record.job = static_cast<std::uint64_t>(row.number(0));
    record.submission = static_cast<std::uint64_t>(row.number(1));
    record.request = row.bytes(2);
    if (hash_of(record.request) != row.number(3)) {
      return {ErrorCode::corrupt_file,
              fmt::format("database '{}': the submission of job {} is not what was stored",
                          database_path(), record.job)};
    }
    record.library_hash = static_cast<std::uint64_t>(row.number(4));
    record.submitted_ms = row.number(5);
    record.attempt = static_cast<std::uint32_t>(row.number(6));
    record.asked = static_cast<wire::DesiredState>(row.number(7));
    record.state = static_cast<wire::JobState>(row.number(8));
    record.started_ms = row.number(9);
    record.ended_ms = row.number(10);
    const auto code = static_cast<ErrorCode>(row.number(11));
    if (code != ErrorCode::ok) record.failure = Status(code, row.bytes(12));
    record.next_checkpoint = static_cast<std::uint64_t>(row.number(13));
    record.newest_checkpoint = static_cast<std::uint64_t>(row.number(14));
    record.newest_path = row.bytes(15);
    record.stopped_by_savepoint = row.number(16) != 0;
  }
}

Status JobJournal::write_record(const JobRecord& record) {
  if (record.forgotten) {
    statements_->remove.bind(1, record.job);
    return statements_->remove.run();
  }
  SqliteStatement& statement = record.request.empty() ? statements_->change : statements_->add;
  statement.bind(1, record.job);
  statement.bind(2, std::uint64_t{record.attempt});
  statement.bind(3, static_cast<std::int64_t>(record.asked));
  statement.bind(4, static_cast<std::int64_t>(record.ended() ? record.state : wire::JOB_WAITING));
  statement.bind(5, record.started_ms);
  statement.bind(6, record.ended_ms);
  statement.bind(7, static_cast<std::int64_t>(record.failure.code()));
  statement.bind(8, record.failure.ok() ? std::string_view() : record.failure.message());
  statement.bind(9, record.next_checkpoint);
  statement.bind(10, record.newest_checkpoint);
  statement.bind(11, record.newest_path);
  statement.bind(12, std::int64_t{record.stopped_by_savepoint});
  if (record.request.empty()) return statement.run();
  statement.bind(13, record.submission);
  statement.bind(14, record.request);
  statement.bind(15, hash_of(record.request));
  statement.bind(16, record.library_hash);
  statement.bind(17, record.submitted_ms);
  HUMMER_TRY(statement.run());
  statements_->number.bind(1, record.job);
  return statements_->number.run();
}

Status JobJournal::write(std::span<const JobRecord> records) {
  in_doubt_ = false;
  HUMMER_TRY(successor_);
  bool some_ended = false;
  for (const JobRecord& record : records) {
    some_ended |= record.ended() || record.forgotten;
    if (record.library == nullptr) continue;
    HUMMER_TRY(libraries_.keep(record.library_hash, *record.library));
  }
  Status status = database_.run("BEGIN IMMEDIATE");
  if (status.ok()) status = check_epoch();
  for (const JobRecord& record : records) {
    if (status.ok()) status = write_record(record);
  }
  if (status.ok()) {
    status = database_.run("COMMIT");
    in_doubt_ = !status.ok();
  }
  if (!status.ok()) {
    database_.roll_back();
    return status;
  }
  // They only take room: what can't be removed now is removed later.
  if (some_ended) (void)remove_unused_libraries();
  return {};
}

Status JobJournal::remove_unused_libraries() {
  SqliteStatement row(database_);
  HUMMER_TRY(row.prepare("SELECT DISTINCT library FROM jobs WHERE state = ?1 AND library != 0"));
  row.bind(1, static_cast<std::int64_t>(wire::JOB_WAITING));
  std::set<std::uint64_t> used;
  while (true) {
    const Result<bool> more = row.step();
    if (!more.ok()) return more.status();
    if (!*more) break;
    used.insert(static_cast<std::uint64_t>(row.number(0)));
  }
  return libraries_.keep_only(used);
}

}  // namespace hummer
