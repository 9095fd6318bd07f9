// PathPattern: which of the files below a directory the path of follow_files means.
//
//   "/in"             all of them
//   "/in/2026-*/a?"   in the directory "/in", those whose path begins so
//
// `*`, `?` and `[a-z]` match within one part of a path; `\` quotes. Pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace hummer {

class PathPattern {
 public:
  explicit PathPattern(const std::string& path);

  // What to list.
  const std::string& directory() const { return directory_; }
  // Of a path that listing it gave.
  bool matches(std::string_view path) const;

 private:
  std::string directory_;
  std::vector<std::string> parts_;  // behind the directory; empty: all match
};

}  // namespace hummer
