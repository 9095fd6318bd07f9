#include "shuffle/shuffle_file.hpp"

#include <gtest/gtest.h>

#include <string>

#include "platform/memory_file_for_test.hpp"

namespace hummer::shuffle_file_test {
namespace {

// Hands what is written on to a file that outlives the writer.
class Appends final : public WritableFile {
 public:
  explicit Appends(MemoryFile& file) : file_(file) {}
  const std::string& path() const override { return file_.path(); }
  Status append(std::string_view bytes) override { return file_.append(bytes); }
  std::uint64_t size_bytes() const override { return file_.size_bytes(); }
  Status sync() override { return {}; }
  Status close() override { return {}; }

 private:
  MemoryFile& file_;
};

std::string chunk(char letter, std::size_t blocks = 1) { return std::string(64 * blocks, letter); }

// Chunks "a", "b" and "d" of partition 2, "c" of 0, none of 1.
std::string whole_file() {
  MemoryFile file;
  ShuffleFileWriter writer(std::make_unique<Appends>(file), 3);
  EXPECT_TRUE(writer.append(2, chunk('a')).ok());
  EXPECT_TRUE(writer.append(2, chunk('b', 3)).ok());
  EXPECT_TRUE(writer.append(0, chunk('c')).ok());
  EXPECT_TRUE(writer.append(2, chunk('d')).ok());
  EXPECT_TRUE(writer.finish().ok());
  return file.bytes();
}

Result<std::shared_ptr<const ShuffleFile>> open(std::string bytes) {
  return ShuffleFile::open(std::make_unique<MemoryFile>(std::move(bytes)));
}

// What the partition holds, or why it can't be read.
Result<std::string> read(const ShuffleFile& file, std::uint32_t partition) {
  std::string all;
  for (const ChunkEntry& entry : file.chunks(partition)) {
    std::string bytes(entry.bytes, '\0');
    if (Status status = file.read(entry, bytes); !status.ok()) return status;
    all += bytes;
  }
  return all;
}

TEST(ShuffleFileTest, EachPartitionHasItsChunksInOrder) {
  const auto file = open(whole_file());
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ((*file)->partitions(), 3u);
  EXPECT_EQ(*read(**file, 0), chunk('c'));
  EXPECT_EQ(*read(**file, 1), "");
  EXPECT_EQ(*read(**file, 2), chunk('a') + chunk('b', 3) + chunk('d'));
}

TEST(ShuffleFileTest, OneWithoutRecordsIsWhole) {
  MemoryFile bytes;
  ShuffleFileWriter writer(std::make_unique<Appends>(bytes), 5);
  ASSERT_TRUE(writer.finish().ok());
  const auto file = open(bytes.bytes());
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(*read(**file, i), "");
}

TEST(ShuffleFileTest, OneThatIsCutAnywhereIsNone) {
  const std::string whole = whole_file();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto file = open(whole.substr(0, size));
    ASSERT_FALSE(file.ok()) << size;
    EXPECT_EQ(file.status().code(), ErrorCode::corrupt_file);
    EXPECT_NE(file.status().message().find("'fuzz'"), std::string::npos);
  }
}

TEST(ShuffleFileTest, EachDamagedByteIsNoticed) {
  const std::string whole = whole_file();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    const auto file = open(damaged);
    bool noticed = !file.ok();
    for (std::uint32_t i = 0; file.ok() && i < 3; ++i) noticed |= !read(**file, i).ok();
    EXPECT_TRUE(noticed) << at;
  }
}

TEST(ShuffleFileTest, WhatStandsBehindItIsNoticed) {
  EXPECT_FALSE(open(whole_file() + chunk('x')).ok());
  EXPECT_FALSE(open(whole_file() + "x").ok());
}

}  // namespace
}  // namespace hummer::shuffle_file_test
