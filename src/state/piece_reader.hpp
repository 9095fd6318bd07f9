// PieceReader: a piece of a snapshot file, block by block, so that a state need not fit into memory
// to be restored (ByteReader), and need not be read where a reader wants only a part of it.
//
//   PieceReader::open(files, {path, "uid", at, bytes, blocks}, KeyGroups::of_subtask(2, 4, 1024),
//                     memory)
//
// Of a piece whose blocks are known, those come that may hold keys of the groups that are wanted,
// and those that are of no certain ones; what comes is as if the others had never been written.
// Operators write blocks of whole entries (GroupedEntries), so that is a piece with fewer of them.
//
// Every block is checked again, by what the file's index says of it too; the index, or the file as
// a whole, was when the piece was found. What is held is counted in `memory` while it is.
//
// Thread: one; calls block for as long as the disk takes. Errors: when fewer bytes come than there
// are, failure() says why; also when a key was found in a block that is said to hold none of its
// group.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/detail/key_groups.hpp>
#include <hummer/detail/memory_account.hpp>

#include "state/snapshot_file.hpp"

namespace hummer {

// Where a piece lies: the first of its blocks, how many bytes all have, and each of them where the
// file has an index.
struct PiecePlace {
  std::string path;
  std::string uid;
  std::uint64_t at = 0;
  std::uint64_t bytes = 0;
  std::vector<SnapshotIndex::Block> blocks;  // empty: they come one after the other
};

class PieceReader final : public ByteSource {
 public:
  // `wanted`: all(): everything. `memory`: may be null.
  static Result<std::unique_ptr<PieceReader>> open(Files& files, const PiecePlace& place,
                                                   const KeyGroups& wanted,
                                                   std::shared_ptr<MemoryAccount> memory);
  ~PieceReader() override { count(0); }

  std::size_t left() const override { return left_; }
  std::string_view next(std::string_view rest, std::size_t length) override;
  void let_go() override;
  Status failure() const;

  // Whoever knows the keys compares them with this.
  RestoredKeys& keys() { return keys_; }
  // So much was read of the file.
  std::uint64_t bytes_read() const { return file_.bytes_read(); }

 private:
  PieceReader(SnapshotFileReader file, const PiecePlace& place, const KeyGroups& wanted,
              std::shared_ptr<MemoryAccount> memory);
  Result<bool> next_part(SnapshotPart& part);
  std::uint64_t end_of(const SnapshotIndex::Block& block) const;
  void count(std::size_t held_bytes);

  SnapshotFileReader file_;
  const std::string path_;
  const std::string uid_;
  const bool indexed_;
  std::vector<SnapshotIndex::Block> blocks_;  // that are wanted
  std::size_t next_block_ = 0;
  std::size_t left_ = 0;
  const std::shared_ptr<MemoryAccount> memory_;
  std::deque<std::string> parts_;
  std::size_t held_bytes_ = 0;
  RestoredKeys keys_;
  Status failure_;
};

}  // namespace hummer
