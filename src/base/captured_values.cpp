#include <hummer/detail/captured_values.hpp>

namespace hummer {

CapturedValues CapturedValues::and_also(const CapturedValues& other) const {
  if (other.hash == 0) return {unknown || other.unknown, hash};
  if (hash == 0) return {unknown || other.unknown, other.hash};
  const std::uint64_t both[] = {hash, other.hash};
  return {unknown || other.unknown, hash_bytes(both, sizeof both)};
}

}  // namespace hummer
