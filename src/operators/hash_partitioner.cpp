#include <hummer/detail/operators/hash_partitioner.hpp>

namespace hummer {

std::vector<std::uint16_t> owners_of_groups(std::uint32_t targets, std::uint32_t groups) {
  std::vector<std::uint16_t> owners;
  for (std::uint32_t group = 0; group < groups; ++group) {
    owners.push_back(static_cast<std::uint16_t>(group_owner(group, targets, groups)));
  }
  return owners;
}

}  // namespace hummer
