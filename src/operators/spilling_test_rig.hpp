// What tests of operators whose state outgrows memory have in common: operators in surroundings of
// their own, by hand, and sums by key.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/merge_aggregate.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>

#include "platform/simulation.hpp"

namespace hummer::spilling_test {

using Number = std::pair<std::uint32_t, std::int64_t>;  // key, value
inline constexpr auto key_of_number = [](const Number& number) { return number.first; };
inline constexpr auto value_of_number = [](const Number& number) { return number.second; };
using Total = KeyValue<std::uint32_t, std::int64_t>;
using Sum = SumAggregate<std::int64_t, decltype(value_of_number)>;

// An operator in surroundings of its own.
template <typename In, typename Out>
class OperatorRun {
 public:
  OperatorRun(const OperatorFactory& factory, Platform& platform, std::size_t limit_bytes)
      : context_({.name = "sum", .platform = &platform, .memory_limit_bytes = limit_bytes}),
        operator_(factory.make()) {
    operator_->set_context(context_);
    operator_->declare(out_);
    context_.set_snapshot_step_bytes(1000);  // many steps
  }
  // A whole piece and the deltas on it.
  Status restore(const std::vector<std::string>& pieces) {
    for (const std::string& piece : pieces) {
      ByteReader in(piece);
      context_.set_delta_follows(&piece != &pieces.back());
      HUMMER_TRY(operator_->restore(in));
    }
    return {};
  }
  Status open() { return operator_->open(); }
  Result<std::vector<Out>> process(const std::vector<In>& records) {
    Batch in(type_of<In>(), static_cast<std::uint32_t>(records.size()));
    std::copy(records.begin(), records.end(), in.mutable_values<In>());
    in.set_size(records.size());
    return emitted([&] { return operator_->process(in, out_); });
  }
  Result<std::vector<Out>> end() {
    return emitted([&] { return operator_->end(out_); });
  }
  Status begin_snapshot(bool may_be_delta = false) {
    bytes_.clear();
    context_.set_may_write_delta(may_be_delta);
    ByteWriter out(bytes_);
    HUMMER_TRY(operator_->snapshot(out));
    bytes_.resize(out.size());
    return {};
  }
  // The snapshot's bytes when it is complete.
  Result<std::optional<std::string>> step_snapshot() {
    std::string step;
    ByteWriter out(step);
    const OperatorResult answer = operator_->snapshot_rest(out);
    bytes_.append(out.view());
    if (answer == OperatorResult::failed) return context_.failure();
    return answer == OperatorResult::done ? std::optional(bytes_) : std::nullopt;
  }
  FakeOperatorContext& context() { return context_; }

 private:
  template <typename Call>
  Result<std::vector<Out>> emitted(Call&& call) {
    std::vector<Out> seen;
    for (;;) {
      const OperatorResult answer = call();
      const auto values = out_.batch().template values<Out>();
      seen.insert(seen.end(), values.begin(), values.end());
      out_.batch().clear();
      if (answer == OperatorResult::failed) return context_.failure();
      if (answer == OperatorResult::done) return seen;
    }
  }

  FakeOperatorContext context_;
  std::unique_ptr<Operator> operator_;
  Output out_;
  std::string bytes_;
};

inline std::shared_ptr<const OperatorFactory> running_sum() {
  return make_operator_factory([] {
    return std::make_unique<
        RunningAggregateOperator<Number, std::uint32_t, decltype(key_of_number), Sum>>(
        key_of_number, Sum{value_of_number});
  });
}

// The same, at the end.
inline std::shared_ptr<const OperatorFactory> merged_sum() {
  return make_operator_factory([] {
    return std::make_unique<MergeAggregateOperator<std::uint32_t, Sum>>(Sum{value_of_number},
                                                                        false);
  });
}

// The background has none to all of its turns.
inline void give_background_a_turn(SimulatedPlatform& node, Random& random) {
  const Nanoseconds until = node.now() + random.between(0, 3) * random.between(0, 400'000);
  (void)node.run_until([] { return false; }, until);
}

}  // namespace hummer::spilling_test
