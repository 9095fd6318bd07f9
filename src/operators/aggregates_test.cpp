// Partial, merging and running aggregates under every schedule. Where epochs end
// depends on the schedule, so partial results are added up by key before they
// are compared.
#include <gtest/gtest.h>

#include <map>
#include <stdexcept>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/merge_aggregate.hpp>
#include <hummer/detail/operators/partial_aggregate.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::aggregates_test {
namespace {

using Word = std::pair<std::string_view, int>;
constexpr auto word_of = [](const Word& word) { return word.first; };
constexpr auto number_of = [](const Word& word) { return word.second; };
using WordSum = SumAggregate<int, decltype(number_of)>;

// One of every kind of key that a TextTable tells apart, with repeats.
const std::vector<Word> words = {{"to", 1},
                                 {"be", 2},
                                 {"", 3},
                                 {"a word of 16 byte", 4},
                                 {"to", 5},
                                 {"a medium word", 6},
                                 {"a word that is longer than sixteen bytes", 7},
                                 {"be", 8},
                                 {"a word that is longer than sixteen bytes", 9},
                                 {"", 10},
                                 {"a medium word", 11}};

// By key, in its order; `combine(earlier, later)` of equal keys.
template <typename K, typename V, typename Combine>
auto by_key(Combine combine) {
  return [combine](std::vector<KeyValue<K, V>> seen) {
    std::map<K, V> values;
    for (KeyValue<K, V>& one : seen) {
      const auto [at, is_new] = values.try_emplace(one.key, one.value);
      if (!is_new) at->second = combine(at->second, one.value);
    }
    std::vector<KeyValue<K, V>> result;
    for (const auto& [key, value] : values) result.push_back({key, value});
    return result;
  };
}
constexpr auto added = [](auto a, auto b) { return a + b; };
constexpr auto later = [](auto, auto b) { return b; };

template <typename K, typename V, typename Combine>
void expect_by_key(ExpectedOutput<KeyValue<K, V>> output, const std::vector<KeyValue<K, V>>& all,
                   Combine combine) {
  const auto normalise = by_key<K, V>(combine);
  output.normalise(normalise).records(normalise(all));
}

template <typename In, typename K, typename KeyOf, typename Aggregate>
auto partial_factory(KeyOf key_of, Aggregate aggregate, PartialAggregateOptions options) {
  return make_operator_factory([=] {
    return std::make_unique<PartialAggregateOperator<In, K, KeyOf, Aggregate>>(key_of, aggregate,
                                                                               options);
  });
}

// When partial state goes out: at the end, when the input pauses or time passes, always; none.
const PartialAggregateOptions partial_options[] = {
    {},
    {.epoch_ms = 1, .hold_until_end = false, .pair_name = {}},
    {.limit_bytes = 0, .pair_name = {}},
    {.folding = Folding::off, .pair_name = {}}};

TEST(PartialAggregateOperator, AddsUpToTheSumsWhereverEpochsEnd) {
  for (const PartialAggregateOptions& options : partial_options) {
    OperatorHarness<Word> harness(
        partial_factory<Word, std::string_view>(word_of, WordSum{number_of}, options));
    harness.options().state_only_by_flush = true;
    harness.records(words).watermark(5).record({"be", 12}).idle().record({"or", 13});
    std::vector<KeyValue<std::string_view, std::int64_t>> all;
    for (const Word& word : words) all.push_back({word.first, word.second});
    all.insert(all.end(), {{"be", 12}, {"or", 13}});
    expect_by_key(harness.output<KeyValue<std::string_view, std::int64_t>>(), all, added);
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

TEST(PartialAggregateOperator, CountsTextThatIsItsOwnKey) {
  for (const PartialAggregateOptions& options : partial_options) {
    OperatorHarness<std::string_view> harness(
        partial_factory<std::string_view, std::string_view>(identity, CountAggregate(), options));
    harness.options().state_only_by_flush = true;
    std::vector<KeyValue<std::string_view, std::uint64_t>> all;
    for (const Word& word : words) {
      harness.record(word.first);
      all.push_back({word.first, 1});
    }
    expect_by_key(harness.output<KeyValue<std::string_view, std::uint64_t>>(), all, added);
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

TEST(PartialAggregateOperator, NumbersAndTuplesAsKeys) {
  using Place = std::tuple<int, double>;
  const auto place_of = [](int value) { return Place(value % 3, value % 2 == 0 ? 0.0 : -0.0); };
  for (const PartialAggregateOptions& options : partial_options) {
    // A key that passes is written as it came: -0.0 becomes 0.0 in the table of its owner.
    if (options.folding == Folding::off) continue;
    const std::vector<int> values{0, -1, 5, 0, -1, 7, 1 << 30, 5};
    OperatorHarness<int> numbers(partial_factory<int, int>(identity, CountAggregate(), options));
    OperatorHarness<int> places(partial_factory<int, Place>(place_of, CountAggregate(), options));
    std::vector<KeyValue<int, std::uint64_t>> by_number;
    std::vector<KeyValue<Place, std::uint64_t>> by_place;
    for (const int value : values) {
      by_number.push_back({value, 1});
      by_place.push_back({Place(value % 3, 0.0), 1});
    }
    expect_by_key(numbers.output<KeyValue<int, std::uint64_t>>(), by_number, added);
    expect_by_key(places.output<KeyValue<Place, std::uint64_t>>(), by_place, added);
    for (OperatorHarness<int>* harness : {&numbers, &places}) {
      harness->options().state_only_by_flush = true;
      harness->records(values);
      const HarnessReport report = harness->run();
      EXPECT_TRUE(report.ok()) << report.text();
    }
  }
}

// An accumulator that lies outside of the table.
TEST(PartialAggregateOperator, AccumulatorsThatOwnMemory) {
  const auto longer = [](const std::string& a, const std::string& b) {
    return std::pair(a.size(), a) < std::pair(b.size(), b) ? b : a;
  };
  const auto first_byte = [](const std::string& text) { return static_cast<int>(text[0]); };
  for (const PartialAggregateOptions& options : partial_options) {
    OperatorHarness<std::string> harness(partial_factory<std::string, int>(
        first_byte, ReduceAggregate<std::string, decltype(longer)>{longer}, options));
    harness.options().state_only_by_flush = true;
    const std::vector<std::string> texts{"apple", "bee", "a text longer than a short string", "b",
                                         "cat",   "aa",  "bees and other animals that fly"};
    harness.records(texts);
    std::vector<KeyValue<int, std::string>> all;
    for (const std::string& text : texts) all.push_back({text[0], text});
    expect_by_key(harness.output<KeyValue<int, std::string>>(), all, longer);
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

constexpr auto unlucky_key = [](int value) {
  if (value == 13) throw std::runtime_error("unlucky");
  return value;
};
constexpr auto unlucky_sum = [](int a, int b) {
  if (b == 13) throw std::runtime_error("unlucky");
  return a + b;
};
constexpr auto always_zero = [](int) { return 0; };
using UnluckyValues = SumAggregate<int, decltype(unlucky_key)>;
template <typename V>
std::vector<KeyValue<int, V>> nothing(const std::vector<KeyValue<int, V>>&) {
  return {};
}

TEST(PartialAggregateOperator, AThrownExceptionNamesTheRecord) {
  const std::shared_ptr<const OperatorFactory> in_key = partial_factory<int, int>(
      unlucky_key, SumAggregate<int, Identity>{identity}, PartialAggregateOptions{});
  const std::shared_ptr<const OperatorFactory> in_value =
      partial_factory<int, int>(always_zero, UnluckyValues{unlucky_key}, PartialAggregateOptions{});
  for (const auto& factory : {in_key, in_value}) {
    OperatorHarness<int> harness(factory);
    harness.options().state_only_by_flush = true;
    harness.records({1, 2, 3, 1, 13, 4}).expect_failure("record 4: unlucky");
    // What a flush has put out before depends on the schedule.
    harness.output<KeyValue<int, std::int64_t>>().normalise(nothing<std::int64_t>);
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

template <typename K, typename Aggregate>
auto merge_factory(Aggregate aggregate, bool emit_epochs) {
  return make_operator_factory([=] {
    return std::make_unique<MergeAggregateOperator<K, Aggregate>>(aggregate, emit_epochs,
                                                                  std::string(), 1);
  });
}

TEST(MergeAggregateOperator, OneResultPerKeyAtTheEnd) {
  using Part = KeyValue<std::string_view, std::int64_t>;
  OperatorHarness<Part> harness(merge_factory<std::string_view>(WordSum{number_of}, false));
  std::vector<Part> all;
  for (const Word& word : words) all.push_back({word.first, word.second});
  harness.records(all).watermark(3).idle();
  const auto once = [](auto, auto) -> std::int64_t { return -1; };  // a second one is a mistake
  harness.output<Part>()
      .normalise(by_key<std::string_view, std::int64_t>(once))
      .records(by_key<std::string_view, std::int64_t>(added)(all));
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MergeAggregateOperator, TheLastOfManyResultsIsTheTotal) {
  using Part = KeyValue<std::string_view, std::int64_t>;
  OperatorHarness<Part> harness(merge_factory<std::string_view>(WordSum{number_of}, true));
  harness.options().state_only_by_flush = true;  // which keys have changed
  std::vector<Part> all;
  for (const Word& word : words) all.push_back({word.first, word.second});
  harness.records(all).watermark(3).record({"to", 100}).idle().record({"or", 7});
  all.insert(all.end(), {{"to", 100}, {"or", 7}});
  harness.output<Part>()
      .normalise(by_key<std::string_view, std::int64_t>(later))
      .records(by_key<std::string_view, std::int64_t>(added)(all));
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MergeAggregateOperator, KeysAndValuesThatOwnMemory) {
  using Key = std::pair<std::string, int>;
  using Part = KeyValue<Key, std::string>;
  const auto best = [](const std::string& a, const std::string& b) { return std::max(a, b); };
  for (const bool emit_epochs : {false, true}) {
    OperatorHarness<Part> harness(
        merge_factory<Key>(ReduceAggregate<std::string, decltype(best)>{best}, emit_epochs));
    harness.options().state_only_by_flush = emit_epochs;
    const std::string text = "a text longer than a short string";
    const std::vector<Part> all{{{text, 1}, "a"},  {{text, 2}, text}, {{"x", 1}, text + "b"},
                                {{text, 1}, text}, {{"x", 1}, "z"},   {{"", 0}, ""}};
    harness.records(all);
    harness.output<Part>()
        .normalise(by_key<Key, std::string>(later))
        .records(by_key<Key, std::string>(best)(all));
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

TEST(MergeAggregateOperator, AThrownExceptionNamesTheRecord) {
  using Part = KeyValue<int, int>;
  OperatorHarness<Part> harness(
      merge_factory<int>(ReduceAggregate<int, decltype(unlucky_sum)>{unlucky_sum}, true));
  harness.options().with_snapshots = false;
  harness.records({{1, 1}, {2, 1}, {1, 5}, {1, 13}, {2, 13}}).expect_failure("record 3: unlucky");
  harness.output<Part>().normalise(nothing<int>);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(MergeAggregateOperator, RestoreRefusesWhatIsNoState) {
  MergeAggregateOperator<std::string_view, CountAggregate> merge(CountAggregate(), false);
  FakeOperatorContext context;
  Output out;
  merge.set_context(context);
  merge.declare(out);
  // Another version; an entry that is cut short; no end; what is no entry.
  for (const std::string_view piece :
       {std::string_view("\1\0\0", 3), std::string_view("\2\0\1\1\0\0\0a", 8),
        std::string_view("\2\0", 2), std::string_view("\2\0\5\0", 4)}) {
    ByteReader in(piece);
    EXPECT_EQ(merge.restore(in).code(), ErrorCode::corrupt_record);
  }
}

// Whether a record comes as it is or in a part makes no difference, nor does which comes first.
TEST(MergeAggregateOperatorWithBypass, PartsAndRecordsAddUp) {
  struct Sale {
    int shop;
    int amount;
  };
  using Part = KeyValue<int, std::int64_t>;
  constexpr auto shop_of = [](const Sale& sale) { return sale.shop; };
  constexpr auto amount_of = [](const Sale& sale) { return sale.amount; };
  using Sum = SumAggregate<std::int64_t, std::remove_const_t<decltype(amount_of)>>;
  for (const bool emit_epochs : {false, true}) {
    const auto merge = make_operator_factory([=] {
      return std::make_unique<
          MergeAggregateOperatorWithBypass<Sale, int, std::remove_const_t<decltype(shop_of)>, Sum>>(
          shop_of, Sum{amount_of}, emit_epochs);
    });
    TwoInputHarness<Part, Sale> harness(merge);
    harness.options().any_interleaving = true;
    harness.options().state_only_by_flush = emit_epochs;
    harness.first({1, 10}).second({1, 1}).second({2, 2}).first({3, 30}).watermark(3).idle();
    harness.second({3, 4}).first({1, 100}).second({4, 5});
    harness.output<Part>()
        .normalise(by_key<int, std::int64_t>(later))
        .records({{1, 111}, {2, 2}, {3, 34}, {4, 5}});
    const HarnessReport report = harness.run();
    EXPECT_TRUE(report.ok()) << report.text();
  }
}

template <typename In, typename K, typename KeyOf, typename Aggregate>
auto running_factory(KeyOf key_of, Aggregate aggregate) {
  return make_operator_factory([=] {
    return std::make_unique<RunningAggregateOperator<In, K, KeyOf, Aggregate>>(key_of, aggregate);
  });
}

TEST(RunningAggregateOperator, EveryTotalInOrderPerKey) {
  using Total = KeyValue<std::string_view, std::int64_t>;
  OperatorHarness<Word> harness(
      running_factory<Word, std::string_view>(word_of, WordSum{number_of}));
  harness.records(words).idle().record({"to", 100});
  std::vector<Total> all;
  std::map<std::string_view, std::int64_t> totals;
  for (const Word& word : words) all.push_back({word.first, totals[word.first] += word.second});
  all.push_back({"to", totals["to"] += 100});
  const auto sorted = [](std::vector<Total> seen) {
    std::stable_sort(seen.begin(), seen.end(),
                     [](const Total& a, const Total& b) { return a.key < b.key; });
    return seen;
  };
  harness.output<Total>().normalise(sorted).records(sorted(all));
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(RunningAggregateOperator, TotalsHaveTheTimeOfTheirRecords) {
  using Total = KeyValue<int, std::int64_t>;
  OperatorHarness<int> harness(running_factory<int, int>([](int v) { return v % 2; },
                                                         SumAggregate<int, Identity>{identity}));
  harness.record(1, 10).record(2, 20).record(3, 15).watermark(15).record(5).record(4, 30);
  auto expected = harness.output<Total>();
  expected.record({1, 1}, 10).record({0, 2}, 20).record({1, 4}, 15).watermark(15);
  expected.record({1, 9}).record({0, 6}, 30);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(RunningAggregateOperator, AThrownExceptionNamesTheRecord) {
  using Total = KeyValue<int, int>;
  OperatorHarness<int> harness(running_factory<int, int>(
      always_zero, ReduceAggregate<int, decltype(unlucky_sum)>{unlucky_sum}));
  harness.records({1, 2, 3, 13, 4}).expect_failure("record 3: unlucky");
  harness.output<Total>().records({{0, 1}, {0, 3}, {0, 6}});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

}  // namespace
}  // namespace hummer::aggregates_test
