// StreamTask: input that is gathered for an operator that looks ahead. See gathered_input.hpp.
#include <algorithm>

#include "runtime/stream_task.hpp"

namespace hummer {
namespace {

// Waiting for more takes a part of the time that the last ones took, so it costs little where there
// is much to do, and next to nothing where there is not.
constexpr Nanoseconds part_of_last = 4;
constexpr Nanoseconds longest_wait_ns = 4'000'000;

bool may_wait(const Control& control) {
  return control.kind == Control::Kind::none || control.kind == Control::Kind::watermark;
}

}  // namespace

// Whether element_ goes there: behind others always, so that the order stays.
bool StreamTask::gathers() {
  if (!gathered_.empty()) return true;
  if (!element_.batch.empty() && may_wait(element_.control) && !chain_->reach().none()) return true;
  gathered_.release();
  return false;
}

StreamTask::Step StreamTask::gather(int head_input) {
  if (gathered_.empty()) {
    gather_until_ = executor_->now() + std::min(handing_out_took_ / part_of_last, longest_wait_ns);
  }
  const bool is_last = !may_wait(element_.control);
  gathered_.add(element_, head_input, element_input_);
  return is_last || gathered_.is_enough(chain_->reach()) ? hand_out() : Step::between_elements;
}

// Others of its slot may bring more, or those of other slots.
StreamTask::Step StreamTask::wait_for_more() {
  if (executor_->now() >= gather_until_) return hand_out();
  if (executor_->others_are_ready()) return give_way_then(Step::next_element);
  wake_event_.prepare_wait();
  if (is_cancelled() || commit_due() || barrier_waits() || input_at_hand()) return stay_awake();
  return sleep_until(gather_until_, TaskState::waiting_for_input);
}

StreamTask::Step StreamTask::hand_out() {
  handing_out_since_ = executor_->now();
  return show(gathered_.begin_handing_out());
}

// The source in the same slot, and barriers that it has to send, do not wait for all of it.
StreamTask::Step StreamTask::show(std::span<const LooksAhead::Waiting> waiting) {
  const OperatorResult answer = chain_->look_ahead(waiting);
  if (answer == OperatorResult::failed) return end(chain_->failure());
  shows_ = answer == OperatorResult::more;
  return shows_ ? give_way_then(Step::next_element) : take_gathered();
}

StreamTask::Step StreamTask::take_gathered() {
  const int head_input = gathered_.take(element_, element_input_);
  if (gathered_.empty()) handing_out_took_ = executor_->now() - handing_out_since_;
  offer(head_input);
  return Step::drive_chain;
}

}  // namespace hummer
