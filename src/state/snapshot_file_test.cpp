#include "state/snapshot_file.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <vector>

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

TEST_F(SnapshotFileTest, TheIndexSaysWhereBlocksAreAndOfWhichKeyGroups) {
  const KeyGroups low{0, 3}, high{4, 7};
  auto writer = SnapshotFileWriter::create(files(), "/file", head_);
  ASSERT_TRUE(writer.ok());
  ASSERT_TRUE(writer->add("a", "head.low.high", true, {{{5, 9, low}, {9, 13, high}}}).ok());
  ASSERT_TRUE(writer->add("a", "high again.", true, {{{0, 11, high}}}).ok());
  ASSERT_TRUE(writer->add("a", "tail").ok());
  ASSERT_TRUE(writer->add("b", "", false).ok());
  ASSERT_TRUE(writer->add("c", "all of it", false, {{{0, 9, low}}}).ok());
  ASSERT_TRUE(writer->add("c", "another", false).ok());
  const auto written = writer->finish();
  ASSERT_TRUE(written.ok());
  const auto whole = read();
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_EQ(whole->at("a"), "head.low.highhigh again.tail");

  auto reader = SnapshotFileReader::open(files(), "/file");
  ASSERT_TRUE(reader.ok());
  const auto index = reader->read_index();
  ASSERT_TRUE(index.ok() && index->has_value()) << index.status().to_string();
  EXPECT_EQ(reader->summary(), *written);
  struct Expected {
    std::string uid, bytes;
    KeyGroups groups;
  };
  const std::vector<Expected> expected{
      {"a", "head.", {}}, {"a", "low.", low}, {"a", "high", high},     {"a", "high again.", high},
      {"a", "tail", {}},  {"b", "", {}},      {"c", "all of it", low}, {"c", "another", {}}};
  std::size_t i = 0;
  for (const SnapshotIndex::Piece& piece : (*index)->pieces) {
    for (const SnapshotIndex::Block& block : piece.blocks) {
      ASSERT_LT(i, expected.size());
      EXPECT_EQ(piece.uid, expected[i].uid);
      EXPECT_EQ(block.groups, expected[i].groups) << i;
      reader->go_to(block.at);
      SnapshotPart part;
      ASSERT_TRUE(*reader->next_part(part));
      EXPECT_EQ(part.bytes, expected[i].bytes);
      EXPECT_EQ(part.check, block.check);
      EXPECT_EQ(part.last, &block == &piece.blocks.back());
      ++i;
    }
  }
  EXPECT_EQ(i, expected.size());
  EXPECT_EQ((*index)->pieces.size(), 4u);
}

// No byte is read that is not covered by a check, and damage is named, also where only the index
// and some blocks are read.
TEST_F(SnapshotFileTest, DamageIsFoundByTheIndexToo) {
  write({{"a", "some state"}, {"b", std::string(100, 'b')}});
  const std::string whole = bytes();
  const auto read_by_index = [&]() -> Status {
    auto reader = SnapshotFileReader::open(files(), "/file");
    if (!reader.ok()) return reader.status();
    const auto index = reader->read_index();
    if (!index.ok()) return index.status();
    if (!*index) return {ErrorCode::not_found, "no index"};
    for (const SnapshotIndex::Piece& piece : (*index)->pieces) {
      for (const SnapshotIndex::Block& block : piece.blocks) {
        reader->go_to(block.at);
        SnapshotPart part;
        const Result<bool> more = reader->next_part(part);
        if (!more.ok()) return more.status();
        EXPECT_EQ(part.check, block.check);
      }
    }
    return {};
  };
  ASSERT_TRUE(read_by_index().ok());
  for (std::size_t byte = 0; byte < whole.size(); ++byte) {
    std::string damaged = whole;
    damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << (byte % 8)));
    replace(damaged);
    const Status found = read_by_index();
    EXPECT_EQ(found.code(), ErrorCode::corrupt_file) << byte << found.to_string();
    EXPECT_NE(found.message().find("/file"), std::string::npos);
  }
  for (std::size_t length = 0; length < whole.size(); ++length) {
    replace(whole.substr(0, length));
    EXPECT_EQ(read_by_index().code(), ErrorCode::corrupt_file) << length;
  }
  replace(whole + "x");
  EXPECT_EQ(read_by_index().code(), ErrorCode::corrupt_file);
}

// Each part is whole by itself; together they are no file.
TEST_F(SnapshotFileTest, AnIndexOfAnotherFileIsRefused) {
  const auto index_at = [](const std::string& all) {
    std::uint64_t at = 0;
    std::memcpy(&at, all.data() + all.size() - sizeof at, sizeof at);
    return at;
  };
  write({{"a", "first"}, {"b", "other"}});
  const std::string one = bytes();
  write({{"a", "FIRST"}, {"b", "other"}});
  const std::string two = bytes();
  ASSERT_EQ(index_at(one), index_at(two));
  constexpr std::size_t end_bytes = 24 + 32;
  const std::string blocks = one.substr(0, index_at(one));
  const std::string index = two.substr(index_at(two), two.size() - end_bytes - index_at(two));
  for (const std::string& end : {one.substr(one.size() - end_bytes), two.substr(two.size() - 56)}) {
    replace(blocks + index + end);
    EXPECT_EQ(read().status().code(), ErrorCode::corrupt_file);
  }
  replace(blocks + index + one.substr(one.size() - end_bytes));
  EXPECT_EQ(SnapshotFileReader::open(files(), "/file")->read_index().status().code(),
            ErrorCode::corrupt_file);
}

// As 0.1.0 wrote them.
TEST_F(SnapshotFileTest, FilesWithoutAnIndexAreRead) {
  write({{"a", "first"}, {"b", "other"}});
  const std::string now = bytes();
  constexpr std::size_t head_bytes = 64, block_bytes = 24 + 1 + 5;
  std::string before = now.substr(0, head_bytes + 2 * block_bytes);
  const auto put = [&](std::size_t at, auto value) {
    std::memcpy(before.data() + at, &value, sizeof value);
  };
  put(8, std::uint32_t{2});
  put(56, hash_bytes(before.data(), 56));
  std::uint64_t hash = 0;
  for (const std::size_t at : {head_bytes, head_bytes + block_bytes}) {
    std::uint64_t both[2] = {hash, 0};
    std::memcpy(&both[1], before.data() + at + 16, sizeof both[1]);
    hash = hash_bytes(both, sizeof both);
  }
  const std::uint64_t totals[3] = {2, 10, hash};
  std::uint64_t end[3] = {3, sizeof totals, hash_bytes(totals, sizeof totals)};
  end[2] = hash_bytes(end, sizeof end);
  before.append(reinterpret_cast<const char*>(end), sizeof end);
  before.append(reinterpret_cast<const char*>(totals), sizeof totals);
  replace(before);
  SnapshotFileSummary seen;
  const auto found = read(&seen);
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  EXPECT_EQ(*found, (Pieces{{"a", "first"}, {"b", "other"}}));
  EXPECT_EQ(seen, (SnapshotFileSummary{before.size(), hash}));
  const auto index = SnapshotFileReader::open(files(), "/file")->read_index();
  EXPECT_TRUE(index.ok() && !index->has_value());
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
  EXPECT_EQ(bytes().size(), 64u + 24 + 8 + 24 + 31 + 24 + 32);
  const std::string all = bytes();
  EXPECT_EQ(hash_bytes(all.data(), all.size()), 18101133036989476796u);
}

}  // namespace
}  // namespace hummer::snapshot_file_test
