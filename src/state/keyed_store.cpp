#include <hummer/detail/state/keyed_store.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>

#include <hummer/detail/state/packed_numbers.hpp>

namespace hummer {
namespace {

constexpr std::size_t entries_per_step = 8192;
constexpr std::size_t restored_per_step_bytes = 1 << 20;
constexpr std::uint32_t generations_between_renewals = 1 << 14;
constexpr std::uint32_t most_generations = 3 << 14;

template <typename Number, typename Form>
void put_number(Number number, Form form, ByteWriter& out) {
  form == Form::saved ? out.put_value(number) : put_packed(number, out);
}
template <typename Number, typename Form>
[[nodiscard]] bool get_number(Number& number, Form form, ByteReader& in) {
  if (form == Form::saved) return in.get_value(number);
  std::uint64_t unpacked = 0;
  if (!get_packed(in, unpacked)) return false;
  number = static_cast<Number>(unpacked);
  return true;
}

Status store_cut_short() {
  return {ErrorCode::corrupt_record, "the state of a keyed operator is cut short"};
}

Status timer_without_hook(TimerKind kind) {
  const bool is_event = kind == TimerKind::event;
  return {ErrorCode::invalid_argument,
          std::string("the snapshot holds ") + (is_event ? "event" : "processing") +
              " timers, and the function has no " +
              (is_event ? "on_timer" : "on_processing_timer") +
              "(Timestamp, KeyedOutput<Out>&) that they could call: they would be lost. Declare "
              "it, or set allow_dropped_state"};
}

}  // namespace

KeyedStoreBase::KeyedStoreBase(KeyForm keys, bool keys_are_text, std::size_t entry_bytes,
                               TimerKinds timers)
    : keys_(keys), keys_are_text_(keys_are_text), timer_kinds_(timers), entry_bytes_(entry_bytes) {}

void KeyedStoreBase::destroy_all() {
  const std::size_t slots = slabs_.slot_count();
  for (std::size_t slot = 0; Entry* entry = next_entry(slot, slots);) {
    slot = entry->slot + 1;
    give_back(*entry);
  }
}

Status KeyedStoreBase::bind(std::vector<KeyedState*> states) {
  if (states.size() > 64) return {ErrorCode::invalid_argument, "a function has at most 64 states"};
  states_ = std::move(states);
  std::size_t block_size = entry_bytes_;
  if (timer_kinds_.any()) {
    parts_.timers = static_cast<std::uint32_t>(block_size);
    block_size += sizeof(TimersOfKey*);
    timers_.set_parts(parts_, timer_kinds_);
  }
  if (!keys_.by_value() || std::any_of(states_.begin(), states_.end(),
                                       [](KeyedState* state) { return state->uses_heap(); })) {
    parts_.heap_bytes = static_cast<std::uint32_t>(block_size);
    block_size += sizeof(std::uint32_t);
  }
  for (std::size_t i = 0; i < states_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (states_[i]->name() == states_[j]->name()) {
        return {ErrorCode::invalid_argument,
                "two states are named '" + states_[i]->name() + "': each needs a name of its own"};
      }
    }
    const std::size_t alignment = states_[i]->cell_alignment();
    HUMMER_ASSERT(alignment <= alignof(std::max_align_t));
    block_size = (block_size + alignment - 1) / alignment * alignment;
    states_[i]->bind(*this, block_size);
    block_size += states_[i]->cell_size();
    if (states_[i]->options().ttl_ms > 0) {
      least_ttl_ms_ = std::min(least_ttl_ms_, states_[i]->options().ttl_ms);
    }
  }
  constexpr std::size_t alignment = alignof(std::max_align_t);
  slabs_.set_block_bytes((block_size + alignment - 1) / alignment * alignment);
  return {};
}

// ---- the key in hand ----

void KeyedStoreBase::set_entry(Entry& entry) {
  leave_key();
  current_ = &entry;
  looked_up_ = true;
  take_in_hand(entry);
}

void KeyedStoreBase::visit_keys(const std::function<void()>& visit) {
  leave_key();
  const std::size_t slots = slabs_.slot_count();
  for (std::size_t slot = 0; Entry* const entry = next_entry(slot, slots);) {
    slot = entry->slot + 1;
    set_entry(*entry);
    visit();
    leave_key();
  }
}

void KeyedStoreBase::leave_entry() {
  auto& entry = static_cast<Entry&>(*current_);
  if (spill_.counts_heap()) spill_.count_heap(entry);
  if (entry.live == 0) erase(entry);
}

void KeyedStoreBase::no_key_in_hand() {
  throw std::logic_error("keyed state or a timer was used where no key is in hand");
}

void KeyedStoreBase::leave_key_of_before() { leave_key(); }

void KeyedStoreBase::no_hook(TimerKind kind) {
  throw std::logic_error(kind == TimerKind::event
                             ? "set_event_timer: the function has no on_timer(Timestamp, "
                               "KeyedOutput<Out>&) that the timer could call"
                             : "set_processing_timer: the function has no on_processing_timer("
                               "Timestamp, KeyedOutput<Out>&) that the timer could call");
}

Result<bool> KeyedStoreBase::fetch_ahead() {
  leave_key();
  const std::size_t records = std::exchange(records_ahead_, 0);
  if (records > 0) spill_.begin_fetch(missing_, records);
  Result<bool> all = spill_.fetch_some(missing_);
  current_ = nullptr;
  looked_up_ = false;
  key_ = nullptr;
  if (!all.ok() || *all) missing_.clear();
  return all;
}

StoreEntry* KeyedStoreBase::find_elsewhere(std::uint64_t hash, std::string_view key, bool create) {
  Entry* const on_disk = spill_.some_on_disk() ? spill_.fetch(hash, key) : nullptr;
  return on_disk == nullptr && create ? &add(hash) : on_disk;
}

// ---- timers ----

void KeyedStoreBase::set_timer(TimerKind kind, Timestamp time) {
  if (!timer_kinds_.has(kind)) no_hook(kind);
  if (refuses_timers_) return;
  add_timer(kind, time, static_cast<Entry&>(obtain()));
}

void KeyedStoreBase::delete_timer(TimerKind kind, Timestamp time) {
  KeyedEntry* const entry = timer_kinds_.any() ? find() : nullptr;
  if (entry != nullptr) remove_timer(kind, time, static_cast<Entry&>(*entry));
}

Timestamp KeyedStoreBase::next_timer(TimerKind kind) {
  return std::min(timers_.empty(kind) ? end_of_time : timers_.first(kind).time,
                  spill_.next_wake(kind));
}

bool KeyedStoreBase::due_timer(TimerKind kind, Timestamp limit) {
  if (spill_.some_on_disk()) spill_.wake_keys(kind, limit);
  if (timers_.empty(kind)) return false;
  due_ = timers_.first(kind);
  return due_.time <= limit;
}

Timestamp KeyedStoreBase::take_timer(TimerKind kind) {
  set_entry(*due_.entry);
  remove_timer(kind, due_.time, *due_.entry);
  return due_.time;
}

void KeyedStoreBase::add_timer(TimerKind kind, Timestamp time, Entry& entry) {
  changing(entry);
  const bool first = !timers_.any(entry);
  if (timers_.add(kind, time, entry) && first) ++entry.live;
}

void KeyedStoreBase::remove_timer(TimerKind kind, Timestamp time, Entry& entry) {
  changing(entry);
  if (timers_.remove(kind, time, entry) && !timers_.any(entry)) --entry.live;
}

// Whether the first timer comes before one of the key with these ordered bytes.
bool KeyedStoreBase::first_timer_is_before(TimerKind kind, Timestamp time, std::string_view key) {
  if (timers_.empty(kind)) return false;
  const KeyedTimers::Timer first = timers_.first(kind);
  return first.time != time ? first.time < time : keys_.ordered(*first.entry) < key;
}

// Back from disk, if it is there.
void KeyedStoreBase::wake(std::string_view ordered_key) {
  take_in_hand(ordered_key);
  look_up(false);
  leave_key();
}

// ---- time to live ----

bool KeyedStoreBase::sweep(std::size_t count) {
  leave_key();
  const std::size_t end = std::min(sweep_ + count, slabs_.slot_count());
  while (Entry* const entry = next_entry(sweep_, end)) {
    sweep_ = entry->slot + 1;
    for (KeyedState* state : states_) {
      if (state->options().ttl_ms > 0) state->expire(*entry, now_ms_);
    }
    if (entry->live == 0) erase(*entry);
  }
  const bool complete = end == slabs_.slot_count();
  sweep_ = complete ? 0 : end;
  return complete;
}

// ---- entries ----

StoreEntry& KeyedStoreBase::add(std::uint64_t hash) {
  const EntrySlabs::Place place = slabs_.take();
  Entry* entry = nullptr;
  try {
    entry = &make_entry(place.block);
    entry->slot = place.slot;
    entry->changed = generation_;
    entry->is_new = true;
    if (parts_.timers != 0) parts_.timers_of(*entry) = nullptr;
    if (parts_.heap_bytes != 0) parts_.heap_bytes_of(*entry) = 0;
    for (const KeyedState* state : states_) state->construct(*entry);
    index_.insert(place.slot, hash);
  } catch (...) {
    if (entry != nullptr) destroy_entry(*entry);
    slabs_.give_back(place.slot);
    throw;
  }
  if (limited()) spill_.count_heap(*entry);
  return *entry;
}

void KeyedStoreBase::give_back(Entry& entry) {
  for (const KeyedState* state : states_) state->destroy(entry);
  const std::uint32_t slot = entry.slot;
  destroy_entry(entry);
  slabs_.give_back(slot);
}

void KeyedStoreBase::erase(Entry& entry) {
  if (is_gone_on_disk(entry)) return;
  changing(entry);
  if (!entry.is_new && !too_many_gone_) note_gone(entry);
  remove(entry, keys_.hash(entry));
}

void KeyedStoreBase::remove(Entry& entry, std::uint64_t hash) {
  timers_.clear(entry);
  spill_.forget_heap(entry);
  index_.erase(entry.slot, hash);
  ++removals_;
  give_back(entry);
}

// The last snapshot has the key. Where there are more of those than of others, nothing is gained.
void KeyedStoreBase::note_gone(const Entry& entry) {
  gone_.add(keys_.hash(entry), [&](ByteWriter& out) {
    out.put_value(entry_is_gone);
    encode_key(entry, out);
  });
  too_many_gone_ = gone_.memory_bytes() > memory_bytes();
  if (too_many_gone_) gone_.clear();
}

// With all that hangs from it.
void KeyedStoreBase::drop(Entry& entry) {
  changing(entry);
  timers_.clear(entry);
  for (const KeyedState* state : states_) state->destroy(entry);
  for (const KeyedState* state : states_) state->construct(entry);
  entry.live = 0;
  if (spill_.counts_heap()) spill_.count_heap(entry);
  current_ = nullptr;
  erase(entry);
}

// ---- snapshot ----

Result<bool> KeyedStoreBase::freeze(bool may_be_delta, ByteWriter& out) {
  leave_key();
  out.put_text(key_type());
  out.put_value(static_cast<std::uint8_t>(states_.size()));
  for (const KeyedState* state : states_) {
    out.put_text(state->name());
    out.put_text(state->describe_type());
  }
  entries_.begin(spill_.context());
  const bool under_way = frozen_ || spill_.writes_frozen();
  const bool delta = spill_.freeze(may_be_delta && was_frozen_ && !under_way && !too_many_gone_);
  too_many_gone_ = false;
  saved_ = delta ? std::exchange(gone_, {}) : SavedEntries();
  gone_.clear();
  gone_on_disk_.clear();
  whole_ = !delta;
  frozen_ = was_frozen_ = true;
  next_frozen_ = 0;
  ++generation_;
  ++generations_since_renewal_;
  renews_ = generations_since_renewal_ >= generations_between_renewals;
  if (generations_since_renewal_ == most_generations) renew_all();  // no snapshot was completed
  return delta;
}

Result<bool> KeyedStoreBase::write_frozen(ByteWriter& out, std::size_t until_bytes) {
  if (!frozen_) return spill_.write_frozen(out, until_bytes);
  entries_.begin_step();
  for (; !saved_.empty(); saved_.write_chunk(entries_, out)) {
    if (entries_.enough(out, until_bytes)) return false;
  }
  const std::size_t end = std::min(next_frozen_ + entries_per_step, slabs_.slot_count());
  while (Entry* const entry = next_entry(next_frozen_, end)) {
    if (entries_.enough(out, until_bytes)) return false;
    next_frozen_ = entry->slot;
    if (is_pending(*entry)) {
      if (is_gone_on_disk(*entry)) {
        save(*entry);
      } else {
        entries_.add(keys_.hash(*entry), out, [&](ByteWriter& to) { encode(*entry, to); });
      }
    }
    if (renews_) renew(*entry);
    ++next_frozen_;
  }
  next_frozen_ = end;
  if (end < slabs_.slot_count() || !saved_.empty() || !entries_.flush(out, until_bytes)) {
    return false;
  }
  frozen_ = false;
  if (renews_) generations_since_renewal_ = 0;
  if (spill_.writes_frozen()) {
    begin_section(out);
    return false;
  }
  out.put_value(end_of_entries);
  return true;
}

// The mark is of no key group: whoever reads some groups only meets it, too.
void KeyedStoreBase::begin_section(ByteWriter& out) {
  out.put_value(section_follows);
  entries_.begin(spill_.context());
}

// Generations are counted modulo 65,536. Long before one comes again, what is older than the last
// two is taken to be three old.
void KeyedStoreBase::renew(Entry& entry) const {
  const auto age = static_cast<std::uint16_t>(generation_ - entry.changed);
  if (age > 3) entry.changed = static_cast<std::uint16_t>(generation_ - 3);
}

void KeyedStoreBase::renew_all() {
  const std::size_t slots = slabs_.slot_count();
  for (std::size_t slot = 0; Entry* entry = next_entry(slot, slots); slot = entry->slot + 1) {
    renew(*entry);
  }
  generations_since_renewal_ = 0;
}

Status KeyedStoreBase::restore(ByteReader& in, const OperatorContext& context,
                               RestoreOptions options, bool delta) {
  set_now_ms(context.wall_time_ms());
  try {
    Status status = restore_entries(in, context, options, delta);
    emptied_ = {};
    return status;
  } catch (const StateUnavailable&) {
    return failure();
  }
}

bool KeyedStoreBase::is_pending(const KeyedEntry& entry) const {
  return frozen_ && !entry.unchanged && entry.slot >= next_frozen_ &&
         entry.changed != generation_ &&
         (whole_ || static_cast<std::uint16_t>(entry.changed + 1) == generation_);
}

void KeyedStoreBase::first_change(KeyedEntry& entry) {
  if (is_pending(entry)) save(static_cast<const Entry&>(entry));
  entry.changed = generation_;
  entry.is_new = false;
  entry.unchanged = false;
}

void KeyedStoreBase::save(const Entry& entry) {
  const std::uint64_t hash = keys_.hash(entry);
  if (is_gone_on_disk(entry)) {
    gone_on_disk_.add(hash, [&](ByteWriter& out) {
      out.put_value(entry_is_gone);
      encode_key(entry, out);
    });
  } else {
    saved_.add(hash, [&](ByteWriter& out) { encode(entry, out); });
  }
}

void KeyedStoreBase::encode(const Entry& entry, ByteWriter& out) {
  out.put_value(entry_follows);
  encode_key(entry, out);
  encode_cells(entry, CellForm::saved, out);
}

void KeyedStoreBase::encode_cells(const Entry& entry, CellForm form, ByteWriter& out) {
  std::uint64_t present = 0;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    present |= std::uint64_t{states_[i]->present(entry)} << i;
  }
  put_number(present, form, out);
  for (; present != 0; present &= present - 1) {
    // With its length, so that a state may be dropped.
    ByteWriter one(space_);
    states_[static_cast<std::size_t>(std::countr_zero(present))]->encode(entry, one);
    put_number(static_cast<std::uint32_t>(one.size()), form, out);
    out.put(one.view().data(), one.size());
  }
  put_number(timers_.count(entry), form, out);
  timers_.for_each(entry, [&](TimerKind kind, Timestamp time) {
    out.put_value(kind);
    out.put_value(time);
  });
}

void KeyedStoreBase::unpack_cells(ByteReader& in, ByteWriter& out) {
  std::uint64_t present = 0;
  HUMMER_ASSERT(get_number(present, CellForm::packed, in));
  out.put_value(present);
  for (; present != 0; present &= present - 1) {
    std::uint32_t bytes = 0;
    HUMMER_ASSERT(get_number(bytes, CellForm::packed, in));
    out.put_text({in.take(bytes), bytes});
  }
  std::uint32_t timers = 0;
  HUMMER_ASSERT(get_number(timers, CellForm::packed, in));
  out.put_value(timers);
  const std::size_t rest = in.left();
  out.put(in.take(rest), rest);
}

Status KeyedStoreBase::restore_entries(ByteReader& in, const OperatorContext& context,
                                       RestoreOptions options, bool delta) {
  std::vector<KeyedState*> found;
  HUMMER_TRY(restore_states(in, options, found));
  ++generation_;  // so that what this piece has brought is known
  int section = 0;
  std::size_t room_made_at = in.left();
  for (std::size_t restored = 1;; ++restored) {
    in.let_go();
    std::uint8_t mark = 0;
    if (!in.get_value(mark) || mark > section_follows) return store_cut_short();
    if (mark == end_of_entries) return {};
    if (mark == section_follows) {
      if (section++ == 0) emptied_.sort();
      continue;
    }
    bool mine = false;
    if (!decode_key(in, context, mine)) return store_cut_short();
    Entry* entry = nullptr;
    if (mine) {
      take_decoded_key();
      KeyedEntry* const old = find();
      // That it is gone says nothing of what came behind that, and went to disk.
      const bool is_newer = section == 1 && old != nullptr && old->changed == generation_ &&
                            !is_gone_on_disk(static_cast<Entry&>(*old));
      if (old != nullptr && !is_newer) {
        if (!delta && mark == entry_follows) {
          return {ErrorCode::corrupt_record, "a key is in the state of two subtasks"};
        }
        drop(static_cast<Entry&>(*old));
        take_decoded_key();
      }
      if (mark == entry_follows && !is_newer) {
        entry = static_cast<Entry*>(&obtain());
        if (section == 1 && emptied_.has(keys_.hash(*entry), keys_.bytes(*entry))) {
          erase(*std::exchange(entry, nullptr));
        }
      }
      current_ = nullptr;  // it may still be empty
      key_ = nullptr;
      looked_up_ = false;
    }
    if (mark == entry_follows) {
      HUMMER_TRY(decode_cells(in, CellForm::saved, found, entry, options));
      if (entry != nullptr) HUMMER_TRY(keep_restored(*entry, section));
    }
    const bool many = restored % entries_per_step == 0;
    if (spill_.limited() && (many || room_made_at - in.left() >= restored_per_step_bytes)) {
      HUMMER_TRY(keep_within_share());
      room_made_at = in.left();
    }
  }
}

Status KeyedStoreBase::keep_restored(Entry& entry, int section) {
  if (spill_.counts_heap()) spill_.count_heap(entry);
  if (entry.live > 0) return {};
  // Only dropped state was in it. What the second section has of its key is older, and stays away.
  if (section == 0) {
    const std::string_view bytes = keys_.bytes(entry);
    if (emptied_.key_bytes() + bytes.size() > UINT32_MAX) {
      return {ErrorCode::limit_exceeded,
              "the snapshot holds 4 GiB of keys that have nothing but dropped state: declare one "
              "of the states that are dropped"};
    }
    emptied_.add(keys_.hash(entry), bytes);
  }
  erase(entry);
  return {};
}

Status KeyedStoreBase::decode_cells(ByteReader& in, CellForm form,
                                    const std::vector<KeyedState*>& found, Entry* entry,
                                    RestoreOptions options) {
  std::uint64_t present = 0;
  if (!get_number(present, form, in)) return store_cut_short();
  for (; present != 0; present &= present - 1) {
    const auto state = static_cast<std::size_t>(std::countr_zero(present));
    std::uint32_t bytes = 0;
    if (state >= found.size() || !get_number(bytes, form, in)) return store_cut_short();
    const char* const cell = in.take(bytes);
    if (cell == nullptr) return store_cut_short();
    if (entry == nullptr || found[state] == nullptr) continue;
    ByteReader one({cell, bytes}, in);
    if (!found[state]->decode(one, *entry) || one.left() != 0) {
      return {ErrorCode::corrupt_record,
              "a value of state '" + found[state]->name() + "' cannot be decoded"};
    }
  }
  std::uint32_t timers = 0;
  if (!get_number(timers, form, in)) return store_cut_short();
  for (std::uint32_t i = 0; i < timers; ++i) {
    TimerKind kind{};
    Timestamp time = 0;
    if (!in.get_value(kind) || kind > TimerKind::processing || !in.get_value(time)) {
      return store_cut_short();
    }
    if (entry == nullptr) continue;
    if (timer_kinds_.has(kind)) {
      add_timer(kind, time, *entry);
    } else if (!options.allow_dropped_state) {
      return timer_without_hook(kind);
    }
  }
  return {};
}

// The snapshot's states by their number there; null: dropped.
Status KeyedStoreBase::restore_states(ByteReader& in, RestoreOptions options,
                                      std::vector<KeyedState*>& found) {
  std::string_view type_of_keys;
  std::uint8_t count = 0;
  if (!in.get_text(type_of_keys) || !in.get_value(count)) return store_cut_short();
  if (!can_read_key_type(type_of_keys, key_type())) {
    return {ErrorCode::invalid_argument, "the snapshot's keys are of type " +
                                             std::string(type_of_keys) + ", the job's of type " +
                                             key_type()};
  }
  for (std::uint8_t i = 0; i < count; ++i) {
    std::string_view name, type;
    if (!in.get_text(name) || !in.get_text(type)) return store_cut_short();
    KeyedState* state = nullptr;
    for (KeyedState* one : states_) {
      if (one->name() == name) state = one;
    }
    if (state == nullptr && !options.allow_dropped_state) {
      return {ErrorCode::invalid_argument,
              "the snapshot holds state '" + std::string(name) +
                  "', which the function does not declare: its values would be lost. Declare "
                  "it, or set allow_dropped_state"};
    }
    if (state != nullptr && !detail::can_read_saved(type, state->describe_type(), in)) {
      return {ErrorCode::invalid_argument, "state '" + std::string(name) + "' is " +
                                               std::string(type) + " in the snapshot and " +
                                               state->describe_type() + " in the job"};
    }
    found.push_back(state);
  }
  return {};
}

}  // namespace hummer
