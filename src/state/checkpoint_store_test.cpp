#include "state/checkpoint_store.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "platform/simulation.hpp"

namespace hummer::checkpoint_store_test {
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

// The same, on what the newest complete one has; `deltas` after a whole one.
Status write_incremental(SimulatedPlatform& node, std::uint64_t id, std::uint64_t deltas) {
  CheckpointStore store(node.files(), directory);
  std::vector<SkippedCheckpoint> skipped;
  const auto before = store.newest(skipped);
  HUMMER_TRY(store.begin(id));
  CheckpointMetadata metadata;
  metadata.id = id;
  metadata.job = 7;
  for (std::uint32_t subtask = 0; subtask < 2; ++subtask) {
    SnapshotFileHead head{.job = 7, .checkpoint = id, .vertex = 0, .subtask = subtask};
    const std::string name = CheckpointStore::file_name(0, subtask);
    auto writer = SnapshotFileWriter::create(node.files(), store.path_of(id) + "/" + name, head);
    if (!writer.ok()) return writer.status();
    HUMMER_TRY(writer->add("count", "change of " + std::to_string(id)));
    const auto summary = writer->finish();
    if (!summary.ok()) return summary.status();
    metadata.files.push_back({name, 0, subtask, summary->bytes, summary->hash});
    // Subtask 1 begins anew at other times.
    const std::uint64_t whole = id - (id + subtask) % (deltas + 1);
    if (before.ok() && whole != id) {
      const auto oldest =
          std::find_if(before->files.begin(), before->files.end(), [&](const CheckpointFile& file) {
            return file.subtask == subtask &&
                   (file.checkpoint == 0 ? before->id : file.checkpoint) >= whole;
          });
      if (oldest != before->files.end()) {
        metadata.files.back().builds_on = oldest->checkpoint == 0 ? before->id : oldest->checkpoint;
      }
    }
  }
  HUMMER_TRY(metadata.add_earlier_files(before.ok() ? &*before : nullptr));
  return store.complete(metadata);
}

TEST(CheckpointStore, KeepsTheFilesThatALaterOneBuildsOn) {
  auto node = make_simulated_platform({.seed = 1});
  CheckpointStore store(node->files(), directory);
  for (std::uint64_t id = 1; id <= 12; ++id) {
    ASSERT_TRUE(write_incremental(*node, id, 4).ok()) << id;
    ASSERT_TRUE(store.retain(1).ok());
    std::vector<SkippedCheckpoint> skipped;
    const auto newest = store.newest(skipped);
    ASSERT_TRUE(newest.ok()) << newest.status().to_string();
    EXPECT_EQ(newest->id, id);
    EXPECT_TRUE(skipped.empty()) << skipped.front().why.to_string();
    // Each file is there once, and no other.
    std::size_t files = 0;
    const std::vector<std::uint64_t> ids = *store.ids();
    for (const std::uint64_t each : ids) {
      files += node->files().list_directory(store.path_of(each))->size();
    }
    EXPECT_EQ(files, newest->files.size() + 1);
  }
  EXPECT_EQ(store.read(9).status().code(), ErrorCode::not_found);
  ASSERT_TRUE(
      node->files().remove(store.path_of(10) + "/" + CheckpointStore::file_name(0, 0)).ok());
  std::vector<SkippedCheckpoint> skipped;
  EXPECT_FALSE(store.newest(skipped).ok());
  ASSERT_FALSE(skipped.empty());
  EXPECT_EQ(skipped[0].id, 12u);  // the others hold files, and no metadata
  EXPECT_NE(skipped[0].why.message().find(store.path_of(10)), std::string::npos)
      << skipped[0].why.message();
}

TEST(CheckpointMetadata, WhatAFileBuildsOnMustBePartOfTheOneBefore) {
  CheckpointMetadata before;
  before.id = 7;
  before.files = {{.name = "0-0.state", .checkpoint = 4},
                  {.name = "0-0.state", .checkpoint = 6},
                  {.name = "0-0.state", .builds_on = 4}};
  CheckpointMetadata next;
  next.id = 8;
  next.files = {{.name = "0-0.state", .builds_on = 6}};
  CheckpointMetadata gone = next;
  gone.files[0].builds_on = 5;
  EXPECT_EQ(gone.add_earlier_files(&before).code(), ErrorCode::not_found);
  gone.files = {{.name = "0-0.state", .builds_on = 4}};
  EXPECT_EQ(gone.add_earlier_files(nullptr).code(), ErrorCode::not_found);
  CheckpointMetadata savepoint = next;
  savepoint.savepoint = true;
  EXPECT_FALSE(savepoint.add_earlier_files(&before).ok());
  ASSERT_TRUE(next.add_earlier_files(&before).ok());
  ASSERT_EQ(next.files.size(), 3u);
  EXPECT_EQ(next.files[0].checkpoint, 6u);
  EXPECT_EQ(next.files[1].checkpoint, 7u);
  EXPECT_EQ(next.files[2].checkpoint, 0u);
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
  EXPECT_EQ(skipped[2].why.code(), ErrorCode::corrupt_file);
  EXPECT_EQ(skipped[3].why.code(), ErrorCode::corrupt_file);
  for (const SkippedCheckpoint& each : skipped) {
    EXPECT_NE(each.why.message().find(store.path_of(each.id)), std::string::npos);
  }
}

// Every check is right.
TEST(CheckpointStore, RefusesMetadataUnderTheHeadOfAnotherJob) {
  auto node = make_simulated_platform({.seed = 1});
  CheckpointStore store(node->files(), directory);
  ASSERT_TRUE(write_checkpoint(*node, 1).ok());
  const std::string path = store.path_of(1) + "/_metadata";
  std::string uid;
  std::string bytes;
  ASSERT_TRUE(*SnapshotFileReader::open(node->files(), path)->next(uid, bytes));
  auto writer = SnapshotFileWriter::create(node->files(), path, {.job = 8, .checkpoint = 1});
  ASSERT_TRUE(writer->add(uid, bytes).ok());
  ASSERT_TRUE(writer->finish().ok());
  const Status refused = store.read(1).status();
  EXPECT_EQ(refused.code(), ErrorCode::corrupt_file);
  EXPECT_NE(refused.message().find("of job 8"), std::string::npos) << refused.message();
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

// A full disk, faults of writes and syncs, faults of renames and directories: a failure names the
// path, nothing half-written is taken for whole, and the next checkpoint is as if nothing had been.
TEST(CheckpointStore, DiskFaultsOfAnyKindAreNamedAndPass) {
  std::uint64_t failed[3] = {};
  for (std::uint64_t seed = 1; seed <= 150; ++seed) {
    auto node = make_simulated_platform({.seed = seed});
    SimulationOptions& options = node->simulation().options();
    CheckpointStore store(node->files(), directory);
    ASSERT_TRUE(write_checkpoint(*node, 1).ok());
    const std::uint64_t kind = seed % 3;
    if (kind == 0) options.disk_capacity_bytes = 650 + 4 * seed;
    if (kind == 1) options.write_fault_rate = 0.1;
    if (kind == 2) options.name_fault_rate = 0.1;
    const Status written = write_checkpoint(*node, 2);
    options.disk_capacity_bytes = UINT64_MAX;
    options.write_fault_rate = options.name_fault_rate = 0;
    if (!written.ok()) {
      ++failed[kind];
      EXPECT_EQ(written.code(), kind == 0 ? ErrorCode::disk_full : ErrorCode::io_error);
      EXPECT_NE(written.message().find("'/checkpoints"), std::string::npos) << written.message();
    }
    std::vector<SkippedCheckpoint> skipped;
    const auto newest = store.newest(skipped);
    ASSERT_TRUE(newest.ok()) << "seed " << seed << ": " << newest.status().to_string();
    // Whole it may be all the same: when the last sync of its directory has failed.
    EXPECT_TRUE(newest->id == 2 || !written.ok()) << "seed " << seed;
    ASSERT_TRUE(write_checkpoint(*node, 3).ok()) << "seed " << seed;
    node->crash_disk();
    EXPECT_EQ(store.newest(skipped)->id, 3u) << "seed " << seed;
  }
  for (const std::uint64_t each : failed) EXPECT_GT(each, 10u);
}

// Whatever fails, and whenever the power goes: what was completed before is found, and nothing
// half-written is.
TEST(CheckpointStore, ACrashAtAnyMomentLeavesTheLastCompleteOne) {
  // Whole ones; incremental ones.
  for (const std::uint64_t deltas : {0, 3}) {
    int crashed = 0;
    int fallen_back = 0;
    for (std::uint64_t seed = 1; seed <= 300; ++seed) {
      auto node = make_simulated_platform({.seed = seed});
      CheckpointStore store(node->files(), directory);
      std::uint64_t completed = 0;
      for (std::uint64_t id = 1; id <= 4; ++id) {
        node->simulation().options().write_fault_rate = id > 1 ? 0.06 : 0;
        const Status written =
            deltas == 0 ? write_checkpoint(*node, id) : write_incremental(*node, id, deltas);
        const bool done = written.ok() && store.retain(2).ok();
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
}

TEST(CheckpointStore, ADeathWhileAllAreRemovedLeavesTheNewestOneOrNone) {
  int left = 0;
  int gone = 0;
  for (std::uint64_t operations = 1;; ++operations) {
    Simulation simulation({.seed = operations});
    SimulatedPlatform& node = simulation.add_node("node");
    CheckpointStore store(node.files(), directory);
    ASSERT_TRUE(write_checkpoint(node, 1).ok());
    for (std::uint64_t id = 2; id <= 5; ++id) ASSERT_TRUE(write_incremental(node, id, 2).ok());
    node.kill_at_disk_operation(operations);
    const Status removed = store.remove_all(2);
    node.kill_at_disk_operation(0);
    if (node.alive()) {
      ASSERT_TRUE(removed.ok()) << removed.to_string();
      const auto ids = store.ids();
      ASSERT_TRUE(ids.ok()) << ids.status().to_string();
      EXPECT_EQ(*ids, std::vector<std::uint64_t>{1});
      break;
    }
    if (operations % 2 == 0) node.crash_disk();
    SimulatedPlatform& next = simulation.restart_node(node);
    std::vector<SkippedCheckpoint> skipped;
    const auto newest = CheckpointStore(next.files(), directory).newest(skipped);
    ASSERT_TRUE(newest.ok()) << operations << ": " << newest.status().to_string();
    EXPECT_TRUE(newest->id == 5 || newest->id == 1) << operations << ": " << newest->id;
    ++(newest->id == 5 ? left : gone);
  }
  EXPECT_GT(left, 8);
  EXPECT_GT(gone, 2);
}

}  // namespace
}  // namespace hummer::checkpoint_store_test
