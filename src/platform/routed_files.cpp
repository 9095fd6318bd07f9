#include "platform/routed_files.hpp"

#include <utility>

#include "platform/object_files.hpp"
#include "platform/plugins.hpp"

namespace hummer {

Result<Files*> RoutedFiles::files_of(const std::string& path) {
  const std::string scheme = scheme_of(path);
  if (scheme.empty()) return static_cast<Files*>(&disk_);
  const std::lock_guard lock(mutex_);
  std::unique_ptr<Files>& files = object_stores_[scheme];
  if (files == nullptr) {
    const Result<const ObjectStorePlugin*> plugin = load_plugin<ObjectStorePlugin>(scheme);
    if (!plugin.ok()) return plugin.status().with_context("'" + path + "'");
    if (*plugin == nullptr) {
      return Status(ErrorCode::invalid_argument,
                    "'" + path + "': what is at " + scheme + ":// is no files");
    }
    Result<std::unique_ptr<ObjectStore>> store = (*plugin)->make();
    if (!store.ok()) return store.status().with_context("'" + path + "'");
    files = std::make_unique<ObjectFiles>(std::move(*store));
  }
  return files.get();
}

Result<std::unique_ptr<ReadableFile>> RoutedFiles::open_for_reading(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->open_for_reading(path) : files.status();
}
Result<std::unique_ptr<WritableFile>> RoutedFiles::open_for_writing(const std::string& path,
                                                                    WriteMode mode) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->open_for_writing(path, mode) : files.status();
}
Result<std::unique_ptr<UpdatableFile>> RoutedFiles::open_for_updating(const std::string& path,
                                                                      bool create) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->open_for_updating(path, create) : files.status();
}
Result<std::unique_ptr<FileLock>> RoutedFiles::lock(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->lock(path) : files.status();
}
Result<FileInformation> RoutedFiles::stat(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->stat(path) : files.status();
}
Result<std::vector<std::string>> RoutedFiles::list_directory(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->list_directory(path) : files.status();
}
Status RoutedFiles::rename(const std::string& from, const std::string& to) {
  const Result<Files*> files = files_of(from);
  return files.ok() ? (*files)->rename(from, to) : files.status();
}
Status RoutedFiles::rename_new(const std::string& from, const std::string& to) {
  const Result<Files*> files = files_of(from);
  return files.ok() ? (*files)->rename_new(from, to) : files.status();
}
Status RoutedFiles::remove(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->remove(path) : files.status();
}
Result<bool> RoutedFiles::make_directory(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->make_directory(path) : files.status();
}
Status RoutedFiles::sync_directory(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->sync_directory(path) : files.status();
}
Result<ObjectStore*> RoutedFiles::object_store(const std::string& path) {
  const Result<Files*> files = files_of(path);
  return files.ok() ? (*files)->object_store(path) : files.status();
}

}  // namespace hummer
