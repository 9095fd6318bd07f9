#include "checkpoint/last_snapshot.hpp"

#include <span>
#include <utility>

#include <hummer/detail/key_hash.hpp>

namespace hummer {

void LastSnapshot::add(TaskSnapshot snapshot) {
  complete_ = snapshot.complete;
  for (const SnapshotPiece& piece : snapshot.pieces) {
    in_memory_ += piece.bytes.size();
    parts_.push_back({.piece = piece});
  }
  snapshot.give_back();
  if (in_memory_ > most_in_memory && failure_.ok()) failure_ = put_on_disk();
  if (!failure_.ok()) parts_.clear();
}

Status LastSnapshot::put_on_disk() {
  if (file_.writable == nullptr) {
    Result<NamelessFile> file = open_nameless(*platform_, directory_);
    if (!file.ok()) return file.status();
    file_ = std::move(*file);
  }
  for (; first_in_memory_ < parts_.size(); ++first_in_memory_) {
    Part& part = parts_[first_in_memory_];
    const std::string bytes = std::exchange(part.piece.bytes, {});
    part.at = file_.writable->size_bytes();
    part.bytes = bytes.size();
    part.hash = hash_bytes(bytes.data(), bytes.size());
    HUMMER_TRY(file_.writable->append(bytes));
  }
  in_memory_ = 0;
  return {};
}

Result<SnapshotPiece> LastSnapshot::read(const Part& part) const {
  SnapshotPiece piece = part.piece;
  if (part.bytes == 0) return piece;
  piece.bytes.resize(part.bytes);
  const Result<std::size_t> got =
      file_.readable->read_at(part.at, std::span(piece.bytes.data(), piece.bytes.size()));
  if (!got.ok()) return got.status();
  if (*got < part.bytes || hash_bytes(piece.bytes.data(), piece.bytes.size()) != part.hash) {
    return Status(ErrorCode::corrupt_file, "'" + file_.readable->path() +
                                               "' does not hold what was written to it at byte " +
                                               std::to_string(part.at));
  }
  return piece;
}

Result<CheckpointFile> LastSnapshot::write(SnapshotFiles& files, const SnapshotFiles::Writer& task,
                                           std::uint64_t checkpoint,
                                           const std::string& path) const {
  if (!failure_.ok()) return failure_.with_context("keeping the state of a task that has ended");
  for (const Part& part : parts_) {
    Result<SnapshotPiece> piece = read(part);
    if (!piece.ok()) return piece.status();
    TaskSnapshot next;
    next.complete = false;
    next.pieces.push_back(std::move(*piece));
    const auto file = files.add(task, checkpoint, path, next);
    if (!file.ok()) return file.status();
  }
  const auto file = files.add(task, checkpoint, path, TaskSnapshot{});
  if (!file.ok()) return file.status();
  if (file->has_value()) return **file;
  return Status(ErrorCode::io_error, "the task's file in '" + path + "' is over already");
}

}  // namespace hummer
