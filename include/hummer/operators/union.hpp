// UnionOperator: hands every batch on as it is; where several streams become one.
//
// Cost: a swap per batch.
#pragma once

#include <hummer/operator.hpp>

namespace hummer {

template <StreamType T>
class UnionOperator final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  Answer process(Batch& in, Output& out) override {
    if (!out.batch().empty()) return Answer::more;
    const std::uint32_t left = in.position();
    std::swap(in, out.batch());
    out.batch().advance_to(0);
    HUMMER_ASSERT(left == 0);
    in.clear();
    return Answer::done;
  }
};

}  // namespace hummer
