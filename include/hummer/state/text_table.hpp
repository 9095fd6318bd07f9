// TextTable<V>: a hash table from text to a small fixed-size value, made for
// counting words at memory speed.
//
// Open addressing over flat entries. A key of up to 16 bytes lives in its entry
// as two zero-padded words and is compared as such; a longer one is copied into
// the table's arena, and its entry holds the address and the hash. Updates come
// in batches: first all hashes of a group and a prefetch of their entries, then
// the probes, so that cache misses overlap.
//
// The index hash is a cheap multiply-fold of the key's words; it is local to the
// table. What is routed or stored uses key_hash.hpp.
//
// Views given to `update` may be read up to 15 bytes past their end within the
// same 4 KiB page only; no slack is required of the caller.
//
// Thread: one. Cost: O(1) per update; growth doubles at half load. Memory:
// entries of 24 bytes + V, at a load between a quarter and a half, and long keys.
#pragma once

#include <cstdint>
#include <cstring>
#include <emmintrin.h>
#include <memory>
#include <string_view>
#include <type_traits>
#include <vector>

#include <hummer/key_hash.hpp>
#include <hummer/status.hpp>

namespace hummer {

template <typename V>
class TextTable {
  static_assert(std::is_trivially_copyable_v<V>, "values are moved as bytes when the table grows");

 public:
  static constexpr std::size_t inline_bytes = 16;

  explicit TextTable(std::size_t expected_keys = 1024) { allocate(expected_keys * 2); }

  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  std::size_t memory_bytes() const { return (mask_ + 1) * sizeof(Entry) + arena_bytes_; }

  // Whether a batch more might take it beyond `limit_bytes`: time to empty it.
  bool at_limit(std::size_t limit_bytes) const {
    const bool grows_soon = (size_ + growth_margin) * 2 > mask_ + 1;
    return (grows_soon && (mask_ + 1) * sizeof(Entry) * 2 > limit_bytes) || arena_bytes_ > limit_bytes;
  }

  // For i in [0, count): finds or makes the entry of key_of(i) (a std::string_view) and calls
  // apply(V&, bool is_new, i); the value of a new entry is zero bytes. In order of i.
  template <typename KeyOf, typename Apply>
  void update(std::size_t count, KeyOf&& key_of, Apply&& apply) {
    for (std::size_t from = 0; from < count; from += group_size) {
      const std::size_t length = count - from < group_size ? count - from : group_size;
      reserve_for(length);
      update_group(from, length, key_of, apply);
    }
  }

  // Visits entries from `cursor` (0 at first) on: visit(std::string_view key, const V&) answers
  // whether to go on. Returns the next cursor, or `scan_end`. The table must not change meanwhile;
  // views are valid until clear().
  static constexpr std::size_t scan_end = static_cast<std::size_t>(-1);
  template <typename Visit>
  std::size_t scan(std::size_t cursor, Visit&& visit) const {
    for (; cursor <= mask_; ++cursor) {
      const Entry& entry = entries_[cursor];
      if (entry.occupied == 0) continue;
      if (!visit(key(entry), entry.value)) return cursor + 1;
    }
    return scan_end;
  }

  // Empties it and keeps the memory of the entries.
  void clear() {
    if (size_ == 0) return;
    std::memset(static_cast<void*>(entries_.get()), 0, (mask_ + 1) * sizeof(Entry));
    size_ = 0;
    arena_.clear();
    arena_bytes_ = 0;
    arena_left_ = 0;
  }

 private:
  static constexpr std::size_t group_size = 32;
  static constexpr std::size_t growth_margin = 4096;
  static constexpr std::size_t arena_chunk_bytes = 64 * 1024;

  struct Entry {
    std::uint64_t low;   // the first 8 bytes, or the address of a long key
    std::uint64_t high;  // the next 8 bytes, or its hash
    std::uint32_t length;
    std::uint32_t occupied;
    V value;
  };
  struct FreeEntries {
    void operator()(Entry* entries) const { std::free(entries); }
  };
  struct Words {
    std::uint64_t low;
    std::uint64_t high;
  };

  static Words load_short(std::string_view key) {
    alignas(16) static constexpr unsigned char masks[32] = {
        255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255};
    const __m128i mask = _mm_loadu_si128(
        reinterpret_cast<const __m128i*>(masks + inline_bytes - key.size()));
    __m128i bytes;
    const auto address = reinterpret_cast<std::uintptr_t>(key.data());
    if ((address & 4095) <= 4096 - inline_bytes) [[likely]] {
      bytes = load_over_read(key.data());
    } else {
      alignas(16) char copy[inline_bytes] = {};
      std::memcpy(copy, key.data(), key.size());
      bytes = _mm_load_si128(reinterpret_cast<const __m128i*>(copy));
    }
    bytes = _mm_and_si128(bytes, mask);
    return {static_cast<std::uint64_t>(_mm_cvtsi128_si64(bytes)),
            static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_unpackhi_epi64(bytes, bytes)))};
  }
  // Reads within the page but maybe past the key: deliberate, hidden from the checkers.
  __attribute__((no_sanitize("address", "thread"))) static __m128i load_over_read(const char* at) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
  }

  static std::uint64_t mix(std::uint64_t low, std::uint64_t high) {
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(low ^ 0x9E3779B97F4A7C15u) * (high ^ 0xD6E8FEB86659FD93u);
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
  }
  static std::string_view key(const Entry& entry) {
    return entry.length <= inline_bytes
               ? std::string_view(reinterpret_cast<const char*>(&entry.low), entry.length)
               : std::string_view(reinterpret_cast<const char*>(entry.low), entry.length);
  }

  template <typename KeyOf, typename Apply>
  void update_group(std::size_t from, std::size_t length, KeyOf& key_of, Apply& apply) {
    Words words[group_size];
    std::uint32_t lengths[group_size];
    std::size_t places[group_size];
    for (std::size_t i = 0; i < length; ++i) {
      const std::string_view text = key_of(from + i);
      HUMMER_ASSERT(text.size() < UINT32_MAX);
      lengths[i] = static_cast<std::uint32_t>(text.size());
      if (text.size() <= inline_bytes) [[likely]] {
        words[i] = load_short(text);
        places[i] = mix(words[i].low, words[i].high) & mask_;
      } else {
        words[i] = {reinterpret_cast<std::uintptr_t>(text.data()), hash_bytes(text.data(), text.size())};
        places[i] = words[i].high & mask_;
      }
      __builtin_prefetch(&entries_[places[i]]);
    }
    for (std::size_t i = 0; i < length; ++i) {
      const Words word = words[i];
      std::size_t place = places[i];
      for (;;) {
        Entry& entry = entries_[place];
        if (entry.low == word.low && entry.high == word.high && entry.length == lengths[i] &&
            entry.occupied != 0) [[likely]] {
          apply(entry.value, false, from + i);
          break;
        }
        if (entry.occupied == 0) {
          make_entry(entry, word, lengths[i]);
          apply(entry.value, true, from + i);
          break;
        }
        if (lengths[i] > inline_bytes && entry.length == lengths[i] && entry.high == word.high &&
            std::memcmp(reinterpret_cast<const char*>(entry.low),
                        reinterpret_cast<const char*>(word.low), lengths[i]) == 0) {
          apply(entry.value, false, from + i);
          break;
        }
        place = (place + 1) & mask_;
      }
    }
  }

  void make_entry(Entry& entry, Words word, std::uint32_t length) {
    entry.low = length <= inline_bytes
                    ? word.low
                    : reinterpret_cast<std::uintptr_t>(
                          keep_text(reinterpret_cast<const char*>(word.low), length));
    entry.high = word.high;
    entry.length = length;
    entry.occupied = 1;
    ++size_;
  }

  const char* keep_text(const char* text, std::size_t length) {
    if (length > arena_left_) {
      arena_left_ = length > arena_chunk_bytes ? length : arena_chunk_bytes;
      arena_.push_back(std::make_unique<char[]>(arena_left_));
      arena_bytes_ += arena_left_;
      arena_next_ = arena_.back().get();
    }
    char* at = arena_next_;
    std::memcpy(at, text, length);
    arena_next_ += length;
    arena_left_ -= length;
    return at;
  }

  void allocate(std::size_t entries) {
    std::size_t capacity = 64;
    while (capacity < entries) capacity *= 2;
    entries_.reset(static_cast<Entry*>(std::calloc(capacity, sizeof(Entry))));
    HUMMER_ASSERT(entries_ != nullptr);
    mask_ = capacity - 1;
  }

  void reserve_for(std::size_t more) {
    if ((size_ + more) * 2 <= mask_ + 1) [[likely]] return;
    const std::unique_ptr<Entry[], FreeEntries> old = std::move(entries_);
    const std::size_t old_mask = mask_;
    allocate((old_mask + 1) * 2);
    for (std::size_t i = 0; i <= old_mask; ++i) {
      const Entry& entry = old[i];
      if (entry.occupied == 0) continue;
      std::size_t place = entry.length <= inline_bytes ? mix(entry.low, entry.high) & mask_ : entry.high & mask_;
      while (entries_[place].occupied != 0) place = (place + 1) & mask_;
      entries_[place] = entry;
    }
  }

  std::unique_ptr<Entry[], FreeEntries> entries_;
  std::size_t mask_ = 0;
  std::size_t size_ = 0;
  std::vector<std::unique_ptr<char[]>> arena_;
  char* arena_next_ = nullptr;
  std::size_t arena_left_ = 0;
  std::size_t arena_bytes_ = 0;
};

}  // namespace hummer
