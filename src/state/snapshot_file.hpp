// Snapshot file: the state of one task at the end of one epoch.
//
//   file  := head block* index end                         numbers little-endian
//   head  64 bytes: "HUMSNAP1" · version u32 (3) · vertex u32 · job u64 · checkpoint u64 ·
//         subtask u32 · parallelism u32 · reserved 16 (0) · check u64 of the 56 bytes before
//   block kind u32 (1: ends its piece, 2: the piece goes on) · uid_bytes u32 · payload_bytes u64 ·
//         check u64 · uid · payload
//   index blocks of kind u32 (4) without uid, whose payloads are in one row, for each piece: uid
//         (length u32, bytes) · blocks u32 · and of each block: payload_bytes u32 · first and last
//         key group u32, u32 (0 and all ones: of no certain ones) · check u64
//   end   kind u32 (3) · 0 u32 · payload_bytes u64 (32) · check u64 · blocks u64 · payload bytes
//         of all u64 · hash u64 · byte of the index u64
//
// check is XXH3-64 of the block from its kind to its payload, without the check; hash folds the
// checks of all blocks, with those of the index (hash = XXH3-64(hash · check), from 0). A file
// without its end, with bytes behind it, or with any check that differs is corrupt_file and names
// path and byte. A piece is what one operator wrote (Operator::snapshot); its uid says which.
// Version 2, which is read too, has no index, and an end of 24 bytes.
//
// The index lets a reader leave out blocks, and still know that those it reads are the file's own:
// their checks are in the index, and the file's hash is over these.
//
// Lengths are checked before anything is made of them: a block has at most 1 MiB of payload
// and 1 KiB of uid. Thread: one. Errors of the disk are those of platform/files.hpp.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/detail/key_groups.hpp>
#include <hummer/status.hpp>

#include "platform/files.hpp"

namespace hummer {

inline constexpr std::size_t max_snapshot_block_bytes = std::size_t{1} << 20;
inline constexpr std::size_t max_snapshot_uid_bytes = 1024;

struct SnapshotFileHead {
  std::uint64_t job = 0;
  std::uint64_t checkpoint = 0;
  std::uint32_t vertex = 0;
  std::uint32_t subtask = 0;
  std::uint32_t parallelism = 1;

  friend bool operator==(const SnapshotFileHead&, const SnapshotFileHead&) = default;
};

// What a checkpoint remembers of a file, to know it again.
struct SnapshotFileSummary {
  std::uint64_t bytes = 0;
  std::uint64_t hash = 0;

  friend bool operator==(const SnapshotFileSummary&, const SnapshotFileSummary&) = default;
};

// Where the blocks of a piece are, without having read them.
struct SnapshotIndex {
  struct Block {
    std::uint64_t at = 0;  // byte of the file
    std::uint64_t check = 0;
    std::uint32_t bytes = 0;  // of payload
    KeyGroups groups;         // all(): of no certain ones
  };
  struct Piece {
    std::string uid;
    std::vector<Block> blocks;
  };
  std::vector<Piece> pieces;
};

// add*, then finish. Destroyed without finish: the file has no end and is never taken for whole.
class SnapshotFileWriter {
 public:
  static Result<SnapshotFileWriter> create(Files& files, const std::string& path,
                                           const SnapshotFileHead& head,
                                           WriteMode mode = WriteMode::truncate);
  // Into an empty file that is open already.
  static Result<SnapshotFileWriter> create(std::unique_ptr<WritableFile> file,
                                           const SnapshotFileHead& head);

  // `goes_on`: the next call has the next part of the same piece. `blocks`: stretches of this part
  // that are of certain key groups, in order; they become blocks of their own. REQUIRES:
  // uid.size() <= max_snapshot_uid_bytes.
  Status add(std::string_view uid, std::string_view piece, bool goes_on = false,
             std::span<const KeyGroupBlock> blocks = {});
  // Durable when it returns ok; the name of the file is, once its directory is synced.
  Result<SnapshotFileSummary> finish();

 private:
  explicit SnapshotFileWriter(std::unique_ptr<WritableFile> file) : file_(std::move(file)) {}
  Status put_part(std::string_view uid, std::string_view part, bool last, const KeyGroups& groups);
  Status put_block(std::uint32_t kind, std::string_view uid, std::string_view payload);
  Status put_index();
  Status write();

  std::unique_ptr<WritableFile> file_;
  SnapshotIndex index_;
  bool within_piece_ = false;
  std::string unwritten_;  // blocks, for few calls of the system
  std::uint64_t blocks_ = 0;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t last_check_ = 0;
};

// A block of a piece; valid until the next one is read.
struct SnapshotPart {
  std::string_view uid;
  std::string_view bytes;
  bool last = false;     // of its piece
  std::uint64_t at = 0;  // byte of the file
  std::uint64_t check = 0;
};

class SnapshotFileReader {
 public:
  static Result<SnapshotFileReader> open(Files& files, const std::string& path);
  // Of a file that is open already.
  static Result<SnapshotFileReader> open(std::unique_ptr<ReadableFile> file);

  const SnapshotFileHead& head() const { return head_; }
  // The next piece, whole and checked; false at the file's end, which is then checked too.
  // `max_piece_bytes`: a longer one is limit_exceeded.
  Result<bool> next(std::string& uid, std::string& piece,
                    std::size_t max_piece_bytes = std::size_t{1} << 34);
  // The next block of a piece, checked, as next().
  Result<bool> next_part(SnapshotPart& part);
  // The next one is at this byte (SnapshotPart::at). The file's end does not agree then.
  void go_to(std::uint64_t at) {
    at_ = at;
    within_piece_ = false;
  }
  // Of a block at byte `at`.
  static std::uint64_t end_of_block(std::uint64_t at, std::string_view uid, std::uint32_t bytes);
  // Reads nothing ahead from this byte on: what lies behind it is not wanted.
  void read_ahead_until(std::uint64_t byte) { ahead_until_ = byte; }
  // It will be read from front to back, or nearly.
  void advise_sequential() { file_->advise_sequential(); }
  // Reads the end and the index, and compares them with each other; next() goes on where it was.
  // Nothing: the file is of a version without one.
  Result<std::optional<SnapshotIndex>> read_index();
  // REQUIRES: next has answered false, or read_index an index.
  SnapshotFileSummary summary() const { return {end_at_, hash_}; }
  // So much was read of the file.
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  struct Block {
    std::uint32_t kind = 0;
    std::uint64_t check = 0;
    std::size_t uid_bytes = 0;
    std::string bytes;  // uid, payload
    std::string_view uid() const { return std::string_view(bytes).substr(0, uid_bytes); }
    std::string_view payload() const { return std::string_view(bytes).substr(uid_bytes); }
  };
  explicit SnapshotFileReader(std::unique_ptr<ReadableFile> file) : file_(std::move(file)) {}
  Status read_head();
  Status read_block(Block& block);
  Status read_exactly(std::span<char> into);
  Result<std::uint64_t> check_end(const Block& end, std::uint64_t end_at);
  // Answers the hash of the blocks that it lists.
  Result<std::uint64_t> decode_index(std::string_view bytes, std::uint64_t index_at,
                                     SnapshotIndex& index) const;
  std::size_t end_bytes() const;
  Status corrupt(const std::string& what) const;

  static constexpr std::size_t read_ahead_bytes = 64 * 1024;

  std::unique_ptr<ReadableFile> file_;
  std::string ahead_;  // bytes of the file, from ahead_at_ on
  std::uint64_t ahead_at_ = 0;
  std::uint64_t ahead_until_ = UINT64_MAX;
  std::uint64_t bytes_read_ = 0;
  SnapshotFileHead head_;
  std::uint32_t version_ = 0;
  std::uint64_t at_ = 0;      // byte of the next block
  std::uint64_t end_at_ = 0;  // of the file
  std::uint64_t blocks_ = 0;
  std::uint64_t payload_bytes_ = 0;
  std::uint64_t hash_ = 0;
  std::uint64_t pieces_hash_ = 0;  // without the index
  bool ended_ = false;
  Block block_;
  bool within_piece_ = false;
  std::string uid_;  // of that
};

}  // namespace hummer
