#include "text_reader.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "batch/big_endian.hpp"

namespace hummer::batch {
namespace {

constexpr std::size_t first_buffer_bytes = std::size_t{256} << 10;
constexpr std::size_t most_line_bytes = std::size_t{1} << 30;
constexpr std::size_t span_lines = 1024;
constexpr std::uint64_t behind_split_bytes = std::uint64_t{4} << 10;
constexpr std::string_view utf8_mark = "\xEF\xBB\xBF";

// Where the byte is in [from, end); `end` where it is not.
std::size_t find_byte(const char* data, std::size_t from, std::size_t end, char byte) {
  if (from == end) return end;
  const void* const found = std::memchr(data + from, byte, end - from);
  return found == nullptr ? end : static_cast<std::size_t>(static_cast<const char*>(found) - data);
}

}  // namespace

Status TextReader::open(std::unique_ptr<SplitInput> input) {
  input_ = std::move(input);
  buffer_.resize(first_buffer_bytes);
  keys_.resize(span_lines);
  views_.reserve(span_lines);
  if (input_->begin() == 0) return lines_ == Lines::hadoop ? pass_over_mark() : Status();
  // A line that ends right before the split is over, so the byte before it is looked at.
  buffer_offset_ = input_->begin() - 1;
  return pass_over_line();
}

Status TextReader::pass_over_mark() {
  while (filled_ < utf8_mark.size() && !has_ended_) HUMMER_TRY(fill());
  has_mark_ = std::string_view(buffer_.data(), filled_).starts_with(utf8_mark);
  if (has_mark_) at_ = utf8_mark.size();
  return Status();
}

Status TextReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
  buffer_offset_ += at_;
  next_newline_ = std::max(next_newline_, at_) - at_;
  filled_ -= std::exchange(at_, 0);
  if (filled_ == buffer_.size()) {
    if (buffer_.size() >= most_line_bytes) {
      return Status(ErrorCode::limit_exceeded,
                    fmt::format("'{}' has a line of more than {} bytes at byte {}", input_->path(),
                                most_line_bytes, buffer_offset_));
    }
    buffer_.resize(2 * buffer_.size());
  }
  const std::uint64_t offset = offset_of(filled_);
  // Behind the split it only wants the end of its last line.
  const std::uint64_t wanted = offset < input_->end() ? input_->end() - offset : behind_split_bytes;
  const std::span<char> room = std::span(buffer_).subspan(filled_).first(
      static_cast<std::size_t>(std::min<std::uint64_t>(wanted, buffer_.size() - filled_)));
  const auto got = input_->read_at(offset, room);
  if (!got.ok()) return got.status();
  filled_ += *got;
  has_ended_ = *got < room.size();
  return Status();
}

std::optional<TextReader::LineEnd> TextReader::find_end(std::size_t at) {
  if (lines_ == Lines::hadoop) return find_hadoop_end(at);
  const char* const data = buffer_.data();
  const std::size_t newline = find_byte(data, at, filled_, '\n');
  if (newline == filled_) return std::nullopt;
  const bool has_return = newline > at && data[newline - 1] == '\r';
  return LineEnd{has_return ? newline - 1 : newline, newline + 1};
}

// Where lines end with "\r" alone a newline may be far away, and is looked for once.
std::optional<TextReader::LineEnd> TextReader::find_hadoop_end(std::size_t at) {
  const char* const data = buffer_.data();
  if (next_newline_ < at || next_newline_ == filled_ || data[next_newline_] != '\n') {
    next_newline_ = find_byte(data, std::max(at, next_newline_), filled_, '\n');
  }
  const std::size_t end = find_byte(data, at, next_newline_, '\r');
  if (end == next_newline_) {
    if (end == filled_) return std::nullopt;
    return LineEnd{end, end + 1};
  }
  // What follows it says whether it is the whole end of the line.
  if (end + 1 == filled_) return has_ended_ ? std::optional(LineEnd{end, filled_}) : std::nullopt;
  return LineEnd{end, data[end + 1] == '\n' ? end + 2 : end + 1};
}

Status TextReader::pass_over_line() {
  for (;;) {
    HUMMER_TRY(fill());
    if (const auto end = find_end(0)) {
      at_ = end->next;
      return Status();
    }
    at_ = filled_;
    if (has_ended_) return Status();
    // It may be the first half of the line's end.
    if (filled_ > 0 && buffer_[filled_ - 1] == '\r') --at_;
  }
}

inline void TextReader::add_line(std::size_t begin, std::size_t end) {
  std::array<char, 8>& key = keys_[views_.size()];
  put_big_endian(key.data(), offset_of(begin));
  views_.push_back(
      {key.data(), buffer_.data() + begin, 8, static_cast<std::uint32_t>(end - begin)});
}

void TextReader::cut_lines() {
  const std::uint64_t split_end = input_->end();
  while (views_.size() < span_lines && at_ < filled_ && offset_of(at_) < split_end) {
    const auto end = find_end(at_);
    if (!end.has_value()) return;
    add_line(at_, end->content);
    at_ = end->next;
  }
}

Result<std::span<const RecordView>> TextReader::next() {
  views_.clear();
  for (;;) {
    cut_lines();
    if (!views_.empty() || offset_of(at_) >= input_->end()) break;
    if (has_ended_) {
      if (at_ < filled_) {  // the last line, which nothing ends
        add_line(at_, filled_);
        at_ = filled_;
      }
      break;
    }
    HUMMER_TRY(fill());
  }
  // With its mark the first line begins where the file does.
  if (has_mark_ && !views_.empty()) {
    put_big_endian(keys_.front().data(), std::uint64_t{0});
    has_mark_ = false;
  }
  return std::span<const RecordView>(views_);
}

std::string TextReader::place_of(const RecordView& record) const {
  return fmt::format("'{}', line at byte {}", input_->path(), big_endian_64(record.key_data));
}

}  // namespace hummer::batch
