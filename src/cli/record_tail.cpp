#include "cli/record_tail.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <span>
#include <utility>

namespace hummer {
namespace {

Status too_long(std::string_view what, std::uint64_t place) {
  return {ErrorCode::limit_exceeded,
          fmt::format("the {} at byte {} has more than {} bytes", what, place, largest_unit_bytes)};
}

Status at_byte(const Status& status, std::uint64_t place) {
  return {status.code(), fmt::format("at byte {}: {}", place, status.message())};
}

// Bytes of a file from front to back, of which most are passed over.
class Window {
 public:
  Window(ReadableFile& file, std::uint64_t size, std::size_t step)
      : file_(file), size_(size), step_(step) {}

  std::uint64_t place() const { return begin_ + at_; }
  std::string_view text() const { return std::string_view(text_).substr(at_); }
  bool at_end() const { return begin_ + text_.size() >= size_; }

  Status lengthen() {
    text_.erase(0, at_);
    begin_ += std::exchange(at_, 0);
    const std::size_t before = text_.size();
    const std::uint64_t left = size_ - begin_ - before;
    text_.resize(before + static_cast<std::size_t>(std::min<std::uint64_t>(step_, left)));
    const Result<std::size_t> got =
        file_.read_at(begin_ + before, std::span(text_).subspan(before));
    if (!got.ok()) return got.status();
    if (before + *got == text_.size()) return {};
    return {ErrorCode::file_changed, "'" + file_.path() + "' became shorter as it was read"};
  }
  // REQUIRES: no more than there is of the file.
  void pass(std::uint64_t bytes) {
    if (bytes <= text_.size() - at_) {
      at_ += static_cast<std::size_t>(bytes);
      return;
    }
    begin_ = place() + bytes;
    at_ = 0;
    text_.clear();
  }

 private:
  ReadableFile& file_;
  const std::uint64_t size_;
  const std::size_t step_;
  std::uint64_t begin_ = 0;  // of text_ in the file
  std::size_t at_ = 0;       // in text_: what is passed over
  std::string text_;
};

}  // namespace

Status RecordTail::take_head() {
  const Result<std::size_t> head = reader_.begin(open_);
  if (!head.ok()) return head.status();
  needed_ = open_.size() + 1;
  if (*head == RecordReader::unknown || *head > open_.size()) {
    return open_.size() > largest_unit_bytes ? too_long("head", 0) : Status();
  }
  begun_ = true;
  open_.erase(0, *head);
  place_ += *head;
  needed_ = 1;
  return {};
}

Status RecordTail::add(std::string_view bytes) {
  open_ += bytes;
  if (open_.size() < needed_) return {};
  if (!begun_) {
    HUMMER_TRY(take_head());
    if (!begun_) return {};
  }
  std::size_t at = 0;
  needed_ = 1;
  while (at < open_.size() && !printer_.closed()) {
    const std::string_view text = std::string_view(open_).substr(at);
    const Result<RecordReader::Unit> unit = reader_.unit(text);
    if (!unit.ok()) return at_byte(unit.status(), place_ + at);
    if (unit->size == RecordReader::unknown || unit->size > text.size()) {
      needed_ = unit->size == RecordReader::unknown ? text.size() + 1 : unit->size;
      if (needed_ > largest_unit_bytes) return too_long(reader_.unit_name(), place_ + at);
      break;
    }
    take(text.substr(0, unit->size), unit->records, place_ + at);
    at += unit->size;
  }
  open_.erase(0, at);
  place_ += at;
  return {};
}

void RecordTail::take(std::string_view bytes, std::uint64_t records, std::uint64_t place) {
  if (most_ == 0) return say(bytes, place, 0);
  if (records == 0) return;
  kept_.push_back({std::string(bytes), records, place});
  records_ += records;
  while (records_ - kept_.front().records >= most_) {
    records_ -= kept_.front().records;
    kept_.pop_front();
  }
}

void RecordTail::say(std::string_view bytes, std::uint64_t place, std::uint64_t passed_over) {
  const Status status = reader_.records(bytes, [&](std::string_view json) {
    if (passed_over == 0) {
      printer_.record(json);
    } else {
      --passed_over;
    }
  });
  if (!status.ok()) {
    printer_.bad(
        fmt::format("the {} at byte {}: {}", reader_.unit_name(), place, status.message()));
  }
  if (most_ == 0) printer_.flush();
}

void RecordTail::say_kept() {
  for (const Unit& unit : kept_) {
    const std::uint64_t too_many = records_ > most_ ? records_ - most_ : 0;
    say(unit.bytes, unit.place, std::min(too_many, unit.records));
    records_ -= std::min(too_many, unit.records);
  }
  kept_.clear();
  records_ = 0;
  most_ = 0;
}

Status RecordTail::finish() {
  say_kept();
  if (printer_.closed()) return {};
  if (begun_ ? open_.empty() : open_.empty() && place_ == 0) return {};
  return {ErrorCode::corrupt_file,
          fmt::format("the {} at byte {} is not whole: it is cut short, or still being written",
                      begun_ ? reader_.unit_name() : "head", place_)};
}

Result<LastRecords> find_last_records(ReadableFile& file, std::uint64_t size, RecordReader& reader,
                                      std::uint64_t most, std::size_t step) {
  Window window(file, size, step);
  LastRecords last;
  while (true) {
    const Result<std::size_t> head = reader.begin(window.text());
    const bool whole = head.ok() && *head <= window.text().size();
    if (whole) last.head_bytes = *head;
    if (whole) break;
    if (!head.ok() || window.at_end() || window.text().size() > largest_unit_bytes) return last;
    HUMMER_TRY(window.lengthen());
  }
  window.pass(last.head_bytes);
  last.begin = last.head_bytes;
  std::deque<std::pair<std::uint64_t, std::uint64_t>> units;  // where they begin, and their records
  std::uint64_t records = 0;
  while (window.place() < size) {
    Result<RecordReader::Unit> unit = reader.unit(window.text());
    while (unit.ok() && unit->size == RecordReader::unknown && !window.at_end()) {
      HUMMER_TRY(window.lengthen());
      unit = reader.unit(window.text());
    }
    // What makes no sense is said by who reads it.
    if (!unit.ok() || unit->size > size - window.place()) break;
    if (unit->records > 0) {
      units.emplace_back(window.place(), unit->records);
      records += unit->records;
    }
    while (!units.empty() && records - units.front().second >= most) {
      records -= units.front().second;
      units.pop_front();
    }
    window.pass(unit->size);
  }
  if (!units.empty()) last.begin = units.front().first;
  return last;
}

}  // namespace hummer
