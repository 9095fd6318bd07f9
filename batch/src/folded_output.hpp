// FoldedOutput: what is emitted into it is folded by key (hummer/batch/folder.hpp), in a table of a
// fixed size. When the table is full, what is in it goes to an output, and it begins anew.
//
//   FoldedOutput folded(folder, FoldedOutput::Form::partial, bytes, output);
//   folded.emit(key, value); ...
//   HUMMER_TRY(folded.end());           // the rest goes to the output, too
//
// Entries go out in the form `partial`, to be folded again, or `final`, as results: where records
// come sorted by key a full table means that all keys in it are complete, as the next one is a new
// one.
//
// Thread: one. `folder` and `output` outlive it. Errors: those of the folder and the output;
// limit_exceeded, a key that is larger than the table.
#pragma once

#include <cstdint>
#include <memory>

#include <hummer/batch/folder.hpp>
#include <hummer/batch/record_output.hpp>

namespace hummer::batch {

class FoldedOutput final : public MapOutput {
 public:
  enum class Form : std::uint8_t { partial, final };

  FoldedOutput(Folder& folder, Form form, std::size_t memory_bytes, RecordOutput& output);

  // Once, either of them; the second in another form, to another output.
  Status end() { return end(form_, output_); }
  Status end(Form form, RecordOutput& output);
  // Whether entries went out ahead of the end.
  bool was_full() const { return was_full_; }
  // Entries that went out; sorted, or without that the table was full, as many as keys.
  std::uint64_t entries() const { return handed_over_; }

 protected:
  Status take(std::span<const RecordView> records) override;
  Status take_keys(std::span<const std::string_view> keys, std::string_view value) override;

 private:
  // `fold(records)` folds them from the first on: how many.
  template <typename Record, typename Fold, typename KeyBytes>
  Status fold_all(std::span<const Record> records, Fold&& fold, KeyBytes&& key_bytes);
  // Hands over what is in the table, which is empty then.
  Status hand_over(Form form, RecordOutput& output);

  const Form form_;
  RecordOutput& output_;
  const std::unique_ptr<FoldTable> table_;
  std::uint64_t handed_over_ = 0;
  bool was_full_ = false;
};

}  // namespace hummer::batch
