#include <hummer/detail/operators/two_phase_sink.hpp>

namespace hummer {

OperatorResult TwoPhaseSinkBase::flush(Output&) {
  const OperatorResult answer = hand_over();
  return answer == OperatorResult::done ? transactions_.flush(context()) : answer;
}

OperatorResult TwoPhaseSinkBase::end(Output&) {
  const OperatorResult answer = hand_over();
  return answer == OperatorResult::done ? transactions_.end(context()) : answer;
}

Status TwoPhaseSinkBase::snapshot(ByteWriter& out) {
  transactions_.snapshot(out);
  return {};
}

Status TwoPhaseSinkBase::close() {
  writer_->close();
  return {};
}

OperatorResult TwoPhaseSinkBase::hand_over() {
  if (text_.empty()) return OperatorResult::done;
  const OperatorResult answer = writer_->write(text_);
  if (answer == OperatorResult::done) text_.clear();
  return answer;
}

}  // namespace hummer
