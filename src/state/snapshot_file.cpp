#include "state/snapshot_file.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <hummer/bytes.hpp>
#include <hummer/detail/key_hash.hpp>

namespace hummer {
namespace {

constexpr std::string_view magic = "HUMSNAP1";
constexpr std::uint32_t version = 3;
constexpr std::uint32_t version_without_index = 2;
constexpr std::size_t head_bytes = 64;
constexpr std::size_t block_head_bytes = 24;
constexpr std::size_t end_payload_bytes = 32;
constexpr std::size_t end_payload_bytes_without_index = 24;
constexpr std::size_t indexed_block_bytes = 20;
constexpr std::uint32_t last_of_piece = 1;
constexpr std::uint32_t piece_goes_on = 2;
constexpr std::uint32_t end_of_file = 3;
constexpr std::uint32_t part_of_index = 4;
constexpr std::size_t unwritten_bytes_max = 256 * 1024;

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
  return create(std::move(*file), head);
}

Result<SnapshotFileWriter> SnapshotFileWriter::create(std::unique_ptr<WritableFile> file,
                                                      const SnapshotFileHead& head) {
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
  HUMMER_TRY(file->append({bytes.data(), bytes.size()}));
  return SnapshotFileWriter(std::move(file));
}

Status SnapshotFileWriter::add(std::string_view uid, std::string_view piece, bool goes_on,
                               std::span<const KeyGroupBlock> blocks) {
  HUMMER_ASSERT(uid.size() <= max_snapshot_uid_bytes);
  std::size_t at = 0;
  for (const KeyGroupBlock& block : blocks) {
    HUMMER_ASSERT(at <= block.begin && block.begin < block.end && block.end <= piece.size());
    if (at < block.begin) {
      HUMMER_TRY(put_part(uid, piece.substr(at, block.begin - at), false, {}));
    }
    at = block.end;
    HUMMER_TRY(put_part(uid, piece.substr(block.begin, at - block.begin),
                        !goes_on && at == piece.size(), block.groups));
  }
  if (at == piece.size() && at > 0) return {};
  return put_part(uid, piece.substr(at), !goes_on, {});
}

Status SnapshotFileWriter::put_part(std::string_view uid, std::string_view part, bool last,
                                    const KeyGroups& groups) {
  if (!within_piece_) index_.pieces.push_back({std::string(uid), {}});
  within_piece_ = !last;
  do {
    const std::string_view bytes = part.substr(0, max_snapshot_block_bytes);
    part.remove_prefix(bytes.size());
    HUMMER_TRY(put_block(part.empty() && last ? last_of_piece : piece_goes_on, uid, bytes));
    index_.pieces.back().blocks.push_back(
        {0, last_check_, static_cast<std::uint32_t>(bytes.size()), groups});
  } while (!part.empty());
  return {};
}

Status SnapshotFileWriter::put_block(std::uint32_t kind, std::string_view uid,
                                     std::string_view payload) {
  const std::size_t begin = unwritten_.size();
  if (unwritten_.capacity() == 0) unwritten_.reserve(unwritten_bytes_max + unwritten_bytes_max / 4);
  unwritten_.resize(begin + block_head_bytes);
  unwritten_.append(uid);
  unwritten_.append(payload);
  const auto uid_bytes = static_cast<std::uint32_t>(uid.size());
  const std::uint64_t check =
      check_of(kind, uid_bytes, payload.size(),
               std::string_view(unwritten_).substr(begin + block_head_bytes));
  ByteWriter out{std::span<char>(unwritten_.data() + begin, block_head_bytes)};
  out.put_value(kind);
  out.put_value(uid_bytes);
  out.put_value(static_cast<std::uint64_t>(payload.size()));
  out.put_value(check);
  if (kind != end_of_file) {
    ++blocks_;
    payload_bytes_ += payload.size();
    hash_ = fold(hash_, check);
  }
  last_check_ = check;
  return unwritten_.size() < unwritten_bytes_max ? Status() : write();
}

Status SnapshotFileWriter::write() {
  HUMMER_TRY(file_->append(unwritten_));
  unwritten_.clear();
  return {};
}

Status SnapshotFileWriter::put_index() {
  std::string bytes;
  ByteWriter out(bytes);
  for (const SnapshotIndex::Piece& piece : index_.pieces) {
    out.put_text(piece.uid);
    out.put_value(static_cast<std::uint32_t>(piece.blocks.size()));
    for (const SnapshotIndex::Block& block : piece.blocks) {
      out.put_value(block.bytes);
      out.put_value(block.groups.first);
      out.put_value(block.groups.last);
      out.put_value(block.check);
    }
  }
  for (std::string_view rest = out.view(); !rest.empty();) {
    const std::string_view part = rest.substr(0, max_snapshot_block_bytes);
    rest.remove_prefix(part.size());
    HUMMER_TRY(put_block(part_of_index, {}, part));
  }
  return {};
}

Result<SnapshotFileSummary> SnapshotFileWriter::finish() {
  const std::uint64_t index_at = file_->size_bytes() + unwritten_.size();
  HUMMER_TRY(put_index());
  const std::uint64_t totals[4] = {blocks_, payload_bytes_, hash_, index_at};
  static_assert(sizeof totals == end_payload_bytes);
  HUMMER_TRY(put_block(end_of_file, {}, {reinterpret_cast<const char*>(totals), sizeof totals}));
  HUMMER_TRY(write());
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
  HUMMER_TRY(reader.read_head());
  return reader;
}

std::uint64_t SnapshotFileReader::end_of_block(std::uint64_t at, std::string_view uid,
                                               std::uint32_t bytes) {
  return at + block_head_bytes + uid.size() + bytes;
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
    const std::uint64_t wanted = ahead_until_ - std::min(ahead_until_, ahead_at_);
    ahead_.resize(
        std::max<std::size_t>(std::min<std::uint64_t>(wanted, read_ahead_bytes), rest.size()));
    const Result<std::size_t> got = file_->read_at(ahead_at_, ahead_);
    ahead_.resize(got.ok() ? *got : 0);
    if (!got.ok()) return got.status();
    bytes_read_ += *got;
    rest = rest.subspan(ahead_.copy(rest.data(), rest.size()));
  } else if (!rest.empty()) {
    const Result<std::size_t> got = file_->read_at(at_ + known.size(), rest);
    if (!got.ok()) return got.status();
    bytes_read_ += *got;
    rest = rest.subspan(*got);
  }
  if (!rest.empty()) return corrupt("the file ends too early: it is truncated");
  at_ += into.size();
  return {};
}

Status SnapshotFileReader::read_head() {
  std::array<char, head_bytes> bytes{};
  read_ahead_until(head_bytes);
  HUMMER_TRY(read_exactly(bytes));
  read_ahead_until(UINT64_MAX);
  at_ = 0;
  ByteReader in({bytes.data(), bytes.size()});
  const char* const first = in.take(magic.size());
  if (std::string_view(first, magic.size()) != magic) return corrupt("this is no snapshot file");
  std::array<std::uint64_t, 2> reserved{};
  std::uint64_t check = 0;
  const bool read = in.get_value(version_) && in.get_value(head_.vertex) &&
                    in.get_value(head_.job) && in.get_value(head_.checkpoint) &&
                    in.get_value(head_.subtask) && in.get_value(head_.parallelism) &&
                    in.get_value(reserved) && in.get_value(check);
  HUMMER_ASSERT(read && in.left() == 0);
  if (check != hash_bytes(bytes.data(), head_bytes - sizeof check)) {
    return corrupt("the check of its head differs");
  }
  if (version_ != version && version_ != version_without_index) {
    return corrupt("version " + std::to_string(version_) + "; this program reads versions " +
                   std::to_string(version_without_index) + " and " + std::to_string(version));
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
  const std::uint32_t last_kind = version_ == version ? part_of_index : end_of_file;
  if (block.kind < last_of_piece || block.kind > last_kind || uid_bytes > max_snapshot_uid_bytes ||
      payload_bytes > max_snapshot_block_bytes) {
    return corrupt("no block begins here");
  }
  block.uid_bytes = uid_bytes;
  block.check = check;
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
  if (block.kind < end_of_file) pieces_hash_ = fold(pieces_hash_, check);
  return {};
}

std::size_t SnapshotFileReader::end_bytes() const {
  return block_head_bytes +
         (version_ == version ? end_payload_bytes : end_payload_bytes_without_index);
}

// What is before it has been counted. Answers where the index begins.
Result<std::uint64_t> SnapshotFileReader::check_end(const Block& end, std::uint64_t end_at) {
  ByteReader in(end.payload());
  std::uint64_t blocks = 0;
  std::uint64_t payload_bytes = 0;
  std::uint64_t hash = 0;
  std::uint64_t index_at = end_at;
  const bool indexed = version_ == version;
  if (end.uid_bytes != 0 || !in.get_value(blocks) || !in.get_value(payload_bytes) ||
      !in.get_value(hash) || (indexed && !in.get_value(index_at)) || in.left() != 0 ||
      index_at > end_at) {
    return corrupt("its end is of another shape");
  }
  if (blocks != blocks_ || payload_bytes != payload_bytes_ || hash != hash_) {
    return corrupt("blocks are missing or not its own");
  }
  if (file_->size_bytes() != at_) return corrupt("bytes behind its end");
  end_at_ = at_;
  return index_at;
}

Result<std::uint64_t> SnapshotFileReader::decode_index(std::string_view bytes,
                                                       std::uint64_t index_at,
                                                       SnapshotIndex& index) const {
  const Status wrong = corrupt("its index is of another shape");
  ByteReader in(bytes);
  std::uint64_t at = head_bytes;
  std::uint64_t hash = 0;
  while (in.left() > 0) {
    std::string_view uid;
    std::uint32_t blocks = 0;
    if (!in.get_text(uid) || uid.size() > max_snapshot_uid_bytes || !in.get_value(blocks) ||
        blocks == 0 || blocks > in.left() / indexed_block_bytes) {
      return wrong;
    }
    SnapshotIndex::Piece& piece = index.pieces.emplace_back();
    piece.uid = uid;
    piece.blocks.resize(blocks);
    for (SnapshotIndex::Block& block : piece.blocks) {
      const bool read = in.get_value(block.bytes) && in.get_value(block.groups.first) &&
                        in.get_value(block.groups.last) && in.get_value(block.check);
      HUMMER_ASSERT(read);
      if (block.bytes > max_snapshot_block_bytes || block.groups.empty()) return wrong;
      block.at = at;
      hash = fold(hash, block.check);
      at = end_of_block(at, uid, block.bytes);
    }
  }
  if (at != index_at) return wrong;
  return hash;
}

Result<std::optional<SnapshotIndex>> SnapshotFileReader::read_index() {
  if (version_ != version) return std::optional<SnapshotIndex>();
  const std::uint64_t went_on_at = at_;
  const std::uint64_t size = file_->size_bytes();
  if (size < head_bytes + end_bytes()) return corrupt("the file ends too early: it is truncated");
  const std::uint64_t end_at = size - end_bytes();
  // The end says where the index is, and the index what the end must be.
  at_ = end_at;
  Block end;
  HUMMER_TRY(read_block(end));
  std::uint64_t index_at = 0;
  if (end.kind != end_of_file || end.uid_bytes != 0 || end.payload().size() != end_payload_bytes) {
    return corrupt("it has no end");
  }
  std::memcpy(&index_at, end.payload().data() + end_payload_bytes - sizeof index_at,
              sizeof index_at);
  if (index_at < head_bytes || index_at > end_at) return corrupt("its end is of another shape");
  std::string bytes;
  std::vector<std::uint64_t> checks;
  for (at_ = index_at; at_ < end_at;) {
    Block part;
    HUMMER_TRY(read_block(part));
    if (part.kind != part_of_index || part.uid_bytes != 0 || at_ > end_at) {
      return corrupt("its index is of another shape");
    }
    bytes.append(part.payload());
    checks.push_back(part.check);
  }
  SnapshotIndex index;
  const Result<std::uint64_t> pieces_hash = decode_index(bytes, index_at, index);
  if (!pieces_hash.ok()) return pieces_hash.status();
  blocks_ = checks.size();
  payload_bytes_ = bytes.size();
  for (const SnapshotIndex::Piece& piece : index.pieces) {
    blocks_ += piece.blocks.size();
    for (const SnapshotIndex::Block& block : piece.blocks) payload_bytes_ += block.bytes;
  }
  hash_ = *pieces_hash;
  for (const std::uint64_t check : checks) hash_ = fold(hash_, check);
  at_ = size;
  const Result<std::uint64_t> checked = check_end(end, end_at);
  if (!checked.ok()) return checked.status();
  at_ = went_on_at;
  return std::optional(std::move(index));
}

Result<bool> SnapshotFileReader::next_part(SnapshotPart& part) {
  if (ended_) return false;
  std::uint64_t begin = at_;
  HUMMER_TRY(read_block(block_));
  if (within_piece_ && (block_.kind > piece_goes_on || block_.uid() != uid_)) {
    return corrupt("the piece before this block has no end");
  }
  const std::uint64_t index_at = begin;
  std::string index_bytes;
  while (block_.kind == part_of_index) {
    if (block_.uid_bytes != 0) return corrupt("its index is of another shape");
    index_bytes.append(block_.payload());
    begin = at_;
    HUMMER_TRY(read_block(block_));
    if (block_.kind < end_of_file) return corrupt("its index is of another shape");
  }
  if (block_.kind == end_of_file) {
    const Result<std::uint64_t> said = check_end(block_, begin);
    if (!said.ok()) return said.status();
    if (*said != index_at) return corrupt("its end is of another shape");
    SnapshotIndex index;
    if (version_ == version) {
      const Result<std::uint64_t> listed = decode_index(index_bytes, index_at, index);
      if (!listed.ok()) return listed.status();
      if (*listed != pieces_hash_) return corrupt("its index is of other blocks");
    }
    ended_ = true;
    return false;
  }
  if (!within_piece_) uid_.assign(block_.uid());
  within_piece_ = block_.kind == piece_goes_on;
  part = {uid_, block_.payload(), !within_piece_, begin, block_.check};
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
