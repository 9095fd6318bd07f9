// LocalFileStore: the FileStore of a directory, local or mounted
// (hummer/detail/file_store.hpp has the contract).
//
//   <directory>/.hummer/<name>.pending   an upload; <name>: the last part of its file's name
//   <directory>/.hummer/<name>.whole     of a saved one, the bytes that count: a copy, since who
//                                        began it may still write to the first
//   <directory>/<name>                   published
//
// All pending files lie in one directory, so that what earlier attempts left is found without
// looking through every partition; a rename needs both to be on one file system. A file's version
// is a hash of its first and last 4 KiB: it tells other content where times were set alike. Copies
// on several machines count as the same if they keep their time (cp -p, rsync -t).
//
// Durability: what finish, save, put and publish have answered survives a power cut: bytes are
// synced before names, and names by their directories.
//
// Thread: one at a time.
#pragma once

#include <memory>
#include <string>

#include <hummer/detail/file_store.hpp>

#include "platform/platform.hpp"

namespace hummer {

// Below the directory that is written to: uploads and notes.
inline constexpr std::string_view own_folder = ".hummer";

class LocalFileStore final : public FileStore {
 public:
  explicit LocalFileStore(Files& files) : files_(files) {}

  Result<std::unique_ptr<FileLister>> list(const std::string& directory,
                                           std::function<void()> wake) override;
  Result<StoredFile> look_at(const std::string& path) override;
  Result<std::unique_ptr<StoreReader>> open(const StoredFile& file,
                                            std::function<void()> wake) override;
  bool files_appear_whole() const override { return false; }

  Status prepare_directory(const std::string& directory) override;
  Result<std::unique_ptr<FileUpload>> begin_upload(const std::string& directory,
                                                   const std::string& name) override;
  bool can_save() const override { return true; }
  Result<std::string> finish_saved(const std::string& token) override;
  Status publish(const std::string& handle) override;
  Status abort(const std::string& handle) override;
  Result<std::vector<PendingUpload>> pending_uploads(const std::string& directory) override;
  Status hide(const std::string& path, const std::string& to) override;

  Status put(const std::string& path, std::string_view bytes) override;
  Result<std::string> get(const std::string& path, std::size_t most_bytes) override;
  Result<std::vector<std::string>> notes(const std::string& directory,
                                         const std::string& folder) override;

 private:
  Status copy_begin(const std::string& from, const std::string& to, std::uint64_t bytes);

  Files& files_;
};

}  // namespace hummer
