#include <hummer/detail/state/entry_slabs.hpp>

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

#include <hummer/status.hpp>

namespace hummer {
namespace {

constexpr std::align_val_t alignment{64};
constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;
constexpr std::size_t most_region_bytes = std::size_t{64} << 20;
constexpr std::size_t regions_from_bytes = std::size_t{4} << 20;

}  // namespace

EntrySlabs::~EntrySlabs() {
  for (std::size_t at = 0; at < slabs_.size(); ++at) {
    if (slabs_[at].region == own_memory) ::operator delete(blocks_[at], alignment);
  }
}

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
  return {this->at(slot), static_cast<std::uint32_t>(slot)};
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
      return slot < end ? at(slot) : nullptr;
    }
    slot = slab.count == 0 ? (slot / slab_entries + 1) * slab_entries : (slot / 64 + 1) * 64;
  }
  return nullptr;
}

std::size_t EntrySlabs::memory_bytes() const {
  return (slabs_.size() - released_.size()) * slab_bytes() + slabs_.capacity() * sizeof(Slab) +
         blocks_.capacity() * sizeof(std::byte*) +
         (open_.capacity() + released_.capacity()) * sizeof(std::uint32_t);
}

void EntrySlabs::release_empty(std::size_t bytes) {
  std::size_t kept = 0;
  for (const std::uint32_t at : open_) {
    if (bytes == 0 || slabs_[at].count > 0) {
      open_[kept++] = at;
      continue;
    }
    release(at);
    bytes -= std::min(bytes, slab_bytes());
  }
  open_.resize(kept);
}

void EntrySlabs::release(std::uint32_t at) {
  if (slabs_[at].region == own_memory) {
    ::operator delete(std::exchange(blocks_[at], nullptr), alignment);
  } else {
    regions_[slabs_[at].region].give_back(blocks_[at], slab_bytes());
  }
  released_.push_back(at);
}

void EntrySlabs::add_slab() {
  if (released_.empty()) {
    HUMMER_ASSERT(slot_count() < UINT32_MAX - slab_entries);
    released_.push_back(static_cast<std::uint32_t>(slabs_.size()));
    slabs_.emplace_back();
    blocks_.push_back(nullptr);
  }
  const std::uint32_t at = released_.back();
  if (blocks_[at] == nullptr) {
    if (slot_count() * block_bytes_ > regions_from_bytes) {
      cut_from_region(at);
    } else {
      blocks_[at] = static_cast<std::byte*>(::operator new(slab_bytes(), alignment));
    }
  }
  released_.pop_back();
  open_.push_back(at);
}

// Regions grow with what is there, so that there are few of them.
void EntrySlabs::cut_from_region(std::uint32_t at) {
  if (regions_.empty() || region_used_bytes_ + slab_bytes() > regions_.back().size_bytes()) {
    const std::size_t share = slot_count() * block_bytes_ / 8;
    const std::size_t least = (slab_bytes() + huge_page_bytes - 1) / huge_page_bytes;
    const std::size_t pages = std::max(least, std::min(share, most_region_bytes) / huge_page_bytes);
    regions_.emplace_back(pages * huge_page_bytes);
    region_used_bytes_ = 0;
  }
  slabs_[at].region = static_cast<std::uint32_t>(regions_.size() - 1);
  blocks_[at] = static_cast<std::byte*>(regions_.back().data()) + region_used_bytes_;
  region_used_bytes_ += slab_bytes();
}

}  // namespace hummer
