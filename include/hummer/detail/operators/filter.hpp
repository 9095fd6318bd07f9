// FilterOperator: the records for which the function says true, in order.
//
//   FilterOperator<Order, F>(function)       bool function(const T&)
//
// Trivial types are compacted without a branch: each record is written to the
// next place, which moves on only if it is kept. Others are moved out of an
// input that nobody shares, else copied. Timestamps follow their records.
//
// State: none. Errors: what the function throws, with `in` at its record.
#pragma once

#include <hummer/detail/operators/batch_run.hpp>

namespace hummer {

template <StreamType T, typename Function>
class FilterOperator final : public Operator {
 public:
  explicit FilterOperator(Function function) : function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  bool keeps_splits() const override { return true; }
  bool can_skip_record() const override { return true; }

  OperatorResult process(Batch& in, Output& out) override {
    Batch& target = out.batch();
    while (!in.finished()) {
      const BatchRun run = next_run(in, target, out.soft_limit());
      if (run.count == 0) return OperatorResult::more;
      if (in.has_timestamps()) {
        (void)room_for_times(target, run.used, run.count);
        compact<true>(in, run, target);
      } else {
        compact<false>(in, run, target);
      }
    }
    return OperatorResult::done;
  }

 private:
  static constexpr bool trivial =
      std::is_trivially_copy_constructible_v<T> && std::is_trivially_destructible_v<T>;

  template <bool timed>
  void compact(Batch& in, BatchRun run, Batch& target) {
    T* to = target.mutable_values<T>() + run.used;
    const T* from = in.values<T>().data() + run.first;
    T* movable = !trivial && in.unique() ? in.mutable_values<T>() + run.first : nullptr;
    const Timestamp* time_from = timed ? in.timestamps().data() + run.first : nullptr;
    Timestamp* time_to = timed ? target.timestamps().data() + run.used : nullptr;
    const std::size_t count = run.count;
    std::size_t taken = 0;
    std::size_t kept = 0;
    const auto finish_run = [&] {
      target.set_size(run.used + kept);
      if (timed || target.has_timestamps()) pad_timestamps(target, run.used + kept);
      in.advance_to(run.first + taken);
    };
    try {
      LocalFunction<Function> function(function_);
      for (; taken < count; ++taken) {
        if constexpr (timed) time_to[kept] = time_from[taken];
        if constexpr (trivial) {
          const bool keep = function(from[taken]);
          std::construct_at(to + kept, from[taken]);
          kept += keep ? 1 : 0;
        } else if (function(from[taken])) {
          move_record(to + kept, from + taken, movable ? movable + taken : nullptr);
          ++kept;
        }
      }
    } catch (...) {
      finish_run();
      throw;
    }
    finish_run();
  }

  Function function_;
};

}  // namespace hummer
