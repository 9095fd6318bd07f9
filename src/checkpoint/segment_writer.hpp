// SegmentWriter: the snapshot files of one process and checkpoint, put together in one object.
//
//   SegmentWriter segments(store, "s3://bucket/job/chk-0000000007", "1-0123456789abcdef");
//   auto part = segments.begin();
//   … SnapshotFileWriter::create(segments.open(part), head) … finish() …
//   Result<std::string> name = segments.end(*part);   // CheckpointFile::name
//   Status durable = segments.flush();                // all that have ended
//
// A request per file of a task would be the larger part of what checkpoints in an object store
// cost, in time as in money. So files are kept in memory until all tasks of the process have saved,
// and are written as one object. When together they would take more than 64 MiB, what has ended is
// written ahead, and else the largest that is under way goes on as an object of its own, in parts.
//
// `most_bytes`, where it is less than 64 MiB, is at least 20: parts of an upload have a quarter of
// it, and S3 takes none below 5. Names are drawn, so that what another attempt writes is never met.
// Lifecycle: destroyed without flush, what is in memory is gone. Thread: one. Errors: those of the
// store.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "platform/files.hpp"
#include "platform/object_store.hpp"

namespace hummer {

inline constexpr std::size_t most_segment_bytes = std::size_t{64} << 20;

class SegmentWriter {
 public:
  // `name`: drawn, of this process and checkpoint.
  SegmentWriter(ObjectStore& store, std::string directory, std::string name,
                std::size_t most_bytes = most_segment_bytes);
  ~SegmentWriter();
  SegmentWriter(const SegmentWriter&) = delete;
  SegmentWriter& operator=(const SegmentWriter&) = delete;

  // One file. Dropped without end(), it leaves nothing.
  class Part;
  using PartHandle = std::shared_ptr<Part>;
  PartHandle begin();
  // REQUIRES: once; what is appended to it is the file.
  std::unique_ptr<WritableFile> open(const PartHandle& part);
  // The whole file is there. Its name in the checkpoint.
  Result<std::string> end(Part& part);
  Status flush();

 private:
  friend class PartFile;
  Status append(Part& part, std::string_view bytes);
  Status make_room(Part& wants);
  std::string next_name();

  ObjectStore& store_;
  const std::string directory_;
  const std::string name_;
  const std::size_t most_bytes_;
  int segments_ = 0;                        // names that were given
  std::string segment_;                     // of files that have ended
  std::string segment_name_;                // empty: none has begun
  std::vector<std::weak_ptr<Part>> parts_;  // under way
  std::size_t in_memory_ = 0;               // bytes of segment_ and of parts
};

}  // namespace hummer
