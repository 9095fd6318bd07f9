// A slot of a Deployment: its thread, and what its tasks share. (Of deployment*.cpp only.)
#pragma once

#include <atomic>
#include <memory>

#include "execution/deployment.hpp"
#include "platform/core_claim.hpp"

namespace hummer {

struct Deployment::Slot {
  int number;
  Nanoseconds began_ns = 0;
  CoreClaim core;  // where its thread is pinned; core -1: it is not
  std::unique_ptr<Executor> executor;
  std::atomic<const TaskMetrics*> turn{nullptr};
  SlotObjects objects;
};

}  // namespace hummer
