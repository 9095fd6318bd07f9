// fault_guard: a fault in a truncated file mapping becomes a flag.
//
// Reading a mapped page that lies wholly behind the file's end (someone
// truncated it) raises SIGBUS. The handler looks the address up in a registry of
// live ranges; inside one, it maps zero pages from the faulting page to the
// range's end (what lies behind the first missing page is missing too, and one
// mapping instead of one per page stays clear of the limit of mappings), sets
// the range's flag and returns, so that the read goes on with zeros. Any other
// fault goes to the handler that was there before, or ends the process.
//
// The registry is the one process-wide mutable state of the engine, because
// signal handlers are process-wide. It is a fixed array of atomics: a handler may
// neither lock nor allocate. A slot's version is odd while it changes; the slot
// of the faulting read cannot change, for its mapping is alive while it is read.
//
// Thread: any. (Linux form only.)
#pragma once

#include <cstddef>

namespace hummer {

// Once per process is enough; more often does nothing.
void install_fault_guard();

// `begin` is page-aligned, `length` a multiple of the page size. Returns the range's slot, or
// -1 when all are taken.
int guard_range(const void* begin, std::size_t length);
bool range_faulted(int slot);
// Before the range is unmapped.
void release_range(int slot);

}  // namespace hummer
