#include "checkpoint/attempt_checkpoints.hpp"

#include <gtest/gtest.h>

namespace hummer::attempt_checkpoints_test {
namespace {

using Kind = CheckpointOrder::Kind;
constexpr Nanoseconds ms = 1'000'000;

AttemptCheckpoints::Settings one_task() {
  AttemptCheckpoints::Settings settings;
  settings.options.directory = settings.directory = "/d";
  settings.options.interval_ms = 100;
  settings.options.tolerated_failures = 10;
  settings.tasks = 1;
  return settings;
}

// The one order that is due.
CheckpointOrder due(AttemptCheckpoints& checkpoints, Nanoseconds now) {
  std::vector<CheckpointOrder> orders = checkpoints.advance(now, 0);
  EXPECT_EQ(orders.size(), 1u);
  return orders.empty() ? CheckpointOrder() : std::move(orders.front());
}

void carried_out(AttemptCheckpoints& checkpoints, const CheckpointOrder& order, Nanoseconds now) {
  CheckpointOutcome outcome;
  outcome.order = order;
  checkpoints.carried_out(outcome, now);
}

// It builds on a checkpoint that is not there.
CheckpointFile baseless() { return {.name = "f", .builds_on = 77}; }

TEST(AttemptCheckpoints, OneThatCannotBeCompletedIsDroppedBeforeTheNextBegins) {
  AttemptCheckpoints checkpoints(one_task(), 0);
  const CheckpointOrder first = due(checkpoints, 100 * ms);
  ASSERT_EQ(first.kind, Kind::begin);
  carried_out(checkpoints, first, 100 * ms);
  checkpoints.saved(1, 0, baseless());
  // By now the next one is due too.
  const std::vector<CheckpointOrder> orders = checkpoints.advance(300 * ms, 0);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].kind, Kind::drop);
  EXPECT_EQ(orders[0].checkpoint, 1u);
  EXPECT_EQ(orders[0].path, first.path);
  EXPECT_EQ(orders[1].kind, Kind::begin);
  EXPECT_EQ(orders[1].checkpoint, 2u);
  EXPECT_TRUE(checkpoints.advance(301 * ms, 0).empty());
  carried_out(checkpoints, orders[1], 302 * ms);
  EXPECT_EQ(checkpoints.begun().checkpoint, 2u);
  checkpoints.saved(2, 0, {.name = "f"});
  const CheckpointOrder complete = due(checkpoints, 303 * ms);
  EXPECT_EQ(complete.kind, Kind::complete);
  EXPECT_EQ(complete.path, orders[1].path);
}

TEST(AttemptCheckpoints, ASavepointThatCannotBeCompletedEndsItsOwnRequest) {
  AttemptCheckpoints checkpoints(one_task(), 0);
  checkpoints.request_savepoint({.id = 5, .directory = "/s"});
  const CheckpointOrder savepoint = due(checkpoints, 10 * ms);
  carried_out(checkpoints, savepoint, 10 * ms);
  checkpoints.request_savepoint({.id = 6, .directory = "/s"});
  checkpoints.saved(1, 0, baseless());
  const std::vector<CheckpointOrder> orders = checkpoints.advance(20 * ms, 0);
  const std::vector<SavepointEnd> ends = checkpoints.take_savepoints();
  ASSERT_EQ(ends.size(), 1u);
  EXPECT_EQ(ends.front().id, 5u);
  EXPECT_NE(ends.front().status.message().find(savepoint.path), std::string::npos);
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(orders[0].path, savepoint.path);
  EXPECT_TRUE(orders[1].savepoint) << "the other request";
}

}  // namespace
}  // namespace hummer::attempt_checkpoints_test
