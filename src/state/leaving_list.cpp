#include "state/leaving_list.hpp"

#include <span>
#include <utility>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/packed_numbers.hpp>

#include "state/sort_by_hash.hpp"

namespace hummer {
namespace {

// The upper bits are key groups, much the same for all keys of a subtask, and the lower ones say
// where a key is.
std::uint8_t tag_of(std::uint64_t hash) { return static_cast<std::uint8_t>(hash >> 32 | 1); }

}  // namespace

class LeavingListScan final : public SpilledScan {
 public:
  explicit LeavingListScan(const LeavingList& list) : list_(list) {}

  Result<bool> prepare() override {
    if (sorted_) return true;
    sort();
    return false;
  }
  Result<bool> next() override {
    if (!sorted_) sort();
    if (at_ == items_.size()) return false;
    entry_ = list_.entry_at(items_[at_].begin);
    entry_.hash = items_[at_++].hash;
    return true;
  }
  const SpilledEntry& entry() const override { return entry_; }

 private:
  struct Item {
    std::uint64_t hash;
    std::uint32_t begin;
  };

  void sort() {
    items_.reserve(list_.size_);
    for (std::size_t place = 0; place < list_.tags_.size(); ++place) {
      if (list_.tags_[place] == 0) continue;
      const std::uint32_t begin = list_.begins_[place];
      const std::string_view key = list_.entry_at(begin).key;
      items_.push_back({hash_bytes(key.data(), key.size()), begin});
    }
    sort_by_hash(
        std::span(items_), [](const Item& item) { return item.hash; },
        [&](const Item& a, const Item& b) {
          return a.hash != b.hash ? a.hash < b.hash
                                  : list_.entry_at(a.begin).key < list_.entry_at(b.begin).key;
        });
    sorted_ = true;
  }

  const LeavingList& list_;
  bool sorted_ = false;
  std::vector<Item> items_;
  std::size_t at_ = 0;
  SpilledEntry entry_;
};

LeavingList::LeavingList() : tags_(least_places), begins_(least_places) {}

std::size_t LeavingList::memory_bytes() const {
  return bytes_.capacity() + tags_.capacity() + begins_.capacity() * sizeof(std::uint32_t);
}

// Bytes of the key; those of the value and 1, or 0: removed; key; value.
void LeavingList::add(const SpilledEntry& entry) {
  HUMMER_ASSERT(out_.size() <= UINT32_MAX);
  if ((size_ + 1) * 4 > tags_.size() * 3) grow();
  const std::size_t place = place_of(entry.hash, entry.key);
  size_ += tags_[place] == 0 ? 1 : 0;
  tags_[place] = tag_of(entry.hash);
  begins_[place] = static_cast<std::uint32_t>(out_.size());
  put_packed(entry.key.size(), out_);
  put_packed(entry.removed ? 0 : entry.value.size() + 1, out_);
  out_.put(entry.key.data(), entry.key.size());
  if (!entry.removed) out_.put(entry.value.data(), entry.value.size());
}

SpilledEntry LeavingList::entry_at(std::uint32_t begin) const {
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  const char* at = unpack_number(bytes_.data() + begin, key_bytes);
  at = unpack_number(at, value_bytes);
  SpilledEntry entry;
  entry.key = {at, static_cast<std::size_t>(key_bytes)};
  entry.removed = value_bytes == 0;
  if (!entry.removed) entry.value = {at + key_bytes, static_cast<std::size_t>(value_bytes - 1)};
  return entry;
}

std::size_t LeavingList::place_of(std::uint64_t hash, std::string_view key) const {
  const std::size_t mask = tags_.size() - 1;
  const std::uint8_t tag = tag_of(hash);
  for (std::size_t place = hash & mask;; place = (place + 1) & mask) {
    if (tags_[place] == 0) return place;
    if (tags_[place] == tag && entry_at(begins_[place]).key == key) return place;
  }
}

void LeavingList::grow() {
  const std::vector<std::uint8_t> tags = std::exchange(tags_, {});
  const std::vector<std::uint32_t> begins = std::exchange(begins_, {});
  tags_.resize(tags.size() * 2);
  begins_.resize(tags.size() * 2);
  const std::size_t mask = tags_.size() - 1;
  for (std::size_t i = 0; i < tags.size(); ++i) {
    if (tags[i] == 0) continue;
    const std::string_view key = entry_at(begins[i]).key;
    std::size_t place = hash_bytes(key.data(), key.size()) & mask;
    while (tags_[place] != 0) place = (place + 1) & mask;
    tags_[place] = tags[i];
    begins_[place] = begins[i];
  }
}

LeavingEntries::Held LeavingList::find(std::uint64_t hash, std::string_view key,
                                       std::string& value) const {
  const std::size_t place = place_of(hash, key);
  if (tags_[place] == 0) return Held::no;
  const SpilledEntry entry = entry_at(begins_[place]);
  if (entry.removed) return Held::removed;
  value = entry.value;
  return Held::yes;
}

std::unique_ptr<SpilledScan> LeavingList::in_order() const {
  return std::make_unique<LeavingListScan>(*this);
}

}  // namespace hummer
