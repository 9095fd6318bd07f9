#include <hummer/detail/state/missing_keys.hpp>

#include <algorithm>

namespace hummer {

void MissingKeys::sort() {
  const auto bytes_of = [&](const Key& key) {
    return std::string_view(bytes_).substr(key.begin, key.size);
  };
  std::sort(keys_.begin(), keys_.end(), [&](const Key& a, const Key& b) {
    return a.hash != b.hash ? a.hash < b.hash : bytes_of(a) < bytes_of(b);
  });
  keys_.erase(std::unique(keys_.begin(), keys_.end(),
                          [&](const Key& a, const Key& b) {
                            return a.hash == b.hash && bytes_of(a) == bytes_of(b);
                          }),
              keys_.end());
}

}  // namespace hummer
