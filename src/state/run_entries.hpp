// How entries lie in the blocks of a spilled run:
//
//   hash u64            unless it is that of the key's bytes (hash_bytes), and so need not be kept
//   key_bytes           LEB128
//   value_bytes + 1     LEB128; 0: the key is removed
//   key, value
//
// A key and a count of eight bytes each take 18 bytes. Blocks carry checks, so what is read is what
// was written: reading looks at no end. Thread: any.
#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include <hummer/bytes.hpp>
#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/packed_numbers.hpp>
#include <hummer/detail/state/spilled_store.hpp>

namespace hummer {

inline void write_run_entry(const SpilledEntry& entry, bool keys_are_hashed, ByteWriter& out) {
  constexpr std::size_t most_head_bytes = sizeof entry.hash + 2 * most_packed_bytes;
  const std::size_t value_bytes = entry.removed ? 0 : entry.value.size();
  const std::size_t begin = out.size();
  char* at = out.claim(most_head_bytes + entry.key.size() + value_bytes);
  const char* const from = at;
  if (!keys_are_hashed) {
    std::memcpy(at, &entry.hash, sizeof entry.hash);
    at += sizeof entry.hash;
  }
  at = pack_number(at, entry.key.size());
  at = pack_number(at, entry.removed ? 0 : value_bytes + 1);
  std::memcpy(at, entry.key.data(), entry.key.size());
  at += entry.key.size();
  if (value_bytes != 0) std::memcpy(at, entry.value.data(), value_bytes);
  at += value_bytes;
  out.rewind(begin + static_cast<std::size_t>(at - from));
}

// All but the hash where that is not kept. Answers where the next entry begins.
inline const char* read_run_entry(const char* at, bool keys_are_hashed, SpilledEntry& entry) {
  if (!keys_are_hashed) {
    std::memcpy(&entry.hash, at, sizeof entry.hash);
    at += sizeof entry.hash;
  }
  std::uint64_t key_bytes = 0;
  std::uint64_t stored = 0;
  at = unpack_number(at, key_bytes);
  at = unpack_number(at, stored);
  entry.removed = stored == 0;
  const std::size_t value_bytes = entry.removed ? 0 : stored - 1;
  entry.key = {at, key_bytes};
  entry.value = {at + key_bytes, value_bytes};
  return at + key_bytes + value_bytes;
}

// Keys of eight bytes, which the most frequent ones are, are hashed and compared without a call.
inline std::uint64_t number_of(std::string_view eight_bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, eight_bytes.data(), sizeof number);
  return number;
}
inline bool same_bytes(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  return a.size() == sizeof(std::uint64_t) ? number_of(a) == number_of(b) : a == b;
}

// Of entries read so.
inline void take_hash(bool keys_are_hashed, SpilledEntry& entry) {
  if (!keys_are_hashed) return;
  entry.hash = entry.key.size() == sizeof(std::uint64_t)
                   ? hash_u64(number_of(entry.key))
                   : hash_bytes(entry.key.data(), entry.key.size());
}

}  // namespace hummer
