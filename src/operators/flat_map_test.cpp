#include <hummer/detail/operators/flat_map.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::flat_map_test {
namespace {

template <typename In, typename Out, typename Function>
auto flat_map_factory(Function function) {
  return make_operator_factory(
      [function] { return std::make_unique<FlatMapOperator<In, Out, Function>>(function); });
}

TEST(FlatMapOperator, AnyNumberForEach) {
  OperatorHarness<int> harness(flat_map_factory<int, int>([](int count, Collector<int>& out) {
    for (int i = 0; i < count; ++i) out(count * 10 + i);
  }));
  harness.record(0, 1).record(2, 2).record(3, 3).watermark(3).record(1, 4).record(0, 5);
  auto expected = harness.output<int>();
  expected.record(20, 2).record(21, 2).record(30, 3).record(31, 3).record(32, 3);
  expected.watermark(3).record(10, 4);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FlatMapOperator, TextAsViewsAndStrings) {
  OperatorHarness<std::string_view> harness(flat_map_factory<std::string_view, std::string_view>(
      [](std::string_view text, Collector<std::string_view>& out) {
        out(text.substr(0, 1));
        out(std::string(text) + std::string(text));
        out("literal");
        out(out.copy(text));
      }));
  harness.records({"ab", "cd"});
  harness.output<std::string_view>().records(
      {"a", "abab", "literal", "ab", "c", "cdcd", "literal", "cd"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FlatMapOperator, RoomForManyAtOnce) {
  OperatorHarness<int> harness(flat_map_factory<int, int>([](int count, Collector<int>& out) {
    for (int made = 0; made < count;) {
      const auto room = out.room();
      std::size_t used = 0;
      while (used < room.size() && made < count) room[used++] = made++;
      out.wrote(used);
    }
  }));
  harness.records({3, 0, 2});
  harness.output<int>().records({0, 1, 2, 0, 1});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FlatMapOperator, AThrownExceptionNamesTheRecord) {
  OperatorHarness<int> harness(flat_map_factory<int, int>([](int value, Collector<int>& out) {
    out(value);
    if (value == 13) throw std::runtime_error("unlucky");
    out(-value);
  }));
  harness.records({1, 2, 13, 4});
  harness.output<int>().records({1, -1, 2, -2, 13});
  harness.expect_failure("record 2: unlucky");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::flat_map_test
