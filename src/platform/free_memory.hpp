// Memory that was freed and is resident all the same.
#pragma once

namespace hummer {

// The system gets back what the C library keeps for later, where that has whole pages. For those
// who have freed a good part of what they may hold, and need other memory next. Takes as long as
// what is free has parts. Thread: any.
void give_back_free_memory();

}  // namespace hummer
