#include "batch/segment_index.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "batch/segments_for_test.hpp"

namespace hummer::batch::segment_index_test {
namespace {

using namespace std::string_literals;

// Of two partitions, one of which is empty: computed from the form, and the CRC by another program.
const std::string index_of_two =
    "\x00\x00\x00\x00\x00\x00\x00\x00"
    "\x00\x00\x00\x00\x00\x00\x00\x02"
    "\x00\x00\x00\x00\x00\x00\x00\x06"
    "\x00\x00\x00\x00\x00\x00\x00\x06"
    "\x00\x00\x00\x00\x00\x00\x03\xe8"
    "\x00\x00\x00\x00\x00\x01\x11\x70"
    "\x00\x00\x00\x00\x3b\x45\xe9\x36"s;

Status write(SegmentFile& file, const SegmentIndex& index) {
  const auto writable = file.open_for_writing();
  return write_segment_index(index, *writable);
}

Result<SegmentIndex> read(SegmentFile& file) {
  auto readable = file.files().open_for_reading(file.path());
  if (!readable.ok()) return readable.status();
  return read_segment_index(**readable);
}

TEST(SegmentIndex, HasTheBytesOfHadoopsIndex) {
  SegmentFile file;
  ASSERT_TRUE(write(file, {{{0, 2, 6}, {6, 1000, 70'000}}}).ok());
  EXPECT_EQ(file.bytes(), index_of_two);
  const auto index = read(file);
  ASSERT_TRUE(index.ok()) << index.status().to_string();
  ASSERT_EQ(index->places.size(), 2);
  EXPECT_EQ(index->places[1].offset, 6);
  EXPECT_EQ(index->places[1].raw_bytes, 1000);
  EXPECT_EQ(index->places[1].stored_bytes, 70'000);
}

TEST(SegmentIndex, OfManyPartitionsIsReadAsItWasWritten) {
  SegmentFile file;
  SegmentIndex index;
  for (std::uint64_t i = 0; i < 5000; ++i) index.places.push_back({i << 40, i * i, i});
  ASSERT_TRUE(write(file, index).ok());
  const auto found = read(file);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->places.size(), index.places.size());
  for (std::size_t i = 0; i < index.places.size(); ++i) {
    EXPECT_EQ(found->places[i].offset, index.places[i].offset);
    EXPECT_EQ(found->places[i].raw_bytes, index.places[i].raw_bytes);
    EXPECT_EQ(found->places[i].stored_bytes, index.places[i].stored_bytes);
  }
}

TEST(SegmentIndex, WithoutPartitionsIsNone) {
  SegmentFile file;
  EXPECT_EQ(write(file, {}).code(), ErrorCode::invalid_argument);
}

TEST(SegmentIndex, EveryTruncationAndEveryFlippedBitIsRefused) {
  SegmentFile file;
  for (std::size_t length = 0; length < index_of_two.size(); ++length) {
    file.replace(index_of_two.substr(0, length));
    const auto index = read(file);
    ASSERT_FALSE(index.ok()) << length;
    EXPECT_EQ(index.status().code(), ErrorCode::corrupt_file) << length;
    EXPECT_NE(index.status().message().find(file.path()), std::string::npos);
  }
  for (std::size_t bit = 0; bit < 8 * index_of_two.size(); ++bit) {
    std::string damaged = index_of_two;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
    file.replace(damaged);
    const auto index = read(file);
    ASSERT_FALSE(index.ok()) << bit;
    EXPECT_EQ(index.status().code(), ErrorCode::corrupt_file) << bit;
  }
  file.replace(index_of_two + "x");
  EXPECT_FALSE(read(file).ok());
}

TEST(SegmentIndex, PlacesThatCannotBeAreRefused) {
  constexpr std::uint64_t negative = std::uint64_t{1} << 63;
  SegmentFile file;
  const std::vector<SegmentPlace> places{
      {negative, 2, 6}, {0, negative, 6}, {0, 2, negative}, {negative - 6, 2, 6}};
  for (const SegmentPlace& place : places) {
    ASSERT_TRUE(write(file, {{{0, 2, 6}, place}}).ok());
    const auto index = read(file);
    ASSERT_FALSE(index.ok());
    EXPECT_EQ(index.status().code(), ErrorCode::corrupt_file);
    EXPECT_NE(index.status().message().find("partition 1"), std::string::npos);
  }
}

TEST(SegmentIndex, FaultsOfTheDiskAreTold) {
  SegmentFile full({.disk_capacity_bytes = 30});
  EXPECT_EQ(write(full, {{{0, 2, 6}}}).code(), ErrorCode::disk_full);
  SegmentFile file;
  file.replace(index_of_two);
  file.options().read_fault_rate = 1;
  EXPECT_EQ(read(file).status().code(), ErrorCode::io_error);
}

}  // namespace
}  // namespace hummer::batch::segment_index_test
