// The environment variables of this process. (It belongs to the process as its command line does: a
// simulated node has none.)
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hummer {

// Names and values of those that begin with `prefix`, in the environment's order. Thread: while no
// other changes the environment.
std::vector<std::pair<std::string, std::string>> process_environment(std::string_view prefix);

}  // namespace hummer
