// SpilledStore: the part of an operator's state that has no room in memory, on disk.
//
// Entries (key bytes → value bytes) are in order of their key's hash, then of the key. They come
// in runs: what an operator puts on disk at once is one run, written from front to back. Later
// runs hold newer values of the same keys; runs of about the same size are merged, so that there
// are few, and where keys are looked up an older one with them that is not much larger. (A
// log-structured merge tree, O'Neil 1996, in hash order: keys need no order of their own, runs find
// a block by an index of 16 bytes per 4 KiB, and everything that reads all state is one merge with
// a buffer per run.)
//
// Two uses:
//   deltas   `combine` makes one value of two: aggregates write what they have folded since the
//            last run and never look anything up; scan() merges.
//   values   without it the newer replaces the older, or removes it; find() looks a key up, with
//            a filter (8 bits per key, in memory) that spares most reads for keys not there; the
//            oldest run has one only where many keys are looked up that are nowhere.
//
// Runs are merged in the background (a thread of the process, at most half of a processor). The
// store goes on with the old ones meanwhile, and takes the new one in between two batches. Only
// where an operator writes runs faster than they can be merged, so that looking something up would
// take ever longer, it merges itself: a little between two batches, and what is due where that is
// not enough.
//
// A full table, or whatever an operator lets go of as a whole, is sorted and written there, too
// (leave). Until it is on disk it is the newest layer of the store: look-ups ask it in memory;
// scans and snapshots take the run that it becomes, and wait for that in steps. It counts as memory
// until then, so that the operator has the rest of its share for what it goes on with. Where that
// fills faster than the background writes, the operator does a step of it behind each batch, as
// many as are due (keep_pace): it is slowed down evenly, and at no time held up for long.
//
// Values may have an end. Runs know how much of them is over when (run_ends.hpp): the oldest one
// goes when all of it is, and where more than a third of a store is, what is left is merged. What
// time it is says now() between two batches; the store reads no clock.
//
// A snapshot is made of runs as they are, since they never change: freeze() answers all of them, or
// those written since the last freeze, and nothing is merged or decoded for it. (So do RocksDB's
// checkpoints, which link the files of a tree.)
//
// Lifecycle: made with the operator's context, when the first state goes to disk. Nothing outlives
// it: files lose their name once they are open, so that a crash leaves nothing behind either.
// A run's blocks carry checks, so that what a disk gives back wrong is found.
// Errors: every call that touches the disk; with the operator's name; the store is of no use then.
// Thread: that of the operator; calls block for as long as the disk takes. `combine` and `end_of`
// are also called in the background, one call at a time for each merge, until the store is cleared
// or destroyed.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/state/leaving_entries.hpp>
#include <hummer/detail/state/missing_keys.hpp>
#include <hummer/detail/state/spilled_scan.hpp>
#include <hummer/operator.hpp>
#include <hummer/status.hpp>

namespace hummer {

// The entries of runs, oldest run first. Goes on over what was there when it was made, whatever the
// store does.
class SpilledBlocks {
 public:
  virtual ~SpilledBlocks() = default;
  // As that of a scan.
  virtual Result<bool> prepare() { return true; }
  // Some entries of one run, which read_spilled_entry reads; empty: there are none left. Valid
  // until the next call.
  virtual Result<std::string_view> next() = 0;
};

// The entry at `at`, which moves behind it; false: the bytes make no sense. The hash is as written.
// hash u64, key_bytes u32, value_bytes u32 (all ones: removed), key, value.
[[nodiscard]] bool read_spilled_entry(std::string_view bytes, std::size_t& at, SpilledEntry& entry);

// Writes what both are together; false: not valid.
using SpilledCombine =
    std::function<bool(std::string_view older, std::string_view newer, std::string& both)>;

struct SpilledStoreOptions {
  // Empty: the newer value counts.
  SpilledCombine combine;
  // When this value is over: from then on it may be forgotten, INT64_MAX: it never is. Empty: none
  // is. With `combine`: and so may what older runs have of its key.
  std::function<std::int64_t(std::string_view value)> end_of;
  // In the unit of the ends. On the operator's thread; it should not go back, but may.
  std::function<std::int64_t()> now;
  // The hash of an entry is hash_bytes of its key, always; then it is not kept on disk.
  bool keys_are_hashed = false;
};

class SpilledStore {
 public:
  virtual ~SpilledStore() = default;

  virtual bool empty() const = 0;
  // What it holds in memory: indexes and filters.
  virtual std::size_t memory_bytes() const = 0;
  virtual std::uint64_t disk_bytes() const = 0;

  // A run, now: begin, add in order of hash, then key, finish. REQUIRES: !leaving().
  virtual Status begin_run(std::uint64_t entries_max) = 0;
  virtual Status add(const SpilledEntry& entry) = 0;
  virtual Status finish_run() = 0;
  // Between two batches: takes in what was written and merged meanwhile, and lets go of what is
  // over, once per second (of now()). A few loads where there is nothing.
  virtual Status advance() = 0;

  // These become a run, newer than what there is, in the background.
  virtual void leave(std::shared_ptr<const LeavingEntries> entries) = 0;
  // Some of what left is not on disk yet.
  virtual bool leaving() const = 0;
  // The part of memory_bytes() that goes with it.
  virtual std::size_t leaving_bytes() const = 0;
  // Between two batches, while leaving(): so many entries have come to memory since the last ones
  // left. All are written by the time that as many came; of a store's first ones, which may have
  // most of the share, an eighth.
  virtual Status keep_pace(std::size_t added) = 0;
  // Blocks until all are written.
  virtual Status finish_leaving() = 0;
  // Calls with each value of a key that is leaving, oldest first, until visit(value) is false.
  virtual bool visit_leaving(std::uint64_t hash, std::string_view key,
                             const std::function<bool(std::string_view value)>& visit) const = 0;

  // Keys with these hashes will be looked up: what says where they are comes near.
  virtual void expect(std::span<const std::uint64_t> hashes) const = 0;
  // The key's value, as it was written last; false: there is none.
  virtual Result<bool> find(std::uint64_t hash, std::string_view key, std::string& value) = 0;
  // find() of those of these keys, which are sorted, from number `first` up to `end`, in one pass
  // over that part of each run. `found` gets a key's number and its value, valid during the call,
  // run by run; nothing of keys that are not there.
  using Found = std::function<void(std::size_t key, std::string_view value)>;
  virtual Status find_all(const MissingKeys& keys, std::size_t first, std::size_t end,
                          const Found& found) = 0;
  virtual std::unique_ptr<SpilledScan> scan() = 0;
  // From this place in the order on, without what is leaving. Reads little at a time: for scans
  // that are held for long.
  virtual Result<std::unique_ptr<SpilledScan>> scan_from(std::uint64_t hash,
                                                         std::string_view key) = 0;
  // The entries with this hash; reads about so much of each run at a time, and nothing before the
  // first next().
  virtual std::unique_ptr<SpilledScan> scan_hash(std::uint64_t hash,
                                                 std::size_t read_bytes_at_once) = 0;
  struct Frozen {
    std::unique_ptr<SpilledBlocks> blocks;
    bool delta = false;  // only of runs since the last freeze
  };
  // What a snapshot is made of; `may_be_delta`: it may build on what the last freeze gave. Where
  // more has been written since than there is in all, that is all. Runs are kept for the next
  // freeze, but no more than that. clear(), drop_before() and absorb() let the next one give all.
  virtual Frozen freeze(bool may_be_delta) = 0;
  // The same, merged, also those that are removed where it is a delta.
  struct FrozenEntries {
    std::unique_ptr<SpilledScan> scan;
    bool delta = false;
  };
  virtual FrozenEntries freeze_entries(bool may_be_delta) = 0;
  virtual void clear() = 0;
  // Nobody will ask for what has a smaller hash: runs without anything else go, and the rest of it
  // goes when runs are merged.
  virtual void drop_before(std::uint64_t hash) = 0;
  // Takes all that the other one has, which is of the same options and shares no key with it.
  virtual void absorb(SpilledStore& other) = 0;
};

// Several scans as one, each in order; entries of a key are combined in the scans' order.
std::unique_ptr<SpilledScan> merge_scans(std::vector<std::unique_ptr<SpilledScan>> scans,
                                         SpilledCombine combine);

// In the operator's spill directory.
std::unique_ptr<SpilledStore> make_spilled_store(OperatorContext& context,
                                                 SpilledStoreOptions options);

}  // namespace hummer
