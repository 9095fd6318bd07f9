// What the tests of formats are given: golden files of other programs (formats/golden).
#pragma once

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

#include "support/test_paths.hpp"

namespace hummer::formats {

inline std::string golden_path(const std::string& name) { return test_path("golden") + "/" + name; }

// A test, or a program, that misses one ends.
inline std::string golden_text(const std::string& name) {
  std::ifstream file(golden_path(name), std::ios::binary);
  if (!file) throw std::runtime_error("no golden file " + golden_path(name));
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace hummer::formats
