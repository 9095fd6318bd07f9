// LeavingEntries: entries of an operator's state on their way from memory to disk, where they
// become one run of a spilled store (spilled_store.hpp, leave()).
//
// They don't change any more, so the background sorts and writes them while the operator's thread
// looks keys up in them. The operator goes on with a fresh table, or list, meanwhile.
//
// Ownership: the store's, until the run is in the entries' place; the operator's thread destroys
// them. Thread: any, several at a time. Errors: what encodes a value may throw, as ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/detail/state/spilled_scan.hpp>

namespace hummer {

class LeavingEntries {
 public:
  enum class Held : std::uint8_t { no, removed, yes };

  LeavingEntries() = default;
  LeavingEntries(const LeavingEntries&) = delete;
  LeavingEntries& operator=(const LeavingEntries&) = delete;
  virtual ~LeavingEntries() = default;

  virtual std::uint64_t size() const = 0;
  virtual std::size_t memory_bytes() const = 0;
  // What they have of a key: `yes`: its value.
  virtual Held find(std::uint64_t hash, std::string_view key, std::string& value) const = 0;
  // Each once, in order of hash and key; where values are newer or say that a key is gone, those
  // that are removed, too. They outlive it.
  virtual std::unique_ptr<SpilledScan> in_order() const = 0;
};

}  // namespace hummer
