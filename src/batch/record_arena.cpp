#include "batch/record_arena.hpp"

#include <algorithm>
#include <utility>

namespace hummer::batch {
namespace {

constexpr std::size_t least_piece_bytes = 512;
constexpr std::size_t most_piece_bytes = std::size_t{256} << 10;
constexpr std::size_t least_pieces = 16;  // of one bucket that has the arena alone
constexpr std::size_t least_given_back_bytes = std::size_t{2} << 20;  // a huge page

}  // namespace

RecordArena::RecordArena(std::size_t size_bytes, std::uint32_t buckets)
    : RecordArena({std::make_shared<ZeroedPages>(size_bytes / unit * unit), 0}, size_bytes,
                  buckets) {}

RecordArena::RecordArena(ArenaMemory memory, std::size_t size_bytes, std::uint32_t buckets)
    : memory_(std::move(memory)),
      data_(static_cast<char*>(memory_.pages->data())),
      size_bytes_(size_bytes / unit * unit) {
  HUMMER_ASSERT(size_bytes >= least_bytes && buckets > 0 && memory_.begin_bytes % unit == 0 &&
                memory_.begin_bytes + size_bytes_ <= memory_.pages->size_bytes());
  const std::size_t wanted =
      std::min({size_bytes / 4 / buckets, size_bytes / least_pieces, most_piece_bytes});
  piece_bytes_ = std::max(wanted, least_piece_bytes) / unit * unit;
}

bool RecordArena::fits(std::size_t used_bytes, std::uint32_t most_records) const {
  // Until a bucket is given its next piece it may fill the one it has with the shortest records.
  const std::size_t records = most_records + piece_bytes_ / (unit + sizeof(IndexEntry));
  return memory_.begin_bytes + used_bytes < most_bytes &&
         used_bytes + records * index_bytes_per_record <= size_bytes_;
}

bool RecordArena::could_hold(std::size_t stored) const {
  return stored < size_bytes_ && fits(std::max(stored + beside_a_record, piece_bytes_), 0);
}

bool RecordArena::extend(Bucket& bucket, std::size_t stored) {
  const std::size_t size = std::max(stored + beside_a_record, piece_bytes_);
  const std::uint32_t most_records = std::max(most_records_, bucket.records);
  if (stored >= size_bytes_ || !fits(used_bytes_ + size, most_records)) return false;
  most_records_ = most_records;
  const auto piece = static_cast<std::uint32_t>((memory_.begin_bytes + used_bytes_) / unit);
  if (bucket.last_piece == Bucket::no_piece) {
    bucket.first_piece = piece;
  } else {
    PieceHead full = head_of(bucket.last_piece);
    full.next = piece;
    full.records = entries_in(bucket, full);
    std::memcpy(at(bucket.last_piece), &full, sizeof full);
  }
  const PieceHead head{Bucket::no_piece, 0, size};
  std::memcpy(at(piece), &head, sizeof head);
  bucket.last_piece = piece;
  bucket.at = at(piece) + sizeof(PieceHead);
  bucket.end = at(piece) + size;
  used_bytes_ += size;
  return true;
}

void RecordArena::clear() {
  used_bytes_ = 0;
  most_records_ = 0;
}

void RecordArena::give_back() {
  HUMMER_ASSERT(empty());
  if (size_bytes_ >= least_given_back_bytes) {
    memory_.pages->give_back(data_ + memory_.begin_bytes, size_bytes_);
  }
}

std::span<IndexEntry> RecordArena::index_room(std::uint32_t records) {
  const std::size_t bytes = records * index_bytes_per_record;
  HUMMER_ASSERT(used_bytes_ + bytes <= size_bytes_);
  char* const end = data_ + memory_.begin_bytes + size_bytes_;
  return {reinterpret_cast<IndexEntry*>(end - bytes), std::size_t{2} * records};
}

}  // namespace hummer::batch
