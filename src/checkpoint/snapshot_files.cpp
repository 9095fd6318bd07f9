#include "checkpoint/snapshot_files.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr std::size_t least_segment_bytes = std::size_t{20} << 20;

}  // namespace

Status SnapshotFiles::begin(Task& task, const Writer& of, std::uint64_t checkpoint,
                            const std::string& path) {
  task.checkpoint = checkpoint;
  task.writer.reset();
  task.part.reset();
  task.piece_under_way = false;
  SnapshotFileHead head;
  head.job = job_;
  head.checkpoint = checkpoint;
  head.vertex = of.vertex;
  head.subtask = of.subtask;
  head.parallelism = of.parallelism;
  const Result<ObjectStore*> store = files_.object_store(path);
  if (!store.ok()) return store.status();
  if (*store != nullptr) return begin_part(task, **store, head, path);
  // A TaskManager that was cut off may write for a number that another attempt uses. Whose file is
  // there first keeps it; without the other's the checkpoint is given up, which is no mistake.
  const std::string name = path + "/" + CheckpointStore::file_name(of.vertex, of.subtask);
  auto writer = SnapshotFileWriter::create(files_, name, head, WriteMode::create_new);
  if (writer.status().code() == ErrorCode::invalid_argument) {
    return {ErrorCode::io_error,
            "snapshot file '" + name + "' is there already, of another attempt"};
  }
  if (!writer.ok()) return writer.status();
  task.writer = std::move(*writer);
  return {};
}

std::size_t SnapshotFiles::reserve_segment() {
  if (process_memory_ == nullptr || !process_memory_->limited()) return most_segment_bytes;
  const std::size_t bytes =
      std::clamp(process_memory_->limit_bytes() / 8, least_segment_bytes, most_segment_bytes);
  if (segment_memory_ == nullptr) {
    segment_memory_ = process_memory_->make_child("segments of checkpoints");
    // Who grows beyond the limit fails; what it has to be is no reason to.
    (void)segment_memory_->set_own(bytes);
  }
  return bytes;
}

Status SnapshotFiles::begin_part(Task& task, ObjectStore& store, const SnapshotFileHead& head,
                                 const std::string& path) {
  if (segments_ == nullptr || segments_of_ != head.checkpoint) {
    // Files of earlier checkpoints are over.
    for (auto& [name, other] : tasks_) {
      other.writer.reset();
      other.part.reset();
    }
    segments_ = std::make_unique<SegmentWriter>(
        store, path, fmt::format("{}-{:016x}", attempt_, random_.next()), reserve_segment());
    segments_of_ = head.checkpoint;
  }
  task.part = segments_->begin();
  auto writer = SnapshotFileWriter::create(segments_->open(task.part), head);
  if (!writer.ok()) return writer.status();
  task.writer = std::move(*writer);
  return {};
}

Status SnapshotFiles::flush() { return segments_ == nullptr ? Status() : segments_->flush(); }

Result<std::optional<CheckpointFile>> SnapshotFiles::add(const Writer& of, std::uint64_t checkpoint,
                                                         const std::string& path,
                                                         const TaskSnapshot& snapshot) {
  Task& task = tasks_[{of.vertex, of.subtask}];
  if (task.checkpoint != checkpoint) HUMMER_TRY(begin(task, of, checkpoint, path));
  if (!task.writer) return std::optional<CheckpointFile>();
  const auto fail = [&](const Status& status) {
    task.writer.reset();
    task.part.reset();
    return status;
  };
  for (const SnapshotPiece& piece : snapshot.pieces) {
    Status status;
    if (task.piece_under_way) {
      status = task.writer->add(piece.uid, piece.bytes, piece.goes_on, piece.blocks);
    } else {
      if (!piece.delta && !piece.in_flight) task.last_whole[piece.uid] = checkpoint;
      const auto first = static_cast<char>(
          piece.in_flight ? piece_in_flight
                          : (piece.ended ? piece_ended : 0) | (piece.delta ? piece_is_delta : 0));
      std::vector<KeyGroupBlock> blocks = piece.blocks;
      for (KeyGroupBlock& block : blocks) {
        ++block.begin;
        ++block.end;
      }
      status = task.writer->add(piece.uid, first + piece.bytes, piece.goes_on, blocks);
    }
    if (!status.ok()) return fail(status);
    task.piece_under_way = piece.goes_on;
  }
  if (!snapshot.complete) return std::optional<CheckpointFile>();
  const Result<SnapshotFileSummary> summary = task.writer->finish();
  if (!summary.ok()) return fail(summary.status());
  task.writer.reset();
  CheckpointFile file;
  file.name = CheckpointStore::file_name(of.vertex, of.subtask);
  if (task.part != nullptr) {
    Result<std::string> name = segments_->end(*std::exchange(task.part, nullptr));
    if (!name.ok()) return name.status();
    file.name = std::move(*name);
  }
  file.vertex = of.vertex;
  file.subtask = of.subtask;
  file.bytes = summary->bytes;
  file.hash = summary->hash;
  std::uint64_t oldest = checkpoint;
  for (const auto& [uid, whole] : task.last_whole) oldest = std::min(oldest, whole);
  if (oldest != checkpoint) file.builds_on = oldest;
  return std::optional(std::move(file));
}

}  // namespace hummer
