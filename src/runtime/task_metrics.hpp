// TaskMetrics: what a running task lets others see.
//
// Written by the task's thread only (relaxed stores, no read-modify-write), at
// most once per batch; read by progress, results, metrics and the watch for
// stuck slots. Lifecycle: made with the task, kept until its job's result is made.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <hummer/detail/metric_cell.hpp>
#include <hummer/detail/user_metrics.hpp>

#include "platform/wait_times.hpp"

namespace hummer {

struct OperatorMetrics {
  std::string name;
  std::shared_ptr<detail::UserMetrics> user;  // of the author's functions
  MetricCell<> records_in;
  MetricCell<> records_out;
  MetricCell<> records_late;     // too late to be used
  MetricCell<> records_skipped;  // for which a function has thrown
  MetricCell<> bytes;            // read or written outside the engine
  MetricCell<> bytes_expected;   // of these, in all; 0 when unknown
};

enum class TaskState : std::uint8_t { created, running, waiting_for_input, blocked, finished };

struct TaskMetrics {
  std::string name;  // "count[1]"
  std::string slot;
  std::deque<OperatorMetrics> operators;  // the chain, head first; addresses stay
  std::atomic<TaskState> state{TaskState::created};
  // Which operator is being called, and how often calls have begun: a slot whose
  // count stands still while its state is `running` is stuck inside that operator.
  std::atomic<std::uint32_t> current_operator{0};
  // The current operator answered `blocked`, and at every try since.
  std::atomic<bool> operator_blocks{false};
  // The source has nothing at hand, at every try since, and nobody says when it will.
  std::atomic<bool> source_waits{false};
  MetricCell<> calls;
  MetricCell<> began_ns;  // 0: not yet
  WaitTimes waits;        // idle: for input, and since its end; stalled: blocked
  // Shared by the tasks of a slot: whose turn it is.
  std::atomic<const TaskMetrics*>* turn = nullptr;
};

}  // namespace hummer
