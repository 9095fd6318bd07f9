// The hand-written word count's inner loop and its tables.
//
// A word is a longest run of bytes > 0x20. Words fall into four tables by length, because nine
// words in ten have at most 8 bytes: such a word is one integer, its entry is 16 bytes, and four
// entries share a cache line. The others are for 9 to 16, 17 to 32 and more bytes.
//
// The kernel is compiled once per instruction set from the same source; each copy lives in a
// namespace of its own, uses nothing that the linker could merge with another copy, and is chosen
// at run time.
//
// Lifecycle: zero-initialised WordTables belong to one thread; `count_v*` adds to them; the
// process's end frees them. Errors: out of memory aborts.

#pragma once

#include <cstddef>
#include <cstdint>

namespace handwritten {

constexpr std::uint64_t hash_multiplier = 0x9e3779b97f4a7c15;

// Up to 8 bytes: the key is the word, padded with zero bytes (which no word holds); 0 is empty.
struct ShortEntry {
  std::uint64_t key;
  std::uint64_t count;
};

// 9 to 16 bytes; `high` is never 0 in a used entry.
struct MediumEntry {
  std::uint64_t low;
  std::uint64_t high;
  std::uint64_t count;
  std::uint64_t unused;  // two entries to a cache line, none across two
};

// 17 to 32 bytes; one entry fills a cache line.
struct alignas(64) WideEntry {
  std::uint64_t key[4];
  std::uint64_t count;
};

// 33 bytes and more; bytes are copied to the table's arena.
struct LongEntry {
  const char* bytes;  // null is empty
  std::uint64_t length;
  std::uint64_t hash;
  std::uint64_t count;
};

// Open addressing, linear probing, at most half full; the home slot is the hash's top bits, so
// that entries lie in hash order: a table doubles in place, and two merge in one sequential pass.
// Slots go on past `capacity`, so that probing needs no wrap.
template <typename Entry>
struct Table {
  Entry* entries;
  std::uint64_t capacity;
  std::uint64_t size;
  std::uint32_t shift;  // home slot = hash >> shift
};

struct WordTables {
  Table<ShortEntry> shorts;
  Table<MediumEntry> mediums;
  Table<WideEntry> wides;
  Table<LongEntry> longs;
  char* arena;
  std::size_t arena_left;
  std::uint64_t words;
  void* scratch;  // of the kernel
};

struct Variant {
  bool lower_case = false;        // ASCII letters only
  std::uint32_t longer_than = 0;  // bytes
};

// Counts the words of text[0, size), where both ends are word borders; size < 2^31.
// 64 bytes past the end must be readable (their values do not matter).
using CountFunction = void (*)(WordTables& tables, const char* text, std::size_t size,
                               const Variant& variant);

namespace v2 {
void count(WordTables& tables, const char* text, std::size_t size, const Variant& variant);
}
namespace v5 {  // v4 and VBMI2
void count(WordTables& tables, const char* text, std::size_t size, const Variant& variant);
}
namespace v3 {
void count(WordTables& tables, const char* text, std::size_t size, const Variant& variant);
}
namespace v4 {
void count(WordTables& tables, const char* text, std::size_t size, const Variant& variant);
}

// In handwritten_tables.cpp: the slow paths, outside the kernel's copies.
void* allocate_zeroed(std::size_t size_bytes);  // huge pages where the kernel grants them
void release(void* memory, std::size_t size_bytes);
void prepare(WordTables& tables);
void grow(Table<ShortEntry>& table);
void grow(Table<MediumEntry>& table);
void grow(Table<WideEntry>& table);
void grow(Table<LongEntry>& table);
void add_long(WordTables& tables, const char* bytes, std::size_t length, std::uint64_t count,
              const Variant& variant);

// `static`: each kernel copy keeps its own.
static inline std::uint64_t hash_short(std::uint64_t key) {
  return (key ^ (key >> 29)) * hash_multiplier;
}

static inline std::uint64_t hash_medium(std::uint64_t low, std::uint64_t high) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = static_cast<Wide>(low ^ 0xa0761d6478bd642f) * (high ^ 0xe7037ed1a0b428db);
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}

static inline std::uint64_t hash_wide(const std::uint64_t* key) {
  return hash_medium(key[0] ^ hash_medium(key[1], key[2]), key[3] + 1);
}

// For the parts outside the kernel.
inline bool is_empty(const ShortEntry& entry) { return entry.key == 0; }
inline bool is_empty(const MediumEntry& entry) { return entry.high == 0; }
inline bool is_empty(const WideEntry& entry) { return entry.key[0] == 0; }
inline bool is_empty(const LongEntry& entry) { return entry.bytes == nullptr; }
inline std::uint64_t hash_of(const ShortEntry& entry) { return hash_short(entry.key); }
inline std::uint64_t hash_of(const MediumEntry& entry) {
  return hash_medium(entry.low, entry.high);
}
inline std::uint64_t hash_of(const WideEntry& entry) { return hash_wide(entry.key); }
inline std::uint64_t hash_of(const LongEntry& entry) { return entry.hash; }

}  // namespace handwritten
