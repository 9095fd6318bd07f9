// FlatMapOperator: any number of records out for each record in, in order.
//
//   FlatMapOperator<In, Out, F>(function)    void function(const In&, Collector<Out>&)
//
// Stops between two input records when the output is full; only one record's own
// expansion exceeds the limit. Results carry the timestamp of their record.
//
// State: none. Errors: what the function throws, with `in` at its record.
#pragma once

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/record_text.hpp>

namespace hummer {

template <StreamType In, StreamType Out, typename Function>
class FlatMapOperator final : public Operator {
 public:
  explicit FlatMapOperator(Function function) : function_(std::move(function)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  bool keeps_splits() const override { return true; }
  bool can_skip_record() const override { return true; }

  OperatorResult process(Batch& in, Output& out) override {
    Batch& target = out.batch();
    const std::size_t used = target.size();
    if (in.has_timestamps() || target.has_timestamps()) {
      run<true>(in, target, out.soft_limit());
    } else {
      run<false>(in, target, out.soft_limit());
    }
    if (const Status views = check_new_views<Out>(context(), in, target, used); !views.ok()) {
      return context().fail(views);
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  template <bool timed>
  void run(Batch& in, Batch& target, std::uint32_t soft_limit) {
    const auto values = in.values<In>();
    const std::size_t used = target.size();
    std::size_t taken = in.position();
    try {
      Collector<Out> collector(target, soft_limit);
      LocalFunction<Function> function(function_);
      for (; taken < values.size() && !collector.full(); ++taken) {
        const std::size_t before = collector.size();
        function(values[taken], collector);
        if constexpr (timed) {
          stamp(target, before, collector.size(),
                in.has_timestamps() ? in.timestamps()[taken] : no_timestamp);
        }
      }
    } catch (...) {
      in.advance_to(taken);
      if (timed) pad_timestamps(target, target.size());
      copy_record_text<In, Out>(in, target, used);
      throw;
    }
    in.advance_to(taken);
    copy_record_text<In, Out>(in, target, used);
  }

  Function function_;
};

}  // namespace hummer
