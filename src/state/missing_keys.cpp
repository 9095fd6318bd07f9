#include <hummer/detail/state/missing_keys.hpp>

#include <algorithm>
#include <span>

#include "state/sort_by_hash.hpp"

namespace hummer {

void MissingKeys::sort() {
  const auto bytes_of = [&](const Key& key) {
    return std::string_view(bytes_).substr(key.begin, key.size);
  };
  sort_by_hash(
      std::span(keys_), [](const Key& key) { return key.hash; },
      [&](const Key& a, const Key& b) {
        return a.hash != b.hash ? a.hash < b.hash : bytes_of(a) < bytes_of(b);
      });
  keys_.erase(std::unique(keys_.begin(), keys_.end(),
                          [&](const Key& a, const Key& b) {
                            return a.hash == b.hash && bytes_of(a) == bytes_of(b);
                          }),
              keys_.end());
}

bool MissingKeys::has(std::uint64_t hash, std::string_view bytes) const {
  const auto first =
      std::lower_bound(keys_.begin(), keys_.end(), hash,
                       [](const Key& key, std::uint64_t wanted) { return key.hash < wanted; });
  for (auto i = static_cast<std::size_t>(first - keys_.begin());
       i < keys_.size() && keys_[i].hash == hash; ++i) {
    if (this->bytes(i) == bytes) return true;
  }
  return false;
}

}  // namespace hummer
