#include <hummer/detail/operators/format_text.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::format_text_test {
namespace {

struct Fragile {
  int number;
};
[[maybe_unused]] void format_record(const Fragile& record, std::string& out) {
  out += "n=";
  if (record.number == 13) throw std::runtime_error("no thirteen");
  out += std::to_string(record.number);
}

template <typename T>
auto format_factory() {
  return make_operator_factory(
      [] { return std::make_unique<FormatTextOperator>(append_lines<T>); });
}

// How many records come to a text depends on the batches; the lines don't.
std::vector<FormattedText> lines_of(const std::vector<FormattedText>& texts) {
  std::vector<FormattedText> lines;
  for (const FormattedText& text : texts) {
    const std::size_t before = lines.size();
    for (std::string_view rest = text.text; !rest.empty();) {
      const std::size_t end = rest.find('\n') + 1;
      lines.push_back({rest.substr(0, end), 1});
      rest.remove_prefix(end);
    }
    if (lines.size() - before != text.records) lines.push_back({"another number of records", 0});
  }
  return lines;
}

TEST(FormatTextOperator, GivesEveryRecordAsALineAndHoldsNothingBack) {
  OperatorHarness<int> harness(format_factory<int>());
  harness.record(7).record(-1).watermark(5).record(0).idle().record(12);
  harness.output<FormattedText>()
      .normalise(lines_of)
      .records({{"7\n", 1}, {"-1\n", 1}})
      .watermark(5)
      .records({{"0\n", 1}, {"12\n", 1}});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FormatTextOperator, CutsLongTexts) {
  OperatorHarness<std::string_view> harness(format_factory<std::string_view>());
  harness.options().positions_max = 4;
  const std::string x(FormatTextOperator::chunk_bytes, 'x');
  const std::string line = x + "\n";
  harness.records({x, "a", x, x});
  harness.output<FormattedText>().normalise(lines_of).records(
      {{line, 1}, {"a\n", 1}, {line, 1}, {line, 1}});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FormatTextOperator, ARecordThatThrowsIsLeftOutWhole) {
  OperatorHarness<Fragile> harness(format_factory<Fragile>());
  harness.record({1}).record({2}).record({13}).record({4});
  harness.output<FormattedText>().normalise(lines_of).records({{"n=1\n", 1}, {"n=2\n", 1}});
  harness.expect_failure("record 2: no thirteen");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::format_text_test
