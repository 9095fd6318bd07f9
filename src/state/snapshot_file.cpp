#include "state/snapshot_file.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <hummer/bytes.hpp>
#include <hummer/detail/key_hash.hpp>

namespace hummer {
namespace {

constexpr std::string_view magic = "HUMSNAP1";
constexpr std::uint32_t version = 2;
constexpr std::size_t head_bytes = 64;
constexpr std::size_t block_head_bytes = 24;
constexpr std::size_t end_payload_bytes = 24;
constexpr std::uint32_t last_of_piece = 1;
constexpr std::uint32_t piece_goes_on = 2;
constexpr std::uint32_t end_of_file = 3;

std::uint64_t fold(std::uint64_t hash, std::uint64_t check) {
  const std::uint64_t both[2] = {hash, check};
  return hash_bytes(both, sizeof both);
}

// Over the block's head without the check, and what follows.
std::uint64_t check_of(std::uint32_t kind, std::uint32_t uid_bytes, std::uint64_t payload_bytes,
                       std::string_view rest) {
  std::array<char, 24> head{};
  ByteWriter out{std::span<char>(head)};
  out.put_value(kind);
  out.put_value(uid_bytes);
  out.put_value(payload_bytes);
  out.put_value(hash_bytes(rest.data(), rest.size()));
  return hash_bytes(head.data(), head.size());
}

}  // namespace

Result<SnapshotFileWriter> SnapshotFileWriter::create(Files& files, const std::string& path,
                                                      const SnapshotFileHead& head,
                                                      WriteMode mode) {
  auto file = files.open_for_writing(path, mode);
  if (!file.ok()) return file.status();
  std::array<char, head_bytes> bytes{};
  ByteWriter out{std::span<char>(bytes)};
  out.put(magic.data(), magic.size());
  out.put_value(version);
  out.put_value(head.vertex);
  out.put_value(head.job);
  out.put_value(head.checkpoint);
  out.put_value(head.subtask);
  out.put_value(head.parallelism);
  out.put_value(std::array<std::uint64_t, 2>{});
  out.put_value(hash_bytes(bytes.data(), out.size()));
  HUMMER_TRY((*file)->append({bytes.data(), bytes.size()}));
  return SnapshotFileWriter(std::move(*file));
}

Status SnapshotFileWriter::add(std::string_view uid, std::string_view piece, bool goes_on) {
  HUMMER_ASSERT(uid.size() <= max_snapshot_uid_bytes);
  do {
    const std::string_view part = piece.substr(0, max_snapshot_block_bytes);
    piece.remove_prefix(part.size());
    HUMMER_TRY(put_block(piece.empty() && !goes_on ? last_of_piece : piece_goes_on, uid, part));
  } while (!piece.empty());
  return {};
}

Status SnapshotFileWriter::put_block(std::uint32_t kind, std::string_view uid,
                                     std::string_view payload) {
  block_.clear();
  block_.reserve(block_head_bytes + uid.size() + payload.size());
  block_.resize(block_head_bytes);
  block_.append(uid);
  block_.append(payload);
  const auto uid_bytes = static_cast<std::uint32_t>(uid.size());
  const std::uint64_t check =
      check_of(kind, uid_bytes, payload.size(), std::string_view(block_).substr(block_head_bytes));
  ByteWriter out{std::span<char>(block_.data(), block_head_bytes)};
  out.put_value(kind);
  out.put_value(uid_bytes);
  out.put_value(static_cast<std::uint64_t>(payload.size()));
  out.put_value(check);
  if (kind != end_of_file) {
    ++blocks_;
    payload_bytes_ += payload.size();
    hash_ = fold(hash_, check);
  }
  return file_->append(block_);
}

Result<SnapshotFileSummary> SnapshotFileWriter::finish() {
  const std::uint64_t totals[3] = {blocks_, payload_bytes_, hash_};
  static_assert(sizeof totals == end_payload_bytes);
  HUMMER_TRY(put_block(end_of_file, {}, {reinterpret_cast<const char*>(totals), sizeof totals}));
  HUMMER_TRY(file_->sync());
  const SnapshotFileSummary summary{file_->size_bytes(), hash_};
  HUMMER_TRY(file_->close());
  return summary;
}

Result<SnapshotFileReader> SnapshotFileReader::open(Files& files, const std::string& path) {
  auto file = files.open_for_reading(path);
  if (!file.ok()) return file.status();
  return open(std::move(*file));
}

Result<SnapshotFileReader> SnapshotFileReader::open(std::unique_ptr<ReadableFile> file) {
  SnapshotFileReader reader(std::move(file));
  reader.file_->advise_sequential();
  HUMMER_TRY(reader.read_head());
  return reader;
}

Status SnapshotFileReader::corrupt(const std::string& what) const {
  return {ErrorCode::corrupt_file,
          "snapshot file '" + file_->path() + "' at byte " + std::to_string(at_) + ": " + what};
}

// Leaves at_ where it is when the file ends too early. Small blocks are read many at once.
Status SnapshotFileReader::read_exactly(std::span<char> into) {
  std::string_view known;
  if (at_ >= ahead_at_ && at_ - ahead_at_ < ahead_.size()) {
    known = std::string_view(ahead_).substr(at_ - ahead_at_, into.size());
  }
  known.copy(into.data(), known.size());
  std::span<char> rest = into.subspan(known.size());
  if (!rest.empty() && rest.size() < read_ahead_bytes) {
    ahead_at_ = at_ + known.size();
    ahead_.resize(read_ahead_bytes);
    const Result<std::size_t> got = file_->read_at(ahead_at_, ahead_);
    ahead_.resize(got.ok() ? *got : 0);
    if (!got.ok()) return got.status();
    rest = rest.subspan(ahead_.copy(rest.data(), rest.size()));
  } else if (!rest.empty()) {
    const Result<std::size_t> got = file_->read_at(at_ + known.size(), rest);
    if (!got.ok()) return got.status();
    rest = rest.subspan(*got);
  }
  if (!rest.empty()) return corrupt("the file ends too early: it is truncated");
  at_ += into.size();
  return {};
}

Status SnapshotFileReader::read_head() {
  std::array<char, head_bytes> bytes{};
  HUMMER_TRY(read_exactly(bytes));
  at_ = 0;
  ByteReader in({bytes.data(), bytes.size()});
  const char* const first = in.take(magic.size());
  if (std::string_view(first, magic.size()) != magic) return corrupt("this is no snapshot file");
  std::uint32_t found_version = 0;
  std::array<std::uint64_t, 2> reserved{};
  std::uint64_t check = 0;
  const bool read = in.get_value(found_version) && in.get_value(head_.vertex) &&
                    in.get_value(head_.job) && in.get_value(head_.checkpoint) &&
                    in.get_value(head_.subtask) && in.get_value(head_.parallelism) &&
                    in.get_value(reserved) && in.get_value(check);
  HUMMER_ASSERT(read && in.left() == 0);
  if (check != hash_bytes(bytes.data(), head_bytes - sizeof check)) {
    return corrupt("the check of its head differs");
  }
  if (found_version != version) {
    return corrupt("version " + std::to_string(found_version) + "; this program reads version " +
                   std::to_string(version));
  }
  at_ = head_bytes;
  return {};
}

Status SnapshotFileReader::read_block(Block& block) {
  const std::uint64_t begin = at_;
  std::array<char, block_head_bytes> bytes{};
  HUMMER_TRY(read_exactly(bytes));
  at_ = begin;  // what is wrong is wrong here
  ByteReader in({bytes.data(), bytes.size()});
  std::uint32_t uid_bytes = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t check = 0;
  const bool read = in.get_value(block.kind) && in.get_value(uid_bytes) &&
                    in.get_value(payload_bytes) && in.get_value(check);
  HUMMER_ASSERT(read);
  if (block.kind < last_of_piece || block.kind > end_of_file ||
      uid_bytes > max_snapshot_uid_bytes || payload_bytes > max_snapshot_block_bytes) {
    return corrupt("no block begins here");
  }
  block.uid_bytes = uid_bytes;
  block.bytes.resize(uid_bytes + payload_bytes);
  at_ = begin + block_head_bytes;
  HUMMER_TRY(read_exactly(block.bytes));
  if (check != check_of(block.kind, uid_bytes, payload_bytes, block.bytes)) {
    at_ = begin;
    return corrupt("the check of this block differs");
  }
  if (block.kind != end_of_file) {
    ++blocks_;
    payload_bytes_ += payload_bytes;
    hash_ = fold(hash_, check);
  }
  return {};
}

Status SnapshotFileReader::check_end(const Block& end) {
  ByteReader in(end.payload());
  std::uint64_t blocks = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t hash = 0;
  if (end.uid_bytes != 0 || !in.get_value(blocks) || !in.get_value(payload_bytes) ||
      !in.get_value(hash) || in.left() != 0) {
    return corrupt("its end is of another shape");
  }
  if (blocks != blocks_ || payload_bytes != payload_bytes_ || hash != hash_) {
    return corrupt("blocks are missing or not its own");
  }
  if (file_->size_bytes() != at_) return corrupt("bytes behind its end");
  ended_ = true;
  return {};
}

Result<bool> SnapshotFileReader::next_part(SnapshotPart& part) {
  if (ended_) return false;
  const std::uint64_t begin = at_;
  HUMMER_TRY(read_block(block_));
  if (within_piece_ && (block_.kind == end_of_file || block_.uid() != uid_)) {
    return corrupt("the piece before this block has no end");
  }
  if (block_.kind == end_of_file) {
    HUMMER_TRY(check_end(block_));
    return false;
  }
  if (!within_piece_) uid_.assign(block_.uid());
  within_piece_ = block_.kind == piece_goes_on;
  part = {uid_, block_.payload(), !within_piece_, begin};
  return true;
}

Result<bool> SnapshotFileReader::next(std::string& uid, std::string& piece,
                                      std::size_t max_piece_bytes) {
  SnapshotPart part;
  piece.clear();
  do {
    const Result<bool> more = next_part(part);
    if (!more.ok() || !*more) return more;
    if (part.bytes.size() > max_piece_bytes - piece.size()) {
      return Status(ErrorCode::limit_exceeded,
                    "snapshot file '" + file_->path() + "': the piece '" + std::string(part.uid) +
                        "' is larger than " + std::to_string(max_piece_bytes) + " bytes");
    }
    piece.append(part.bytes);
  } while (!part.last);
  uid.assign(part.uid);
  return true;
}

}  // namespace hummer
