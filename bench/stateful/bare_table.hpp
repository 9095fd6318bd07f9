// Table: keys of 64 bits and plain values in one flat table that doubles, for the bare loops.
// Look-ups come in groups, so that the misses of a group overlap.
//
// A key's place is the upper part of its product with the golden ratio: a doubled table is filled
// in one pass in order. A bit in the product's middle says which of two threads owns the key.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace stateful {

inline std::uint64_t hash_of(std::uint64_t key) { return key * 0x9E3779B97F4A7C15u; }
inline unsigned owner_of(std::uint64_t key, unsigned threads) {
  return threads == 1 ? 0 : static_cast<unsigned>(hash_of(key) >> 31 & 1);
}

template <typename Value>
class Table {
 public:
  struct Entry {
    std::uint64_t key;  // plus 1; 0: free
    Value value;
  };

  Table() { entries_ = allocate(bits_); }
  ~Table() { ::munmap(entries_, sizeof(Entry) << bits_); }
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;

  std::size_t size() const { return used_; }
  void prefetch(std::uint64_t key) const { __builtin_prefetch(entries_ + home_of(key), 1); }

  // The value of each item's key, a new one where there is none. use(item, Value&, is_new)
  template <typename Item, typename KeyOf, typename Use>
  void each(const Item* items, std::size_t count, KeyOf&& key_of, Use&& use) {
    constexpr std::size_t group = 64;
    for (std::size_t from = 0; from < count; from += group) {
      const std::size_t until = from + group < count ? from + group : count;
      make_room(until - from);
      std::uint64_t keys[group];
      std::uint64_t homes[group];
      for (std::size_t i = from; i < until; ++i) {
        keys[i - from] = key_of(items[i]);
        homes[i - from] = home_of(keys[i - from]);
        __builtin_prefetch(entries_ + homes[i - from], 1);
      }
      for (std::size_t i = from; i < until; ++i) {
        const auto [value, is_new] = put(keys[i - from], homes[i - from]);
        use(items[i], *value, is_new);
      }
    }
  }
  // REQUIRES: make_room since the last few. Good until the next put or erase.
  std::pair<Value*, bool> put(std::uint64_t key) { return put(key, home_of(key)); }
  Value* find(std::uint64_t key) {
    for (std::uint64_t at = home_of(key); entries_[at].key != 0; at = (at + 1) & mask()) {
      if (entries_[at].key == key + 1) return &entries_[at].value;
    }
    return nullptr;
  }
  void make_room(std::size_t more) {
    while ((used_ + more) * 4 > (mask() + 1) * 3) grow();
  }
  void erase(std::uint64_t key) {
    std::uint64_t hole = home_of(key);
    while (entries_[hole].key != key + 1) hole = (hole + 1) & mask();
    for (std::uint64_t at = (hole + 1) & mask(); entries_[at].key != 0; at = (at + 1) & mask()) {
      const std::uint64_t home = home_of(entries_[at].key - 1);
      if (((at - home) & mask()) < ((at - hole) & mask())) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole] = {};
    --used_;
  }
  // visit(key, const Value&) for all.
  template <typename Visit>
  void scan(Visit&& visit) const {
    for (std::uint64_t at = 0; at <= mask(); ++at) {
      if (entries_[at].key != 0) visit(entries_[at].key - 1, entries_[at].value);
    }
  }
  void clear() {
    std::memset(entries_, 0, sizeof(Entry) << bits_);
    used_ = 0;
  }
  // visit(key, Value&) for all; none is left.
  template <typename Visit>
  void drain(Visit&& visit) {
    for (std::uint64_t at = 0; at <= mask(); ++at) {
      if (entries_[at].key == 0) continue;
      visit(entries_[at].key - 1, entries_[at].value);
      entries_[at] = {};
    }
    used_ = 0;
  }

 private:
  std::pair<Value*, bool> put(std::uint64_t key, std::uint64_t at) {
    while (entries_[at].key != key + 1) {
      if (entries_[at].key == 0) {
        entries_[at].key = key + 1;
        ++used_;
        return {&entries_[at].value, true};
      }
      at = (at + 1) & mask();
    }
    return {&entries_[at].value, false};
  }
  static Entry* allocate(unsigned bits) {
    const std::size_t bytes = sizeof(Entry) << bits;
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    ::madvise(memory, bytes, MADV_HUGEPAGE);
    return static_cast<Entry*>(memory);
  }
  std::uint64_t mask() const { return (std::uint64_t{1} << bits_) - 1; }
  std::uint64_t home_of(std::uint64_t key) const { return hash_of(key) >> (64 - bits_); }
  void grow() {
    Entry* const old = entries_;
    const std::uint64_t old_size = mask() + 1;
    entries_ = allocate(++bits_);
    for (std::uint64_t i = 0; i < old_size; ++i) {
      if (old[i].key == 0) continue;
      std::uint64_t at = home_of(old[i].key - 1);
      while (entries_[at].key != 0) at = (at + 1) & mask();
      entries_[at] = old[i];
    }
    ::munmap(old, old_size * sizeof(Entry));
  }

  unsigned bits_ = 10;
  Entry* entries_;
  std::size_t used_ = 0;
};

}  // namespace stateful
