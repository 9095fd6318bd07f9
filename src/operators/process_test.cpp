#include <hummer/detail/operators/process.hpp>

#include <gtest/gtest.h>

#include <deque>
#include <stdexcept>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "operators/restored_subtask.hpp"

namespace hummer::process_test {
namespace {

constexpr SideOutput<int> late_tag{"late"};
constexpr SideOutput<std::string_view> note_tag{"note"};

template <typename In, typename Out, typename User, typename... Sides>
auto process_factory(User user, Sides... sides) {
  return make_operator_factory([user, sides...] {
    return std::make_unique<ProcessOperator<Out, User, In>>(user, sides...);
  });
}

// Sends late records aside.
struct SplitLate {
  SideOutputPorts side_outputs() const { return hummer::side_outputs(late_tag, note_tag); }
  void process(const int& value, ProcessOutput<int>& out) {
    if (out.time() < out.watermark()) {
      out.side(late_tag, value);
      out.side(note_tag, "late: " + std::to_string(value));
    } else {
      out.emit(value * 2);
    }
  }
};

TEST(ProcessOperator, SideOutputsByTag) {
  OperatorHarness<int> harness(process_factory<int, int>(SplitLate{}));
  harness.record(1, 10).record(2, 20).watermark(15).record(3, 12).record(4, 15).record(5, 14);
  harness.output<int>(0).record(2, 10).record(4, 20).watermark(15).record(8, 15);
  harness.output<int>(1).watermark(15).record(3, 12).record(5, 14);
  harness.output<std::string_view>(2).records({"late: 3", "late: 5"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Adds what the second input said last; at the end of both says so.
struct AddLast {
  int last = 0;
  void process_first(const int& value, ProcessOutput<int>& out) { out.emit(value + last); }
  void process_second(std::string_view text, ProcessOutput<int>& out) {
    if (text.empty()) return out.side(note_tag, "nothing");
    last = static_cast<int>(text.size());
  }
  SideOutputPorts side_outputs() const { return hummer::side_outputs(note_tag); }
  void end(ProcessOutput<int>& out) { out.emit(-last); }
  void snapshot(ByteWriter& out) { out.put_value(last); }
  Status restore(ByteReader& in) { return in.get_value(last) ? Status() : corrupt(); }
  static Status corrupt() { return {ErrorCode::corrupt_record, "cut short"}; }
};

TEST(ProcessOperator, TwoInputsEachHaveTheirHook) {
  TwoInputHarness<int, std::string_view> harness(make_operator_factory([] {
    return std::make_unique<ProcessOperator<int, AddLast, int, std::string_view>>(AddLast());
  }));
  harness.first(1, 5).second("abc", 6).first(2, 7).watermark(5).second("", 8).first(3, 9);
  harness.output<int>(0).record(1, 5).record(5, 7).watermark(5).record(6, 9).record(-3);
  harness.output<std::string_view>(1).watermark(5).record("nothing", 8);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(ProcessOperator, PortsOfTags) {
  const SideOutputPorts ports = side_outputs(late_tag, note_tag);
  EXPECT_EQ(side_output_port(ports, "late", type_of<int>()), 1u);
  EXPECT_EQ(side_output_port(ports, std::string("note"), type_of<std::string_view>()), 2u);
  EXPECT_EQ(side_output_port(ports, "late", type_of<long>()), 0u) << "another type";
  EXPECT_EQ(side_output_port(ports, "later", type_of<int>()), 0u);
}

TEST(ProcessOperator, AnUnlistedTagFails) {
  auto factory = process_factory<int, int>(
      [](int value, ProcessOutput<int>& out) { out.side(late_tag, value); });
  OperatorHarness<int> harness(factory);
  harness.record(1);
  harness.expect_failure("side output 'late'");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(ProcessOperator, ALambdaWithListedTags) {
  auto factory = process_factory<int, int>(
      [](int value, ProcessOutput<int>& out) {
        if (value < 0) return out.side(late_tag, -value);
        out(value);
        out.emit(value + 1, 50);
      },
      side_outputs(late_tag));
  OperatorHarness<int> harness(factory);
  harness.records({1, -2, 3});
  harness.output<int>().record(1).record(2, 50).record(3).record(4, 50);
  harness.output<int>(1).records({2});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Holds records back until the watermark has passed them; all hooks resumable.
struct HoldBack {
  using Held = std::pair<Timestamp, int>;
  void open(OperatorContext& place) { parallelism = place.parallelism(); }
  void process(const int& value, ProcessOutput<int>& out) { held.push_back({out.time(), value}); }
  OperatorResult watermark(Timestamp time, ProcessOutput<int>& out) {
    while (!held.empty() && held.front().first <= time) {
      if (out.full()) return OperatorResult::more;
      out.emit(held.front().second, held.front().first);
      held.pop_front();
    }
    return OperatorResult::done;
  }
  OperatorResult end(ProcessOutput<int>& out) { return watermark(end_of_time, out); }
  void snapshot(ByteWriter& out) {
    out.put_value(static_cast<std::uint32_t>(held.size()));
    for (const auto& entry : held) Codec<Held>::encode(entry, out);
  }
  Status restore(ByteReader& in) {
    std::uint32_t count = 0;
    if (!in.get_value(count)) return {ErrorCode::corrupt_record, "cut short"};
    for (std::uint32_t i = 0; i < count; ++i) {
      Held entry;
      if (!Codec<Held>::decode(in, entry)) return {ErrorCode::corrupt_record, "cut short"};
      held.push_back(entry);
    }
    return {};
  }
  int parallelism = 0;
  std::deque<Held> held;
};

TEST(ProcessOperator, HooksGoOnWhereTheOutputWasFull) {
  OperatorHarness<int> harness(process_factory<int, int>(HoldBack{}));
  harness.record(1, 10).record(2, 11).record(3, 12).record(4, 20).watermark(12);
  harness.record(5, 21).idle().watermark(15).record(6, 30);
  auto expected = harness.output<int>();
  expected.record(1, 10).record(2, 11).record(3, 12).watermark(12).watermark(15);
  expected.record(4, 20).record(5, 21).record(6, 30);
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// A hook that answers nothing puts everything out at once.
struct SumAtEnd {
  void process(int value, ProcessOutput<int>&) { sum += value; }
  void end(ProcessOutput<int>& out) {
    out(sum);
    out(-sum);
  }
  void snapshot(ByteWriter& out) { out.put_value(sum); }
  void restore(ByteReader& in) {
    int other = 0;
    (void)in.get_value(other);
    sum += other;
  }
  int sum = 0;
};

TEST(ProcessOperator, ResultsAtTheEnd) {
  OperatorHarness<int> harness(process_factory<int, int>(SumAtEnd{}));
  harness.options().control_expansion_max = 2;
  harness.records({1, 2, 3});
  harness.output<int>().records({6, -6});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(ProcessOperator, AThrownExceptionNamesTheRecord) {
  OperatorHarness<int> harness(process_factory<int, int>([](int value, ProcessOutput<int>& out) {
    if (value == 13) throw std::runtime_error("unlucky");
    out(value);
  }));
  harness.records({1, 2, 13, 4});
  harness.output<int>().records({1, 2});
  harness.expect_failure("record 2: unlucky");
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// Whether a record of that time is late, restored from subtasks that stood at these watermarks.
bool is_late(Timestamp time, const std::vector<Timestamp>& watermarks, int subtask,
             int parallelism) {
  RestoredSubtask<int> restored(*process_factory<int, int>(SplitLate{}), watermarks, subtask,
                                parallelism);
  EXPECT_TRUE(restored.op().takes_all_pieces());
  restored.take(1, time);
  return restored.given(1) == 1;
}

TEST(ProcessOperator, AtTheSameParallelismGoesOnWithItsOwnWatermark) {
  EXPECT_TRUE(is_late(950, {1'000, 500}, 0, 2));
  EXPECT_FALSE(is_late(950, {1'000, 500}, 1, 2));
  EXPECT_TRUE(is_late(450, {1'000, 500}, 1, 2));
}

TEST(ProcessOperator, AtAnotherParallelismGoesOnWithTheLeastWatermarkOfAll) {
  for (const int parallelism : {1, 3}) {
    for (int subtask = 0; subtask < parallelism; ++subtask) {
      EXPECT_FALSE(is_late(500, {1'000, 500}, subtask, parallelism));
      EXPECT_TRUE(is_late(499, {1'000, 500}, subtask, parallelism));
      // One that had seen none.
      EXPECT_FALSE(is_late(-1'000, {1'000, no_timestamp}, subtask, parallelism));
      EXPECT_FALSE(is_late(-1'000, {no_timestamp, 1'000}, subtask, parallelism));
    }
  }
}

// A subtask's watermark may come again from before it was restored, when what makes it was restored
// at another parallelism.
TEST(ProcessOperator, AWatermarkNeverFallsBack) {
  RestoredSubtask<int> restored(*process_factory<int, int>(SplitLate{}),
                                std::vector<Timestamp>{1'000}, 0, 1);
  EXPECT_EQ(restored.op().watermark(500, restored.out()), OperatorResult::done);
  restored.take(1, 950);
  EXPECT_EQ(restored.given(1), 1u);
}

// What the function itself has saved is dealt out.
TEST(ProcessOperator, EachPieceOfTheFunctionFallsToOneSubtask) {
  const auto factory = process_factory<int, int>(SumAtEnd{});
  std::vector<std::string> pieces;
  for (int subtask = 0; subtask < 3; ++subtask) {
    RestoredSubtask<int> old(*factory, std::vector<std::string>(), subtask, 3);
    old.take(subtask + 1, 5);
    pieces.push_back(*take_snapshot(old.op()));
  }
  struct Case {
    int parallelism;
    std::vector<int> sums;
  };
  for (const Case& each : {Case{3, {1, 2, 3}}, Case{2, {4, 2}}, Case{4, {1, 2, 3, 0}}}) {
    for (int subtask = 0; subtask < each.parallelism; ++subtask) {
      RestoredSubtask<int> restored(*factory, pieces, subtask, each.parallelism);
      EXPECT_EQ(restored.op().end(restored.out()), OperatorResult::done);
      EXPECT_EQ(restored.out().batch().values<int>()[0],
                each.sums[static_cast<std::size_t>(subtask)]);
    }
  }
}

}  // namespace
}  // namespace hummer::process_test
