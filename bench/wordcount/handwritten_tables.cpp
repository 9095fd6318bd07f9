#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "handwritten_kernel.hpp"

namespace handwritten {
namespace {

constexpr std::uint32_t first_capacity_bits = 16;
constexpr std::size_t arena_block_size = 1 << 20;

// Addresses are reserved once for the largest table; memory comes as slots are touched.
constexpr std::size_t reserved_size = std::size_t{1} << 36;

template <typename Entry>
void create(Table<Entry>& table) {
  table.capacity = std::uint64_t{1} << first_capacity_bits;
  table.shift = 64 - first_capacity_bits;
  table.size = 0;
  table.entries = static_cast<Entry*>(allocate_zeroed(reserved_size));
}

// Doubles in place, from the last cluster (run of used slots) to the first: a cluster at [a, b)
// moves to slots from 2a on, so it never meets one that has not moved yet. Fresh memory is slow
// (page faults, zeroing; in a virtual machine also the host's), so the table touches no more of
// it than its final size.
template <typename Entry>
void grow_in_place(Table<Entry>& table) {
  std::uint64_t end = table.capacity;
  while (!is_empty(table.entries[end])) ++end;
  table.capacity *= 2;
  --table.shift;
  std::vector<Entry> cluster;
  while (end > 0) {
    if (is_empty(table.entries[--end])) continue;
    cluster.clear();
    ++end;
    while (end > 0 && !is_empty(table.entries[end - 1])) {
      cluster.push_back(table.entries[--end]);
      table.entries[end] = Entry{};
    }
    for (std::size_t i = cluster.size(); i-- > 0;) {  // who stood at home, stands there again
      const Entry& entry = cluster[i];
      std::uint64_t slot = hash_of(entry) >> table.shift;
      while (!is_empty(table.entries[slot])) ++slot;
      table.entries[slot] = entry;
    }
  }
}

std::uint64_t hash_long(const char* bytes, std::size_t length) {
  std::uint64_t hash = length;
  while (true) {
    std::uint64_t low, high;
    std::memcpy(&low, bytes, 8);
    std::memcpy(&high, bytes + 8, 8);
    hash = hash_medium(low ^ hash, high);
    if (length <= 32) {  // the last 16 bytes may overlap; there are more than 32
      std::memcpy(&low, bytes + length - 16, 8);
      std::memcpy(&high, bytes + length - 8, 8);
      return hash_medium(low ^ hash, high);
    }
    bytes += 16;
    length -= 16;
  }
}

}  // namespace

void* allocate_zeroed(std::size_t size_bytes) {
  // Aligned to a huge page by hand: mmap alone aligns to 4 KiB.
  constexpr std::size_t huge = std::size_t{2} << 20;
  if (size_bytes < huge) size_bytes = huge;
  char* memory = static_cast<char*>(mmap(nullptr, size_bytes + huge, PROT_READ | PROT_WRITE,
                                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
  if (memory == MAP_FAILED) {
    std::fprintf(stderr, "wordcount_handwritten: out of memory (%zu bytes)\n", size_bytes);
    std::abort();
  }
  const std::size_t head = (huge - reinterpret_cast<std::uintptr_t>(memory) % huge) % huge;
  if (head > 0) munmap(memory, head);
  if (head < huge) munmap(memory + head + size_bytes, huge - head);
  madvise(memory + head, size_bytes, MADV_HUGEPAGE);
  return memory + head;
}

void release(void* memory, std::size_t size_bytes) {
  munmap(memory, size_bytes < (std::size_t{2} << 20) ? std::size_t{2} << 20 : size_bytes);
}

void prepare(WordTables& tables) {
  create(tables.shorts);
  create(tables.mediums);
  create(tables.wides);
  create(tables.longs);
}

void grow(Table<ShortEntry>& table) { grow_in_place(table); }
void grow(Table<MediumEntry>& table) { grow_in_place(table); }
void grow(Table<WideEntry>& table) { grow_in_place(table); }
void grow(Table<LongEntry>& table) { grow_in_place(table); }

void add_long(WordTables& tables, const char* bytes, std::size_t length, std::uint64_t count,
              const Variant& variant) {
  char* lowered = nullptr;
  char small[256] = {};
  if (variant.lower_case) {
    lowered = length <= sizeof(small) ? small : static_cast<char*>(std::malloc(length));
    if (lowered == nullptr) std::abort();
    for (std::size_t i = 0; i < length; ++i) {
      const auto c = static_cast<unsigned char>(bytes[i]);
      lowered[i] = static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
    }
    bytes = lowered;
  }
  Table<LongEntry>& table = tables.longs;
  const std::uint64_t hash = hash_long(bytes, length);
  std::uint64_t slot = hash >> table.shift;
  while (true) {
    LongEntry& entry = table.entries[slot];
    if (entry.bytes == nullptr) break;
    if (entry.hash == hash && entry.length == length &&
        std::memcmp(entry.bytes, bytes, length) == 0) {
      entry.count += count;
      if (lowered != nullptr && lowered != small) std::free(lowered);
      return;
    }
    ++slot;
  }
  if (tables.arena_left < length) {
    const std::size_t size = length > arena_block_size ? length : arena_block_size;
    tables.arena = static_cast<char*>(std::malloc(size));
    if (tables.arena == nullptr) std::abort();
    tables.arena_left = size;
  }
  std::memcpy(tables.arena, bytes, length);
  table.entries[slot] = {tables.arena, length, hash, count};
  tables.arena += length;
  tables.arena_left -= length;
  if (lowered != nullptr && lowered != small) std::free(lowered);
  if (++table.size > table.capacity / 2) grow(table);
}

}  // namespace handwritten
