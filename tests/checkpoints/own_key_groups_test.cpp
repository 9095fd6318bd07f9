// A restore reads what it owns: of a checkpoint at one parallelism, subtasks at another read
// together little more than all of it, each about its share, and the results are the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <hummer/detail/key_groups.hpp>
#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::own_key_groups_test {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 24'000;
constexpr Index count = 2 * keys + 6'000;
constexpr std::uint64_t fails_at = keys + 4'000;  // all keys have come

// All keys twice, in another order, and some again.
Index key_of_index(Index i) { return i * 7919 % keys; }

struct LastSeen {
  ValueState<std::string> last{"last"};
  void process(Index key, KeyedOutput<std::string>& out) {
    const std::string seen = last.get_or("");
    if (!seen.empty()) out.emit(std::to_string(key) + "\t" + std::to_string(seen.size()));
    last.set(seen + std::string(40, 'x'));
  }
};

enum class Kind { aggregate, keyed_function, windows, join };
struct Case {
  Kind kind;
  std::size_t memory_limit_bytes;  // 0: none
};

JobResult run(EnvironmentOptions options, Kind kind, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  const auto key = [&failures](Index i) {
    failures.maybe_throw();
    return key_of_index(i);
  };
  const GeneratorOptions input{.count = count, .records_per_second = 200'000.0};
  const auto numbers = [](Index i) { return i; };
  const auto at_five = [](Index) { return Timestamp{5}; };
  if (kind == Kind::aggregate) {
    env.generate(numbers, input).map(key).key_by(identity).count().uid("state").write_file("/out");
  } else if (kind == Kind::keyed_function) {
    env.generate(numbers, input)
        .map(key)
        .key_by(identity)
        .process(LastSeen())
        .uid("state")
        .write_file("/out");
  } else if (kind == Kind::windows) {
    env.generate(numbers, input, at_five)
        .map(key)
        .key_by(identity)
        .window(TumblingWindows::of(10))
        .strategy(WindowStrategy::repartition)
        .count()
        .uid("state")
        .map([](const Windowed<Index, Index>& one) {
          return KeyValue<Index, Index>{one.key, one.value};
        })
        .write_file("/out");
  } else {
    const auto left = env.generate(numbers, input, at_five).map(key).key_by(identity);
    const auto right = env.generate(numbers, {.count = keys / 8}, at_five).key_by(identity);
    left.join(right)
        .window(TumblingWindows::of(10))
        .apply([](Index one, Index other) {
          return std::to_string(one) + "\t" + std::to_string(other);
        })
        .uid("state")
        .write_file("/out");
  }
  return env.execute("own groups");
}

// Bytes of the checkpoint's blocks that are of certain key groups, and of those that a subtask
// reads; beside them the bytes that everybody reads.
struct Blocks {
  std::vector<SnapshotIndex::Block> of_groups;
  std::uint64_t of_all = 0;

  std::uint64_t bytes(const KeyGroups& wanted) const {
    std::uint64_t sum = 0;
    for (const SnapshotIndex::Block& block : of_groups) {
      if (block.groups.overlaps(wanted)) sum += block.bytes;
    }
    return sum;
  }
};

Blocks blocks_of(Files& files, const std::string& path, const CheckpointMetadata& metadata) {
  Blocks found;
  for (const CheckpointFile& file : metadata.files) {
    const auto indexed = CheckpointStore::open_indexed(files, path, metadata, file);
    EXPECT_TRUE(indexed.ok() && indexed->has_value()) << indexed.status().to_string();
    if (!indexed.ok() || !*indexed) continue;
    for (const SnapshotIndex::Piece& piece : (*indexed)->index.pieces) {
      if (piece.uid != "state") continue;
      for (const SnapshotIndex::Block& block : piece.blocks) {
        if (block.groups.all()) {
          found.of_all += block.bytes;
        } else {
          found.of_groups.push_back(block);
        }
      }
    }
  }
  return found;
}

class OwnKeyGroups : public testing::TestWithParam<std::tuple<Case, int>> {
 protected:
  EnvironmentOptions options(SimulatedPlatform& node, int parallelism) const {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = parallelism;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 40;
    options.memory_limit_bytes = std::get<0>(GetParam()).memory_limit_bytes;
    options.spill_directory = "/";
    options.restart = RestartStrategy::no_restart();
    return options;
  }
};
const std::vector<int> parallelisms = under_sanitizers ? std::vector{2} : std::vector{1, 2, 4};
// State on disk: what is in memory is there too before it goes, so sanitizers look at these alone.
INSTANTIATE_TEST_SUITE_P(OnDisk, OwnKeyGroups,
                         testing::Combine(testing::Values(Case{Kind::aggregate, 2 << 20},
                                                          Case{Kind::keyed_function, 4 << 20},
                                                          Case{Kind::windows, 2 << 20},
                                                          Case{Kind::join, 4 << 20}),
                                          testing::ValuesIn(parallelisms)));
const std::vector<Case> in_memory =
    under_sanitizers ? std::vector<Case>{}
                     : std::vector{Case{Kind::aggregate, 0}, Case{Kind::keyed_function, 0},
                                   Case{Kind::windows, 0}, Case{Kind::join, 0}};
INSTANTIATE_TEST_SUITE_P(InMemory, OwnKeyGroups,
                         testing::Combine(testing::ValuesIn(in_memory),
                                          testing::ValuesIn(parallelisms)));

TEST_P(OwnKeyGroups, AreWhatARestoreReads) {
  const auto [what, parallelism] = GetParam();
  std::vector<std::string> expected;
  {
    auto node = make_simulated_platform({.seed = 1});
    PlannedFailures none;
    EnvironmentOptions whole = options(*node, 1);
    whole.memory_limit_bytes = 0;
    whole.checkpoints.interval_ms = 0;
    ASSERT_TRUE(run(whole, what.kind, none).ok());
    expected = visible_lines(node->files(), "/out");
  }
  for (int again = 1; again <= 4; ++again) {
    if (under_sanitizers && again != 3) continue;
    auto node = make_simulated_platform({.seed = 1});
    PlannedFailures failures;
    failures.left = 1;
    failures.every = fails_at;
    const JobResult cut = run(options(*node, parallelism), what.kind, failures);
    ASSERT_EQ(cut.status.code(), ErrorCode::user_function_failed) << cut.status.to_string();
    CheckpointStore store(node->files(), "/checkpoints");
    std::vector<SkippedCheckpoint> skipped;
    const auto newest = store.newest(skipped);
    ASSERT_TRUE(newest.ok()) << newest.status().to_string();
    const Blocks blocks = blocks_of(node->files(), store.path_of(newest->id), *newest);
    const std::uint64_t all = blocks.bytes(KeyGroups());
    EXPECT_GT(all, 100'000u);
    EXPECT_LT(blocks.of_all, all / 50);
    // Aggregates on disk are saved in the blocks that their runs have: small runs have few, each of
    // many key groups. How small they are depends on when the checkpoint came: of 60 schedules
    // two thirds read more than the others' bound, 1.45 times as much as there is at most.
    const bool in_runs = what.kind == Kind::aggregate && what.memory_limit_bytes > 0;
    std::uint64_t read = 0;
    for (int subtask = 0; subtask < again; ++subtask) {
      const std::uint64_t own = blocks.bytes(
          KeyGroups::of_subtask(static_cast<std::uint32_t>(subtask),
                                static_cast<std::uint32_t>(again), default_key_groups));
      EXPECT_LT(own * static_cast<std::uint64_t>(again), all + (in_runs ? all * 3 / 5 : all / 3))
          << "subtask " << subtask;
      read += own;
    }
    EXPECT_LE(read, all + (in_runs ? all * 3 / 5 : all / 5)) << parallelism << " to " << again;
    if (again == parallelism) {
      EXPECT_EQ(read, all);
    }

    EnvironmentOptions second = options(*node, again);
    second.checkpoints.restore = "latest";
    PlannedFailures none;
    const JobResult result = run(second, what.kind, none);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(visible_lines(node->files(), "/out"), expected) << parallelism << " to " << again;
  }
}

// A file whose checks are right, and whose blocks are said to be of other key groups than they are.
// Some subtask reads each block, and sees that.
TEST(WrongKeyGroups, AreFoundByWhoReadsThem) {
  auto node = make_simulated_platform({.seed = 1});
  EnvironmentOptions options;
  options.platform = node.get();
  options.parallelism = 2;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 40;
  options.restart = RestartStrategy::no_restart();
  PlannedFailures failures;
  failures.left = 1;
  failures.every = fails_at;
  ASSERT_FALSE(run(options, Kind::keyed_function, failures).ok());
  CheckpointStore store(node->files(), "/checkpoints");
  std::vector<SkippedCheckpoint> skipped;
  auto newest = store.newest(skipped);
  ASSERT_TRUE(newest.ok());
  const std::string path = store.path_of(newest->id);
  std::string forged;
  for (CheckpointFile& file : newest->files) {
    auto indexed = CheckpointStore::open_indexed(node->files(), path, *newest, file);
    ASSERT_TRUE(indexed.ok() && indexed->has_value());
    const bool is_it = forged.empty() && file.checkpoint == 0 && file.subtask == 1 &&
                       std::any_of((*indexed)->index.pieces.begin(), (*indexed)->index.pieces.end(),
                                   [](const auto& piece) { return piece.uid == "state"; });
    if (!is_it) continue;
    forged = file.name;
    auto writer = SnapshotFileWriter::create(node->files(), "/forged", (*indexed)->reader.head());
    ASSERT_TRUE(writer.ok());
    for (const SnapshotIndex::Piece& piece : (*indexed)->index.pieces) {
      for (const SnapshotIndex::Block& block : piece.blocks) {
        (*indexed)->reader.go_to(block.at);
        SnapshotPart part;
        ASSERT_TRUE(*(*indexed)->reader.next_part(part));
        const KeyGroupBlock said{0, part.bytes.size(), {3, 3}};
        const bool of_groups = !block.groups.all();
        ASSERT_TRUE(
            writer->add(piece.uid, part.bytes, !part.last, {&said, of_groups ? 1u : 0u}).ok());
      }
    }
    const auto summary = writer->finish();
    ASSERT_TRUE(summary.ok());
    file.bytes = summary->bytes;
    file.hash = summary->hash;
    ASSERT_TRUE(node->files().rename("/forged", path + "/" + file.name).ok());
  }
  ASSERT_FALSE(forged.empty());
  ASSERT_TRUE(store.complete(*newest).ok());
  ASSERT_TRUE(store.verify(*newest).ok()) << "its checks are right";
  options.checkpoints.restore = path;
  PlannedFailures none;
  const JobResult result = run(options, Kind::keyed_function, none);
  EXPECT_EQ(result.status.code(), ErrorCode::corrupt_file) << result.status.to_string();
  EXPECT_NE(result.status.message().find(forged + "': in the piece 'state'"), std::string::npos)
      << result.status.message();
}

}  // namespace
}  // namespace hummer::own_key_groups_test
