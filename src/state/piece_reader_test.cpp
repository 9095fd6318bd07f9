// Pieces that are read block by block: what is held of them, and blocks that have been damaged
// since the piece was found.
#include "state/piece_reader.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "platform/simulation.hpp"

namespace hummer::piece_reader_test {
namespace {

constexpr std::size_t block_bytes = 1000;
constexpr std::uint32_t blocks = 50;

// A piece ahead of the one in question, whose numbers are 0, 1, ..., each behind its text.
class PieceReaderTest : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = SnapshotFileWriter::create(node_->files(), "/file", {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->add("other", "something").ok());
    for (std::uint32_t i = 0; i < blocks; ++i) {
      std::string bytes(block_bytes - sizeof i, 'x');
      bytes.append(reinterpret_cast<const char*>(&i), sizeof i);
      ASSERT_TRUE(writer->add("piece", bytes, i + 1 < blocks).ok());
    }
    ASSERT_TRUE(writer->finish().ok());
    auto reader = SnapshotFileReader::open(node_->files(), "/file");
    ASSERT_TRUE(reader.ok());
    SnapshotPart part;
    while (part.uid != "piece") ASSERT_TRUE(*reader->next_part(part));
    at_ = part.at;
  }
  std::unique_ptr<PieceReader> open() {
    auto piece = PieceReader::open(
        node_->files(),
        {.path = "/file", .uid = "piece", .at = at_, .bytes = block_bytes * blocks, .blocks = {}},
        {}, memory_);
    EXPECT_TRUE(piece.ok());
    return std::move(*piece);
  }
  // Reads all, in texts that do not end where blocks do; answers how many numbers were right.
  std::uint32_t read(ByteReader& in, bool lets_go) {
    std::uint32_t right = 0;
    for (std::uint32_t i = 0; i < blocks; ++i) {
      if (lets_go) in.let_go();
      const char* const text = in.take(block_bytes - sizeof i);
      std::uint32_t number = 0;
      if (text == nullptr || !in.get_value(number)) return right;
      right += number == i && std::count(text, text + 100, 'x') == 100 ? 1 : 0;
      most_held_ = std::max(most_held_, memory_->used_bytes());
    }
    return right;
  }

  const std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
  const std::shared_ptr<MemoryAccount> memory_ = MemoryAccount::make_root("the test", 0);
  std::uint64_t at_ = 0;
  std::size_t most_held_ = 0;
};

TEST_F(PieceReaderTest, HoldsNoMoreThanIsLookedAt) {
  auto piece = open();
  ByteReader in(*piece);
  EXPECT_EQ(in.left(), block_bytes * blocks);
  EXPECT_EQ(read(in, true), blocks);
  EXPECT_EQ(in.left(), 0u);
  EXPECT_EQ(in.take(1), nullptr);
  EXPECT_TRUE(piece->failure().ok());
  EXPECT_LT(most_held_, 5 * block_bytes);
  piece.reset();
  EXPECT_EQ(memory_->used_bytes(), 0u);
}

TEST_F(PieceReaderTest, WhatWasTakenStays) {
  auto piece = open();
  ByteReader in(*piece);
  const char* const first = in.take(10);
  ASSERT_NE(in.take(block_bytes - 10), nullptr);
  ASSERT_NE(in.take(10 * block_bytes), nullptr) << "more than a block";
  EXPECT_EQ(std::string_view(first, 10), "xxxxxxxxxx");
  EXPECT_EQ(in.left(), (blocks - 11) * block_bytes);
  EXPECT_EQ(in.take(block_bytes * blocks), nullptr);
}

TEST_F(PieceReaderTest, ADamagedBlockIsNamed) {
  auto file = node_->files().open_for_updating("/file", false);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->write_at(at_ + 20 * block_bytes, "y").ok());
  auto piece = open();
  ByteReader in(*piece);
  EXPECT_LT(read(in, true), 21u);
  EXPECT_EQ(piece->failure().code(), ErrorCode::corrupt_file);
  EXPECT_NE(piece->failure().message().find("'/file'"), std::string::npos);
}

// A piece of a head, blocks of one key group each, and an end.
class IndexedPieceTest : public PieceReaderTest {
 protected:
  static constexpr std::uint32_t groups = 64;

  void SetUp() override {
    auto writer = SnapshotFileWriter::create(node_->files(), "/indexed", {});
    ASSERT_TRUE(writer.ok());
    ASSERT_TRUE(writer->add("piece", "head", true).ok());
    for (std::uint32_t round = 0; round < 2; ++round) {
      for (std::uint32_t group = 0; group < groups; ++group) {
        const std::string bytes(block_bytes, static_cast<char>(group));
        const KeyGroupBlock block{0, block_bytes, {group, group}};
        ASSERT_TRUE(writer->add("piece", bytes, true, {&block, 1}).ok());
      }
    }
    ASSERT_TRUE(writer->add("piece", "end").ok());
    ASSERT_TRUE(writer->finish().ok());
    auto reader = SnapshotFileReader::open(node_->files(), "/indexed");
    auto index = reader->read_index();
    ASSERT_TRUE(index.ok() && index->has_value());
    place_.path = "/indexed";
    place_.uid = "piece";
    place_.blocks = std::move((*index)->pieces.at(0).blocks);
  }
  std::unique_ptr<PieceReader> open(const KeyGroups& wanted) {
    auto piece = PieceReader::open(node_->files(), place_, wanted, memory_);
    EXPECT_TRUE(piece.ok());
    return std::move(*piece);
  }

  PiecePlace place_;
};

TEST_F(IndexedPieceTest, OnlyWantedBlocksAreRead) {
  for (const KeyGroups wanted : {KeyGroups{0, 0}, KeyGroups{5, 8}, KeyGroups{63, 63},
                                 KeyGroups{0, groups}, KeyGroups::none()}) {
    const std::uint32_t count =
        wanted.empty() ? 0 : std::min(wanted.last, groups - 1) - wanted.first + 1;
    auto piece = open(wanted);
    ByteReader in(*piece);
    EXPECT_EQ(in.left(), 7 + 2 * count * block_bytes);
    EXPECT_EQ(std::string_view(in.take(4), 4), "head");
    for (std::uint32_t i = 0; i < 2 * count; ++i) {
      const std::uint32_t group = wanted.first + i % count;
      const char* const first = in.take(1);
      ASSERT_NE(first, nullptr) << piece->failure().to_string();
      EXPECT_EQ(piece->keys().at_hand, (KeyGroups{group, group}));
      const char* const rest = in.take(block_bytes - 1);
      ASSERT_NE(rest, nullptr);
      EXPECT_EQ(*first, static_cast<char>(group));
      EXPECT_EQ(std::count(rest, rest + block_bytes - 1, static_cast<char>(group)),
                static_cast<std::ptrdiff_t>(block_bytes - 1));
      in.let_go();
    }
    EXPECT_EQ(std::string_view(in.take(3), 3), "end");
    EXPECT_TRUE(piece->failure().ok());
    constexpr std::size_t heads = 64 + 2 * (24 + 5);
    EXPECT_EQ(piece->bytes_read(), heads + 7 + 2 * count * (24 + 5 + block_bytes));
  }
}

TEST_F(IndexedPieceTest, AKeyInABlockThatHasNoneOfItsGroupIsNamed) {
  auto piece = open({5, 8});
  ByteReader in(*piece);
  ASSERT_NE(in.take(5), nullptr);
  piece->keys().contradicted = true;
  EXPECT_EQ(in.take(2 * block_bytes), nullptr);
  EXPECT_EQ(piece->failure().code(), ErrorCode::corrupt_file);
  EXPECT_NE(piece->failure().message().find("'/indexed': in the piece 'piece'"), std::string::npos);
}

TEST_F(IndexedPieceTest, ABlockThatTheIndexDoesNotNameIsRefused) {
  std::swap(place_.blocks[1].check, place_.blocks[2].check);
  auto piece = open({0, 0});
  ByteReader in(*piece);
  ASSERT_NE(in.take(4), nullptr);
  EXPECT_EQ(in.take(1), nullptr);
  EXPECT_NE(piece->failure().message().find("'/indexed' has changed"), std::string::npos);
}

}  // namespace
}  // namespace hummer::piece_reader_test
