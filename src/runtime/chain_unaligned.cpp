// ChainDriver at a barrier that unaligned: see chain_driver.hpp and in_flight.hpp.
#include <utility>

#include "runtime/chain_context.hpp"

namespace hummer {

void ChainDriver::restore_in_flight(std::size_t stage, int input, Batch batch) {
  Element element;
  element.batch = std::move(batch);
  stages_[stage]->deferred.push_back({std::move(element), input});
  current_ = static_cast<int>(stages_.size()) - 1;
}

void ChainDriver::take_deferred(Stage& stage) {
  Waiting& first = stage.deferred.front();
  std::swap(stage.input, first.element);
  if (&stage == stages_.front().get()) head_input_ = first.input;
  stage.deferred.pop_front();
  stage.input_was_deferred = true;
  stage.phase = stage.input.batch.empty() ? Phase::control : Phase::process;
}

bool ChainDriver::Exit::load_deferred() {
  pending = std::move(deferred.front());
  deferred.pop_front();
  next = 0;
  loaded = true;
  return true;
}

// What the stage has put out, from this port down, and the control behind it.
void ChainDriver::defer(std::size_t index, std::size_t first_port) {
  Stage& stage = *stages_[index];
  const bool last = index + 1 == stages_.size();
  const Control control = std::exchange(stage.forwarded, {});
  if (stage.exits.empty()) return;
  for (std::size_t port = first_port + 1; port-- > 0;) {
    Batch& out = stage.output.batch(port);
    if (out.empty() && !control) continue;
    stage.metrics->records_out.add(out.size());
    Element element;
    element.batch = std::move(out);
    element.control = control;
    if (port == 0 && !last) {
      stages_[index + 1]->deferred.push_back({std::move(element), 0});
    } else {
      stage.exits[port].deferred.push_back(std::move(element));
    }
  }
}

// Brings a stage to where its operator can be saved: between two elements, or where it is blocked
// within a batch, whose rest is in flight. An earlier barrier ends here, since its checkpoint was
// given up: behind this one it would cut, and commit, what this one has saved as in flight.
OperatorResult ChainDriver::bring_between_elements(std::size_t index) {
  Stage& stage = *stages_[index];
  const std::size_t all_ports = stage.exits.empty() ? 0 : stage.exits.size() - 1;
  const bool has_barrier = stage.input.control.kind == Control::Kind::barrier;
  if (has_barrier && stage.processes()) stage.input.control = {};
  if (stage.forwarded.kind == Control::Kind::barrier) stage.forwarded = {};
  if (stage.phase == Phase::hand_over) {
    const bool gone = !stage.exits.empty() && stage.exits[stage.port].loaded;
    if (!gone) {
      defer(index, stage.port);
    } else if (stage.port > 0) {
      defer(index, stage.port - 1);
    } else {
      stage.forwarded = {};
    }
    stage.phase = stage.resume;
  }
  while (stage.phase != Phase::empty) {
    if (stage.phase == Phase::process) {
      const OperatorResult answer = call_process(stage);
      if (answer == OperatorResult::failed) return answer;
      if (stage.phase == Phase::hand_over) {
        defer(index, all_ports);
        stage.phase = stage.resume;
      }
      if (answer == OperatorResult::blocked) break;
    } else if (stage.phase == Phase::control && has_barrier) {  // its flush may have begun
      const OperatorResult answer = flush_deferred(index, stage.input.control.epoch);
      if (answer != OperatorResult::done) return answer;
      stage.input.control = {};
      stage.phase = Phase::empty;
    } else {
      if (const OperatorResult answer = step_control(stage); answer != OperatorResult::done)
        return answer;
      defer(index, all_ports);
      stage.phase = stage.resume;
    }
  }
  return OperatorResult::done;
}

// Partial results, which the operator keeps no state of.
OperatorResult ChainDriver::flush_deferred(std::size_t index, std::uint64_t epoch) {
  Stage& stage = *stages_[index];
  if (stage.has_ended) return OperatorResult::done;
  stage.context->set_epoch(epoch);
  for (;;) {
    const OperatorResult answer = guarded(stage, [&] { return stage.op->flush(stage.output); });
    if (answer == OperatorResult::failed) return answer;
    if (answer == OperatorResult::more) stage.forwarded = stage.output.take_control();
    defer(index, stage.exits.empty() ? 0 : stage.exits.size() - 1);
    blocked_by_operator_ = answer == OperatorResult::blocked;
    if (answer != OperatorResult::more) return answer;
  }
}

// What has not gone to this emitter yet of what its exit holds.
template <typename Take>
void ChainDriver::each_unsent(const Exit& exit, std::size_t emitter, Take&& take) {
  if (exit.loaded && emitter >= exit.next) {
    const bool is_last = emitter + 1 == exit.emitters.size();
    const bool copied =
        !is_last && emitter == exit.next && (exit.copy.batch.size() > 0 || exit.copy.control);
    take(copied ? exit.copy.batch : exit.pending.batch);
  }
  for (const Element& element : exit.deferred) take(element.batch);
}

void ChainDriver::collect(std::size_t index, InFlight& in_flight) const {
  const Stage& stage = *stages_[index];
  if (stage.processes()) {
    const int input = index == 0 ? head_input_ : 0;
    in_flight.add({stage.uid, input}, Hop::own_task, stage.input.batch);
  }
  for (const Waiting& waiting : stage.deferred) {
    in_flight.add({stage.uid, waiting.input}, Hop::own_task, waiting.element.batch);
  }
  for (const Exit& exit : stage.exits) {
    for (std::size_t i = 0; i < exit.emitters.size(); ++i) {
      std::string runs;
      exit.emitters[i]->collect(runs);
      each_unsent(exit, i, [&](const Batch& batch) { append_run(batch, runs); });
      in_flight.add_runs(exit.targets[i], Hop::task_upstream, runs);
    }
  }
}

OperatorResult ChainDriver::take_unaligned_barrier(std::uint64_t epoch,
                                                   std::vector<SnapshotPiece>& pieces,
                                                   InFlight& in_flight) {
  OperatorResult answer = OperatorResult::done;
  for (std::size_t i = 0; i < stages_.size() && answer == OperatorResult::done; ++i)
    answer = bring_between_elements(i);
  for (std::size_t i = 0; i < stages_.size() && answer == OperatorResult::done; ++i) {
    answer = flush_deferred(i, epoch);
  }
  // What was deferred goes first, from the end of the chain on.
  for (auto& stage : stages_) {
    for (const Exit& exit : stage->exits) {
      if ((!exit.loaded && exit.deferred.empty()) || stage->phase == Phase::hand_over) continue;
      stage->resume = stage->phase;
      stage->phase = Phase::hand_over;
      stage->port = stage->exits.size() - 1;
    }
  }
  current_ = static_cast<int>(stages_.size()) - 1;
  if (answer != OperatorResult::done) return answer;
  abandon_snapshot();
  for (auto& stage : stages_) {
    if (snapshot(*stage, true) == OperatorResult::failed) return OperatorResult::failed;
    stage->last_snapshot = epoch;
  }
  pieces = take_complete_pieces(epoch);
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    answer = guarded(*stages_[i], [&] {
      collect(i, in_flight);
      return OperatorResult::done;
    });
    if (answer == OperatorResult::failed) return answer;
  }
  send_out_of_band(epoch, {});
  return OperatorResult::done;
}

void ChainDriver::collect_all(std::string& runs) const {
  const Stage& stage = *stages_.front();
  for (const Exit& exit : stage.exits) {
    each_unsent(exit, 0, [&](const Batch& batch) { append_run(batch, runs); });
  }
  if (stage.processes()) append_run(stage.input.batch, runs);
}

void ChainDriver::send_out_of_band(std::uint64_t epoch, std::string in_flight) {
  for (auto& stage : stages_) {
    for (Exit& exit : stage->exits) {
      for (auto& emitter : exit.emitters) emitter->send_out_of_band(epoch, std::move(in_flight));
    }
  }
}

}  // namespace hummer
