// EntrySlabs: memory for entries of one size, which is known at run time, with addresses
// that stay.
//
// Blocks lie in slabs of 256, each aligned to a cache line. A block's number (slot) says where it
// is; the slots of a slab that is not there are free ones. Free places are used again before a new
// slab is made; a slab without entries goes when release_empty() is called, and only then.
// Per entry it costs two bits beside the block.
//
// The first megabytes come from the allocator, slab by slab. Beyond them slabs are cut from regions
// in huge pages: an entry is at a random place, and with pages of 4 KiB each would also miss the
// TLB. The pages of a slab that is released go back to the system, its addresses stay.
//
// Who makes an entry in a place notes its slot, and destroys it before the place is given back.
// Thread: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <hummer/detail/zeroed_pages.hpp>

namespace hummer {

class EntrySlabs {
 public:
  static constexpr std::size_t slab_entries = 256;

  EntrySlabs() = default;
  EntrySlabs(const EntrySlabs&) = delete;
  EntrySlabs& operator=(const EntrySlabs&) = delete;
  ~EntrySlabs();

  // Once, before anything else; at least the size of an entry, and a multiple of 16.
  void set_block_bytes(std::size_t bytes) { block_bytes_ = bytes; }
  std::size_t block_bytes() const { return block_bytes_; }

  struct Place {
    void* block;
    std::uint32_t slot;
  };
  // A free place.
  Place take();
  // It is free again.
  void give_back(std::uint32_t slot);

  // REQUIRES: it was taken.
  void* at(std::size_t slot) const {
    return blocks_[slot / slab_entries] + slot % slab_entries * block_bytes_;
  }
  // Of each slab; see at().
  std::byte* const* blocks() const { return blocks_.data(); }
  // Slots are below this.
  std::size_t slot_count() const { return slabs_.size() * slab_entries; }
  // The first entry at `slot` or behind it, before `end`; null: there is none.
  void* next(std::size_t slot, std::size_t end) const;

  std::size_t memory_bytes() const;
  // Slabs without entries go, until so many bytes are free; O(slabs).
  void release_empty(std::size_t bytes);

 private:
  struct Slab {
    std::array<std::uint64_t, slab_entries / 64> used{};
    std::uint32_t count = 0;
    std::uint32_t region = own_memory;  // in regions_
  };
  static constexpr std::uint32_t own_memory = UINT32_MAX;

  std::size_t slab_bytes() const { return slab_entries * block_bytes_; }
  void add_slab();
  void cut_from_region(std::uint32_t at);
  void release(std::uint32_t at);

  std::size_t block_bytes_ = 0;
  std::vector<std::byte*> blocks_;  // of each slab; null: it has no memory
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> open_;      // slabs with free places
  std::vector<std::uint32_t> released_;  // places in slabs_ for new ones
  std::vector<ZeroedPages> regions_;
  std::size_t region_used_bytes_ = 0;  // of the last
};

}  // namespace hummer
