#include "batch/stream_combiner.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/output_collector.hpp"
#include "batch/records_for_test.hpp"
#include "batch/segment_index.hpp"
#include "platform/simulation.hpp"

namespace hummer::batch::stream_combiner_test {
namespace {

// One record of each key.
class FirstOfEach final : public StreamCombiner {
 public:
  std::unique_ptr<RecordStream> combine(RecordStream& stream) override {
    ++calls;
    return std::make_unique<Left>(stream, fails_with);
  }

  std::size_t calls = 0;
  Status fails_with;

 private:
  class Left final : public RecordStream {
   public:
    Left(RecordStream& stream, Status failure) : stream_(stream), failure_(std::move(failure)) {}
    Result<std::span<const RecordView>> next() override {
      if (!failure_.ok()) return failure_;
      left_.clear();
      while (left_.empty()) {
        auto records = stream_.next();
        if (!records.ok() || records->empty()) return records;
        for (const RecordView& record : *records) {
          if (last_key_ == record.key()) continue;
          last_key_ = record.key();
          left_.push_back(record);
        }
      }
      return std::span<const RecordView>(left_);
    }

   private:
    RecordStream& stream_;
    const Status failure_;
    std::optional<std::string> last_key_;
    std::vector<RecordView> left_;
  };
};

Status collect_all(OutputCollector& collector, const KeysAndValues& records) {
  for (const auto& [key, value] : records) HUMMER_TRY(collector.collect(0, key, value));
  return Status();
}

KeysAndValues draw_numbers(std::size_t count, std::uint64_t different) {
  Random random(18);
  KeysAndValues records;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string key = std::to_string(random.below(different));
    records.emplace_back(key, "of " + key);
  }
  return records;
}

TEST(StreamCombiner, IsAskedForWhatIsSpilledMergedAndWritten) {
  auto node = make_simulated_platform({.seed = 1});
  const KeysAndValues records = draw_numbers(100'000, 300);
  const std::set<KeyAndValue> expected(records.begin(), records.end());
  // With less the merges at the end would be of two streams, which are not combined.
  constexpr std::size_t little_memory = std::size_t{512} << 10;
  for (const std::size_t memory_bytes : {little_memory, std::size_t{16} << 20}) {
    FirstOfEach combiner;
    auto collector = OutputCollector::create(*node, {.memory_bytes = memory_bytes,
                                                     .order = KeyOrder(),
                                                     .spill_directory = "/spills",
                                                     .stream_combiner = &combiner});
    ASSERT_TRUE(collector.ok());
    ASSERT_TRUE(collect_all(**collector, records).ok());
    ASSERT_TRUE((*collector)->finish_to_file("/file.out").ok());
    const CollectorMetrics metrics = (*collector)->metrics();
    EXPECT_EQ(metrics.spills > 0, memory_bytes == little_memory);
    EXPECT_GT(combiner.calls, metrics.spills);
    EXPECT_EQ(metrics.written_records, expected.size());

    auto file = node->files().open_for_reading("/file.out");
    auto index_file = node->files().open_for_reading("/file.out.index");
    ASSERT_TRUE(file.ok() && index_file.ok());
    auto index = read_segment_index(**index_file);
    ASSERT_TRUE(index.ok());
    SegmentReader reader(**file, index->places[0], Codec::none);
    KeysAndValues found;
    ASSERT_TRUE(read_all(reader, found).ok());
    EXPECT_TRUE(found == KeysAndValues(expected.begin(), expected.end()));
  }
}

TEST(StreamCombiner, ItsFailureIsTheCollectors) {
  auto node = make_simulated_platform({.seed = 1});
  FirstOfEach combiner;
  combiner.fails_with = Status(ErrorCode::user_function_failed, "on purpose");
  auto collector =
      OutputCollector::create(*node, {.spill_directory = "/spills", .stream_combiner = &combiner});
  ASSERT_TRUE(collector.ok());
  ASSERT_TRUE((*collector)->collect(0, "key", "value").ok());
  EXPECT_EQ((*collector)->finish_to_file("/file.out").code(), ErrorCode::user_function_failed);
  EXPECT_FALSE(node->files().open_for_reading("/file.out").ok());
}

}  // namespace
}  // namespace hummer::batch::stream_combiner_test
