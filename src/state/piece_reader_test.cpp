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
    auto piece = PieceReader::open(node_->files(), "/file", at_, block_bytes * blocks, memory_);
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

}  // namespace
}  // namespace hummer::piece_reader_test
