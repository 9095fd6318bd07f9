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
    if (i % 1'500 == 1'499) {
      // More than are handed on at once.
      const std::string keys[] = {"k", "", "key"};
      std::vector<std::string_view> many;
      for (int j = 0; j < 700; ++j) many.emplace_back(keys[j % 3]);
      output.emit_keys(many, "v");
      for (const std::string_view one : many) expected.push_back(std::string(one) + "=v");
      output.emit_keys({}, "v");
    }
  }
  output.flush();
  EXPECT_TRUE(output.status().ok());
  EXPECT_EQ(output.records, expected);
  EXPECT_LT(output.calls, 40U);
}

TEST(RecordOutput, KeysAndValuesHaveALimit) {
  const auto code_of = [](std::size_t key_bytes, std::size_t value_bytes) {
    KeptRecords output;
    const char byte = 'x';  // nothing reads behind it
    const std::string_view keys[] = {{&byte, key_bytes}};
    output.emit_keys(keys, {&byte, value_bytes});
    EXPECT_EQ(output.calls, 0U);
    return output.status().code();
  };
  constexpr std::size_t too_much = (std::size_t{1} << 31) + 1;
  EXPECT_EQ(code_of(too_much, 1), ErrorCode::limit_exceeded);
  EXPECT_EQ(code_of(1, too_much), ErrorCode::limit_exceeded);
}

TEST(RecordOutput, AfterAFailureRecordsAreDropped) {
  KeptRecords output(1);
  for (int i = 0; i < 5'000; ++i) output.emit("key", "value");
  output.flush();
  output.emit_keys(std::vector<std::string_view>{"key"}, "value");
  EXPECT_EQ(output.status().code(), ErrorCode::disk_full);
  EXPECT_EQ(output.calls, 2U);
}

}  // namespace
}  // namespace hummer::batch::record_output_test
