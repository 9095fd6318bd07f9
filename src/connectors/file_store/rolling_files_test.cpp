#include "connectors/file_store/rolling_files.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "connectors/connector_test_context.hpp"
#include "connectors/file/sink_names.hpp"

namespace hummer::rolling_files_test {
namespace {

using Names = std::vector<std::string>;

constexpr std::uint64_t run = 0xabc;
const std::string uid = "sink";

// One subtask of an attempt that begins with the checkpoint `epoch`.
struct Subtask {
  Subtask(Platform& platform, RollOptions options, std::uint32_t number_of_attempt = 0,
          std::uint64_t epoch = 0, std::uint64_t superseded = 0, std::uint64_t its_run = run,
          int number = 0, int parallelism = 1, bool checkpoints = true)
      : context(platform, number, parallelism),
        files("/out", std::move(options), checkpoints),
        of_run(its_run),
        attempt(number_of_attempt) {
    context.set_attempt(of_run, attempt, epoch, superseded);
    context.set_uid(uid);
  }
  ~Subtask() { files.close(); }
  Status open(const Names& states = {}) {
    for (const std::string& state : states) {
      ByteReader in(state);
      HUMMER_TRY(files.restore(in));
    }
    return files.open(context);
  }
  void write(const std::string& partition, const std::string& text,
             Timestamp ends_at = end_of_time) {
    Result<OpenPart*> part = files.part_of(partition, ends_at);
    ASSERT_TRUE(part.ok()) << part.status().to_string();
    (*part)->text += text;
    ++(*part)->records;
    part = files.hand_over(**part);
    ASSERT_TRUE(part.ok()) << part.status().to_string();
  }
  // What a checkpoint saves.
  std::string barrier(std::uint64_t epoch) {
    context.set_attempt(of_run, attempt, epoch);
    EXPECT_TRUE(files.flush().ok());
    std::string bytes;
    ByteWriter out(bytes);
    files.snapshot(out);
    return std::string(out.view());
  }
  std::string complete(std::uint64_t epoch) {
    std::string state = barrier(epoch);
    const Status status = files.commit(epoch);
    EXPECT_TRUE(status.ok()) << status.to_string();
    return state;
  }

  ConnectorTestContext context;
  RollingFiles files;
  const std::uint64_t of_run;
  const std::uint32_t attempt;
};

class RollingFilesTest : public testing::Test {
 protected:
  // Names and texts of what is visible.
  std::map<std::string, std::string> visible() {
    std::map<std::string, std::string> found;
    for (const auto& [path, text] : platform_->files_below("/out")) {
      const bool hidden = path.starts_with('.') || path.find("/.") != path.npos;
      if (!hidden) found[std::string(path)] = text;
    }
    return found;
  }
  Names texts() {
    Names all;
    for (const auto& [path, text] : visible()) all.push_back(text);
    std::sort(all.begin(), all.end());
    return all;
  }
  std::size_t pending() {
    std::size_t count = 0;
    for (const auto& [path, text] : platform_->files_below("/out")) {
      count += path.ends_with(".pending") || path.ends_with(".whole");
    }
    return count;
  }
  void wait_ms(std::int64_t ms) { platform_->simulation().charge(ms * 1'000'000, ms * 1'000'000); }
  Subtask subtask(std::uint32_t attempt = 0, std::uint64_t epoch = 0,
                  std::uint64_t superseded = 0) {
    return {*platform_, options_, attempt, epoch, superseded};
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
  RollOptions options_;
};

TEST_F(RollingFilesTest, APartGoesOnOverCheckpointsUntilItIsRolled) {
  options_.roll_bytes = 10;
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  one.write("", "a\n");
  one.complete(1);
  one.write("", "b\n");
  one.complete(2);
  EXPECT_EQ(texts(), Names{});
  // A small append waits for more; a barrier takes it all.
  one.write("", "c\n");
  one.complete(3);
  one.write("", "d\n");
  one.complete(4);
  EXPECT_EQ(texts(), Names{});
  one.write("", std::string(70'000, 'x'));
  EXPECT_EQ(texts(), Names{});
  one.complete(5);
  EXPECT_EQ(texts(), Names{"a\nb\nc\nd\n" + std::string(70'000, 'x')});
}

TEST_F(RollingFilesTest, RollsAtEachCheckpointWhereItIsToldTo) {
  options_.roll_at_checkpoints = true;
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  one.write("", "a\n");
  one.complete(1);
  one.write("", "b\n");
  one.complete(2);
  EXPECT_EQ(texts(), (Names{"a\n", "b\n"}));
}

TEST_F(RollingFilesTest, RollsByAgeAndWhenNothingComes) {
  options_.roll_ms = 1000;
  options_.idle_ms = 300;
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  one.write("busy", "1");
  one.write("idle", "1");
  for (int i = 0; i < 4; ++i) {
    wait_ms(200);
    one.write("busy", "2");
    ASSERT_TRUE(one.files.timer().ok());
  }
  one.complete(1);
  EXPECT_EQ(texts(), Names{"1"});
  wait_ms(250);
  ASSERT_TRUE(one.files.timer().ok());
  one.complete(2);
  EXPECT_EQ(texts(), (Names{"1", "12222"}));
}

TEST_F(RollingFilesTest, TheOneThatWasNotWrittenToForLongestMakesRoom) {
  options_.max_open_partitions = 2;
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  for (const char* partition : {"a", "b", "a", "c"}) {
    wait_ms(1);
    one.write(partition, partition);
  }
  one.complete(1);
  EXPECT_EQ(texts(), Names{"b"});
  ASSERT_TRUE(one.files.end().ok());
  one.complete(2);
  EXPECT_EQ(texts(), (Names{"aa", "b", "c"}));
}

TEST_F(RollingFilesTest, EachFileBeginsWithTheHead) {
  options_.head = "head\n";
  options_.suffix = ".csv";
  options_.roll_records = 1;
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  one.write("", "a\n");
  one.write("", "b\n");
  one.complete(1);
  EXPECT_EQ(texts(), (Names{"head\na\n", "head\nb\n"}));
  EXPECT_TRUE(visible().begin()->first.ends_with(".csv"));
}

// The process dies behind a complete checkpoint, and what it wrote behind it does not count.
TEST_F(RollingFilesTest, AnOpenPartIsVisibleWithWhatItHeldAtTheRestoredBarrier) {
  std::string state;
  {
    Subtask one = subtask();
    ASSERT_TRUE(one.open().ok());
    one.write("x", "a\n");
    state = one.complete(1);
    one.write("x", std::string(70'000, 'b'));
    (void)one.barrier(2);
  }
  // Two attempts, the first of which dies behind its commit.
  for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
    Subtask next = subtask(attempt, 1);
    ASSERT_TRUE(next.open({state}).ok());
    ASSERT_TRUE(next.files.commit(1).ok());
    EXPECT_EQ(texts(), Names{"a\n"});
    next.write("x", "again\n");
  }
  EXPECT_EQ(pending(), 0u);
}

// A worker that was cut off goes on writing into what its successor has made visible.
TEST_F(RollingFilesTest, AWorkerThatWasCutOffChangesNothingVisible) {
  Subtask old = subtask();
  ASSERT_TRUE(old.open().ok());
  old.write("", "a\n");
  const std::string state = old.complete(1);
  Subtask next = subtask(1, 1);
  ASSERT_TRUE(next.open({state}).ok());
  ASSERT_TRUE(next.files.commit(1).ok());
  old.write("", std::string(70'000, 'z'));
  (void)old.barrier(2);
  next.write("", "b\n");
  ASSERT_TRUE(next.files.end().ok());
  next.complete(3);
  EXPECT_EQ(texts(), (Names{"a\n", "b\n"}));
}

TEST_F(RollingFilesTest, StateIsDealtOutAtAnotherParallelism) {
  Names states;
  for (int number = 0; number < 3; ++number) {
    Subtask one(*platform_, options_, 0, 0, 0, run, number, 3);
    ASSERT_TRUE(one.open().ok());
    one.write("p", "line of " + std::to_string(number) + "\n");
    states.push_back(one.barrier(1));
  }
  Subtask first(*platform_, options_, 0, 1, 0, run + 1, 0, 2);
  Subtask second(*platform_, options_, 0, 1, 0, run + 1, 1, 2);
  ASSERT_TRUE(first.open({states[0], states[2]}).ok());
  ASSERT_TRUE(second.open({states[1]}).ok());
  ASSERT_TRUE(first.files.commit(1).ok());
  ASSERT_TRUE(second.files.commit(1).ok());
  EXPECT_EQ(texts(), (Names{"line of 0\n", "line of 1\n", "line of 2\n"}));
  EXPECT_EQ(pending(), 0u);
}

TEST_F(RollingFilesTest, WhatNobodyKnowsOfIsAborted) {
  std::string state;
  {
    Subtask one = subtask();
    ASSERT_TRUE(one.open().ok());
    state = one.complete(1);
    one.write("", "a\n");
    (void)one.barrier(2);  // never complete
  }
  Subtask stranger(*platform_, options_, 0, 0, 0, run + 5);
  options_.refuse_existing = false;
  ASSERT_TRUE(stranger.open().ok());
  stranger.write("", "s\n");
  (void)stranger.barrier(1);
  EXPECT_EQ(pending(), 2u);
  Subtask next = subtask(1, 1);
  ASSERT_TRUE(next.open({state}).ok());
  EXPECT_EQ(pending(), 1u);
  ASSERT_TRUE(next.files.commit(1).ok());
  EXPECT_EQ(texts(), Names{});
}

TEST_F(RollingFilesTest, AFileThatSomebodyTookIsNotMissedAndOneThatIsLostIs) {
  options_.roll_records = 1;
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  one.write("", "a\n");
  const std::string state = one.complete(1);
  const std::string path = "/out/" + visible().begin()->first;
  const std::string before_commit = [&] {
    one.write("", "b\n");
    return one.barrier(2);
  }();
  ASSERT_TRUE(platform_->files().remove(path).ok());
  ASSERT_TRUE(one.files.commit(1).ok());  // once more
  for (const auto& [name, text] : platform_->files_below("/out/.hummer")) {
    if (!name.ends_with(".pending")) continue;
    ASSERT_TRUE(platform_->files().remove("/out/.hummer/" + std::string(name)).ok());
    break;
  }
  // Also when it is tried again.
  for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
    Subtask next = subtask(attempt, 2);
    ASSERT_TRUE(next.open({before_commit}).ok());
    const Status lost = next.files.commit(2);
    EXPECT_EQ(lost.code(), ErrorCode::not_found);
    EXPECT_NE(lost.message().find("'/out'"), std::string::npos) << lost.message();
    EXPECT_NE(lost.message().find("lost"), std::string::npos) << lost.message();
  }
}

TEST_F(RollingFilesTest, WhatIsWrittenAgainIsSetAside) {
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  one.write("open", "1\n");
  one.write("rolled", "1\n", 100);
  ASSERT_TRUE(one.files.watermark(100).ok());
  const std::string state = one.complete(1);
  one.write("open", std::string(70'000, 'x'));
  one.write("later", "2\n");
  ASSERT_TRUE(one.files.end().ok());
  one.complete(2);
  EXPECT_EQ(texts().size(), 3u);
  // The state of checkpoint 2 is damaged. Twice, since the process may die over it.
  for (std::uint32_t attempt = 1; attempt <= 2; ++attempt) {
    Subtask next = subtask(attempt, 1, 2);
    ASSERT_TRUE(next.open({state}).ok());
    ASSERT_TRUE(next.files.commit(1).ok());
    EXPECT_EQ(texts(), (Names{"1\n", "1\n"}));
  }
  int aside = 0;
  for (const auto& [path, text] : platform_->files_below("/out")) {
    aside += path.ends_with(".superseded");
  }
  EXPECT_EQ(aside, 2);
}

TEST_F(RollingFilesTest, WhatWouldBeWrittenTwiceIsRefused) {
  std::string first;
  {
    Subtask one = subtask();
    ASSERT_TRUE(one.open().ok());
    one.write("", "1\n");
    first = one.complete(1);
    ASSERT_TRUE(one.files.end().ok());
    one.complete(2);
  }
  const Status earlier = subtask(0, 1).open({first});
  EXPECT_EQ(earlier.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(earlier.message().find("checkpoint 2"), std::string::npos) << earlier.message();
  Subtask another(*platform_, options_, 0, 0, 0, run + 1);
  const Status anew = another.open();
  EXPECT_EQ(anew.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(anew.message().find("refuse_existing"), std::string::npos) << anew.message();
  options_.refuse_existing = false;
  Subtask beside(*platform_, options_, 0, 0, 0, run + 1);
  ASSERT_TRUE(beside.open().ok());
  beside.write("", "2\n");
  ASSERT_TRUE(beside.files.end().ok());
  beside.complete(1);
  EXPECT_EQ(texts(), (Names{"1\n", "2\n"}));
}

// Two machines, each with a disk of its own.
TEST_F(RollingFilesTest, ADirectoryThatEachWorkerHasForItselfIsFoundOut) {
  const auto elsewhere = make_simulated_platform({});
  Subtask here(*platform_, options_, 0, 0, 0, run, 0, 2);
  Subtask there(*elsewhere, options_, 0, 0, 0, run, 1, 2);
  ASSERT_TRUE(here.open().ok());
  ASSERT_TRUE(there.open().ok());
  (void)here.barrier(1);
  const Status refused = here.files.commit(1);
  EXPECT_EQ(refused.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(refused.message().find("subtask 1"), std::string::npos) << refused.message();
}

TEST_F(RollingFilesTest, APartitionIsMarkedByTheLastToPassItsEnd) {
  options_.success_markers = true;
  Subtask first(*platform_, options_, 0, 0, 0, run, 0, 2);
  Subtask second(*platform_, options_, 0, 0, 0, run, 1, 2);
  ASSERT_TRUE(first.open().ok());
  ASSERT_TRUE(second.open().ok());
  first.write("p", "1\n", 100);
  first.write("q", "1\n", 200);
  const auto pass = [&](Subtask& subtask, std::uint64_t epoch, Timestamp watermark) {
    ASSERT_TRUE(subtask.files.watermark(watermark).ok());
    subtask.complete(epoch);
  };
  const auto is_marked = [&](const std::string& partition) {
    return visible().contains(partition + "/_SUCCESS");
  };
  pass(first, 1, 100);
  EXPECT_FALSE(is_marked("p"));
  // It has no file in it.
  pass(second, 1, 150);
  EXPECT_TRUE(is_marked("p"));
  EXPECT_FALSE(is_marked("q"));
  // Not before its files are visible.
  ASSERT_TRUE(first.files.watermark(200).ok());
  pass(second, 2, 300);
  EXPECT_FALSE(is_marked("q"));
  first.complete(2);
  EXPECT_TRUE(is_marked("q"));
}

// The process dies behind its last checkpoint, ahead of the marks.
TEST_F(RollingFilesTest, ARestartAtTheEndMarksWhatWasNotMarked) {
  options_.success_markers = true;
  std::string state;
  {
    Subtask one = subtask();
    ASSERT_TRUE(one.open().ok());
    one.write("p", "1\n");
    ASSERT_TRUE(one.files.end().ok());
    state = one.barrier(1);
  }
  Subtask next = subtask(1, 1);
  ASSERT_TRUE(next.open({state}).ok());
  ASSERT_TRUE(next.files.commit(1).ok());
  EXPECT_TRUE(visible().contains("p/_SUCCESS"));
}

TEST_F(RollingFilesTest, WithoutCheckpointsFilesAreVisibleAsTheyAreRolled) {
  options_.roll_records = 2;
  options_.success_markers = true;
  Subtask one(*platform_, options_, 0, 0, 0, run, 0, 1, false);
  ASSERT_TRUE(one.open().ok());
  for (const char* text : {"a", "b", "c"}) one.write("p", text);
  EXPECT_EQ(texts(), Names{"ab"});
  ASSERT_TRUE(one.files.end().ok());
  EXPECT_EQ(texts(), (Names{"", "ab", "c"}));
  EXPECT_TRUE(visible().contains("p/_SUCCESS"));
}

TEST_F(RollingFilesTest, OptionsAndPartitionsAreChecked) {
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  for (const char* path : {"../x", "a/../../x", "_hidden", "/etc"}) {
    const Result<OpenPart*> part = one.files.part_of(path, end_of_time);
    EXPECT_EQ(part.status().code(), ErrorCode::invalid_argument) << path;
    EXPECT_NE(part.status().message().find(path), std::string::npos);
  }
  RollOptions wrong[5];
  wrong[0].max_open_partitions = 0;
  wrong[1].suffix = "/x";
  wrong[2].compression_level = 3;
  wrong[3].roll_ms = -1;
  wrong[4].store = nullptr;
  for (const RollOptions& options : wrong) {
    Subtask refused(*platform_, options);
    EXPECT_EQ(refused.open().code(), ErrorCode::invalid_configuration);
  }
}

TEST_F(RollingFilesTest, AStateThatIsCutOffIsCorrupt) {
  Subtask one = subtask();
  ASSERT_TRUE(one.open().ok());
  one.write("p", "a\n");
  const std::string state = one.barrier(1);
  for (std::size_t length = 0; length < state.size(); ++length) {
    Subtask next = subtask(1, 1);
    EXPECT_EQ(next.open({state.substr(0, length)}).code(), ErrorCode::corrupt_record) << length;
  }
}

// Whatever the disk does: each attempt goes on where the newest complete checkpoint is, and in the
// end every line is visible once.
TEST(RollingFilesFaults, EveryLineIsVisibleOnceWhateverTheDiskDoes) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed);
    Simulation simulation({.seed = seed});
    SimulatedPlatform* node = &simulation.add_node("writer");
    RollOptions options{.roll_bytes = 1 + random.below(200'000),
                        .roll_records = random.below(5),
                        .max_open_partitions = 1 + random.below(3)};
    options.compression = FileCompression::none;
    std::string state;
    std::uint64_t restored = 0, epoch = 0;
    Names expected, committed;  // of the newest complete checkpoint
    std::uint64_t lines = 0;
    bool ended = false;
    for (std::uint32_t attempt = 0; !ended; ++attempt) {
      ASSERT_LT(attempt, 200u);
      const bool calm = attempt > 12;
      simulation.options().write_fault_rate = calm ? 0 : 0.02;
      simulation.options().name_fault_rate = calm ? 0 : 0.02;
      simulation.options().read_fault_rate = calm ? 0 : 0.02;
      if (!calm && random.chance(0.3)) {
        node->kill_at_disk_operation(1 + random.below(60));
      } else {
        node->kill_at_disk_operation(0);
      }
      Subtask subtask(*node, options, attempt, restored);
      expected = committed;
      Status status = subtask.open(state.empty() ? Names() : Names{state});
      if (status.ok() && restored > 0) status = subtask.files.commit(restored);
      const int steps = calm ? 3 : static_cast<int>(random.below(12));
      for (int step = 0; status.ok() && step < steps; ++step) {
        const std::string text = random.chance(0.1) ? std::string(70'000, 'x') : "line ";
        const std::string line = text + std::to_string(++lines) + "\n";
        const Result<OpenPart*> part =
            subtask.files.part_of("p" + std::to_string(random.below(4)), end_of_time);
        status = part.status();
        if (!status.ok()) break;
        (*part)->text += line;
        ++(*part)->records;
        expected.push_back(line);
        status = subtask.files.hand_over(**part).status();
        if (!status.ok() || random.chance(0.5)) continue;
        subtask.context.set_attempt(run, attempt, ++epoch);
        status = subtask.files.flush();
        if (!status.ok()) break;
        std::string bytes;
        ByteWriter out(bytes);
        subtask.files.snapshot(out);
        if (random.chance(0.2)) continue;  // never complete
        state = std::string(out.view());
        restored = epoch;
        committed = expected;
        status = subtask.files.commit(epoch);
      }
      if (status.ok() && calm) {
        status = subtask.files.end();
        if (status.ok()) {
          subtask.context.set_attempt(run, attempt, ++epoch);
          status = subtask.files.flush();
        }
        if (status.ok()) status = subtask.files.commit(epoch);
        committed = expected;
        ended = status.ok();
        ASSERT_TRUE(ended) << status.to_string();
      }
      failures += !status.ok();
      if (!node->alive()) {
        if (random.chance(0.5)) node->crash_disk();
        node = &simulation.restart_node(*node);
      }
    }
    Names found;
    for (const auto& [path, text] : node->files_below("/out")) {
      if (path.starts_with('.')) continue;
      for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text.find('\n', at);
        ASSERT_NE(end, text.npos) << path;
        found.emplace_back(text.substr(at, end + 1 - at));
        at = end + 1;
      }
    }
    std::sort(found.begin(), found.end());
    std::sort(committed.begin(), committed.end());
    ASSERT_EQ(found.size(), committed.size());
    ASSERT_TRUE(found == committed);
  }
  EXPECT_GT(failures, 300);
}

TEST(RollingFilesFaults, AFullDiskFailsTheJobAndLeavesNothingHalf) {
  const auto platform = make_simulated_platform({.disk_capacity_bytes = 100'000});
  Subtask one(*platform, {});
  ASSERT_TRUE(one.open().ok());
  Status status;
  for (int i = 0; i < 3 && status.ok(); ++i) {
    Result<OpenPart*> part = one.files.part_of("p", end_of_time);
    ASSERT_TRUE(part.ok());
    (*part)->text.assign(66'000, 'x');
    status = one.files.hand_over(**part).status();
  }
  EXPECT_EQ(status.code(), ErrorCode::disk_full);
  EXPECT_NE(status.message().find("'/out'"), std::string::npos) << status.message();
  one.files.close();
  for (const auto& [path, text] : platform->files_below("/out")) {
    EXPECT_TRUE(path.starts_with(".hummer/sink-")) << path;
  }
}

}  // namespace
}  // namespace hummer::rolling_files_test
