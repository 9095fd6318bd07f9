#include "job_manager/job_journal.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <hummer/detail/key_hash.hpp>

#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::job_journal_test {
namespace {

std::shared_ptr<const std::string> library_of(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

JobRecord submission(std::uint64_t job, std::string library = "") {
  JobRecord record;
  record.job = job;
  record.submission = 0xfedcba9876543210u + job;  // more than a number with a sign holds
  record.request = "submission " + std::to_string(job) + std::string(3000 * (job % 3), 'x');
  record.submitted_ms = 1000 + static_cast<std::int64_t>(job);
  if (!library.empty()) {
    record.library_hash = hash_bytes(library.data(), library.size());
    record.library = library_of(std::move(library));
  }
  return record;
}

JobRecord later(const JobRecord& first, std::uint32_t attempt) {
  JobRecord record = first;
  record.request.clear();
  record.library.reset();
  record.attempt = attempt;
  return record;
}

JobRecord ended(const JobRecord& first, Status failure) {
  JobRecord record = later(first, 1);
  record.state = failure.ok() ? wire::JOB_FINISHED : wire::JOB_FAILED;
  record.failure = std::move(failure);
  record.ended_ms = 5000;
  return record;
}

std::string text_of(const JobRecord& record) {
  return record.request + " attempt " + std::to_string(record.attempt) + " state " +
         std::to_string(record.state) + " " + record.failure.to_string();
}

// Every test runs on both forms, in a directory of its own.
class JobJournalTest : public testing::TestWithParam<bool> {
 protected:
  JobJournalTest() {
    if (GetParam()) {
      platform_ = make_simulated_platform({.seed = 3});
      directory_ = "/made/by/the/journal";
    } else {
      platform_ = make_linux_platform();
      directory_ = folder_.emplace().path();
    }
  }
  std::unique_ptr<JobJournal> open() {
    Result<std::unique_ptr<JobJournal>> journal = JobJournal::open(*platform_, directory_);
    EXPECT_TRUE(journal.ok()) << journal.status().to_string();
    return journal.ok() ? std::move(*journal) : nullptr;
  }
  void spoil(std::uint64_t offset, std::string bytes) {
    auto file = platform_->files().open_for_updating(directory_ + "/journal.db", false);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->write_at(offset, bytes).ok());
  }
  Status failure() { return JobJournal::open(*platform_, directory_).status(); }

  std::unique_ptr<Platform> platform_;
  std::optional<TemporaryFolder> folder_;  // with a disk that is not simulated
  std::string directory_;
};
INSTANTIATE_TEST_SUITE_P(Forms, JobJournalTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Simulated" : "Linux"; });

TEST_P(JobJournalTest, EverythingIsThereAgain) {
  std::unique_ptr<JobJournal> journal = open();
  const RecordedCluster empty = journal->take_recorded();
  EXPECT_EQ(empty.epoch, 1u);
  EXPECT_EQ(empty.last_job, 0u);
  EXPECT_TRUE(empty.jobs.empty());
  const JobRecord one = submission(1), two = submission(2, "library"), three = submission(3);
  ASSERT_TRUE(journal->write(std::vector{one, two, three}).ok());
  JobRecord stopped = later(two, 4);
  stopped.asked = wire::DESIRED_STOP;
  ASSERT_TRUE(journal->write(std::vector{stopped}).ok());
  ASSERT_TRUE(
      journal->write(std::vector{ended(one, Status(ErrorCode::peer_gone, "gone\xff"))}).ok());
  JobRecord forgotten = later(three, 1);
  forgotten.forgotten = true;
  ASSERT_TRUE(journal->write(std::vector{forgotten}).ok());
  journal.reset();

  journal = open();
  const RecordedCluster found = journal->take_recorded();
  EXPECT_EQ(found.identity, empty.identity);
  EXPECT_EQ(found.epoch, 2u);
  EXPECT_EQ(found.last_job, 3u);  // though nothing is left of it
  ASSERT_EQ(found.jobs.size(), 2u);
  EXPECT_EQ(found.jobs[0].request, one.request);
  EXPECT_EQ(found.jobs[0].submission, one.submission);
  EXPECT_EQ(found.jobs[0].state, wire::JOB_FAILED);
  EXPECT_EQ(found.jobs[0].failure.code(), ErrorCode::peer_gone);
  EXPECT_EQ(found.jobs[0].failure.message(), "gone\xff");
  EXPECT_EQ(found.jobs[0].submitted_ms, 1001);
  EXPECT_EQ(found.jobs[0].ended_ms, 5000);
  EXPECT_EQ(found.jobs[1].request, two.request);
  EXPECT_FALSE(found.jobs[1].ended());
  EXPECT_EQ(found.jobs[1].attempt, 4u);
  EXPECT_EQ(found.jobs[1].asked, wire::DESIRED_STOP);
  EXPECT_EQ(*journal->read_library(two.library_hash), "library");
}

TEST_P(JobJournalTest, LibrariesLiveAsLongAsTheirJobs) {
  std::unique_ptr<JobJournal> journal = open();
  const JobRecord one = submission(1, "shared"), two = submission(2, "shared");
  ASSERT_TRUE(journal->write(std::vector{one, two}).ok());
  ASSERT_TRUE(journal->write(std::vector{ended(one, {})}).ok());
  EXPECT_TRUE(journal->read_library(one.library_hash).ok());
  ASSERT_TRUE(journal->write(std::vector{ended(two, {})}).ok());
  EXPECT_EQ(journal->read_library(one.library_hash).status().code(), ErrorCode::not_found);
}

TEST_P(JobJournalTest, OneJobManagerHasIt) {
  const std::unique_ptr<JobJournal> first = open();
  const Status second = failure();
  EXPECT_EQ(second.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(second.message().find("another JobManager uses the state directory '" + directory_),
            std::string::npos)
      << second.message();
}

// Two machines may each grant a lock of their own; here they do since the lock's file is another
// one.
TEST_P(JobJournalTest, ALaterOpeningFencesTheEarlierOne) {
  const std::unique_ptr<JobJournal> first = open();
  ASSERT_TRUE(first->write(std::vector{submission(1)}).ok());
  ASSERT_TRUE(platform_->files().remove(directory_ + "/lock").ok());
  const std::unique_ptr<JobJournal> second = open();
  ASSERT_NE(second, nullptr);
  const Status fenced = first->write(std::vector{submission(2)});
  EXPECT_EQ(fenced.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(fenced.message().find("taken over the state directory '" + directory_ +
                                  "' (start number 2, this one is 1)"),
            std::string::npos)
      << fenced.message();
  EXPECT_EQ(first->successor().message(), fenced.message());
  EXPECT_FALSE(first->check_epoch().ok());
  EXPECT_TRUE(second->check_epoch().ok());
  EXPECT_TRUE(second->write(std::vector{submission(3)}).ok());
}

TEST_P(JobJournalTest, ADatabaseHasOneUserAtATime) {
  SqliteVfs one_vfs(*platform_), other_vfs(*platform_);
  SqliteDatabase one(one_vfs), other(other_vfs);
  ASSERT_TRUE(platform_->files().create_directories(directory_).ok());
  ASSERT_TRUE(one.open(directory_ + "/db").ok());
  ASSERT_TRUE(one.run("CREATE TABLE numbers(number INTEGER)").ok());
  ASSERT_TRUE(other.open(directory_ + "/db").ok());
  ASSERT_TRUE(one.run("BEGIN IMMEDIATE; INSERT INTO numbers VALUES(1)").ok());
  EXPECT_FALSE(other.number("SELECT count(*) FROM numbers").ok());
  EXPECT_FALSE(other.run("INSERT INTO numbers VALUES(2)").ok());
  ASSERT_TRUE(one.run("COMMIT").ok());
  EXPECT_TRUE(other.run("INSERT INTO numbers VALUES(3)").ok());
  EXPECT_EQ(*one.number("SELECT sum(number) FROM numbers"), 4);
}

TEST(JobJournalLocks, WithoutThemThereIsNoJournal) {
  auto node = make_simulated_platform({.seed = 1, .disks_have_locks = false});
  const Status refused = JobJournal::open(*node, "/state").status();
  EXPECT_EQ(refused.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(refused.message().find("the state directory '/state'"), std::string::npos)
      << refused.message();
  EXPECT_NE(refused.message().find("has no locks"), std::string::npos) << refused.message();
  EXPECT_FALSE(node->files().stat("/state/journal.db").ok());
  SqliteVfs vfs(*node);
  SqliteDatabase database(vfs);
  const Status opened = database.open("/state/other.db");
  const Status made = opened.ok() ? database.run("CREATE TABLE numbers(number INTEGER)") : opened;
  EXPECT_EQ(made.code(), ErrorCode::io_error) << made.message();
  EXPECT_NE(made.message().find("has no locks"), std::string::npos) << made.message();
}

TEST_P(JobJournalTest, DamageIsRefusedByName) {
  {
    const std::unique_ptr<JobJournal> journal = open();
    ASSERT_TRUE(journal->write(std::vector{submission(1), submission(2)}).ok());
  }
  // A flipped bit in a stored submission, which SQLite would not notice.
  const std::string path = directory_ + "/journal.db";
  auto file = platform_->files().open_for_reading(path);
  ASSERT_TRUE(file.ok());
  std::string bytes((*file)->size_bytes(), '\0');
  ASSERT_TRUE((*file)->read_at(0, bytes).ok());
  const std::size_t place = bytes.find("submission 2");
  ASSERT_NE(place, bytes.npos);
  spoil(place, "X");
  Status refused = failure();
  EXPECT_EQ(refused.code(), ErrorCode::corrupt_file);
  EXPECT_NE(refused.message().find("submission of job 2"), std::string::npos) << refused.message();
  EXPECT_NE(refused.message().find("move that directory away"), std::string::npos);

  spoil(100, std::string(200, '\xa5'));
  refused = failure();
  EXPECT_EQ(refused.code(), ErrorCode::corrupt_file) << refused.message();
  EXPECT_NE(refused.message().find(path), std::string::npos) << refused.message();

  spoil(0, "this is no database at all");
  EXPECT_EQ(failure().code(), ErrorCode::corrupt_file);
}

TEST_P(JobJournalTest, ForeignAndNewerJournalsAreRefused) {
  {
    const std::unique_ptr<JobJournal> journal = open();
  }
  spoil(60, std::string("\0\0\0\7", 4));  // user_version, as the format of SQLite files has it
  Status refused = failure();
  EXPECT_EQ(refused.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(refused.message().find("version 7"), std::string::npos) << refused.message();
  spoil(68, "else");  // application_id
  refused = failure();
  EXPECT_EQ(refused.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(refused.message().find("another program"), std::string::npos) << refused.message();
}

// A JobManager's life: it writes, and keeps account of what was acknowledged.
struct Account {
  std::map<std::uint64_t, std::string> acknowledged;
  std::map<std::uint64_t, std::string> written;  // the last write of a job, whatever came of it
  std::uint64_t highest = 0;
};

void live(JobJournal& journal, Account& account, std::uint64_t jobs) {
  const auto write = [&](std::vector<JobRecord> records) {
    for (JobRecord& each : records) {
      if (each.request.empty()) each.request = submission(each.job).request;
      account.written[each.job] = text_of(each);
      if (each.attempt > 0) each.request.clear();
    }
    const Status status = journal.write(records);
    for (const JobRecord& each : records) {
      if (status.ok()) account.acknowledged[each.job] = account.written[each.job];
    }
    if (status.ok()) account.highest = std::max(account.highest, records.back().job);
    return status.ok();
  };
  for (std::uint64_t job = account.highest + 1; job <= jobs; ++job) {
    const JobRecord first = submission(job, job % 2 == 0 ? "library" : "");
    if (!write({first})) return;
    if (!write({later(first, 1)})) return;
    if (job % 3 == 0 && !write({ended(first, {})})) return;
  }
}

// Of each job either what was acknowledged last or what was being written.
void check(const RecordedCluster& found, const Account& account, const JobJournal& journal) {
  std::map<std::uint64_t, std::string> there;
  for (const JobRecord& record : found.jobs) {
    there[record.job] = text_of(record);
    if (record.library_hash == 0 || record.ended()) continue;
    const Status read = journal.read_library(record.library_hash).status();
    EXPECT_TRUE(read.ok() || read.code() == ErrorCode::cancelled)  // killed meanwhile
        << record.job << ": " << read.to_string();
  }
  for (const auto& [job, text] : account.acknowledged) {
    EXPECT_TRUE(there[job] == text || there[job] == account.written.at(job))
        << "job " << job << " is '" << there[job] << "', acknowledged was '" << text << "'";
  }
  for (const auto& [job, text] : there) {
    EXPECT_TRUE(account.written.contains(job)) << "job " << job << " out of nothing";
    if (account.acknowledged.contains(job)) continue;
    EXPECT_EQ(text, account.written.at(job));
  }
  EXPECT_GE(found.last_job, account.highest);
}

// The process dies before its n-th disk operation, for every n; with or without the power.
TEST(JobJournalDeath, AcknowledgedIsThereAndNothingIsHalf) {
  constexpr std::uint64_t jobs = 4;
  std::uint64_t operations = 0;
  for (; operations < 2000; ++operations) {
    Simulation simulation({.seed = 100 + operations});
    SimulatedPlatform* node = &simulation.add_node("jobmanager");
    Account account;
    node->kill_at_disk_operation(1 + operations);
    {
      const Result<std::unique_ptr<JobJournal>> journal = JobJournal::open(*node, "/state");
      if (journal.ok()) live(**journal, account, jobs);
    }
    const bool died = !node->alive();
    if (!died) node->kill();
    if (operations % 3 != 0) node->crash_disk();
    node = &simulation.restart_node(*node);
    const Result<std::unique_ptr<JobJournal>> journal = JobJournal::open(*node, "/state");
    ASSERT_TRUE(journal.ok()) << operations << ": " << journal.status().to_string();
    check((*journal)->take_recorded(), account, **journal);
    if (testing::Test::HasFailure()) FAIL() << "killed after " << operations << " operations";
    if (!died) break;
  }
  EXPECT_GT(operations, 100u);
  EXPECT_LT(operations, 2000u);
}

// Again and again on one disk: also the recovery from a death is killed.
TEST(JobJournalDeath, RecoveryMayDieToo) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    Simulation simulation({.seed = seed});
    SimulatedPlatform* node = &simulation.add_node("jobmanager");
    Account account;
    for (int life = 0; life < 12; ++life) {
      node->kill_at_disk_operation(1 + simulation.random().below(150));
      {
        const Result<std::unique_ptr<JobJournal>> journal = JobJournal::open(*node, "/state");
        if (journal.ok()) {
          const RecordedCluster found = (*journal)->take_recorded();
          check(found, account, **journal);
          // What the last life was writing came through, or not: now it is known.
          account.acknowledged.clear();
          for (const JobRecord& record : found.jobs) {
            account.acknowledged[record.job] = text_of(record);
          }
          account.written = account.acknowledged;
          account.highest = found.last_job;
          live(**journal, account, account.highest + 3);
        } else {
          EXPECT_FALSE(node->alive()) << journal.status().to_string();
        }
      }
      node->kill();
      if (simulation.random().chance(0.7)) node->crash_disk();
      node = &simulation.restart_node(*node);
    }
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

// Faults and a full disk fail a write, not the journal.
TEST(JobJournalFaults, AFailedWriteLeavesTheJournalUsable) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    Account account;
    {
      const Result<std::unique_ptr<JobJournal>> journal = JobJournal::open(*node, "/state");
      ASSERT_TRUE(journal.ok());
      SimulationOptions& options = node->simulation().options();
      for (int round = 0; round < 8; ++round) {
        if (seed % 3 == 0) {
          options.write_fault_rate = 0.1;
        } else if (seed % 3 == 1) {
          options.name_fault_rate = 0.2;
        } else {
          options.disk_capacity_bytes = 40'000 + 1000 * static_cast<std::uint64_t>(round);
        }
        live(**journal, account, account.highest + 4);
        options.write_fault_rate = options.name_fault_rate = 0;
        options.disk_capacity_bytes = UINT64_MAX;
        const JobRecord sure = submission(++account.highest);
        account.written[sure.job] = text_of(sure);
        const Status status = (*journal)->write(std::vector{sure});
        ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.to_string();
        account.acknowledged[sure.job] = text_of(sure);
      }
    }
    node->crash_disk();
    const Result<std::unique_ptr<JobJournal>> journal = JobJournal::open(*node, "/state");
    ASSERT_TRUE(journal.ok()) << "seed " << seed << ": " << journal.status().to_string();
    check((*journal)->take_recorded(), account, **journal);
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
}

TEST(JobJournalFaults, ALibraryIsWholeOrNotThere) {
  std::uint64_t failed[3] = {};
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    SimulationOptions& options = node->simulation().options();
    ASSERT_TRUE(node->files().create_directories("/libraries").ok());
    LibraryFiles libraries(node->files(), "/libraries");
    const std::string bytes(5000, 'L');
    const std::uint64_t hash = hash_bytes(bytes.data(), bytes.size());
    const std::uint64_t kind = seed % 3;
    if (kind == 0) options.disk_capacity_bytes = 50 * seed;
    if (kind == 1) options.write_fault_rate = 0.3;
    if (kind == 2) options.name_fault_rate = 0.3;
    const Status kept = libraries.keep(hash, bytes);
    options.disk_capacity_bytes = UINT64_MAX;
    options.write_fault_rate = options.name_fault_rate = 0;
    if (!kept.ok()) {
      ++failed[kind];
      EXPECT_EQ(kept.code(), kind == 0 ? ErrorCode::disk_full : ErrorCode::io_error);
      EXPECT_NE(kept.message().find("'/libraries"), std::string::npos) << kept.message();
    }
    const Result<std::string> there = libraries.read(hash);
    EXPECT_TRUE(there.ok() ? *there == bytes : there.status().code() == ErrorCode::not_found)
        << "seed " << seed << ": " << there.status().to_string();
    EXPECT_TRUE(there.ok() || !kept.ok());
    ASSERT_TRUE(libraries.keep(hash, bytes).ok());
    node->crash_disk();
    EXPECT_EQ(*libraries.read(hash), bytes);
  }
  for (const std::uint64_t each : failed) EXPECT_GT(each, 10u);
}

TEST(JobJournalFaults, WhatCanNotBeReadIsNotCalledDamaged) {
  for (std::uint64_t seed = 1; seed <= 40; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    ASSERT_TRUE((*JobJournal::open(*node, "/state"))->write(std::vector{submission(1)}).ok());
    node->simulation().options().read_fault_rate = 0.2;
    const Status status = JobJournal::open(*node, "/state").status();
    if (status.ok()) continue;
    EXPECT_EQ(status.code(), ErrorCode::io_error) << status.to_string();
  }
}

TEST(JobJournalFaults, AFailureSaysWhatTheDiskSaid) {
  auto node = make_simulated_platform({.seed = 5});
  const Result<std::unique_ptr<JobJournal>> journal = JobJournal::open(*node, "/state");
  ASSERT_TRUE(journal.ok());
  node->simulation().options().disk_capacity_bytes = 0;
  const Status full = (*journal)->write(std::vector{submission(1)});
  EXPECT_EQ(full.code(), ErrorCode::disk_full);
  EXPECT_NE(full.message().find("/state/journal.db"), std::string::npos) << full.message();
  EXPECT_NE(full.message().find("no space left"), std::string::npos) << full.message();
}

}  // namespace
}  // namespace hummer::job_journal_test
