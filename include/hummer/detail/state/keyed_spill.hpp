// KeyedSpill<Store>: the part of a KeyedStore that keeps it within its operator's share of memory.
//
// Entries that were not touched for a while go to disk (spilled_store.hpp), and come back when
// their key is looked up: the second chance of Corbató's clock, over slabs. An entry that has come
// back stays in memory until it is written again, also an empty one, which then says that the key
// is gone. Of a key with timers the time of the first is kept on disk beside it
// (spilled_timers.hpp); it comes back before that timer is due.
//
// Entries go when those in use, and what their number's growth and their way to disk would take for
// a moment, no longer fit into the share. What is counted is what the store has had from the
// system. Where that is too much although those in use fit (what is kept in memory of those on disk
// has grown), all entries of some slabs go, and the slabs with them.
//
// Without a limit nothing is counted. Once something is on disk snapshots are whole: everything in
// memory goes to disk, and what is there then is read in steps while the store goes on. A
// snapshot that began before is finished first.
//
// A look-up that the disk fails throws StateUnavailable; failure() says why.
// Ownership: part of its store, of which it is a friend. Thread: that of the operator.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/state/keyed_backend.hpp>
#include <hummer/detail/state/keyed_timers.hpp>
#include <hummer/detail/state/ordered_key.hpp>
#include <hummer/detail/state/spilled_store.hpp>
#include <hummer/detail/state/spilled_timers.hpp>

namespace hummer {

// What it notes of an entry.
struct SpillMarks {
  std::uint32_t heap_bytes = 0;  // as counted
  bool touched = false;          // since the clock's hand came by
  bool on_disk = false;          // there is a version of it, too
};

template <typename Store>
class KeyedSpill {
 public:
  explicit KeyedSpill(Store& store) : store_(store) {}

  // Behind the store's bind.
  void open(OperatorContext& context) {
    context_ = &context;
    memory_.open(context.memory(), true);
    limited_ = memory_.limited();
    for (SpilledTimers& each : wakes_) each.open(context);
    heap_states_.clear();
    for (KeyedState* state : store_.states_) {
      if (state->uses_heap()) heap_states_.push_back(state);
    }
  }

  bool limited() const { return limited_; }
  // Now or earlier.
  bool some_on_disk() const { return spilled_ != nullptr; }
  const Status& failure() const { return failure_; }

  // What an entry holds outside its cells; when its key is left, and when it goes.
  template <typename Entry>
  void count_heap(Entry& entry) {
    std::size_t bytes = 0;
    for (const KeyedState* state : heap_states_) bytes += state->heap_bytes(entry);
    if constexpr (!Store::by_value) bytes += Store::key_bytes(entry).size();
    const auto counted = static_cast<std::uint32_t>(std::min<std::size_t>(bytes, UINT32_MAX));
    heap_bytes_ += counted;
    heap_bytes_ -= std::exchange(entry.marks.heap_bytes, counted);
  }
  void forget_heap(const SpillMarks& marks) { heap_bytes_ -= marks.heap_bytes; }

  // Between two batches or timers, without a key in hand.
  Status keep_within_share() {
    const std::size_t share = memory_.share_bytes();
    const std::size_t soon = std::min(store_.size() / 4, keys_before_look);
    const std::size_t growth = store_.index_.growth_bytes(soon);
    const std::size_t needed = needed_bytes(share);
    // Entries must not move while a snapshot of them is being written.
    if (needed + growth > share && !store_.frozen_) {
      const std::size_t too_much = needed < share ? 0 : needed - share;
      HUMMER_TRY(put_on_disk(std::max(entries_bytes() / 2, too_much),
                             held_bytes() > share ? Choice::whole_slabs : Choice::untouched));
      const std::size_t held = held_bytes();
      if (held > share) store_.slabs_.release_empty(held - share);
    }
    return memory_.set(held_bytes());
  }

  // The entry of the key in hand as it is on disk, or null.
  template <typename Probe>
  typename Store::Entry* fetch(const Probe& probe, std::string_view key) {
    const Result<bool> found = spilled_->find(probe.hash, key, value_);
    if (!found.ok()) {
      failure_ = found.status();
      throw StateUnavailable();
    }
    if (!*found) return nullptr;
    typename Store::Entry& entry = store_.add(probe);
    entry.marks.on_disk = true;
    Timestamp last = 0;
    ByteReader in(value_);
    // Blocks carry checks, and what is in them was written by us.
    HUMMER_ASSERT(in.get_value(last) && store_.decode_cells(in, store_.states_, &entry).ok());
    return &entry;
  }

  // When the first timer of a key on disk may be due; end_of_time when there is none.
  Timestamp next_wake(TimerKind kind) const {
    const SpilledTimers& wakes = wakes_of(kind);
    return wakes.empty() ? end_of_time : wakes.next().time;
  }
  // Fetches the keys whose timers may come before all that are in memory, up to `limit`. Those that
  // were woken for nothing (sessions that have grown) make room for each other.
  void wake_keys(TimerKind kind, Timestamp limit) {
    using OwnedKey = typename Store::OwnedKey;
    SpilledTimers& wakes = wakes_of(kind);
    while (!wakes.empty() && wakes.next().time <= limit &&
           !store_.first_timer_is_before(kind, wakes.next().time, wakes.next().key)) {
      const OwnedKey key = OrderedKey<OwnedKey>::key(wakes.next().key);
      failure_ = wakes.pass();
      if (!failure_.ok()) throw StateUnavailable();
      store_.wake(key);
      if (++woken_ % keys_per_look != 0) continue;
      failure_ = keep_within_share();
      if (!failure_.ok()) throw StateUnavailable();
    }
  }

  // ---- snapshot, once some is on disk ----

  Status freeze() {
    HUMMER_TRY(put_on_disk(SIZE_MAX, Choice::all));
    frozen_ = spilled_->scan();
    return {};
  }
  // See KeyedStore::write_frozen.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes) {
    while (frozen_ != nullptr) {
      if (out.size() >= until_bytes) return false;
      const Result<bool> found = frozen_->next();
      if (!found.ok()) return found.status();
      if (!*found) {
        frozen_.reset();
        out.put_value(Store::end_of_entries);
        break;
      }
      const SpilledEntry& cold = frozen_->entry();
      out.put_value(Store::entry_follows);
      if constexpr (Store::by_text) {
        out.put_text(cold.key);
      } else {
        out.put(cold.key.data(), cold.key.size());
      }
      out.put(cold.value.data() + sizeof(Timestamp), cold.value.size() - sizeof(Timestamp));
    }
    return true;
  }

 private:
  using Entry = typename Store::Entry;
  static constexpr std::size_t keys_per_look = 64;
  static constexpr std::size_t keys_before_look = 8192;  // come between two looks, about

  enum class Choice : std::uint8_t {
    untouched,    // a touched one has a second chance
    whole_slabs,  // one after the other
    all,          // also what stays in memory, since it has timers or is in the operator's hands
  };

  // What the store has had from the system.
  std::size_t held_bytes() const {
    return store_.memory_bytes() + heap_bytes_ + store_.timers_.memory_bytes() + spilled_bytes() +
           wakes_[0].memory_bytes() + wakes_[1].memory_bytes();
  }
  // What is in use of it, and what putting entries on disk takes: a list of them, and of the runs
  // the same again, when they are merged; an eighth is set aside for them.
  std::size_t needed_bytes(std::size_t share) const {
    return entries_bytes() + store_.size() * sizeof(Entry*) + store_.index_.memory_bytes() +
           store_.timers_.memory_bytes() + std::max(2 * spilled_bytes(), share / 8) +
           wakes_[0].memory_bytes() + wakes_[1].memory_bytes();
  }
  std::size_t entries_bytes() const {
    return store_.size() * store_.slabs_.block_bytes() + heap_bytes_;
  }
  std::size_t spilled_bytes() const { return spilled_ == nullptr ? 0 : spilled_->memory_bytes(); }

  // Values: until when anything of it lives, i64, then as in a snapshot.
  Status put_on_disk(std::size_t bytes, Choice choice) {
    std::vector<Entry*> chosen = choose(bytes, choice);
    if (chosen.empty()) return {};
    std::sort(chosen.begin(), chosen.end(), [](const Entry* a, const Entry* b) {
      return a->hash != b->hash ? a->hash < b->hash : Store::key_bytes(*a) < Store::key_bytes(*b);
    });
    if (spilled_ == nullptr) {
      spilled_ =
          make_spilled_store(*context_, {.combine = {}, .is_dead = [this](std::string_view value) {
                                           Timestamp last = 0;
                                           ByteReader in(value);
                                           return !in.get_value(last) || last <= store_.now_ms();
                                         }});
    }
    HUMMER_TRY(spilled_->begin_run(chosen.size()));
    std::string space;
    for (const Entry* entry : chosen) {
      ByteWriter value(space);
      Timestamp last = has_timers(*entry) ? end_of_time : no_timestamp;
      for (const KeyedState* state : store_.states_) {
        if (state->present(*entry)) last = std::max(last, state->last_expiry(*entry));
      }
      value.put_value(last);
      store_.encode_cells(*entry, value);
      HUMMER_TRY(spilled_->add({.hash = entry->hash,
                                .key = Store::key_bytes(*entry),
                                .value = value.view(),
                                .removed = entry->live == 0}));
    }
    HUMMER_TRY(spilled_->finish_run());
    const bool all = choice == Choice::all;
    if (!all) HUMMER_TRY(put_wakes_on_disk(chosen));
    for (Entry* entry : chosen) {
      if (all && (has_timers(*entry) || in_hands(*entry))) {
        entry->marks.on_disk = true;
      } else {
        store_.remove(*entry);
      }
    }
    return {};
  }
  Status put_wakes_on_disk(const std::vector<Entry*>& entries) {
    std::array<std::vector<SpilledTimers::Wake>, 2> wakes;
    for (const Entry* entry : entries) {
      if (!has_timers(*entry)) continue;
      const std::string key = OrderedKey<typename Store::OwnedKey>::of(entry->key);
      for (std::size_t kind = 0; kind < wakes.size(); ++kind) {
        const TimersOfKey::OfKind& own = entry->timers->kinds[kind];
        if (own.position != TimersOfKey::none) wakes[kind].push_back({own.first, key});
      }
    }
    for (std::size_t kind = 0; kind < wakes.size(); ++kind) {
      HUMMER_TRY(wakes_[kind].add(std::move(wakes[kind])));
    }
    return {};
  }
  SpilledTimers& wakes_of(TimerKind kind) { return wakes_[static_cast<std::size_t>(kind)]; }
  const SpilledTimers& wakes_of(TimerKind kind) const {
    return wakes_[static_cast<std::size_t>(kind)];
  }
  bool has_timers(const Entry& entry) const { return entry.timers != nullptr; }
  // In the operator's: there is more in it than states and timers.
  bool in_hands(const Entry& entry) const {
    std::uint32_t counted = store_.timers_.count(entry);
    for (const KeyedState* state : store_.states_) counted += state->present(entry) ? 1 : 0;
    return entry.live > counted;
  }
  // Where the hand is, from there on once round, or twice: the first time a touched one is passed
  // over.
  std::vector<Entry*> choose(std::size_t bytes, Choice choice) {
    std::vector<Entry*> chosen;
    const std::size_t slots = store_.slabs_.slot_count();
    const std::size_t way = choice == Choice::untouched ? 2 * slots : slots;
    for (std::size_t gone = 0; gone < way && bytes > 0;) {
      if (hand_ >= slots) hand_ = 0;
      const std::size_t end = std::min(slots, hand_ + (way - gone));
      Entry* const entry = store_.slabs_.next(hand_, end);
      const std::size_t next = entry == nullptr ? end : entry->slot + 1;
      gone += next - std::exchange(hand_, next);
      if (entry == nullptr) continue;
      if (choice != Choice::all) {
        if (in_hands(*entry)) continue;
        if (choice == Choice::untouched && std::exchange(entry->marks.touched, false)) continue;
        entry->marks.touched = true;  // not twice
        bytes -= std::min(bytes, store_.slabs_.block_bytes() + entry->marks.heap_bytes);
      }
      chosen.push_back(entry);
    }
    return chosen;
  }

  Store& store_;
  OperatorContext* context_ = nullptr;
  MemoryUse memory_;
  bool limited_ = false;
  std::vector<KeyedState*> heap_states_;  // those whose values may hold memory of their own
  std::size_t heap_bytes_ = 0;
  std::size_t hand_ = 0;                   // of the clock
  std::unique_ptr<SpilledStore> spilled_;  // null: nothing has ever been on disk
  std::size_t woken_ = 0;
  std::array<SpilledTimers, 2> wakes_;   // by TimerKind, of keys that are on disk
  std::unique_ptr<SpilledScan> frozen_;  // of the snapshot under way
  std::string value_;
  Status failure_;
};

}  // namespace hummer
