// JoinPartition: those records of both sides of a hash join whose keys hash alike, as far as they
// are in memory; and what looks them up.
//
//   partition.side(0).add(key, value, hash);
//   partition.build(1);                                    // a table of the second side
//   for (JoinRecord* r = partition.find(hash); r != nullptr; r = r->next) …
//
// Records lie in blocks, which are freed with their partition, so that one partition can go to disk
// while others stay.
//
// Thread: one. Cost of a record: 24 bytes and its own, to a multiple of 8; 16 more in a table.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

namespace hummer {

struct JoinRecord {
  JoinRecord* next;  // in its chain of the table
  std::uint32_t hash;
  std::uint32_t key_bytes;
  std::uint32_t value_bytes;
  bool matched;

  std::string_view key() const { return {bytes(), key_bytes}; }
  std::string_view value() const { return {bytes() + key_bytes, value_bytes}; }
  const char* bytes() const { return reinterpret_cast<const char*>(this + 1); }
  static std::size_t stored_bytes(std::size_t key, std::size_t value) {
    return (sizeof(JoinRecord) + key + value + 7) & ~std::size_t{7};
  }
};

class JoinBlocks {
 public:
  // What a record takes beside its bytes, at most: its part of a table.
  static constexpr std::size_t table_bytes = 16;

  // How much memory it takes to add such a record.
  std::size_t growth(std::size_t stored, std::size_t block_bytes) const {
    return (stored > room() ? std::max(stored, block_bytes) : 0) + table_bytes;
  }
  JoinRecord& add(std::string_view key, std::string_view value, std::uint32_t hash,
                  std::size_t block_bytes) {
    const std::size_t stored = JoinRecord::stored_bytes(key.size(), value.size());
    if (stored > room()) {
      const std::size_t bytes = std::max(stored, block_bytes);
      blocks_.push_back({std::make_unique_for_overwrite<char[]>(bytes), 0, bytes});
      bytes_ += bytes;
    }
    Block& block = blocks_.back();
    auto* record = reinterpret_cast<JoinRecord*>(block.bytes.get() + block.used);
    *record = {.next = nullptr,
               .hash = hash,
               .key_bytes = static_cast<std::uint32_t>(key.size()),
               .value_bytes = static_cast<std::uint32_t>(value.size()),
               .matched = false};
    char* to = reinterpret_cast<char*>(record + 1);
    if (!key.empty()) std::memcpy(to, key.data(), key.size());
    if (!value.empty()) std::memcpy(to + key.size(), value.data(), value.size());
    block.used += stored;
    ++records_;
    return *record;
  }
  std::size_t records() const { return records_; }
  std::size_t memory_bytes() const { return bytes_ + records_ * table_bytes; }
  void clear() { *this = {}; }

  // A place in the records, which goes through them in the order in which they came. Null: the end.
  struct Place {
    std::size_t block = 0;
    std::size_t offset = 0;
  };
  JoinRecord* at(Place& place) {
    while (place.block < blocks_.size() && place.offset >= blocks_[place.block].used) {
      ++place.block;
      place.offset = 0;
    }
    if (place.block >= blocks_.size()) return nullptr;
    return reinterpret_cast<JoinRecord*>(blocks_[place.block].bytes.get() + place.offset);
  }
  static void advance(Place& place, const JoinRecord& record) {
    place.offset += JoinRecord::stored_bytes(record.key_bytes, record.value_bytes);
  }

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t used;
    std::size_t size;
  };
  std::size_t room() const {
    return blocks_.empty() ? 0 : blocks_.back().size - blocks_.back().used;
  }

  std::vector<Block> blocks_;
  std::size_t bytes_ = 0;
  std::size_t records_ = 0;
};

struct JoinPartition {
  JoinBlocks sides[2];
  bool spilled = false;
  // Of a spilled one, by side: the segments of the pass's file, and what is in them.
  std::vector<std::uint32_t> segments[2];
  std::uint64_t spilled_bytes[2] = {0, 0};
  std::vector<JoinRecord*> table;  // by the low bits of the hash; empty: there is none

  std::size_t memory_bytes() const { return sides[0].memory_bytes() + sides[1].memory_bytes(); }

  void build(int side) {
    JoinBlocks& blocks = sides[side];
    table.assign(std::bit_ceil(std::max<std::size_t>(blocks.records(), 1)), nullptr);
    JoinBlocks::Place place;
    while (JoinRecord* record = blocks.at(place)) {
      JoinRecord*& head = table[record->hash & (table.size() - 1)];
      record->next = head;
      head = record;
      JoinBlocks::advance(place, *record);
    }
  }
  JoinRecord* find(std::uint32_t hash) const { return table[hash & (table.size() - 1)]; }
  void release() {
    sides[0].clear();
    sides[1].clear();
    table = {};
  }
};

}  // namespace hummer
