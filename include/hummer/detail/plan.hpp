// Plan: what execute() knows of the whole job, and a call on a stream does not know yet.
//
//   make_planned_factory([writers, transactions](const Plan& plan) -> std::unique_ptr<Operator> {
//     if (plan.checkpoints) return std::make_unique<TwoPhaseSinkOperator>(...);
//     return std::make_unique<TextSinkOperator>(...);
//   });
//
// env.options() may change until execute(). So what depends on them is written into the graph with
// its alternatives: factories that make one operator or another as the plan says
// (hummer/detail/operators/factory.hpp), and operators that only some plans want (PlannedFor).
// execute() makes the plan, and graph/planner.hpp chooses. A worker builds the job with the same
// options, so the same forms are chosen there.
//
// A value.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hummer {

// Whether partial operators fold: automatic measures what it saves (FoldingChoice).
enum class Folding : std::uint8_t { automatic, always, off };

// The part of an operator in a pre-aggregation, for --explain.
enum class PreAggregation : std::uint8_t {
  none,
  partial,         // the half ahead of the exchange
  forced_partial,  // the same, whatever the plan says
  paired_partial,  // the same, and without checkpoints both halves share a slot's table
  merge,           // the half behind the exchange, which some plans want alone
};

struct Plan {
  bool checkpoints = false;
  // Windows that leave it to the engine take the partial form.
  bool partial_windows = false;
  // Of aggregates, and of windows that take the partial form without being told to.
  Folding folding = Folding::automatic;
  bool bypass = true;  // of EnvironmentOptions
  // Partial aggregates empty their state before it outgrows this (bytes, per subtask).
  std::size_t partial_state_bytes = 64 << 20;
  // What each operator over a whole bounded input holds in memory before it goes to disk: an equal
  // part of what a slot's have.
  std::size_t bounded_operator_bytes = std::size_t{128} << 20;
};

// Whether partial operators may have an edge for records beside that of parts.
constexpr bool has_bypass(const Plan& plan) {
  return plan.bypass && plan.folding != Folding::always;
}

// The plans that want an operator; in others what it reads goes to the operator behind it.
enum class PlannedFor : std::uint8_t { every_plan, no_checkpoints, partial_windows };

constexpr bool wants(const Plan& plan, PlannedFor what) {
  switch (what) {
    case PlannedFor::every_plan: return true;
    case PlannedFor::no_checkpoints: return !plan.checkpoints;
    case PlannedFor::partial_windows: return plan.partial_windows;
  }
  return true;
}

}  // namespace hummer
