#include "state/snapshot_file.hpp"

#include <gtest/gtest.h>

#include <map>

#include <hummer/detail/key_hash.hpp>

#include "platform/simulation.hpp"

namespace hummer::snapshot_file_test {
namespace {

using Pieces = std::map<std::string, std::string>;

class SnapshotFileTest : public testing::Test {
 protected:
  Files& files() { return node_->files(); }

  SnapshotFileSummary write(const Pieces& pieces) {
    auto writer = SnapshotFileWriter::create(files(), "/file", head_);
    EXPECT_TRUE(writer.ok());
    for (const auto& [uid, piece] : pieces) EXPECT_TRUE(writer->add(uid, piece).ok());
    const auto summary = writer->finish();
    EXPECT_TRUE(summary.ok());
    return *summary;
  }
  Result<Pieces> read(SnapshotFileSummary* summary = nullptr,
                      std::size_t max_piece_bytes = 10 << 20) {
    auto reader = SnapshotFileReader::open(files(), "/file");
    if (!reader.ok()) return reader.status();
    EXPECT_EQ(reader->head(), head_);
    Pieces pieces;
    std::string uid;
    std::string piece;
    for (;;) {
      const Result<bool> more = reader->next(uid, piece, max_piece_bytes);
      if (!more.ok()) return more.status();
      if (!*more) break;
      pieces[uid] = piece;
    }
    if (summary != nullptr) *summary = reader->summary();
    return pieces;
  }
  std::string bytes() {
    auto file = files().open_for_reading("/file");
    std::string all((*file)->size_bytes(), ' ');
    EXPECT_TRUE((*file)->read_at(0, all).ok());
    return all;
  }
  void replace(const std::string& all) {
    auto file = files().open_for_writing("/file", WriteMode::truncate);
    ASSERT_TRUE((*file)->append(all).ok());
    ASSERT_TRUE((*file)->close().ok());
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
  SnapshotFileHead head_{.job = 7, .checkpoint = 3, .vertex = 2, .subtask = 1, .parallelism = 4};
};

TEST_F(SnapshotFileTest, GivesBackWhatWasWritten) {
  const Pieces pieces{{"count", "state of count"},
                      {"empty", ""},
                      {"exactly one block", std::string(max_snapshot_block_bytes, 'x')},
                      {"three blocks", std::string(2 * max_snapshot_block_bytes + 1, 'y')}};
  const SnapshotFileSummary written = write(pieces);
  SnapshotFileSummary seen;
  const auto found = read(&seen);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(*found, pieces);
  EXPECT_EQ(seen, written);
}

TEST_F(SnapshotFileTest, WithoutPiecesIsWhole) {
  write({});
  const auto found = read();
  ASSERT_TRUE(found.ok());
  EXPECT_TRUE(found->empty());
}

TEST_F(SnapshotFileTest, EveryTruncationAndEveryFlippedBitIsCorruptAndNamed) {
  write({{"a", "some state"}, {"b", std::string(100, 'b')}});
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    replace(whole.substr(0, length));
    const auto found = read();
    ASSERT_FALSE(found.ok()) << length;
    EXPECT_EQ(found.status().code(), ErrorCode::corrupt_file) << length;
    EXPECT_NE(found.status().message().find("/file"), std::string::npos);
  }
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << (byte % 8)));
    replace(damaged);
    EXPECT_FALSE(read().ok()) << byte;
  }
  replace(whole + "x");
  EXPECT_FALSE(read().ok());
  replace("text that is no snapshot, and longer than the head of one: what a user may give us");
  EXPECT_NE(read().status().message().find("no snapshot file"), std::string::npos);
}

TEST_F(SnapshotFileTest, MissingAndSwappedBlocksAreNoticed) {
  write({{"a", "first"}, {"b", "other"}});
  const std::string whole = bytes();
  constexpr std::size_t head_bytes = 64;
  constexpr std::size_t block_bytes = 24 + 1 + 5;
  const std::string head = whole.substr(0, head_bytes);
  const std::string first = whole.substr(head_bytes, block_bytes);
  const std::string second = whole.substr(head_bytes + block_bytes, block_bytes);
  const std::string end = whole.substr(head_bytes + 2 * block_bytes);
  for (const std::string& blocks : {first, second, second + first, first + second + second}) {
    replace(head + blocks + end);
    EXPECT_FALSE(read().ok());
  }
  replace(head + first + second + end);
  EXPECT_TRUE(read().ok());
}

TEST_F(SnapshotFileTest, APieceAboveTheLimitIsRefused) {
  write({{"large", std::string(3 * max_snapshot_block_bytes, 'x')}});
  const auto found = read(nullptr, 2 * max_snapshot_block_bytes);
  ASSERT_FALSE(found.ok());
  EXPECT_EQ(found.status().code(), ErrorCode::limit_exceeded);
}

// The bytes are a format that other versions read: they change with the version only.
TEST_F(SnapshotFileTest, GoldenBytes) {
  write({{"uid", "state"}});
  EXPECT_EQ(bytes().size(), 64u + 24 + 8 + 24 + 24);
  const std::string all = bytes();
  EXPECT_EQ(hash_bytes(all.data(), all.size()), 4620042522483452942u);
}

}  // namespace
}  // namespace hummer::snapshot_file_test
