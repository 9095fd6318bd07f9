#include "runtime/stream_task.hpp"

namespace hummer {
namespace {

// Elements handled between two yields: long enough that the scheduler costs little,
// short enough that a slot's other tasks find their input in the cache.
constexpr int elements_per_turn = 4;
// Well below a millisecond; and quick enough that most entries are written before they change,
// which is cheaper than saving them.
constexpr int snapshot_steps_per_turn = 4;
constexpr Nanoseconds snapshot_retry_ns = 1'000'000;
constexpr Nanoseconds operator_retry_first_ns = 20'000;
constexpr Nanoseconds operator_retry_last_ns = 2'000'000;
// Nobody waits for its records the way an emitter does for room, so it is asked less often.
constexpr Nanoseconds source_retry_first_ns = 100'000;
constexpr Nanoseconds source_retry_last_ns = 10'000'000;

}  // namespace

StreamTask::StreamTask(Platform& platform, std::string name, std::string slot)
    : platform_(platform), chain_(std::make_unique<ChainDriver>(platform, wake_event_, metrics_)) {
  metrics_.name = std::move(name);
  metrics_.slot = std::move(slot);
  chain_->end_once(cancelled_);
}

StreamTask::~StreamTask() = default;

void StreamTask::cancel() {
  cancelled_.store(true, std::memory_order_release);
  wake_event_.notify();
}

void StreamTask::stop() {
  stopping_.store(true, std::memory_order_release);
  wake_event_.notify();
}

std::string StreamTask::describe_state() const {
  const TaskState state = metrics_.state.load(std::memory_order_acquire);
  const std::uint32_t index = metrics_.current_operator.load(std::memory_order_relaxed);
  const std::string op = index < metrics_.operators.size() ? metrics_.operators[index].name : "";
  switch (state) {
    case TaskState::created: return "not started";
    case TaskState::running: return "inside operator '" + op + "'";
    case TaskState::waiting_for_input: return "waiting for input";
    case TaskState::blocked: return "blocked after operator '" + op + "'";
    case TaskState::finished: return "finished";
  }
  return {};
}

void StreamTask::enable_snapshots(Guarantee guarantee,
                                  std::function<void(StreamTask&, TaskSnapshot)> on_snapshot) {
  guarantee_ = guarantee;
  on_snapshot_ = std::move(on_snapshot);
  chain_->set_on_snapshot([this](TaskSnapshot snapshot) {
    if (recording_ != 0 && recording_ == snapshot.epoch) {
      // Its rests, at the end of the stream: they are reported with the records in flight.
      for (SnapshotPiece& piece : snapshot.pieces) state_at_barrier_.push_back(std::move(piece));
      return;
    }
    snapshot.room = chain_->snapshot_buffers();
    on_snapshot_(*this, std::move(snapshot));
  });
}

void StreamTask::trigger(std::uint64_t epoch, bool whole, bool unaligned) {
  if (whole) triggered_whole_.store(epoch, std::memory_order_relaxed);
  (unaligned ? overtaking_ : triggered_).store(epoch, std::memory_order_release);
  wake_event_.notify();
}

void StreamTask::pause_after(std::uint64_t epoch) {
  if (pause_after_.exchange(epoch, std::memory_order_acq_rel) != epoch) wake_event_.notify();
}

void StreamTask::commit(std::uint64_t epoch) {
  commit_asked_.store(epoch, std::memory_order_release);
  wake_event_.notify();
}

void StreamTask::finish_committed() {
  finish_asked_.store(true, std::memory_order_release);
  wake_event_.notify();
}

Task<void> StreamTask::invoke() {
  Executor& executor = co_await current_executor();
  metrics_.began_ns.set(static_cast<std::uint64_t>(executor.recent_now()));
  merger_ = std::make_unique<WatermarkMerger>(inputs_.size());
  metrics_.state.store(TaskState::running, std::memory_order_release);
  if (Status status = chain_->open(executor); !status.ok()) {
    finish(std::move(status));
    co_return;
  }
  co_await run();
}

// The one loop of a task.
Task<void> StreamTask::run() {
  Executor& executor = co_await current_executor();
  Nanoseconds retry_ns = operator_retry_first_ns;
  int turn = 0;
  bool end_sent = false;
  bool operator_blocks = false;
  for (;;) {
    if (cancelled_.load(std::memory_order_relaxed)) {
      finish({ErrorCode::cancelled, "cancelled"});
      co_return;
    }
    // 1. What is in flight goes first.
    metrics_.calls.add(1);
    if (metrics_.turn != nullptr) metrics_.turn->store(&metrics_, std::memory_order_relaxed);
    OperatorResult answer = chain_->run();
    if (answer == OperatorResult::failed) {
      finish(chain_->failure());
      co_return;
    }
    if (answer == OperatorResult::blocked) {
      if (step_snapshot()) {
        co_await yield();
        chain_->set_now(executor.recent_now());
        continue;
      }
      metrics_.state.store(TaskState::blocked, std::memory_order_relaxed);
      bool refused = false;
      if (barrier_waits()) {
        const OperatorResult passed = pass_barriers();
        if (passed == OperatorResult::done) continue;
        refused = passed == OperatorResult::blocked;
        if (!refused) {
          finish(chain_->failure());
          co_return;
        }
      }
      if (commit_due() && !commit_epoch()) co_return;
      const bool by_operator = refused || chain_->blocked_by_operator();
      wake_event_.prepare_wait();
      const bool more_to_do = cancelled_.load(std::memory_order_relaxed) || commit_due() ||
                              (!refused && barrier_waits());
      answer = more_to_do    ? OperatorResult::done
               : by_operator ? OperatorResult::blocked
                             : chain_->run();
      if (answer != OperatorResult::blocked) {
        wake_event_.cancel_wait();
        if (answer == OperatorResult::failed) {
          finish(chain_->failure());
          co_return;
        }
      } else if (by_operator || chain_->blocked_by_operator()) {
        operator_blocks = true;
        metrics_.operator_blocks.store(true, std::memory_order_relaxed);
        const Nanoseconds deadline = executor.now() + retry_ns;
        retry_ns = std::min(retry_ns * 2, operator_retry_last_ns);
        begin_wait(executor, true);
        co_await wake_event_.wait_until(deadline);
        end_wait(executor, true);
      } else if (chain_->snapshot_under_way()) {
        begin_wait(executor, true);
        co_await wake_event_.wait_until(executor.now() + snapshot_retry_ns);
        end_wait(executor, true);
      } else {
        begin_wait(executor, true);
        co_await wake_event_.wait();
        end_wait(executor, true);
      }
      metrics_.state.store(TaskState::running, std::memory_order_relaxed);
      chain_->set_now(executor.recent_now());
      continue;
    }
    retry_ns = operator_retry_first_ns;
    if (operator_blocks) {
      operator_blocks = false;
      metrics_.operator_blocks.store(false, std::memory_order_relaxed);
    }
    if (commit_due() && !commit_epoch()) co_return;
    if (end_sent) {
      if (on_snapshot_ != nullptr) {
        co_await wait_for_commits();
      } else {
        finish({});
      }
      co_return;
    }
    if (++turn >= elements_per_turn) {
      turn = 0;
      for (int i = 0; i < snapshot_steps_per_turn && step_snapshot(); ++i) continue;
      co_await yield();
      chain_->set_now(executor.recent_now());
    }
    if (chain_->next_timer() != never && chain_->fire_timer(executor.recent_now())) continue;

    // 2. The next element.
    bool at_hand = true;
    bool barrier = chain_->has_source() && barrier_waits();
    if (barrier) {
      // Before anything else is asked of the source.
    } else if (chain_->has_source()) {
      if (const std::uint64_t epoch = triggered_.load(std::memory_order_acquire);
          epoch > last_barrier_) {
        last_barrier_ = epoch;
        element_.control =
            Control::barrier(epoch, triggered_whole_.load(std::memory_order_relaxed) == epoch);
        offer(0);
        continue;
      }
      if (stopping_.load(std::memory_order_relaxed)) chain_->end_source();
      answer = produce();
      if (answer == OperatorResult::failed) {
        finish(chain_->failure());
        co_return;
      }
      end_sent = answer == OperatorResult::done;
      at_hand = answer != OperatorResult::blocked || !chain_->idle();
      if (at_hand) {
        idle_announced_ = false;
        source_gave();
      }
    } else {
      const Next next = take_input();
      if (next == Next::failed) {
        finish({ErrorCode::peer_gone, "a task upstream of '" + metrics_.name + "' ended early"});
        co_return;
      }
      end_sent = next == Next::ended;
      barrier = next == Next::barrier;
      at_hand = next != Next::nothing;
      if (at_hand) idle_announced_ = false;
    }
    if (!at_hand) barrier = barrier_waits();
    if (barrier) {
      answer = pass_barriers();
      if (answer == OperatorResult::failed) {
        finish(chain_->failure());
        co_return;
      }
      if (answer == OperatorResult::blocked) {  // an operator has something to finish first
        wake_event_.prepare_wait();
        begin_wait(executor, true);
        co_await wake_event_.wait_until(executor.now() + operator_retry_last_ns);
        end_wait(executor, true);
        chain_->set_now(executor.recent_now());
      }
      continue;
    }
    if (at_hand) continue;

    // 3. Nothing at hand: let waiting records out, then sleep.
    if (chain_->take_woken()) idle_announced_ = false;
    if (!idle_announced_) {
      idle_announced_ = true;
      element_.control = Control::idle();
      offer(0);
      continue;
    }
    if (step_snapshot()) continue;
    metrics_.state.store(TaskState::waiting_for_input, std::memory_order_relaxed);
    wake_event_.prepare_wait();
    bool ready =
        cancelled_.load(std::memory_order_relaxed) || commit_due() || chain_->woken() ||
        barrier_waits() ||
        (chain_->has_source() && (stopping_.load(std::memory_order_relaxed) ||
                                  triggered_.load(std::memory_order_acquire) > last_barrier_));
    for (const Input& input : inputs_) {
      ready = ready || (!input.ended && !input.waits &&
                        (input.channel->poll() != nullptr || input.channel->producer_gone()));
    }
    if (chain_->has_source() && !ready) {
      // A source may have got something between its answer and prepare_wait().
      answer = produce();
      if (answer == OperatorResult::failed) {
        wake_event_.cancel_wait();
        finish(chain_->failure());
        co_return;
      }
      end_sent = answer == OperatorResult::done;
      ready = answer != OperatorResult::blocked || !chain_->idle();
      if (ready) {
        idle_announced_ = false;
        source_gave();
      }
      ready = ready || chain_->woken();
    }
    if (ready) {
      wake_event_.cancel_wait();
    } else {
      begin_wait(executor, false);
      const Nanoseconds until = latest_look(executor.now());
      if (until != never) {
        co_await wake_event_.wait_until(until);
      } else {
        co_await wake_event_.wait();
      }
      end_wait(executor, false);
    }
    metrics_.state.store(TaskState::running, std::memory_order_relaxed);
    chain_->set_now(executor.recent_now());
  }
}

StreamTask::Next StreamTask::take_input() {
  const std::size_t count = inputs_.size();
  if (const Control further = merger_->next()) {
    element_.control = further;
    offer(0);
    return Next::element;
  }
  if (barrier_due_ != 0) {
    element_.control = Control::barrier(std::exchange(barrier_due_, 0), whole_);
    offer(0);
    return Next::element;
  }
  for (std::size_t tried = 0; tried < count; ++tried) {
    const std::size_t index = next_input_;
    next_input_ = next_input_ + 1 == count ? 0 : next_input_ + 1;
    Input& input = inputs_[index];
    if (input.ended || input.waits) continue;
    const bool gone = input.channel->producer_gone();
    Element* element = input.channel->poll();
    if (input.channel->announced() > last_barrier_) [[unlikely]]
      return Next::barrier;
    if (recording_ != 0) [[unlikely]]
      record_inputs();
    if (element == nullptr) {
      if (gone) return Next::failed;
      continue;
    }
    take_spare_of(input.head_input);
    std::swap(element_.batch, element->batch);
    element_.control = std::exchange(element->control, {});
    input.channel->release();
    if (recording_ != 0 && !input.recorded) [[unlikely]] {
      in_flight_.add({chain_->uid(0), input.head_input}, Hop::own_task, element_.batch);
    }
    const bool something = take_element(index, element_);
    if (!something && barrier_due_ != 0 && !merger_->all_ended()) return take_input();
    if (merger_->all_ended()) {
      element_.control = Control::end();
      offer(input.head_input);
      return Next::ended;
    }
    if (something) {
      offer(input.head_input);
      return Next::element;
    }
  }
  return Next::nothing;
}

// Hands element_ to the chain, which leaves its used batch there.
void StreamTask::offer(int head_input) {
  if (element_.control.kind == Control::Kind::barrier) {
    // Whoever triggered it had said before which one is complete.
    chain_->set_last_complete(commit_asked_.load(std::memory_order_acquire));
  }
  chain_->offer(element_, head_input);
  std::swap(element_input_, chain_input_);
}

// A used batch goes back by an input of the type it was made for.
void StreamTask::take_spare_of(int head_input) {
  if (element_input_ == head_input) return;
  const auto least = static_cast<std::size_t>(std::max(element_input_, head_input)) + 1;
  if (spares_.size() < least) spares_.resize(least);
  std::swap(element_.batch, spares_[static_cast<std::size_t>(element_input_)]);
  std::swap(element_.batch, spares_[static_cast<std::size_t>(head_input)]);
  element_input_ = head_input;
}

// Merges the control; false when nothing is left to do for the chain.
bool StreamTask::take_element(std::size_t index, Element& element) {
  switch (element.control.kind) {
    case Control::Kind::barrier: take_barrier(inputs_[index], element.control); break;
    case Control::Kind::watermark: merger_->watermark(index, element.control.time); break;
    case Control::Kind::end:
      inputs_[index].ended = true;
      merger_->ended(index);
      complete_alignment();
      break;
    case Control::Kind::inactive: merger_->inactive(index); break;
    case Control::Kind::active: merger_->active(index); break;
    case Control::Kind::idle:
    case Control::Kind::none: return !element.batch.empty() || element.control;
  }
  element.control = merger_->next();
  return !element.batch.empty() || element.control;
}

// A barrier above the one that is being waited for takes its place: the earlier checkpoint was
// given up.
void StreamTask::take_barrier(Input& input, const Control& barrier) {
  const std::uint64_t epoch = barrier.epoch;
  if (epoch <= last_barrier_ || epoch < aligning_) return;
  forget_recording();
  if (epoch > aligning_) {
    for (Input& other : inputs_) other.barrier_came = other.waits = false;
    aligning_ = epoch;
    whole_ = barrier.whole();
  }
  input.barrier_came = true;
  input.waits = guarantee_ == Guarantee::exactly_once;
  complete_alignment();
}

void StreamTask::complete_alignment() {
  if (aligning_ == 0) return;
  for (const Input& input : inputs_) {
    if (!input.barrier_came && !input.ended) return;
  }
  for (Input& input : inputs_) input.barrier_came = input.waits = false;
  last_barrier_ = barrier_due_ = std::exchange(aligning_, 0);
}

// False: it has failed, and the task has finished.
bool StreamTask::commit_epoch() {
  Status status = commit_asked();
  if (status.ok()) return true;
  finish(std::move(status));
  return false;
}

Status StreamTask::commit_asked() {
  const std::uint64_t epoch = commit_asked_.load(std::memory_order_acquire);
  HUMMER_TRY(chain_->commit(epoch));
  committed_.store(epoch, std::memory_order_release);
  if (on_committed_) on_committed_();
  return {};
}

// Nothing is at hand: when to look again, if nobody wakes the task before.
Nanoseconds StreamTask::latest_look(Nanoseconds now) {
  Nanoseconds until = chain_->next_timer();
  if (chain_->snapshot_under_way()) until = std::min(until, now + snapshot_retry_ns);
  if (chain_->source_needs_retry() && !is_paused()) {
    if (!chain_->source_has_woken()) {
      metrics_.source_waits.store(true, std::memory_order_relaxed);
    }
    source_retry_ns_ =
        std::clamp(source_retry_ns_ * 2, source_retry_first_ns, source_retry_last_ns);
    until = std::min(until, now + source_retry_ns_);
  }
  return until;
}

void StreamTask::source_gave() {
  source_retry_ns_ = 0;
  if (metrics_.source_waits.load(std::memory_order_relaxed)) {
    metrics_.source_waits.store(false, std::memory_order_relaxed);
  }
}

OperatorResult StreamTask::produce() {
  return is_paused() ? OperatorResult::blocked : chain_->produce();
}

bool StreamTask::is_paused() const {
  const std::uint64_t pause = pause_after_.load(std::memory_order_acquire);
  return pause != 0 && last_barrier_ >= pause;
}

// Whether there may be input that it does not take.
bool StreamTask::holds_input() const {
  if (chain_->has_source()) return is_paused();
  for (const Input& input : inputs_) {
    if (input.waits) return true;
  }
  return false;
}

bool StreamTask::step_snapshot() {
  if (!chain_->snapshot_under_way() || recording_ != 0) return false;
  if (chain_->snapshot_buffers().use_count() >
      static_cast<long>(chain_->snapshot_buffers()->most()))
    return false;
  // What fails in it is seen at the next call of the chain.
  (void)chain_->step_snapshot();
  return true;
}

// State may be larger than memory, so it goes part by part; false: the task is over.
Task<bool> StreamTask::save_last() {
  Executor& executor = co_await current_executor();
  Status status = chain_->begin_last_snapshot();
  while (status.ok() && chain_->snapshot_under_way()) {
    if (cancelled_.load(std::memory_order_relaxed)) {
      status = {ErrorCode::cancelled, "cancelled"};
    } else if (!step_snapshot()) {  // the disk is slower
      wake_event_.prepare_wait();
      co_await wake_event_.wait_until(executor.now() + snapshot_retry_ns);
    } else {
      status = chain_->failure();
      co_await yield();
    }
  }
  if (status.ok()) co_return true;
  finish(std::move(status));
  co_return false;
}

Task<void> StreamTask::wait_for_commits() {
  Executor& executor = co_await current_executor();
  if (!co_await save_last()) co_return;
  ended_.store(true, std::memory_order_release);
  metrics_.state.store(TaskState::waiting_for_input, std::memory_order_relaxed);
  for (;;) {
    if (cancelled_.load(std::memory_order_relaxed)) {
      finish({ErrorCode::cancelled, "cancelled"});
      co_return;
    }
    const bool last = finish_asked_.load(std::memory_order_acquire);
    if (commit_due()) {
      if (!commit_epoch()) co_return;
      continue;
    }
    if (last) {
      finish({});
      co_return;
    }
    wake_event_.prepare_wait();
    if (commit_due() || finish_asked_.load(std::memory_order_acquire) ||
        cancelled_.load(std::memory_order_relaxed)) {
      wake_event_.cancel_wait();
    } else {
      begin_wait(executor, false);
      co_await wake_event_.wait();
      end_wait(executor, false);
    }
  }
}

void StreamTask::begin_wait(Executor& executor, bool blocked) {
  wait_began_ = executor.recent_now();
  wait_holds_input_ = blocked || holds_input();
  metrics_.waits.begin(wait_began_, blocked);
  if (blocked) executor.stall_begins();
}

void StreamTask::end_wait(Executor& executor, bool blocked) {
  const Nanoseconds now = executor.recent_now();
  if (wait_holds_input_) chain_->count_input_held(std::max<Nanoseconds>(now - wait_began_, 0));
  metrics_.waits.end(now);
  if (blocked) executor.stall_ends();
}

void StreamTask::finish(Status status) {
  if (!status.ok()) chain_->abandon_emitters();
  for (Input& input : inputs_) input.channel->abandon_consumer();
  result_ = std::move(status);
  metrics_.waits.begin(platform_.now(), false);
  metrics_.state.store(TaskState::finished, std::memory_order_release);
  if (on_finished_) on_finished_(*this);
}

Status StreamTask::close() { return chain_->close(); }

}  // namespace hummer
