#include <hummer/detail/operators/union.hpp>

#include <gtest/gtest.h>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::union_test {
namespace {

template <typename T>
auto union_factory() {
  return make_operator_factory([] { return std::make_unique<UnionOperator>(type_of<T>()); });
}

TEST(UnionOperator, HandsWholeBatchesOn) {
  OperatorHarness<int> harness(union_factory<int>());
  harness.options().expansion_max = 5;  // a batch stays as it is
  harness.record(1, 10).record(2, 20).record(3).watermark(15).record(4, 40).idle().record(5, 50);
  auto expected = harness.output<int>();
  expected.record(1, 10).record(2, 20).record(3).watermark(15).record(4, 40).record(5, 50);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(UnionOperator, TextKeepsItsBuffers) {
  OperatorHarness<std::string_view> harness(union_factory<std::string_view>());
  harness.options().expansion_max = 4;
  harness.records({"a", "", "a text longer than a short string", "b"});
  harness.output<std::string_view>().records({"a", "", "a text longer than a short string", "b"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(UnionOperator, OwningTypes) {
  OperatorHarness<std::vector<std::string>> harness(union_factory<std::vector<std::string>>());
  harness.options().expansion_max = 3;
  harness.records({{"a text longer than a short string"}, {}, {"b", "c"}});
  harness.output<std::vector<std::string>>().records(
      {{"a text longer than a short string"}, {}, {"b", "c"}});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::union_test
