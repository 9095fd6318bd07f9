// make_operator_factory: an OperatorFactory from a function that makes operators.
//
//   make_operator_factory([function] {
//     return std::make_unique<MapOperator<int, int, F>>(function);
//   });
//
// `make` is called once per subtask, from several threads, and never changed:
// what it captures is copied into each operator. So it is compiled for size.
//
// make_planned_factory: the same of a function that is told the job's plan
// (hummer/detail/plan.hpp), for what depends on the options that the job is executed with.
#pragma once

#include <memory>
#include <utility>

#include <hummer/detail/partitioner.hpp>
#include <hummer/operator.hpp>

namespace hummer {

template <typename Make>
class FunctionOperatorFactory final : public OperatorFactory {
 public:
  explicit FunctionOperatorFactory(Make make) : make_(std::move(make)) {}
  [[gnu::cold]] std::unique_ptr<Operator> make() const override { return make_(); }

 private:
  Make make_;
};

// One control block for all of them, not one for each type.
[[gnu::cold]] std::shared_ptr<const OperatorFactory> share(
    std::unique_ptr<const OperatorFactory> factory);
[[gnu::cold]] std::shared_ptr<const PartitionerFactory> share(
    std::unique_ptr<const PartitionerFactory> factory);

template <typename Make>
std::shared_ptr<const OperatorFactory> make_operator_factory(Make make) {
  return share(std::make_unique<const FunctionOperatorFactory<Make>>(std::move(make)));
}

template <typename Make>
class PlannedOperatorFactory final : public OperatorFactory {
 public:
  explicit PlannedOperatorFactory(Make make, const Plan& plan = {})
      : make_(std::move(make)), plan_(plan) {}
  [[gnu::cold]] std::unique_ptr<Operator> make() const override { return make_(plan_); }
  std::shared_ptr<const OperatorFactory> planned(const Plan& plan) const override {
    return share(std::make_unique<const PlannedOperatorFactory>(make_, plan));
  }

 private:
  Make make_;
  Plan plan_;
};

template <typename Make>
std::shared_ptr<const OperatorFactory> make_planned_factory(Make make) {
  return share(std::make_unique<const PlannedOperatorFactory<Make>>(std::move(make)));
}

}  // namespace hummer
