// expect_ok_with_and_without_memory: runs an operator harness as it is, and again with so little
// memory that everything goes to disk after every call.
#pragma once

#include <gtest/gtest.h>

#include <hummer/testing/operator_harness.hpp>

#include "platform/simulation.hpp"

namespace hummer {

template <typename Harness>
void expect_ok_with_and_without_memory(Harness& harness) {
  const HarnessReport with = harness.run();
  EXPECT_TRUE(with.ok()) << with.text();
  const auto node = make_simulated_platform({.seed = 1});
  harness.options().place.platform = node.get();
  harness.options().place.memory_limit_bytes = 1;
  const HarnessReport without = harness.run();
  EXPECT_TRUE(without.ok()) << "without memory: " << without.text();
  harness.options().place.platform = nullptr;
  harness.options().place.memory_limit_bytes = 0;
}

}  // namespace hummer
