// UnionOperator: hands every batch on as it is: where several streams become one,
// and the chain of sender and receiver tasks.
//
// Cost: a swap per batch.
#pragma once

#include <utility>

#include <hummer/operator.hpp>

namespace hummer {

class UnionOperator final : public Operator {
 public:
  explicit UnionOperator(const TypeDescriptor& type) : type_(type) {}

  void declare(Output& out) const override { out.add_port(type_); }
  OperatorResult process(Batch& in, Output& out) override {
    if (!out.batch().empty()) return OperatorResult::more;
    HUMMER_ASSERT(in.position() == 0);
    context().count_records(in.size());  // the driver counts what is left in it
    std::swap(in, out.batch());
    in.clear();
    return OperatorResult::done;
  }

 private:
  const TypeDescriptor& type_;
};

}  // namespace hummer
