// How many of its drawn cases a test takes in this build.
//
// Release takes them all. Under sanitizers, where tests are compiled without optimising, one case
// takes some thirty times as long; what sanitizers look for shows in a few of them as well.
//
//   for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) ...
#pragma once

#include <cstdint>

namespace hummer {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool under_sanitizers = true;
#else
constexpr bool under_sanitizers = false;
#endif

constexpr std::uint64_t drawn_cases(std::uint64_t in_release) {
  return under_sanitizers ? (in_release + 5) / 6 : in_release;
}

}  // namespace hummer
