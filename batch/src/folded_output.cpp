#include "folded_output.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "guarded_call.hpp"

namespace hummer::batch {

FoldedOutput::FoldedOutput(Folder& folder, Form form, std::size_t memory_bytes,
                           RecordOutput& output)
    : folder_(folder),
      form_(form),
      output_(output),
      table_(memory_bytes, folder.state_bytes()),
      states_(FoldTable::most_records),
      added_(FoldTable::most_records),
      entries_(FoldTable::most_records) {}

Status FoldedOutput::take(std::span<const RecordView> records) {
  while (!records.empty()) {
    const auto part = records.first(std::min(records.size(), FoldTable::most_records));
    HUMMER_TRY(fold(part));
    records = records.subspan(part.size());
  }
  return Status();
}

Status FoldedOutput::fold(std::span<const RecordView> records) {
  while (!records.empty()) {
    const auto states = std::span(states_).first(records.size());
    const FoldTable::Found found = table_.look_up(records, states, added_);
    HUMMER_TRY(call_guarded("the folder", [&] {
      folder_.init(std::span(added_).first(found.added));
      return folder_.fold(records.first(found.records), states.first(found.records));
    }));
    records = records.subspan(found.records);
    if (records.empty()) break;
    if (table_.size() == 0) {
      return Status(ErrorCode::limit_exceeded,
                    fmt::format("a key of {} bytes has no room in the memory of a folder: give the "
                                "job more (memory)",
                                records.front().key_bytes));
    }
    was_full_ = true;
    HUMMER_TRY(hand_over(form_, output_));
  }
  return Status();
}

Status FoldedOutput::hand_over(Form form, RecordOutput& output) {
  std::size_t at = 0;
  for (;;) {
    const std::size_t count = table_.read(at, entries_);
    if (count == 0) break;
    handed_over_ += count;
    const auto entries = std::span<const Folder::Entry>(entries_).first(count);
    HUMMER_TRY(call_guarded("the folder", [&] {
      return form == Form::partial ? folder_.emit(entries, output)
                                   : folder_.finish(entries, output);
    }));
    HUMMER_TRY(Status(output.status()));
  }
  table_.clear();
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
