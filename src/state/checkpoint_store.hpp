// CheckpointStore: the checkpoints of one job in one directory.
//
//   <directory>/chk-0000000007/3-0.state      of vertex 3, subtask 0 (snapshot_file.hpp)
//   <directory>/chk-0000000007/_metadata      written last
//
// The metadata also name files of earlier checkpoints, which the own ones build on. A file is there
// as long as a complete checkpoint needs it, also when its own checkpoint is there no more.
//
// A checkpoint is complete when its _metadata is there and valid: it is written under another name,
// synced and renamed, after all state files and their names are durable. So a crash at any moment
// leaves the checkpoints before it as they were, and a half-written one is never taken for whole.
// Removing goes the other way round: _metadata first.
//
// In an object store (platform/object_store.hpp) nothing is renamed or synced: an object appears
// whole, and _metadata is written where nothing has that name. What the subtasks of one process
// write lies in one object, a segment, of which the metadata name a stretch for each:
//
//   <directory>/chk-0000000007/1-0123456789abcdef.segment
//
// Savepoints have the same form, in a directory of the user's choice.
//
// Thread: any, one call at a time for each id. Errors: those of the disk; corrupt_file for what is
// there and wrong; not_found.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/status.hpp>

#include "platform/files.hpp"
#include "state/snapshot_file.hpp"

namespace hummer {

struct CheckpointOperator {
  std::string uid;
  std::string name;  // for people
  std::uint32_t vertex = 0;
  std::uint32_t parallelism = 1;
  std::uint32_t key_groups = 0;  // 0: no keyed state

  friend bool operator==(const CheckpointOperator&, const CheckpointOperator&) = default;
};

struct CheckpointFile {
  // In its checkpoint's directory: "3-0.state", or a stretch of a segment, "….segment@AT+BYTES"
  // (platform/object_files.hpp).
  std::string name;
  std::uint32_t vertex = 0;
  std::uint32_t subtask = 0;
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;
  std::uint64_t checkpoint = 0;  // the earlier one that it was written for; 0: this one
  // Pieces in it are deltas: the subtask's files from this checkpoint on are needed too; 0: none.
  std::uint64_t builds_on = 0;

  friend bool operator==(const CheckpointFile&, const CheckpointFile&) = default;
};

// What all subtasks of a source read, as it was when the run began (runtime/source_listing.hpp).
struct CheckpointListing {
  std::string uid;
  std::string bytes;

  friend bool operator==(const CheckpointListing&, const CheckpointListing&) = default;
};

struct CheckpointMetadata {
  std::uint64_t id = 0;
  std::uint64_t job = 0;
  std::string job_name;
  std::uint64_t fingerprint = 0;  // of the job graph
  bool savepoint = false;
  std::int64_t completed_ms = 0;  // since 1970
  std::vector<CheckpointOperator> operators;
  std::vector<CheckpointFile> files;  // of a subtask: in the order in which they were written
  std::vector<CheckpointListing> listings;

  std::uint64_t state_bytes() const;
  std::uint64_t written_bytes() const;  // for this one, not for those it builds on
  // Adds what the files build on, which are all of this checkpoint, from the newest complete one
  // before (null: none). not_found: it does not have them.
  Status add_earlier_files(const CheckpointMetadata* before);
  friend bool operator==(const CheckpointMetadata&, const CheckpointMetadata&) = default;
};

// Of the bytes of the piece that _metadata holds. corrupt_file, naming `path`.
Result<CheckpointMetadata> decode_metadata(std::string_view bytes, const std::string& path);

// A checkpoint that could not be used, and why.
struct SkippedCheckpoint {
  std::uint64_t id = 0;
  Status why;
};

class CheckpointStore {
 public:
  CheckpointStore(Files& files, std::string directory)
      : files_(files), directory_(std::move(directory)) {}

  std::string path_of(std::uint64_t id) const { return path_in(directory_, id); }
  static std::string path_in(const std::string& directory, std::uint64_t id);
  // Of a file of the checkpoint that lies at `path`.
  static std::string path_of(const std::string& path, const CheckpointFile& file);
  static std::string file_name(std::uint32_t vertex, std::uint32_t subtask);

  // Makes the directory; leftovers of an earlier, incomplete try are removed.
  Status begin(std::uint64_t id) { return begin_at(files_, path_of(id)); }
  // REQUIRES: all of metadata.files are finished.
  Status complete(const CheckpointMetadata& metadata) {
    return complete_at(files_, path_of(metadata.id), metadata);
  }
  // Idempotent; also of an incomplete one.
  Status remove(std::uint64_t id) { return remove_at(files_, path_of(id)); }
  // Removes all but the newest `kept` complete ones and the files that those need, and incomplete
  // ones older than those; those with numbers below `from` stay.
  Status retain(std::size_t kept, std::uint64_t from = 0);
  // All from this number on. The newest one is the last that is there: a crash leaves it or none.
  Status remove_all(std::uint64_t from);
  // Those of jobs with this name and numbers below `below`, with the files that only they need.
  Status remove_of(std::string_view job_name, std::uint64_t below);

  // Of an object store, what crashed attempts have left: directories below the newest complete
  // checkpoint's that no metadata name, in which all is older than that, and uploads that are.
  Status remove_orphans(std::int64_t modified_before_ms);

  // The same of a checkpoint or savepoint by its own directory.
  static Status begin_at(Files& files, const std::string& path);
  static Status complete_at(Files& files, const std::string& path,
                            const CheckpointMetadata& metadata);
  static Status remove_at(Files& files, const std::string& path);
  // For whoever goes on from it: what completed it may have died before its name was durable, and
  // a power cut must not take it away when more has been done on top of it.
  static Status make_durable(Files& files, const std::string& path);

  // Numbers of all that have a directory, complete or not, ascending; none when the directory is
  // missing.
  Result<std::vector<std::uint64_t>> ids() const;
  // not_found: it is not complete.
  Result<CheckpointMetadata> read(std::uint64_t id) const;
  // Of a checkpoint or savepoint by its own directory, whatever that is called; one that is called
  // after another number (chk-…) is refused.
  static Result<CheckpointMetadata> read_at(Files& files, const std::string& path);
  // Whether a directory holds a _metadata, whatever is in it.
  static bool is_checkpoint(Files& files, const std::string& path);
  // Reads one state file of the checkpoint in the directory `path`, piece by piece; compares sizes,
  // checks and hashes, and that it is of this checkpoint, vertex and subtask. `piece` may refuse.
  using VisitPiece = std::function<Status(std::string_view uid, std::string_view piece)>;
  static Status read_file(Files& files, const std::string& path, const CheckpointMetadata& metadata,
                          const CheckpointFile& file, const VisitPiece& piece);
  // The same block by block: pieces may be larger than memory.
  using VisitPart = std::function<Status(const SnapshotPart& part)>;
  static Status read_parts(Files& files, const std::string& path,
                           const CheckpointMetadata& metadata, const CheckpointFile& file,
                           const VisitPart& part);
  // A state file with its index, which is all of it that is read, and compared with what the
  // metadata know. Nothing: it is of a version without an index.
  struct IndexedFile {
    SnapshotFileReader reader;
    SnapshotIndex index;
  };
  static Result<std::optional<IndexedFile>> open_indexed(Files& files, const std::string& path,
                                                         const CheckpointMetadata& metadata,
                                                         const CheckpointFile& file);
  // Reads every file of the checkpoint in the directory `path`.
  static Status verify_at(Files& files, const std::string& path,
                          const CheckpointMetadata& metadata);
  Status verify(const CheckpointMetadata& metadata) const {
    return verify_at(files_, path_of(metadata.id), metadata);
  }
  // The newest complete and valid one with a number from `from` on, of any job or of one with this
  // name; those that were passed over go to `skipped`. Its files are read only to `verify` them.
  // not_found.
  Result<CheckpointMetadata> newest(std::vector<SkippedCheckpoint>& skipped, std::uint64_t from = 0,
                                    bool verify_files = true,
                                    const std::string& job_name = {}) const;

 private:
  // But the files whose paths are in `needed`, and their directory.
  static Status remove_at(Files& files, const std::string& path,
                          const std::set<std::string>& needed);

  Files& files_;
  std::string directory_;
};

}  // namespace hummer
