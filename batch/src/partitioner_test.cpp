#include <hummer/batch/partitioner.hpp>

#include <gtest/gtest.h>

#include <algorithm>

namespace hummer::batch::partitioner_test {
namespace {

std::vector<std::uint32_t> partitions_of(Partitioner& partitioner,
                                         const std::vector<std::string>& keys,
                                         std::uint32_t partitions) {
  std::vector<RecordView> records;
  for (const std::string& key : keys) {
    records.push_back({key.data(), nullptr, static_cast<std::uint32_t>(key.size()), 0});
  }
  std::vector<std::uint32_t> into(keys.size(), ~0U);
  EXPECT_TRUE(partitioner.partition(records, partitions, into).ok());
  return into;
}

std::vector<std::string> drawn_keys() {
  std::vector<std::string> keys;
  std::uint64_t state = 1;
  for (int i = 0; i < 5'000; ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    // Many begin alike.
    keys.push_back((i % 3 == 0 ? "a common beginning " : "") + std::to_string(state >> 40));
  }
  return keys;
}

TEST(HashPartitioner, SpreadsKeys) {
  HashPartitioner partitioner;
  std::vector<std::size_t> counts(7);
  for (const std::uint32_t partition : partitions_of(partitioner, drawn_keys(), 7)) {
    ASSERT_LT(partition, 7U);
    ++counts[partition];
  }
  for (const std::size_t count : counts) EXPECT_GT(count, 400U);
}

TEST(TotalOrderPartitioner, PartitionsAreInOrder) {
  std::vector<std::string> keys = drawn_keys();
  for (const std::uint32_t partitions : {1U, 2U, 5U, 64U}) {
    const auto cut_points =
        std::make_shared<const CutPoints>(cut_points_of(keys, KeyOrder(), partitions));
    ASSERT_EQ(cut_points->keys.size(), partitions - 1);
    TotalOrderPartitioner partitioner(cut_points);
    std::vector<std::string> sorted = keys;
    std::sort(sorted.begin(), sorted.end());
    const auto found = partitions_of(partitioner, sorted, partitions);
    EXPECT_TRUE(std::is_sorted(found.begin(), found.end()));
    EXPECT_EQ(found.back(), partitions - 1);
    for (std::size_t i = 0; i < sorted.size(); ++i) {
      if (found[i] > 0) {
        EXPECT_GE(sorted[i], cut_points->keys[found[i] - 1]);
      }
      if (found[i] < partitions - 1) {
        EXPECT_LT(sorted[i], cut_points->keys[found[i]]);
      }
    }
  }
}

TEST(TotalOrderPartitioner, RefusesAnotherNumberOfPartitions) {
  TotalOrderPartitioner partitioner(
      std::make_shared<const CutPoints>(cut_points_of({"a", "b"}, KeyOrder(), 2)));
  const RecordView record{"a", nullptr, 1, 0};
  std::uint32_t into = 0;
  EXPECT_EQ(partitioner.partition({&record, 1}, 3, {&into, 1}).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hummer::batch::partitioner_test
