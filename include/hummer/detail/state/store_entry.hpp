// StoreEntry: an entry of a KeyedStore, and KeyForm: how its key is read by code that does not know
// the key's type.
//
// The key lies behind the entry's head: an integer as a number (IntegerEntry), text as it is, any
// other key's canonical bytes (TextEntry) with the key itself behind them (EncodedEntry). The cells
// of the states follow, at places that the store gives them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>

#include <hummer/detail/state/keyed_backend.hpp>

namespace hummer {

struct TimersOfKey;

// What KeyedSpill notes of an entry.
struct SpillMarks {
  std::uint32_t heap_bytes = 0;  // as counted
  bool touched = false;          // since the clock's hand came by
  bool on_disk = false;          // there is a version of it, too
};

struct StoreEntry : KeyedEntry {
  TimersOfKey* timers = nullptr;  // null: none
  SpillMarks marks;
};
struct IntegerEntry : StoreEntry {
  std::uint64_t number = 0;  // with its sign
};
struct TextEntry : StoreEntry {
  std::string text;
};
template <typename K>
struct EncodedEntry : TextEntry {
  K key{};
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
  // The order of keys (OrderedKey in ordered_key.hpp): a number that decides most of the time, then
  // the bytes.
  std::uint64_t prefix(const StoreEntry& entry) const;
  bool before(const StoreEntry& a, const StoreEntry& b) const;
  std::string ordered(const StoreEntry& entry) const;
};

}  // namespace hummer
