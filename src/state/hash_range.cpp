#include <hummer/detail/state/hash_range.hpp>

#include <hummer/detail/key_groups.hpp>

#include "state/divide_kernels.hpp"

namespace hummer {
namespace {

// The least upper half of a hash whose key group is this one.
std::uint64_t first_of_group(std::uint64_t group, std::uint32_t groups) {
  return ((group << 32) + groups - 1) / groups;
}

}  // namespace

HashRange HashRange::of_owner(std::uint32_t owner, std::uint32_t parallelism,
                              std::uint32_t groups) {
  const KeyGroups own = KeyGroups::of_subtask(owner, parallelism, groups);
  if (own.empty()) return {};
  const std::uint64_t first = first_of_group(own.first, groups);
  const std::uint64_t end = first_of_group(std::uint64_t{own.last} + 1, groups);
  return {static_cast<std::uint32_t>(first), end - first};
}

HashDivider::HashDivider(InstructionSet level)
    : hash_numbers_(hash_numbers_function(level)),
      divide_(level >= InstructionSet::v4 ? divide_hashes_v4 : divide_hashes_v2) {}

std::size_t divide_hashes_v2(const std::uint64_t* hashes, std::size_t count, std::uint64_t first,
                             std::uint64_t size, std::uint8_t* inside, std::uint8_t* outside) {
  std::size_t of_inside = 0;
  for (std::size_t i = 0; i < count; ++i) {
    inside[of_inside] = static_cast<std::uint8_t>(i);
    outside[i - of_inside] = static_cast<std::uint8_t>(i);
    of_inside += (hashes[i] >> 32) - first < size ? 1 : 0;
  }
  return of_inside;
}

}  // namespace hummer
