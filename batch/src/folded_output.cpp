#include "folded_output.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "guarded_call.hpp"

namespace hummer::batch {

FoldedOutput::FoldedOutput(Folder& folder, Side side, std::size_t memory_bytes,
                           RecordOutput& output)
    : folder_(folder),
      side_(side),
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
    if (side_ == Side::reduce) {
      return Status(ErrorCode::limit_exceeded,
                    fmt::format("the keys of one partition have no room in the memory of a folder, "
                                "which holds {} of them: ask for more reducers, or more memory",
                                table_.size()));
    }
    HUMMER_TRY(emit_table());
  }
  return Status();
}

Status FoldedOutput::emit_table() {
  std::size_t at = 0;
  for (;;) {
    const std::size_t count = table_.read(at, entries_);
    if (count == 0) break;
    keys_ += count;
    const auto entries = std::span<const Folder::Entry>(entries_).first(count);
    HUMMER_TRY(call_guarded("the folder", [&] {
      return side_ == Side::map ? folder_.emit(entries, output_)
                                : folder_.finish(entries, output_);
    }));
    HUMMER_TRY(Status(output_.status()));
  }
  table_.clear();
  return Status();
}

Status FoldedOutput::end() {
  flush();
  HUMMER_TRY(Status(status()));
  HUMMER_TRY(emit_table());
  output_.flush();
  return output_.status();
}

}  // namespace hummer::batch
