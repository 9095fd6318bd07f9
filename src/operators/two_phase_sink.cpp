#include <hummer/detail/operators/two_phase_sink.hpp>

namespace hummer {

Answer TwoPhaseSinkBase::flush(Output&) {
  const Answer answer = hand_over();
  return answer == Answer::done ? transactions_.flush(context()) : answer;
}

Answer TwoPhaseSinkBase::end(Output&) {
  const Answer answer = hand_over();
  return answer == Answer::done ? transactions_.end(context()) : answer;
}

Status TwoPhaseSinkBase::snapshot(ByteWriter& out) {
  transactions_.snapshot(out);
  return {};
}

Status TwoPhaseSinkBase::close() {
  writer_->close();
  return {};
}

Answer TwoPhaseSinkBase::hand_over() {
  if (text_.empty()) return Answer::done;
  const Answer answer = writer_->write(text_);
  if (answer == Answer::done) text_.clear();
  return answer;
}

}  // namespace hummer
