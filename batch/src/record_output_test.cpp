#include <hummer/batch/record_output.hpp>

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace hummer::batch::record_output_test {
namespace {

class KeptRecords final : public MapOutput {
 public:
  explicit KeptRecords(std::size_t failing_call = ~std::size_t{0}) : failing_call_(failing_call) {}

  std::vector<std::string> records;
  std::size_t calls = 0;

 protected:
  Status take(std::span<const RecordView> taken) override {
    if (calls++ == failing_call_) return Status(ErrorCode::disk_full, "no room");
    for (const RecordView& record : taken) {
      records.push_back(std::string(record.key()) + "=" + std::string(record.value()));
    }
    return Status();
  }

 private:
  const std::size_t failing_call_;
};

TEST(RecordOutput, HandsOnInOrderWhateverTheSizesAre) {
  KeptRecords output;
  std::vector<std::string> expected;
  for (int i = 0; i < 3'000; ++i) {
    // Some are larger than the buffer, some are empty.
    const std::string key(i % 500 == 499 ? 100'000 : i % 7, static_cast<char>('a' + i % 26));
    const std::string value = i % 3 == 0 ? "" : std::to_string(i);
    output.emit(key, value);
    expected.push_back(key + "=" + value);
    if (i % 1'000 == 999) {
      const RecordView views[] = {{"x", "y", 1, 1}, {"", "", 0, 0}};
      output.emit_all(views);
      expected.insert(expected.end(), {"x=y", "="});
    }
  }
  output.flush();
  EXPECT_TRUE(output.status().ok());
  EXPECT_EQ(output.records, expected);
  EXPECT_LT(output.calls, 40U);
}

TEST(RecordOutput, AfterAFailureRecordsAreDropped) {
  KeptRecords output(1);
  for (int i = 0; i < 5'000; ++i) output.emit("key", "value");
  output.flush();
  EXPECT_EQ(output.status().code(), ErrorCode::disk_full);
  EXPECT_EQ(output.calls, 2U);
}

}  // namespace
}  // namespace hummer::batch::record_output_test
