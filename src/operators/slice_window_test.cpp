// Tumbling and sliding windows from slices, under every schedule.
#include <hummer/detail/operators/slice_window.hpp>

#include <hummer/detail/operators/call_at_wall_time.hpp>
#include <hummer/detail/testing/take_snapshot.hpp>

#include "operators/restored_subtask.hpp"
#include "operators/window_test_parts.hpp"
#include "operators/with_and_without_memory.hpp"
#include "support/expect_ok.hpp"

namespace hummer::slice_window_test {
namespace {

auto sums(WindowGrid grid, std::int64_t lateness_ms = 0) {
  return make_operator_factory([=] {
    using Input = RecordInput<Sale, std::int64_t, ShopOf>;
    return std::make_unique<SliceWindowOperator<Input, std::int64_t, SaleSum, SumValue>>(
        Input{shop_of}, grid, lateness_ms, SaleSum{amount_of}, SumValue{{amount_of}});
  });
}

TEST(SliceWindowOperator, TumblingWindowsFireWhenTheWatermarkReachesTheirEnd) {
  OperatorHarness<Sale> harness(sums(TumblingWindows::of(10)));
  harness.record({1, 5}, 0).record({2, 7}, 9).record({1, 1}, 10).watermark(9);
  harness.record({0, 3}, 9).watermark(10).record({1, 2}, 19).watermark(20).record({1, 9}, 25);
  auto expected = harness.output<SumWindow>().unordered();
  expected.watermark(9);
  expected.record({1, {0, 10}, 5}, 9).record({2, {0, 10}, 7}, 9).record({0, {0, 10}, 3}, 9);
  expected.watermark(10).record({1, {10, 20}, 3}, 19).watermark(20).record({1, {20, 30}, 9}, 29);
  expect_ok_with_and_without_memory(harness);
}

TEST(SliceWindowOperator, AWatermarkThatJumpsFiresEachWindowInOrder) {
  OperatorHarness<Sale> harness(sums(SlidingWindows::of(4, 2)));
  harness.record({1, 1}, 0).record({1, 10}, 3).record({1, 100}, 1'000'000'000);
  harness.watermark(end_of_time - 1).idle();
  auto expected = harness.output<SumWindow>();
  expected.record({1, {-2, 2}, 1}, 1).record({1, {0, 4}, 11}, 3).record({1, {2, 6}, 10}, 5);
  expected.record({1, {999999998, 1000000002}, 100}, 1000000001);
  expected.record({1, {1000000000, 1000000004}, 100}, 1000000003).watermark(end_of_time - 1);
  expect_ok_with_and_without_memory(harness);
}

TEST(SliceWindowOperator, OffsetsAndNegativeTimes) {
  OperatorHarness<Sale> harness(sums(TumblingWindows::of(10, 3)));
  harness.record({1, 1}, -8).record({1, 2}, -7).record({1, 4}, 2).record({1, 8}, 3);
  auto expected = harness.output<SumWindow>();
  expected.record({1, {-17, -7}, 1}).record({1, {-7, 3}, 6}).record({1, {3, 13}, 8});
  expect_ok_with_and_without_memory(harness);
  OperatorHarness<Sale> other(sums(TumblingWindows::of(10, -3)));
  other.record({1, 1}, -4).record({1, 2}, -3).record({1, 4}, 6).record({1, 8}, 7);
  other.output<SumWindow>()
      .record({1, {-13, -3}, 1})
      .record({1, {-3, 7}, 6})
      .record({1, {7, 17}, 8});
  expect_ok_with_and_without_memory(other);
}

TEST(SliceWindowOperator, RecordsBetweenWindowsBelongToNone) {
  OperatorHarness<Sale> harness(sums(SlidingWindows::of(2, 5)));
  harness.record({1, 1}, 1).record({1, 2}, 2).record({1, 4}, 4).record({1, 8}, 5);
  harness.output<SumWindow>().record({1, {0, 2}, 1}).record({1, {5, 7}, 8});
  expect_ok_with_and_without_memory(harness);
}

// Late for some of its windows, not for the others; and late for all.
TEST(SliceWindowOperator, LateRecordsCountWhereTheyAreInTime) {
  OperatorHarness<Sale> harness(sums(SlidingWindows::of(6, 2)));
  harness.record({1, 1}, 0).record({1, 10}, 4).watermark(6);
  harness.record({1, 100}, 5).record({1, 1000}, 1).record({2, 1}, 2).watermark(8);
  harness.record({1, 10000}, 3).record({1, 100000}, 6).watermark(11);
  auto expected = harness.output<SumWindow>().unordered();
  expected.record({1, {-4, 2}, 1}).record({1, {-2, 4}, 1}).record({1, {0, 6}, 11}).watermark(6);
  expected.record({1, {2, 8}, 110}).record({2, {2, 8}, 1}).watermark(8);
  expected.record({1, {4, 10}, 100110}).watermark(11);
  expected.record({1, {6, 12}, 100000});
  expect_ok_with_and_without_memory(harness);
}

TEST(SliceWindowOperator, RefinesResultsWithinTheAllowedLateness) {
  for (const WindowGrid grid :
       {WindowGrid(TumblingWindows::of(10)), WindowGrid(SlidingWindows::of(20, 10))}) {
    OperatorHarness<Sale> harness(sums(grid, 10));
    harness.options().expansion_max = 4;
    harness.record({1, 1}, 0).record({2, 2}, 5).watermark(12).record({1, 10}, 3).record({1, 4}, 12);
    harness.record({3, 5}, 1).record({1, 20}, 4).watermark(19).record({1, 100}, 2).watermark(30);
    harness.record({1, 7}, 1).record({2, 9}, 15);
    auto expected = harness.output<SumWindow>().normalise(last_of_each);
    if (grid.is_tumbling()) {
      expected.record({1, {0, 10}, 1}).record({2, {0, 10}, 2}).watermark(12);
      expected.record({1, {0, 10}, 31}).record({3, {0, 10}, 5}).watermark(19);
      expected.record({1, {0, 10}, 131}).record({1, {10, 20}, 4}).watermark(30);
    } else {
      expected.record({1, {-10, 10}, 1}).record({2, {-10, 10}, 2}).watermark(12);
      expected.record({1, {-10, 10}, 31}).record({3, {-10, 10}, 5}).watermark(19);
      expected.record({1, {-10, 10}, 131}).record({1, {0, 20}, 135}).record({1, {10, 30}, 4});
      expected.record({2, {0, 20}, 2}).record({3, {0, 20}, 5}).watermark(30);
      expected.record({2, {10, 30}, 9});
    }
    expect_ok_with_and_without_memory(harness);
  }
}

TEST(SliceWindowOperator, ManySlicesOfOneBatch) {
  for (const std::int64_t stretch : {1, 1'000'000}) {  // counted, and sorted
    OperatorHarness<Sale> harness(sums(SlidingWindows::of(3, 1)));
    std::map<std::pair<Timestamp, std::int64_t>, std::int64_t> expected;
    for (std::int64_t i = 0; i < 12; ++i) {
      const Timestamp time = (i * 7 % 12) * stretch;
      harness.record({i % 2, 1 << i}, time);
      for (Timestamp start = time - 2; start <= time; ++start) {
        expected[{start, i % 2}] += 1 << i;
      }
    }
    auto output = harness.output<SumWindow>().unordered();
    for (const auto& [at, sum] : expected) {
      output.record({at.second, {at.first, at.first + 3}, sum}, at.first + 2);
    }
    harness.options().positions_max = 8;
    expect_ok_with_and_without_memory(harness);
  }
}

TEST(SliceWindowOperator, ProcessingTimeByTheClock) {
  OperatorHarness<Sale> harness(
      sums(TumblingWindows::of(100'000).in_processing_time()));  // the fake clock says 1,000
  harness.records({{1, 1}, {2, 2}, {1, 4}});
  harness.output<SumWindow>().unordered().record({1, {0, 100'000}, 5}).record({2, {0, 100'000}, 2});
  expect_ok_with_and_without_memory(harness);
}

TEST(SliceWindowOperator, ProcessingTimeTimerFiresWhatHasEnded) {
  using Input = RecordInput<Sale, std::int64_t, ShopOf>;
  SliceWindowOperator<Input, std::int64_t, SaleSum, SumValue> window(
      Input{shop_of}, TumblingWindows::of(100).in_processing_time(), 0, SaleSum{amount_of},
      SumValue{{amount_of}});
  FakeOperatorContext context;
  Output out;
  window.set_context(context);
  window.declare(out);
  ASSERT_TRUE(window.open().ok());
  context.set_now(1'030'000'000);
  Batch in(type_of<Sale>(), 1);
  in.mutable_values<Sale>()[0] = {1, 5};
  in.set_size(1);
  ASSERT_EQ(window.process(in, out), OperatorResult::done);
  ASSERT_EQ(context.timer(), 1'100'000'000);
  context.set_now(1'100'000'000);
  ASSERT_EQ(window.timer(context.now(), out), OperatorResult::done);
  ASSERT_EQ(out.batch().size(), 1u);
  EXPECT_EQ(out.batch().values<SumWindow>()[0].window, (TimeWindow{1000, 1100}));
}

// Text keys, an aggregate that owns memory, and a function of the author's.
struct Longest {
  std::string operator()(const std::string& a, const std::string& b) const {
    return a.size() != b.size() ? (a.size() > b.size() ? a : b) : std::min(a, b);
  }
};

TEST(SliceWindowOperator, TextAndOwnedAccumulators) {
  using Bag = BagAggregate<std::string_view>;
  const auto join = [](std::string_view key, const TimeWindow& window,
                       std::span<const std::string_view> words, Collector<std::string>& out) {
    std::string line(key);
    line += "@" + std::to_string(window.start_ms);
    for (const std::string_view word : words) line += " " + std::string(word);
    out(line);
    if (words.size() > 1) out(std::string("more than one"));
  };
  const auto first = [](std::string_view word) { return word.substr(0, 1); };
  using First = decltype(first);
  using Input = RecordInput<std::string_view, std::string_view, First>;
  using Finish = WindowFunction<std::string_view, Bag, std::string, decltype(join)>;
  OperatorHarness<std::string_view> harness(make_operator_factory([=] {
    return std::make_unique<SliceWindowOperator<Input, std::string_view, Bag, Finish>>(
        Input{first}, SlidingWindows::of(4, 2), 0, Bag(), Finish{Bag(), join});
  }));
  harness.options().control_expansion_max = 2;
  harness.record("apple", 1).record("a word longer than sixteen bytes", 2).record("bee", 3);
  auto expected = harness.output<std::string>().unordered();
  expected.record("a@-2 apple").record("a@0 apple a word longer than sixteen bytes");
  expected.record("more than one").record("b@0 bee");
  expected.record("a@2 a word longer than sixteen bytes").record("b@2 bee");
  expect_ok_with_and_without_memory(harness);
}

TEST(SliceWindowOperator, WordsAreTheirOwnKeys) {
  using Input = RecordInput<std::string_view, std::string_view, Identity>;
  using Finish = WindowValue<std::string_view, CountAggregate>;
  using Result = Windowed<std::string_view, std::uint64_t>;
  OperatorHarness<std::string_view> harness(make_operator_factory([=] {
    return std::make_unique<SliceWindowOperator<Input, std::string_view, CountAggregate, Finish>>(
        Input{identity}, TumblingWindows::of(5), 3, CountAggregate(), Finish{});
  }));
  harness.record("to", 0).record("be", 1).record("to", 4).watermark(5).record("", 5);
  harness.output<Result>()
      .unordered()
      .record({"to", {0, 5}, 2})
      .record({"be", {0, 5}, 1})
      .watermark(5)
      .record({"", {5, 10}, 1});
  expect_ok_with_and_without_memory(harness);
}

// Whether a record comes as it is or in a part makes no difference, nor does which comes first.
TEST(SliceWindowOperatorWithBypass, PartsAndRecordsAddUp) {
  using Part = SlicePartial<std::int64_t, std::int64_t>;
  const auto merging = make_operator_factory([] {
    using Parts = PartialInput<std::int64_t, std::int64_t>;
    using Records = RecordInput<Sale, std::int64_t, ShopOf>;
    return std::make_unique<
        SliceWindowOperatorWithBypass<Parts, Records, std::int64_t, SaleSum, SumValue>>(
        Records{shop_of}, SlidingWindows::of(10, 5), 20, SaleSum{amount_of}, SumValue{{amount_of}});
  });
  TwoInputHarness<Part, Sale> harness(merging);
  harness.options().any_interleaving = true;
  harness.options().expansion_max = 4;
  harness.first({1, 0, 5}, 0)
      .second({1, 7}, 4)
      .second({2, 1}, 9)
      .first({2, 5, 30}, 5)
      .watermark(15);
  // Late ones, within what is allowed.
  harness.first({1, 5, 100}, 5).second({1, 1'000}, 6).second({3, 4}, 7).second({2, 2}, 16);
  auto expected = harness.output<SumWindow>().normalise(last_of_each);
  expected.record({1, {-5, 5}, 12}).record({1, {0, 10}, 12});
  expected.record({2, {0, 10}, 31}).record({2, {5, 15}, 31}).watermark(15);
  expected.record({1, {0, 10}, 1'112}).record({1, {5, 15}, 1'100});
  expected.record({2, {10, 20}, 2}).record({2, {15, 25}, 2});
  expected.record({3, {0, 10}, 4}).record({3, {5, 15}, 4});
  expect_ok_with_and_without_memory(harness);
}

TEST(SliceWindowOperator, MistakesAreNamed) {
  OperatorHarness<Sale> untimed(sums(TumblingWindows::of(10)));
  untimed.record({1, 1}).expect_failure("assign_timestamps");
  expect_ok(untimed.run());
  OperatorHarness<Sale> empty(sums(TumblingWindows::of(0)));
  empty.expect_failure("must be 1 or more");
  expect_ok(empty.run());
  OperatorHarness<Sale> offset(sums(TumblingWindows::of(10, 10)));
  offset.expect_failure("offset");
  expect_ok(offset.run());
}

// A key that is a 64-bit number is no hash.
TEST(OperatorContext, OwnsTheKeysThatTheExchangeSendsIt) {
  for (int subtask = 0; subtask < 3; ++subtask) {
    const FakeOperatorContext context({.subtask = subtask, .parallelism = 3});
    for (std::uint64_t key = 0; key < 100; ++key) {
      const std::uint32_t group = key_group(key_hash(key), default_key_groups);
      const bool mine =
          group_owner(group, 3, default_key_groups) == static_cast<std::uint32_t>(subtask);
      EXPECT_EQ(context.owns_key(key), mine) << key;
    }
  }
}

TEST(CallAtWallTime, HoweverFar) {
  constexpr std::int64_t year_ns = std::int64_t{365} * 24 * 3600 * 1'000'000'000;
  FakeOperatorContext context;
  context.set_now(5'000'000'000);
  call_at_wall_time(context, 5'300);
  EXPECT_EQ(context.timer(), 5'300'000'000);
  for (const Timestamp passed : {Timestamp{4'000}, no_timestamp}) {
    call_at_wall_time(context, passed);
    EXPECT_EQ(context.timer(), context.now());
  }
  for (const Timestamp never : {Timestamp{253'402'300'799'000}, end_of_time - 1}) {
    call_at_wall_time(context, never);
    EXPECT_EQ(context.timer(), context.now() + year_ns);
  }
}

class RestoredSlices : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(MemoryLimits, RestoredSlices, testing::Values(0, 1));

TEST_P(RestoredSlices, AreThoseOfTheKeysThatItOwns) {
  using Input = RecordInput<Sale, std::int64_t, ShopOf>;
  using Window = SliceWindowOperator<Input, std::int64_t, SaleSum, SumValue>;
  const auto make = [](FakeOperatorContext& context, Output& out) {
    auto window = std::make_unique<Window>(Input{shop_of}, TumblingWindows::of(10), 0,
                                           SaleSum{amount_of}, SumValue{{amount_of}});
    window->set_context(context);
    window->declare(out);
    return window;
  };
  const auto node = make_simulated_platform({.seed = 1});
  FakeOperatorContext alone({.platform = node.get(), .memory_limit_bytes = GetParam()});
  Output out;
  auto whole = make(alone, out);
  ASSERT_TRUE(whole->open().ok());
  Batch in(type_of<Sale>(), 100);
  for (int i = 0; i < 100; ++i) {
    in.mutable_values<Sale>()[i] = {i, i};
    in.timestamps().push_back(i % 20);
  }
  in.set_size(100);
  ASSERT_EQ(whole->process(in, out), OperatorResult::done);
  const std::string state = *take_snapshot(*whole);
  std::map<std::int64_t, std::int64_t> seen;
  for (int subtask = 0; subtask < 3; ++subtask) {
    FakeOperatorContext context({.subtask = subtask,
                                 .parallelism = 3,
                                 .platform = node.get(),
                                 .memory_limit_bytes = GetParam()});
    Output part_out;
    auto part = make(context, part_out);
    ByteReader reader(state);
    ASSERT_TRUE(part->restore(reader).ok());
    ASSERT_TRUE(part->open().ok());
    ASSERT_EQ(part->end(part_out), OperatorResult::done);
    EXPECT_GT(part_out.batch().size(), 10u);
    for (const SumWindow& one : part_out.batch().values<SumWindow>()) {
      EXPECT_TRUE(seen.emplace(one.key, one.value).second) << one.key << " has two owners";
    }
    ByteReader cut(std::string_view(state).substr(0, state.size() - 1));
    EXPECT_EQ(make(context, part_out)->restore(cut).code(), ErrorCode::corrupt_record);
  }
  EXPECT_EQ(seen.size(), 100u);
}

// The clock that goes on may be behind the one of the machine that saved.
TEST_P(RestoredSlices, OfProcessingTimeGoOnByASlowerClock) {
  using Input = RecordInput<Sale, std::int64_t, ShopOf>;
  using Window = SliceWindowOperator<Input, std::int64_t, SaleSum, SumValue>;
  constexpr std::int64_t ms = 1'000'000;
  const auto node = make_simulated_platform({.seed = 1});
  const FakeOperatorContext::Place place{.platform = node.get(), .memory_limit_bytes = GetParam()};
  Output out;
  const auto make = [&](FakeOperatorContext& context, const std::string* state) {
    auto window =
        std::make_unique<Window>(Input{shop_of}, SlidingWindows::of(100, 50).in_processing_time(),
                                 0, SaleSum{amount_of}, SumValue{{amount_of}});
    window->set_context(context);
    if (state != nullptr) {
      ByteReader reader(*state);
      EXPECT_TRUE(window->restore(reader).ok());
    }
    EXPECT_TRUE(window->open().ok());
    return window;
  };
  const auto sell = [&](Window& window, std::int64_t amount) {
    Batch in(type_of<Sale>(), 1);
    in.mutable_values<Sale>()[0] = {1, amount};
    in.set_size(1);
    ASSERT_EQ(window.process(in, out), OperatorResult::done);
  };
  const auto taken = [&] {
    std::vector<std::pair<Timestamp, std::int64_t>> starts;
    for (const SumWindow& one : out.batch().values<SumWindow>()) {
      starts.emplace_back(one.window.start_ms, one.value);
    }
    out.batch().clear();
    return starts;
  };
  using Starts = decltype(taken());

  FakeOperatorContext first(place);
  first.set_now(10'000 * ms);
  auto saved = make(first, nullptr);
  saved->declare(out);
  sell(*saved, 1);
  first.set_now(10'060 * ms);
  ASSERT_EQ(saved->timer(first.now(), out), OperatorResult::done);
  EXPECT_EQ(taken(), (Starts{{9'950, 1}}));
  const std::string state = *take_snapshot(*saved);

  FakeOperatorContext slower(place);
  slower.set_now(5'000 * ms);
  auto window = make(slower, &state);
  sell(*window, 2);
  EXPECT_EQ(slower.timer(), 5'050 * ms);
  slower.set_now(5'050 * ms);
  ASSERT_EQ(window->timer(slower.now(), out), OperatorResult::done);
  EXPECT_EQ(taken(), (Starts{{4'950, 2}}));
  ASSERT_EQ(window->end(out), OperatorResult::done);
  EXPECT_EQ(taken(), (Starts{{5'000, 2}, {10'000, 1}}));
  EXPECT_EQ(slower.late_records(), 0u);

  FakeOperatorContext quiet(place);
  quiet.set_now(9'000 * ms);
  window = make(quiet, &state);
  while (quiet.timer() && *quiet.timer() <= 10'100 * ms) {
    quiet.set_now(*quiet.timer());
    ASSERT_TRUE(quiet.take_due_timer());
    ASSERT_EQ(window->timer(quiet.now(), out), OperatorResult::done);
  }
  EXPECT_EQ(taken(), (Starts{{10'000, 1}})) << "by itself, once the clock has come so far";
}

// Two subtasks were saved at watermarks 20 and 40, where the second one had fired its windows.
TEST(SliceWindowOperator, RestoredSubtasksThatWereAheadFireNothingTwice) {
  using Input = RecordInput<Sale, std::int64_t, ShopOf>;
  using Window = SliceWindowOperator<Input, std::int64_t, SaleSum, SumValue>;
  std::vector<SumWindow> results;
  const auto call = [&](Output& out, auto&& function) {
    OperatorResult answer = OperatorResult::more;
    while (answer == OperatorResult::more) {
      answer = function();
      for (const SumWindow& one : out.batch().values<SumWindow>()) results.push_back(one);
      out.batch().clear();
    }
    EXPECT_EQ(answer, OperatorResult::done);
  };
  // With the state of earlier subtasks.
  const auto make = [](FakeOperatorContext& context, Output& out,
                       const std::vector<std::string>& states = {}) {
    auto window = std::make_unique<Window>(Input{shop_of}, SlidingWindows::of(40, 10), 0,
                                           SaleSum{amount_of}, SumValue{{amount_of}});
    window->set_context(context);
    window->declare(out);
    for (const std::string& state : states) {
      ByteReader reader(state);
      EXPECT_TRUE(window->restore(reader).ok());
    }
    EXPECT_TRUE(window->open().ok());
    return window;
  };
  const auto sell = [&](Window& window, Output& out, int shop, int first, int last) {
    Batch in(type_of<Sale>(), 100);
    for (int time = first; time < last; time += 5) {
      in.mutable_values<Sale>()[in.size()] = {shop, 1};
      in.timestamps().push_back(time);
      in.set_size(in.size() + 1);
    }
    call(out, [&] { return window.process(in, out); });
  };
  const auto finish = [&](Window& window, Output& out) {
    for (int shop = 0; shop < 2; ++shop) sell(window, out, shop, 40, 90);
    call(out, [&] { return window.watermark(75, out); });
    call(out, [&] { return window.end(out); });
    auto all = std::exchange(results, {});
    std::sort(all.begin(), all.end(), [](const SumWindow& a, const SumWindow& b) {
      return std::tie(a.key, a.window.start_ms, a.value) <
             std::tie(b.key, b.window.start_ms, b.value);
    });
    return all;
  };
  FakeOperatorContext plenty;
  Output out;
  auto whole = make(plenty, out);
  for (int shop = 0; shop < 2; ++shop) sell(*whole, out, shop, 0, 40);
  call(out, [&] { return whole->watermark(40, out); });
  const auto expected = finish(*whole, out);

  const auto node = make_simulated_platform({.seed = 1});
  for (const int round : {0, 1, 2, 3}) {
    const bool ahead_first = round % 2 == 1;
    // With hardly any memory all of it is on disk.
    FakeOperatorContext context(
        {.platform = node.get(), .memory_limit_bytes = static_cast<std::size_t>(round / 2)});
    std::vector<std::string> states;
    for (int shop = 0; shop < 2; ++shop) {
      Output part_out;
      auto part = make(context, part_out);
      sell(*part, part_out, shop, 0, 40);
      call(part_out, [&] { return part->watermark(20 + 20 * shop, part_out); });
      states.push_back(*take_snapshot(*part));
    }
    if (ahead_first) std::swap(states[0], states[1]);
    Output joined_out;
    auto joined = make(context, joined_out, states);
    // Once more before the watermark has caught up.
    Output again_out;
    auto again = make(context, again_out, {*take_snapshot(*joined)});
    const auto got = finish(*again, again_out);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i].key, expected[i].key);
      EXPECT_EQ(got[i].window.start_ms, expected[i].window.start_ms);
      EXPECT_EQ(got[i].value, expected[i].value);
    }
  }
}

TEST(SliceWindowOperator, RestoredAtTheSameParallelismOpensNoWindowAgain) {
  using Input = RecordInput<Sale, std::int64_t, ShopOf>;
  using Window = SliceWindowOperator<Input, std::int64_t, SaleSum, SumValue>;
  const auto factory = make_operator_factory([] {
    return std::make_unique<Window>(Input{shop_of}, TumblingWindows::of(100), 0, SaleSum{amount_of},
                                    SumValue{{amount_of}});
  });
  const auto is_late = [&](Timestamp time, int subtask, int parallelism) {
    RestoredSubtask<Sale> restored(*factory, {1'000, 500}, subtask, parallelism);
    restored.take({1, 1}, time);
    return restored.late() == 1;
  };
  EXPECT_TRUE(is_late(950, 0, 2));
  EXPECT_FALSE(is_late(950, 1, 2));
  EXPECT_FALSE(is_late(950, 0, 1));
  EXPECT_TRUE(is_late(450, 0, 1));
}

}  // namespace
}  // namespace hummer::slice_window_test
