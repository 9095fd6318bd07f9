// StreamTask: input that is gathered for an operator that looks ahead. See gathered_input.hpp.
#include <algorithm>
#include <utility>

#include "runtime/stream_task.hpp"

namespace hummer {
namespace {

// Waiting for more takes a part of the time that the last ones took, so it costs little where there
// is much to do, and next to nothing where there is not.
constexpr Nanoseconds part_of_last = 4;
constexpr Nanoseconds longest_wait_ns = 4'000'000;

// Of an element beside a call that brings something: about what its records take.
constexpr std::size_t calls_per_element = 4;

bool may_wait(const Control& control) {
  return control.kind == Control::Kind::none || control.kind == Control::Kind::watermark;
}

std::size_t part_of(std::size_t whole, double part) {
  return static_cast<std::size_t>(static_cast<double>(whole) * part);
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
  if (gathered_.empty()) begin_gathering();
  gathered_.add(element_, head_input, element_input_);
  if (gathered_.hands_out()) return hand_on();
  return is_gathered() ? hand_out() : Step::between_elements;
}

void StreamTask::begin_gathering() {
  gather_until_ = executor_->now() + std::min(handing_out_took_ / part_of_last, longest_wait_ns);
}

// What comes next need not wait for more.
bool StreamTask::is_gathered() const {
  return gathered_.has_more() && !gathered_.hands_out() &&
         (gathered_.is_urgent() || gathered_.is_enough(chain_->reach()));
}

// While some are handed out as many are taken as are done with, so that who sends them does not
// wait until all are; about as many calls bring what they need as did for those before.
bool StreamTask::takes_meanwhile() const {
  if (merger_->all_ended()) return false;
  const std::size_t shown = calls_per_element * gathered_.shown();
  const std::size_t left = calls_per_element * gathered_.shown_left();
  const double part = static_cast<double>(std::min(calls_, calls_before_) + shown - left) /
                      static_cast<double>(calls_before_ + shown);
  const LooksAhead::Reach reach = chain_->reach();
  return !gathered_.is_enough(
      {.records = part_of(reach.records, part), .bytes = part_of(reach.bytes, part)});
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
  calls_before_ = std::exchange(calls_, 0);
  const std::span<const LooksAhead::Waiting> waiting = gathered_.show();
  return waiting.empty() ? take_gathered() : show(waiting);
}

StreamTask::Step StreamTask::hand_on() { return shows_ ? show({}) : take_gathered(); }

// The source in the same slot, and barriers that it has to send, do not wait for all of it.
StreamTask::Step StreamTask::show(std::span<const LooksAhead::Waiting> waiting) {
  ++calls_;
  const OperatorResult answer = chain_->look_ahead(waiting);
  if (answer == OperatorResult::failed) return end(chain_->failure());
  shows_ = answer == OperatorResult::more;
  return shows_ ? give_way_then(Step::next_element) : take_gathered();
}

StreamTask::Step StreamTask::take_gathered() {
  const int head_input = gathered_.take(element_, element_input_);
  if (!gathered_.hands_out()) {
    handing_out_took_ = executor_->now() - handing_out_since_;
    begin_gathering();
  }
  if (element_.batch.empty() && !element_.control) return Step::between_elements;
  offer(head_input);
  return Step::drive_chain;
}

}  // namespace hummer
