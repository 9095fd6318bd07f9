// SimulatedFiles: a disk in memory that can fill up, fail, and lose what was
// not synced; see simulation.hpp. (Simulated form only.)
//
// SimulatedDisk is the machine's; SimulatedFiles is one process's view of it and
// goes inert when its node is killed.
//
// What a power cut leaves: of the changes of names in directories that were not synced since, a
// prefix survives, as in a journal, and what is in a directory whose own name does not
// survive is gone with it; a file keeps what was synced, and of what was
// appended after that every sector of 512 bytes either made it or reads as zero, up
// to a drawn length. A file that was emptied and written anew without sync is
// either still the old one or the torn new one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "platform/files.hpp"
#include "platform/simulation.hpp"

namespace hummer {

struct SimulatedFileData {
  std::string content;
  std::string durable;
  bool emptied_since_sync = false;               // then `durable` is not a prefix of `content`
  bool updated_since_sync = false;               // written in place: likewise
  std::size_t shortest_since_sync = SIZE_MAX;    // by truncate()
  const void* lock = nullptr;                    // who holds it ...
  const SimulatedPlatform* locked_by = nullptr;  // ... in which process
  std::int64_t modified_ms = 0;
  int writers = 0;
};

struct SimulatedEntry {
  std::shared_ptr<SimulatedFileData> file;  // null: a directory
};

class SimulatedDisk {
 public:
  using Names = std::map<std::string, SimulatedEntry>;

  explicit SimulatedDisk(Simulation& simulation);

  const SimulatedEntry* find(const std::string& path) const;
  // Does it and remembers it as not yet durable.
  void put(const std::string& path, SimulatedEntry entry);
  void remove(const std::string& path);
  void rename(const std::string& from, const std::string& to);
  // Of what is in this directory.
  void sync_names(const std::string& directory);
  void crash();

  std::uint64_t used_bytes() const;
  const Names& names() const { return names_; }
  Simulation& simulation() { return simulation_; }

 private:
  struct Change {
    enum class Kind { put, remove, rename } kind;
    std::string path;
    std::string to;
    SimulatedEntry entry;
  };
  static void apply(Names& names, const Change& change);
  // Takes all else along when it becomes durable: it moves between directories, or moves whole
  // ones.
  static bool is_far(const Change& change);
  void make(Change change);
  void forget_changes();
  void tear(SimulatedFileData& file);
  void tear_updated(SimulatedFileData& file);

  Simulation& simulation_;
  Names names_;
  Names durable_names_;
  // Not durable yet, by their order; most are of directories that nobody ever syncs.
  std::map<std::uint64_t, Change> changes_;
  std::map<std::string, std::vector<std::uint64_t>> changes_within_;  // by directory
  std::uint64_t changes_made_ = 0;
  std::uint64_t far_changes_ = 0;
};

class SimulatedFiles final : public Files {
 public:
  SimulatedFiles(SimulatedPlatform& node, std::shared_ptr<SimulatedDisk> disk)
      : node_(node), disk_(std::move(disk)) {}

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

  std::shared_ptr<SimulatedDisk> disk() const { return disk_; }
  void crash() { disk_->crash(); }
  void truncate(const std::string& path, std::uint64_t size_bytes);

 private:
  Status begin(const char* what);
  // Of a change of names, or their sync: whether it may take place at all.
  Status begin_change(const char* what, const std::string& path);
  // The file at `path`, made when it is missing and `create`.
  Result<std::shared_ptr<SimulatedFileData>> open_data(const std::string& path, bool create);
  // not_found unless the directory above `path` is there.
  Status check_parent(const std::string& path, const std::string& doing) const;

  SimulatedPlatform& node_;
  std::shared_ptr<SimulatedDisk> disk_;
};

}  // namespace hummer
