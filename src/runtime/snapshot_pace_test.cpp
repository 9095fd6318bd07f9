// How much of its time a task gives to its snapshot: the pace by itself, and tasks for which each
// record and each step takes some virtual time.
#include "runtime/snapshot_pace.hpp"

#include <gtest/gtest.h>

#include <hummer/detail/connector_context.hpp>

#include "platform/simulation.hpp"
#include "runtime/stream_task.hpp"

namespace hummer::snapshot_pace_test {
namespace {

constexpr Nanoseconds step = microseconds(100);

// Takes steps as soon as they are due until `until`; how many.
int take_steps(SnapshotPace& pace, Nanoseconds& now, Nanoseconds until) {
  int steps = 0;
  for (now = std::max(now, pace.next()); now < until; now = std::max(now, pace.next())) {
    EXPECT_TRUE(pace.due(now));
    pace.stepped(now, now + step);
    now += step;
    ++steps;
  }
  return steps;
}

TEST(SnapshotPace, GivesAQuarterOfTheTimeAtFirst) {
  SnapshotPace pace;
  Nanoseconds now = seconds(5);
  pace.begin(now, false);
  EXPECT_TRUE(pace.due(now));
  pace.stepped(now, now + step);
  EXPECT_FALSE(pace.due(now + 4 * step - 1));
  EXPECT_TRUE(pace.due(now + 4 * step));
  EXPECT_FALSE(pace.hurries());
}

TEST(SnapshotPace, GivesMoreFromHalfOfTheIntervalOnAndAllBehindIt) {
  SnapshotPace pace;
  pace.begin(0, false);
  const Nanoseconds interval = milliseconds(400);
  const Nanoseconds began = interval;
  Nanoseconds now = began;
  pace.begin(now, false);
  const int first_quarter = take_steps(pace, now, began + interval / 4);
  const int second_quarter = take_steps(pace, now, began + interval / 2);
  const int third_quarter = take_steps(pace, now, began + interval / 4 * 3);
  const int last_quarter = take_steps(pace, now, began + interval);
  EXPECT_EQ(first_quarter, 250);
  EXPECT_EQ(second_quarter, 250);
  EXPECT_GT(third_quarter, 300);
  EXPECT_GT(last_quarter, third_quarter + 100);
  EXPECT_LT(last_quarter, 1000);
  take_steps(pace, now, now + step);
  EXPECT_TRUE(pace.hurries());
  EXPECT_EQ(take_steps(pace, now, now + 100 * step), 100);
}

TEST(SnapshotPace, ALongStepPausesNoLongerThanTheInterval) {
  SnapshotPace pace;
  pace.begin(0, false);
  pace.begin(seconds(10), false);
  pace.stepped(seconds(10), seconds(14));
  EXPECT_EQ(pace.next(), seconds(20));
}

TEST(SnapshotPace, HurriesOnceAndForThisSnapshotOnly) {
  SnapshotPace pace;
  pace.begin(0, false);
  pace.stepped(0, step);
  EXPECT_FALSE(pace.due(step));
  pace.hurry();
  EXPECT_TRUE(pace.due(step));
  pace.stepped(step, 2 * step);
  EXPECT_TRUE(pace.due(2 * step));
  pace.begin(seconds(1), true);
  EXPECT_TRUE(pace.hurries());
  pace.begin(seconds(2), false);
  EXPECT_FALSE(pace.hurries());
}

// ---- in a task ----

// One event per call, in order: 'r' a batch of records, 's' a step of the snapshot.
struct Events {
  SimulatedPlatform& platform;
  std::string all = {};
  std::vector<Nanoseconds> steps = {};  // when they began
  bool is_complete = false;

  void pass(Nanoseconds time) { platform.simulation().charge(time, time); }
};

// `records` at a time, each batch a tenth of a step apart; has nothing more, or ends, once the
// snapshot has begun, if it is told so.
class Busy final : public SourceOperator {
 public:
  enum class Then : std::uint8_t { goes_on, pauses, ends };
  Busy(Events& events, std::uint32_t records, Then then)
      : events_(events), records_(records), then_(then) {}
  void declare(Output& out) const override { out.add_port(type_of<int>()); }
  OperatorResult produce(Output& out) override {
    if (has_saved_ && then_ == Then::ends) return OperatorResult::done;
    if (has_saved_ && then_ == Then::pauses) {
      context().wake();
      return OperatorResult::blocked;
    }
    events_.pass(step / 10);
    auto collector = out.collector<int>();
    for (std::uint32_t i = 0; i < records_; ++i) collector(1);
    return OperatorResult::more;
  }
  Status snapshot(ByteWriter&) override {
    has_saved_ = true;
    return {};
  }

 private:
  Events& events_;
  const std::uint32_t records_;
  const Then then_;
  bool has_saved_ = false;
};

class InSteps final : public Operator {
 public:
  InSteps(Events& events, bool hurries) : events_(events), hurries_(hurries) {}
  void declare(Output&) const override {}
  OperatorResult process(Batch& in, Output&) override {
    in.advance_to(in.size());
    events_.all += 'r';
    // There is no room for what comes, and the snapshot holds what could go.
    if (hurries_ && left_ > 0 && left_ < steps / 2) connector_context(context()).hurry_snapshot();
    return OperatorResult::done;
  }
  Status snapshot(ByteWriter&) override {
    events_.all.clear();
    left_ = steps;
    return {};
  }
  OperatorResult snapshot_rest(ByteWriter& out) override {
    if (left_ < steps) {  // the first part goes with the barrier
      events_.all += 's';
      events_.steps.push_back(events_.platform.now());
      events_.pass(step);
    }
    out.put_value(left_);
    return --left_ == 0 ? OperatorResult::done : OperatorResult::more;
  }

  static constexpr int steps = 64;

 private:
  Events& events_;
  const bool hurries_;
  int left_ = 0;
};

// A task of both, which takes one snapshot.
class PacedTask : public testing::Test {
 protected:
  // Always has something to do for the slot.
  void run_another() {
    const StageOptions stage{.name = "other", .batch_records = batch_records};
    other_.chain().add_stage(std::make_unique<Busy>(other_events_, 1, Busy::Then::goes_on), stage);
    other_.chain().add_stage(std::make_unique<InSteps>(other_events_, false), stage);
    executor_->spawn(other_.invoke());
  }
  void run(std::uint32_t records, Busy::Then then, bool hurries = false) {
    const StageOptions stage{.name = "stage", .uid = "stage", .batch_records = batch_records};
    task_.chain().add_stage(std::make_unique<Busy>(events_, records, then), stage);
    task_.chain().add_stage(std::make_unique<InSteps>(events_, hurries), stage);
    task_.enable_snapshots(Guarantee::exactly_once, [this](StreamTask&, TaskSnapshot snapshot) {
      events_.is_complete |= snapshot.epoch == 1 && snapshot.complete;
    });
    executor_->spawn(task_.invoke());
    const auto until = [&](auto predicate) {
      return platform_->run_until(predicate, platform_->now() + seconds(10)) == RunEnd::satisfied;
    };
    ASSERT_TRUE(until([&] { return events_.all.size() > 100; }));
    task_.trigger(1);
    ASSERT_TRUE(until([&] { return events_.is_complete; }));
    ASSERT_EQ(events_.steps.size(), InSteps::steps - 1u);
    task_.cancel();
    ASSERT_TRUE(until([&] { return task_.metrics().state == TaskState::finished; }));
  }
  // From the end of step i to the next one.
  Nanoseconds pause_behind(std::size_t i) const {
    return events_.steps[i + 1] - events_.steps[i] - step;
  }
  void TearDown() override { executor_->stop(); }

  static constexpr std::uint32_t batch_records = 8;
  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({.seed = 1});
  std::unique_ptr<Executor> executor_ = platform_->make_executor({.name = "slot"});
  Events events_{*platform_};
  StreamTask task_{*platform_, "task", "slot"};
  Events other_events_{*platform_};
  StreamTask other_{*platform_, "other", "slot"};
};

TEST_F(PacedTask, WithTimeToSpareTakesAQuarterOfItForSteps) {
  run(batch_records / 2, Busy::Then::goes_on);
  for (std::size_t i = 0; i + 1 < events_.steps.size(); ++i) {
    EXPECT_GE(pause_behind(i), 3 * step) << "behind step " << i;
    EXPECT_LE(pause_behind(i), 4 * step) << "behind step " << i;
  }
}

TEST_F(PacedTask, WithFullBatchesAndNoTimeToSpareTakesManyStepsPerTurn) {
  run(batch_records, Busy::Then::goes_on);
  EXPECT_NE(events_.all.find("ssssssss"), std::string::npos) << events_.all;
  EXPECT_EQ(events_.all.find("sssssssss"), std::string::npos) << "records get their turn";
  for (std::size_t i = 0; i + 1 < events_.steps.size(); ++i) EXPECT_LE(pause_behind(i), step);
}

TEST_F(PacedTask, WithNothingElseToDoGoesOnAtOnce) {
  run(batch_records / 2, Busy::Then::pauses);
  for (std::size_t i = 0; i + 1 < events_.steps.size(); ++i) EXPECT_LT(pause_behind(i), step);
}

TEST_F(PacedTask, LeavesThreeQuartersToTheOthersOfItsSlot) {
  run_another();
  run(batch_records / 2, Busy::Then::pauses);
  for (std::size_t i = 0; i + 1 < events_.steps.size(); ++i) EXPECT_GE(pause_behind(i), 3 * step);
}

TEST_F(PacedTask, WhoseStreamHasEndedGoesOnAtOnce) {
  run_another();
  run(batch_records / 2, Busy::Then::ends);
  for (std::size_t i = 0; i + 1 < events_.steps.size(); ++i) EXPECT_LT(pause_behind(i), step);
}

TEST_F(PacedTask, HurriesWhenAnOperatorWaitsForItsSnapshot) {
  run(batch_records / 2, Busy::Then::goes_on, true);
  const std::size_t half = events_.steps.size() / 2;
  for (std::size_t i = 0; i + 2 < half; ++i) EXPECT_GE(pause_behind(i), 3 * step);
  for (std::size_t i = half + 2; i + 1 < events_.steps.size(); ++i) {
    EXPECT_LE(pause_behind(i), step) << "behind step " << i;
  }
}

}  // namespace
}  // namespace hummer::snapshot_pace_test
