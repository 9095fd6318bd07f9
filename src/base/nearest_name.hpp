// nearest_name: what somebody meant who misspelt a name.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace hummer {

// The candidate that the fewest mistakes lead from to `name` (a letter lost, added, wrong, or two
// neighbours swapped), if they are few enough for its length; else empty. Of equals the first.
std::string nearest_name(std::string_view name, std::span<const std::string> candidates);

// ", did you mean <before>NAME<after>?", or nothing when no candidate is near.
std::string suggestion(std::string_view name, std::span<const std::string> candidates,
                       std::string_view before = "'", std::string_view after = "'");

}  // namespace hummer
