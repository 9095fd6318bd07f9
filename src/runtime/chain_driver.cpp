#include "runtime/chain_driver.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include <hummer/source_splits.hpp>

#include "runtime/chain_context.hpp"

namespace hummer {
namespace {

// A restart reads so many files per task at most, besides the whole one.
constexpr int deltas_max = 20;
// Of operators that have more for one element, until others have their turn: as many as elements
// that a task takes in a row.
constexpr int most_more_answers = 4;

}  // namespace

ChainDriver::ChainDriver(Platform& platform, WakeEvent& wake_event, TaskMetrics& metrics)
    : platform_(platform), wake_event_(wake_event), metrics_(metrics) {}

ChainDriver::~ChainDriver() = default;

void ChainDriver::add_stage(std::unique_ptr<Operator> op, const StageOptions& options) {
  auto stage = std::make_unique<Stage>();
  stage->uid = options.uid;
  stage->context = std::make_unique<Context>(*this, options);
  op->set_context(*stage->context);
  buffers_->set_bytes(stage->context->snapshot_step_bytes(), options.snapshot_most_bytes);
  stage->output.set_soft_limit(options.batch_records);
  op->declare(stage->output);
  stage->failures = options.failures;
  if (stage->failures != nullptr) stage->failures->declare(stage->output);
  stage->exits.resize(stage->output.port_count());
  stage->metrics = &metrics_.operators.emplace_back();
  stage->metrics->name = options.name;
  stage->metrics->user = options.user_metrics != nullptr ? options.user_metrics
                                                         : std::make_shared<detail::UserMetrics>();
  for (std::size_t port = 0; port < stage->output.port_count(); ++port) {
    stage->output_has_views |= stage->output.type(port).holds_views;
  }
  if (stages_.empty()) {
    source_ = dynamic_cast<SourceOperator*>(op.get());
    relay_ = dynamic_cast<BarrierRelay*>(op.get());
    looks_ahead_ = dynamic_cast<LooksAhead*>(op.get());
    chooser_ = dynamic_cast<ChoosesInput*>(op.get());
  }
  stage->context->of_source_ = stages_.empty() && source_ != nullptr;
  if (stage->context->of_source_ && source_->has_splits()) {
    splits_ = std::make_unique<SourceSplits>(options.subtask, options.parallelism);
    stage->context->set_splits(splits_.get());
    stage->keeps_splits = true;
  } else if (!stages_.empty() && stages_.back()->keeps_splits) {
    stage->context->set_splits(splits_.get());
    stage->keeps_splits = op->keeps_splits();
  }
  stage->op = std::move(op);
  stages_.push_back(std::move(stage));
}

void ChainDriver::add_emitter(std::size_t stage, std::size_t port, std::unique_ptr<Emitter> emitter,
                              Destination target) {
  Exit& exit = stages_[stage]->exits[port];
  exit.emitters.push_back(std::move(emitter));
  exit.targets.push_back(std::move(target));
}

int ChainDriver::subtask() const { return stages_.front()->context->subtask(); }

const TypeDescriptor& ChainDriver::output_type(std::size_t stage, std::size_t port) const {
  return stages_[stage]->output.type(port);
}

OperatorResult ChainDriver::snapshot(Stage& stage, bool may_be_delta) {
  stage.context->begin_snapshot(
      may_be_delta && stage.last_snapshot != 0 && stage.last_snapshot == last_complete_ &&
      stage.deltas < deltas_max && stage.delta_bytes <= stage.whole_bytes);
  SnapshotPiece& part = stage.part = {.uid = stage.uid, .bytes = {}, .ended = stage.has_ended};
  ByteWriter out(part.bytes);
  const OperatorResult answer = guarded(stage, [&] {
    encode_states(stage.op->states(), out);
    Status status = stage.op->snapshot(out);
    if (!status.ok()) return stage.context->fail(std::move(status));
    return stage.op->snapshot_rest(out);
  });
  if (answer == OperatorResult::failed) return answer;
  part.bytes.resize(out.size());
  part.blocks = stage.context->take_blocks();
  part.goes_on = answer == OperatorResult::more;
  part.delta = stage.context->report().wrote_delta;
  stage.deltas = part.delta ? stage.deltas + 1 : 0;
  (part.delta ? stage.delta_bytes : stage.whole_bytes) += part.bytes.size();
  if (!part.delta) {
    stage.whole_bytes = part.bytes.size();
    stage.delta_bytes = 0;
  }
  return answer;
}

Status ChainDriver::begin_last_snapshot() {
  HUMMER_ASSERT(idle() && !snapshot_under_way());
  for (auto& stage : stages_) {
    if (snapshot(*stage, false) == OperatorResult::failed) return failure_;
    stage->part.ended = true;
  }
  std::vector<SnapshotPiece> pieces = take_complete_pieces(0);
  on_snapshot_({0, std::move(pieces), rests_.empty()});
  return {};
}

// Every stage has written its first part: those that are whole; the rests of the others follow in
// steps, each in one row.
std::vector<SnapshotPiece> ChainDriver::take_complete_pieces(std::uint64_t epoch) {
  snapshot_epoch_ = epoch;
  snapshot_hurries_ = false;
  buffers_->begin();
  std::vector<SnapshotPiece> pieces;
  for (auto& stage : stages_) {
    if (stage->part.goes_on) {
      rests_.push_back(stage.get());
    } else {
      pieces.push_back(std::move(stage->part));
    }
  }
  return pieces;
}

OperatorResult ChainDriver::step_snapshot() {
  Stage& stage = *rests_.front();
  // The first part was written with the barrier.
  if (stage.part.bytes.empty()) {
    stage.part.bytes = buffers_->take();
    ByteWriter out(stage.part.bytes);
    const OperatorResult answer = guarded(stage, [&] { return stage.op->snapshot_rest(out); });
    if (answer == OperatorResult::failed) return answer;
    stage.part.bytes.resize(out.size());
    stage.part.blocks = stage.context->take_blocks();
    stage.part.goes_on = answer == OperatorResult::more;
    if (stage.part.goes_on && stage.part.bytes.empty()) {
      buffers_->give_back(std::exchange(stage.part.bytes, {}));
      return OperatorResult::more;
    }
    (stage.part.delta ? stage.delta_bytes : stage.whole_bytes) += stage.part.bytes.size();
  }
  if (!stage.part.goes_on) rests_.pop_front();
  SnapshotPiece next{.uid = stage.uid, .bytes = {}, .delta = stage.part.delta, .goes_on = true};
  std::vector<SnapshotPiece> pieces;
  pieces.push_back(std::exchange(stage.part, std::move(next)));
  on_snapshot_({snapshot_epoch_, std::move(pieces), rests_.empty()});
  return rests_.empty() ? OperatorResult::done : OperatorResult::more;
}

// Another barrier comes first: nobody waits for the rest any more.
void ChainDriver::abandon_snapshot() {
  for (Stage* stage : rests_) stage->last_snapshot = 0;
  rests_.clear();
}

Status ChainDriver::commit(std::uint64_t epoch) {
  for (auto& stage : stages_) {
    const OperatorResult answer = guarded(*stage, [&] {
      Status status = stage->op->commit(epoch);
      return status.ok() ? OperatorResult::done : stage->context->fail(std::move(status));
    });
    if (answer == OperatorResult::failed) return failure_;
  }
  return {};
}

void ChainDriver::look_at_clocks(Nanoseconds now) {
  now_ = now;
  wall_origin_ns_ = milliseconds(platform_.wall_time_ms()) - now;
}

Status ChainDriver::open(Executor& executor) {
  executor_ = &executor;
  look_at_clocks(executor.now());
  for (auto& stage : stages_) {
    stage->opened = true;
    const OperatorResult answer = guarded(*stage, [&] {
      Status status = stage->op->open();
      return status.ok() ? OperatorResult::done : stage->context->fail(std::move(status));
    });
    if (answer == OperatorResult::failed) return failure_;
  }
  return {};
}

void ChainDriver::offer(Element& element, int input) {
  HUMMER_ASSERT(idle());
  Stage& first = *stages_.front();
  std::swap(first.input.batch, element.batch);
  first.input.control = element.control;
  element.control = {};
  head_input_ = input;
  first.phase = first.input.batch.empty() ? Phase::control : Phase::process;
  current_ = 0;
}

OperatorResult ChainDriver::look_ahead(std::span<const LooksAhead::Waiting> waiting) {
  HUMMER_ASSERT(idle());
  return guarded(*stages_.front(), [&] { return looks_ahead_->look_ahead(waiting); });
}

OperatorResult ChainDriver::produce() {
  HUMMER_ASSERT(idle());
  Stage& first = *stages_.front();
  OperatorResult answer = OperatorResult::done;
  if (!source_ended_) {
    if (splits_ != nullptr) splits_->apply_changes();  // all records are through
    answer = guarded(first, [&] { return source_->produce(first.output); });
    if (answer == OperatorResult::failed) return answer;
    if (splits_ != nullptr && splits_->changed()) woken_.store(true, std::memory_order_release);
    source_ended_ = answer == OperatorResult::done;
  }
  Control control = first.output.take_control();
  if (answer == OperatorResult::done) {
    // The source's own end() runs first, then the end goes down the chain.
    first.input.control = Control::end();
    first.phase = Phase::control;
    current_ = 0;
    return answer;
  }
  first.forwarded = control;
  if (control || (first.output.port_count() > 0 && !first.output.batch(0).empty())) {
    first.phase = Phase::hand_over;
    first.resume = Phase::empty;
    first.port = first.exits.size() - 1;
    current_ = 0;
  }
  return answer;
}

void ChainDriver::end_source() { source_ended_ = true; }

bool ChainDriver::source_needs_retry() const {
  return source_ != nullptr && !source_ended_ && !source_->wakes_itself() &&
         stages_.front()->context->timer_at_ == never;
}

bool ChainDriver::fire_timer(Nanoseconds now) {
  HUMMER_ASSERT(idle());
  if (next_timer_ > now) return false;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    Stage& stage = *stages_[i];
    if (stage.context->timer_at_ > now) continue;
    stage.context->timer_at_ = never;
    rearm_timers();
    stage.phase = Phase::timer;
    current_ = static_cast<int>(i);
    return true;
  }
  return false;
}

void ChainDriver::rearm_timers() {
  next_timer_ = never;
  for (const auto& stage : stages_) next_timer_ = std::min(next_timer_, stage->context->timer_at_);
}

OperatorResult ChainDriver::run() {
  if (!failure_.ok()) [[unlikely]]
    return OperatorResult::failed;
  blocked_by_operator_ = false;
  more_answers_ = 0;
  while (current_ >= 0) {
    Stage& stage = *stages_[static_cast<std::size_t>(current_)];
    if (stage.phase == Phase::empty) {
      let_go_of_input(stage);
      if (!stage.deferred.empty()) [[unlikely]] {
        take_deferred(stage);
      } else {
        --current_;
      }
      continue;
    }
    if (const OperatorResult answer = step(stage); answer != OperatorResult::done) return answer;
    if (more_answers_ >= most_more_answers) return OperatorResult::more;
  }
  return OperatorResult::done;
}

OperatorResult ChainDriver::step(Stage& stage) {
  switch (stage.phase) {
    case Phase::process: return step_process(stage);
    case Phase::control:
    case Phase::timer: return step_control(stage);
    case Phase::hand_over: return step_hand_over(stage);
    case Phase::empty: break;
  }
  return OperatorResult::done;
}

OperatorResult ChainDriver::fail(Status status) {
  if (failure_.ok()) failure_ = std::move(status);
  return OperatorResult::failed;
}

// One call of process, and where to go on: its phase is then control or hand_over.
OperatorResult ChainDriver::call_process(Stage& stage) {
  const int input = &stage == stages_.front().get() ? head_input_ : 0;
  const SplitNumber split = stage.input.batch.split();
  stage.first = stage.input.batch.position();
  stage.processed = true;
  const OperatorResult answer = guarded(
      stage, [&] { return stage.op->process_input(input, stage.input.batch, stage.output); }, true);
  if (answer == OperatorResult::failed) return answer;
  if (stage.output_has_views) {
    for (std::size_t port = 0; port < stage.output.port_count(); ++port) {
      Batch& out = stage.output.batch(port);
      if (!out.empty() && stage.output.type(port).holds_views) {
        out.keep_buffers_of(stage.input.batch);
      }
    }
  }
  if (stage.keeps_splits) stage.output.batch(0).set_split(split);
  stage.forwarded = stage.output.take_control();
  if (answer == OperatorResult::done) {
    finish_input(stage);
    if (stage.input.control && !stage.forwarded) {
      stage.phase = Phase::control;
      return answer;
    }
    stage.resume = stage.input.control ? Phase::control : Phase::empty;
  } else {
    stage.resume = Phase::process;
    blocked_by_operator_ = answer == OperatorResult::blocked;
    ++more_answers_;
  }
  stage.phase = Phase::hand_over;
  stage.port = stage.exits.empty() ? 0 : stage.exits.size() - 1;
  return answer;
}

OperatorResult ChainDriver::step_process(Stage& stage) {
  const OperatorResult answer = call_process(stage);
  if (answer == OperatorResult::failed) return answer;
  if (answer == OperatorResult::blocked) {
    const OperatorResult handed = step_hand_over(stage);
    if (handed != OperatorResult::done) return handed;
    return current_ >= 0 && stages_[static_cast<std::size_t>(current_)].get() == &stage
               ? OperatorResult::blocked
               : OperatorResult::done;
  }
  return OperatorResult::done;
}

void ChainDriver::finish_input(Stage& stage) {
  stage.metrics->records_in.add(stage.input.batch.size() + stage.context->take_further_records());
  stage.input_taken = true;
}

void ChainDriver::let_go_of_input(Stage& stage) {
  if (!stage.input_taken) return;
  stage.input_taken = false;
  stage.input.batch.clear();
  if (stage.input_was_deferred) [[unlikely]] {
    // Its type may be that of another input than the one whose used batch is expected here.
    stage.input.batch.release();
    stage.input_was_deferred = false;
  }
}

OperatorResult ChainDriver::call_control(Stage& stage) {
  if (stage.phase == Phase::timer) return stage.op->timer(now_, stage.output);
  switch (stage.input.control.kind) {
    case Control::Kind::watermark:
      return stage.op->watermark(stage.input.control.time, stage.output);
    case Control::Kind::idle: return stage.op->idle(stage.output);
    case Control::Kind::barrier:
      stage.context->set_epoch(stage.input.control.epoch);
      return stage.op->flush(stage.output);
    case Control::Kind::inactive: return stage.op->inactive(stage.output);
    case Control::Kind::active: return stage.op->active(stage.output);
    case Control::Kind::end:
      return stage.has_ended ? OperatorResult::done : stage.op->end(stage.output);
    case Control::Kind::none: break;
  }
  return OperatorResult::done;
}

// The end waits until the snapshot under way is written, in steps as ever; no record waits for
// that.
OperatorResult ChainDriver::flush_before_end(Stage& stage) {
  if (flushed_before_end_) return OperatorResult::blocked;
  const OperatorResult answer = guarded(stage, [&] { return stage.op->idle(stage.output); });
  if (answer == OperatorResult::failed) return answer;
  if (answer == OperatorResult::blocked) {
    blocked_by_operator_ = true;
    return answer;
  }
  stage.forwarded = stage.output.take_control();
  if (answer == OperatorResult::done && !stage.forwarded) {
    flushed_before_end_ = true;
    stage.forwarded = Control::idle();
  }
  stage.resume = Phase::control;
  begin_hand_over(stage);
  return OperatorResult::done;
}

void ChainDriver::begin_hand_over(Stage& stage) {
  stage.phase = Phase::hand_over;
  stage.port = stage.exits.empty() ? 0 : stage.exits.size() - 1;
}

OperatorResult ChainDriver::step_control(Stage& stage) {
  const bool ends = stage.phase == Phase::control && stage.input.control.kind == Control::Kind::end;
  if (ends && snapshot_under_way()) return flush_before_end(stage);
  if (stage.output.size() == 0) stage.processed = false;
  const OperatorResult answer = guarded(stage, [&] { return call_control(stage); });
  if (answer == OperatorResult::failed) return answer;
  if (answer == OperatorResult::blocked) {
    blocked_by_operator_ = true;
    return answer;
  }
  if (answer == OperatorResult::done) {
    const bool barrier =
        stage.phase == Phase::control && stage.input.control.kind == Control::Kind::barrier;
    if (barrier && on_snapshot_ != nullptr) {
      if (&stage == stages_.front().get()) abandon_snapshot();
      if (snapshot(stage, !stage.input.control.whole()) == OperatorResult::failed)
        return OperatorResult::failed;
      stage.last_snapshot = stage.input.control.whole() ? 0 : stage.input.control.epoch;
    }
    const Control own = stage.output.take_control();
    const Control::Kind kind = stage.input.control.kind;
    if (stage.phase == Phase::timer) {
      stage.forwarded = own;
      stage.resume = Phase::empty;
    } else if (own && kind == Control::Kind::idle) {
      stage.forwarded = own;
      stage.resume = Phase::control;  // then the idle itself
    } else {
      stage.has_ended |= kind == Control::Kind::end;
      stage.forwarded = std::exchange(stage.input.control, {});
      const bool of_watermarks = kind == Control::Kind::watermark ||
                                 kind == Control::Kind::inactive || kind == Control::Kind::active;
      if (of_watermarks && stage.op->makes_watermarks()) stage.forwarded = own;
      stage.resume = Phase::empty;
    }
  } else {
    stage.forwarded = stage.output.take_control();
    stage.resume = stage.phase;
    ++more_answers_;
  }
  begin_hand_over(stage);
  return OperatorResult::done;
}

// Side outputs first (from the last port down), then the main output: when the
// next stage gets the control, every side channel has it too.
OperatorResult ChainDriver::step_hand_over(Stage& stage) {
  const std::size_t index = static_cast<std::size_t>(current_);
  const bool last = index + 1 == stages_.size();
  const OperatorReport& report = stage.context->report();
  stage.metrics->bytes.set(report.bytes);
  stage.metrics->bytes_expected.set(report.bytes_expected);
  stage.metrics->records_late.set(report.late_records);
  while (!stage.exits.empty() && (stage.port > 0 || last)) {
    Exit& exit = stage.exits[stage.port];
    if (!exit.loaded) {
      Batch& out = stage.output.batch(stage.port);
      if (!out.empty() || stage.forwarded) {
        stage.metrics->records_out.add(out.size());
        std::swap(exit.pending.batch, out);
        exit.pending.control = stage.forwarded;
        exit.next = 0;
        exit.loaded = true;
      }
    }
    while (exit.loaded || (!exit.deferred.empty() && exit.load_deferred())) {
      if (const OperatorResult answer = push(stage, exit); answer != OperatorResult::done)
        return answer;
      exit.loaded = false;
    }
    if (stage.port == 0) break;
    --stage.port;
  }
  stage.phase = stage.resume;
  const Control control = std::exchange(stage.forwarded, {});
  if (last && control.kind == Control::Kind::barrier && on_snapshot_ != nullptr) {
    std::vector<SnapshotPiece> pieces = take_complete_pieces(control.epoch);
    on_snapshot_({control.epoch, std::move(pieces), rests_.empty()});
  }
  if (last || stage.exits.empty()) return OperatorResult::done;
  Batch& out = stage.output.batch(0);
  if (out.empty() && !control) return OperatorResult::done;
  stage.metrics->records_out.add(out.size());
  if (index == 0 && splits_ != nullptr) note_split(out);
  Stage& next = *stages_[index + 1];
  std::swap(next.input.batch, out);
  next.input.control = control;
  next.phase = next.input.batch.empty() ? Phase::control : Phase::process;
  ++current_;
  return OperatorResult::done;
}

// Emitters call functions of the author's too: the key of a hash edge.
OperatorResult ChainDriver::push(const Stage& stage, Exit& exit) {
  std::string thrown;
  const detail::MetricsScope scope(stage.metrics->user.get());
  try {
    const OperatorResult answer = exit.push();
    if (answer != OperatorResult::failed) [[likely]]
      return answer;
    return fail(exit.emitters[exit.next]->failure());
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "an exception that is no std::exception";
  }
  const std::uint64_t before = stage.metrics->records_out.get() - exit.pending.batch.size();
  return fail({ErrorCode::user_function_failed,
               "key function behind operator '" + stage.context->name() + "' (subtask " +
                   std::to_string(stage.context->subtask()) + ") failed at record " +
                   std::to_string(before + exit.pending.batch.position()) +
                   " of its output: " + thrown});
}

OperatorResult ChainDriver::Exit::push() {
  if (emitters.empty()) pending.batch.clear();
  while (next < emitters.size()) {
    OperatorResult answer;
    if (next + 1 == emitters.size()) {
      answer = emitters[next]->offer(pending);
    } else {
      if (copy.batch.empty() && !copy.control) {
        // One without records would stay shared: an emitter need not touch it for a control.
        if (!pending.batch.empty()) copy.batch = pending.batch.share();
        copy.control = pending.control;
      }
      answer = emitters[next]->offer(copy);
    }
    if (answer != OperatorResult::done) return answer;
    copy = {};
    ++next;
  }
  pending.control = {};
  return OperatorResult::done;
}

std::string ChainDriver::describe_block() const {
  if (current_ < 0) return {};
  const Stage& stage = *stages_[static_cast<std::size_t>(current_)];
  for (const Exit& exit : stage.exits) {
    if (exit.loaded && exit.next < exit.emitters.size())
      return exit.emitters[exit.next]->describe();
  }
  return "operator '" + stage.context->name() + "'";
}

Status ChainDriver::close() {
  Status first;
  for (auto& stage : stages_) {
    if (!stage->opened) continue;
    stage->opened = false;
    Status status;
    const detail::MetricsScope scope(stage->metrics->user.get());
    try {
      status = stage->op->close();
    } catch (const std::exception& error) {
      status = {ErrorCode::user_function_failed,
                "close of operator '" + stage->context->name() + "': " + error.what()};
    }
    if (first.ok() && !status.ok()) first = std::move(status);
    stage->metrics->bytes.set(stage->context->report().bytes);
  }
  return first;
}

void ChainDriver::abandon_emitters() {
  for (auto& stage : stages_) {
    for (Exit& exit : stage->exits) {
      for (auto& emitter : exit.emitters) emitter->abandon();
    }
  }
}

}  // namespace hummer
