#include <hummer/detail/operators/window_join.hpp>

#include <algorithm>
#include <map>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/state/declared_states.hpp>

namespace hummer {
namespace {

constexpr std::uint8_t join_snapshot_version = 3;
constexpr std::uint8_t version_of_keyed_store = 2;  // see KeptWindowJoin
constexpr std::size_t keys_per_look = 64;

Status cut_short() {
  return {ErrorCode::corrupt_record, "the state of a window join cannot be decoded"};
}

}  // namespace

Status WindowJoinBase::open() {
  if (grid_.domain != TimeDomain::event) {
    return {ErrorCode::invalid_argument, "a window join is one of event time"};
  }
  HUMMER_TRY(grid_.check());
  open_state();
  groups_.open(context());
  if (restored_watermark_.known()) watermark_ = restored_watermark_.of(context());
  if (kept_ != nullptr) HUMMER_TRY(take_kept());
  fired_until_ = watermark_;
  drop_done();
  return keep_within_share();
}

void WindowJoinBase::open_state() {
  memory_.open(context().memory(), true);
  slices_.open(context());
}

// ---- records ----

WindowJoinBase::SliceInHand WindowJoinBase::slice_of(Timestamp time, std::size_t side) {
  SliceInHand slice;
  slice.start = grid_.slice_of(time);
  slice.length = static_cast<std::uint64_t>(grid_.slice_ms());
  const Timestamp last_end = grid_.last_end(slice.start);
  if (last_end <= slice.start) return slice;
  if (last_end <= watermark_) {
    slice.state = SliceInHand::State::late;
  } else {
    slice.state = SliceInHand::State::open;
    slice.log = &slices_.at(slice.start).logs[side];
  }
  return slice;
}

Status WindowJoinBase::keep_within_share() {
  if (memory_.limited()) HUMMER_TRY(slices_.keep_within(memory_.share_bytes()));
  return memory_.set(slices_.memory_bytes());
}

// ---- windows ----

OperatorResult WindowJoinBase::watermark(Timestamp time, Output& out) {
  watermark_ = std::max(watermark_, time);  // after a restore the first ones may be behind it
  for (;;) {
    if (!window_) {
      if (!next_window(watermark_)) break;
      groups_.begin(slices_, *window_, keys_);
    }
    const OperatorResult answer = emit(*window_, out);
    if (answer != OperatorResult::done) return answer;
    fired_until_ = window_->end_ms;
    window_.reset();
    drop_done();
  }
  fired_until_ = std::max(fired_until_, watermark_);
  drop_done();
  return answer(memory_.set(slices_.memory_bytes()));
}

// The first that is complete at `time`, has not gone out and holds a slice.
bool WindowJoinBase::next_window(Timestamp time) {
  const auto& slices = slices_.all();
  auto slice = slices.lower_bound(time_before(fired_until_, grid_.size_ms));
  while (slice != slices.end() && grid_.last_end(slice->first) <= fired_until_) ++slice;
  if (slice == slices.end()) return false;
  Timestamp start = grid_.first_start(slice->first);
  const Timestamp after = time_before(fired_until_, grid_.size_ms);
  if (after != no_timestamp && start <= after) {
    start = time_after(grid_.floor(after, grid_.slide_ms), grid_.slide_ms);
  }
  const Timestamp end = time_after(start, grid_.size_ms);
  if (end > time) return false;
  window_ = {start, end};
  return true;
}

void WindowJoinBase::drop_done() {
  bool some = false;
  while (!slices_.empty() && grid_.last_end(slices_.all().begin()->first) <= fired_until_) {
    slices_.drop_first();
    some = true;
  }
  if (some) slices_.trim();
}

// ---- snapshot ----

Status WindowJoinBase::snapshot(ByteWriter& out) {
  const bool delta = slices_.freeze(context().may_write_delta());
  if (delta) context().wrote_delta();
  out.put_value(join_snapshot_version);
  out.put_value(static_cast<std::uint8_t>(delta));
  out.put_value(watermark_);
  out.put_text(key_type());
  out.put_value(static_cast<std::uint32_t>(slices_.origins().size()));
  for (const Timestamp time : slices_.origins()) out.put_value(time);
  return {};
}

OperatorResult WindowJoinBase::snapshot_rest(ByteWriter& out) {
  const Result<bool> all = slices_.write_frozen(out, context().snapshot_step_bytes());
  if (!all.ok()) return context().fail(all.status());
  return *all ? OperatorResult::done : OperatorResult::more;
}

Status WindowJoinBase::restore(ByteReader& in) {
  std::uint8_t version = 0;
  std::uint8_t delta = 0;
  Timestamp watermark = 0;
  if (!in.get_value(version)) return cut_short();
  if (version != join_snapshot_version && version != version_of_keyed_store) {
    return {ErrorCode::corrupt_record, "the state of operator '" + context().name() +
                                           "' has version " + std::to_string(version) + ", not " +
                                           std::to_string(join_snapshot_version)};
  }
  if (!in.get_value(delta) || !in.get_value(watermark)) return cut_short();
  open_state();
  subtasks_restored_ += delta == 0 ? 1 : 0;
  restored_watermark_.add(watermark, delta != 0);
  if (version == version_of_keyed_store) {
    if (kept_ == nullptr) {
      kept_ = make_kept();
      HUMMER_TRY(kept_->open(context()));
    }
    HUMMER_TRY(restore_broadcast({}, in, false, false));
    return kept_->restore(in, context(), delta != 0);
  }
  std::string_view type_of_keys;
  if (!in.get_text(type_of_keys)) return cut_short();
  if (!can_read_key_type(type_of_keys, key_type())) {
    return {ErrorCode::invalid_argument, "the snapshot's keys are of type " +
                                             std::string(type_of_keys) + ", the job's of type " +
                                             key_type()};
  }
  HUMMER_TRY(restore_origins(in, watermark, delta != 0));
  if (delta != 0) drop_done_of_subtask(watermark);
  return slices_.restore(
      in,
      [&](Timestamp, std::size_t side, const RecordEntry& entry) {
        return restore_entry(side, entry, in);
      },
      [this] { return keep_within_share(); });
}

// The subtask itself, at its watermark, and those from which it had records ahead of that.
Status WindowJoinBase::restore_origins(ByteReader& in, Timestamp watermark, bool delta) {
  std::uint32_t count = 0;
  if (!in.get_value(count) || count == 0) return cut_short();
  if (delta && count != origins_of_piece_.size()) return cut_short();
  if (!delta) origins_of_piece_.clear();
  for (std::uint32_t i = 0; i < count; ++i) {
    Timestamp time = 0;
    if (!in.get_value(time)) return cut_short();
    if (delta) {
      slices_.set_origin(origins_of_piece_[i], std::max(time, watermark));
    } else if (i > 0 && time <= watermark) {
      origins_of_piece_.push_back(origins_of_piece_.front());
    } else {
      origins_of_piece_.push_back(slices_.add_origin(std::max(time, watermark)));
    }
  }
  return {};
}

bool WindowJoinBase::restore_entry(std::size_t side, const RecordEntry& entry,
                                   const ByteReader& piece) {
  if (entry.origin >= origins_of_piece_.size() || !read_key(entry.key(), key_space_) ||
      !read_record(side, ByteReader(entry.record(), piece), record_space_)) {
    return false;
  }
  add_restored(side, entry.time, key_space_, record_space_, origins_of_piece_[entry.origin]);
  return true;
}

void WindowJoinBase::add_restored(std::size_t side, Timestamp time, std::string_view key,
                                  std::string_view record, std::uint32_t origin) {
  const std::uint64_t hash = hash_bytes(key.data(), key.size());
  if (!connector_context(context()).owns_hash(hash)) return;
  const Timestamp start = grid_.slice_of(time);
  if (grid_.last_end(start) <= start) return;
  const RecordEntry head{.time = time,
                         .key_bytes = static_cast<std::uint32_t>(key.size()),
                         .record_bytes = static_cast<std::uint32_t>(record.size()),
                         .origin = origin,
                         .unused = 0};
  RecordLog& log = slices_.at(start).logs[side];
  char* const at = write_entry_head(log.reserve(head.size()), head, key);
  std::memcpy(at, record.data(), record.size());
  log.commit(hash, head.size());
  const auto [by, is_new] = restored_by_.try_emplace(start, subtasks_restored_);
  if (by->second != subtasks_restored_) by->second = several_subtasks;
}

// What a subtask had before, and was done with when it wrote the delta.
void WindowJoinBase::drop_done_of_subtask(Timestamp watermark) {
  for (auto slice = restored_by_.begin(); slice != restored_by_.end();) {
    if (slice->second == subtasks_restored_ && grid_.last_end(slice->first) <= watermark) {
      slices_.erase(slice->first);
      slice = restored_by_.erase(slice);
    } else {
      ++slice;
    }
  }
}

// A key's windows that end before its next one have gone out, also where the watermark has gone
// back since.
Status WindowJoinBase::take_kept() {
  std::map<Timestamp, std::uint32_t> origins;
  bool valid = true;
  const auto take = [&](const KeptWindowJoinBase::Record& record) {
    std::uint32_t origin = 0;
    const auto own = detail::next_end(grid_, record.time, watermark_);
    if (own && *own < record.next_end) {
      const auto [known, is_new] = origins.try_emplace(record.next_end, 0);
      if (is_new) known->second = slices_.add_origin(time_before(record.next_end, 1));
      origin = known->second;
    }
    if (!read_record(record.side, ByteReader(record.record), record_space_)) valid = false;
    add_restored(record.side, record.time, record.key, record_space_, origin);
  };
  HUMMER_TRY(kept_->take_all(take, [this] { return keep_within_share(); }));
  kept_.reset();
  return valid ? Status() : cut_short();
}

Status KeptWindowJoinBase::open(OperatorContext& context) {
  HUMMER_TRY(store().bind(own_states()));
  store().open(context);
  return {};
}

Status KeptWindowJoinBase::take_all(const std::function<void(const Record&)>& take,
                                    const std::function<Status()>& make_room) {
  KeyedStoreBase& all = store();
  try {
    for (std::size_t taken = 1; all.due_timer(TimerKind::event, end_of_time); ++taken) {
      (void)all.take_timer(TimerKind::event);
      take_key(take);
      all.leave_key();
      if (taken % keys_per_look != 0) continue;
      if (all.limited()) HUMMER_TRY(all.keep_within_share());
      HUMMER_TRY(make_room());
    }
  } catch (const StateUnavailable&) {
    return all.failure();
  }
  return {};
}

}  // namespace hummer
