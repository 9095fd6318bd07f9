// RecordArena: one piece of memory, of which buckets of records get pieces, and all give them back
// at once.
//
//   RecordArena arena(64 << 20, 16);
//   Bucket bucket;
//   if (!arena.add(bucket, prefix, key, value)) ...   // no room in its piece: extend() and again
//   arena.for_each_entry(bucket, [](const IndexEntry& entry) { ... });
//   arena.clear();                            // after that every bucket begins anew: bucket = {}
//
// A record lies at a multiple of 8 bytes: length of the key, length of the value (4 bytes each),
// key, value. Its place is its offset over 8, so 4 bytes say it in up to 32 GiB. A piece begins
// with 16 bytes: the place of the bucket's next piece, how many records it has, and how long it is.
// From its end backwards lies an entry for each record, in the order in which they came, so whoever
// sorts them need not go through the records.
//
// Memory is touched from the front as pieces are given, and stays until give_back(). What is behind
// them is free for the index of a sort (index_room), which the arena keeps room for: 16 bytes per
// record of the bucket with the most records.
//
// Arenas of several threads may lie side by side in one piece of memory. Then their places have one
// origin, so one index may have records of all of them:
//
//   auto pages = std::make_shared<ZeroedPages>(2 * size);
//   RecordArena first({pages, 0}, size, 16), second({pages, size}, size, 16);
//
// Thread: one at a time; what reads records only, any number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <hummer/detail/zeroed_pages.hpp>
#include <hummer/status.hpp>

#include <hummer/batch/record_stream.hpp>

namespace hummer::batch {

// A record in an index: the first bytes of its key as its order has them, and where it lies.
struct IndexEntry {
  std::uint32_t prefix;
  std::uint32_t place;
};

struct Bucket {
  static constexpr std::uint32_t no_piece = ~std::uint32_t{0};

  char* at = nullptr;   // where the next record goes, ...
  char* end = nullptr;  // ... up to here, where the newest entry is
  std::uint32_t records = 0;
  std::uint32_t first_piece = no_piece;
  std::uint32_t last_piece = no_piece;
};

// Where an arena begins in memory that it shares with others.
struct ArenaMemory {
  std::shared_ptr<ZeroedPages> pages;  // of most_bytes at most; null: there is none
  std::size_t begin_bytes = 0;         // a multiple of RecordArena::unit
};

class RecordArena {
 public:
  static constexpr std::size_t unit = 8;  // of places
  static constexpr std::size_t least_bytes = std::size_t{16} << 10;
  // What places can say, in all arenas of one piece of memory.
  static constexpr std::size_t most_bytes = (std::size_t{1} << 32) * unit;

  // REQUIRES: size_bytes >= least_bytes.
  RecordArena(std::size_t size_bytes, std::uint32_t buckets);
  // In a part of shared memory. REQUIRES: it has room.
  RecordArena(ArenaMemory memory, std::size_t size_bytes, std::uint32_t buckets);

  // What a record takes, without its entry.
  static std::size_t stored_bytes(std::size_t key_bytes, std::size_t value_bytes) {
    return (lengths_bytes + key_bytes + value_bytes + unit - 1) & ~(unit - 1);
  }

  // `prefix`: of the key, as its order has it. False: there is no room in the piece at hand.
  bool add(Bucket& bucket, std::uint32_t prefix, std::string_view key, std::string_view value) {
    const std::size_t stored = stored_bytes(key.size(), value.size());
    if (stored + sizeof(IndexEntry) > static_cast<std::size_t>(bucket.end - bucket.at)) [[unlikely]]
      return false;
    char* to = bucket.at;
    bucket.end -= sizeof(IndexEntry);
    const IndexEntry entry{prefix, place_of(to)};
    std::memcpy(bucket.end, &entry, sizeof entry);
    const Lengths lengths{static_cast<std::uint32_t>(key.size()),
                          static_cast<std::uint32_t>(value.size())};
    std::memcpy(to, &lengths, sizeof lengths);
    to += sizeof lengths;
    if (!key.empty()) std::memcpy(to, key.data(), key.size());
    if (!value.empty()) std::memcpy(to + key.size(), value.data(), value.size());
    bucket.at += stored;
    ++bucket.records;
    // Until the bucket's next record comes others go elsewhere, so no core foresees this.
    __builtin_prefetch(bucket.at + 64, 1);
    __builtin_prefetch(bucket.at + 128, 1);
    __builtin_prefetch(bucket.end - 64, 1);
    return true;
  }

  // Gives the bucket a piece that holds a record of so many stored bytes. False: there is no room.
  bool extend(Bucket& bucket, std::size_t stored);
  // Whether such a record fits when the arena is empty.
  bool could_hold(std::size_t stored) const;
  // All pieces are free. The buckets that had them are to begin anew.
  void clear();
  // What was touched goes back to the system until records are added again. REQUIRES: empty().
  void give_back();

  bool empty() const { return used_bytes_ == 0; }
  // Whether an index may have records of both.
  bool shares_places_with(const RecordArena& other) const {
    return memory_.pages == other.memory_.pages;
  }
  std::size_t used_bytes() const { return used_bytes_; }
  std::size_t piece_bytes() const { return piece_bytes_; }
  // Where places begin.
  const char* data() const { return data_; }
  // Room for the index of a bucket with so many records, twice: for a sort and its copy. Holds
  // until it is asked for again, or records are added. REQUIRES: no bucket has had more.
  std::span<IndexEntry> index_room(std::uint32_t records);

  static RecordView record(const char* arena, std::uint32_t place) {
    const char* from = arena + std::size_t{place} * unit;
    Lengths lengths;
    std::memcpy(&lengths, from, sizeof lengths);
    from += sizeof lengths;
    return {from, from + lengths.key, lengths.key, lengths.value};
  }
  static std::string_view key(const char* arena, std::uint32_t place) {
    return record(arena, place).key();
  }
  // Fetches its first two cache lines; where it begins.
  static const char* prefetch(const char* arena, std::uint32_t place) {
    const char* from = arena + std::size_t{place} * unit;
    __builtin_prefetch(from);
    __builtin_prefetch(from + 64);
    return from;
  }

  // Of a bucket's records, in the order in which they came.
  template <typename Function>
  void for_each_entry(const Bucket& bucket, Function&& function) const {
    for (std::uint32_t piece = bucket.first_piece; piece != Bucket::no_piece;) {
      const PieceHead head = head_of(piece);
      const bool is_last = piece == bucket.last_piece;
      const char* at = end_of(piece, head);
      for (std::uint32_t left = is_last ? entries_in(bucket, head) : head.records; left > 0;
           --left) {
        at -= sizeof(IndexEntry);
        IndexEntry entry;
        std::memcpy(&entry, at, sizeof entry);
        function(entry);
      }
      piece = is_last ? Bucket::no_piece : head.next;
    }
  }

 private:
  struct Lengths {
    std::uint32_t key;
    std::uint32_t value;
  };
  struct PieceHead {
    std::uint32_t next;
    std::uint32_t records;
    std::uint64_t size_bytes;
  };
  static constexpr std::size_t lengths_bytes = sizeof(Lengths);
  static constexpr std::size_t beside_a_record = sizeof(PieceHead) + sizeof(IndexEntry);
  static constexpr std::size_t index_bytes_per_record = 2 * sizeof(IndexEntry);

  PieceHead head_of(std::uint32_t piece) const {
    PieceHead head;
    std::memcpy(&head, data_ + std::size_t{piece} * unit, sizeof head);
    return head;
  }
  const char* end_of(std::uint32_t piece, const PieceHead& head) const {
    return data_ + std::size_t{piece} * unit + head.size_bytes;
  }
  // In its last piece.
  std::uint32_t entries_in(const Bucket& bucket, const PieceHead& head) const {
    const auto bytes = static_cast<std::size_t>(end_of(bucket.last_piece, head) - bucket.end);
    return static_cast<std::uint32_t>(bytes / sizeof(IndexEntry));
  }
  std::uint32_t place_of(const char* at) const {
    return static_cast<std::uint32_t>(static_cast<std::size_t>(at - data()) / unit);
  }
  char* at(std::uint32_t place) { return data_ + std::size_t{place} * unit; }
  bool fits(std::size_t used_bytes, std::uint32_t most_records) const;

  const ArenaMemory memory_;
  char* const data_;  // where places begin
  const std::size_t size_bytes_;
  std::size_t piece_bytes_ = 0;
  std::size_t used_bytes_ = 0;
  std::uint32_t most_records_ = 0;  // of a bucket, as its last piece was given
};

}  // namespace hummer::batch
