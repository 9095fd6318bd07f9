// BlackholeSinkOperator: takes records of any type and forgets them.
#pragma once

#include <hummer/operator.hpp>

namespace hummer {

class BlackholeSinkOperator final : public Operator {
 public:
  void declare(Output&) const override {}
  Answer process(Batch& in, Output&) override {
    in.advance_to(in.size());
    return Answer::done;
  }
};

}  // namespace hummer
