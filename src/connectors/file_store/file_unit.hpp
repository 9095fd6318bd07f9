// FileUnit: what one reader of follow_files reads in a row: a file, or a split of a large plain
// one. Made by FileDiscovery, and dealt out to the ReadUnitsOperators by an exchange.
//
// A value; a line belongs to the unit in which it begins, as in from_file.
#pragma once

#include <cstdint>
#include <string>

#include <hummer/codec.hpp>
#include <hummer/files.hpp>

namespace hummer {

struct FileUnit {
  std::string path;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;
  std::string version;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

  StoredFile file() const { return {path, size_bytes, modified_ms, version}; }
};

std::shared_ptr<const OperatorFactory> make_file_discovery(std::string path, FollowOptions options);
std::shared_ptr<const OperatorFactory> make_unit_reader(FollowOptions options);

// Options that make no sense: invalid_configuration.
Status check(const FollowOptions& options);
// On standard error: for those who look later, `files_left_out` counts them.
void say_left_out(OperatorContext& context, const std::string& what);

}  // namespace hummer
