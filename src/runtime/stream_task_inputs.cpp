// StreamTask: from which of its channels the next element comes.
#include <algorithm>

#include "runtime/stream_task.hpp"

namespace hummer {
namespace {

// Of the input that is furthest behind; then one in turn.
constexpr int most_in_a_row = 32;

}  // namespace

// The one that the operator at the head has chosen.
std::size_t StreamTask::wanted_input() const {
  const ChoosesInput* const chooser = chain_->chooser();
  return chooser == nullptr ? ChoosesInput::any : chooser->wanted_channel();
}

// Into element_; by which input of the head it comes.
StreamTask::Polled StreamTask::poll_inputs(int& head_input) {
  const std::size_t count = inputs_.size();
  if (const Control further = merger_->next()) {
    element_.control = further;
    return Polled::element;
  }
  if (barrier_due_ != 0) {
    element_.control = Control::barrier(std::exchange(barrier_due_, 0), whole_);
    return Polled::element;
  }
  const std::size_t wanted = wanted_input();
  // What is behind in event time comes first: what the others bring would only wait for it, in the
  // state of joins and windows. So they wait in their channels, and their sources for room there.
  std::size_t behind = wanted != ChoosesInput::any ? wanted : merger_->furthest_behind();
  if (behind == WatermarkMerger::none ||
      (wanted == ChoosesInput::any && ++in_a_row_ > most_in_a_row)) {
    behind = WatermarkMerger::none;
    in_a_row_ = 0;
  }
  const std::size_t tries = wanted != ChoosesInput::any       ? 1
                            : behind == WatermarkMerger::none ? count
                                                              : count + 1;
  for (std::size_t tried = 0; tried < tries; ++tried) {
    const bool in_turn = behind == WatermarkMerger::none;
    const std::size_t index = in_turn ? next_input_ : std::exchange(behind, WatermarkMerger::none);
    if (in_turn) next_input_ = next_input_ + 1 == count ? 0 : next_input_ + 1;
    Input& input = inputs_[index];
    if (input.ended || waits(input)) continue;
    const bool gone = input.channel->producer_gone();
    const bool has_element = input.channel->poll();
    if (input.channel->announced() > last_barrier_) [[unlikely]]
      return Polled::barrier;
    if (recording_ != 0) [[unlikely]]
      record_inputs();
    if (!has_element) {
      if (!gone) continue;
      return Polled::gone;
    }
    take_spare_of(input.head_input);
    input.channel->take(element_);
    if (recording_ != 0 && !input.recorded) [[unlikely]] {
      in_flight_.add({chain_->uid(0), input.head_input}, Hop::own_task, element_.batch);
    }
    head_input = input.head_input;
    const bool something = take_element(index, element_);
    if (merger_->all_ended()) {
      element_.control = Control::end();
      return Polled::element;
    }
    if (something) return Polled::element;
    if (barrier_due_ != 0) return poll_inputs(head_input);
  }
  return Polled::nothing;
}

// A used batch goes back by an input of the type it was made for.
void StreamTask::take_spare_of(int head_input) {
  if (element_input_ == head_input) return;
  const auto least = static_cast<std::size_t>(std::max(element_input_, head_input)) + 1;
  if (spares_.size() < least) spares_.resize(least);
  std::swap(element_.batch, spares_[static_cast<std::size_t>(element_input_)]);
  element_.batch.release();  // one was there already: of what was gathered
  std::swap(element_.batch, spares_[static_cast<std::size_t>(head_input)]);
  element_input_ = head_input;
}

// Before the source itself is asked.
bool StreamTask::input_at_hand() const {
  if (chain_->has_source()) {
    return stopping_.load(std::memory_order_relaxed) ||
           triggered_.load(std::memory_order_acquire) > last_barrier_;
  }
  const std::size_t wanted = wanted_input();
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& input) {
    if (wanted != ChoosesInput::any && &input != &inputs_[wanted]) return false;
    return !input.ended && !waits(input) &&
           (input.channel->poll() || input.channel->producer_gone());
  });
}

}  // namespace hummer
