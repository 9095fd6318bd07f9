#include <hummer/detail/operators/keyed_process.hpp>

#include <gtest/gtest.h>

#include <hummer/deduplicate.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/testing/take_snapshot.hpp>
#include <hummer/identity.hpp>
#include <hummer/testing/operator_harness.hpp>
#include <hummer/top_n.hpp>

#include "operators/restored_subtask.hpp"
#include "operators/with_and_without_memory.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::keyed_process_test {
namespace {

struct Reading {
  std::uint32_t sensor;
  int value;
};

template <typename User>
auto keyed_factory(User user, RestoreOptions options = {}) {
  const auto key_of = [](const Reading& reading) { return reading.sensor; };
  using Input = KeyedInput<Reading, decltype(key_of)>;
  using Out = OutputOfKeyed<User>;
  return make_operator_factory([=] {
    return std::make_unique<KeyedProcessOperator<std::uint32_t, Out, User, Input>>(
        user, Input{key_of}, options);
  });
}

using Row = std::pair<std::uint32_t, int>;

// Emits the sum so far, the largest value, how many, the distinct values, all of them.
struct AllKinds {
  ValueState<int> last{"last"};
  ListState<int> values{"values"};
  MapState<int, int> counts{"counts"};
  ReducingState<int, std::plus<>> sum{"sum"};
  AggregatingState<CountAggregate> number{"number"};

  void process(const Reading& reading, KeyedOutput<std::vector<int>>& out) {
    values.add(reading.value);
    counts.update(reading.value, 0, [](int& count) { ++count; });
    number.add(reading);
    const int previous = last.get_or(-1);
    last.set(reading.value);
    std::vector<int> row{previous, sum.add(reading.value), static_cast<int>(*number.result()),
                         static_cast<int>(counts.size()), counts.get_or(reading.value, 0)};
    row.insert(row.end(), values.get().begin(), values.get().end());
    out.emit(row);
    if (reading.value == 0) {
      last.clear();
      values.clear();
      counts.clear();
      sum.clear();
      number.clear();
    }
  }
};

TEST(KeyedProcessOperator, EveryKindOfStateBelongsToItsKey) {
  OperatorHarness<Reading> harness(keyed_factory(AllKinds{}));
  harness.records({{1, 5}, {2, 7}, {1, 3}, {1, 5}, {1, 0}, {1, 9}, {2, 7}});
  harness.output<std::vector<int>>().records({{-1, 5, 1, 1, 1, 5},
                                              {-1, 7, 1, 1, 1, 7},
                                              {5, 8, 2, 2, 1, 5, 3},
                                              {3, 13, 3, 2, 2, 5, 3, 5},
                                              {5, 13, 4, 3, 1, 5, 3, 5, 0},
                                              {-1, 9, 1, 1, 1, 9},
                                              {7, 14, 2, 1, 2, 7, 7}});
  expect_ok_with_and_without_memory(harness);
}

// Puts out (key, time) when a timer fires; sets the ones that the records name.
struct Timers {
  ValueState<int> set{"set"};
  void process(const Reading& reading, KeyedOutput<Row>& out) {
    if (reading.value < 0) return out.delete_event_timer(-reading.value);
    out.set_event_timer(reading.value);
    out.set_event_timer(reading.value);
    set.update(0, [](int& count) { ++count; });
  }
  void on_timer(Timestamp time, KeyedOutput<Row>& out) {
    out.emit(Row(out.key<std::uint32_t>(), static_cast<int>(time)));
    if (set.get_or(0) == 2) out.set_event_timer(time + 5);
    set.clear();
  }
};

TEST(KeyedProcessOperator, TimersFireByTimeThenKeyBeforeTheWatermark) {
  OperatorHarness<Reading> harness(keyed_factory(Timers{}));
  harness.records({{300, 20}, {2, 20}, {7, 10}, {7, 30}, {9, 15}, {9, -15}, {1, 20}, {2, 90}});
  harness.watermark(19).watermark(20).watermark(50);
  harness.output<Row>()
      .record({7, 10})
      .record({7, 15})
      .watermark(19)
      .record({1, 20})
      .record({2, 20})
      .record({300, 20})
      .watermark(20)
      .record({2, 25})
      .record({7, 30})
      .watermark(50)
      .record({2, 90});
  expect_ok_with_and_without_memory(harness);
}

TEST(KeyedProcessOperator, TimersThatAreSetAtTheEndDoNotFire) {
  OperatorHarness<Reading> harness(keyed_factory(Timers{}));
  harness.records({{1, 20}, {1, 30}});
  harness.output<Row>().records({{1, 20}, {1, 30}});
  expect_ok_with_and_without_memory(harness);
}

struct ProcessingTimers {
  void process(const Reading& reading, KeyedOutput<Row>& out) {
    out.set_processing_timer(out.processing_time() / 10 * 10 + reading.value);
  }
  OperatorResult on_processing_timer(Timestamp, KeyedOutput<Row>& out) {
    if (out.full()) return OperatorResult::more;
    out.emit(Row(out.key<std::uint32_t>(), out.time() == no_timestamp));
    return OperatorResult::done;
  }
};

TEST(KeyedProcessOperator, ProcessingTimers) {
  OperatorHarness<Reading> harness(keyed_factory(ProcessingTimers{}));
  // Far apart by the clock, and further than the schedules' pauses reach.
  harness.options().element_nanoseconds = 1'000'000'000;
  harness.records({{3, 900}, {1, 10'000'000}}).idle().idle();
  harness.output<Row>().record({3, 1});
  expect_ok_with_and_without_memory(harness);
}

// Emits on each timer as many records as the key says, resumably.
struct Resumable {
  int emitted = 0;
  void process(const Reading&, KeyedOutput<Row>& out) { out.set_event_timer(10); }
  OperatorResult on_timer(Timestamp, KeyedOutput<Row>& out) {
    for (; emitted < static_cast<int>(out.key<std::uint32_t>()); ++emitted) {
      if (out.full()) return OperatorResult::more;
      out.emit(Row(out.key<std::uint32_t>(), emitted));
    }
    emitted = 0;
    return OperatorResult::done;
  }
};

TEST(KeyedProcessOperator, ATimersHookMayAnswerMore) {
  OperatorHarness<Reading> harness(keyed_factory(Resumable{}));
  harness.records({{3, 0}, {2, 0}}).watermark(10);
  harness.output<Row>().records({{2, 0}, {2, 1}, {3, 0}, {3, 1}, {3, 2}});
  expect_ok_with_and_without_memory(harness);
}

class Listed {
 public:
  explicit Listed(int step) : step_(step) {}
  auto states() { return hummer::states(sum_); }
  void process(const Reading& reading, KeyedOutput<Row>& out) {
    out.emit(Row(reading.sensor, sum_.update(0, [&](int& sum) { sum += step_; })));
  }

 private:
  int step_;
  ValueState<int> sum_{"sum"};
};
struct Base {
  Base() {}
};
struct Unlisted : Base {
  Unlisted() {}
  ValueState<int> sum{"sum"};
  void process(const Reading&, KeyedOutput<Row>&) { sum.set(1); }
};

TEST(KeyedProcessOperator, AClassListsItsStates) {
  OperatorHarness<Reading> harness(keyed_factory(Listed(3)));
  harness.records({{1, 0}, {2, 0}, {1, 0}});
  harness.output<Row>().records({{1, 3}, {2, 3}, {1, 6}});
  expect_ok_with_and_without_memory(harness);
  OperatorHarness<Reading> other(keyed_factory(Unlisted{}));
  other.record({1, 0});
  other.expect_failure("state 'sum' is not known to its operator");
  expect_ok_with_and_without_memory(other);
}

struct TimerWithoutHook {
  void process(const Reading& reading, KeyedOutput<Row>& out) {
    if (reading.value == 0) {
      out.set_processing_timer(10);
    } else {
      out.set_event_timer(10);
    }
  }
  void on_timer(Timestamp time, KeyedOutput<Row>& out) { out.emit({1, static_cast<int>(time)}); }
};

TEST(KeyedProcessOperator, ATimerNeedsItsHook) {
  OperatorHarness<Reading> harness(keyed_factory(TimerWithoutHook{}));
  harness.record({1, 5}).watermark(10);
  harness.output<Row>().records({{1, 10}});
  expect_ok_with_and_without_memory(harness);
  OperatorHarness<Reading> other(keyed_factory(TimerWithoutHook{}));
  other.record({1, 0});
  other.expect_failure("set_processing_timer: the function has no on_processing_timer(");
  expect_ok_with_and_without_memory(other);
}

TEST(KeyedProcessOperator, Deduplicate) {
  OperatorHarness<Reading> harness(keyed_factory(Deduplicate<Reading>(0)));
  harness.records({{1, 5}, {2, 7}, {1, 3}, {3, 1}, {2, 7}});
  harness.output<Reading>().records({{1, 5}, {2, 7}, {3, 1}});
  expect_ok_with_and_without_memory(harness);
}

TEST(KeyedProcessOperator, TopN) {
  OperatorHarness<Reading> harness(
      keyed_factory(TopN<Reading, int Reading::*>(2, &Reading::value, 10)));
  harness.record({1, 5}, 3).record({1, 9}, 8).record({1, 7}, 0).record({2, 1}, 9);
  harness.record({1, 8}, 12).watermark(10).record({1, 100}, 9).record({1, 2}, 11).watermark(25);
  harness.output<Ranked<Reading>>()
      .record({0, 1, {1, 9}}, 9)
      .record({0, 2, {1, 7}}, 9)
      .record({0, 1, {2, 1}}, 9)
      .watermark(10)
      .record({10, 1, {1, 8}}, 19)
      .record({10, 2, {1, 2}}, 19)
      .watermark(25);
  harness.output<Reading>(1).record({1, 100}, 9);
  expect_ok_with_and_without_memory(harness);
}

// Whatever the order that they come in.
TEST(KeyedProcessOperator, TopNOfScoresThatAreNoNumbers) {
  struct Grade {
    int pupil;
    double score;
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double least = -std::numeric_limits<double>::infinity();
  const auto one_key = [](const Grade&) { return 0; };
  using OneKey = decltype(one_key);
  using Best = TopN<Grade, double Grade::*>;
  std::vector<Grade> grades = {{1, nan}, {2, 3.0}, {3, least}, {4, nan}, {5, 1.0}, {6, 2.0}};
  const auto by_pupil = [](const Grade& a, const Grade& b) { return a.pupil < b.pupil; };
  std::uint64_t order = 0;
  do {
    if (order++ % (720 / drawn_cases(720)) != 0) continue;
    OperatorHarness<Grade> harness(make_operator_factory([=] {
      using Input = KeyedInput<Grade, OneKey>;
      return std::make_unique<KeyedProcessOperator<int, Ranked<Grade>, Best, Input>>(
          Best(5, &Grade::score, 10), Input{one_key});
    }));
    harness.options().positions_max = 1;
    for (const Grade& grade : grades) harness.record(grade, 1);
    auto expected = harness.output<Ranked<Grade>>();
    std::uint32_t rank = 0;
    for (const Grade& grade :
         {Grade{2, 3.0}, Grade{6, 2.0}, Grade{5, 1.0}, Grade{3, least}, Grade{1, nan}}) {
      expected.record({0, ++rank, grade}, 9);
    }
    const HarnessReport report = harness.run();
    ASSERT_TRUE(report.ok()) << report.text();
  } while (std::next_permutation(grades.begin(), grades.end(), by_pupil) &&
           std::next_permutation(grades.begin(), grades.end(), by_pupil));
}

// Sources begin again before the watermark of the checkpoint: what has gone out stays so.
TEST(KeyedProcessOperator, ARestoredWatermarkDoesNotGoBack) {
  const auto factory = keyed_factory(TopN<Reading, int Reading::*>(2, &Reading::value, 60));
  FakeOperatorContext context;
  Output out;
  const auto at = [&](Operator& op, std::uint32_t sensor, Timestamp time) {
    Batch in(type_of<Reading>(), 1);
    in.mutable_values<Reading>()[0] = {sensor, 5};
    in.timestamps().push_back(time);
    in.set_size(1);
    ASSERT_EQ(op.process(in, out), OperatorResult::done);
  };
  const auto saved = factory->make();
  saved->set_context(context);
  saved->declare(out);
  ASSERT_TRUE(saved->open().ok());
  at(*saved, 1, 30);
  ASSERT_EQ(saved->watermark(70, out), OperatorResult::done);
  EXPECT_EQ(out.batch().size(), 1u);
  out.batch().clear();
  const std::string state = *take_snapshot(*saved);

  const auto restored = factory->make();
  restored->set_context(context);
  ByteReader reader(state);
  ASSERT_TRUE(restored->restore(reader).ok());
  ASSERT_TRUE(restored->open().ok());
  ASSERT_EQ(restored->watermark(55, out), OperatorResult::done);
  at(*restored, 1, 30);
  ASSERT_EQ(restored->watermark(70, out), OperatorResult::done);
  EXPECT_EQ(out.batch().size(), 0u);
  EXPECT_EQ(context.late_records(), 1u);
}

// Two subtasks that an unaligned checkpoint saved at 1000 and 500: the first had put out the window
// of 950.
TEST(KeyedProcessOperator, AtTheSameParallelismNoWindowOpensAgain) {
  const auto best = keyed_factory(TopN<Reading, int Reading::*>(2, &Reading::value, 100));
  const auto is_late = [&](Timestamp time, int subtask, int parallelism) {
    RestoredSubtask<Reading> restored(*best, {1'000, 500}, subtask, parallelism);
    restored.take({1, 5}, time);
    EXPECT_EQ(restored.given(1), restored.late());
    return restored.late() == 1;
  };
  EXPECT_TRUE(is_late(950, 0, 2));
  EXPECT_FALSE(is_late(1'000, 0, 2));
  EXPECT_FALSE(is_late(950, 1, 2));
  EXPECT_TRUE(is_late(450, 1, 2));
  for (const int parallelism : {1, 3}) {
    for (int subtask = 0; subtask < parallelism; ++subtask) {
      EXPECT_FALSE(is_late(500, subtask, parallelism));
      EXPECT_TRUE(is_late(450, subtask, parallelism));
    }
  }
}

}  // namespace
}  // namespace hummer::keyed_process_test
