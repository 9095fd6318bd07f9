#include <hummer/detail/operators/keyed_process.hpp>

#include <algorithm>

#include <hummer/detail/operators/call_at_wall_time.hpp>

namespace hummer {

// ---- snapshot ----

Status KeyedProcessBase::restore(ByteReader& in) {
  HUMMER_TRY(bind());
  const Result<StoreSnapshotHead> head = read_store_head(in, context());
  if (!head.ok()) return head.status();
  restored_watermark_.add(head->watermark, head->delta);
  subtasks_restored_ += head->delta ? 0 : 1;
  HUMMER_TRY(restore_broadcast(states_.broadcast, in, subtasks_restored_ == 1,
                               options_.allow_dropped_state));
  HUMMER_TRY(count_broadcast());
  return store_.restore(in, context(), options_, head->delta);
}

std::vector<StateDescription> KeyedProcessBase::states() {
  std::vector<StateDescription> all;
  const DeclaredStates declared = declared_states();
  for (const KeyedState* state : declared.keyed) {
    all.push_back({state->name(), state->describe_type()});
  }
  for (const BroadcastStateBase* state : declared.broadcast) {
    all.push_back({state->name(), state->describe_type()});
  }
  return all;
}

Status KeyedProcessBase::snapshot(ByteWriter& out) {
  std::string bytes;
  ByteWriter own(bytes);
  snapshot_broadcast(states_.broadcast, own);
  return begin_store_snapshot(store_, context(), watermark_, out, own.view());
}

OperatorResult KeyedProcessBase::snapshot_rest(ByteWriter& out) {
  return store_snapshot_rest(store_, context(), out);
}

// ---- states ----

Status KeyedProcessBase::bind() {
  if (bound_) return {};
  bound_ = true;
  states_ = declared_states();
  Status bound = store_.bind(states_.keyed);
  store_.open(context());
  if (!states_.broadcast.empty()) {
    broadcast_memory_.open_part(context().memory(), "broadcast state");
  }
  return bound.with_context("operator '" + context().name() + "'");
}

void KeyedProcessBase::begin_open() {
  if (restored_watermark_.known()) watermark_ = restored_watermark_.of(context());
  arm();
}

Status KeyedProcessBase::count_broadcast() {
  std::size_t bytes = 0;
  for (const BroadcastStateBase* state : states_.broadcast) bytes += state->memory_bytes();
  return broadcast_memory_.set(bytes);
}

// ---- time ----

OperatorResult KeyedProcessBase::watermark(Timestamp time, Output& out) {
  watermark_ = std::max(watermark_, time);  // after a restore the first ones may be behind it
  store_.set_now_ms(context().wall_time_ms());
  const OperatorResult answer = fire(TimerKind::event, watermark_, out);
  if (answer == OperatorResult::done) arm();
  return answer;
}

OperatorResult KeyedProcessBase::timer(std::int64_t, Output& out) {
  const Timestamp now = context().wall_time_ms();
  store_.set_now_ms(now);
  armed_ms_ = end_of_time;
  const OperatorResult answer = fire(TimerKind::processing, now, out);
  if (answer != OperatorResult::done) return answer;
  if (store_.has_ttl() && sweep_at_ms_ <= now) {
    sweep_at_ms_ = now + (store_.sweep(sweep_entries) ? store_.least_ttl_ms() : 1);
  }
  arm();
  return OperatorResult::done;
}

OperatorResult KeyedProcessBase::end(Output& out) {
  if (!fires_timers_set_at_end_) store_.refuse_timers();
  watermark_ = end_of_time;
  store_.set_now_ms(context().wall_time_ms());
  return fire(TimerKind::event, end_of_time, out);
}

void KeyedProcessBase::take_timer(TimerKind kind) {
  if (unfinished_ != nullptr) {
    store_.set_entry(*std::exchange(unfinished_, nullptr));
    --store_.obtain().live;
  } else {
    timer_time_ = store_.take_timer(kind);
  }
}

OperatorResult KeyedProcessBase::leave_timer(OperatorResult answer, FiredTimers& fired) {
  if (answer == OperatorResult::more) {
    unfinished_ = static_cast<StoreEntry*>(&store_.obtain());
    ++unfinished_->live;
  }
  store_.leave_key();
  if (answer != OperatorResult::done) return answer;
  Status room = fired.make_room(store_);
  return room.ok() ? OperatorResult::done : context().fail(std::move(room));
}

void KeyedProcessBase::arm() {
  Timestamp next = store_.next_timer(TimerKind::processing);
  if (store_.has_ttl() && store_.size() > 0) {
    const Timestamp now = context().wall_time_ms();
    if (sweep_at_ms_ == no_timestamp) sweep_at_ms_ = now + store_.least_ttl_ms();
    next = std::min(next, sweep_at_ms_);
  }
  if (next >= armed_ms_) return;
  armed_ms_ = next;
  call_at_wall_time(context(), next);
}

}  // namespace hummer
