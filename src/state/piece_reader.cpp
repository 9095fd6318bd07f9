#include "state/piece_reader.hpp"

#include <utility>

namespace hummer {

Result<std::unique_ptr<PieceReader>> PieceReader::open(Files& files, const PiecePlace& place,
                                                       const KeyGroups& wanted,
                                                       std::shared_ptr<MemoryAccount> memory) {
  Result<SnapshotFileReader> file = SnapshotFileReader::open(files, place.path);
  if (!file.ok()) return file.status();
  return std::unique_ptr<PieceReader>(
      new PieceReader(std::move(*file), place, wanted, std::move(memory)));
}

PieceReader::PieceReader(SnapshotFileReader file, const PiecePlace& place, const KeyGroups& wanted,
                         std::shared_ptr<MemoryAccount> memory)
    : file_(std::move(file)),
      path_(place.path),
      uid_(place.uid),
      indexed_(!place.blocks.empty()),
      memory_(std::move(memory)) {
  if (!indexed_) {
    left_ = place.bytes;
    file_.advise_sequential();
    file_.go_to(place.at);
    return;
  }
  for (const SnapshotIndex::Block& block : place.blocks) {
    if (!block.groups.all() && !block.groups.overlaps(wanted)) continue;
    blocks_.push_back(block);
    left_ += block.bytes;
  }
  if (blocks_.size() == place.blocks.size()) file_.advise_sequential();
}

std::uint64_t PieceReader::end_of(const SnapshotIndex::Block& block) const {
  return SnapshotFileReader::end_of_block(block.at, uid_, block.bytes);
}

// Where blocks were left out, nothing is read ahead beyond those that lie in a row.
Result<bool> PieceReader::next_part(SnapshotPart& part) {
  if (!indexed_) return file_.next_part(part);
  if (next_block_ == blocks_.size()) return false;
  const SnapshotIndex::Block& block = blocks_[next_block_];
  if (next_block_ == 0 || end_of(blocks_[next_block_ - 1]) != block.at) {
    std::size_t last = next_block_;
    while (last + 1 < blocks_.size() && end_of(blocks_[last]) == blocks_[last + 1].at) ++last;
    file_.go_to(block.at);
    file_.read_ahead_until(end_of(blocks_[last]));
  }
  ++next_block_;
  Result<bool> more = file_.next_part(part);
  if (!more.ok() || !*more) return more;
  if (part.uid != uid_ || part.check != block.check) return false;
  keys_.at_hand = block.groups;
  return true;
}

std::string_view PieceReader::next(std::string_view rest, std::size_t length) {
  if (length > rest.size() + left_ || !failure().ok()) return {};
  std::string& bytes = parts_.emplace_back(rest);
  SnapshotPart part;
  while (bytes.size() < length) {
    const Result<bool> more = next_part(part);
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

Status PieceReader::failure() const {
  if (!failure_.ok() || !keys_.contradicted) return failure_;
  return {ErrorCode::corrupt_file,
          "snapshot file '" + path_ + "': in the piece '" + uid_ +
              "' a key lies in a block that is said to hold none of its key group"};
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
