// MissingKeys: keys that have no entry in memory, looked up on disk together
// (SpilledStore::find_all).
//
//   missing.add(hash, bytes) …; missing.sort();
//   for (std::size_t i = 0; i < missing.size(); ++i) … missing.hash(i), missing.bytes(i) …
//
// `bytes` is what keys are told apart by (KeyForm::bytes); it is copied. Also a set of keys that
// are to be known again (has()). Thread: one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hummer {

class MissingKeys {
 public:
  void add(std::uint64_t hash, std::string_view bytes) {
    keys_.push_back({hash, static_cast<std::uint32_t>(bytes_.size()),
                     static_cast<std::uint32_t>(bytes.size())});
    bytes_ += bytes;
  }
  // In order of hash, then bytes, each once.
  void sort();
  // REQUIRES: sorted.
  bool has(std::uint64_t hash, std::string_view bytes) const;
  void clear() {
    keys_.clear();
    bytes_.clear();
  }

  std::size_t size() const { return keys_.size(); }
  // Of all keys; they have room for 4 GiB.
  std::size_t key_bytes() const { return bytes_.size(); }
  std::uint64_t hash(std::size_t i) const { return keys_[i].hash; }
  std::string_view bytes(std::size_t i) const {
    return std::string_view(bytes_).substr(keys_[i].begin, keys_[i].size);
  }
  std::size_t memory_bytes() const { return keys_.capacity() * sizeof(Key) + bytes_.capacity(); }

 private:
  struct Key {
    std::uint64_t hash;
    std::uint32_t begin;  // of its bytes
    std::uint32_t size;
  };
  std::vector<Key> keys_;
  std::string bytes_;
};

}  // namespace hummer
