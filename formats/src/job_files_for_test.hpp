// What tests of jobs over formats share: files on a simulated disk, and options for it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include <hummer/formats/csv.hpp>
#include <hummer/hummer.hpp>

#include "platform/simulation.hpp"

namespace hummer::formats {

inline void put_file(SimulatedPlatform& node, const std::string& path, const std::string& text) {
  const std::string folder = path.substr(0, path.rfind('/'));
  ASSERT_TRUE(node.files().create_directories(folder).ok());
  auto file = node.files().open_for_writing(path, WriteMode::truncate);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  ASSERT_TRUE((*file)->append(text).ok());
  ASSERT_TRUE((*file)->close().ok());
}

inline std::string get_file(SimulatedPlatform& node, const std::string& path) {
  auto file = node.files().open_for_reading(path);
  if (!file.ok()) return file.status().to_string();
  std::string text((*file)->size_bytes(), ' ');
  EXPECT_TRUE((*file)->read_at(0, text).ok());
  return text;
}

inline EnvironmentOptions on(SimulatedPlatform& node, int parallelism = 1,
                             std::uint32_t batch_records = 1024) {
  EnvironmentOptions options;
  options.platform = &node;
  options.parallelism = parallelism;
  options.batch_records = batch_records;
  return options;
}

}  // namespace hummer::formats
