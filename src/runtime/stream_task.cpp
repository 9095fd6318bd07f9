#include "runtime/stream_task.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

// Elements handled between two yields: long enough that the scheduler costs little,
// short enough that a slot's other tasks find their input in the cache.
constexpr int elements_per_turn = 4;
// Of a snapshot that hurries: quick enough that most entries are written before they change, which
// is cheaper than saving them, and no longer than a record may be kept waiting.
constexpr int snapshot_steps_per_turn = 8;
constexpr Nanoseconds snapshot_ns_per_turn = milliseconds(2);
// Of a slot's time: one that waits less has none to spare.
constexpr Nanoseconds least_waited_part = 16;
// Of a batch: with less of it missing it is full.
constexpr std::uint64_t full_but_for_part = 8;
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
  aligns_ = guarantee == Guarantee::exactly_once;
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
  executor_ = &co_await current_executor();
  for (Step step = Step::begin;;) {
    switch (step) {
      case Step::begin: step = begin(); break;
      case Step::drive_chain: step = drive_chain(); break;
      case Step::chain_blocked: step = chain_blocked(); break;
      case Step::wait_for_room: step = wait_for_room(); break;
      case Step::wait_for_operator: step = wait_for_operator(); break;
      case Step::between_elements: step = between_elements(); break;
      case Step::next_element: step = next_element(); break;
      case Step::take_input: step = take_input(); break;
      case Step::ask_source: step = ask_source(); break;
      case Step::pass_barrier: step = pass_barrier(); break;
      case Step::nothing_at_hand: step = nothing_at_hand(); break;
      case Step::wait_for_input: step = wait_for_input(); break;
      case Step::end_stream: step = end_stream(); break;
      case Step::last_snapshot: step = last_snapshot(); break;
      case Step::await_commits: step = await_commits(); break;
      case Step::give_way:
        co_await yield();
        chain_->set_now(executor_->recent_now());
        step = after_pause_;
        break;
      case Step::sleep:
        co_await wake_event_.wait_until(sleep_until_);
        wake_up();
        step = after_pause_;
        break;
      case Step::ended: finish(); co_return;
    }
  }
}

StreamTask::Step StreamTask::begin() {
  metrics_.began_ns.set(static_cast<std::uint64_t>(executor_->recent_now()));
  merger_ = std::make_unique<WatermarkMerger>(inputs_.size());
  if (ChoosesInput* chooser = chain_->chooser()) {
    std::vector<int> inputs;
    for (const Input& input : inputs_) inputs.push_back(input.head_input);
    chooser->set_channels(inputs);
  }
  metrics_.state.store(TaskState::running, std::memory_order_release);
  Status status = chain_->open(*executor_);
  return status.ok() ? Step::drive_chain : end(std::move(status));
}

// Whoever finds that the chain has failed comes here: it answers so again.
StreamTask::Step StreamTask::drive_chain() {
  if (is_cancelled()) return end({ErrorCode::cancelled, "cancelled"});
  metrics_.calls.add(1);
  if (metrics_.turn != nullptr) metrics_.turn->store(&metrics_, std::memory_order_relaxed);
  const OperatorResult answer = chain_->run();
  if (answer == OperatorResult::failed) return end(chain_->failure());
  if (answer == OperatorResult::blocked) return Step::chain_blocked;
  operator_retry_ns_ = 0;
  metrics_.operator_blocks.store(false, std::memory_order_relaxed);
  if (answer == OperatorResult::more) return amid_element();
  return commit_then(after_chain_);
}

// What one element makes, such as the end of a sort's input, may take minutes.
StreamTask::Step StreamTask::amid_element() {
  turn_ = 0;
  if (chain_->snapshot_under_way()) step_snapshot_in_turn();
  const Step next = commit_then(Step::drive_chain);
  return next == Step::drive_chain ? give_way_then(next) : next;
}

StreamTask::Step StreamTask::chain_blocked() {
  if (step_snapshot_meanwhile()) return give_way_then(Step::drive_chain);
  bool by_operator = chain_->blocked_by_operator();
  if (barrier_waits()) {
    if (pass_barriers() != OperatorResult::blocked) return Step::drive_chain;
    by_operator = true;
  }
  return commit_then(by_operator ? Step::wait_for_operator : Step::wait_for_room);
}

StreamTask::Step StreamTask::wait_for_room() {
  wake_event_.prepare_wait();
  if (is_cancelled() || commit_due() || barrier_waits() ||
      chain_->run() != OperatorResult::blocked) {
    return stay_awake();
  }
  if (chain_->blocked_by_operator()) return sleep_until(latest_try(), TaskState::blocked);
  const bool snapshot = chain_->snapshot_under_way();
  return sleep_until(snapshot ? next_snapshot_step(executor_->now()) : never, TaskState::blocked);
}

// A barrier that comes just before the wait is seen at the next try.
StreamTask::Step StreamTask::wait_for_operator() {
  wake_event_.prepare_wait();
  if (is_cancelled() || commit_due()) return stay_awake();
  return sleep_until(latest_try(), TaskState::blocked);
}

StreamTask::Step StreamTask::between_elements() {
  if (++turn_ < elements_per_turn) return next_element();
  turn_ = 0;
  if (chain_->snapshot_under_way()) step_snapshot_in_turn();
  return give_way_then(Step::next_element);
}

StreamTask::Step StreamTask::next_element() {
  if (chain_->next_timer() != never && chain_->fire_timer(executor_->recent_now())) {
    return Step::drive_chain;
  }
  return chain_->has_source() ? Step::ask_source : Step::take_input;
}

StreamTask::Step StreamTask::ask_source() {
  if (barrier_waits()) return Step::pass_barrier;
  if (const std::uint64_t epoch = triggered_.load(std::memory_order_acquire);
      epoch > last_barrier_) {
    last_barrier_ = epoch;
    const bool whole = triggered_whole_.load(std::memory_order_relaxed) == epoch;
    element_.control = Control::barrier(epoch, whole);
    offer(0);
    return Step::drive_chain;
  }
  if (stopping_.load(std::memory_order_relaxed)) chain_->end_source();
  return produce() ? Step::drive_chain : Step::nothing_at_hand;
}

StreamTask::Step StreamTask::take_input() {
  if (gathered_.hands_out() && newest_barrier() > last_barrier_) return Step::pass_barrier;
  if (gathered_.hands_out() && !takes_meanwhile()) return hand_on();
  if (is_gathered()) return hand_out();
  int head_input = 0;
  switch (poll_inputs(head_input)) {
    case Polled::element: return feed(head_input);
    case Polled::barrier: idle_announced_ = false; return Step::pass_barrier;
    case Polled::gone:
      return end({ErrorCode::peer_gone, "a task upstream of '" + metrics_.name + "' ended early"});
    case Polled::nothing: break;
  }
  return gathered_.hands_out() ? hand_on() : Step::nothing_at_hand;
}

// Merges the control; false when nothing is left to do for the chain.
bool StreamTask::take_element(std::size_t index, Element& element) {
  if (ChoosesInput* chooser = chain_->chooser()) {
    if (!element.batch.empty()) chooser->comes_by(index);
    if (element.control.kind == Control::Kind::end) chooser->has_ended(index);
  }
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

StreamTask::Step StreamTask::pass_barrier() {
  if (pass_barriers() != OperatorResult::blocked) return Step::drive_chain;
  wake_event_.prepare_wait();  // an operator has something to finish first
  return sleep_until(executor_->now() + operator_retry_last_ns, TaskState::blocked);
}

StreamTask::Step StreamTask::nothing_at_hand() {
  if (barrier_waits()) return Step::pass_barrier;
  if (gathered_.has_more()) return wait_for_more();
  if (chain_->take_woken()) idle_announced_ = false;
  if (!idle_announced_) {
    element_.control = Control::idle();
    offer(0);
    idle_announced_ = true;
    return Step::drive_chain;
  }
  // Others of the slot may have something for it by then.
  return step_snapshot_meanwhile() ? give_way_then(Step::drive_chain) : Step::wait_for_input;
}

// A source may have got something between its answer and prepare_wait().
StreamTask::Step StreamTask::wait_for_input() {
  wake_event_.prepare_wait();
  if (is_cancelled() || commit_due() || chain_->woken() || barrier_waits() || input_at_hand() ||
      (chain_->has_source() && (produce() || chain_->woken()))) {
    return stay_awake();
  }
  return sleep_until(latest_look(), TaskState::waiting_for_input);
}

StreamTask::Step StreamTask::end_stream() {
  if (on_snapshot_ == nullptr) return end({});
  Status status = chain_->begin_last_snapshot();
  return status.ok() ? Step::last_snapshot : end(std::move(status));
}

// State may be larger than memory, so it goes part by part.
StreamTask::Step StreamTask::last_snapshot() {
  if (!chain_->failure().ok()) return end(chain_->failure());
  if (!chain_->snapshot_under_way()) {
    ended_.store(true, std::memory_order_release);
    return Step::await_commits;
  }
  if (is_cancelled()) return end({ErrorCode::cancelled, "cancelled"});
  if (step_snapshot()) return give_way_then(Step::last_snapshot);
  wake_event_.prepare_wait();  // the disk is slower
  return sleep_until(executor_->now() + snapshot_retry_ns, TaskState::running, Step::last_snapshot);
}

StreamTask::Step StreamTask::await_commits() {
  if (is_cancelled()) return end({ErrorCode::cancelled, "cancelled"});
  const bool last = finish_asked_.load(std::memory_order_acquire);
  if (commit_due()) return commit_then(Step::await_commits);
  if (last) return end({});
  wake_event_.prepare_wait();
  if (commit_due() || finish_asked_.load(std::memory_order_acquire) || is_cancelled()) {
    return stay_awake(Step::await_commits);
  }
  return sleep_until(never, TaskState::waiting_for_input, Step::await_commits);
}

StreamTask::Step StreamTask::commit_then(Step next) {
  if (!commit_due()) return next;
  const std::uint64_t epoch = commit_asked_.load(std::memory_order_acquire);
  if (Status status = chain_->commit(epoch); !status.ok()) return end(std::move(status));
  committed_.store(epoch, std::memory_order_release);
  if (on_committed_) on_committed_();
  return next;
}

StreamTask::Step StreamTask::give_way_then(Step next) {
  after_pause_ = next;
  return Step::give_way;
}

// Behind wake_event_.prepare_wait(). Every wait counts in the metrics of the task and its slot, and
// for the clock of its input.
StreamTask::Step StreamTask::sleep_until(Nanoseconds until, TaskState state, Step next) {
  const bool blocked = state == TaskState::blocked;
  after_pause_ = next;
  sleep_until_ = until;
  sleep_began_ = executor_->recent_now();
  sleep_holds_input_ = blocked || holds_input();
  metrics_.state.store(state, std::memory_order_relaxed);
  metrics_.waits.begin(sleep_began_, blocked);
  if (blocked) executor_->stall_begins();
  return Step::sleep;
}

void StreamTask::wake_up() {
  const Nanoseconds now = executor_->recent_now();
  if (sleep_holds_input_) chain_->count_input_held(std::max<Nanoseconds>(now - sleep_began_, 0));
  metrics_.waits.end(now);
  if (metrics_.state.load(std::memory_order_relaxed) == TaskState::blocked) {
    executor_->stall_ends();
  }
  metrics_.state.store(TaskState::running, std::memory_order_relaxed);
  chain_->set_now(now);
}

StreamTask::Step StreamTask::stay_awake(Step next) {
  wake_event_.cancel_wait();
  chain_->set_now(executor_->recent_now());
  return next;
}

StreamTask::Step StreamTask::end(Status status) {
  result_ = std::move(status);
  return Step::ended;
}

// Hands element_ to the chain, which leaves its used batch there.
void StreamTask::offer(int head_input) {
  if (element_.control.kind == Control::Kind::barrier) {
    // Whoever triggered it had said before which one is complete.
    chain_->set_last_complete(commit_asked_.load(std::memory_order_acquire));
  }
  if (element_.control.kind == Control::Kind::end) after_chain_ = Step::end_stream;
  ++elements_;
  chain_->offer(element_, head_input);
  std::swap(element_input_, chain_input_);
}

// The same of an element of the stream: there is something again that idle would let out.
StreamTask::Step StreamTask::feed(int head_input) {
  idle_announced_ = false;
  if (gathers()) return gather(head_input);
  offer(head_input);
  return Step::drive_chain;
}

// A barrier above the one that is being waited for takes its place: the earlier checkpoint was
// given up.
void StreamTask::take_barrier(Input& input, const Control& barrier) {
  const std::uint64_t epoch = barrier.epoch;
  if (epoch <= last_barrier_ || epoch < aligning_) return;
  forget_recording();
  if (epoch > aligning_) {
    for (Input& other : inputs_) other.barrier_came = false;
    aligning_ = epoch;
    whole_ = barrier.whole();
  }
  input.barrier_came = true;
  complete_alignment();
}

void StreamTask::complete_alignment() {
  if (aligning_ == 0) return;
  for (const Input& input : inputs_) {
    if (!input.barrier_came && !input.ended) return;
  }
  for (Input& input : inputs_) input.barrier_came = false;
  last_barrier_ = barrier_due_ = std::exchange(aligning_, 0);
}

// An operator blocks the chain: when to ask it again, if nobody wakes the task before.
Nanoseconds StreamTask::latest_try() {
  metrics_.operator_blocks.store(true, std::memory_order_relaxed);
  operator_retry_ns_ =
      std::clamp(operator_retry_ns_ * 2, operator_retry_first_ns, operator_retry_last_ns);
  return executor_->now() + operator_retry_ns_;
}

// Nothing is at hand: when to look again, if nobody wakes the task before.
Nanoseconds StreamTask::latest_look() {
  const Nanoseconds now = executor_->now();
  Nanoseconds until = chain_->next_timer();
  if (chain_->snapshot_under_way()) until = std::min(until, next_snapshot_step(now));
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

bool StreamTask::produce() {
  const OperatorResult answer = is_paused() ? OperatorResult::blocked : chain_->produce();
  if (answer == OperatorResult::blocked && chain_->idle()) return false;
  ++elements_;
  if (answer == OperatorResult::done) after_chain_ = Step::end_stream;
  idle_announced_ = false;
  source_retry_ns_ = 0;
  metrics_.source_waits.store(false, std::memory_order_relaxed);
  return true;
}

bool StreamTask::is_paused() const {
  const std::uint64_t pause = pause_after_.load(std::memory_order_acquire);
  return pause != 0 && last_barrier_ >= pause;
}

// Whether there may be input that it does not take.
bool StreamTask::holds_input() const {
  if (chain_->has_source()) return is_paused();
  return std::any_of(inputs_.begin(), inputs_.end(),
                     [&](const Input& input) { return waits(input); });
}

bool StreamTask::step_snapshot() {
  if (!chain_->snapshot_under_way() || !has_room_for_step()) return false;
  if (chain_->snapshot_epoch() != paced_epoch_) begin_pace();
  if (chain_->snapshot_hurries()) pace_.hurry();
  const Nanoseconds began = executor_->now();
  // What fails in it is seen at the next call of the chain.
  (void)chain_->step_snapshot();
  pace_.stepped(began, executor_->now());
  return true;
}

// While records come.
void StreamTask::step_snapshot_in_turn() {
  if (!snapshot_step_is_due()) return;
  const Nanoseconds until = executor_->now() + snapshot_ns_per_turn;
  for (int i = 0; i < snapshot_steps_per_turn && step_snapshot(); ++i) {
    if (!pace_.hurries() || executor_->now() >= until) return;
  }
}

// While there is nothing else to do for the task: time that nobody in the slot wants is free, and
// the end of the stream waits for its snapshot.
bool StreamTask::step_snapshot_meanwhile() {
  const bool paced = after_chain_ != Step::end_stream && executor_->others_are_ready();
  return (!paced || snapshot_step_is_due()) && step_snapshot();
}

bool StreamTask::snapshot_step_is_due() const {
  return chain_->snapshot_epoch() != paced_epoch_ || chain_->snapshot_hurries() ||
         pace_.due(executor_->recent_now());
}

void StreamTask::begin_pace() {
  paced_epoch_ = chain_->snapshot_epoch();
  const Nanoseconds now = executor_->now();
  pace_.begin(now, is_saturated(now));
}

// Since the last snapshot its slot has hardly waited, and batches came full: those of a task that
// has time to spare are smaller, as it takes what there is.
bool StreamTask::is_saturated(Nanoseconds now) {
  const OperatorMetrics& head = metrics_.operators.front();
  const WaitTimes::Spent spent = executor_->waited();
  const Load load{.at = now,
                  .waited = spent.idle_ns + spent.stalled_ns,
                  .elements = elements_,
                  .records = (chain_->has_source() ? head.records_out : head.records_in).get()};
  const Load before = std::exchange(load_, load);
  const bool waited = (load.waited - before.waited) * least_waited_part >= load.at - before.at;
  const std::uint64_t full = (load.elements - before.elements) * chain_->batch_records();
  return !waited && (load.records - before.records) >= full - full / full_but_for_part;
}

// Not too much of it waits for the disk.
bool StreamTask::has_room_for_step() const {
  return recording_ == 0 && chain_->snapshot_buffers().use_count() <=
                                static_cast<long>(chain_->snapshot_buffers()->most());
}

Nanoseconds StreamTask::next_snapshot_step(Nanoseconds now) const {
  return has_room_for_step() ? std::max(pace_.next(), now) : now + snapshot_retry_ns;
}

void StreamTask::finish() {
  if (!result_.ok()) chain_->abandon_emitters();
  for (Input& input : inputs_) input.channel->abandon_consumer();
  metrics_.waits.begin(platform_.now(), false);
  metrics_.state.store(TaskState::finished, std::memory_order_release);
  if (on_finished_) on_finished_(*this);
}

Status StreamTask::close() { return chain_->close(); }

}  // namespace hummer
