#include "platform/files.hpp"

#include <algorithm>

#include "platform/plugins.hpp"

namespace hummer {
namespace {

// Matches one `[...]` at pattern[at] == '['. Sets `at` behind it. A bracket without end is
// an ordinary character.
bool match_bracket(std::string_view pattern, std::size_t& at, char c) {
  std::size_t i = at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '!' || pattern[i] == '^');
  if (negated) ++i;
  const std::size_t first = i;
  bool found = false;
  const auto byte = [](char character) { return static_cast<unsigned char>(character); };
  while (i < pattern.size() && (pattern[i] != ']' || i == first)) {
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      found |= byte(pattern[i]) <= byte(c) && byte(c) <= byte(pattern[i + 2]);
      i += 3;
    } else {
      found |= pattern[i] == c;
      ++i;
    }
  }
  if (i >= pattern.size()) {
    ++at;
    return c == '[';
  }
  at = i + 1;
  return found != negated;
}

std::string without_quotes(std::string_view pattern) {
  std::string plain;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    plain.push_back(pattern[i]);
  }
  return plain;
}

std::string joined(const std::string& directory, std::string_view name) {
  if (directory.empty()) return std::string(name);
  if (directory.back() == '/') return directory + std::string(name);
  return directory + "/" + std::string(name);
}

}  // namespace

std::string parent_of(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  const std::size_t slash = path.rfind('/', last);
  if (slash == path.npos) return ".";
  if (last == path.npos || slash == 0) return "/";
  return path.substr(0, slash);
}

bool has_wildcard(std::string_view pattern) {
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\') {
      ++i;
    } else if (pattern[i] == '*' || pattern[i] == '?' || pattern[i] == '[') {
      return true;
    }
  }
  return false;
}

bool matches_wildcard(std::string_view pattern, std::string_view name) {
  if (!name.empty() && name.front() == '.' && (pattern.empty() || pattern.front() != '.')) {
    return false;
  }
  // One star to come back to is enough: a later star takes over what an earlier one could do.
  std::size_t p = 0, n = 0;
  std::size_t star = std::string_view::npos, star_name = 0;
  while (n < name.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
      continue;
    }
    bool matched = false;
    std::size_t next = p;
    if (p < pattern.size()) {
      if (pattern[p] == '?') {
        matched = true;
        next = p + 1;
      } else if (pattern[p] == '[') {
        matched = match_bracket(pattern, next, name[n]);
      } else {
        const std::size_t literal = pattern[p] == '\\' && p + 1 < pattern.size() ? p + 1 : p;
        matched = pattern[literal] == name[n];
        next = literal + 1;
      }
    }
    if (matched) {
      p = next;
      ++n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

Status Files::create_directories(const std::string& path) {
  const Result<ObjectStore*> store = object_store(path);
  if (!store.ok()) return store.status();
  if (*store != nullptr) return {};
  for (std::size_t end = 1; end <= path.size(); ++end) {
    if ((end != path.size() && path[end] != '/') || path[end - 1] == '/') continue;
    const std::string part = path.substr(0, end);
    const Result<bool> made = make_directory(part);
    if (made.ok() && *made) {
      HUMMER_TRY(sync_directory(parent_of(part)));
      continue;
    }
    const Result<FileInformation> there = stat(part);
    if (there.ok() && there->is_directory) continue;
    if (!made.ok() && !there.ok()) return made.status();
    return {ErrorCode::not_a_file, "cannot create directory '" + part + "': a file has that name"};
  }
  return {};
}

Status Files::must_be_on_disk(const std::string& path, std::string_view instead) {
  const Result<ObjectStore*> store = object_store(path);
  if (!store.ok()) return store.status();
  if (*store == nullptr) return {};
  return {ErrorCode::invalid_argument,
          "'" + path + "' is in an object store: " + std::string(instead)};
}

Result<std::vector<std::string>> Files::glob(const std::string& pattern) {
  if (pattern.empty()) return Status(ErrorCode::invalid_argument, "empty file pattern");
  std::vector<std::string> found{pattern.front() == '/' ? "/" : ""};
  std::size_t at = 0;
  if (const std::string scheme = scheme_of(pattern); !scheme.empty()) {
    at = std::min(pattern.find('/', scheme.size() + 3), pattern.size());
    found = {pattern.substr(0, at)};
  }
  while (at < pattern.size()) {
    std::size_t end = pattern.find('/', at);
    if (end == std::string::npos) end = pattern.size();
    const std::string_view component = std::string_view(pattern).substr(at, end - at);
    at = end + 1;
    if (component.empty()) continue;
    std::vector<std::string> next;
    for (const std::string& directory : found) {
      if (!has_wildcard(component)) {
        const std::string path = joined(directory, without_quotes(component));
        const Status there = stat(path).status();
        if (there.ok()) {
          next.push_back(path);
        } else if (there.code() != ErrorCode::not_found) {
          return there;
        }
        continue;
      }
      const Result<std::vector<std::string>> names =
          list_directory(directory.empty() ? "." : directory);
      if (!names.ok()) {
        // What is no directory has nothing that matches; an unreadable one is a failure.
        if (names.status().code() == ErrorCode::not_found) continue;
        return names.status();
      }
      for (const std::string& name : *names) {
        if (matches_wildcard(component, name)) next.push_back(joined(directory, name));
      }
    }
    found = std::move(next);
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace hummer
