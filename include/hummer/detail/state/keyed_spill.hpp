// KeyedSpill: the part of a KeyedStore that keeps it within its operator's share of memory.
//
// Entries that were not touched for a while go to disk (spilled_store.hpp), and come back when
// their key is looked up: the second chance of Corbató's clock, over slabs, for those that were
// looked up in memory once more. An entry that has come back stays in memory until it is written
// again, also an empty one, which then says that the key is gone. Of a key with timers the time of
// the first is kept on disk beside it (spilled_timers.hpp); it comes back before that timer is due.
//
// Entries go when those in use, and what their number's growth and their way to disk would take for
// a moment, no longer fit into the share. What is counted is what the store has had from the
// system. Where that is too much although those in use fit (what is kept in memory of those on disk
// has grown), all entries of some slabs go, and the slabs with them.
//
// Where many of the keys that are looked up are on disk, their entries are brought back ahead, tens
// of thousands at once (fetch_some): keys in the order of the disk cost a fraction of what a read
// for each does. Their first look-up is no second chance.
//
// An entry that came back and was not changed is on disk already: it goes without being written.
//
// Without a limit nothing is counted. A snapshot has what is in memory first, as without a limit,
// and then what was on disk when it began; a delta what was put there since the last one, as far as
// it was changed since. So nothing is written at the barrier. While the snapshot of what is in
// memory is under way only those entries go that are no longer needed for it.
//
// A look-up that the disk fails throws StateUnavailable; failure() says why.
// Ownership: part of its store, of which it is a friend. Thread: that of the operator.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/detail/looks_ahead.hpp>
#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/state/expected_entries.hpp>
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

  // Between two batches or timers, without a key in hand. `coming`: entries that will come at once.
  Status keep_within_share(std::size_t coming = 0);

  // Those of these keys that have no entry in memory will be fetched: what says where they are on
  // disk comes near.
  void expect(const ExpectedEntries& keys, std::size_t count);
  // How many records it pays to look ahead at; those of KeyedStore::look_ahead.
  LooksAhead::Reach reach() const { return reach_; }
  // So many missing keys are enough.
  std::size_t keys_ahead() const { return keys_ahead_; }
  // Sorts these keys, which so many records have.
  void begin_fetch(MissingKeys& keys, std::size_t records);
  // Makes room for the entries of the next hundred keys or so, and brings those that are on disk.
  // True: these were the last, or there is no room for more.
  Result<bool> fetch_some(const MissingKeys& keys);
  // The entry of the key in hand as it is on disk, or null.
  StoreEntry* fetch(std::uint64_t hash, std::string_view key);

  // When the first timer of a key on disk may be due; end_of_time when there is none.
  Timestamp next_wake(TimerKind kind) const;
  // Fetches the keys whose timers may come before all that are in memory, up to `limit`. Those that
  // were woken for nothing (sessions that have grown) make room for each other.
  void wake_keys(TimerKind kind, Timestamp limit);

  // ---- snapshot, once some is on disk ----

  // Behind it the store's generation is the next one. Answers whether it is a delta.
  bool freeze(bool may_be_delta);
  // Whether there is something left of it.
  bool writes_frozen() const { return frozen_ != nullptr || writes_gone_; }
  // The sections behind the first one; see KeyedStore::write_frozen.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes);

 private:
  enum class Choice : std::uint8_t {
    untouched,    // a touched one has a second chance
    whole_slabs,  // one after the other
  };
  // That goes to disk.
  struct Chosen {
    std::uint64_t hash;
    StoreEntry* entry;
  };
  // What is ahead of the cells in a value: until when anything of it lives, and in which generation
  // it changed.
  struct ValueHead {
    Timestamp last = 0;
    std::uint16_t changed = 0;
  };
  static void write_head(const ValueHead& head, ByteWriter& out);
  static ValueHead read_head(ByteReader& in);

  // An entry of the key in hand, which has none, as this value says.
  StoreEntry& bring_back(std::uint64_t hash, std::string_view value);
  void bring_back_ahead(std::uint64_t hash, std::string_view key, std::string_view value);
  // Of so many records' keys, so many were fetched.
  void choose_reach(std::size_t records, std::size_t fetched);
  std::size_t held_bytes() const;
  std::size_t needed_bytes(std::size_t share) const;
  std::size_t entries_bytes() const;
  std::size_t saved_bytes() const;
  std::size_t ahead_bytes() const;
  std::size_t spilled_bytes() const { return spilled_ == nullptr ? 0 : spilled_->memory_bytes(); }
  Status put_on_disk(std::size_t bytes, Choice choice);
  Status write_run(std::span<Chosen> entries);
  bool writes_entry(const SpilledEntry& entry) const;
  // Of a snapshot of what is in memory: whether much more of it has been written than when the
  // last entries went.
  bool snapshot_lets_some_go();
  Status put_wakes_on_disk(const std::vector<Chosen>& entries);
  SpilledTimers& wakes_of(TimerKind kind) { return wakes_[static_cast<std::size_t>(kind)]; }
  const SpilledTimers& wakes_of(TimerKind kind) const {
    return wakes_[static_cast<std::size_t>(kind)];
  }
  bool in_hands(const StoreEntry& entry) const;
  std::vector<Chosen> choose(std::size_t bytes, Choice choice);

  KeyedStoreBase& store_;
  OperatorContext* context_ = nullptr;
  MemoryUse memory_;
  bool limited_ = false;
  bool counts_heap_ = false;
  std::vector<KeyedState*> heap_states_;  // those whose values may hold memory of their own
  std::size_t heap_bytes_ = 0;
  std::size_t hand_ = 0;                   // of the clock
  std::unique_ptr<SpilledStore> spilled_;  // null: nothing has ever been on disk
  LooksAhead::Reach reach_;
  std::size_t keys_ahead_ = 0;
  std::size_t fetched_until_ = 0;  // of the keys that are fetched ahead
  std::size_t looked_up_ = 0;      // records, since the reach was chosen
  std::size_t fetched_ = 0;        // for those
  std::size_t woken_ = 0;
  std::array<SpilledTimers, 2> wakes_;  // by TimerKind, of keys that are on disk
  // Of the snapshot under way.
  std::unique_ptr<SpilledScan> frozen_;
  bool scanned_ = false;  // its entries are all taken, and not all written
  bool frozen_is_delta_ = false;
  std::uint16_t frozen_generation_ = 0;  // what changed in it belongs to a delta
  bool writes_gone_ = false;             // the last section is not written
  std::size_t looked_at_frozen_ = 0;     // how far it was when entries went
  std::string value_;
  Status failure_;
};

}  // namespace hummer
