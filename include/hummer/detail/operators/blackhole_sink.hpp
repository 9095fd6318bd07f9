// BlackholeSinkOperator: takes records of any type and forgets them.
#pragma once

#include <hummer/operator.hpp>

namespace hummer {

class BlackholeSinkOperator final : public Operator {
 public:
  void declare(Output&) const override {}
  OperatorResult process(Batch& in, Output&) override {
    in.advance_to(in.size());
    return OperatorResult::done;
  }
};

}  // namespace hummer
