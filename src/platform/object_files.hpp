// ObjectFiles: an object store as Files.
//
// A file that is written appears when it is synced or closed, whole; one that is given up never was
// there. Directories are there as soon as something is in them: making, removing and syncing one
// does nothing. rename, append, open_for_updating and lock are invalid_argument: whoever needs them
// needs a disk.
//
// A path "….segment@AT+BYTES" is the stretch of the object "….segment" with that begin and
// length, as a file that can be read (CheckpointFile::name).
//
// Cost: reading asks for 16 KiB at least; where it goes on from front to back, but for gaps that
// are smaller than that, for twice as much each time, up to 2 MiB, which each open file holds.
// Writing holds up to 16 MiB, and what is larger goes in parts of that size.
//
// Thread: as Files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/files.hpp"
#include "platform/object_store.hpp"

namespace hummer {

class ObjectFiles final : public Files {
 public:
  explicit ObjectFiles(std::unique_ptr<ObjectStore> store) : store_(std::move(store)) {}

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
  std::unique_ptr<ObjectStore> store_;
};

// A stretch of an object, as a path or a name says it.
struct ObjectStretch {
  std::string object;
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;

  std::string text() const;
};
std::optional<ObjectStretch> parse_object_stretch(std::string_view text);
// The object of a path, which may be that of a stretch.
std::string object_of(const std::string& path);

}  // namespace hummer
