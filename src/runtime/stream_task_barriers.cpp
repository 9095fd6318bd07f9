// StreamTask: barriers that overtake. See stream_task.hpp and in_flight.hpp.
#include <algorithm>
#include <utility>

#include "runtime/stream_task.hpp"

namespace hummer {

// Something to do for pass_barriers().
bool StreamTask::barrier_waits() {
  if (BarrierRelay* relay = chain_->relay(); relay != nullptr) {
    if (!passes_on_) return false;
    if (!chain_->idle()) relay->read_ahead();
    return relay->has_barrier();
  }
  if (newest_barrier() > last_barrier_) return true;
  if (recording_ == 0) return false;
  return std::any_of(inputs_.begin(), inputs_.end(), [&](const Input& input) {
    return !input.recorded &&
           (input.channel->end_position() != 0 || input.channel->announced() == recording_);
  });
}

std::uint64_t StreamTask::newest_barrier() const {
  if (chain_->has_source()) return overtaking_.load(std::memory_order_acquire);
  std::uint64_t newest = 0;
  for (const Input& input : inputs_) {
    if (!input.ended) newest = std::max(newest, input.channel->announced());
  }
  return newest;
}

// blocked: not now, see ChainDriver::overtake.
OperatorResult StreamTask::pass_barriers() {
  if (chain_->relay() != nullptr) {
    pass_on_received();
    return OperatorResult::done;
  }
  const std::uint64_t epoch = newest_barrier();
  if (epoch > last_barrier_) {
    if (passes_on_) {
      pass_on(epoch);
    } else if (const OperatorResult answer = pass_by(epoch); answer != OperatorResult::done) {
      return answer;
    }
  }
  if (recording_ != 0) record_inputs();
  return OperatorResult::done;
}

OperatorResult StreamTask::pass_by(std::uint64_t epoch) {
  std::vector<SnapshotPiece> pieces;
  InFlight in_flight;
  chain_->set_last_complete(commit_asked_.load(std::memory_order_acquire));
  const OperatorResult answer = chain_->take_unaligned_barrier(epoch, pieces, in_flight);
  if (answer != OperatorResult::done) return answer;
  last_barrier_ = recording_ = epoch;
  state_at_barrier_ = std::move(pieces);
  in_flight_ = std::move(in_flight);
  gathered_.each([&](const Batch& batch, int head_input) {
    in_flight_.add({chain_->uid(0), head_input}, Hop::own_task, batch);
  });
  // One that was being aligned has been given up, or waits among what was gathered.
  gathered_.forget_barriers();
  aligning_ = barrier_due_ = 0;
  for (Input& input : inputs_) {
    input.barrier_came = false;
    input.recorded = input.ended;
  }
  return OperatorResult::done;
}

// What the barrier has overtaken on the inputs where it is known; reports when it is on all.
void StreamTask::record_inputs() {
  bool all = true;
  for (Input& input : inputs_) {
    if (input.recorded) continue;
    std::string runs;
    const std::uint64_t end = input.channel->end_position();
    if (auto announcement = input.channel->take_out_of_band(recording_)) {
      append_waiting(*input.channel, announcement->position, runs);
      runs += announcement->in_flight;
    } else if (end != 0) {  // its task has ended without this barrier: its last snapshot counts
      append_waiting(*input.channel, end, runs);
    } else {
      all = false;
      continue;
    }
    in_flight_.add_runs({chain_->uid(0), input.head_input}, Hop::own_task, runs);
    input.recorded = true;
  }
  if (!all) return;
  for (SnapshotPiece& piece : in_flight_.take_pieces(chain_->subtask())) {
    state_at_barrier_.push_back(std::move(piece));
  }
  on_snapshot_(*this, {.epoch = std::exchange(recording_, 0),
                       .pieces = std::exchange(state_at_barrier_, {}),
                       .complete = !chain_->snapshot_under_way(),
                       .room = chain_->snapshot_buffers()});
}

void StreamTask::forget_recording() {
  recording_ = 0;
  state_at_barrier_.clear();
  in_flight_ = {};
}

// What has been published before `until` and not been taken.
void StreamTask::append_waiting(const RingChannel& channel, std::uint64_t until,
                                std::string& runs) const {
  for (std::uint64_t at = channel.position(); at < until; ++at) {
    if (const Batch* batch = channel.peek(at)) append_run(*batch, runs);
  }
}

// A sender: everything before the barrier that the transport has not got yet.
void StreamTask::pass_on(std::uint64_t epoch) {
  last_barrier_ = epoch;
  RingChannel& channel = *inputs_.front().channel;
  std::string runs;
  chain_->collect_all(runs);
  if (auto announcement = channel.take_out_of_band(epoch)) {
    append_waiting(channel, announcement->position, runs);
    runs += announcement->in_flight;
    chain_->send_out_of_band(epoch, std::move(runs));
  }
}

// A receiver: what came before the barrier and has not been published here.
void StreamTask::pass_on_received() {
  while (auto announcement = chain_->relay()->take_barrier()) {
    std::string runs;
    chain_->collect_all(runs);
    runs += announcement->in_flight;
    chain_->send_out_of_band(announcement->epoch, std::move(runs));
  }
}

}  // namespace hummer
