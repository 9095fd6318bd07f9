#include <hummer/detail/operators/slice_window.hpp>

#include <algorithm>

#include <hummer/detail/operators/call_at_wall_time.hpp>
#include <hummer/detail/state/restored_watermark.hpp>

namespace hummer {
namespace {

constexpr std::uint8_t slices_snapshot_version = 4;
constexpr std::uint8_t version_of_one_section = 3;  // at most, per slice; read alike

}  // namespace

SliceWindowBase::SliceWindowBase(const WindowGrid& grid, std::int64_t lateness_ms,
                                 const ErasedAggregate& aggregate, const KeyCodec& keys)
    : grid_(grid),
      lateness_ms_(lateness_ms),
      aggregate_(aggregate),
      keys_(keys),
      slices_(aggregate),
      sliding_(aggregate) {}
SliceWindowBase::~SliceWindowBase() = default;

Status SliceWindowBase::open() {
  open_state();
  HUMMER_TRY(grid_.check());
  HUMMER_TRY(take_restored());
  if (processing_time()) arm();
  return {};
}

OperatorResult SliceWindowBase::process(Batch& in, Output& out) {
  if (refining_) {
    if (const OperatorResult answer = refine(out); answer != OperatorResult::done) return answer;
  }
  if (in.finished()) return OperatorResult::done;
  const std::size_t first = in.position();
  if (processing_time()) {
    times_.assign(in.size() - first, context().wall_time_ms());
    runs_.group(grid_, times_);
  } else {
    const std::span<const Timestamp> all = times(in);
    if (all.size() != in.size()) {
      return context().fail({ErrorCode::invalid_argument, no_event_time});
    }
    runs_.group(grid_, all.subspan(first));
  }
  {
    RecordInHand in_hand(in);
    for (const SliceRuns::Run& run : runs_.runs()) add_run(in, run, in_hand);
    in_hand.set(in.size());
  }
  if (memory_.limited()) {
    if (Status status = keep_within_share(); !status.ok()) {
      return context().fail(std::move(status));
    }
  }
  if (processing_time()) arm();
  if (dirty_.empty()) return OperatorResult::done;
  refining_ = true;
  return refine(out);
}

OperatorResult SliceWindowBase::watermark(Timestamp time, Output& out) {
  return processing_time() ? OperatorResult::done : advance(time, out);
}

OperatorResult SliceWindowBase::timer(std::int64_t, Output& out) {
  if (!processing_time()) return OperatorResult::done;
  const OperatorResult answer = advance(context().wall_time_ms(), out);
  if (answer == OperatorResult::done) arm();
  return answer;
}

// ---- snapshot ----

Status SliceWindowBase::snapshot(ByteWriter& out) {
  std::string bytes;
  ByteWriter slices(bytes);
  const bool delta = slices_.freeze(context().may_write_delta(), slices);
  if (delta) context().wrote_delta();
  out.put_value(slices_snapshot_version);
  out.put_value(static_cast<std::uint8_t>(delta));
  out.put_value(watermark_);
  std::uint32_t ahead = 0;
  for (const auto& [time, all] : ahead_) ahead += static_cast<std::uint32_t>(all.size());
  out.put_value(ahead);
  for (auto& [time, all] : ahead_) {
    for (SpillingSlices& each : all) {
      out.put_value(time);
      HUMMER_TRY(each.write_whole(out));
    }
  }
  out.put(slices.view().data(), slices.size());
  return {};
}

OperatorResult SliceWindowBase::snapshot_rest(ByteWriter& out) {
  return answer(slices_.write_frozen(out, context().snapshot_step_bytes()));
}

Status SliceWindowBase::restore(ByteReader& in) {
  std::uint8_t version = 0;
  std::uint8_t delta = 0;
  Timestamp time = 0;
  std::uint32_t ahead = 0;
  Status room;
  bool valid = in.get_value(version) &&
               (version == slices_snapshot_version || version == version_of_one_section) &&
               in.get_value(delta) && in.get_value(time) && in.get_value(ahead) &&
               (delta == 0 || !restored_.empty());
  if (valid && delta == 0) {
    open_state();
    HUMMER_TRY(make_room_for_restored());
    restored_.push_back({no_timestamp, new_slices(), {}});
  }
  if (valid) {
    Restored& subtask = restored_.back();
    subtask.watermark = time;
    subtask.ahead.clear();
    for (; valid && ahead > 0; --ahead) {
      Timestamp of_slices = 0;
      SpillingSlices slices = new_slices();
      valid = in.get_value(of_slices) && restore_into(slices, false, in, room);
      if (valid) subtask.ahead.emplace_back(of_slices, std::move(slices));
    }
    valid = valid && restore_into(subtask.slices, delta != 0, in, room);
  }
  HUMMER_TRY(room);
  if (!valid) return {ErrorCode::corrupt_record, "the state of a window cannot be decoded"};
  return {};
}

void SliceWindowBase::open_state() {
  memory_.open(context().memory(), true);
  slices_.open(context());
}

SpillingSlices SliceWindowBase::new_slices() {
  SpillingSlices slices(aggregate_);
  slices.open(context());
  return slices;
}

// What there is no room for goes to disk meanwhile: see make_room_for_restored.
bool SliceWindowBase::restore_into(SpillingSlices& slices, bool delta, ByteReader& in,
                                   Status& room) {
  const bool may_go = memory_.limited() && !delta && !context().delta_follows();
  return slices.tables().restore(in, delta, owned_by(context()), [&] {
    if (!may_go) return true;
    slices.tables().merge_restored();
    if (slices.memory_bytes() > memory_.share_bytes() / 2) room = slices.spill_all();
    return room.ok();
  });
}

Status SliceWindowBase::take_restored() {
  if (restored_.empty()) return {};
  HUMMER_TRY(make_room_for_restored());
  RestoredWatermark of_subtasks;
  for (const Restored& subtask : restored_) of_subtasks.add(subtask.watermark);
  watermark_ = of_subtasks.of(context());
  if (processing_time()) watermark_ = std::min(watermark_, context().wall_time_ms());
  for (Restored& subtask : restored_) {
    place(subtask.watermark, std::move(subtask.slices));
    for (auto& [time, slices] : subtask.ahead) place(time, std::move(slices));
  }
  restored_.clear();
  return memory_.limited() ? keep_within_share() : Status();
}

// Where there is too much of it, all goes to disk. Between two subtasks' pieces: a delta, which
// replaces what came before it, needs tables.
Status SliceWindowBase::make_room_for_restored() {
  if (!memory_.limited()) return {};
  std::size_t bytes = 0;
  const auto each = [&](auto&& visit) -> Status {
    for (Restored& subtask : restored_) {
      HUMMER_TRY(visit(subtask.slices));
      for (auto& ahead : subtask.ahead) HUMMER_TRY(visit(ahead.second));
    }
    return {};
  };
  HUMMER_TRY(each([&](SpillingSlices& slices) {
    slices.tables().merge_restored();
    bytes += slices.memory_bytes();
    return Status();
  }));
  if (bytes > memory_.share_bytes()) {
    bytes = 0;
    HUMMER_TRY(each([&](SpillingSlices& slices) {
      Status status = slices.spill_all();
      bytes += slices.memory_bytes();
      return status;
    }));
  }
  return memory_.set(bytes);
}

// Slices of a subtask whose watermark was at `time`.
void SliceWindowBase::place(Timestamp time, SpillingSlices slices) {
  slices.tables().merge_restored();
  if (slices.empty()) return;
  if (time > watermark_) {
    ahead_[time].push_back(std::move(slices));
  } else {
    join(slices);
  }
}

void SliceWindowBase::join(SpillingSlices& slices) {
  slices_.absorb(slices);
  sliding_.forget();
}

// REQUIRES: a limit to memory.
Status SliceWindowBase::keep_within_share() {
  const std::size_t share = memory_.share_bytes();
  std::size_t ahead = 0;
  for (const auto& [time, all] : ahead_) {
    for (const SpillingSlices& each : all) ahead += each.memory_bytes();
  }
  if (slices_.memory_bytes() + ahead + sliding_.memory_bytes() > share) sliding_.forget();
  std::size_t beside = ahead + sliding_.memory_bytes();
  for (const auto& [start, keys] : dirty_) beside += keys.memory_bytes();
  HUMMER_TRY(slices_.keep_within(share - std::min(share, beside)));
  return memory_.set(slices_.memory_bytes() + beside);
}

// Whether the window has to be read in order of its keys' hashes, or can't be merged in memory.
bool SliceWindowBase::is_beyond_memory(const TimeWindow& window) const {
  if (!memory_.limited()) return false;
  if (slices_.has_spilled(window.start_ms, window.end_ms)) return true;
  return !grid_.is_tumbling() &&
         slices_.memory_bytes() +
                 sliding_.needed_bytes(slices_.tables(), window.start_ms, window.end_ms) >
             memory_.share_bytes();
}

// ---- records ----

void SliceWindowBase::add_run(Batch& in, const SliceRuns::Run& run, RecordInHand& in_hand) {
  const Timestamp last_end = grid_.last_end(run.slice);
  if (last_end <= run.slice) return;  // between two windows
  if (time_after(last_end, lateness_ms_) <= watermark_) {
    context().count_late(run.count);
    return;
  }
  fold(slices_.tables().at(run.slice, run.count), in, run, in_hand);
  const bool some_have_fired =
      time_after(grid_.first_start(run.slice), grid_.size_ms) <= fired_until();
  if (!some_have_fired) return;
  if (!grid_.is_tumbling()) {
    for (Table* const table : sliding_.covering(slices_.tables(), run.slice)) {
      fold(*table, in, run, in_hand);
    }
  }
  if (lateness_ms_ > 0) mark(in, run);
}

// The keys of the run have new results in the windows that have gone out and are still open.
void SliceWindowBase::mark(Batch& in, const SliceRuns::Run& run) {
  grid_.each_window(run.slice, [&](const TimeWindow& window) {
    if (window.end_ms > fired_until()) return;
    if (time_after(window.end_ms, lateness_ms_) <= watermark_) return;
    auto keys = dirty_.find(window.start_ms);
    if (keys == dirty_.end()) {
      keys = dirty_.emplace(window.start_ms, HashTable(keys_.table_keys, 8, 8)).first;
    }
    add_keys(keys->second, in, run);
  });
}

// ---- windows ----

OperatorResult SliceWindowBase::advance(Timestamp time, Output& out) {
  while (!ahead_.empty() && ahead_.begin()->first <= time) {
    const OperatorResult answer = advance_to(ahead_.begin()->first, out);
    if (answer != OperatorResult::done) return answer;
    for (SpillingSlices& slices : ahead_.begin()->second) join(slices);
    ahead_.erase(ahead_.begin());
  }
  return advance_to(time, out);
}

OperatorResult SliceWindowBase::advance_to(Timestamp time, Output& out) {
  if (refining_) {
    if (const OperatorResult answer = refine(out); answer != OperatorResult::done) return answer;
  }
  for (;;) {
    if (result_ == nullptr && scan_ == nullptr && !next_window(time)) break;
    if (const OperatorResult answer = emit(out); answer != OperatorResult::done) return answer;
    result_ = nullptr;
    scan_.reset();
    fired_until_ = window_.end_ms;
    drop_done();
  }
  watermark_ = std::max(watermark_, time);
  drop_done();
  return OperatorResult::done;
}

// The first window that is complete at `time` and holds a slice, and its table or scan.
bool SliceWindowBase::next_window(Timestamp time) {
  const auto slice = first_waiting();
  if (slice == slices_.tables().all().end()) return false;
  const Timestamp start = first_window(slice->first);
  const Timestamp end = time_after(start, grid_.size_ms);
  if (end > time) return false;
  window_ = {start, end};
  if (is_beyond_memory(window_)) {
    sliding_.forget();
    scan_ = slices_.scan(start, end);
  } else if (grid_.is_tumbling()) {
    result_ = slice->second.get();
  } else {
    result_ = &sliding_.window(slices_.tables(), start, end, time_after(start, grid_.slide_ms));
  }
  return true;
}

SliceTables::Slices::const_iterator SliceWindowBase::first_waiting() const {
  const Timestamp fired = fired_until();
  auto slice = slices_.tables().from(time_before(fired, grid_.size_ms));
  while (slice != slices_.tables().all().end() && grid_.last_end(slice->first) <= fired) ++slice;
  return slice;
}

// Of those that have not gone out, and hold the slice.
Timestamp SliceWindowBase::first_window(Timestamp slice) const {
  const Timestamp start = grid_.first_start(slice);
  const Timestamp after = time_before(fired_until(), grid_.size_ms);
  if (after == no_timestamp || start > after) return start;
  return time_after(grid_.floor(after, grid_.slide_ms), grid_.slide_ms);
}

OperatorResult SliceWindowBase::answer(const Result<bool>& all) {
  if (!all.ok()) return context().fail(all.status());
  return *all ? OperatorResult::done : OperatorResult::more;
}

OperatorResult SliceWindowBase::emit(Output& out) {
  if (out.full()) return OperatorResult::more;
  if (scan_ != nullptr) return emit_from_disk(nullptr, window_, out);
  const OperatorResult emitted = answer(emit_table(*result_, cursor_, window_, out));
  if (emitted == OperatorResult::done) cursor_ = 0;
  return emitted;
}

OperatorResult SliceWindowBase::emit_from_disk(const HashTable* only, const TimeWindow& window,
                                               Output& out) {
  const Result<bool> prepared = scan_->prepare();
  if (!prepared.ok() || !*prepared) return answer(prepared);
  return answer(emit_scan(*scan_, only, window, out));
}

// New results of the keys that late records have changed.
OperatorResult SliceWindowBase::refine(Output& out) {
  while (!dirty_.empty()) {
    const TimeWindow window{dirty_.begin()->first,
                            time_after(dirty_.begin()->first, grid_.size_ms)};
    const HashTable& changed = dirty_.begin()->second;
    if (scan_ == nullptr && refine_cursor_ == 0 && memory_.limited() &&
        slices_.scan_is_cheaper(window.start_ms, window.end_ms, changed.size())) {
      scan_ = slices_.scan(window.start_ms, window.end_ms);
    }
    if (out.full()) return OperatorResult::more;
    const OperatorResult emitted =
        scan_ != nullptr ? emit_from_disk(&changed, window, out)
                         : answer(emit_keys(changed, refine_cursor_, slices_, window, out));
    if (emitted != OperatorResult::done) return emitted;
    scan_.reset();
    refine_cursor_ = 0;
    dirty_.erase(dirty_.begin());
  }
  refining_ = false;
  return OperatorResult::done;
}

void SliceWindowBase::drop_done() {
  const Timestamp done = fired_until();
  while (!slices_.empty() &&
         time_after(grid_.last_end(slices_.tables().all().begin()->first), lateness_ms_) <= done) {
    slices_.drop_first();
  }
}

// Processing time: asks to be called when the next window ends, or slices join.
void SliceWindowBase::arm() {
  Timestamp next = ahead_.empty() ? end_of_time : ahead_.begin()->first;
  if (const auto slice = first_waiting(); slice != slices_.tables().all().end()) {
    next = std::min(next, time_after(first_window(slice->first), grid_.size_ms));
  }
  if (next != end_of_time) call_at_wall_time(context(), next);
}

}  // namespace hummer
