// What a task wrote at its end, small or larger than what is kept in memory, in every checkpoint
// that follows; and disks that fail it.
#include "checkpoint/last_snapshot.hpp"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "platform/simulation.hpp"

namespace hummer::last_snapshot_test {
namespace {

constexpr SnapshotFiles::Writer task{.vertex = 3, .subtask = 1, .parallelism = 2};
constexpr std::size_t part_bytes = 64 << 10;

class LastSnapshotTest : public testing::Test {
 protected:
  static std::string directory(std::uint64_t checkpoint) {
    return "/checkpoints/chk-" + std::to_string(checkpoint);
  }
  // Two pieces in parts, as a task hands them over; what they hold.
  std::string add(std::uint64_t parts) {
    std::string all;
    for (std::uint64_t i = 0; i < parts; ++i) {
      const std::string bytes(part_bytes, static_cast<char>('a' + i % 26));
      all += bytes;
      TaskSnapshot snapshot;
      snapshot.complete = false;
      snapshot.pieces.push_back({.uid = "count", .bytes = bytes, .ended = true, .goes_on = true});
      last_->add(std::move(snapshot));
      EXPECT_FALSE(last_->complete());
    }
    TaskSnapshot end;
    end.pieces.push_back({.uid = "count", .bytes = "end", .ended = true});
    end.pieces.push_back({.uid = "sum", .bytes = "7", .ended = true});
    last_->add(std::move(end));
    EXPECT_TRUE(last_->complete());
    return all + "end";
  }
  Result<CheckpointFile> write(std::uint64_t checkpoint) {
    EXPECT_TRUE(node_->files().create_directories(directory(checkpoint)).ok());
    return last_->write(*files_, task, checkpoint, directory(checkpoint));
  }
  // Of the checkpoint's file: each piece behind the byte that says what it is.
  std::map<std::string, std::string> read(std::uint64_t checkpoint, const CheckpointFile& file) {
    CheckpointMetadata metadata;
    metadata.id = checkpoint;
    metadata.job = 5;
    std::map<std::string, std::string> pieces;
    const Status status =
        CheckpointStore::read_file(node_->files(), directory(checkpoint), metadata, file,
                                   [&](std::string_view uid, std::string_view piece) {
                                     EXPECT_EQ(piece.front(), static_cast<char>(piece_ended));
                                     pieces[std::string(uid)] = piece.substr(1);
                                     return Status();
                                   });
    EXPECT_TRUE(status.ok()) << status.to_string();
    return pieces;
  }

  void begin(double write_fault_rate = 0) {
    node_ = make_simulated_platform({.seed = 1, .write_fault_rate = write_fault_rate});
    files_.emplace(node_->files(), 5, 1, node_->random());
    last_.emplace(*node_, "/spill");
  }

  std::unique_ptr<SimulatedPlatform> node_;
  std::optional<SnapshotFiles> files_;
  std::optional<LastSnapshot> last_;
};

class LastSnapshotOfParts : public LastSnapshotTest,
                            public testing::WithParamInterface<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(SmallAndLarge, LastSnapshotOfParts, testing::Values(0, 3, 50));

TEST_P(LastSnapshotOfParts, IsPartOfEveryCheckpoint) {
  begin();
  const std::string state = add(GetParam());
  for (const std::uint64_t checkpoint : {7u, 8u, 9u}) {
    const Result<CheckpointFile> file = write(checkpoint);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    EXPECT_EQ(file->vertex, task.vertex);
    EXPECT_EQ(file->builds_on, 0u);
    const std::map<std::string, std::string> expected{{"count", state}, {"sum", "7"}};
    EXPECT_TRUE(read(checkpoint, *file) == expected) << "checkpoint " << checkpoint;
  }
  const auto named = node_->files().list_directory("/spill");
  EXPECT_TRUE(!named.ok() || named->empty()) << "the file has no name";
  EXPECT_EQ(named.ok(), GetParam() > 20) << "a small one stays in memory";
}

TEST_F(LastSnapshotTest, ADiskThatFailsFailsEveryCheckpointByName) {
  begin(1);
  add(50);
  for (const std::uint64_t checkpoint : {7u, 8u}) {
    const Result<CheckpointFile> file = write(checkpoint);
    ASSERT_FALSE(file.ok());
    EXPECT_NE(file.status().message().find("the state of a task that has ended"), std::string::npos)
        << file.status().to_string();
  }
}

}  // namespace
}  // namespace hummer::last_snapshot_test
