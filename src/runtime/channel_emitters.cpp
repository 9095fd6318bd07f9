#include "runtime/channel_emitters.hpp"

#include "runtime/in_flight.hpp"

namespace hummer {

Status ChannelEmitter::failure() const {
  return {ErrorCode::peer_gone, "the task behind " + describe() + " has ended"};
}

void ChannelEmitter::send_out_of_band(std::uint64_t epoch, std::string in_flight) {
  HUMMER_ASSERT(in_flight.empty() || channels_.size() == 1);
  for (RingChannel* channel : channels_) channel->send_out_of_band(epoch, std::move(in_flight));
}

void ChannelEmitter::abandon() {
  for (RingChannel* channel : channels_) channel->abandon_producer();
}

std::string ChannelEmitter::describe() const {
  return "→ " + target_ + "[" + std::to_string(stuck_) + "]";
}

OperatorResult ChannelEmitter::publish(std::size_t index, Element& element) {
  if (channels_[index]->try_publish(element)) {
    element.batch.clear();  // the used one that came back
    return OperatorResult::done;
  }
  stuck_ = index;
  return channels_[index]->consumer_gone() ? OperatorResult::failed : OperatorResult::blocked;
}

OperatorResult ChannelEmitter::publish_to_all(Control& control) {
  if (control.kind == Control::Kind::idle) control = {};
  if (!control) return OperatorResult::done;
  while (control_next_ < channels_.size()) {
    Element alone;
    alone.control = control;
    if (const OperatorResult answer = publish(control_next_, alone); answer != OperatorResult::done)
      return answer;
    ++control_next_;
  }
  control_next_ = 0;
  control = {};
  return OperatorResult::done;
}

OperatorResult ForwardEmitter::offer(Element& element) {
  if (element.control.kind == Control::Kind::idle) element.control = {};
  if (element.batch.empty() && !element.control) return OperatorResult::done;
  return publish(0, element);
}

OperatorResult RebalanceEmitter::offer(Element& element) {
  if (!element.batch.empty()) {
    Element data;
    data.batch = std::move(element.batch);
    OperatorResult answer = OperatorResult::blocked;
    for (std::size_t tried = 0; tried < channels_.size() && answer == OperatorResult::blocked;
         ++tried) {
      answer = publish(next_, data);
      next_ = next_ + 1 == channels_.size() ? 0 : next_ + 1;
    }
    element.batch = std::move(data.batch);
    if (answer != OperatorResult::done) return answer;
  }
  return publish_to_all(element.control);
}

OperatorResult BroadcastEmitter::offer(Element& element) {
  if (!element.batch.empty()) {
    for (; next_ < channels_.size(); ++next_) {
      if (copy_.batch.empty()) copy_.batch = element.batch.share();
      if (const OperatorResult answer = publish(next_, copy_); answer != OperatorResult::done)
        return answer;
      copy_.batch.release();
    }
    next_ = 0;
    element.batch.release();
  }
  return publish_to_all(element.control);
}

HashEmitter::HashEmitter(std::vector<RingChannel*> channels, std::string target,
                         const TypeDescriptor& type, std::unique_ptr<Partitioner> partitioner,
                         std::uint32_t batch_records)
    : ChannelEmitter(std::move(channels), std::move(target)),
      type_(type),
      partitioner_(std::move(partitioner)),
      batch_records_(batch_records) {
  for (std::size_t i = 0; i < channels_.size(); ++i) targets_.emplace_back(type_, batch_records_);
}

OperatorResult HashEmitter::publish_target(std::size_t index) {
  Element element;
  element.batch = std::move(targets_[index]);
  const OperatorResult answer = publish(index, element);
  targets_[index] = std::move(element.batch);
  // What came back may have no storage, or less room: records are scattered without asking.
  if (targets_[index].capacity() < batch_records_) targets_[index] = Batch(type_, batch_records_);
  return answer;
}

void HashEmitter::collect(std::string& runs) const {
  for (const Batch& target : targets_) append_run(target, runs);
}

OperatorResult HashEmitter::offer(Element& element) {
  if (channels_.size() == 1) {  // whose key it is makes no difference
    if (element.control.kind == Control::Kind::idle) element.control = {};
    if (element.batch.empty() && !element.control) return OperatorResult::done;
    return publish(0, element);
  }
  // A target that was full when its channel had no credit goes first.
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].size() < batch_records_) continue;
    if (const OperatorResult answer = publish_target(i); answer != OperatorResult::done)
      return answer;
  }
  while (!element.batch.finished()) {
    const OperatorResult scattered = partitioner_->scatter(element.batch, targets_, batch_records_);
    // Views may point into the input's buffers, whichever target they went to.
    if (type_.holds_views) {
      for (Batch& target : targets_) {
        if (!target.empty()) target.keep_buffers_of(element.batch);
      }
    }
    if (scattered == OperatorResult::done) break;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (targets_[i].size() < batch_records_) continue;
      if (const OperatorResult answer = publish_target(i); answer != OperatorResult::done)
        return answer;
    }
  }
  element.batch.clear();
  if (!element.control) return OperatorResult::done;
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    if (targets_[i].empty()) continue;
    if (const OperatorResult answer = publish_target(i); answer != OperatorResult::done)
      return answer;
  }
  return publish_to_all(element.control);
}

}  // namespace hummer
