// What tests of restarts share: failures that come when they were planned, and what a job left.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/files.hpp"

namespace hummer {

// Throws at every `every`-th call, `left` times. Shared by all subtasks and attempts.
struct PlannedFailures {
  std::atomic<int> left{0};
  std::atomic<std::uint64_t> seen{0};
  std::uint64_t every = 0;  // 0: never

  void maybe_throw() {
    const std::uint64_t now = ++seen;
    if (every != 0 && now % every == 0 && left.fetch_sub(1) > 0) {
      throw std::runtime_error("planned");
    }
  }
};

// Lines of all visible files of a directory, sorted.
inline std::vector<std::string> visible_lines(Files& files, const std::string& directory) {
  std::vector<std::string> lines;
  const auto names = files.list_directory(directory);
  if (!names.ok()) return lines;
  for (const std::string& name : *names) {
    if (name.starts_with('.')) continue;
    auto file = files.open_for_reading(directory + "/" + name);
    std::string text((*file)->size_bytes(), ' ');
    EXPECT_TRUE((*file)->read_at(0, text).ok());
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

// Those of several directories, each behind its name; none may be empty.
inline std::vector<std::string> visible_lines_of(Files& files,
                                                 std::initializer_list<const char*> directories) {
  std::vector<std::string> all;
  for (const char* directory : directories) {
    const auto lines = visible_lines(files, directory);
    EXPECT_FALSE(lines.empty()) << directory;
    all.emplace_back(directory);
    all.insert(all.end(), lines.begin(), lines.end());
  }
  return all;
}

// The lines, sorted, of a running count of 0, 1, ... `count` - 1 by remainder of `keys`.
inline std::vector<std::string> expected_counts(std::uint64_t count, std::uint64_t keys) {
  std::vector<std::string> lines;
  for (std::uint64_t i = 0; i < count; ++i) {
    lines.push_back(std::to_string(i % keys) + "\t" + std::to_string(1 + i / keys));
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

}  // namespace hummer
