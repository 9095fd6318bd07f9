#include "state/checkpoint_store.hpp"

#include <gtest/gtest.h>

#include "platform/simulation.hpp"

namespace hummer {
namespace {

constexpr const char* directory = "/checkpoints/job";

// Writes checkpoint `id` of two tasks, whose state says its number.
Status write_checkpoint(SimulatedPlatform& node, std::uint64_t id) {
  CheckpointStore store(node.files(), directory);
  HUMMER_TRY(store.begin(id));
  CheckpointMetadata metadata;
  metadata.id = id;
  metadata.job = 7;
  metadata.job_name = "count";
  metadata.operators = {{.uid = "count", .name = "count", .vertex = 0, .parallelism = 2}};
  for (std::uint32_t subtask = 0; subtask < 2; ++subtask) {
    SnapshotFileHead head{.job = 7, .checkpoint = id, .vertex = 0, .subtask = subtask};
    const std::string name = CheckpointStore::file_name(0, subtask);
    auto writer = SnapshotFileWriter::create(node.files(), store.path_of(id) + "/" + name, head);
    if (!writer.ok()) return writer.status();
    HUMMER_TRY(writer->add("count", "state of " + std::to_string(id)));
    const auto summary = writer->finish();
    if (!summary.ok()) return summary.status();
    metadata.files.push_back({name, 0, subtask, summary->bytes, summary->hash});
  }
  return store.complete(metadata);
}

TEST(CheckpointStore, ReadsWhatWasCompleted) {
  auto node = make_simulated_platform({.seed = 1});
  CheckpointStore store(node->files(), directory);
  EXPECT_EQ(store.read(1).status().code(), ErrorCode::not_found);
  EXPECT_TRUE(store.ids()->empty());
  ASSERT_TRUE(write_checkpoint(*node, 1).ok());
  ASSERT_TRUE(write_checkpoint(*node, 12).ok());
  EXPECT_EQ(*store.ids(), (std::vector<std::uint64_t>{1, 12}));
  const auto metadata = store.read(12);
  ASSERT_TRUE(metadata.ok()) << metadata.status().to_string();
  EXPECT_EQ(metadata->operators.size(), 1u);
  EXPECT_EQ(metadata->files.size(), 2u);
  EXPECT_GT(metadata->state_bytes(), 100u);
  EXPECT_TRUE(store.verify(*metadata).ok());
  std::vector<SkippedCheckpoint> skipped;
  EXPECT_EQ(store.newest(skipped)->id, 12u);
  EXPECT_TRUE(skipped.empty());
}

TEST(CheckpointStore, PassesOverWhatIsDamagedAndSaysWhy) {
  auto node = make_simulated_platform({.seed = 1});
  CheckpointStore store(node->files(), directory);
  for (const std::uint64_t id : {1, 2, 3, 4, 5}) {
    ASSERT_TRUE(write_checkpoint(*node, id).ok());
  }
  const auto damage = [&](const std::string& path) {
    auto file = node->files().open_for_writing(path, WriteMode::append);
    ASSERT_TRUE((*file)->append("x").ok());
  };
  damage(store.path_of(5) + "/_metadata");
  damage(store.path_of(4) + "/" + CheckpointStore::file_name(0, 1));
  ASSERT_TRUE(node->files().remove(store.path_of(3) + "/" + CheckpointStore::file_name(0, 0)).ok());
  // Whole, but of another checkpoint.
  ASSERT_TRUE(node->files()
                  .rename(store.path_of(1) + "/" + CheckpointStore::file_name(0, 0),
                          store.path_of(2) + "/" + CheckpointStore::file_name(0, 0))
                  .ok());
  std::vector<SkippedCheckpoint> skipped;
  EXPECT_EQ(store.newest(skipped).status().code(), ErrorCode::not_found);
  ASSERT_EQ(skipped.size(), 5u);
  EXPECT_EQ(skipped[0].why.code(), ErrorCode::corrupt_file);
  EXPECT_EQ(skipped[1].why.code(), ErrorCode::corrupt_file);
  EXPECT_EQ(skipped[2].why.code(), ErrorCode::not_found);
  EXPECT_EQ(skipped[3].why.code(), ErrorCode::corrupt_file);
  for (const SkippedCheckpoint& each : skipped) {
    EXPECT_NE(each.why.message().find(store.path_of(each.id)), std::string::npos);
  }
}

TEST(CheckpointStore, RetainsTheNewestCompleteOnesAndRemovesLeftovers) {
  auto node = make_simulated_platform({.seed = 1});
  CheckpointStore store(node->files(), directory);
  ASSERT_TRUE(store.begin(1).ok());  // never completed
  for (const std::uint64_t id : {2, 3, 4}) {
    ASSERT_TRUE(write_checkpoint(*node, id).ok());
  }
  ASSERT_TRUE(store.begin(5).ok());  // under way
  ASSERT_TRUE(store.retain(2).ok());
  EXPECT_EQ(*store.ids(), (std::vector<std::uint64_t>{3, 4, 5}));
  EXPECT_TRUE(store.remove(2).ok());
}

// Whatever fails, and whenever the power goes: what was completed before is found, and nothing
// half-written is.
TEST(CheckpointStore, ACrashAtAnyMomentLeavesTheLastCompleteOne) {
  int crashed = 0;
  int fallen_back = 0;
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    CheckpointStore store(node->files(), directory);
    std::uint64_t completed = 0;
    for (std::uint64_t id = 1; id <= 4; ++id) {
      node->simulation().options().write_fault_rate = id > 1 ? 0.06 : 0;
      const bool done = write_checkpoint(*node, id).ok() && store.retain(2).ok();
      if (!done) break;
      completed = id;
    }
    node->simulation().options().write_fault_rate = 0;
    node->crash_disk();
    std::vector<SkippedCheckpoint> skipped;
    const auto newest = store.newest(skipped);
    ASSERT_TRUE(newest.ok()) << "seed " << seed << ": " << newest.status().to_string();
    ASSERT_GE(newest->id, completed) << "seed " << seed;
    crashed += completed < 4 ? 1 : 0;
    fallen_back += skipped.empty() ? 0 : 1;
    ASSERT_TRUE(write_checkpoint(*node, 9).ok()) << "seed " << seed;
    ASSERT_TRUE(store.retain(1).ok()) << "seed " << seed;
    EXPECT_EQ(*store.ids(), std::vector<std::uint64_t>{9}) << "seed " << seed;
  }
  EXPECT_GT(crashed, 100);
  EXPECT_GT(fallen_back, 50);
}

}  // namespace
}  // namespace hummer
