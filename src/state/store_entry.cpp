#include <hummer/detail/state/store_entry.hpp>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/ordered_key.hpp>

namespace hummer {

std::string_view KeyForm::bytes(const StoreEntry& entry) const {
  if (!by_value()) return static_cast<const TextEntry&>(entry).text;
  // The lower ones: little-endian.
  return {reinterpret_cast<const char*>(&static_cast<const IntegerEntry&>(entry).number),
          integer_bytes};
}

std::uint64_t KeyForm::hash(const StoreEntry& entry) const {
  if (!by_value()) return static_cast<const TextEntry&>(entry).hash;
  if (integer_bytes == sizeof(std::uint64_t)) {
    return hash_u64(static_cast<const IntegerEntry&>(entry).number);
  }
  return hash_bytes(bytes(entry).data(), integer_bytes);
}

std::uint64_t KeyForm::prefix(const StoreEntry& entry) const {
  if (!by_value()) return first_bytes(static_cast<const TextEntry&>(entry).text);
  constexpr std::uint64_t sign_bit = std::uint64_t{1} << 63;
  return static_cast<const IntegerEntry&>(entry).number ^ (is_signed ? sign_bit : 0);
}

bool KeyForm::before(const StoreEntry& a, const StoreEntry& b) const {
  if (by_value()) return prefix(a) < prefix(b);
  return static_cast<const TextEntry&>(a).text < static_cast<const TextEntry&>(b).text;
}

std::string KeyForm::ordered(const StoreEntry& entry) const {
  if (!by_value()) return static_cast<const TextEntry&>(entry).text;
  const std::uint64_t bytes = __builtin_bswap64(prefix(entry));
  return std::string(reinterpret_cast<const char*>(&bytes), sizeof bytes);
}

}  // namespace hummer
