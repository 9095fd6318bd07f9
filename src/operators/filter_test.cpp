#include <hummer/detail/operators/filter.hpp>

#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/metrics.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::filter_test {
namespace {

template <typename T, typename Function>
auto filter_factory(Function function) {
  return make_operator_factory(
      [function] { return std::make_unique<FilterOperator<T, Function>>(function); });
}

TEST(FilterOperator, KeepsInOrder) {
  OperatorHarness<int> harness(filter_factory<int>([](int v) { return v % 2 == 0; }));
  harness.records({1, 2, 3, 4, 6, 8, 9, 11, 10}).watermark(1).records({13, 12});
  harness.output<int>().records({2, 4, 6, 8, 10}).watermark(1).record(12);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FilterOperator, ItsFunctionMayCount) {
  OperatorHarness<int> harness(filter_factory<int>([odd = Counter("odd")](int v) {
    if (v % 2 != 0) odd.add();
    return v % 2 == 0;
  }));
  harness.records({1, 2, 3, 4});
  harness.output<int>().records({2, 4});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FilterOperator, NothingAndEverything) {
  for (const bool keep : {false, true}) {
    OperatorHarness<char> harness(filter_factory<char>([keep](char) { return keep; }));
    harness.records({'a', 'b', 'c'});
    if (keep) harness.output<char>().records({'a', 'b', 'c'});
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

TEST(FilterOperator, TimestampsFollowTheirRecords) {
  OperatorHarness<int> harness(filter_factory<int>([](int v) { return v > 2; }));
  harness.record(1, 10).record(3, 30).record(2, 20).record(4, 40).record(5);
  harness.output<int>().record(3, 30).record(4, 40).record(5);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FilterOperator, MovesOrCopiesOwningTypes) {
  const std::string text = "a text longer than a short string";
  OperatorHarness<std::string> harness(
      filter_factory<std::string>([](const std::string& v) { return v.size() > 1; }));
  harness.records({"a", text, "", text + "2", "xy"});
  harness.output<std::string>().records({text, text + "2", "xy"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FilterOperator, Views) {
  using Pair = std::pair<std::string_view, int>;
  OperatorHarness<Pair> harness(filter_factory<Pair>([](const Pair& v) { return v.second > 0; }));
  harness.records({{"a", 1}, {"b", 0}, {"c", 2}});
  harness.output<Pair>().records({{"a", 1}, {"c", 2}});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(FilterOperator, AThrownExceptionNamesTheRecord) {
  OperatorHarness<int> harness(filter_factory<int>([](int value) {
    if (value == 13) throw std::runtime_error("unlucky");
    return value > 1;
  }));
  harness.record(1, 10).record(2, 20).record(3, 30).record(13, 40).record(5, 50);
  harness.output<int>().record(2, 20).record(3, 30);
  harness.expect_failure("record 3: unlucky");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::filter_test
