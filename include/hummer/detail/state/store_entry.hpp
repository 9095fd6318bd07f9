// StoreEntry: an entry of a KeyedStore, and KeyForm: how its key is read by code that does not know
// the key's type.
//
// The key lies behind the entry's head: an integer as a number (IntegerEntry), text as it is, any
// other key's canonical bytes (TextEntry) with the key itself behind them (EncodedEntry). What not
// every store needs (EntryParts) and the cells of the states follow, at places that the store gives
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <hummer/detail/state/keyed_backend.hpp>

namespace hummer {

struct TimersOfKey;

struct StoreEntry : KeyedEntry {};
struct IntegerEntry : StoreEntry {
  std::uint64_t number = 0;  // with its sign
};
struct TextEntry : StoreEntry {
  std::uint64_t hash = 0;
  std::string text;
};
template <typename K>
struct EncodedEntry : TextEntry {
  K key{};
};

// Where in an entry is what only some stores need, in bytes from its beginning; 0: this one does
// not.
struct EntryParts {
  std::uint32_t timers = 0;      // TimersOfKey*; null: none
  std::uint32_t heap_bytes = 0;  // u32: what it holds outside its cells, as KeyedSpill has counted

  TimersOfKey*& timers_of(StoreEntry& entry) const { return part<TimersOfKey*>(entry, timers); }
  TimersOfKey* timers_of(const StoreEntry& entry) const {
    return timers == 0 ? nullptr : timers_of(const_cast<StoreEntry&>(entry));
  }
  std::uint32_t& heap_bytes_of(StoreEntry& entry) const {
    return part<std::uint32_t>(entry, heap_bytes);
  }

 private:
  template <typename Part>
  static Part& part(StoreEntry& entry, std::uint32_t offset) {
    return *reinterpret_cast<Part*>(reinterpret_cast<char*>(&entry) + offset);
  }
};

struct KeyForm {
  std::uint8_t integer_bytes = 0;  // 0: a TextEntry
  bool is_signed = false;

  template <typename K>
  static constexpr KeyForm of() {
    if constexpr (std::is_integral_v<K>) return {sizeof(K), std::is_signed_v<K>};
    return {};
  }

  bool by_value() const { return integer_bytes > 0; }
  // What keys are told apart by: text, canonical bytes, those of an integer.
  std::string_view bytes(const StoreEntry& entry) const;
  // That of key_hash.hpp.
  std::uint64_t hash(const StoreEntry& entry) const;
  // The order of keys (OrderedKey in ordered_key.hpp): a number that decides most of the time, then
  // the bytes.
  std::uint64_t prefix(const StoreEntry& entry) const;
  bool before(const StoreEntry& a, const StoreEntry& b) const;
  std::string ordered(const StoreEntry& entry) const;
};

}  // namespace hummer
