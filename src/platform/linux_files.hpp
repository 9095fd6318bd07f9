// LinuxFiles: files by system calls. (Linux form only.)
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "platform/files.hpp"

namespace hummer {

class LinuxFiles final : public Files {
 public:
  // `guard_mappings`: see LinuxPlatformOptions.
  explicit LinuxFiles(bool guard_mappings);

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

 private:
  bool guard_mappings_;
};

}  // namespace hummer
