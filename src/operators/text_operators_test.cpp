#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/block_flat_map.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/line_flat_map.hpp>
#include <hummer/detail/operators/lines.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::text_operators_test {
namespace {

const std::string origin = "poem.txt";

TextBlock block(std::string_view text, std::uint64_t offset = 0) {
  return {text.data(), text.size(), offset, &origin};
}

template <typename Out, typename Function>
auto line_factory(Function function) {
  return make_operator_factory(
      [function] { return std::make_unique<LineFlatMapOperator<Out, Function>>(function); });
}
template <typename Out, typename Function>
auto block_factory(Function function) {
  return make_operator_factory(
      [function] { return std::make_unique<BlockFlatMapOperator<Out, Function>>(function); });
}

constexpr auto split_words = [](std::string_view line, Collector<std::string_view>& out) {
  while (!line.empty()) {
    const std::size_t end = std::min(line.find(' '), line.size());
    if (end != 0) out(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
  }
};

TEST(LineFlatMapOperator, WordsOfLines) {
  OperatorHarness<TextBlock> harness(line_factory<std::string_view>(split_words));
  harness.record(block("to be or\nnot\n\nto be\n")).record(block("")).idle();
  harness.record(block("that is\nthe question"));
  harness.output<std::string_view>().records(
      {"to", "be", "or", "not", "to", "be", "that", "is", "the", "question"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(LineFlatMapOperator, StopsBetweenTwoLines) {
  OperatorHarness<TextBlock> harness(line_factory<std::string_view>(split_words));
  harness.options().expansion_max = 3;  // of a line, not of a block
  harness.record(block("a b c\nd\ne f\n\ng h\n"), 5).record(block("i\nj"), 6);
  auto expected = harness.output<std::string_view>();
  for (const char* word : {"a", "b", "c", "d", "e", "f", "g", "h"}) expected.record(word, 5);
  expected.record("i", 6).record("j", 6);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(LineFlatMapOperator, AThrownExceptionNamesFileAndByte) {
  OperatorHarness<TextBlock> harness(
      line_factory<int>([](std::string_view line, Collector<int>& out) {
        if (line == "bad") throw std::runtime_error("no number");
        out(static_cast<int>(line.size()));
      }));
  harness.record(block("one\n", 100), 1).record(block("three\nfour\nbad\nsix\n", 104), 2);
  harness.output<int>().record(3, 1).record(5, 2).record(4, 2);
  harness.expect_failure("poem.txt, byte 115: no number");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(LinesOperator, BytesAreData) {
  OperatorHarness<TextBlock> harness(
      make_operator_factory([] { return std::make_unique<LinesOperator>(); }));
  using namespace std::string_view_literals;
  harness.options().expansion_max = 1;
  harness.record(block("a\r\n\0b\xff\n\nlast"sv)).record(block("\n")).record(block("x\n"));
  harness.output<std::string_view>().records({"a\r", "\0b\xff"sv, "", "last", "", "x"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Words across lines; stops at a full output, in the middle of a line too.
constexpr auto split_block = [](TextBlock text, Collector<std::string_view>& out) {
  std::size_t at = 0;
  while (at < text.size && !out.full()) {
    std::size_t end = at;
    while (end < text.size && static_cast<unsigned char>(text.data[end]) > ' ') ++end;
    if (end != at) out(text.view().substr(at, end - at));
    at = std::min(end + 1, text.size);
  }
  return at;
};

TEST(BlockFlatMapOperator, GoesOnInsideABlock) {
  OperatorHarness<TextBlock> harness(block_factory<std::string_view>(split_block));
  harness.options().expansion_max = 1;  // the function itself stops at a full output
  harness.record(block("to be or\nnot\n\nto be\n"), 1).record(block("")).record(block("  ends"), 3);
  auto expected = harness.output<std::string_view>();
  for (const char* word : {"to", "be", "or", "not", "to", "be"}) expected.record(word, 1);
  expected.record("ends", 3);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(BlockFlatMapOperator, AThrownExceptionNamesFileAndByte) {
  OperatorHarness<TextBlock> harness(
      block_factory<int>([](TextBlock text, Collector<int>& out) -> std::size_t {
        if (text.data[0] == '!') throw std::runtime_error("stop");
        out(text.data[0]);
        return 1;
      }));
  harness.record(block("ab", 10), 1).record(block("c!", 12), 2);
  harness.output<int>().record('a', 1).record('b', 1).record('c', 2);
  harness.expect_failure("poem.txt, byte 13: stop");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(BlockFlatMapOperator, RefusesAFunctionThatTakesNothingOrTooMuch) {
  for (const std::size_t consumed : {std::size_t{0}, std::size_t{4}}) {
    OperatorHarness<TextBlock> harness(block_factory<int>(
        [consumed](TextBlock, Collector<int>&) -> std::size_t { return consumed; }));
    harness.record(block("abc", 7));
    harness.output<int>();
    harness.expect_failure("poem.txt, byte 7: the block function consumed");
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

}  // namespace
}  // namespace hummer::text_operators_test
