// LeavingList: entries that leave a keyed store one after the other, until there are enough for a
// run of a spilled store (leaving_entries.hpp).
//
// Keys and values lie behind each other as they came; an index finds a key: a byte of its hash for
// each place, so that few keys are compared, and where its entry begins. A key that comes again
// takes the place of its older entry, whose bytes stay. About 32 bytes for a key and a count.
//
// Lifecycle: add() until it leaves; then it is not changed any more. Thread: that of the operator
// while it is added to. REQUIRES: the hash of an entry is hash_bytes of its key.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/detail/state/leaving_entries.hpp>

namespace hummer {

class LeavingList final : public LeavingEntries {
 public:
  LeavingList();

  // REQUIRES: bytes() is less than 4 GiB.
  void add(const SpilledEntry& entry);
  std::size_t bytes() const { return out_.size(); }

  std::uint64_t size() const override { return size_; }
  std::size_t memory_bytes() const override;
  Held find(std::uint64_t hash, std::string_view key, std::string& value) const override;
  std::unique_ptr<SpilledScan> in_order() const override;

 private:
  friend class LeavingListScan;
  static constexpr std::size_t least_places = 64;

  // The entry that begins there.
  SpilledEntry entry_at(std::uint32_t begin) const;
  // Where the key's entry is in the index, or belongs.
  std::size_t place_of(std::uint64_t hash, std::string_view key) const;
  void grow();

  std::string bytes_;
  ByteWriter out_{bytes_};
  std::vector<std::uint8_t> tags_;     // 0: free
  std::vector<std::uint32_t> begins_;  // of the entries
  std::uint64_t size_ = 0;
};

}  // namespace hummer
