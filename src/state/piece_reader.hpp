// PieceReader: a piece of a snapshot file, block by block, so that a state need not fit into memory
// to be restored (ByteReader).
//
// Every block is checked again; the file as a whole was, when the piece was found. What is
// held is counted in `memory` while it is.
//
// Thread: one; calls block for as long as the disk takes. Errors: when fewer bytes come than there
// are, failure() says why.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include <hummer/bytes.hpp>
#include <hummer/detail/memory_account.hpp>

#include "state/snapshot_file.hpp"

namespace hummer {

class PieceReader final : public ByteSource {
 public:
  // The piece whose first block is at byte `at`, with so many bytes in all. `memory`: may be null.
  static Result<std::unique_ptr<PieceReader>> open(Files& files, const std::string& path,
                                                   std::uint64_t at, std::uint64_t bytes,
                                                   std::shared_ptr<MemoryAccount> memory);
  ~PieceReader() override { count(0); }

  std::size_t left() const override { return left_; }
  std::string_view next(std::string_view rest, std::size_t length) override;
  void let_go() override;
  const Status& failure() const { return failure_; }

 private:
  PieceReader(SnapshotFileReader file, std::string path, std::uint64_t bytes,
              std::shared_ptr<MemoryAccount> memory)
      : file_(std::move(file)), path_(std::move(path)), left_(bytes), memory_(std::move(memory)) {}
  void count(std::size_t held_bytes);

  SnapshotFileReader file_;
  const std::string path_;
  std::size_t left_;
  const std::shared_ptr<MemoryAccount> memory_;
  std::deque<std::string> parts_;
  std::size_t held_bytes_ = 0;
  Status failure_;
};

}  // namespace hummer
