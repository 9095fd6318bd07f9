// KeyedStore<K>: the table behind the states of a keyed operator: key → entry,
// with everything that belongs to a key hanging from its entry.
//
// An entry is one block of memory: head, key, and a cell for each state. Blocks
// lie in slabs, so that entries have stable addresses and a removed one's place is
// used again; an index of pointers finds them by hash. Timers of both kinds are
// ordered by time, then by key (integers by value, other keys by their canonical
// bytes), which is the order they fire in: the same on every run.
//
// The key in hand is named by set_key() (or an entry of a timer); it is hashed
// when a state is touched, at most once. An entry with nothing left in it is
// removed when the next key is named.
//
// Beyond its operator's share of memory (keep_within_share) entries that were not touched for a
// while go to disk (cold_store.hpp), and come back when their key is looked up: the second
// chance of Corbató's clock, over slabs. An entry that has come back stays there until it is
// written again, also an empty one, which then says that the key is gone. Keys with timers stay in
// memory. A look-up that the disk fails throws StateUnavailable; failure() says why.
//
// Snapshot (see snapshot()): key type, the states with their names and types, then
// every entry and its timers. restore() takes any subtask's and keeps the keys that
// are owned here. Thread: that of the operator. Ownership: states are bound to it by
// their address and outlive it.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/key_hash.hpp>
#include <hummer/operator.hpp>
#include <hummer/state/cold_store.hpp>
#include <hummer/state/entry_index.hpp>
#include <hummer/state/keyed_backend.hpp>

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
    std::conditional_t<by_text || by_value, std::type_identity<void>, std::string> bytes{};
    std::uint32_t heap_bytes = 0;  // as counted
    bool used = false;
    bool touched = false;  // since the clock's hand came by
    bool on_disk = false;  // there is a version of it, too
  };

  KeyedStore() = default;
  KeyedStore(const KeyedStore&) = delete;
  KeyedStore& operator=(const KeyedStore&) = delete;
  ~KeyedStore() override {
    for (std::size_t slot = 0; slot < slabs_.size() * slab_entries; ++slot) {
      if (at(slot).used) destroy_cells(at(slot));
      at(slot).~Entry();
    }
  }

  // Once, before everything else.
  Status bind(std::vector<KeyedState*> states) {
    if (states.size() > 64)
      return {ErrorCode::invalid_argument, "a function has at most 64 states"};
    states_ = std::move(states);
    block_size_ = sizeof(Entry);
    for (std::size_t i = 0; i < states_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (states_[i]->name() == states_[j]->name()) {
          return {ErrorCode::invalid_argument, "two states are named '" + states_[i]->name() +
                                                   "': each needs a name of its own"};
        }
      }
      const std::size_t alignment = states_[i]->cell_alignment();
      HUMMER_ASSERT(alignment <= alignof(std::max_align_t));
      block_size_ = (block_size_ + alignment - 1) / alignment * alignment;
      states_[i]->bind(*this, block_size_);
      block_size_ += states_[i]->cell_size();
      if (states_[i]->options().ttl_ms > 0) {
        least_ttl_ms_ = std::min(least_ttl_ms_, states_[i]->options().ttl_ms);
      }
    }
    for (KeyedState* state : states_) {
      if (state->uses_heap()) heap_states_.push_back(state);
    }
    constexpr std::size_t alignment = alignof(std::max_align_t);
    block_size_ = (block_size_ + alignment - 1) / alignment * alignment;
    return {};
  }

  // Behind bind: what it holds is counted from now on, and kept within the operator's share.
  void open(OperatorContext& context) {
    context_ = &context;
    memory_.open(context.memory(), true);
    limited_ = memory_.limited();
  }

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
  void leave_key() {
    if (current_ != nullptr && limited_) count_heap(static_cast<Entry&>(*current_));
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
  std::size_t memory_bytes() const {
    return slabs_.size() * slab_entries * block_size_ + index_.memory_bytes();
  }

  // ---- beyond memory ----

  bool limited() const { return limited_; }
  const Status& failure() const { return failure_; }
  // Between two batches. limit_exceeded: only keys with timers are left.
  Status keep_within_share() {
    leave_key();
    const std::size_t share = memory_.share_bytes();
    const std::size_t held = held_bytes();
    if (held > share) {
      HUMMER_TRY(put_on_disk(held - share / 2));
      if (entries_bytes() > share) return only_timers_left(share);
    }
    return memory_.set(held_bytes());
  }

  // ---- timers ----

  void set_timer(TimerKind kind, Timestamp time) override {
    if (refuses_timers_) return;
    KeyedEntry& entry = obtain();
    if (timers(kind).insert({time, static_cast<Entry*>(&entry)}).second) ++entry.live;
  }
  void delete_timer(TimerKind kind, Timestamp time) override {
    KeyedEntry* const entry = find();
    if (entry == nullptr) return;
    entry->live -=
        static_cast<std::uint32_t>(timers(kind).erase({time, static_cast<Entry*>(entry)}));
  }
  // The time of the next one; end_of_time and false when there is none.
  bool has_timer(TimerKind kind) const { return !timers(kind).empty(); }
  Timestamp next_timer(TimerKind kind) const {
    return timers(kind).empty() ? end_of_time : timers(kind).begin()->time;
  }
  // Its key is in hand then; it stays until it is taken.
  Timestamp enter_timer(TimerKind kind) {
    const Timer timer = *timers(kind).begin();
    if (current_ != timer.entry) set_entry(*timer.entry);
    return timer.time;
  }
  // The timer's entry keeps a hold on its key until leave_key().
  void take_timer(TimerKind kind) {
    const auto first = timers(kind).begin();
    --first->entry->live;
    timers(kind).erase(first);
  }

  // ---- time to live ----

  bool has_ttl() const { return least_ttl_ms_ != INT64_MAX; }
  std::int64_t least_ttl_ms() const { return least_ttl_ms_; }
  // Removes what has outlived its time from the next `count` entries on; true: the round through
  // all of them is complete. REQUIRES: no key in hand.
  bool sweep(std::size_t count) {
    leave_key();
    for (; count > 0; --count) {
      if (sweep_ >= slabs_.size() * slab_entries) {
        sweep_ = 0;
        return true;
      }
      Entry& entry = at(sweep_++);
      if (!entry.used) continue;
      for (KeyedState* state : states_) {
        if (state->options().ttl_ms > 0) state->expire(entry, now_ms_);
      }
      if (entry.live == 0) erase(entry);
    }
    return false;
  }

  // ---- snapshot ----

  Status snapshot(ByteWriter& out) {
    leave_key();
    out.put_text(Codec<OwnedKey>::name());
    out.put_value(static_cast<std::uint8_t>(states_.size()));
    for (const KeyedState* state : states_) {
      out.put_text(state->name());
      out.put_text(state->describe_type());
    }
    const std::size_t count_at = out.size();
    out.put_value(std::uint64_t{0});
    std::uint64_t ordinal = 0;
    for (std::size_t slot = 0; slot < slabs_.size() * slab_entries; ++slot) {
      Entry& entry = at(slot);
      if (!entry.used || entry.live == 0) continue;
      entry.ordinal = ordinal++;
      Codec<OwnedKey>::encode(entry.key, out);
      encode_cells(entry, out);
    }
    if (cold_ != nullptr) HUMMER_TRY(snapshot_cold(out, ordinal));
    out.overwrite_value(count_at, ordinal);
    for (const auto& all : timers_) {
      out.put_value(static_cast<std::uint64_t>(all.size()));
      for (const Timer& timer : all) {
        out.put_value(timer.time);
        out.put_value(timer.entry->ordinal);
      }
    }
    return {};
  }

  Status restore(ByteReader& in, const OperatorContext& context, RestoreOptions options) {
    std::vector<KeyedState*> found;
    HUMMER_TRY(restore_states(in, options, found));
    std::uint64_t count = 0;
    if (!in.get_value(count)) return cut_short();
    std::vector<Entry*> entries;  // null: somebody else's
    for (std::uint64_t i = 0; i < count; ++i) {
      OwnedKey key{};
      std::uint64_t present = 0;
      if (!Codec<OwnedKey>::decode(in, key) || !in.get_value(present)) return cut_short();
      const bool mine = context.owns_key(key);
      if (mine) {
        const K view(key);
        set_key(view);
        entries.push_back(static_cast<Entry*>(&obtain()));
        current_ = nullptr;  // it may still be empty
        key_ = nullptr;
        looked_up_ = false;
      } else {
        entries.push_back(nullptr);
      }
      for (; present != 0; present &= present - 1) {
        const auto state = static_cast<std::size_t>(std::countr_zero(present));
        std::string_view bytes;
        if (state >= found.size() || !in.get_text(bytes)) return cut_short();
        if (!mine || found[state] == nullptr) continue;
        ByteReader one(bytes);
        if (found[state]->present(*entries.back())) {
          return {ErrorCode::corrupt_record, "a key is in the state of two subtasks"};
        }
        if (!found[state]->decode(one, *entries.back()) || one.left() != 0) {
          return {ErrorCode::corrupt_record,
                  "a value of state '" + found[state]->name() + "' cannot be decoded"};
        }
      }
    }
    for (auto& all : timers_) {
      std::uint64_t timers = 0;
      if (!in.get_value(timers)) return cut_short();
      for (std::uint64_t i = 0; i < timers; ++i) {
        Timestamp time = 0;
        std::uint64_t ordinal = 0;
        if (!in.get_value(time) || !in.get_value(ordinal) || ordinal >= entries.size()) {
          return cut_short();
        }
        Entry* const entry = entries[ordinal];
        if (entry != nullptr && all.insert({time, entry}).second) ++entry->live;
      }
    }
    for (Entry* entry : entries) {
      if (entry == nullptr) continue;
      if (limited_) count_heap(*entry);
      if (entry->live == 0) erase(*entry);  // only dropped state was in it
    }
    return limited_ ? keep_within_share() : Status();
  }

 private:
  static constexpr std::size_t slab_entries = 256;
  static constexpr std::size_t index_bytes = 32;  // of an entry, about

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
  struct Timer {
    Timestamp time;
    Entry* entry;
    bool operator<(const Timer& other) const {
      if (time != other.time) return time < other.time;
      return entry != other.entry && comparable(*entry) < comparable(*other.entry);
    }
  };
  using Timers = std::set<Timer>;

  Timers& timers(TimerKind kind) { return timers_[static_cast<std::size_t>(kind)]; }
  const Timers& timers(TimerKind kind) const { return timers_[static_cast<std::size_t>(kind)]; }

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
    if (current_ == nullptr && cold_ != nullptr) current_ = fetch(probe);
    if (current_ == nullptr && create) current_ = &add(probe);
    if (current_ != nullptr && limited_) static_cast<Entry*>(current_)->touched = true;
  }

  Entry& add(const Probe& probe) {
    if (free_.empty()) {
      slabs_.push_back(std::make_unique<std::max_align_t[]>(
          slab_entries * block_size_ / sizeof(std::max_align_t) + 1));
      for (std::size_t i = slab_entries; i > 0; --i) {
        Entry* const entry = &at(slabs_.size() * slab_entries - slab_entries + i - 1);
        free_.push_back(new (static_cast<void*>(entry)) Entry());
      }
    }
    Entry& entry = *free_.back();
    entry.hash = probe.hash;
    entry.key = OwnedKey(*key_);
    if constexpr (!by_text && !by_value) entry.bytes = probe.value;
    for (const KeyedState* state : states_) state->construct(entry);
    index_.insert(entry);
    entry.used = true;
    free_.pop_back();
    return entry;
  }
  void erase(Entry& entry) {
    if (!entry.on_disk) remove(entry);
  }
  void remove(Entry& entry) {
    heap_bytes_ -= entry.heap_bytes;
    index_.erase(entry);
    destroy_cells(entry);
    entry.~Entry();
    free_.push_back(new (static_cast<void*>(&entry)) Entry());
  }
  std::uint64_t present_states(const Entry& entry) const {
    std::uint64_t present = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) {
      present |= std::uint64_t{states_[i]->present(entry)} << i;
    }
    return present;
  }
  void encode_cells(const Entry& entry, ByteWriter& out) {
    std::uint64_t present = present_states(entry);
    out.put_value(present);
    for (; present != 0; present &= present - 1) {
      // With its length, so that a state may be dropped.
      ByteWriter one(cell_bytes_);
      states_[static_cast<std::size_t>(std::countr_zero(present))]->encode(entry, one);
      out.put_text(one.view());
    }
  }

  // What is in use; slabs are not given back, so they have held this much at some time.
  std::size_t held_bytes() const {
    return entries_bytes() + (cold_ == nullptr ? 0 : cold_->memory_bytes());
  }
  std::size_t entries_bytes() const {
    return index_.size() * (block_size_ + index_bytes) + heap_bytes_;
  }
  void count_heap(Entry& entry) {
    std::size_t bytes = 0;
    for (const KeyedState* state : heap_states_) bytes += state->heap_bytes(entry);
    if constexpr (!by_value) bytes += entry_key_bytes(entry).size();
    const auto counted = static_cast<std::uint32_t>(std::min<std::size_t>(bytes, UINT32_MAX));
    heap_bytes_ += counted;
    heap_bytes_ -= std::exchange(entry.heap_bytes, counted);
  }
  // The bytes that keys are told apart by on disk.
  static std::string_view bytes_of(const std::string_view& key) { return key; }
  static std::string_view bytes_of(const std::integral auto& key) {
    return {reinterpret_cast<const char*>(&key), sizeof key};
  }
  static std::string_view entry_key_bytes(const Entry& entry) {
    if constexpr (by_value) return bytes_of(entry.key);
    if constexpr (!by_value) return comparable(entry);
  }

  Status only_timers_left(std::size_t share) const {
    return {ErrorCode::limit_exceeded,
            "the keys of operator '" + context_->name() + "' that have timers hold " +
                std::to_string(entries_bytes()) + " bytes, and its share of --memory-limit is " +
                std::to_string(share) +
                "; such keys cannot go to disk: raise the limit, or spread the job over more "
                "workers"};
  }

  // Cold entries: until when anything of it lives, i64, then as in a snapshot.
  Status put_on_disk(std::size_t bytes) {
    std::vector<Entry*> chosen = choose_cold(bytes);
    if (chosen.empty()) return {};
    std::sort(chosen.begin(), chosen.end(), [](const Entry* a, const Entry* b) {
      return a->hash != b->hash ? a->hash < b->hash : entry_key_bytes(*a) < entry_key_bytes(*b);
    });
    if (cold_ == nullptr) {
      cold_ = make_cold_store(*context_, {.combine = {}, .is_dead = [this](std::string_view value) {
                                            Timestamp last = 0;
                                            ByteReader in(value);
                                            return !in.get_value(last) || last <= now_ms_;
                                          }});
    }
    HUMMER_TRY(cold_->begin_run(chosen.size()));
    std::string space;
    for (const Entry* entry : chosen) {
      ByteWriter value(space);
      Timestamp last = no_timestamp;
      for (const KeyedState* state : states_) {
        if (state->present(*entry)) last = std::max(last, state->last_expiry(*entry));
      }
      value.put_value(last);
      encode_cells(*entry, value);
      HUMMER_TRY(cold_->add({.hash = entry->hash,
                             .key = entry_key_bytes(*entry),
                             .value = value.view(),
                             .removed = entry->live == 0}));
    }
    HUMMER_TRY(cold_->finish_run());
    for (Entry* entry : chosen) remove(*entry);
    return {};
  }
  // Twice round at most: the first time a touched one is passed over.
  std::vector<Entry*> choose_cold(std::size_t bytes) {
    std::vector<Entry*> chosen;
    const std::size_t slots = slabs_.size() * slab_entries;
    for (std::size_t looked_at = 0; looked_at < 2 * slots && bytes > 0; ++looked_at) {
      if (hand_ >= slots) hand_ = 0;
      Entry& entry = at(hand_++);
      if (!entry.used) continue;
      if (std::exchange(entry.touched, false)) continue;
      // More in it than states: timers.
      if (entry.live > static_cast<unsigned>(std::popcount(present_states(entry)))) continue;
      entry.touched = true;  // not twice
      chosen.push_back(&entry);
      bytes -= std::min(bytes, block_size_ + entry.heap_bytes);
    }
    return chosen;
  }
  // The entry of the key in hand as it is on disk, or null.
  Entry* fetch(const Probe& probe) {
    const std::string_view key = bytes_of(probe.value);
    const Result<bool> found = cold_->find(probe.hash, key, cold_value_);
    if (!found.ok()) {
      failure_ = found.status();
      throw StateUnavailable();
    }
    if (!*found) return nullptr;
    Entry& entry = add(probe);
    entry.on_disk = true;
    Timestamp last = 0;
    std::uint64_t present = 0;
    ByteReader in(cold_value_);
    bool valid = in.get_value(last) && in.get_value(present);
    for (; valid && present != 0; present &= present - 1) {
      std::string_view bytes;
      valid = in.get_text(bytes);
      ByteReader one(bytes);
      valid =
          valid && states_[static_cast<std::size_t>(std::countr_zero(present))]->decode(one, entry);
    }
    HUMMER_ASSERT(valid);  // blocks carry checks, and what is in them was written by us
    return &entry;
  }
  Status snapshot_cold(ByteWriter& out, std::uint64_t& ordinal) {
    const std::unique_ptr<ColdScan> scan = cold_->scan();
    for (;;) {
      const Result<bool> found = scan->next();
      if (!found.ok()) return found.status();
      if (!*found) return {};
      const ColdEntry& cold = scan->entry();
      const auto same = [&](const Entry& entry) { return entry_key_bytes(entry) == cold.key; };
      if (index_.find(cold.hash, same) != nullptr) continue;
      if constexpr (by_text) {
        out.put_text(cold.key);
      } else {
        out.put(cold.key.data(), cold.key.size());
      }
      out.put(cold.value.data() + sizeof(Timestamp), cold.value.size() - sizeof(Timestamp));
      ++ordinal;
    }
  }

  void destroy_cells(Entry& entry) {
    for (const KeyedState* state : states_) state->destroy(entry);
  }
  Entry& at(std::size_t slot) const {
    char* const slab = reinterpret_cast<char*>(slabs_[slot / slab_entries].get());
    return *reinterpret_cast<Entry*>(slab + slot % slab_entries * block_size_);
  }

  static Status cut_short() {
    return {ErrorCode::corrupt_record, "the state of a keyed operator is cut short"};
  }
  // The snapshot's states by their number there; null: dropped.
  Status restore_states(ByteReader& in, RestoreOptions options, std::vector<KeyedState*>& found) {
    std::string_view key_type;
    std::uint8_t count = 0;
    if (!in.get_text(key_type) || !in.get_value(count)) return cut_short();
    if (key_type != Codec<OwnedKey>::name()) {
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
      if (state != nullptr && state->describe_type() != type) {
        return {ErrorCode::invalid_argument, "state '" + std::string(name) + "' is " +
                                                 std::string(type) + " in the snapshot and " +
                                                 state->describe_type() + " in the job"};
      }
      found.push_back(state);
    }
    return {};
  }

  std::vector<KeyedState*> states_;
  std::size_t block_size_ = 0;
  std::int64_t least_ttl_ms_ = INT64_MAX;
  std::vector<std::unique_ptr<std::max_align_t[]>> slabs_;
  std::vector<Entry*> free_;
  EntryIndex<Entry> index_;
  Timers timers_[2];  // by TimerKind
  std::size_t sweep_ = 0;
  const K* key_ = nullptr;
  K entry_key_{};  // of a text key that is a timer's
  std::string key_bytes_;

  OperatorContext* context_ = nullptr;
  MemoryUse memory_;
  bool limited_ = false;
  std::vector<KeyedState*> heap_states_;  // those whose values may hold memory of their own
  std::size_t heap_bytes_ = 0;
  std::size_t hand_ = 0;             // of the clock
  std::unique_ptr<ColdStore> cold_;  // null: nothing has ever been on disk
  std::string cold_value_;
  std::string cell_bytes_;
  Status failure_;
};

}  // namespace hummer
