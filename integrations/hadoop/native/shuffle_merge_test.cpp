#include "shuffle_merge.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "batch/segment.hpp"
#include "platform/memory_file_for_test.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::hadoop {
namespace {

using Record = std::pair<std::string, std::string>;

struct Segment {
  std::string bytes;
  batch::SegmentPlace place;
};

Segment segment_of(const std::vector<Record>& records, batch::Codec codec) {
  MemoryFile file;
  batch::SegmentWriter writer(file, codec);
  for (const auto& [key, value] : records) EXPECT_TRUE(writer.add(key, value).ok());
  const auto place = writer.finish();
  EXPECT_TRUE(place.ok());
  return {file.bytes(), *place};
}

class ShuffleMergeTest : public ::testing::Test {
 protected:
  ShuffleMergeOptions options(std::size_t memory_bytes) const {
    return {.memory_bytes = memory_bytes, .spill_directory = directory_.path(), .merge_factor = 3};
  }

  // As a fetcher does it, by pieces.
  static Status fetch(ShuffleMerge& merge, const Segment& segment) {
    const auto id = merge.reserve(segment.place.raw_bytes);
    if (!id.ok()) return id.status();
    EXPECT_NE(*id, 0U);
    HUMMER_TRY(merge.begin(*id, {0, segment.place.raw_bytes, segment.place.stored_bytes}));
    for (std::size_t at = 0; at < segment.bytes.size(); at += 100) {
      HUMMER_TRY(merge.receive(*id, std::string_view(segment.bytes).substr(at, 100)));
    }
    const Status status = merge.check(*id);
    if (status.ok()) return merge.commit(*id);
    merge.abort(*id);
    return status;
  }

  static std::vector<Record> merged(ShuffleMerge& merge) {
    EXPECT_TRUE(merge.finish().ok());
    std::vector<Record> all;
    for (;;) {
      const auto records = merge.merged().next();
      EXPECT_TRUE(records.ok()) << records.status().to_string();
      if (!records.ok() || records->empty()) return all;
      for (const auto& record : *records) all.emplace_back(record.key(), record.value());
    }
  }

  TemporaryFolder directory_;
  std::unique_ptr<Platform> platform_ = make_linux_platform({});
};

// Maps' outputs of many sizes, so that some are in memory, some in spill files, some by themselves.
void merge_all(Platform& platform, ShuffleMergeOptions options, std::size_t maps, bool spills,
               Status (*fetch)(ShuffleMerge&, const Segment&),
               std::vector<Record> (*merged)(ShuffleMerge&)) {
  ShuffleMerge merge(platform, options);
  std::vector<Record> expected;
  for (std::size_t map = 0; map < maps; ++map) {
    std::vector<Record> records;
    for (std::size_t i = 0; i < map * 37 % 200; ++i) {
      records.emplace_back(std::to_string(i * 7919 % 1000), std::to_string(map));
    }
    std::stable_sort(records.begin(), records.end(),
                     [](const Record& a, const Record& b) { return a.first < b.first; });
    expected.insert(expected.end(), records.begin(), records.end());
    ASSERT_TRUE(fetch(merge, segment_of(records, options.codec)).ok());
  }
  std::vector<Record> found = merged(merge);
  EXPECT_TRUE(std::is_sorted(found.begin(), found.end(),
                             [](const Record& a, const Record& b) { return a.first < b.first; }));
  std::sort(found.begin(), found.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_TRUE(found == expected);
  EXPECT_EQ(merge.metrics().outputs, maps);
  EXPECT_EQ(merge.metrics().spills > 0, spills);
}

TEST_F(ShuffleMergeTest, MergesInMemory) {
  merge_all(*platform_, options(1 << 20), 40, false, &fetch, &merged);
}

TEST_F(ShuffleMergeTest, MergesWithSpillsAndFiles) {
  for (const auto codec : {batch::Codec::none, batch::Codec::snappy, batch::Codec::gzip}) {
    ShuffleMergeOptions few = options(4096);
    few.codec = codec;
    merge_all(*platform_, few, 120, true, &fetch, &merged);
  }
}

TEST_F(ShuffleMergeTest, NothingIsNothing) {
  ShuffleMerge merge(*platform_, options(1 << 20));
  EXPECT_TRUE(merged(merge).empty());
}

TEST_F(ShuffleMergeTest, ADamagedOutputDoesNotCount) {
  ShuffleMerge merge(*platform_, options(1 << 20));
  const Segment whole = segment_of({{"a", "1"}, {"b", "2"}}, batch::Codec::none);
  for (std::size_t i = 0; i < whole.bytes.size(); ++i) {
    Segment damaged = whole;
    damaged.bytes[i] = static_cast<char>(damaged.bytes[i] ^ 0x10);
    EXPECT_EQ(fetch(merge, damaged).code(), ErrorCode::corrupt_file);
  }
  Segment cut = whole;
  cut.bytes.pop_back();
  EXPECT_EQ(fetch(merge, cut).code(), ErrorCode::corrupt_file);
  Segment longer = whole;
  longer.bytes.push_back('x');
  EXPECT_EQ(fetch(merge, longer).code(), ErrorCode::corrupt_file);
  ASSERT_TRUE(fetch(merge, whole).ok());
  EXPECT_EQ(merged(merge).size(), 2U);
}

TEST_F(ShuffleMergeTest, AFetcherWaitsWhileOthersHaveAllOfTheMemory) {
  ShuffleMerge merge(*platform_, options(4096));
  std::vector<ShuffleMerge::Id> ids;
  for (int i = 0; i < 4; ++i) {
    const auto id = merge.reserve(1024);
    ASSERT_TRUE(id.ok());
    ASSERT_NE(*id, 0U);
    ids.push_back(*id);
  }
  EXPECT_EQ(merge.reserve(1024).value(), 0U);
  merge.abort(ids.front());
  EXPECT_NE(merge.reserve(1024).value(), 0U);
}

}  // namespace
}  // namespace hummer::hadoop
