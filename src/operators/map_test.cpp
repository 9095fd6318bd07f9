#include <hummer/detail/operators/map.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::map_test {
namespace {

template <typename In, typename Out, typename Function>
auto map_factory(Function function) {
  return make_operator_factory(
      [function] { return std::make_unique<MapOperator<In, Out, Function>>(function); });
}

struct Point {
  int x = 0;
  double y = 0;
};

TEST(MapOperator, GivesOneForEachInOrder) {
  const long factor = 3;
  OperatorHarness<int> harness(map_factory<int, long>([factor](int v) { return v * factor; }));
  harness.records({1, 2, 3}).idle().records({4, 5}).watermark(7).record(6);
  harness.output<long>().records({3, 6, 9, 12, 15}).watermark(7).record(18);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_GT(report.schedules(), 100u);
}

TEST(MapOperator, CarriesTimestamps) {
  OperatorHarness<int> harness(map_factory<int, Point>([](int v) { return Point{v, v / 2.0}; }));
  harness.record(1, 100).record(2, 200).watermark(150).record(3, 300).record(4);
  auto expected = harness.output<Point>();
  expected.record({1, 0.5}, 100).record({2, 1}, 200).watermark(150);
  expected.record({3, 1.5}, 300).record({4, 2});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MapOperator, CopiesStringsIntoTheArena) {
  OperatorHarness<std::string_view> harness(map_factory<std::string_view, std::string_view>(
      [](std::string_view text) { return std::string(text) + "!"; }));
  const std::string long_text(20'000, 'x');
  harness.records({"a", "", "a text longer than a short string", long_text, "b"});
  harness.output<std::string_view>().records(
      {"a!", "!", "a text longer than a short string!", long_text + "!", "b!"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MapOperator, ViewsIntoTheInputOutliveIt) {
  OperatorHarness<std::string_view> harness(map_factory<std::string_view, std::string_view>(
      [](std::string_view text) { return text.substr(1); }));
  harness.records({"one", "two", "three"});
  harness.output<std::string_view>().records({"ne", "wo", "hree"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MapOperator, OwningTypes) {
  OperatorHarness<std::string> harness(map_factory<std::string, std::vector<int>>(
      [](const std::string& text) { return std::vector<int>(text.begin(), text.end()); }));
  harness.records({"ab", "", "a text longer than a short string"});
  const std::string last = "a text longer than a short string";
  harness.output<std::vector<int>>().records({{97, 98}, {}, {last.begin(), last.end()}});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MapOperator, AMutableFunctionKeepsItsState) {
  auto running = map_factory<int, int>([sum = 0](int value) mutable { return sum += value; });
  OperatorHarness<int> harness(running);
  harness.options().with_snapshots = false;
  harness.records({1, 2, 3, 4});
  harness.output<int>().records({1, 3, 6, 10});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MapOperator, AThrownExceptionNamesTheRecord) {
  OperatorHarness<int> harness(map_factory<int, int>([](int value) {
    if (value == 13) throw std::runtime_error("unlucky");
    return value;
  }));
  harness.record(1, 10).record(2, 20).record(3, 30).record(13, 40).record(5, 50);
  harness.output<int>().record(1, 10).record(2, 20).record(3, 30);
  harness.expect_failure("record 3: unlucky");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::map_test
