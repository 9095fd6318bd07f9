// Zeroed memory for tables, in huge pages where they pay.
//
// A hash table is read at random places: with pages of 4 KiB nearly every probe
// of a table beyond a few megabytes also misses the TLB. From one huge page
// (2 MiB) on, the memory is aligned to huge pages and the system is asked for
// them; below, it comes from the allocator. Either way it is zero, and aligned to
// a cache line. It is asked of the system here, in one place, since only
// platform/ may.
//
// Errors: out of memory ends the process with a message, as operator new would.
// Thread: any.
#pragma once

#include <cstddef>

namespace hummer {

void* allocate_zeroed_pages(std::size_t size_bytes);
// `size_bytes`: as allocated. Null is fine.
void free_zeroed_pages(void* memory, std::size_t size_bytes);

}  // namespace hummer
