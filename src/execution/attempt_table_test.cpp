#include "execution/attempt_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "support/drawn_cases.hpp"

namespace hummer::attempt_table_test {
namespace {

using Phase = AttemptTable::Phase;
using Verdict = AttemptTable::Verdict;

constexpr AttemptId one{7, 1};
constexpr AttemptId two{7, 2};
constexpr AttemptId other{8, 1};
constexpr std::uint64_t session = 5;

struct Wanted {
  AttemptId id;
  wire::DesiredState desired_state = wire::DESIRED_RUN;
  bool deployed = true;
};

wire::JobManagerState state_of(std::uint64_t sequence, const std::vector<Wanted>& wanted) {
  wire::JobManagerState state;
  state.set_session(session);
  state.set_sequence(sequence);
  for (const Wanted& want : wanted) {
    wire::Assignment& assignment = *state.add_assignments();
    assignment.set_job(want.id.job);
    assignment.set_attempt(want.id.attempt);
    assignment.set_desired_state(want.desired_state);
    if (want.deployed) assignment.mutable_deployment()->set_job_name("job");
  }
  return state;
}

class AttemptTableTest : public testing::Test {
 protected:
  AttemptTableTest() { table_.begin_session(session); }

  AttemptTable::Actions apply(const std::vector<Wanted>& wanted) {
    AttemptTable::Actions actions;
    EXPECT_EQ(table_.apply(state_of(++sequence_, wanted), actions), Verdict::applied);
    return actions;
  }
  std::optional<Phase> phase(const AttemptId& id) const {
    for (const auto& [entry, phase] : table_.entries()) {
      if (entry == id) return phase;
    }
    return std::nullopt;
  }
  static std::vector<AttemptId> started(const AttemptTable::Actions& actions) {
    std::vector<AttemptId> ids;
    for (const auto& start : actions.start) ids.push_back(start.id);
    return ids;
  }

  AttemptTable table_;
  std::uint64_t sequence_ = 0;
};

using Ids = std::vector<AttemptId>;

TEST_F(AttemptTableTest, ADeploymentIsWantedThenStartedOnce) {
  EXPECT_TRUE(apply({{one, wire::DESIRED_RUN, false}}).start.empty());
  EXPECT_EQ(phase(one), Phase::wanted);
  const AttemptTable::Actions actions = apply({{one}});
  ASSERT_EQ(started(actions), Ids{one});
  EXPECT_EQ(actions.start[0].deployment.job_name(), "job");
  EXPECT_FALSE(actions.start[0].stop);
  EXPECT_EQ(apply({{one}}), AttemptTable::Actions());
  EXPECT_EQ(phase(one), Phase::live);
}

TEST_F(AttemptTableTest, TheSameAttemptTwiceInOneStateIsOne) {
  EXPECT_EQ(started(apply({{one}, {one}})), Ids{one});
}

TEST_F(AttemptTableTest, TwoJobsRunAtOnce) {
  EXPECT_EQ(started(apply({{one}, {other}})), (Ids{one, other}));
}

TEST_F(AttemptTableTest, StatesOfOtherSessionsAndOvertakenOnesAreDropped) {
  apply({{one}});
  AttemptTable::Actions actions;
  wire::JobManagerState foreign = state_of(99, {});
  foreign.set_session(session + 1);
  EXPECT_EQ(table_.apply(foreign, actions), Verdict::foreign);
  EXPECT_EQ(table_.apply(state_of(sequence_, {}), actions), Verdict::stale);
  EXPECT_EQ(table_.apply(state_of(0, {}), actions), Verdict::stale);
  EXPECT_EQ(actions, AttemptTable::Actions());
  EXPECT_EQ(phase(one), Phase::live);
}

TEST_F(AttemptTableTest, DesiredStatesGrowAndNeverShrink) {
  apply({{one}});
  EXPECT_EQ(apply({{one, wire::DESIRED_STOP}}).stop, Ids{one});
  EXPECT_EQ(apply({{one, wire::DESIRED_STOP}}), AttemptTable::Actions());
  EXPECT_EQ(apply({{one, wire::DESIRED_CANCEL}}).cancel, Ids{one});
  EXPECT_EQ(apply({{one, wire::DESIRED_CANCEL}}), AttemptTable::Actions());
  EXPECT_EQ(apply({{one, wire::DESIRED_RUN}}), AttemptTable::Actions());
  EXPECT_EQ(phase(one), Phase::live);
}

TEST_F(AttemptTableTest, AStopThatComesWithTheDeploymentIsTheStarts) {
  const AttemptTable::Actions actions = apply({{one, wire::DESIRED_STOP}});
  ASSERT_EQ(started(actions), Ids{one});
  EXPECT_TRUE(actions.start[0].stop);
  EXPECT_TRUE(actions.stop.empty());
}

TEST_F(AttemptTableTest, WhatIsNotNamedIsCancelledAndForgottenWhenItHasEnded) {
  apply({{one}});
  EXPECT_EQ(apply({}).cancel, Ids{one});
  EXPECT_EQ(apply({}), AttemptTable::Actions());
  EXPECT_EQ(phase(one), Phase::live);
  EXPECT_EQ(table_.ended(one).forget, Ids{one});
  EXPECT_TRUE(table_.empty());
}

TEST_F(AttemptTableTest, AnEndIsKeptUntilItIsNotNamedAnyMore) {
  apply({{one}});
  EXPECT_EQ(table_.ended(one), AttemptTable::Actions());
  EXPECT_EQ(apply({{one}}), AttemptTable::Actions());
  EXPECT_EQ(phase(one), Phase::ended);
  EXPECT_EQ(apply({}).forget, Ids{one});
  EXPECT_TRUE(table_.empty());
}

TEST_F(AttemptTableTest, AForgottenAttemptDoesNotComeBackByAnOldState) {
  const wire::JobManagerState old = state_of(sequence_ + 1, {{one}});
  apply({{one}});
  (void)table_.ended(one);
  apply({});
  AttemptTable::Actions actions;
  EXPECT_EQ(table_.apply(old, actions), Verdict::stale);
  EXPECT_TRUE(table_.empty());
}

TEST_F(AttemptTableTest, CancelledBeforeItsDeploymentItEndsWithoutHavingRun) {
  apply({{one, wire::DESIRED_RUN, false}});
  EXPECT_EQ(apply({{one, wire::DESIRED_CANCEL, false}}), AttemptTable::Actions());
  EXPECT_EQ(phase(one), Phase::never_ran);
  EXPECT_EQ(apply({{one, wire::DESIRED_RUN}}), AttemptTable::Actions());
  EXPECT_EQ(phase(one), Phase::never_ran);
  apply({});
  EXPECT_TRUE(table_.empty());
}

TEST_F(AttemptTableTest, TheNextAttemptWaitsForTheEndOfTheOneBefore) {
  apply({{one}});
  const AttemptTable::Actions actions = apply({{two}});
  EXPECT_EQ(actions.cancel, Ids{one});
  EXPECT_TRUE(actions.start.empty());
  EXPECT_EQ(phase(two), Phase::held_back);
  const AttemptTable::Actions after = table_.ended(one);
  EXPECT_EQ(after.forget, Ids{one});
  ASSERT_EQ(started(after), Ids{two});
  EXPECT_EQ(after.start[0].deployment.job_name(), "job");
}

TEST_F(AttemptTableTest, TheEndOfASessionEndsEverything) {
  apply({{one}, {other}, {two, wire::DESIRED_RUN, false}});
  (void)table_.ended(other);
  const AttemptTable::Actions actions = table_.end_session();
  EXPECT_EQ(actions.cancel, Ids{one});
  EXPECT_EQ(actions.forget, Ids{other});
  EXPECT_EQ(actions.leave, Ids{one});
  EXPECT_TRUE(table_.empty());
  AttemptTable::Actions none;
  EXPECT_EQ(table_.apply(state_of(100, {{two}}), none), Verdict::foreign);
  table_.begin_session(session + 1);
  EXPECT_EQ(table_.apply(state_of(100, {{two}}), none), Verdict::foreign);
}

TEST_F(AttemptTableTest, WhatWasLeftOverStandsInNobodysWay) {
  apply({{one}});
  EXPECT_EQ(table_.end_session().leave, Ids{one});
  table_.begin_session(session + 1);
  wire::JobManagerState state = state_of(1, {{one}, {two}});
  state.set_session(session + 1);
  AttemptTable::Actions actions;
  EXPECT_EQ(table_.apply(state, actions), Verdict::applied);
  // Of a JobManager that began anew, the same number is another attempt.
  EXPECT_EQ(started(actions), Ids{one});
}

// Every sequence of a few steps, against what must hold whatever happened.
class Exploration {
 public:
  void explore(int depth) { step(AttemptTable(), {}, 0, depth, true); }
  std::size_t runs() const { return runs_; }

 private:
  struct World {
    std::set<AttemptId> live;
    std::set<AttemptId> ended;
    std::set<AttemptId> cancelled;
    std::set<AttemptId> named;
    bool in_session = false;
  };

  // How one attempt may appear in a state.
  enum class Face { absent, run, run_deployed, stop_deployed, cancel, cancel_deployed };
  static constexpr Face faces[] = {Face::absent,        Face::run,    Face::run_deployed,
                                   Face::stop_deployed, Face::cancel, Face::cancel_deployed};

  static void add(std::vector<Wanted>& wanted, const AttemptId& id, Face face) {
    switch (face) {
      case Face::absent: return;
      case Face::run: wanted.push_back({id, wire::DESIRED_RUN, false}); return;
      case Face::run_deployed: wanted.push_back({id, wire::DESIRED_RUN, true}); return;
      case Face::stop_deployed: wanted.push_back({id, wire::DESIRED_STOP, true}); return;
      case Face::cancel: wanted.push_back({id, wire::DESIRED_CANCEL, false}); return;
      case Face::cancel_deployed: wanted.push_back({id, wire::DESIRED_CANCEL, true}); return;
    }
  }

  void check(const AttemptTable& table, World& world, const AttemptTable::Actions& actions) {
    for (const AttemptId& id : actions.stop) ASSERT_TRUE(world.live.contains(id));
    for (const AttemptId& id : actions.cancel) {
      ASSERT_TRUE(world.live.contains(id));
      ASSERT_TRUE(world.cancelled.insert(id).second) << "cancelled twice";
    }
    for (const AttemptId& id : actions.forget) {
      ASSERT_EQ(world.ended.erase(id), 1u) << "forgotten before its end";
      world.cancelled.erase(id);
    }
    for (const AttemptTable::Start& start : actions.start) {
      ASSERT_TRUE(world.in_session);
      for (const AttemptId& id : world.live) {
        ASSERT_NE(id.job, start.id.job) << "two attempts of one job";
      }
      ASSERT_FALSE(world.ended.contains(start.id)) << "an attempt that has ended came back";
      ASSERT_TRUE(world.named.contains(start.id));
      world.live.insert(start.id);
    }
    std::set<AttemptId> held;
    for (const auto& [id, phase] : table.entries()) {
      held.insert(id);
      ASSERT_EQ(phase == Phase::live, world.live.contains(id));
      ASSERT_EQ(phase == Phase::ended, world.ended.contains(id));
      if (!world.named.contains(id)) {
        ASSERT_EQ(phase, Phase::live) << "held though it is not named";
        ASSERT_TRUE(world.cancelled.contains(id));
      }
    }
    for (const AttemptId& id : world.named) ASSERT_TRUE(held.contains(id));
    for (const AttemptId& id : world.live) ASSERT_TRUE(held.contains(id));
  }

  void step(const AttemptTable& table, const World& world, std::uint64_t sequence, int depth,
            bool fresh) {
    ++runs_;
    if (depth == 0 || testing::Test::HasFatalFailure()) return;
    if (fresh) {
      AttemptTable next = table;
      World after = world;
      next.begin_session(session);
      after.in_session = true;
      step(next, after, 0, depth, false);
      return;
    }
    for (const Face first : faces) {
      for (const Face second : faces) {
        std::vector<Wanted> wanted;
        add(wanted, one, first);
        add(wanted, two, second);
        AttemptTable next = table;
        World after = world;
        if (world.in_session) {
          after.named.clear();
          for (const Wanted& want : wanted) after.named.insert(want.id);
        }
        AttemptTable::Actions actions;
        const Verdict verdict = next.apply(state_of(sequence + 1, wanted), actions);
        ASSERT_EQ(verdict == Verdict::applied, world.in_session);
        check(next, after, actions);
        step(next, after, sequence + 1, depth - 1, false);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
    for (const AttemptId& id : world.live) {
      AttemptTable next = table;
      World after = world;
      after.live.erase(id);
      after.ended.insert(id);
      const AttemptTable::Actions actions = next.ended(id);
      check(next, after, actions);
      step(next, after, sequence, depth - 1, false);
    }
    if (world.in_session) {
      AttemptTable next = table;
      const AttemptTable::Actions actions = next.end_session();
      const std::set<AttemptId> left(actions.leave.begin(), actions.leave.end());
      ASSERT_EQ(left, world.live);
      std::set<AttemptId> cancelled = world.cancelled;
      for (const AttemptId& id : actions.cancel) ASSERT_TRUE(cancelled.insert(id).second);
      for (const AttemptId& id : left) ASSERT_TRUE(cancelled.contains(id));
      ASSERT_TRUE(next.empty());
      step(next, World(), 0, depth - 1, true);
    }
  }

  std::size_t runs_ = 0;
};

TEST(AttemptTableExploration, NoSequenceOfStatesAndEndsBreaksTheRules) {
  Exploration exploration;
  exploration.explore(under_sanitizers ? 3 : 4);
  EXPECT_GT(exploration.runs(), under_sanitizers ? 1'000u : 100'000u);
}

}  // namespace
}  // namespace hummer::attempt_table_test
