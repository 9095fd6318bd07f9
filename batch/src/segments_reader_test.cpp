#include "segments_reader.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "batch/output_collector.hpp"
#include "input_splits.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::batch::segments_reader_test {
namespace {

TEST(SegmentsReader, ReadsWhatACollectorHasWritten) {
  const auto platform = make_linux_platform();
  for (const Codec codec : {Codec::none, Codec::snappy}) {
    TemporaryFolder folder;
    auto collector =
        OutputCollector::create(*platform, {.partitions = 3,
                                            .memory_bytes = OutputCollector::least_memory_bytes,
                                            .codec = codec,
                                            .spill_directory = folder / "spills"});
    ASSERT_TRUE(collector.ok());
    // Partition 1 stays empty.
    for (int i = 9'999; i >= 0; --i) {
      const std::string key = std::to_string(10'000 + i);
      ASSERT_TRUE((*collector)->collect(i % 2 == 0 ? 0 : 2, key, "of " + key).ok());
    }
    ASSERT_TRUE((*collector)->finish_to_file(folder / "map.out").ok());

    const InputFormat format = segments_input(name_of(codec));
    const auto splits = plan_splits(platform->files(), {folder / "map.*"}, format, 100, 2);
    ASSERT_TRUE(splits.ok());
    ASSERT_EQ(splits->size(), 1U);
    const auto reader = format.make_reader();
    auto input = open_split(platform->files(), splits->front());
    ASSERT_TRUE(input.ok());
    ASSERT_TRUE(reader->open(std::move(*input)).ok());
    std::vector<std::string> keys;
    for (;;) {
      const auto records = reader->next();
      ASSERT_TRUE(records.ok()) << records.status().to_string();
      if (records->empty()) break;
      for (const RecordView& record : *records) {
        keys.emplace_back(record.key());
        EXPECT_EQ(record.value(), "of " + keys.back());
      }
    }
    ASSERT_EQ(keys.size(), 10'000U);
    for (int i = 0; i < 5'000; ++i) {
      EXPECT_EQ(keys[i], std::to_string(10'000 + 2 * i));
      EXPECT_EQ(keys[5'000 + i], std::to_string(10'001 + 2 * i));
    }
  }
}

TEST(SegmentsReader, AFileWithoutAnIndexIsNamed) {
  const auto platform = make_linux_platform();
  TemporaryFolder folder;
  auto file = platform->files().open_for_writing(folder / "alone", WriteMode::truncate);
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE((*file)->append("bytes").ok());
  ASSERT_TRUE((*file)->close().ok());
  const InputFormat format = segments_input();
  const auto splits = plan_splits(platform->files(), {folder / "alone"}, format, 0, 1);
  ASSERT_TRUE(splits.ok());
  auto input = open_split(platform->files(), splits->front());
  ASSERT_TRUE(input.ok());
  const Status status = format.make_reader()->open(std::move(*input));
  EXPECT_EQ(status.code(), ErrorCode::not_found);
  EXPECT_NE(status.message().find("alone.index"), std::string::npos);
}

}  // namespace
}  // namespace hummer::batch::segments_reader_test
