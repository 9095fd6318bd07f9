#include "operators/group_operator.hpp"

namespace hummer {

bool GroupOperator::fetch() {
  if (!rest_.empty()) return true;
  if (!failure_.ok()) return false;
  auto records = sorter().next();
  if (!records.ok()) {
    failure_ = records.status();
    return false;
  }
  rest_ = *records;
  return !rest_.empty();
}

std::span<const std::string_view> GroupOperator::Reader::next() {
  of_.block_.clear();
  if (!of_.fetch()) return {};
  std::size_t count = 0;
  for (; count < of_.rest_.size() && of_.rest_[count].key() == of_.key_; ++count) {
    of_.block_.push_back(of_.rest_[count].value());
  }
  of_.rest_ = of_.rest_.subspan(count);
  return of_.block_;
}

OperatorResult GroupOperator::emit(Output& out) {
  while (!out.full()) {
    if (!fetch()) break;
    key_.assign(rest_.front().key());
    Reader reader(*this);
    function_->call(reader, out);
    while (!reader.next().empty()) continue;  // what the function has left
    if (!failure_.ok()) break;
  }
  if (!failure_.ok()) return BoundedMemory::fail(context(), failure_);
  return rest_.empty() && !out.full() ? OperatorResult::done : OperatorResult::more;
}

std::unique_ptr<Operator> make_group_operator(std::unique_ptr<RecordCoding> coding,
                                              std::unique_ptr<GroupFunction> function,
                                              std::size_t memory_bytes) {
  return std::make_unique<GroupOperator>(std::move(coding), std::move(function), memory_bytes);
}

}  // namespace hummer
