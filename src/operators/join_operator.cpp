#include "operators/join_operator.hpp"

#include <hummer/detail/connector_context.hpp>

#include <algorithm>

#include "operators/hybrid_hash_join.hpp"
#include "operators/sort_merge_join.hpp"

namespace hummer {

Status JoinOperator::open() {
  memory_.open(context().memory());
  return Status();
}

void JoinOperator::set_channels(const std::vector<int>& inputs) {
  for (const int input : inputs) {
    inputs_.push_back(static_cast<std::size_t>(input));
    ++sides_[inputs_.back()].channels;
  }
}

void JoinOperator::begin() {
  Platform& platform = connector_context(context()).platform();
  const JoinOptions options{.kind = parts_.kind,
                            .memory_bytes = memory_.bytes(given_bytes_),
                            .spill_directory = context().spill_directory()};
  if (parts_.strategy == JoinStrategy::sort_merge) {
    algorithm_ = std::make_unique<SortMergeJoin>(platform, options);
  } else {
    algorithm_ = std::make_unique<HybridHashJoin>(platform, options);
  }
}

void JoinOperator::set_room(const Output& out) {
  const std::size_t size = out.size();
  pairs_.set_limit(out.soft_limit() > size ? out.soft_limit() - size : 0);
}

void JoinOperator::take_pairs(Output& out) {
  if (!pairs_.empty()) parts_.function->call(pairs_.all(), out);
  pairs_.clear();
  memory_.set_used(algorithm_->memory_bytes());
  memory_.set_disk(algorithm_->disk_bytes());
}

OperatorResult JoinOperator::process_input(int input, Batch& in, Output& out) {
  if (algorithm_ == nullptr) begin();
  for (;;) {
    if (next_ < encoded_.size()) {
      if (out.full()) return OperatorResult::more;
      set_room(out);
      auto all = algorithm_->add(input, encoded_, next_, pairs_);
      if (!all.ok()) return BoundedMemory::fail(context(), all.status());
      take_pairs(out);
      if (!*all) return OperatorResult::more;
    }
    if (in.finished()) break;
    next_ = 0;
    (input == 0 ? *parts_.first : *parts_.second).encode(in, encoded_);
  }
  tell_of_ended_sides();
  return OperatorResult::done;
}

// Where channels are known: the batch that may have come with an end is dealt with.
void JoinOperator::tell_of_ended_sides() {
  if (inputs_.empty()) return;
  for (int side = 0; side < 2; ++side) {
    if (sides_[side].channels > 0 || std::exchange(sides_[side].is_known_to_end, true)) continue;
    algorithm_->side_ended(side);
  }
}

OperatorResult JoinOperator::end(Output& out) {
  if (algorithm_ == nullptr) return OperatorResult::done;  // no record has come
  if (out.full()) return OperatorResult::more;
  set_room(out);
  auto all = algorithm_->finish(pairs_);
  if (!all.ok()) return BoundedMemory::fail(context(), all.status());
  take_pairs(out);
  if (!*all) return OperatorResult::more;
  algorithm_.reset();
  memory_.set_used(0);
  memory_.set_disk(0);
  return OperatorResult::done;
}

Status JoinOperator::close() {
  algorithm_.reset();
  return Status();
}

std::unique_ptr<Operator> make_join_operator(JoinParts parts, std::size_t memory_bytes) {
  return std::make_unique<JoinOperator>(std::move(parts), memory_bytes);
}

}  // namespace hummer
