#include <gtest/gtest.h>

#include "checkpoint/checkpoint_order.hpp"
#include "platform/simulation.hpp"

namespace hummer::checkpoint_order_test {
namespace {

using Kind = CheckpointOrder::Kind;

CheckpointOrder order_of(Kind kind, std::uint64_t checkpoint = 0) {
  CheckpointOrder order;
  order.kind = kind;
  order.directory = "/checkpoints";
  order.retained = 3;
  if (checkpoint == 0) return order;
  order.checkpoint = checkpoint;
  order.path = CheckpointStore::path_in(order.directory, checkpoint);
  order.metadata.id = checkpoint;
  return order;
}

Status write_checkpoint(Files& files, std::uint64_t number) {
  HUMMER_TRY(execute(files, order_of(Kind::begin, number)).status);
  return execute(files, order_of(Kind::complete, number)).status;
}

// Whoever completes a checkpoint may die when its name is there and not durable yet. Who goes on
// from it lets sinks commit on top of it: from then on no power cut may take it away.
TEST(CheckpointOrder, WhatIsGoneOnFromOutlivesAPowerCut) {
  std::uint64_t unfinished_and_chosen = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    Simulation simulation({.seed = seed});
    SimulatedPlatform* node = &simulation.add_node("jobmanager");
    ASSERT_TRUE(write_checkpoint(node->files(), 1).ok());
    node->kill_at_disk_operation(1 + seed % 20);
    const Status written = write_checkpoint(node->files(), 2);
    node->kill();
    node = &simulation.restart_node(*node);
    const CheckpointOutcome before = execute(node->files(), order_of(Kind::find));
    ASSERT_TRUE(before.status.ok()) << before.status.to_string();
    EXPECT_TRUE(before.found.id == 2 || !written.ok());
    if (before.found.id == 2 && !written.ok()) ++unfinished_and_chosen;
    node->kill();
    node->crash_disk();
    node = &simulation.restart_node(*node);
    const CheckpointOutcome after = execute(node->files(), order_of(Kind::find));
    ASSERT_TRUE(after.status.ok()) << "seed " << seed << ": " << after.status.to_string();
    EXPECT_EQ(after.found.id, before.found.id) << "seed " << seed;
  }
  EXPECT_GT(unfinished_and_chosen, 5u);
}

}  // namespace
}  // namespace hummer::checkpoint_order_test
