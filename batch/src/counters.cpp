#include <hummer/batch/counters.hpp>

namespace hummer::batch {

Counter& Counters::counter(std::string_view group, std::string_view name) {
  auto found_group = groups_.find(group);
  if (found_group == groups_.end()) found_group = groups_.emplace(group, Group()).first;
  Group& counters = found_group->second;
  const auto found = counters.find(name);
  return found != counters.end() ? found->second : counters[std::string(name)];
}

std::uint64_t Counters::value(std::string_view group, std::string_view name) const {
  const auto found_group = groups_.find(group);
  if (found_group == groups_.end()) return 0;
  const auto found = found_group->second.find(name);
  return found == found_group->second.end() ? 0 : found->second.value();
}

void Counters::add(const Counters& others) {
  for (const auto& [group, counters] : others.groups_) {
    for (const auto& [name, other] : counters) counter(group, name).add(other.value());
  }
}

}  // namespace hummer::batch
