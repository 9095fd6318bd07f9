// EntrySlabs<Entry>: memory for entries of one size, which is known at run time, with addresses
// that stay.
//
// Blocks lie in slabs of 256, each aligned to a cache line. A block's number (slot) says where it
// is; the slots of a slab that is not there are free ones. Free places are used again before a new
// slab is made; a slab without entries goes when release_empty() is called, and only then.
// Per entry it costs two bits beside the block.
//
// Entry: default-constructible; has a member `slot`, set here. Destructors are not run for entries
// that are still there: give them back first. Thread: one.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include <hummer/status.hpp>

namespace hummer {

template <typename Entry>
class EntrySlabs {
 public:
  static constexpr std::size_t slab_entries = 256;

  // Once, before anything else; at least sizeof(Entry).
  void set_block_bytes(std::size_t bytes) { block_bytes_ = bytes; }
  std::size_t block_bytes() const { return block_bytes_; }

  // A new entry in a free place.
  Entry& take() {
    if (open_.empty()) add_slab();
    const std::size_t at = open_.back();
    Slab& slab = slabs_[at];
    std::size_t word = 0;
    while (slab.used[word] == ~std::uint64_t{0}) ++word;
    const auto bit = static_cast<std::size_t>(std::countr_one(slab.used[word]));
    slab.used[word] |= std::uint64_t{1} << bit;
    if (++slab.count == slab_entries) open_.pop_back();
    const std::size_t slot = at * slab_entries + word * 64 + bit;
    Entry* const entry = new (block(slot)) Entry();
    entry->slot = static_cast<std::uint32_t>(slot);
    return *entry;
  }
  // Its place is free again.
  void give_back(Entry& entry) {
    const std::size_t slot = entry.slot;
    entry.~Entry();
    const std::size_t at = slot / slab_entries;
    Slab& slab = slabs_[at];
    slab.used[slot % slab_entries / 64] &= ~(std::uint64_t{1} << slot % 64);
    if (slab.count-- == slab_entries) open_.push_back(static_cast<std::uint32_t>(at));
  }

  // Slots are below this.
  std::size_t slot_count() const { return slabs_.size() * slab_entries; }
  // The first entry at `slot` or behind it, before `end`; null: there is none.
  Entry* next(std::size_t slot, std::size_t end) const {
    while (slot < end) {
      const Slab& slab = slabs_[slot / slab_entries];
      const std::uint64_t left = slab.used[slot % slab_entries / 64] >> slot % 64;
      if (left != 0) {
        slot += static_cast<std::size_t>(std::countr_zero(left));
        return slot < end ? std::launder(static_cast<Entry*>(block(slot))) : nullptr;
      }
      slot = slab.count == 0 ? (slot / slab_entries + 1) * slab_entries : (slot / 64 + 1) * 64;
    }
    return nullptr;
  }

  std::size_t memory_bytes() const {
    return (slabs_.size() - released_.size()) * slab_entries * block_bytes_ +
           slabs_.capacity() * sizeof(Slab) +
           (open_.capacity() + released_.capacity()) * sizeof(std::uint32_t);
  }
  // Slabs without entries go, until so many bytes are free; O(slabs).
  void release_empty(std::size_t bytes) {
    const std::size_t slab_bytes = slab_entries * block_bytes_;
    std::size_t kept = 0;
    for (const std::uint32_t at : open_) {
      Slab& slab = slabs_[at];
      if (bytes == 0 || slab.count > 0) {
        open_[kept++] = at;
        continue;
      }
      slab.blocks.reset();
      released_.push_back(at);
      bytes -= bytes < slab_bytes ? bytes : slab_bytes;
    }
    open_.resize(kept);
  }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* blocks) const { ::operator delete(blocks, alignment); }
  };
  struct Slab {
    std::unique_ptr<std::byte, Free> blocks;  // null: released
    std::array<std::uint64_t, slab_entries / 64> used{};
    std::uint32_t count = 0;
  };

  void* block(std::size_t slot) const {
    return slabs_[slot / slab_entries].blocks.get() + slot % slab_entries * block_bytes_;
  }
  void add_slab() {
    if (released_.empty()) {
      HUMMER_ASSERT(slot_count() <= UINT32_MAX - slab_entries);
      released_.push_back(static_cast<std::uint32_t>(slabs_.size()));
      slabs_.emplace_back();
    }
    const std::uint32_t at = released_.back();
    slabs_[at].blocks.reset(
        static_cast<std::byte*>(::operator new(slab_entries * block_bytes_, alignment)));
    released_.pop_back();
    open_.push_back(at);
  }

  std::size_t block_bytes_ = 0;
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> open_;      // slabs with free places
  std::vector<std::uint32_t> released_;  // places in slabs_ for new ones
};

}  // namespace hummer
