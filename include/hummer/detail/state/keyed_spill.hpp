// KeyedSpill: the part of a KeyedStore that keeps it within its operator's share of memory.
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

#include <array>
#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/state/spilled_store.hpp>
#include <hummer/detail/state/spilled_timers.hpp>
#include <hummer/detail/state/store_entry.hpp>

namespace hummer {

class KeyedStoreBase;

class KeyedSpill {
 public:
  explicit KeyedSpill(KeyedStoreBase& store) : store_(store) {}

  // Behind the store's bind.
  void open(OperatorContext& context);

  bool limited() const { return limited_; }
  // Now or earlier.
  bool some_on_disk() const { return spilled_ != nullptr; }
  const Status& failure() const { return failure_; }
  OperatorContext* context() const { return context_; }  // null: not opened

  // Whether what an entry holds outside its cells may change, and is counted.
  bool counts_heap() const { return counts_heap_; }
  // When it is made, when its key is left where counts_heap(), and when it goes.
  void count_heap(StoreEntry& entry);
  void forget_heap(StoreEntry& entry);

  // Between two batches or timers, without a key in hand.
  Status keep_within_share();

  // The entry of the key in hand as it is on disk, or null.
  StoreEntry* fetch(std::uint64_t hash, std::string_view key);

  // When the first timer of a key on disk may be due; end_of_time when there is none.
  Timestamp next_wake(TimerKind kind) const;
  // Fetches the keys whose timers may come before all that are in memory, up to `limit`. Those that
  // were woken for nothing (sessions that have grown) make room for each other.
  void wake_keys(TimerKind kind, Timestamp limit);

  // ---- snapshot, once some is on disk ----

  Status freeze();
  // See KeyedStore::write_frozen.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes);

 private:
  enum class Choice : std::uint8_t {
    untouched,    // a touched one has a second chance
    whole_slabs,  // one after the other
    all,          // also what stays in memory, since it has timers or is in the operator's hands
  };

  std::size_t held_bytes() const;
  std::size_t needed_bytes(std::size_t share) const;
  std::size_t entries_bytes() const;
  std::size_t spilled_bytes() const { return spilled_ == nullptr ? 0 : spilled_->memory_bytes(); }
  Status put_on_disk(std::size_t bytes, Choice choice);
  Status put_wakes_on_disk(const std::vector<StoreEntry*>& entries);
  SpilledTimers& wakes_of(TimerKind kind) { return wakes_[static_cast<std::size_t>(kind)]; }
  const SpilledTimers& wakes_of(TimerKind kind) const {
    return wakes_[static_cast<std::size_t>(kind)];
  }
  bool in_hands(const StoreEntry& entry) const;
  std::vector<StoreEntry*> choose(std::size_t bytes, Choice choice);

  KeyedStoreBase& store_;
  OperatorContext* context_ = nullptr;
  MemoryUse memory_;
  bool limited_ = false;
  bool counts_heap_ = false;
  std::vector<KeyedState*> heap_states_;  // those whose values may hold memory of their own
  std::size_t heap_bytes_ = 0;
  std::size_t hand_ = 0;                   // of the clock
  std::unique_ptr<SpilledStore> spilled_;  // null: nothing has ever been on disk
  std::size_t woken_ = 0;
  std::array<SpilledTimers, 2> wakes_;   // by TimerKind, of keys that are on disk
  std::unique_ptr<SpilledScan> frozen_;  // of the snapshot under way
  bool ends_frozen_ = false;             // its entries are all taken, and not all written
  std::string value_;
  Status failure_;
};

}  // namespace hummer
