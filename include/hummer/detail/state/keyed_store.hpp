// KeyedStore<K>: the table behind the states of a keyed operator: key → entry,
// with everything that belongs to a key hanging from its entry.
//
// An entry is one block of memory: head, key, and a cell for each state. Blocks lie in slabs
// (entry_slabs.hpp); an index of pointers finds them by hash. Timers of both kinds
// (keyed_timers.hpp) are ordered by time, then by key (integers by value, other keys by
// their canonical bytes), which is the order they fire in: the same on every run.
//
// The key in hand is named by set_key() (or an entry of a timer); it is hashed
// when a state is touched, at most once. An entry with nothing left in it is
// removed when the next key is named.
//
// Beyond its operator's share of memory entries go to disk: keyed_spill.hpp.
//
// Snapshot: freeze() writes key type and the states with their names and types, write_frozen() in
// steps every entry with its timers, or those that changed since the last one and the keys that
// are gone, while the store goes on: an entry that changes before it was written is saved first.
// An entry knows in which generation (stretch between two snapshots) it changed last, so freezing
// is the increment of a number. restore() takes any subtask's and keeps the keys that are owned
// here. Thread: that of the operator. Ownership: states are bound to it by their address and
// outlive it.
#pragma once

#include <bit>
#include <cstring>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/entry_index.hpp>
#include <hummer/detail/state/entry_slabs.hpp>
#include <hummer/detail/state/keyed_backend.hpp>
#include <hummer/detail/state/keyed_spill.hpp>
#include <hummer/detail/state/keyed_timers.hpp>
#include <hummer/detail/state/ordered_key.hpp>
#include <hummer/detail/state/saved_entries.hpp>
#include <hummer/operator.hpp>

namespace hummer {

template <typename K>
class KeyedStore final : public KeyedBackend {
  static constexpr bool by_text =
      std::is_same_v<K, std::string_view> || std::is_same_v<K, std::string>;
  static constexpr bool by_value = std::is_integral_v<K>;
  static_assert(by_text || !holds_views<K>,
                "a composite key must own its text: use std::string in it");

 public:
  using OwnedKey = std::conditional_t<by_text, std::string, K>;

  struct Entry : KeyedEntry {
    OwnedKey key{};
    [[no_unique_address]] std::conditional_t<by_text || by_value, std::type_identity<void>,
                                             std::string> bytes{};
    TimersOfKey* timers = nullptr;  // null: none
    SpillMarks marks;
  };

  KeyedStore() = default;
  KeyedStore(const KeyedStore&) = delete;
  KeyedStore& operator=(const KeyedStore&) = delete;
  ~KeyedStore() override {
    const std::size_t slots = slabs_.slot_count();
    for (std::size_t slot = 0; Entry* entry = slabs_.next(slot, slots);) {
      slot = entry->slot + 1;
      destroy_cells(*entry);
      slabs_.give_back(*entry);
    }
  }

  // Once, before everything else.
  Status bind(std::vector<KeyedState*> states) {
    if (states.size() > 64)
      return {ErrorCode::invalid_argument, "a function has at most 64 states"};
    states_ = std::move(states);
    std::size_t block_size = sizeof(Entry);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (states_[i]->name() == states_[j]->name()) {
          return {ErrorCode::invalid_argument, "two states are named '" + states_[i]->name() +
                                                   "': each needs a name of its own"};
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

  // Behind bind: what it holds is counted from now on, and kept within the operator's share.
  void open(OperatorContext& context) { spill_.open(context); }

  // ---- the key in hand ----

  // REQUIRES: the key outlives its time in hand.
  void set_key(const K& key) {
    leave_key();
    key_ = &key;
    looked_up_ = false;
    current_ = nullptr;
  }
  void set_entry(Entry& entry) {
    leave_key();
    current_ = &entry;
    looked_up_ = true;
    if constexpr (std::is_same_v<K, std::string_view>) {
      entry_key_ = entry.key;
      key_ = &entry_key_;
    } else {
      key_ = &entry.key;
    }
  }
  // The entry of the key in hand, made if need be: obtain() without a virtual call.
  Entry& obtain_entry() {
    if (!looked_up_ || current_ == nullptr) KeyedStore::look_up(true);
    return static_cast<Entry&>(*current_);
  }
  void leave_key() {
    if (current_ != nullptr && spill_.limited()) spill_.count_heap(static_cast<Entry&>(*current_));
    if (current_ != nullptr && current_->live == 0) erase(static_cast<Entry&>(*current_));
    current_ = nullptr;
    looked_up_ = false;
    key_ = nullptr;
  }
  // Null when there is none.
  const K* key() const { return key_; }
  const void* key_of_type(const TypeDescriptor& type) const override {
    return key_ != nullptr && type == type_of<K>() ? key_ : nullptr;
  }

  std::size_t size() const { return index_.size(); }
  // Without what values hold beside their cells, and without timers.
  std::size_t memory_bytes() const { return slabs_.memory_bytes() + index_.memory_bytes(); }

  // ---- beyond memory: see KeyedSpill ----

  bool limited() const { return spill_.limited(); }
  const Status& failure() const { return spill_.failure(); }
  Status keep_within_share() {
    leave_key();
    return spill_.keep_within_share();
  }

  // ---- timers ----

  void set_timer(TimerKind kind, Timestamp time) override {
    if (refuses_timers_) return;
    add_timer(kind, time, static_cast<Entry&>(obtain()));
  }
  void delete_timer(TimerKind kind, Timestamp time) override {
    KeyedEntry* const entry = find();
    if (entry != nullptr) remove_timer(kind, time, static_cast<Entry&>(*entry));
  }
  // When the next one may be due; end_of_time when there is none.
  Timestamp next_timer(TimerKind kind) const {
    return std::min(timers_.empty(kind) ? end_of_time : timers_.first_time(kind),
                    spill_.next_wake(kind));
  }
  // Whether there is one up to `limit`; keys on disk come back for theirs. REQUIRES: no key in
  // hand.
  bool due_timer(TimerKind kind, Timestamp limit) {
    if (spill_.some_on_disk()) spill_.wake_keys(kind, limit);
    return !timers_.empty(kind) && timers_.first_time(kind) <= limit;
  }
  // REQUIRES: due_timer. Its key is in hand then; it stays until it is taken.
  Timestamp enter_timer(TimerKind kind) {
    set_entry(timers_.first_entry(kind));
    return timers_.first_time(kind);
  }
  // The timer's entry keeps a hold on its key until leave_key().
  void take_timer(TimerKind kind) {
    remove_timer(kind, timers_.first_time(kind), timers_.first_entry(kind));
  }

  // ---- time to live ----

  bool has_ttl() const { return least_ttl_ms_ != INT64_MAX; }
  std::int64_t least_ttl_ms() const { return least_ttl_ms_; }
  // Removes what has outlived its time at the next `count` places; true: the round through
  // all of them is complete. REQUIRES: no key in hand.
  bool sweep(std::size_t count) {
    leave_key();
    const std::size_t end = std::min(sweep_ + count, slabs_.slot_count());
    while (Entry* const entry = slabs_.next(sweep_, end)) {
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

  // ---- snapshot ----

  // Fixes what write_frozen() then writes: every entry, or with `may_be_delta` what has changed
  // since the last time; answers whether only that. Cheap. One under way is given up, and then
  // everything is written.
  Result<bool> freeze(bool may_be_delta, ByteWriter& out) {
    leave_key();
    out.put_text(Codec<OwnedKey>::name());
    out.put_value(static_cast<std::uint8_t>(states_.size()));
    for (const KeyedState* state : states_) {
      out.put_text(state->name());
      out.put_text(state->describe_type());
    }
    if (spill_.some_on_disk()) {
      too_many_gone_ = true;  // no delta will be written any more
      HUMMER_TRY(spill_.freeze());
      return false;
    }
    const bool delta = may_be_delta && generation_ != 0 && !frozen_ && !too_many_gone_;
    too_many_gone_ = false;
    saved_ = delta ? std::exchange(gone_, {}) : SavedEntries();
    gone_.clear();
    whole_ = !delta;
    frozen_ = true;
    next_frozen_ = 0;
    ++generation_;
    HUMMER_ASSERT(generation_ != 0);
    return delta;
  }
  // Writes entries, until `out` holds about so many bytes, or many places were looked at; true:
  // that was all.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes) {
    if (spill_.some_on_disk()) return spill_.write_frozen(out, until_bytes);
    if (!frozen_) return true;
    for (; !saved_.empty(); saved_.write_chunk(out)) {
      if (out.size() >= until_bytes) return false;
    }
    const std::size_t end = std::min(next_frozen_ + entries_per_step, slabs_.slot_count());
    while (const Entry* const entry = slabs_.next(next_frozen_, end)) {
      if (out.size() >= until_bytes) return false;
      next_frozen_ = entry->slot;
      if (is_pending(*entry)) encode(*entry, out);
      ++next_frozen_;
    }
    next_frozen_ = end;
    if (end < slabs_.slot_count()) return false;
    out.put_value(end_of_entries);
    frozen_ = false;
    return true;
  }

  // What freeze() and write_frozen() have written. `delta`: on what was restored before. What there
  // is no room for goes to disk meanwhile.
  Status restore(ByteReader& in, const OperatorContext& context, RestoreOptions options,
                 bool delta) {
    set_now_ms(context.wall_time_ms());
    try {
      return restore_entries(in, context, options, delta);
    } catch (const StateUnavailable&) {
      return failure();
    }
  }

 private:
  friend class KeyedSpill<KeyedStore>;
  static constexpr std::size_t entries_per_step = 8192;
  static constexpr std::size_t restored_per_step_bytes = 1 << 20;
  enum Mark : std::uint8_t { end_of_entries, entry_follows, entry_is_gone };

  struct Probe {
    std::uint64_t hash;
    std::conditional_t<by_value, K, std::string_view> value;
  };
  static auto comparable(const Entry& entry) {
    if constexpr (by_value) {
      return entry.key;
    } else if constexpr (by_text) {
      return std::string_view(entry.key);
    } else {
      return std::string_view(entry.bytes);
    }
  }
  // By value, or by canonical bytes, of which the first eight decide most of the time.
  struct ByKey {
    using Prefix = std::conditional_t<by_value, K, std::uint64_t>;
    static Prefix prefix(const Entry& entry) {
      if constexpr (by_value) {
        return entry.key;
      } else {
        return first_bytes(comparable(entry));
      }
    }
    static bool before(const Entry& a, const Entry& b) { return comparable(a) < comparable(b); }
  };

  void add_timer(TimerKind kind, Timestamp time, Entry& entry) {
    changing(entry);
    if (timers_.add(kind, time, entry)) ++entry.live;
  }
  void remove_timer(TimerKind kind, Timestamp time, Entry& entry) {
    changing(entry);
    if (timers_.remove(kind, time, entry)) --entry.live;
  }
  // Whether the first timer comes before one of the key with these ordered bytes.
  bool first_timer_is_before(TimerKind kind, Timestamp time, std::string_view key) const {
    if (timers_.empty(kind)) return false;
    if (timers_.first_time(kind) != time) return timers_.first_time(kind) < time;
    return OrderedKey<OwnedKey>::of(timers_.first_entry(kind).key) < key;
  }

  // Back from disk, if it is there.
  void wake(const OwnedKey& key) {
    const K view(key);
    set_key(view);
    look_up(false);
    leave_key();
  }

  void look_up(bool create) override {
    if (key_ == nullptr) [[unlikely]]
      throw std::logic_error("keyed state or a timer was used where no key is in hand");
    Probe probe;
    if constexpr (by_value) {
      probe = {key_hash(*key_), *key_};
    } else if constexpr (by_text) {
      probe = {key_hash(*key_), std::string_view(*key_)};
    } else {
      ByteWriter out(key_bytes_, true);
      Codec<K>::encode(*key_, out);
      probe = {hash_bytes(out.view().data(), out.size()), out.view()};
    }
    looked_up_ = true;
    current_ = index_.find(probe.hash,
                           [&](const Entry& entry) { return probe.value == comparable(entry); });
    if (current_ == nullptr && spill_.some_on_disk()) [[unlikely]]
      current_ = spill_.fetch(probe, key_bytes(probe.value));
    if (current_ == nullptr && create) current_ = &add(probe);
    if (current_ != nullptr && spill_.limited())
      static_cast<Entry*>(current_)->marks.touched = true;
  }
  // What keys are told apart by on disk.
  static std::string_view key_bytes(const auto& value) {
    if constexpr (by_value) {
      return {reinterpret_cast<const char*>(&value), sizeof value};
    } else {
      return value;
    }
  }
  static std::string_view key_bytes(const Entry& entry) {
    if constexpr (by_value) {
      return {reinterpret_cast<const char*>(&entry.key), sizeof entry.key};
    } else {
      return comparable(entry);
    }
  }

  Entry& add(const Probe& probe) {
    Entry& entry = slabs_.take();
    try {
      entry.hash = probe.hash;
      entry.changed = entry.made = generation_;
      entry.key = OwnedKey(*key_);
      if constexpr (!by_text && !by_value) entry.bytes = probe.value;
      for (const KeyedState* state : states_) state->construct(entry);
      index_.insert(entry);
    } catch (...) {
      slabs_.give_back(entry);
      throw;
    }
    return entry;
  }
  void erase(Entry& entry) {
    if (entry.marks.on_disk) return;  // it says that the key is gone
    changing(entry);
    if (entry.made != generation_ && !too_many_gone_) note_gone(entry);
    remove(entry);
  }
  void remove(Entry& entry) {
    timers_.clear(entry);
    spill_.forget_heap(entry.marks);
    index_.erase(entry);
    destroy_cells(entry);
    slabs_.give_back(entry);
  }
  // The last snapshot has the key. Where there are more of those than of others, nothing is gained.
  void note_gone(const Entry& entry) {
    gone_.add([&](ByteWriter& out) {
      out.put_value(entry_is_gone);
      Codec<OwnedKey>::encode(entry.key, out);
    });
    too_many_gone_ = gone_.memory_bytes() > memory_bytes();
    if (too_many_gone_) gone_.clear();
  }
  // With all that hangs from it.
  void drop(Entry& entry) {
    changing(entry);
    timers_.clear(entry);
    destroy_cells(entry);
    for (const KeyedState* state : states_) state->construct(entry);
    entry.live = 0;
    if (spill_.limited()) spill_.count_heap(entry);
    current_ = nullptr;
    erase(entry);
  }

  // ---- snapshot ----

  bool is_pending(const KeyedEntry& entry) const {
    return frozen_ && entry.slot >= next_frozen_ && entry.changed != generation_ &&
           (whole_ || entry.changed + 1 == generation_);
  }
  void first_change(KeyedEntry& entry) override {
    if (is_pending(entry)) {
      saved_.add([&](ByteWriter& out) { encode(static_cast<const Entry&>(entry), out); });
    }
    entry.changed = generation_;
  }
  void encode(const Entry& entry, ByteWriter& out) {
    out.put_value(entry_follows);
    Codec<OwnedKey>::encode(entry.key, out);
    encode_cells(entry, out);
  }
  void encode_cells(const Entry& entry, ByteWriter& out) {
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      present |= std::uint64_t{states_[i]->present(entry)} << i;
    }
    out.put_value(present);
    for (; present != 0; present &= present - 1) {
      // With its length, so that a state may be dropped.
      ByteWriter one(space_);
      states_[static_cast<std::size_t>(std::countr_zero(present))]->encode(entry, one);
      out.put_text(one.view());
    }
    out.put_value(timers_.count(entry));
    timers_.for_each(entry, [&](TimerKind kind, Timestamp time) {
      out.put_value(kind);
      out.put_value(time);
    });
  }
  Status restore_entries(ByteReader& in, const OperatorContext& context, RestoreOptions options,
                         bool delta) {
    std::vector<KeyedState*> found;
    HUMMER_TRY(restore_states(in, options, found));
    std::size_t room_made_at = in.left();
    for (std::size_t restored = 1;; ++restored) {
      in.let_go();
      std::uint8_t mark = 0;
      if (!in.get_value(mark) || mark > entry_is_gone) return cut_short();
      if (mark == end_of_entries) return {};
      OwnedKey key{};
      if (!Codec<OwnedKey>::decode(in, key)) return cut_short();
      const bool mine = context.owns_key(key);
      Entry* entry = nullptr;
      if (mine) {
        const K view(key);
        set_key(view);
        if (KeyedEntry* const old = find(); old != nullptr) {
          if (!delta) {
            return {ErrorCode::corrupt_record, "a key is in the state of two subtasks"};
          }
          drop(static_cast<Entry&>(*old));
          set_key(view);
        }
        if (mark == entry_follows) entry = static_cast<Entry*>(&obtain());
        current_ = nullptr;  // it may still be empty
        key_ = nullptr;
        looked_up_ = false;
      }
      if (mark == entry_follows) HUMMER_TRY(restore_entry(in, found, entry));
      const bool many = restored % entries_per_step == 0;
      if (spill_.limited() && (many || room_made_at - in.left() >= restored_per_step_bytes)) {
        HUMMER_TRY(keep_within_share());
        room_made_at = in.left();
      }
    }
  }
  Status restore_entry(ByteReader& in, const std::vector<KeyedState*>& found, Entry* entry) {
    HUMMER_TRY(decode_cells(in, found, entry));
    if (entry == nullptr) return {};
    if (spill_.limited()) spill_.count_heap(*entry);
    if (entry->live == 0) erase(*entry);  // only dropped state was in it
    return {};
  }
  // `entry`: null: somebody else's.
  Status decode_cells(ByteReader& in, const std::vector<KeyedState*>& found, Entry* entry) {
    std::uint64_t present = 0;
    if (!in.get_value(present)) return cut_short();
    for (; present != 0; present &= present - 1) {
      const auto state = static_cast<std::size_t>(std::countr_zero(present));
      std::string_view bytes;
      if (state >= found.size() || !in.get_text(bytes)) return cut_short();
      if (entry == nullptr || found[state] == nullptr) continue;
      ByteReader one(bytes);
      if (!found[state]->decode(one, *entry) || one.left() != 0) {
        return {ErrorCode::corrupt_record,
                "a value of state '" + found[state]->name() + "' cannot be decoded"};
      }
    }
    std::uint32_t timers = 0;
    if (!in.get_value(timers)) return cut_short();
    for (std::uint32_t i = 0; i < timers; ++i) {
      TimerKind kind{};
      Timestamp time = 0;
      if (!in.get_value(kind) || kind > TimerKind::processing || !in.get_value(time)) {
        return cut_short();
      }
      if (entry != nullptr) add_timer(kind, time, *entry);
    }
    return {};
  }
  void destroy_cells(Entry& entry) {
    for (const KeyedState* state : states_) state->destroy(entry);
  }

  static Status cut_short() {
    return {ErrorCode::corrupt_record, "the state of a keyed operator is cut short"};
  }
  // The snapshot's states by their number there; null: dropped.
  Status restore_states(ByteReader& in, RestoreOptions options, std::vector<KeyedState*>& found) {
    std::string_view key_type;
    std::uint8_t count = 0;
    if (!in.get_text(key_type) || !in.get_value(count)) return cut_short();
    if (!can_read_type(key_type, Codec<OwnedKey>::name())) {
      return {ErrorCode::invalid_argument, "the snapshot's keys are of type " +
                                               std::string(key_type) + ", the job's of type " +
                                               Codec<OwnedKey>::name()};
    }
    for (std::uint8_t i = 0; i < count; ++i) {
      std::string_view name, type;
      if (!in.get_text(name) || !in.get_text(type)) return cut_short();
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
      if (state != nullptr && !can_read_type(type, state->describe_type())) {
        return {ErrorCode::invalid_argument, "state '" + std::string(name) + "' is " +
                                                 std::string(type) + " in the snapshot and " +
                                                 state->describe_type() + " in the job"};
      }
      found.push_back(state);
    }
    return {};
  }

  KeyedSpill<KeyedStore> spill_{*this};
  std::vector<KeyedState*> states_;
  std::int64_t least_ttl_ms_ = INT64_MAX;
  EntrySlabs<Entry> slabs_;
  EntryIndex<Entry> index_;
  KeyedTimers<Entry, ByKey> timers_;
  std::size_t sweep_ = 0;
  const K* key_ = nullptr;
  K entry_key_{};  // of a text key that is a timer's
  std::string key_bytes_;

  // Of the snapshot under way.
  bool frozen_ = false;
  bool whole_ = true;
  std::size_t next_frozen_ = 0;  // slot
  SavedEntries saved_;           // changed before they were written, and keys that were gone
  SavedEntries gone_;            // keys, since it began
  bool too_many_gone_ = false;   // the next one is whole
  std::string space_;
};

}  // namespace hummer
