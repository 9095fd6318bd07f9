#include "text_join.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hummer::batch::text_join_test {
namespace {

std::string key(std::string field, char input) {
  field.push_back(input);
  return field;
}

// Also where a field goes on with bytes that are smaller than the number of an input.
TEST(TextJoin, KeysOfOneFieldStandTogether) {
  const KeyOrder sort = join_sort_order();
  const KeyOrder group = join_group_order();
  const std::string zeros("a\0b", 3);
  EXPECT_LT(sort.compare(key("a", 0), key("a", 1)), 0);
  EXPECT_LT(sort.compare(key("a", 1), key(zeros, 0)), 0);
  EXPECT_GT(sort.compare(key(zeros, 0), key("a", 1)), 0);
  EXPECT_EQ(group.compare(key("a", 0), key("a", 1)), 0);
  EXPECT_NE(group.compare(key("a", 1), key(zeros, 1)), 0);
  EXPECT_LE(sort.long_prefix(key("a", 1)), sort.long_prefix(key(zeros, 0)));
  EXPECT_EQ(sort.long_prefix(key("a", 0)), sort.long_prefix(key("a", 1)));
}

TEST(TextJoin, TheInputDoesNotCountForThePartition) {
  JoinPartitioner partitioner;
  for (int i = 0; i < 100; ++i) {
    const std::string first = key(std::to_string(i), 0);
    const std::string second = key(std::to_string(i), 1);
    const RecordView records[] = {
        {first.data(), nullptr, static_cast<std::uint32_t>(first.size()), 0},
        {second.data(), nullptr, static_cast<std::uint32_t>(second.size()), 0}};
    std::uint32_t partitions[2];
    ASSERT_TRUE(partitioner.partition(records, 7, partitions).ok());
    EXPECT_EQ(partitions[0], partitions[1]);
    EXPECT_LT(partitions[0], 7U);
  }
}

}  // namespace
}  // namespace hummer::batch::text_join_test
