// Keyed state over time and over restarts: time to live, restore at another
// parallelism, connected streams with broadcast state.
#include <gtest/gtest.h>

#include <map>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/identity.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "operators/keyed_bench.hpp"
#include "platform/simulation.hpp"

namespace hummer::keyed_state_test {
namespace {

struct WithTtl {
  ValueState<int> written{"written", {.ttl_ms = 10}};
  ValueState<int> read{"read", {.ttl_ms = 10, .ttl_update = TtlUpdate::on_read_and_write}};
  ListState<int> list{"list", {.ttl_ms = 10}};
  MapState<int, int> map{"map", {.ttl_ms = 10}};

  void process(std::string_view word, KeyedOutput<std::vector<int>>& out) {
    const int number = static_cast<int>(word.size());
    if (number > 1) {
      if (!written.has_value()) written.set(number);
      if (!read.has_value()) read.set(number);
      list.add(number);
      map.put(number, 1);
    }
    out.emit(std::vector<int>{written.get_or(0), read.get_or(0), static_cast<int>(list.size()),
                              static_cast<int>(map.size())});
  }
};

TEST(KeyedState, TimeToLive) {
  using Row = std::vector<int>;
  WordBench<WithTtl, Row> bench({}, WithTtl{}, Word{key_of_word});
  ASSERT_TRUE(bench.op.open().ok());
  bench.process<std::string_view>({"ab"});
  bench.context.advance(6'000'000);
  bench.process<std::string_view>({"abc", "a"});
  bench.context.advance(4'000'000);
  bench.process<std::string_view>({"a"});
  bench.context.advance(5'000'000);
  bench.process<std::string_view>({"a"});
  bench.context.advance(9'000'000);
  bench.process<std::string_view>({"a"});
  bench.context.advance(10'000'000);
  bench.process<std::string_view>({"a"});
  EXPECT_EQ(bench.take<Row>(), (std::vector<Row>{{2, 2, 1, 1},
                                                 {2, 2, 2, 2},
                                                 {2, 2, 2, 2},
                                                 {0, 2, 1, 1},  // the first writes have gone
                                                 {0, 2, 1, 1},
                                                 {0, 2, 0, 0},
                                                 {0, 0, 0, 0}}));
}

TEST(KeyedState, ExpiredValuesAreRemovedInTheBackground) {
  WordBench<WithTtl, std::vector<int>> bench({}, WithTtl{}, Word{key_of_word});
  ASSERT_TRUE(bench.op.open().ok());
  const std::size_t empty = bench.snapshot().size();
  bench.process<std::string_view>({"ab", "bb", "cb"});
  EXPECT_GT(bench.snapshot().size(), empty);
  bench.pass(25);
  EXPECT_EQ(bench.snapshot().size(), empty);
}

// A sum per word, and a timer at 100.
struct Sums {
  ValueState<std::int64_t> sum{"sum"};
  void process(std::string_view, KeyedOutput<std::string>& out) {
    sum.update(0, [](std::int64_t& value) { ++value; });
    out.set_event_timer(100);
  }
  void on_timer(Timestamp, KeyedOutput<std::string>& out) {
    out.emit(std::string(out.key<std::string_view>()) + std::to_string(sum.get_or(0)));
    sum.clear();
  }
};
constexpr auto whole_word = [](std::string_view word) { return word; };
using Whole = KeyedInput<std::string_view, decltype(whole_word)>;
using SumsOperator = KeyedProcessOperator<std::string_view, std::string, Sums, Whole>;

TEST(KeyedState, RestoreAtAnotherParallelismSplitsAndMergesPieces) {
  std::vector<std::string> words;
  for (int i = 0; i < 200; ++i) words.push_back("w" + std::to_string(1000 + i));
  std::vector<std::string> pieces;
  std::vector<std::string> seen;
  for (const int parallelism : {1, 4, 3, 1, 2}) {
    std::vector<std::string> next_pieces;
    seen.clear();
    for (int subtask = 0; subtask < parallelism; ++subtask) {
      Bench<SumsOperator> bench({.subtask = subtask, .parallelism = parallelism}, Sums{},
                                Whole{whole_word});
      for (const std::string& piece : pieces) {
        const Status status = bench.restore(piece);
        ASSERT_TRUE(status.ok()) << status.to_string();
      }
      ASSERT_TRUE(bench.op.open().ok());
      std::vector<std::string_view> own;
      for (const std::string& word : words) {
        if (bench.context.owns_key(std::string_view(word))) own.push_back(word);
      }
      bench.process<std::string_view>(own);
      next_pieces.push_back(bench.snapshot());
      ASSERT_EQ(bench.op.watermark(100, bench.out), OperatorResult::done);
      const auto out = bench.take<std::string>();
      EXPECT_TRUE(std::is_sorted(out.begin(), out.end())) << "timers of one time go by key";
      seen.insert(seen.end(), out.begin(), out.end());
    }
    pieces = next_pieces;
  }
  std::vector<std::string> expected;
  for (const std::string& word : words) expected.push_back(word + "5");
  std::sort(expected.begin(), expected.end());
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(seen, expected);
}

struct OtherType {
  ValueState<double> sum{"sum"};
  void process(std::string_view, KeyedOutput<std::string>&) {}
};
struct Renamed {
  ValueState<std::int64_t> total{"total"};
  void process(std::string_view, KeyedOutput<std::string>&) {}
};
struct TwoOfOneName {
  ValueState<int> a{"same"};
  ValueState<int> b{"same"};
  void process(std::string_view, KeyedOutput<std::string>&) {}
};

TEST(KeyedState, ARestoreThatWouldLoseStateIsRefusedByName) {
  Bench<SumsOperator> old({}, Sums{}, Whole{whole_word});
  ASSERT_TRUE(old.op.open().ok());
  old.process<std::string_view>({"a", "b"});
  const std::string piece = old.snapshot();

  WordBench<OtherType, std::string> changed({}, OtherType{}, Word{key_of_word});
  EXPECT_EQ(changed.restore(piece).message(),
            "state 'sum' is value<i64> in the snapshot and value<f64> in the job");
  WordBench<Renamed, std::string> renamed({}, Renamed{}, Word{key_of_word});
  EXPECT_NE(renamed.restore(piece).message().find("'sum', which the function does not declare"),
            std::string::npos);
  WordBench<Renamed, std::string> allowed({}, Renamed{}, Word{key_of_word},
                                          RestoreOptions{.allow_dropped_state = true});
  EXPECT_TRUE(allowed.restore(piece).ok());
  WordBench<TwoOfOneName, std::string> doubled({}, TwoOfOneName{}, Word{key_of_word});
  EXPECT_NE(doubled.op.open().message().find("two states are named 'same'"), std::string::npos);
  for (std::size_t length = 0; length < piece.size(); ++length) {
    Bench<SumsOperator> cut({}, Sums{}, Whole{whole_word});
    ByteReader in(std::string_view(piece).substr(0, length));
    EXPECT_FALSE(cut.op.restore(in).ok()) << "of " << length << " bytes";
  }
}

// Functions with one state, and hooks for timers of some kinds.
struct NoHook {
  ValueState<int> seen{"seen"};
  void process(std::string_view word, KeyedOutput<std::string>&) {
    seen.set(static_cast<int>(word.size()));
  }
};
struct EventHook {
  ValueState<int> seen{"seen"};
  void process(std::string_view, KeyedOutput<std::string>& out) { out.set_event_timer(1'000); }
  void on_timer(Timestamp time, KeyedOutput<std::string>& out) { out.emit(std::to_string(time)); }
};
struct ProcessingHook {
  ValueState<int> seen{"seen"};
  void process(std::string_view, KeyedOutput<std::string>& out) { out.set_processing_timer(2'000); }
  void on_processing_timer(Timestamp time, KeyedOutput<std::string>& out) {
    out.emit(std::to_string(time));
  }
};
struct BothHooks {
  ValueState<int> seen{"seen"};
  void process(std::string_view word, KeyedOutput<std::string>& out) {
    seen.set(1);
    out.set_event_timer(1'000);
    if (word.size() > 1) out.set_processing_timer(2'000);
  }
  void on_timer(Timestamp time, KeyedOutput<std::string>& out) { out.emit(std::to_string(time)); }
  void on_processing_timer(Timestamp time, KeyedOutput<std::string>& out) {
    out.emit(std::to_string(time));
  }
};

TEST(KeyedState, ARestoreThatWouldLoseTimersIsRefusedByName) {
  const auto saved = [](auto user, std::string_view word) {
    WordBench<decltype(user), std::string> bench({}, user, Word{key_of_word});
    EXPECT_TRUE(bench.op.open().ok());
    bench.template process<std::string_view>({word});
    return bench.snapshot();
  };
  const auto refusal = [](auto user, const std::string& piece) {
    WordBench<decltype(user), std::string> bench({}, user, Word{key_of_word});
    return bench.restore(piece).message();
  };
  const std::string no_on_timer =
      "the snapshot holds event timers, and the function has no on_timer(Timestamp, "
      "KeyedOutput<Out>&) that they could call: they would be lost. Declare it, or set "
      "allow_dropped_state";
  const std::string no_on_processing_timer =
      "the snapshot holds processing timers, and the function has no "
      "on_processing_timer(Timestamp, KeyedOutput<Out>&) that they could call: they would be lost. "
      "Declare it, or set allow_dropped_state";
  const std::string event = saved(EventHook{}, "a");
  const std::string processing = saved(ProcessingHook{}, "a");
  const std::string both = saved(BothHooks{}, "aa");
  EXPECT_EQ(refusal(NoHook{}, event), no_on_timer);
  EXPECT_EQ(refusal(NoHook{}, processing), no_on_processing_timer);
  EXPECT_EQ(refusal(EventHook{}, processing), no_on_processing_timer);
  EXPECT_EQ(refusal(EventHook{}, both), no_on_processing_timer);
  EXPECT_EQ(refusal(ProcessingHook{}, both), no_on_timer);
  // A hook is needed for the timers that there are, not for those that there might have been.
  EXPECT_EQ(refusal(EventHook{}, saved(BothHooks{}, "a")), "");
  EXPECT_EQ(refusal(BothHooks{}, event), "");
  EXPECT_EQ(refusal(BothHooks{}, processing), "");
}

// Those that have a hook stay, and the state.
TEST(KeyedState, TimersWithoutAHookMayBeDropped) {
  WordBench<BothHooks, std::string> old({}, BothHooks{}, Word{key_of_word});
  ASSERT_TRUE(old.op.open().ok());
  old.process<std::string_view>({"a", "bb"});
  const RestoreOptions allowed{.allow_dropped_state = true};
  WordBench<EventHook, std::string> next({}, EventHook{}, Word{key_of_word}, allowed);
  ASSERT_TRUE(next.restore(old.snapshot()).ok());
  ASSERT_TRUE(next.op.open().ok());
  next.pass(3'000);
  EXPECT_TRUE(next.take<std::string>().empty());
  ASSERT_EQ(next.op.watermark(1'000, next.out), OperatorResult::done);
  EXPECT_EQ(next.take<std::string>(), (std::vector<std::string>{"1000", "1000"}));

  // The key whose last timer goes has nothing left.
  WordBench<ProcessingHook, std::string> timer_only({}, ProcessingHook{}, Word{key_of_word});
  ASSERT_TRUE(timer_only.op.open().ok());
  timer_only.process<std::string_view>({"a"});
  WordBench<EventHook, std::string> empty({}, EventHook{}, Word{key_of_word}, allowed);
  ASSERT_TRUE(empty.restore(timer_only.snapshot()).ok());
  ASSERT_TRUE(empty.op.open().ok());
  WordBench<EventHook, std::string> unused({}, EventHook{}, Word{key_of_word});
  ASSERT_TRUE(unused.op.open().ok());
  EXPECT_EQ(empty.snapshot(), unused.snapshot());
}

// Two keyed inputs with common state.
struct Match {
  ValueState<int> waiting{"waiting"};
  void process_first(const int& value, KeyedOutput<int>& out) {
    waiting.set(value);
    out.set_event_timer(out.time() + 10);
  }
  void process_second(std::string_view text, KeyedOutput<int>& out) {
    out.emit(waiting.get_or(0) + static_cast<int>(text.size()));
    waiting.clear();
  }
  void on_timer(Timestamp, KeyedOutput<int>& out) {
    if (waiting.has_value()) out.emit(-waiting.get_or(0));
  }
};

TEST(KeyedState, ConnectedStreamsShareStateAndTimers) {
  const auto key_of_int = [](const int& value) { return value % 10; };
  const auto key_of_text = [](std::string_view text) { return static_cast<int>(text[0] - '0'); };
  using First = KeyedInput<int, decltype(key_of_int)>;
  using Second = KeyedInput<std::string_view, decltype(key_of_text)>;
  TwoInputHarness<int, std::string_view> harness(make_operator_factory([=] {
    return std::make_unique<KeyedProcessOperator<int, int, Match, First, Second>>(
        Match{}, First{key_of_int}, Second{key_of_text});
  }));
  harness.first(101, 5).first(102, 6).second("1xx", 7).second("3", 8).watermark(20);
  harness.first(103, 21).second("2", 22);
  harness.output<int>().record(104).record(1).record(-102).watermark(20).record(103).record(-103);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// A limit for each key, by broadcast.
struct Limits {
  BroadcastState<int, int> limits{"limits"};
  ValueState<int> count{"count"};
  void process(const int& value, KeyedOutput<int>& out) {
    const int so_far = count.update(0, [](int& n) { ++n; });
    const int* const limit = limits.find(value);
    if (limit != nullptr && so_far > *limit) out.emit(value);
  }
  void process_broadcast(const std::pair<int, int>& rule, BroadcastOutput<int>& out) {
    out.state(limits).put(rule.first, rule.second);
    if (rule.second == 0) out.emit(-static_cast<int>(limits.size()));
  }
};
using LimitsOperator = KeyedProcessOperator<int, int, Limits, KeyedInput<int, Identity>,
                                            BroadcastInput<std::pair<int, int>>>;

TEST(KeyedState, BroadcastStateIsReadByTheKeyedSide) {
  TwoInputHarness<int, std::pair<int, int>> harness(make_operator_factory([] {
    return std::make_unique<LimitsOperator>(Limits{}, KeyedInput<int, Identity>{},
                                            BroadcastInput<std::pair<int, int>>{});
  }));
  harness.first(7).second({7, 1}).first(7).first(8).second({8, 0}).first(8).first(7);
  harness.output<int>().records({7, -2, 8, 7});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(KeyedState, BroadcastStateIsCountedAndHasALimit) {
  const auto node = make_simulated_platform({.seed = 1});
  Bench<LimitsOperator> bench(
      {.name = "rules", .platform = node.get(), .memory_limit_bytes = std::size_t{1} << 20},
      Limits{}, KeyedInput<int, Identity>{}, BroadcastInput<std::pair<int, int>>{});
  ASSERT_TRUE(bench.op.open().ok());
  std::vector<std::pair<int, int>> rules;
  for (int i = 0; i < 5000; ++i) rules.emplace_back(i, 1);
  bench.process(rules, 1);
  const std::size_t used = bench.context.memory()->used_bytes();
  EXPECT_GT(used, 250'000u);
  bench.process(rules, 1);  // in place of the same
  EXPECT_EQ(bench.context.memory()->used_bytes(), used);
  for (int i = 5000; i < 50'000; ++i) rules.emplace_back(i, 1);
  Batch in(type_of<std::pair<int, int>>(), static_cast<std::uint32_t>(rules.size()));
  {
    Collector<std::pair<int, int>> collector(in, static_cast<std::uint32_t>(rules.size()));
    for (const auto& rule : rules) collector(rule);
  }
  EXPECT_EQ(bench.op.process_input(1, in, bench.out), OperatorResult::failed);
  EXPECT_EQ(bench.context.failure().code(), ErrorCode::limit_exceeded);
  EXPECT_NE(bench.context.failure().message().find("'rules: broadcast state' holds"),
            std::string::npos)
      << bench.context.failure().message();
}

TEST(KeyedState, BroadcastStateIsTheSameAfterARestoreAtAnyParallelism) {
  std::vector<std::string> pieces;
  for (const int parallelism : {2, 1, 3}) {
    std::vector<std::string> next_pieces;
    for (int subtask = 0; subtask < parallelism; ++subtask) {
      Bench<LimitsOperator> bench({.subtask = subtask, .parallelism = parallelism}, Limits{},
                                  KeyedInput<int, Identity>{},
                                  BroadcastInput<std::pair<int, int>>{});
      for (const std::string& piece : pieces) ASSERT_TRUE(bench.restore(piece).ok());
      ASSERT_TRUE(bench.op.open().ok());
      bench.process<std::pair<int, int>>({{parallelism, 5}, {100 + parallelism, 0}}, 1);
      const int expected = parallelism == 2 ? -2 : parallelism == 1 ? -4 : -6;
      EXPECT_EQ(bench.take<int>(), (std::vector<int>{expected}));
      next_pieces.push_back(bench.snapshot());
    }
    pieces = next_pieces;
  }
}

}  // namespace
}  // namespace hummer::keyed_state_test
