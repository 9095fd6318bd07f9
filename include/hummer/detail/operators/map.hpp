// MapOperator: one record out for each record in, in order.
//
//   MapOperator<int, long, F>(function)      Out function(const In&)
//
// `Out` is Stored<result>: text that the function returns as std::string is
// copied into the output's arena, a std::string_view must point into the input (see
// record_text.hpp) or be a literal. Timestamps are carried over.
//
// State: none (but what a mutable function object has). Errors: what the
// function throws, with `in` at the record it was thrown for.
// Cost: the function, inlined into a loop without calls or checks of its own.
#pragma once

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/record_text.hpp>

namespace hummer {

template <StreamType In, StreamType Out, typename Function>
class MapOperator final : public Operator {
 public:
  explicit MapOperator(Function function) : function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  bool keeps_splits() const override { return true; }
  bool one_for_one() const override { return true; }
  bool can_skip_record() const override { return true; }

  OperatorResult process(Batch& in, Output& out) override {
    Batch& target = out.batch();
    const BatchRun run = next_run(in, target, out.soft_limit());
    const In* from = in.values<In>().data() + run.first;
    Out* to = target.mutable_values<Out>() + run.used;
    const std::size_t count = run.count;
    std::size_t taken = 0;
    try {
      LocalFunction<Function> function(function_);
      const auto make = [&]() -> decltype(auto) { return function(from[taken]); };
      if constexpr (small_records<In, Out>) {
        HUMMER_UNROLL
        for (; taken < count; ++taken) put_record(to + taken, make, target);
      } else {
        for (; taken < count; ++taken) put_record(to + taken, make, target);
      }
    } catch (...) {
      finish_run(in, run, taken, target);
      throw;
    }
    finish_run(in, run, taken, target);
    if (const Status views = check_new_views<Out>(context(), in, target, run.used); !views.ok()) {
      return context().fail(views);
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  static void finish_run(Batch& in, BatchRun run, std::size_t taken, Batch& target) {
    target.set_size(run.used + taken);
    carry_timestamps(in, run, taken, target);
    in.advance_to(run.first + taken);
    using Returned = std::remove_cvref_t<std::invoke_result_t<Function&, const In&>>;
    if constexpr (!std::is_same_v<Returned, std::string>) {
      copy_record_text<In, Out>(in, target, run.used);
    }
  }

  Function function_;
};

}  // namespace hummer
