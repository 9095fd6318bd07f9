// State that a version of the job with another time to live goes on with, in memory and on disk;
// and clocks that go back between two attempts.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include <hummer/aggregate.hpp>

#include "operators/keyed_bench.hpp"
#include "platform/simulation.hpp"

namespace hummer::changed_ttl_test {
namespace {

using Row = std::vector<int>;

// Words of more than a letter are written into one state of each kind.
template <std::int64_t ttl>
struct Five {
  ValueState<int> value{"value", {.ttl_ms = ttl}};
  ListState<int> list{"list", {.ttl_ms = ttl}};
  MapState<int, int> map{"map", {.ttl_ms = ttl}};
  ReducingState<int, std::plus<>> sum{"sum", {.ttl_ms = ttl}};
  AggregatingState<CountAggregate> count{"count", {.ttl_ms = ttl}};

  void process(std::string_view word, KeyedOutput<Row>& out) {
    const int number = static_cast<int>(word.size());
    if (number > 1) {
      value.set(number);
      list.add(number);
      map.put(number, 1);
      sum.add(number);
      count.add(word);
    }
    const auto listed = list.get();
    out.emit(Row{value.get_or(0), std::accumulate(listed.begin(), listed.end(), 0),
                 static_cast<int>(map.size()), sum.get_or(0),
                 static_cast<int>(count.result().value_or(0))});
  }
};
const Row nothing{0, 0, 0, 0, 0};

// With a limit all state is on disk between two calls.
class ChangedTtl : public testing::TestWithParam<std::size_t> {
 protected:
  template <std::int64_t ttl>
  struct Attempt : WordBench<Five<ttl>, Row> {
    Attempt(const FakeOperatorContext::Place& place, Timestamp now_ms, const std::string& piece)
        : WordBench<Five<ttl>, Row>(place, Five<ttl>{}, Word{key_of_word}) {
      at(now_ms);
      if (!piece.empty()) {
        const Status status = this->restore(piece);
        EXPECT_TRUE(status.ok()) << status.to_string();
      }
      EXPECT_TRUE(this->op.open().ok());
    }
    void at(Timestamp now_ms) { this->context.set_now(now_ms * 1'000'000); }
    Row write(std::string_view word) {
      this->template process<std::string_view>({word});
      return this->template take<Row>().back();
    }
  };
  template <std::int64_t ttl>
  Attempt<ttl> begin(Timestamp now_ms, const std::string& piece = {}) {
    return {{.platform = node_.get(), .memory_limit_bytes = GetParam()}, now_ms, piece};
  }

 private:
  const std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
};
INSTANTIATE_TEST_SUITE_P(MemoryLimits, ChangedTtl, testing::Values(0, 1));

TEST_P(ChangedTtl, WithoutOneWhatIsRestoredStays) {
  auto old = begin<10>(1000);
  old.write("ab");
  auto next = begin<0>(1005, old.snapshot());
  next.at(2000);
  // On disk, too, where what is dead goes when runs are merged.
  for (int i = 0; i < 50; ++i) next.write(std::string(1, static_cast<char>('b' + i % 25)) + "x");
  EXPECT_EQ(next.write("a"), (Row{2, 2, 1, 2, 1}));
  EXPECT_EQ(next.write("abc"), (Row{3, 5, 2, 5, 2}));
  auto again = begin<0>(3000, next.snapshot());
  EXPECT_EQ(again.write("a"), (Row{3, 5, 2, 5, 2}));
}

TEST_P(ChangedTtl, ANewOneBeginsWithTheRestore) {
  auto old = begin<0>(1000);
  old.write("ab");
  auto next = begin<10>(5000, old.snapshot());
  next.at(5009);
  EXPECT_EQ(next.write("a"), (Row{2, 2, 1, 2, 1}));
  next.at(5010);
  EXPECT_EQ(next.write("a"), nothing);
}

TEST_P(ChangedTtl, ANewOneIsKeptByTheNextRestore) {
  auto old = begin<0>(1000);
  old.write("ab");
  auto next = begin<10>(5000, old.snapshot());
  auto again = begin<10>(5009, next.snapshot());
  EXPECT_EQ(again.write("a"), (Row{2, 2, 1, 2, 1}));
  again.at(5010);
  EXPECT_EQ(again.write("a"), nothing);
}

TEST_P(ChangedTtl, AnotherOneIsThatOfWhatIsWrittenFromThenOn) {
  auto old = begin<10>(1000);
  old.write("ab");
  old.write("bb");
  auto next = begin<100>(1005, old.snapshot());
  EXPECT_EQ(next.write("bbb"), (Row{3, 5, 2, 5, 2}));
  next.at(1009);
  EXPECT_EQ(next.write("a"), (Row{2, 2, 1, 2, 1}));
  next.at(1010);
  EXPECT_EQ(next.write("a"), nothing);
  EXPECT_EQ(next.write("b"), (Row{3, 3, 1, 5, 2}));
  next.at(1105);
  EXPECT_EQ(next.write("b"), nothing);
}

// What a list got under the later clock stands before what it gets under the earlier one.
TEST_P(ChangedTtl, AClockThatHasGoneBackLeavesListsReadable) {
  auto first = begin<10>(3000);
  first.write("ab");
  auto second = begin<10>(2000, first.snapshot());
  EXPECT_EQ(second.write("abc"), (Row{3, 5, 2, 5, 2}));
  auto third = begin<10>(2005, second.snapshot());
  EXPECT_EQ(third.write("a"), (Row{3, 5, 2, 5, 2}));
  third.at(3010);
  EXPECT_EQ(third.write("a"), nothing);
}

}  // namespace
}  // namespace hummer::changed_ttl_test
