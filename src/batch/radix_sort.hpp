// radix_sort: entries of an index by their prefixes, stably.
//
// Bits that all prefixes have in common cost nothing: passes go over those between the first and
// the last that differ. An index that does not lie in a core's second cache is divided by its first
// bits into parts that do.
//
// Thread: any.
#pragma once

#include <cstddef>

#include "batch/record_arena.hpp"

namespace hummer::batch {

// `scratch` is as long.
void radix_sort(IndexEntry* entries, IndexEntry* scratch, std::size_t count);

}  // namespace hummer::batch
