#include <hummer/detail/state/entry_slabs.hpp>

#include <bit>

#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::align_val_t alignment{64};

}  // namespace

void EntrySlabs::Free::operator()(std::byte* blocks) const { ::operator delete(blocks, alignment); }

EntrySlabs::Place EntrySlabs::take() {
  if (open_.empty()) add_slab();
  const std::size_t at = open_.back();
  Slab& slab = slabs_[at];
  std::size_t word = 0;
  while (slab.used[word] == ~std::uint64_t{0}) ++word;
  const auto bit = static_cast<std::size_t>(std::countr_one(slab.used[word]));
  slab.used[word] |= std::uint64_t{1} << bit;
  if (++slab.count == slab_entries) open_.pop_back();
  const std::size_t slot = at * slab_entries + word * 64 + bit;
  return {block(slot), static_cast<std::uint32_t>(slot)};
}

void EntrySlabs::give_back(std::uint32_t slot) {
  const std::size_t at = slot / slab_entries;
  Slab& slab = slabs_[at];
  slab.used[slot % slab_entries / 64] &= ~(std::uint64_t{1} << slot % 64);
  if (slab.count-- == slab_entries) open_.push_back(static_cast<std::uint32_t>(at));
}

void* EntrySlabs::next(std::size_t slot, std::size_t end) const {
  while (slot < end) {
    const Slab& slab = slabs_[slot / slab_entries];
    const std::uint64_t left = slab.used[slot % slab_entries / 64] >> slot % 64;
    if (left != 0) {
      slot += static_cast<std::size_t>(std::countr_zero(left));
      return slot < end ? block(slot) : nullptr;
    }
    slot = slab.count == 0 ? (slot / slab_entries + 1) * slab_entries : (slot / 64 + 1) * 64;
  }
  return nullptr;
}

std::size_t EntrySlabs::memory_bytes() const {
  return (slabs_.size() - released_.size()) * slab_entries * block_bytes_ +
         slabs_.capacity() * sizeof(Slab) +
         (open_.capacity() + released_.capacity()) * sizeof(std::uint32_t);
}

void EntrySlabs::release_empty(std::size_t bytes) {
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

void EntrySlabs::add_slab() {
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

}  // namespace hummer
