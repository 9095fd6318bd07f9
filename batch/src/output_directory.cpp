#include "output_directory.hpp"

#include <utility>

#include <fmt/format.h>

namespace hummer::batch {
namespace {

std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) path.pop_back();
  return path;
}

}  // namespace

Result<std::unique_ptr<OutputDirectory>> OutputDirectory::create(Files& files,
                                                                 const std::string& path) {
  if (path.empty()) return Status(ErrorCode::invalid_argument, "a job needs an output directory");
  HUMMER_TRY(files.must_be_on_disk(path, "name a directory on a disk, and copy it"));
  const auto there = files.stat(path);
  if (there.ok()) {
    return Status(
        ErrorCode::invalid_argument,
        fmt::format("the output directory '{}' exists: name another one, or remove it", path));
  }
  if (there.status().code() != ErrorCode::not_found) return there.status();
  std::unique_ptr<OutputDirectory> directory(
      new OutputDirectory(files, without_last_slashes(path)));
  HUMMER_TRY(files.create_directories(directory->temporary_path_));
  return directory;
}

OutputDirectory::OutputDirectory(Files& files, std::string path)
    : files_(files), path_(std::move(path)), temporary_path_(path_ + "/_temporary") {}

OutputDirectory::~OutputDirectory() {
  if (!is_published_) remove_output(files_, path_);
}

std::string OutputDirectory::part_name(const TaskContext& context) const {
  return fmt::format("part-{}-{:05}", context.kind() == TaskContext::Kind::map ? 'm' : 'r',
                     context.number());
}

Result<std::unique_ptr<WritableFile>> OutputDirectory::open_part(const TaskContext& context) {
  return files_.open_for_writing(
      fmt::format("{}/{}.{}", temporary_path_, part_name(context), context.attempt()),
      WriteMode::truncate);
}

void OutputDirectory::keep_part(const TaskContext& context) {
  const std::string name = part_name(context);
  const std::lock_guard lock(mutex_);
  kept_[name] = fmt::format("{}/{}.{}", temporary_path_, name, context.attempt());
}

Result<std::vector<std::string>> OutputDirectory::publish() {
  std::vector<std::string> paths;
  for (const auto& [name, written] : kept_) {
    paths.push_back(path_ + "/" + name);
    HUMMER_TRY(files_.rename(written, paths.back()));
  }
  remove_output(files_, temporary_path_);
  auto success = files_.open_for_writing(path_ + "/_SUCCESS", WriteMode::truncate);
  if (!success.ok()) return success.status();
  HUMMER_TRY((*success)->close());
  is_published_ = true;
  return paths;
}

// What can't be removed stays: the failure that counts is another one.
void remove_output(Files& files, const std::string& path) {
  const auto information = files.stat(path);
  if (!information.ok()) return;
  if (information->is_directory) {
    const auto names = files.list_directory(path);
    if (!names.ok()) return;
    for (const std::string& name : *names) remove_output(files, path + "/" + name);
  }
  static_cast<void>(files.remove(path).ok());
}

}  // namespace hummer::batch
