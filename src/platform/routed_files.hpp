// RoutedFiles: the file system's files, and those of object stores, by the scheme of their paths.
//
// An object store is loaded when a path asks for it first (plugins.hpp); a failure is
// not kept, so that a library that has been installed since is found. (Linux form only.)
//
// Thread: as Files.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "platform/linux_files.hpp"

namespace hummer {

class RoutedFiles final : public Files {
 public:
  // `guard_mappings`: see LinuxPlatformOptions.
  explicit RoutedFiles(bool guard_mappings) : disk_(guard_mappings) {}

  Result<std::unique_ptr<ReadableFile>> open_for_reading(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> open_for_writing(const std::string& path,
                                                         WriteMode mode) override;
  Result<std::unique_ptr<UpdatableFile>> open_for_updating(const std::string& path,
                                                           bool create) override;
  Result<std::unique_ptr<FileLock>> lock(const std::string& path) override;
  Result<FileInformation> stat(const std::string& path) override;
  Result<std::vector<std::string>> list_directory(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status rename_new(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Result<bool> make_directory(const std::string& path) override;
  Status sync_directory(const std::string& path) override;
  Result<ObjectStore*> object_store(const std::string& path) override;

 private:
  Result<Files*> files_of(const std::string& path);

  LinuxFiles disk_;
  std::mutex mutex_;
  std::map<std::string, std::unique_ptr<Files>> object_stores_;  // by scheme
};

}  // namespace hummer
