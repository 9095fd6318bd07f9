// FoldedOutput: what is emitted into it is folded by key (hummer/batch/folder.hpp), in a table of a
// fixed size.
//
// On the map side the table is emitted to `output` when it is full, and begins anew; end() emits the
// rest. On the reduce side there is one result per key, so what does not fit is limit_exceeded.
//
// Thread: one. `folder` and `output` outlive it.
#pragma once

#include <cstdint>
#include <vector>

#include <hummer/batch/folder.hpp>
#include <hummer/batch/record_output.hpp>

#include "fold_table.hpp"

namespace hummer::batch {

class FoldedOutput final : public MapOutput {
 public:
  enum class Side : std::uint8_t { map, reduce };

  FoldedOutput(Folder& folder, Side side, std::size_t memory_bytes, RecordOutput& output);

  // Once.
  Status end();
  // Entries that were handed over: on the reduce side, of as many keys.
  std::uint64_t keys() const { return keys_; }

 protected:
  Status take(std::span<const RecordView> records) override;

 private:
  Status fold(std::span<const RecordView> records);
  // Hands over what is in the table, which is empty then.
  Status emit_table();

  Folder& folder_;
  const Side side_;
  RecordOutput& output_;
  FoldTable table_;
  std::vector<void*> states_;
  std::vector<void*> added_;
  std::vector<Folder::Entry> entries_;
  std::uint64_t keys_ = 0;
};

}  // namespace hummer::batch
