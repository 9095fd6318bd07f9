#include "operators/sort_operator.hpp"

#include <hummer/detail/connector_context.hpp>

#include <algorithm>
#include <utility>

namespace hummer {

Status SortingOperator::open() {
  memory_.open(context().memory());
  return Status();
}

void SortingOperator::begin() {
  sorter_.emplace(connector_context(context()).platform(),
                  SorterOptions{.memory_bytes = memory_.bytes(given_bytes_),
                                .spill_directory = context().spill_directory()});
}

OperatorResult SortingOperator::process(Batch& in, Output&) {
  if (!sorter_) begin();
  for (;;) {
    if (is_stepping_) {
      if (const OperatorResult answer = step(); answer != OperatorResult::done) return answer;
    }
    for (; next_ < encoded_.size(); ++next_) {
      auto added = sorter_->add(encoded_.key(next_), encoded_.value(next_));
      if (!added.ok()) return BoundedMemory::fail(context(), added.status());
      if (!*added) {
        is_stepping_ = true;
        return OperatorResult::more;
      }
    }
    if (in.finished()) break;
    next_ = 0;
    encoded_.clear();
    coding_->encode(in, encoded_);
  }
  memory_.set_used(sorter_->memory_bytes());
  return OperatorResult::done;
}

OperatorResult SortingOperator::step() {
  auto more = sorter_->step();
  if (!more.ok()) return BoundedMemory::fail(context(), more.status());
  memory_.set_used(sorter_->memory_bytes());
  memory_.set_disk(sorter_->disk_bytes());
  if (*more) return OperatorResult::more;
  is_stepping_ = false;
  return OperatorResult::done;
}

OperatorResult SortingOperator::end(Output& out) {
  if (!is_sorted_) {
    if (!sorter_) return OperatorResult::done;  // no record has come
    sorter_->finish();
    if (const OperatorResult answer = step(); answer != OperatorResult::done) return answer;
    is_sorted_ = true;
  }
  const OperatorResult answer = emit(out);
  if (answer == OperatorResult::done) {
    sorter_.reset();
    memory_.set_used(0);
    memory_.set_disk(0);
  }
  return answer;
}

Status SortingOperator::close() {
  sorter_.reset();
  return Status();
}

OperatorResult SortOperator::emit(Output& out) {
  Batch& to = out.batch();
  while (!out.full()) {
    if (rest_.empty()) {
      auto records = sorter().next();
      if (!records.ok()) return BoundedMemory::fail(context(), records.status());
      if (records->empty()) return OperatorResult::done;
      rest_ = *records;
    }
    const std::size_t count = std::min<std::size_t>(rest_.size(), out.soft_limit() - to.size());
    values_.clear();
    for (const batch::RecordView& record : rest_.first(count)) values_.push_back(record.value());
    coding().decode(values_, to);
    rest_ = rest_.subspan(count);
  }
  return OperatorResult::more;
}

std::unique_ptr<Operator> make_sort_operator(std::unique_ptr<RecordCoding> coding,
                                             std::size_t memory_bytes) {
  return std::make_unique<SortOperator>(std::move(coding), memory_bytes);
}

}  // namespace hummer
