#include "record_batch.hpp"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

namespace hummer::hadoop {
namespace {

using Record = std::tuple<std::uint32_t, std::string, std::string>;

std::string batch_of(const std::vector<Record>& records) {
  std::string batch;
  for (const auto& [partition, key, value] : records) {
    const RecordHead head{partition, static_cast<std::uint32_t>(key.size()),
                          static_cast<std::uint32_t>(value.size())};
    batch.append(reinterpret_cast<const char*>(&head), sizeof head).append(key).append(value);
  }
  return batch;
}

Status read(std::string_view batch, std::vector<Record>& into) {
  return for_each_record(
      batch, [&](std::uint32_t partition, std::string_view key, std::string_view value) {
        into.emplace_back(partition, key, value);
        return Status();
      });
}

TEST(RecordBatch, GivesItsRecords) {
  const std::vector<Record> records{
      {3, "key", "value"}, {0, "", ""}, {1, "", "value"}, {2, "k", ""}};
  std::vector<Record> found;
  ASSERT_TRUE(read(batch_of(records), found).ok());
  EXPECT_TRUE(found == records);
  ASSERT_TRUE(read({}, found).ok());
}

TEST(RecordBatch, RefusesLengthsBeyondItsEnd) {
  const std::string batch = batch_of({{0, "first", "one"}, {1, "second", "two"}});
  const std::size_t first_bytes = batch_of({{0, "first", "one"}}).size();
  for (std::size_t size = 1; size < batch.size(); ++size) {
    std::vector<Record> found;
    // A copy of that size, so that a read past it is seen.
    const std::string cut(batch, 0, size);
    const Status status = read(cut, found);
    EXPECT_EQ(status.code(), size == first_bytes ? ErrorCode::ok : ErrorCode::internal);
  }
  std::string damaged = batch;
  damaged.replace(4, 8, std::string(8, '\xFF'));
  std::vector<Record> found;
  EXPECT_EQ(read(damaged, found).code(), ErrorCode::internal);
}

TEST(RecordBatch, EndsWithTheFailureOfItsReader) {
  std::size_t calls = 0;
  const Status status = for_each_record(batch_of({{0, "a", ""}, {0, "b", ""}}),
                                        [&](std::uint32_t, std::string_view, std::string_view) {
                                          ++calls;
                                          return Status(ErrorCode::disk_full, "on purpose");
                                        });
  EXPECT_EQ(status.code(), ErrorCode::disk_full);
  EXPECT_EQ(calls, 1U);
}

}  // namespace
}  // namespace hummer::hadoop
