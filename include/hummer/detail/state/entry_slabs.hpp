// EntrySlabs: memory for entries of one size, which is known at run time, with addresses
// that stay.
//
// Blocks lie in slabs of 256, each aligned to a cache line. A block's number (slot) says where it
// is; the slots of a slab that is not there are free ones. Free places are used again before a new
// slab is made; a slab without entries goes when release_empty() is called, and only then.
// Per entry it costs two bits beside the block.
//
// Who makes an entry in a place notes its slot, and destroys it before the place is given back.
// Thread: one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

namespace hummer {

class EntrySlabs {
 public:
  static constexpr std::size_t slab_entries = 256;

  // Once, before anything else; at least the size of an entry.
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

  // Slots are below this.
  std::size_t slot_count() const { return slabs_.size() * slab_entries; }
  // The first entry at `slot` or behind it, before `end`; null: there is none.
  void* next(std::size_t slot, std::size_t end) const;

  std::size_t memory_bytes() const;
  // Slabs without entries go, until so many bytes are free; O(slabs).
  void release_empty(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* blocks) const;
  };
  struct Slab {
    std::unique_ptr<std::byte, Free> blocks;  // null: released
    std::array<std::uint64_t, slab_entries / 64> used{};
    std::uint32_t count = 0;
  };

  void* block(std::size_t slot) const {
    return slabs_[slot / slab_entries].blocks.get() + slot % slab_entries * block_bytes_;
  }
  void add_slab();

  std::size_t block_bytes_ = 0;
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> open_;      // slabs with free places
  std::vector<std::uint32_t> released_;  // places in slabs_ for new ones
};

}  // namespace hummer
