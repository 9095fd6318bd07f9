// bytes_when_full: what an operator's tables may hold before some of it leaves for the disk.
#pragma once

#include <algorithm>
#include <cstddef>

namespace hummer {

// `spilled`: what the operator has on disk or on its way there. `room`: for all of it, of which
// `parting_bytes` are of tables that only a snapshot still needs. Once something has left, one of
// so many parts stays free for what comes while the next leaves. Where what leaves had more, or
// there is less room since, there is the eighth that no share has (MemoryAccount::share_bytes).
template <typename Spilled>
std::size_t bytes_when_full(const Spilled& spilled, std::size_t room, std::size_t parting_bytes,
                            std::size_t parts) {
  room -= std::min(room, spilled.memory_bytes());
  room -= std::min(room / 4 * 3, parting_bytes);
  if (spilled.empty()) return room / 4 * 3;
  const std::size_t all = room + spilled.leaving_bytes();
  return std::min(room + all / 8, all / parts * (parts - 1));
}

}  // namespace hummer
