// FoldTable: states by key, in memory of a fixed size, for folders (hummer/batch/folder.hpp).
//
//   const auto found = table.look_up(records, states, added);   // of the first found.records ones
//   folder.init({added, found.added});
//   folder.fold(records.first(found.records), states);
//   // found.records < records.size(): it is full; emit what is in it, clear(), and go on
//
// Keys and states lie one behind the other in an arena; a table of 8 bytes per slot, with open
// addressing, leads to them by the hash of the key. It is full when either is.
//
// Thread: one. Memory: what create() is told, touched as it fills but for the slots.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <hummer/batch/folder.hpp>
#include <hummer/batch/record_stream.hpp>

namespace hummer::batch {

class FoldTable {
 public:
  static constexpr std::size_t most_records = 1024;  // of one look-up
  struct Found {
    std::size_t records = 0;
    std::size_t added = 0;
  };

  FoldTable(std::size_t memory_bytes, std::size_t state_bytes);

  // `states` is as long as `records`, at most most_records; `added` too: the new ones in front.
  Found look_up(std::span<const RecordView> records, std::span<void*> states,
                std::span<void*> added);
  std::size_t size() const { return entries_; }
  // Up to `into.size()` entries from the one that `at` says (0: the first), which moves on. 0: the
  // end.
  std::size_t read(std::size_t& at, std::span<Folder::Entry> into) const;
  void clear();

 private:
  struct Slot {
    std::uint32_t tag = 0;
    std::uint32_t place = 0;  // in units, and one more; 0: empty
  };
  static constexpr std::size_t unit = 8;
  // So many keys are looked for together, with what they need fetched ahead: it stays in the
  // nearest cache until then.
  static constexpr std::size_t fetched_records = 64;
  static constexpr std::size_t head_bytes = 8;  // the length of the key

  static constexpr std::size_t rounded(std::size_t bytes) {
    return (bytes + unit - 1) / unit * unit;
  }
  char* entry(std::uint32_t place) const { return arena_.get() + (place - 1) * unit; }
  std::string_view key_of(const char* entry) const;
  void fetch(std::span<const RecordView> records);
  // Null: it is full.
  char* look_up(std::string_view key, std::uint64_t hash, bool& is_new);
  char* add(std::string_view key, Slot& slot, std::uint32_t tag);

  const std::size_t state_bytes_;  // rounded
  std::size_t slot_mask_ = 0;
  std::size_t most_entries_ = 0;
  std::size_t arena_bytes_ = 0;
  std::vector<Slot> slots_;
  std::unique_ptr<char[]> arena_;
  std::size_t used_bytes_ = 0;
  std::size_t entries_ = 0;
  std::vector<std::uint64_t> hashes_;  // of those that are fetched
};

}  // namespace hummer::batch
