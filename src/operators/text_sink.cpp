#include <hummer/detail/operators/text_sink.hpp>

namespace hummer {

Status TextSinkBase::open() { return writer_->open(context()); }

OperatorResult TextSinkBase::end(Output&) {
  if (const OperatorResult answer = hand_over(); answer != OperatorResult::done) return answer;
  if (Status status = writer_->commit(); !status.ok()) return context().fail(std::move(status));
  return OperatorResult::done;
}

Status TextSinkBase::close() {
  writer_->close();
  return {};
}

OperatorResult TextSinkBase::hand_over() {
  if (text_.empty()) return OperatorResult::done;
  const OperatorResult answer = writer_->write(text_);
  if (answer != OperatorResult::done) return answer;
  text_.clear();
  // A huge record must not hold its memory for good.
  if (text_.capacity() > 16 * buffer_bytes) std::string().swap(text_);
  return OperatorResult::done;
}

OperatorResult TextSinkOperator::process(Batch& in, Output&) {
  for (;;) {
    context().count_records(append_(in, buffer_bytes, text_));
    if (in.finished()) return OperatorResult::done;
    if (const OperatorResult answer = hand_over(); answer != OperatorResult::done) return answer;
  }
}

OperatorResult FormattedTextSinkOperator::process(Batch& in, Output&) {
  const auto texts = in.values<FormattedText>();
  for (std::size_t i = in.position(); i < texts.size(); in.advance_to(++i)) {
    const auto& [text, records] = texts[i];
    const bool large = text.size() >= large_bytes;
    if (large || text_.size() >= buffer_bytes) {
      if (const OperatorResult answer = hand_over(); answer != OperatorResult::done) return answer;
    }
    if (large) {
      if (const OperatorResult answer = writer_->write(text); answer != OperatorResult::done) {
        return answer;
      }
    } else {
      text_.append(text);
    }
    context().count_records(records - 1);
  }
  return OperatorResult::done;
}

}  // namespace hummer
