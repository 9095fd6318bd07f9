// Scans over runs of a spilled store, oldest run first, in order of hash and key:
//
//   RunCursor     one run, some blocks at a time
//   MergingScan   several as one: of equal keys the newest value, or what all are together
//
// They hold on to their runs, and see nothing of what becomes of the store. Thread: one at a time.
// Errors: those of the disk, and values that cannot be put together, with the store's name.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/detail/state/spilled_store.hpp>

#include "state/run_entries.hpp"
#include "state/spilled_run.hpp"

namespace hummer {

using Run = std::shared_ptr<const SpilledRun>;

// How much a scan reads of each run at a time. The same of one that is held for long, and of many
// runs: what it reads is in memory, and so is where the entries are.
constexpr std::size_t read_bytes_of_scan = 16 << 10;
constexpr std::size_t read_bytes_of_held = 4 << 10;
inline std::size_t read_bytes_of_scan_over(std::size_t runs) {
  constexpr std::size_t of_all = 256 << 10;
  return std::clamp(of_all / std::max<std::size_t>(runs, 1), read_bytes_of_held,
                    read_bytes_of_scan);
}

inline bool before(const SpilledEntry& a, const SpilledEntry& b) {
  return a.hash != b.hash ? a.hash < b.hash : a.key < b.key;
}
inline bool same_key(const SpilledEntry& a, const SpilledEntry& b) {
  return a.hash == b.hash && a.key == b.key;
}

// Entries in order, some at a time.
class EntryCursor {
 public:
  virtual ~EntryCursor() = default;

  // Where an entry is, until the next load().
  struct Place {
    std::uint64_t hash;
    const char* at;
  };
  static SpilledEntry entry_at(const Place& place) {
    SpilledEntry entry;
    (void)read_run_entry(place.at, true, entry);
    entry.hash = place.hash;
    return entry;
  }

  // As that of a scan, before load().
  virtual Result<bool> prepare() { return true; }
  // The next entries take the place of the last ones; none: its end.
  virtual Status load() = 0;
  // Nothing comes behind those.
  bool at_end() const { return at_end_; }
  std::span<const Place> places() const { return places_; }

 protected:
  EntryCursor() = default;
  EntryCursor(const EntryCursor&) = delete;
  EntryCursor& operator=(const EntryCursor&) = delete;

  std::vector<Place> places_;
  bool at_end_ = false;
};

// From front to back, or from some block on.
class RunCursor final : public EntryCursor {
 public:
  RunCursor(Run run, std::size_t first_block, std::size_t read_bytes_at_once);
  // Without what comes before this place, which is in that block or behind it: whoever looks for
  // one entry need not have the others sorted.
  RunCursor(Run run, std::size_t first_block, std::size_t read_bytes_at_once, std::uint64_t hash,
            std::string_view key);

  Status load() override;

 private:
  Status read_places();
  void drop_places_before();

  const Run run_;
  std::size_t block_;
  const std::size_t read_bytes_;
  std::string space_;
  std::vector<std::pair<std::size_t, std::size_t>> parts_;  // of the blocks in `space_`
  bool begins_behind_ = false;                              // something, of these
  std::uint64_t first_hash_ = 0;
  std::string first_key_;
};

// Takes from each cursor what comes before some place in the order, at once, and sorts it by where
// its numbers say that it belongs: so an entry costs the same however many cursors there are. That
// place is where the first of them needs its next entries. (To take the least of all next entries,
// with a heap or without, compares each with several others.)
class MergingScan final : public SpilledScan {
 public:
  // `as_of`: what options.now said. `keep_removed`: there are older runs than these, or who reads
  // wants to know.
  MergingScan(std::vector<std::unique_ptr<EntryCursor>> cursors, const SpilledStoreOptions& options,
              std::int64_t as_of, std::string name, bool keep_removed);
  MergingScan(const MergingScan&) = delete;
  MergingScan& operator=(const MergingScan&) = delete;

  Result<bool> prepare() override;
  Result<bool> next() override;
  const SpilledEntry& entry() const override { return entry_; }

 private:
  struct Source {
    std::unique_ptr<EntryCursor> cursor;
    std::size_t next = 0;  // of its places
    bool used_up() const { return next == cursor->places().size(); }
  };
  struct Taken {
    std::uint64_t order;  // as far as it fits into a number
    EntryCursor::Place place;
  };

  Status named(Status status) const { return name_.empty() ? status : status.with_context(name_); }
  Result<bool> step();
  // What comes next of all sources, in order; nothing where they are at their ends.
  Status take();
  // The last entry up to which all are at hand; none: all that are left are.
  std::optional<SpilledEntry> last_at_hand() const;
  void order_taken(std::uint64_t first_hash, std::uint64_t last_hash);
  static SpilledEntry entry_of(const Taken& taken) { return EntryCursor::entry_at(taken.place); }
  // Entries from `first` to `end` have one key: the newest, or what all are together.
  Status put_together(std::size_t first, std::size_t end);

  const SpilledStoreOptions options_;
  const std::int64_t as_of_;
  const std::string name_;
  const bool keep_removed_;
  std::vector<Source> sources_;  // oldest first
  std::vector<Taken> taken_;
  std::vector<Taken> space_;  // while they are put in order
  std::size_t next_ = 0;      // of them
  SpilledEntry entry_;
  std::string together_;
  std::string both_;
};

}  // namespace hummer
