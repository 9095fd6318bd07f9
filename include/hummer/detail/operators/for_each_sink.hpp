// ForEachSinkOperator: calls a function for every record, in order.
//
//   ForEachSinkOperator<T, F>(function)      void function(const T&)
//
// Each subtask has its own copy of the function; what it refers to must stand
// several threads when the sink's parallelism is above one.
// Errors: what the function throws, with `in` at its record.
#pragma once

#include <hummer/detail/operators/batch_run.hpp>

namespace hummer {

template <StreamType T, typename Function>
class ForEachSinkOperator final : public Operator {
 public:
  explicit ForEachSinkOperator(Function function) : function_(std::move(function)) {}

  void declare(Output&) const override {}
  bool can_skip_record() const override { return true; }

  OperatorResult process(Batch& in, Output&) override {
    const auto values = in.values<T>();
    std::size_t taken = in.position();
    try {
      LocalFunction<Function> function(function_);
      for (; taken < values.size(); ++taken) function(values[taken]);
    } catch (...) {
      in.advance_to(taken);
      throw;
    }
    in.advance_to(taken);
    return OperatorResult::done;
  }

 private:
  Function function_;
};

}  // namespace hummer
