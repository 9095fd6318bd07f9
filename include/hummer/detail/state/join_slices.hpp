// JoinSlices: the state of a join over windows on a grid: for each slice of time and each of the
// two sides a log of the records (hummer/detail/state/record_log.hpp).
//
// Beyond the operator's share of memory the largest logs go to disk, sorted by their keys' hashes,
// into a store for each side (hummer/detail/state/spilled_store.hpp), in which the slice is what
// entries are in order of first. A window reads them from there in that order, without bringing
// them back to memory: hummer/detail/state/join_groups.hpp.
//
// Origins: records that were restored from a subtask whose watermark was ahead have been in the
// windows that it had put out, and are in later ones only. Each entry names its origin, a number;
// the origin's time is that watermark. 0: came here itself.
//
// Snapshot: freeze() notes what there is (chunks of logs, which never change), write_frozen()
// writes it in steps: all, or what has come since the last one. Entries that go to disk meanwhile
// are still written from memory. On disk each entry has a mark of when it came, counted in
// snapshots, so a delta takes the new ones from there.
//
//   section   1 u8, slice i64, side u8, bytes u32, entries as in a log, records in their encoding;
//             of few key groups (grouped_entries.hpp)
//   end       0 u8
//
// Lifecycle: open() once, before everything else. Thread: that of the operator. Errors: those of
// the disk, with the operator's name.
#pragma once

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/state/grouped_entries.hpp>
#include <hummer/detail/state/record_log.hpp>
#include <hummer/detail/state/spilled_store.hpp>
#include <hummer/detail/window_grid.hpp>

namespace hummer {

struct JoinSlice {
  explicit JoinSlice(RecordMemory& memory) : logs{RecordLog(memory), RecordLog(memory)} {}

  std::array<RecordLog, 2> logs;
  std::array<std::uint64_t, 2> on_disk{};  // entries
};

class JoinSlices {
 public:
  using Slices = std::map<Timestamp, JoinSlice>;

  // Writes a record, as it lies in a log, in its encoding.
  using WriteRecord = void (*)(std::string_view record, ByteWriter& out);

  // Of each side; null: it lies there in its encoding.
  explicit JoinSlices(std::array<WriteRecord, 2> write_record);
  ~JoinSlices();

  void open(OperatorContext& context) { context_ = &context; }

  bool empty() const { return slices_.empty(); }
  Slices& all() { return slices_; }
  const Slices& all() const { return slices_; }
  JoinSlice& at(Timestamp slice) { return slices_.try_emplace(slice, memory_).first->second; }
  // It comes no more, and none before it.
  void drop_first();
  // What it has on disk stays there for a while.
  void erase(Timestamp slice) { slices_.erase(slice); }
  // A window has gone out: memory that waits for the next one and is not needed goes.
  void trim() { memory_.trim(); }

  std::size_t memory_bytes() const;
  // Puts logs on disk where they have more than `share_bytes`.
  Status keep_within(std::size_t share_bytes);
  // What the slice has on disk of a side, in order of hash, then of arrival; null: nothing.
  std::unique_ptr<SpilledScan> scan(Timestamp slice, std::size_t side,
                                    std::size_t read_bytes_at_once);
  // Of an entry of that scan.
  static std::uint64_t hash_of(const SpilledEntry& entry);
  static std::string_view bytes_of(const SpilledEntry& entry);

  // For sorting; grows as needed.
  std::vector<RecordLog::Place>& scratch() { return scratch_; }

  // ---- origins ----

  std::uint32_t add_origin(Timestamp time) {
    origins_.push_back(time);
    return static_cast<std::uint32_t>(origins_.size() - 1);
  }
  void set_origin(std::uint32_t origin, Timestamp time) { origins_[origin] = time; }
  const std::vector<Timestamp>& origins() const { return origins_; }
  // Whether some have been in a window that ends at `end`.
  bool some_ahead_of(Timestamp end) const;

  // ---- snapshot ----

  // Answers whether only what has come since the last one.
  bool freeze(bool may_be_delta);
  // True: that was all.
  Result<bool> write_frozen(ByteWriter& out, std::size_t until_bytes);

  // An entry of a snapshot. False: not valid.
  using TakeEntry =
      std::function<bool(Timestamp slice, std::size_t side, const RecordEntry& entry)>;
  // What write_frozen() has written; make_room() comes behind each section.
  Status restore(ByteReader& in, const TakeEntry& take, const std::function<Status()>& make_room);

 private:
  struct FrozenChunk {
    Timestamp slice;
    std::size_t side;
    std::shared_ptr<RecordChunk> chunk;
    std::size_t begin;
    std::size_t end;
  };

  void freeze_log(Timestamp slice, std::size_t side, RecordLog& log, bool delta);
  Status spill(std::size_t left_bytes);
  Status spill_side(std::size_t side, const std::vector<std::pair<Timestamp, JoinSlice*>>& logs);
  std::size_t log_bytes() const;
  void write_chunks(ByteWriter& out, std::size_t until_bytes);
  void write_entry(Timestamp slice, std::size_t side, const RecordEntry& entry, ByteWriter& out);
  Result<bool> write_disk(ByteWriter& out, std::size_t until_bytes);
  bool is_frozen(const SpilledEntry& entry) const;

  const std::array<WriteRecord, 2> write_record_;
  OperatorContext* context_ = nullptr;
  RecordMemory memory_;
  Slices slices_;
  std::array<std::unique_ptr<SpilledStore>, 2> stores_;  // null: nothing has ever been there
  std::uint64_t spills_ = 0;
  std::vector<RecordLog::Place> scratch_;
  std::vector<Timestamp> origins_{no_timestamp};

  // Of the snapshot under way.
  std::uint32_t snapshots_ = 0;  // begun so far
  bool delta_ = false;
  bool writing_ = false;
  std::deque<FrozenChunk> frozen_;
  std::vector<Timestamp> frozen_slices_;  // in order
  std::array<std::unique_ptr<SpilledBlocks>, 2> frozen_blocks_;
  std::string_view block_;  // of the first of these
  std::size_t block_at_ = 0;
  GroupedEntries entries_;
  std::optional<std::pair<Timestamp, std::size_t>> section_;  // slice and side
  std::string encoded_;
  std::string written_;  // an entry for it
  std::string aligned_;  // an entry of a snapshot
};

}  // namespace hummer
