// SpilledScan: entries of a spilled store (spilled_store.hpp), or on their way to it, one after the
// other.
//
// Thread: one at a time. Errors: those of the disk.
#pragma once

#include <cstdint>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

struct SpilledEntry {
  std::uint64_t hash = 0;  // of the key, the same for equal keys
  std::string_view key;
  std::string_view value;
  bool removed = false;
};

// All entries, merged, in order; without those that are removed. Goes on over what was there when
// it was made, whatever the store does.
class SpilledScan {
 public:
  virtual ~SpilledScan() = default;
  // For who must not be held up, before each next(): a step of what that would have to wait for,
  // such as entries that are on their way to disk; true: nothing. Others call next() at once.
  virtual Result<bool> prepare() { return true; }
  // False: there is none left.
  virtual Result<bool> next() = 0;
  // Valid until next().
  virtual const SpilledEntry& entry() const = 0;
};

}  // namespace hummer
