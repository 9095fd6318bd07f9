// DividedRecords: the records of an arena's buckets in the order of their keys, stably, as a
// stream.
//
//   DividedRecords records(order, arena, std::move(buckets));
//   while (records.step()) {}       // each takes some milliseconds at most
//   records.next() …                // a RecordStream
//
// Steps deal the index of all records (prefix of the key, place) out among parts by ranges of the
// prefix. A part is sorted when its turn comes, so it lies in a cache then, and a
// record costs no comparison with those of other buckets. Where many keys begin alike a part has
// more records than one step may sort. Such a part is sorted by blocks, in steps, and they are
// merged when its turn comes.
//
// Thread: one. Memory: bytes_per_record from the first step on. The arena outlives it and is not
// cleared meanwhile.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <hummer/detail/zeroed_pages.hpp>

#include <hummer/batch/key_order.hpp>
#include <hummer/batch/record_stream.hpp>
#include "batch/record_arena.hpp"

namespace hummer::batch {

class DividedRecords final : public RecordStream {
 public:
  static constexpr std::size_t bytes_per_record = sizeof(IndexEntry);
  static constexpr std::uint32_t most_block_records = std::uint32_t{64} << 10;

  // A step goes through a bucket or more.
  DividedRecords(KeyOrder order, const RecordArena& arena, std::vector<Bucket> buckets);

  // Does a part of what is to be done; false: nothing is left.
  bool step();
  // REQUIRES: step() has answered false.
  Result<std::span<const RecordView>> next() override;

 private:
  enum class State : std::uint8_t { ranging, counting, dealing, sorting, divided };

  // False: all were gone through.
  template <typename Function>
  bool go_through_some(Function&& function);
  void begin_parts();
  void begin_dealing();
  void find_long_parts();
  void sort_block();
  void open_part();
  std::size_t part_of(std::uint32_t prefix) const {
    return std::size_t{prefix - lowest_} >> shift_;
  }
  std::size_t begin_of(std::size_t part) const { return part == 0 ? 0 : ends_[part - 1]; }

  const KeyOrder order_;
  const RecordArena& arena_;
  const std::vector<Bucket> buckets_;
  State state_ = State::ranging;
  std::size_t records_ = 0;
  ZeroedPages dealt_pages_;
  std::span<IndexEntry> dealt_;  // by parts, and within each as they came
  std::size_t at_ = 0;           // of what the state goes through
  std::uint32_t lowest_ = ~std::uint32_t{0};
  std::uint32_t highest_ = 0;
  unsigned shift_ = 0;                              // up to 32
  std::vector<std::size_t> ends_;                   // of each part, when all is dealt
  std::vector<std::span<IndexEntry>> long_blocks_;  // of parts that are sorted by blocks
  std::vector<IndexEntry> scratch_;
  std::size_t part_ = 0;  // that comes next
  std::unique_ptr<RecordStream> stream_;
};

}  // namespace hummer::batch
