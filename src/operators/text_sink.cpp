#include <hummer/detail/operators/text_sink.hpp>

namespace hummer {

Status TextSinkBase::open() { return writer_->open(context()); }

Answer TextSinkBase::end(Output&) {
  if (const Answer answer = hand_over(); answer != Answer::done) return answer;
  if (Status status = writer_->commit(); !status.ok()) return context().fail(std::move(status));
  return Answer::done;
}

Status TextSinkBase::close() {
  writer_->close();
  return {};
}

Answer TextSinkBase::hand_over() {
  if (text_.empty()) return Answer::done;
  const Answer answer = writer_->write(text_);
  if (answer != Answer::done) return answer;
  text_.clear();
  // A huge record must not hold its memory for good.
  if (text_.capacity() > 16 * buffer_bytes) std::string().swap(text_);
  return Answer::done;
}

}  // namespace hummer
