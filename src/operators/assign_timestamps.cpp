#include <hummer/detail/operators/assign_timestamps.hpp>

namespace hummer {
namespace {

// 1: without splits; 2: without what the generator is ahead
constexpr std::uint8_t state_version = 3;

}  // namespace

Status AssignTimestampsBase::restore(ByteReader& in) {
  std::uint8_t version = 0;
  Timestamp time = 0;
  std::uint32_t splits = 0;
  bool valid = in.get_value(version) && version >= 1 && version <= state_version &&
               in.get_value(time) && (version == 1 || in.get_value(splits));
  for (std::uint32_t i = 0; valid && i < splits; ++i) {
    SplitId id = 0;
    Timestamp of_split = 0;
    valid = in.get_value(id) && in.get_value(of_split);
    restored_splits_[id] = of_split;
  }
  Timestamp latest = time;
  std::uint32_t since = 0;
  valid = valid && (version < 3 || (in.get_value(latest) && in.get_value(since)));
  if (!valid) {
    return {ErrorCode::corrupt_record, "the state of assign_timestamps makes no sense"};
  }
  restored_.add(time);
  restored_latest_.add(latest);
  restored_since_.add(since);
  return {};
}

std::vector<StateDescription> AssignTimestampsBase::states() { return {{"watermark", "i64"}}; }

Status AssignTimestampsBase::snapshot(ByteWriter& out) {
  out.put_value(state_version);
  out.put_value(watermark_);
  const SourceSplits* splits = context().splits();
  out.put_value(static_cast<std::uint32_t>(splits != nullptr ? splits->open().size() : 0));
  if (splits != nullptr) {
    for (const SplitNumber number : splits->open()) {
      out.put_value(splits->id(number));
      out.put_value(splits->watermark(number));
    }
  }
  out.put_value(latest());
  out.put_value(since_);
  return {};
}

Status AssignTimestampsBase::open() {
  if (settings_.interval_ms < 1) {
    return {ErrorCode::invalid_argument, "the interval of a watermark generator must be 1 or more"};
  }
  if (settings_.every_records == 0) {
    return {ErrorCode::invalid_argument, "assign_timestamps: every(0) makes no sense: 1 or more"};
  }
  last_record_at_ = context().input_now();
  ask_at_ = context().now() + interval_ns();
  if (restored_.known()) {
    watermark_ = restored_.of(context());
    restore_generator(of_all, restored_latest_.of(context()));
    since_ = static_cast<std::uint32_t>(restored_since_.of(context())) % settings_.every_records;
  }
  if (settings_.alignment) member_ = settings_.alignment->join();
  if (SourceSplits* splits = context().splits()) {
    if (settings_.alignment) splits->align(*settings_.alignment, settings_.ahead_ms);
    take_new_splits();
    align(lowest_split());
    return {};
  }
  arm();
  align(latest());
  return {};
}

OperatorResult AssignTimestampsBase::end(Output& out) {
  if (context().splits() == nullptr && latest() > watermark_) {
    advance(latest(), out);
    return OperatorResult::more;
  }
  leave();
  return OperatorResult::done;
}

Status AssignTimestampsBase::close() {
  leave();
  return {};
}

OperatorResult AssignTimestampsBase::process(Batch& in, Output& out) {
  if (!out.batch().empty()) return OperatorResult::more;
  if (context().splits() != nullptr) {
    process_split(in, out);
  } else {
    if (too_far_ahead()) return OperatorResult::blocked;
    bool due = stamp_run(in, out.batch(), of_all);
    if (idle_ns() > 0) {
      last_record_at_ = context().input_now();
      if (inactive_) {
        inactive_ = false;
        due = true;
        out.set_control(Control::active());
        ask_at_ = context().now() + interval_ns();
        arm();
      }
    }
    align(latest());
    if (due) advance(generated(of_all), out);
  }
  return in.finished() ? OperatorResult::done : OperatorResult::more;
}

OperatorResult AssignTimestampsBase::idle(Output& out) {
  if (SourceSplits* splits = context().splits()) {
    splits->apply_changes();
    take_new_splits();
    follow_splits(out);
  } else if (!inactive_) {
    advance(latest(), out);
  }
  return OperatorResult::done;
}

OperatorResult AssignTimestampsBase::timer(std::int64_t now, Output& out) {
  if (context().splits() != nullptr) {
    time_out_splits();
    ask_splits(now);
    follow_splits(out);
    arm_splits();
    return OperatorResult::done;
  }
  if (inactive_) return OperatorResult::done;
  if (idle_ns() > 0 && context().input_now() - last_record_at_ >= idle_ns()) {
    inactive_ = true;
    align(end_of_time);
    out.set_control(Control::inactive());
    return OperatorResult::done;
  }
  if (settings_.asks_periodically && now >= ask_at_) {
    ask_at_ = now + interval_ns();
    advance(periodic(of_all, context().wall_time_ms()), out);
  }
  arm();
  return OperatorResult::done;
}

bool AssignTimestampsBase::is_nth(std::size_t records) {
  since_ += static_cast<std::uint32_t>(records);
  if (since_ < settings_.every_records) return false;
  since_ = 0;
  return true;
}

bool AssignTimestampsBase::split_moved(Which which, Timestamp time) {
  SourceSplits& splits = *context().splits();
  if (time > splits.watermark(which)) splits.set_watermark(which, time);
  return lowest_split() > watermark_;
}

void AssignTimestampsBase::process_split(Batch& in, Output& out) {
  take_new_splits();
  const SplitNumber number = in.split();
  if (number == no_split) {
    (void)stamp_run(in, out.batch(), unheard);
    return;
  }
  const bool due = stamp_run(in, out.batch(), number);
  (void)split_moved(number, generated(number));
  if (idle_ns() > 0) {
    Split& split = by_split_[number];
    split.last_record_at = context().input_now();
    split.timed_out = false;
    if (!armed_) arm_splits();
  }
  if (due || inactive_) {
    follow_splits(out);
  } else {
    align(lowest_split());
  }
}

void AssignTimestampsBase::take_new_splits() {
  SourceSplits& splits = *context().splits();
  if (by_split_.size() == splits.size()) return;
  while (by_split_.size() < splits.size()) {
    const auto number = static_cast<SplitNumber>(by_split_.size());
    by_split_.push_back({.last_record_at = context().input_now()});
    add_generator();
    const auto found = restored_splits_.find(splits.id(number));
    if (found == restored_splits_.end()) continue;
    restore_generator(number, found->second);
    splits.set_watermark(number, found->second);
  }
  arm_splits();
}

Timestamp AssignTimestampsBase::lowest_split() const {
  const SourceSplits& splits = *context().splits();
  return splits.lowest([&](SplitNumber number) {
    return by_split_[number].timed_out ? end_of_time : splits.watermark(number);
  });
}

void AssignTimestampsBase::follow_splits(Output& out) {
  const Timestamp lowest = lowest_split();
  align(lowest);
  const bool was_inactive = std::exchange(inactive_, lowest == end_of_time);
  if (inactive_) {
    if (!was_inactive) out.set_control(Control::inactive());
  } else if (lowest > watermark_) {
    watermark_ = lowest;
    out.set_control(Control::watermark(lowest));
  } else if (was_inactive) {
    out.set_control(Control::active());
  }
}

void AssignTimestampsBase::time_out_splits() {
  if (idle_ns() == 0) return;
  const std::int64_t now = context().input_now();
  for (const SplitNumber number : context().splits()->open()) {
    Split& split = by_split_[number];
    if (split.timed_out) continue;
    if (context().splits()->take_was_paused(number)) split.last_record_at = now;
    split.timed_out = now - split.last_record_at >= idle_ns();
  }
}

void AssignTimestampsBase::ask_splits(std::int64_t now) {
  if (!settings_.asks_periodically || now < ask_at_) return;
  ask_at_ = now + interval_ns();
  SourceSplits& splits = *context().splits();
  for (const SplitNumber number : splits.open()) {
    if (by_split_[number].timed_out || !splits.counts(number)) continue;
    const Timestamp time = periodic(number, context().wall_time_ms());
    if (time > splits.watermark(number)) splits.set_watermark(number, time);
  }
}

// For the split that has waited longest, and for a periodic generator.
void AssignTimestampsBase::arm_splits() {
  std::int64_t next = settings_.asks_periodically ? ask_at_ : INT64_MAX;
  if (idle_ns() > 0) {
    for (const SplitNumber number : context().splits()->open()) {
      const Split& split = by_split_[number];
      if (!split.timed_out) next = std::min(next, idle_at(split.last_record_at));
    }
  }
  armed_ = next != INT64_MAX;
  if (armed_) context().call_at(next);
}

bool AssignTimestampsBase::too_far_ahead() const {
  return member_ && latest() != no_timestamp &&
         time_before(latest(), settings_.ahead_ms) > settings_.alignment->lowest();
}

void AssignTimestampsBase::align(Timestamp time) {
  if (member_) settings_.alignment->set(*member_, time);
}

void AssignTimestampsBase::leave() {
  align(end_of_time);
  member_.reset();
}

// The generator's watermark; nobody has heard of it where it is ahead of watermark_.
Timestamp AssignTimestampsBase::latest() const {
  if (context().splits() != nullptr) return watermark_;
  return std::max(watermark_, generated(of_all));
}

void AssignTimestampsBase::advance(Timestamp time, Output& out) {
  if (time <= watermark_) return;
  watermark_ = time;
  align(time);
  out.set_control(Control::watermark(time));
}

// In terms of now(), if input is taken until then.
std::int64_t AssignTimestampsBase::idle_at(std::int64_t last_record_at) const {
  return context().now() + idle_ns() - (context().input_now() - last_record_at);
}

void AssignTimestampsBase::arm() {
  std::int64_t next = settings_.asks_periodically ? ask_at_ : INT64_MAX;
  if (idle_ns() > 0) next = std::min(next, idle_at(last_record_at_));
  if (next != INT64_MAX) context().call_at(next);
}

bool AssignTimestampsBase::stamp_run(Batch& in, Batch& target, Which which) {
  times_.resize(in.size());
  const std::size_t first = in.position();
  std::size_t at = first;
  bool due = false;
  try {
    due = stamp_records(in, at, which);
  } catch (...) {
    hand_on(in, first, at, target);
    throw;
  }
  hand_on(in, first, at, target);
  return due;
}

// The batch itself goes on when all of it does, and nobody else reads it.
void AssignTimestampsBase::hand_on(Batch& in, std::size_t first, std::size_t end, Batch& target) {
  if (first == 0 && end == in.size()) {
    if (!in.unique()) (void)in.make_unique();
    std::swap(in, target);
    target.advance_to(0);
    if (in.has_storage()) in.clear();
    in.advance_to(0);
    context().count_records(end);
    std::swap(times_, target.timestamps());
    return;
  }
  const std::size_t count = end - first;
  target.reserve(static_cast<std::uint32_t>(count));
  const TypeDescriptor& type = in.type();
  const std::size_t offset = first * type.size_bytes;
  if (in.unique()) {
    type.move_values(target.raw_mutable_values(),
                     static_cast<char*>(in.raw_mutable_values()) + offset, count);
  } else {
    HUMMER_ASSERT(type.copy_values != nullptr && "a batch of a type without copy is shared");
    type.copy_values(target.raw_mutable_values(),
                     static_cast<const char*>(in.raw_values()) + offset, count);
  }
  target.set_size(count);
  in.advance_to(end);
  target.timestamps().assign(times_.begin() + static_cast<std::ptrdiff_t>(first),
                             times_.begin() + static_cast<std::ptrdiff_t>(end));
}

}  // namespace hummer
