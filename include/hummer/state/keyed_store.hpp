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
// Snapshot (see snapshot()): key type, the states with their names and types, then
// every entry and its timers. restore() takes any subtask's and keeps the keys that
// are owned here. Thread: that of the operator. Ownership: states are bound to it by
// their address and outlive it.
#pragma once

#include <bit>
#include <memory>
#include <set>
#include <type_traits>
#include <utility>
#include <vector>

#include <hummer/key_hash.hpp>
#include <hummer/operator.hpp>
#include <hummer/state/entry_index.hpp>
#include <hummer/state/keyed_backend.hpp>

namespace hummer {

// Which states a piece of a snapshot may hold.
struct RestoreOptions {
  // States of the snapshot that the function no longer declares are dropped; else an error.
  bool allow_dropped_state = false;
};

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
    bool used = false;
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
    constexpr std::size_t alignment = alignof(std::max_align_t);
    block_size_ = (block_size_ + alignment - 1) / alignment * alignment;
    return {};
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

  void snapshot(ByteWriter& out) {
    leave_key();
    out.put_text(Codec<OwnedKey>::name());
    out.put_value(static_cast<std::uint8_t>(states_.size()));
    for (const KeyedState* state : states_) {
      out.put_text(state->name());
      out.put_text(state->describe_type());
    }
    out.put_value(static_cast<std::uint64_t>(index_.size()));
    std::uint64_t ordinal = 0;
    std::string space;
    for (std::size_t slot = 0; slot < slabs_.size() * slab_entries; ++slot) {
      Entry& entry = at(slot);
      if (!entry.used) continue;
      entry.ordinal = ordinal++;
      Codec<OwnedKey>::encode(entry.key, out);
      std::uint64_t present = 0;
      for (std::size_t i = 0; i < states_.size(); ++i) {
        present |= std::uint64_t{states_[i]->present(entry)} << i;
      }
      out.put_value(present);
      for (; present != 0; present &= present - 1) {
        // With its length, so that a state may be dropped.
        ByteWriter one(space);
        states_[static_cast<std::size_t>(std::countr_zero(present))]->encode(entry, one);
        out.put_text(one.view());
      }
    }
    for (const auto& all : timers_) {
      out.put_value(static_cast<std::uint64_t>(all.size()));
      for (const Timer& timer : all) {
        out.put_value(timer.time);
        out.put_value(timer.entry->ordinal);
      }
    }
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
      if (entry != nullptr && entry->live == 0) erase(*entry);  // only dropped state was in it
    }
    return {};
  }

 private:
  static constexpr std::size_t slab_entries = 256;

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
    if (current_ == nullptr && create) current_ = &add(probe);
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
    index_.erase(entry);
    destroy_cells(entry);
    entry.~Entry();
    free_.push_back(new (static_cast<void*>(&entry)) Entry());
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
};

}  // namespace hummer
