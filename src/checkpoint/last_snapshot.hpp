// LastSnapshot: what a task wrote at the end of its stream. It takes part in every later checkpoint
// with that, so it is kept for as long as the attempt lasts: in memory while it is small, then in a
// file without a name, since state may be larger than memory.
//
// Lifecycle: add() part by part; write() per checkpoint once complete(). Thread: one. Errors: those
// of the disk; from the first one on every checkpoint fails with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/snapshot_files.hpp"
#include "platform/nameless_file.hpp"
#include "runtime/snapshot_piece.hpp"

namespace hummer {

class LastSnapshot {
 public:
  // `directory`: for the file.
  LastSnapshot(Platform& platform, std::string directory)
      : platform_(&platform), directory_(std::move(directory)) {}

  // Gives the memory of the parts back.
  void add(TaskSnapshot snapshot);
  bool complete() const { return complete_; }
  // Into a checkpoint's file; see SnapshotFiles::add.
  Result<CheckpointFile> write(SnapshotFiles& files, const SnapshotFiles::Writer& task,
                               std::uint64_t checkpoint, const std::string& path) const;

 private:
  struct Part {
    SnapshotPiece piece;  // without its bytes where it is on disk
    std::uint64_t at = 0;
    std::size_t bytes = 0;  // 0: in memory
    std::uint64_t hash = 0;
  };
  static constexpr std::size_t most_in_memory = std::size_t{1} << 20;

  Status put_on_disk();
  Result<SnapshotPiece> read(const Part& part) const;

  Platform* platform_;
  std::string directory_;
  std::vector<Part> parts_;
  std::size_t in_memory_ = 0;        // bytes
  std::size_t first_in_memory_ = 0;  // of the parts
  NamelessFile file_;
  Status failure_;
  bool complete_ = false;
};

}  // namespace hummer
