// Sorting a bucket of records by their keys, stably.
//
//   std::span<IndexEntry> room = arena.index_room(bucket.records);
//   std::span<const IndexEntry> sorted = sort_bucket(order, arena, bucket, room);
//
// The index of the records as they came (8 bytes for each: prefix of the key, place) is sorted by
// the prefix with a radix sort, and where prefixes are equal by the keys. Where many are equal
// the next bytes of their keys become the prefix, behind what all of them have in common, so that
// neither equal keys nor keys with a long common beginning are compared one by one. Records with
// equal keys keep their order.
//
// Thread: any; sorts of one arena may run at once in rooms of their own.
#pragma once

#include <span>

#include <hummer/batch/key_order.hpp>
#include "batch/record_arena.hpp"

namespace hummer::batch {

// The index in its order, in the first half of `room`, which has two entries for each record.
std::span<IndexEntry> sort_bucket(const KeyOrder& order, const RecordArena& arena,
                                  const Bucket& bucket, std::span<IndexEntry> room);

// Copies the bucket's index as its records came; where it ends.
IndexEntry* copy_index(const RecordArena& arena, const Bucket& bucket, IndexEntry* to);

// Sorts an index that has its prefixes; `scratch` is as long.
void sort_index(const KeyOrder& order, const char* arena, std::span<IndexEntry> index,
                std::span<IndexEntry> scratch);

}  // namespace hummer::batch
