// Checkpoints that are damaged in every way we could think of: each is refused by the name of its
// file, and the one before it is used.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include <hummer/hummer.hpp>

#include "checkpoint/checkpoint_inspection.hpp"
#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::corrupt_checkpoints_test {
namespace {

constexpr std::uint64_t records = 4'000;
constexpr std::uint64_t keys = 1'000;  // of which a checkpoint changes a fifth: it builds on others
constexpr const char* directory = "/checkpoints";

std::string read(Files& files, const std::string& path) {
  auto file = files.open_for_reading(path);
  EXPECT_TRUE(file.ok()) << path;
  std::string bytes((*file)->size_bytes(), ' ');
  EXPECT_EQ(*(*file)->read_at(0, bytes), bytes.size());
  return bytes;
}

void write(Files& files, const std::string& path, const std::string& bytes) {
  auto file = files.open_for_writing(path, WriteMode::truncate);
  ASSERT_TRUE(file.ok()) << path;
  ASSERT_TRUE((*file)->append(bytes).ok());
  ASSERT_TRUE((*file)->close().ok());
}

// Where blocks begin and end, and what they consist of: the head, then per block its head, its
// uid, its payload.
std::vector<std::size_t> borders_of(const std::string& file) {
  std::vector<std::size_t> borders = {0, 8, 12, 16, 56, 64};
  while (borders.back() < file.size()) {
    const std::size_t at = borders.back();
    std::uint32_t uid_bytes = 0;
    std::uint64_t payload_bytes = 0;
    std::memcpy(&uid_bytes, file.data() + at + 4, sizeof uid_bytes);
    std::memcpy(&payload_bytes, file.data() + at + 8, sizeof payload_bytes);
    borders.push_back(at + 16);
    borders.push_back(at + 24);
    if (uid_bytes != 0) borders.push_back(at + 24 + uid_bytes);
    borders.push_back(at + 24 + uid_bytes + payload_bytes);
  }
  EXPECT_EQ(borders.back(), file.size());
  return borders;
}

class CorruptCheckpoints : public testing::TestWithParam<std::uint64_t> {
 protected:
  CorruptCheckpoints() : random_(GetParam()) {}

  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.platform = node_.get();
    options.parallelism = 2;
    options.checkpoints.directory = directory;
    options.checkpoints.interval_ms = 20;
    options.checkpoints.retained = 3;
    options.checkpoints.keep_at_end = true;
    options.restart = RestartStrategy::no_restart();
    return options;
  }
  JobResult run(const EnvironmentOptions& given, PlannedFailures& failures,
                const std::string& name = "totals") {
    StreamExecutionEnvironment env(given);
    env.generate([](std::uint64_t i) { return i % keys; },
                 {.count = records, .records_per_second = 10'000.0})
        .map([&failures](std::uint64_t key) {
          failures.maybe_throw();
          return key;
        })
        .key_by(identity)
        .count()
        .uid(name)
        .write_file("/out" + std::to_string(++outputs_));
    return env.execute(name);
  }
  std::vector<std::string> names_in(const std::string& path) {
    return *node_->files().list_directory(path);
  }
  std::string newest_output() const { return "/out" + std::to_string(outputs_); }

  // Leaves three complete checkpoints of a job that failed.
  void SetUp() override {
    PlannedFailures failures;
    failures.left = 1;
    failures.every = 3'000;
    ASSERT_EQ(run(options(), failures).status.code(), ErrorCode::user_function_failed);
    ids_ = *store_.ids();
    while (!ids_.empty() && !store_.read(ids_.back()).ok()) {
      ASSERT_TRUE(store_.remove(ids_.back()).ok());
      ids_.pop_back();
    }
    // Directories that only hold what later ones build on are no checkpoints.
    std::erase_if(ids_, [&](std::uint64_t id) { return !store_.read(id).ok(); });
    ASSERT_EQ(ids_.size(), 3u);
    newest_ = store_.path_of(ids_[2]);
    for (const std::string& name : names_in(newest_)) {
      whole_[name] = read(node_->files(), newest_ + "/" + name);
    }
    ASSERT_GT(whole_.size(), 2u);
  }

  // The newest is refused, with a message that names `file`; the one before it is taken.
  void expect_refused(const std::string& file, const std::string& what) {
    std::vector<SkippedCheckpoint> skipped;
    const auto used = store_.newest(skipped);
    ASSERT_TRUE(used.ok()) << what << ": " << used.status().to_string();
    EXPECT_EQ(used->id, ids_[1]) << what;
    ASSERT_EQ(skipped.size(), 1u) << what;
    EXPECT_EQ(skipped[0].id, ids_[2]) << what;
    EXPECT_NE(skipped[0].why.message().find(file), std::string::npos)
        << what << ": " << skipped[0].why.message();
    ++refused_;
  }
  void with(const std::string& name, const std::string& bytes, const std::string& what) {
    write(node_->files(), newest_ + "/" + name, bytes);
    expect_refused(name, name + ", " + what);
    write(node_->files(), newest_ + "/" + name, whole_[name]);
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
  CheckpointStore store_{node_->files(), directory};
  std::vector<std::uint64_t> ids_;
  std::string newest_;
  std::map<std::string, std::string> whole_;
  std::mt19937_64 random_;
  int outputs_ = 0;
  int refused_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Seeds, CorruptCheckpoints,
                         testing::Range<std::uint64_t>(1, drawn_cases(6) + 1));

TEST_P(CorruptCheckpoints, FlippedBitsInEveryRegion) {
  for (const auto& [name, bytes] : whole_) {
    const std::vector<std::size_t> borders = borders_of(bytes);
    for (std::size_t region = 0; region + 1 < borders.size(); ++region) {
      for (int flips = 0; flips < 4; ++flips) {
        const std::size_t length = borders[region + 1] - borders[region];
        const std::size_t at = borders[region] + random_() % length;
        std::string damaged = bytes;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << random_() % 8));
        with(name, damaged, "flipped at " + std::to_string(at));
      }
    }
  }
  EXPECT_GT(refused_, 100);
}

TEST_P(CorruptCheckpoints, CutAtEveryBorderAndBesideIt) {
  for (const auto& [name, bytes] : whole_) {
    for (const std::size_t border : borders_of(bytes)) {
      for (const std::size_t length : {border, border + 1, border == 0 ? 0 : border - 1}) {
        if (length < bytes.size()) {
          with(name, bytes.substr(0, length), "cut to " + std::to_string(length));
        }
      }
    }
    with(name, bytes + '\0', "a byte too long");
  }
}

TEST_P(CorruptCheckpoints, WholeFilesAtTheWrongPlace) {
  std::vector<std::string> states;
  for (const auto& [name, bytes] : whole_) {
    with(name, read(node_->files(), store_.path_of(ids_[1]) + "/" + name), "of the one before");
    if (name.ends_with(".state")) states.push_back(name);
  }
  ASSERT_GE(states.size(), 2u);
  with(states[0], whole_[states[1]], "of another task");
  with("_metadata", whole_[states[0]], "a state file");
  with(states[0], whole_["_metadata"], "the metadata");
}

TEST_P(CorruptCheckpoints, AVersionOfTheFuture) {
  for (const auto& [name, bytes] : whole_) {
    std::string future = bytes;
    std::uint32_t version = 0;
    std::memcpy(&version, future.data() + 8, sizeof version);
    version += 1'000;
    std::memcpy(future.data() + 8, &version, sizeof version);
    const std::uint64_t check = hash_bytes(future.data(), 56);
    std::memcpy(future.data() + 56, &check, sizeof check);
    with(name, future, "of the future");
  }
}

TEST_P(CorruptCheckpoints, AFileThatIsMissing) {
  for (const auto& [name, bytes] : whole_) {
    ASSERT_TRUE(node_->files().remove(newest_ + "/" + name).ok());
    expect_refused(name, name + " is missing");
    write(node_->files(), newest_ + "/" + name, bytes);
  }
}

TEST_P(CorruptCheckpoints, AJobGoesOnFromTheOneBefore) {
  PlannedFailures none;
  EnvironmentOptions again = options();
  again.checkpoints.restore = "latest";
  again.checkpoints.directory = directory;
  const std::string state = whole_.begin()->first;
  std::string damaged = whole_[state];
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  write(node_->files(), newest_ + "/" + state, damaged);
  const JobResult result = run(again, none);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LT(result.records_read, records) << "it began from the beginning";
  const auto lines = visible_lines(node_->files(), newest_output());
  ASSERT_EQ(lines.size(), keys);
  for (const std::string& line : lines) {
    const std::uint64_t key = std::stoull(line);
    const std::uint64_t count = records / keys + (key < records % keys ? 1 : 0);
    EXPECT_EQ(line, std::to_string(key) + "\t" + std::to_string(count));
  }
}

TEST_P(CorruptCheckpoints, ByItsOwnPathADamagedOneIsRefused) {
  PlannedFailures none;
  EnvironmentOptions again = options();
  again.checkpoints.restore = newest_;
  std::vector<std::string> states;
  for (const auto& [name, bytes] : whole_) {
    if (name.ends_with(".state")) states.push_back(name);
  }
  write(node_->files(), newest_ + "/" + states[0], whole_[states[1]]);
  const JobResult result = run(again, none);
  EXPECT_EQ(result.status.code(), ErrorCode::corrupt_file);
  EXPECT_NE(result.status.message().find(states[0]), std::string::npos) << result.status.message();
}

TEST_P(CorruptCheckpoints, WhereNoneCanBeUsedNothingBeginsAnew) {
  for (const std::uint64_t id : ids_) {
    const std::string path = store_.path_of(id) + "/_metadata";
    write(node_->files(), path, read(node_->files(), path).substr(0, 70));
  }
  PlannedFailures none;
  EnvironmentOptions again = options();
  again.checkpoints.restore = "latest";
  const JobResult result = run(again, none);
  EXPECT_EQ(result.status.code(), ErrorCode::corrupt_file);
  EXPECT_NE(result.status.message().find("no checkpoint in '/checkpoints' can be used"),
            std::string::npos)
      << result.status.message();
  EXPECT_NE(result.status.message().find(newest_), std::string::npos);
}

TEST_P(CorruptCheckpoints, InspectionShowsOperatorsStatesAndWhatIsWrong) {
  Files& files = node_->files();
  const CheckpointInspection whole = inspect_checkpoint(files, newest_, true);
  ASSERT_TRUE(whole.status.ok()) << whole.status.to_string();
  EXPECT_EQ(whole.metadata->job_name, "totals");
  std::vector<std::string> own;  // beside those of earlier checkpoints that they build on
  for (const auto& file : whole.files) {
    if (file.from_metadata.checkpoint == 0) own.push_back(file.from_metadata.name);
  }
  EXPECT_EQ(own.size() + 1, whole_.size());
  bool found = false;
  for (const InspectedOperator& op : whole.operators) {
    if (op.from_metadata.uid != "totals") continue;
    found = true;
    EXPECT_EQ(op.from_metadata.key_groups, static_cast<std::uint32_t>(default_key_groups));
    EXPECT_GE(op.pieces, 2u);
    EXPECT_EQ(op.states, (std::vector<StateDescription>{{"aggregate", "table<u64,u64>"}}));
    EXPECT_GT(op.state_bytes, keys * 16);
  }
  EXPECT_TRUE(found);

  const std::string damaged = own[1];
  write(files, newest_ + "/" + damaged, whole_[damaged].substr(0, 100));
  auto all = inspect_checkpoints(files, directory, true);
  ASSERT_TRUE(all.ok()) << all.status().to_string();
  const std::vector<CheckpointInspection>& listed = all->checkpoints;
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_TRUE(listed[0].status.ok());
  EXPECT_EQ(listed[2].status.code(), ErrorCode::corrupt_file);
  std::size_t wrong = 0;
  for (const auto& file : listed[2].files) {
    if (file.status.ok()) continue;
    ++wrong;
    EXPECT_EQ(file.status.message(), listed[2].status.message());
  }
  EXPECT_EQ(wrong, 1u);
  EXPECT_NE(listed[2].status.message().find(damaged), std::string::npos);
  EXPECT_EQ(inspect_checkpoints(files, "/nowhere", true).status().code(), ErrorCode::not_found);
}

// What has no metadata is no checkpoint, but may be needed.
TEST_P(CorruptCheckpoints, AListHasOnlyWhatCanBeBegunWith) {
  Files& files = node_->files();
  const std::string crashed = store_.path_of(ids_.back() + 1);
  ASSERT_TRUE(files.create_directories(crashed).ok());
  const auto listed = inspect_checkpoints(files, directory, false);
  ASSERT_TRUE(listed.ok()) << listed.status().to_string();
  EXPECT_EQ(listed->incomplete, std::vector<std::string>{crashed});
  ASSERT_FALSE(listed->bases.empty()) << "the job wrote no deltas";
  EXPECT_EQ(listed->checkpoints.size(), ids_.size());
  for (const CheckpointInspection& one : listed->checkpoints) {
    EXPECT_TRUE(one.metadata && one.status.ok()) << one.path << one.status.to_string();
  }

  const std::string base = listed->bases.front();
  for (const std::string& name : names_in(base)) ASSERT_TRUE(files.remove(base + "/" + name).ok());
  const auto torn = inspect_checkpoints(files, directory, false);
  ASSERT_TRUE(torn.ok()) << torn.status().to_string();
  EXPECT_TRUE(std::any_of(
      torn->checkpoints.begin(), torn->checkpoints.end(),
      [&](const auto& one) { return one.status.message().find(base) != std::string::npos; }))
      << "no checkpoint misses its files in " << base;
}

TEST_P(CorruptCheckpoints, ThatOfAnotherJobIsPassedOver) {
  PlannedFailures none;
  EnvironmentOptions other = options();
  other.checkpoints.directory = "/others";
  ASSERT_TRUE(run(other, none, "another job").ok());
  CheckpointStore others(node_->files(), "/others");
  const std::uint64_t id = others.ids()->back();
  ASSERT_GT(id, ids_.back());
  for (const std::string& name : names_in(others.path_of(id))) {
    ASSERT_TRUE(node_->files().create_directories(store_.path_of(id)).ok());
    write(node_->files(), store_.path_of(id) + "/" + name,
          read(node_->files(), others.path_of(id) + "/" + name));
  }
  EnvironmentOptions again = options();
  again.checkpoints.restore = "latest";
  const JobResult result = run(again, none);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LT(result.records_read, records);
  EXPECT_EQ(visible_lines(node_->files(), newest_output()).size(), keys);
}

}  // namespace
}  // namespace hummer::corrupt_checkpoints_test
