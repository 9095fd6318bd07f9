#include "checkpoint/segment_writer.hpp"

#include <gtest/gtest.h>

#include "checkpoint/checkpoint_order.hpp"
#include "checkpoint/snapshot_files.hpp"
#include "platform/memory_object_store_for_test.hpp"
#include "platform/object_files.hpp"

namespace hummer::segment_writer_test {
namespace {

constexpr const char* directory = "m://b/job";
constexpr std::size_t megabyte = 1 << 20;

class Segments : public testing::Test {
 protected:
  std::string bytes_of(const std::string& name) {
    const auto stretch = parse_object_stretch(name);
    EXPECT_TRUE(stretch) << name;
    const auto found = store.objects.find(std::string(directory) + "/" + stretch->object);
    if (found == store.objects.end()) return "none: " + name;
    return found->second.bytes.substr(stretch->at, stretch->bytes);
  }
  // Of one checkpoint with two tasks.
  CheckpointMetadata save(std::uint64_t checkpoint) {
    CheckpointMetadata metadata;
    metadata.id = checkpoint;
    metadata.job = 5;
    metadata.job_name = "job";
    const std::string path = CheckpointStore::path_in(directory, checkpoint);
    SnapshotFiles snapshots(files, 5, 3, random);
    for (std::uint32_t subtask : {0u, 1u}) {
      TaskSnapshot snapshot;
      snapshot.epoch = checkpoint;
      snapshot.pieces.push_back({.uid = "count", .bytes = "state " + std::to_string(subtask)});
      auto file = snapshots.add({.vertex = 1, .subtask = subtask, .parallelism = 2}, checkpoint,
                                path, snapshot);
      EXPECT_TRUE(file.ok() && file->has_value()) << file.status().to_string();
      metadata.files.push_back(**file);
    }
    EXPECT_TRUE(snapshots.merges());
    EXPECT_TRUE(snapshots.flush().ok());
    return metadata;
  }
  CheckpointOrder order(CheckpointOrder::Kind kind, std::uint64_t checkpoint) {
    CheckpointOrder made;
    made.kind = kind;
    made.directory = directory;
    made.latest_in = directory;
    made.checkpoint = checkpoint;
    made.path = CheckpointStore::path_in(directory, checkpoint);
    return made;
  }
  void complete(std::uint64_t checkpoint) {
    CheckpointOrder made = order(CheckpointOrder::Kind::complete, checkpoint);
    made.metadata = save(checkpoint);
    const CheckpointOutcome outcome = execute(files, made);
    EXPECT_TRUE(outcome.status.ok()) << outcome.status.to_string();
  }
  std::vector<std::uint64_t> ids() { return *CheckpointStore(files, directory).ids(); }

  std::unique_ptr<MemoryObjectStore> made = std::make_unique<MemoryObjectStore>();
  MemoryObjectStore& store = *made;
  ObjectFiles files{std::move(made)};
  Random random{7};
};

TEST_F(Segments, CountWhatTheyMayHoldAndKeepToTheLimit) {
  const auto process = MemoryAccount::make_root("process", 256 * megabyte);
  const auto saved = [&](SnapshotFiles& snapshots, std::uint32_t subtask, std::size_t bytes) {
    TaskSnapshot snapshot;
    snapshot.epoch = 1;
    snapshot.pieces.push_back({.uid = "count", .bytes = std::string(bytes, 'x')});
    const auto file = snapshots.add({.vertex = 1, .subtask = subtask, .parallelism = 9}, 1,
                                    CheckpointStore::path_in(directory, 1), snapshot);
    EXPECT_TRUE(file.ok()) << file.status().to_string();
  };
  {
    SnapshotFiles snapshots(files, 5, 3, random, process);
    EXPECT_EQ(process->used_bytes(), 0u);  // it may be on a disk
    saved(snapshots, 0, 1);
    EXPECT_EQ(process->used_bytes(), 32 * megabyte);
    for (std::uint32_t subtask = 1; subtask < 9; ++subtask) saved(snapshots, subtask, 4 * megabyte);
    // Without a limit all of it would still be in memory.
    EXPECT_FALSE(store.objects.empty());
    EXPECT_EQ(process->used_bytes(), 32 * megabyte);
  }
  EXPECT_EQ(process->used_bytes(), 0u);
}

TEST_F(Segments, PutsTogetherWhatEnds) {
  SegmentWriter writer(store, directory, "n");
  auto one = writer.begin();
  auto two = writer.begin();
  auto file_one = writer.open(one);
  auto file_two = writer.open(two);
  ASSERT_TRUE(file_one->append("on").ok() && file_two->append("tw").ok());
  ASSERT_TRUE(file_one->append("e").ok() && file_two->append("o").ok());
  const auto name_two = writer.end(*two);
  const auto name_one = writer.end(*one);
  ASSERT_TRUE(name_one.ok() && name_two.ok());
  EXPECT_TRUE(store.objects.empty());
  ASSERT_TRUE(writer.flush().ok());
  EXPECT_EQ(bytes_of(*name_one), "one");
  EXPECT_EQ(bytes_of(*name_two), "two");
  EXPECT_EQ(store.writes, 1);
}

TEST_F(Segments, WhatHasNoRoomIsWrittenAhead) {
  SegmentWriter writer(store, directory, "n", 8 * megabyte);
  std::vector<std::pair<std::string, std::string>> written;
  for (const char letter : {'a', 'b', 'c'}) {
    const auto part = writer.begin();
    auto file = writer.open(part);
    const std::string bytes(3 * megabyte, letter);
    ASSERT_TRUE(file->append(bytes).ok());
    written.emplace_back(*writer.end(*part), bytes);
  }
  // This one alone is more than all may be.
  const auto large = writer.begin();
  auto file = writer.open(large);
  std::string all;
  for (int i = 0; i < 40; ++i) {
    const std::string bytes(megabyte, static_cast<char>('0' + i));
    ASSERT_TRUE(file->append(bytes).ok());
    all += bytes;
  }
  EXPECT_EQ(store.uploads_under_way, 1);
  written.emplace_back(*writer.end(*large), all);
  ASSERT_TRUE(writer.flush().ok());
  for (const auto& [name, bytes] : written) EXPECT_TRUE(bytes_of(name) == bytes) << name;
  EXPECT_GE(store.objects.size(), 3u);
}

TEST_F(Segments, WhatIsDroppedLeavesNothing) {
  {
    SegmentWriter writer(store, directory, "n", 8 * megabyte);
    const auto part = writer.begin();
    auto file = writer.open(part);
    ASSERT_TRUE(file->append(std::string(20 * megabyte, 'x')).ok());
    EXPECT_EQ(store.uploads_under_way, 1);
  }
  EXPECT_EQ(store.uploads_under_way, 0);
  EXPECT_TRUE(store.objects.empty());
}

TEST_F(Segments, ACheckpointIsReadBack) {
  complete(1);
  EXPECT_EQ(store.writes, 2) << "a segment and the metadata";
  const auto metadata = CheckpointStore(files, directory).read(1);
  ASSERT_TRUE(metadata.ok()) << metadata.status().to_string();
  std::string state;
  for (const CheckpointFile& file : metadata->files) {
    const Status read =
        CheckpointStore::read_file(files, CheckpointStore::path_in(directory, 1), *metadata, file,
                                   [&](std::string_view, std::string_view piece) {
                                     state += piece.substr(1);
                                     return Status();
                                   });
    EXPECT_TRUE(read.ok()) << read.to_string();
  }
  EXPECT_EQ(state, "state 0state 1");
}

TEST_F(Segments, WhoIsLateFails) {
  complete(1);
  CheckpointOrder late = order(CheckpointOrder::Kind::complete, 1);
  late.metadata = save(1);
  EXPECT_EQ(execute(files, late).status.code(), ErrorCode::io_error);
  EXPECT_TRUE(
      CheckpointStore(files, directory).verify(*CheckpointStore(files, directory).read(1)).ok());
}

// Metadata whose write had failed for the JobManager may come later.
TEST_F(Segments, WhatWasGivenUpStaysUntilANewerOneIsComplete) {
  complete(1);
  CheckpointOrder failing = order(CheckpointOrder::Kind::complete, 2);
  failing.metadata = save(2);
  store.next_put = {ErrorCode::timed_out, "as the test says"};
  EXPECT_EQ(execute(files, failing).status.code(), ErrorCode::timed_out);
  EXPECT_TRUE(execute(files, order(CheckpointOrder::Kind::drop, 2)).status.ok());
  ASSERT_TRUE(CheckpointStore::complete_at(files, failing.path, failing.metadata).ok()) << "late";
  EXPECT_TRUE(CheckpointStore(files, directory).verify(failing.metadata).ok());
  complete(3);
  EXPECT_EQ(ids(), std::vector<std::uint64_t>{3});
  EXPECT_EQ(store.objects.size(), 2u);
}

TEST_F(Segments, OrphansGoWhenTheyAreOldAndNobodyCanCommitThem) {
  constexpr std::int64_t day_ms = 24 * 60 * 60 * 1000;
  save(1);  // crashed
  complete(2);
  store.now_ms += 2 * day_ms;
  CheckpointOrder find = order(CheckpointOrder::Kind::find, 0);
  save(3);  // its attempt may still commit it
  find.wall_ms = store.now_ms;
  EXPECT_TRUE(execute(files, find).status.ok());
  EXPECT_EQ(ids(), (std::vector<std::uint64_t>{2, 3}));
  EXPECT_EQ(store.aborted_before_ms, store.now_ms - day_ms);
  complete(4);
  save(1);  // of a worker that was cut off, just now
  find.wall_ms = store.now_ms;
  EXPECT_TRUE(execute(files, find).status.ok());
  EXPECT_EQ(ids(), (std::vector<std::uint64_t>{1, 4}));
}

}  // namespace
}  // namespace hummer::segment_writer_test
