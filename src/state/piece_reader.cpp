#include "state/piece_reader.hpp"

#include <utility>

namespace hummer {

Result<std::unique_ptr<PieceReader>> PieceReader::open(Files& files, const std::string& path,
                                                       std::uint64_t at, std::uint64_t bytes,
                                                       std::shared_ptr<MemoryAccount> memory) {
  Result<SnapshotFileReader> file = SnapshotFileReader::open(files, path);
  if (!file.ok()) return file.status();
  file->go_to(at);
  return std::unique_ptr<PieceReader>(
      new PieceReader(std::move(*file), path, bytes, std::move(memory)));
}

std::string_view PieceReader::next(std::string_view rest, std::size_t length) {
  if (length > rest.size() + left_ || !failure_.ok()) return {};
  std::string& bytes = parts_.emplace_back(rest);
  SnapshotPart part;
  while (bytes.size() < length) {
    const Result<bool> more = file_.next_part(part);
    if (!more.ok()) failure_ = more.status();
    if (more.ok() && (!*more || part.bytes.size() > left_)) {
      failure_ = {ErrorCode::corrupt_file, "snapshot file '" + path_ + "' has changed"};
    }
    if (!failure_.ok()) return {};
    bytes.append(part.bytes);
    left_ -= part.bytes.size();
  }
  count(held_bytes_ + bytes.capacity());
  return bytes;
}

void PieceReader::let_go() {
  if (parts_.size() < 2) return;
  while (parts_.size() > 1) parts_.pop_front();
  count(parts_.back().capacity());
}

// It counts all the same where there is no room: the operators put more on disk then.
void PieceReader::count(std::size_t held_bytes) {
  held_bytes_ = held_bytes;
  if (memory_ != nullptr) (void)memory_->set_own(held_bytes);
}

}  // namespace hummer
