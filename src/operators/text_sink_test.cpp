// Under every schedule; what it writes in detail: src/connectors/text_sink_test.cpp.
#include <hummer/detail/operators/text_sink.hpp>

#include <gtest/gtest.h>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::text_sink_test {
namespace {

using Lines = std::vector<std::string>;

// Answers `blocked` twice before it takes a text, and wants the same one again.
class StubbornWriter final : public TextWriter {
 public:
  explicit StubbornWriter(Lines& lines) : lines_(lines) {}
  Status open(OperatorContext&) override { return {}; }
  OperatorResult write(std::string_view text) override {
    if (offered_.empty()) offered_ = text;
    if (offered_ != text) lines_.push_back("another text after blocked");
    if (++calls_ % 3 != 0) return OperatorResult::blocked;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      if (end == text.npos) lines_.push_back("half a line");
      lines_.emplace_back(text.substr(0, end));
      text.remove_prefix(std::min(end, text.size() - 1) + 1);
    }
    offered_.clear();
    return OperatorResult::done;
  }
  Status commit() override {
    if (!offered_.empty()) lines_.push_back("commit before its text");
    lines_.push_back("commit");
    return {};
  }
  void close() override {}

 private:
  Lines& lines_;
  std::string offered_;
  int calls_ = 0;
};

template <typename T>
auto sink_factory(Lines& lines) {
  return make_operator_factory([&lines] {
    return std::make_unique<TextSinkOperator>(std::make_unique<StubbornWriter>(lines),
                                              append_lines<T>);
  });
}

TEST(TextSinkOperator, ABlockedWriterGetsEveryLineOnce) {
  Lines seen;
  OperatorHarness<std::string_view> harness(sink_factory<std::string_view>(seen));
  harness.options().state_only_by_flush = true;  // lines that wait in its buffer
  harness.options().positions_max = 4;
  // More than its buffer holds, so that it hands over in the middle of a batch too.
  const std::string x(TextSinkOperator::buffer_bytes - 10, 'x');
  const std::string y(5000, 'y');
  harness.records({"a", x, "b", y, "", x}).watermark(1).records({y, x}).idle().records({"c", y});
  harness.effects([&] { seen.clear(); }, [&] { return seen; },
                  {"a", x, "b", y, "", x, y, x, "c", y, "commit"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text().substr(0, 300);
}

TEST(TextSinkOperator, RecordsAreFormatted) {
  Lines seen;
  OperatorHarness<std::pair<int, std::string>> harness(
      sink_factory<std::pair<int, std::string>>(seen));
  harness.options().state_only_by_flush = true;
  harness.records({{1, "one"}, {2, "two"}, {-3, ""}});
  harness.effects([&] { seen.clear(); }, [&] { return seen; },
                  {"1\tone", "2\ttwo", "-3\t", "commit"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FormattedTextSinkOperator, WritesTextAsItIsAndCountsItsRecords) {
  Lines seen;
  OperatorHarness<FormattedText> harness(make_operator_factory([&seen] {
    return std::make_unique<FormattedTextSinkOperator>(std::make_unique<StubbornWriter>(seen));
  }));
  harness.options().state_only_by_flush = true;
  harness.options().positions_max = 6;
  const std::string large = std::string(20000, 'x') + "\nnext\n";
  harness.records({{"a\nb\n", 2}, {large, 2}, {"c\n", 1}, {large, 2}, {large, 2}, {"d\n", 1}});
  Lines expected{"a", "b"};
  const std::string x(20000, 'x');
  for (const std::string& line :
       {x, std::string("next"), std::string("c"), x, std::string("next"), x, std::string("next"),
        std::string("d"), std::string("commit")}) {
    expected.push_back(line);
  }
  harness.effects([&] { seen.clear(); }, [&] { return seen; }, expected);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::text_sink_test
