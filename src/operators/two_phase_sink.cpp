#include <hummer/detail/operators/two_phase_sink.hpp>

namespace hummer {

OperatorResult TwoPhaseSinkOperator::process(Batch& in, Output&) {
  for (;;) {
    context().count_records(append_(in, buffer_bytes, text_));
    if (in.finished()) return OperatorResult::done;
    if (const OperatorResult answer = hand_over(); answer != OperatorResult::done) return answer;
  }
}

OperatorResult TwoPhaseSinkOperator::flush(Output&) {
  const OperatorResult answer = hand_over();
  return answer == OperatorResult::done ? transactions_.flush(context()) : answer;
}

OperatorResult TwoPhaseSinkOperator::end(Output&) {
  const OperatorResult answer = hand_over();
  return answer == OperatorResult::done ? transactions_.end(context()) : answer;
}

Status TwoPhaseSinkOperator::snapshot(ByteWriter& out) {
  transactions_.snapshot(out);
  return {};
}

Status TwoPhaseSinkOperator::close() {
  writer_->close();
  return {};
}

OperatorResult TwoPhaseSinkOperator::hand_over() {
  if (text_.empty()) return OperatorResult::done;
  const OperatorResult answer = writer_->write(text_);
  if (answer == OperatorResult::done) text_.clear();
  return answer;
}

}  // namespace hummer
