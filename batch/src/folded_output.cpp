#include "folded_output.hpp"

#include <fmt/format.h>

#include "guarded_call.hpp"

namespace hummer::batch {

FoldedOutput::FoldedOutput(Folder& folder, Form form, std::size_t memory_bytes,
                           RecordOutput& output)
    : form_(form), output_(output), table_(folder.make_table(memory_bytes)) {}

Status FoldedOutput::take(std::span<const RecordView> records) {
  return fold_all(
      records, [&](auto rest) { return table_->fold(rest); },
      [](const RecordView& record) { return record.key_bytes; });
}

Status FoldedOutput::take_keys(std::span<const std::string_view> keys, std::string_view value) {
  return fold_all(
      keys, [&](auto rest) { return table_->fold_keys(rest, value); },
      [](std::string_view key) { return key.size(); });
}

template <typename Record, typename Fold, typename KeyBytes>
Status FoldedOutput::fold_all(std::span<const Record> records, Fold&& fold, KeyBytes&& key_bytes) {
  for (;;) {
    std::size_t folded = 0;
    HUMMER_TRY(call_guarded("the folder", [&] {
      folded = fold(records);
      return Status();
    }));
    records = records.subspan(folded);
    if (records.empty()) return Status();
    if (table_->size() == 0) {
      return Status(ErrorCode::limit_exceeded,
                    fmt::format("a key of {} bytes has no room in the memory of a folder: give the "
                                "job more (memory)",
                                key_bytes(records.front())));
    }
    was_full_ = true;
    HUMMER_TRY(hand_over(form_, output_));
  }
}

Status FoldedOutput::hand_over(Form form, RecordOutput& output) {
  handed_over_ += table_->size();
  HUMMER_TRY(call_guarded("the folder", [&] {
    if (form == Form::partial) {
      table_->emit(output);
    } else {
      table_->finish(output);
    }
    return output.status();
  }));
  table_->clear();
  return Status();
}

Status FoldedOutput::end(Form form, RecordOutput& output) {
  flush();
  HUMMER_TRY(Status(status()));
  HUMMER_TRY(hand_over(form, output));
  output.flush();
  return output.status();
}

}  // namespace hummer::batch
