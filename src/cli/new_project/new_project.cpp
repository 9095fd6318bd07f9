#include "cli/new_project/new_project.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "cli/new_project/project_files.hpp"

namespace hummer {
namespace {

constexpr std::size_t longest_name = 100;

// Targets that CMake makes by itself, and those of Hummer.
constexpr std::array<std::string_view, 9> taken_names = {
    "all", "clean", "edit_cache", "help", "hummer", "install", "package", "rebuild_cache", "test"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_identifier(std::string_view name) {
  return !name.empty() && is_letter(name.front()) &&
         std::all_of(name.begin(), name.end(),
                     [](char c) { return is_letter(c) || is_digit(c) || c == '_'; });
}

// The nearest name that will do; empty: there is none.
std::string proposal(std::string_view name) {
  std::string proposed;
  for (const char c : name.substr(0, longest_name)) {
    proposed += is_letter(c) || is_digit(c) ? c : '_';
  }
  proposed.erase(0, proposed.find_first_not_of('_'));
  if (!proposed.empty() && is_digit(proposed.front())) proposed.insert(0, "job_");
  return proposed;
}

Status write_whole(Files& files, const std::string& path, std::string_view text) {
  auto file = files.open_for_writing(path, WriteMode::create_new);
  if (!file.ok()) return file.status();
  HUMMER_TRY((*file)->append(text));
  return (*file)->close();
}

// An empty directory, or nothing yet.
Status check_directory(Files& files, const std::string& directory) {
  const Result<FileInformation> there = files.stat(directory);
  if (!there.ok()) {
    return there.status().code() == ErrorCode::not_found ? Status() : there.status();
  }
  if (!there->is_directory) {
    return {ErrorCode::invalid_argument,
            fmt::format("'{}' is a file; give another place with --directory", directory)};
  }
  const Result<std::vector<std::string>> names = files.list_directory(directory);
  if (!names.ok()) return names.status();
  if (names->empty()) return {};
  return {ErrorCode::invalid_argument,
          fmt::format("the directory '{}' is not empty (it has '{}'), and nothing in it is written "
                      "over; give another place with --directory, or empty it",
                      directory, names->front())};
}

}  // namespace

Status check_project_name(std::string_view name) {
  const bool taken = std::find(taken_names.begin(), taken_names.end(), name) != taken_names.end();
  if (taken) {
    return {ErrorCode::invalid_argument,
            fmt::format("a project can't be called '{}', which CMake or Hummer has a target of; "
                        "call it {}_job",
                        name, name)};
  }
  if (is_identifier(name) && name.size() <= longest_name) return {};
  const std::string proposed = proposal(name);
  return {
      ErrorCode::invalid_argument,
      fmt::format("a project can't be called '{}': files, targets and a namespace get the name, "
                  "so it begins with a letter and has letters, digits and _ only, {} of them at "
                  "most{}",
                  name, longest_name,
                  is_identifier(proposed) ? fmt::format("; call it {}", proposed) : "")};
}

Result<std::vector<std::string>> write_new_project(Files& files, const std::string& name,
                                                   const std::string& directory) {
  HUMMER_TRY(check_project_name(name));
  HUMMER_TRY(check_directory(files, directory));
  HUMMER_TRY(files.create_directories(directory));
  std::vector<std::string> written;
  for (const ProjectFile& file : project_files(name)) {
    const std::string path = directory + "/" + file.name;
    HUMMER_TRY(write_whole(files, path, file.text));
    written.push_back(path);
  }
  return written;
}

}  // namespace hummer
