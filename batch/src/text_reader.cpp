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

}  // namespace

Status TextReader::open(std::unique_ptr<SplitInput> input) {
  input_ = std::move(input);
  buffer_.resize(first_buffer_bytes);
  keys_.resize(span_lines);
  views_.reserve(span_lines);
  if (input_->begin() == 0) return Status();
  // A line that ends right before the split is over, so the byte before it is looked at.
  buffer_offset_ = input_->begin() - 1;
  return pass_over_line();
}

Status TextReader::fill() {
  std::memmove(buffer_.data(), buffer_.data() + at_, filled_ - at_);
  buffer_offset_ += at_;
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

Status TextReader::pass_over_line() {
  for (;;) {
    HUMMER_TRY(fill());
    const void* const found = std::memchr(buffer_.data(), '\n', filled_);
    if (found != nullptr) {
      at_ = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.data()) + 1;
      return Status();
    }
    at_ = filled_;
    if (has_ended_) return Status();
  }
}

inline void TextReader::add_line(std::size_t begin, std::size_t end) {
  std::array<char, 8>& key = keys_[views_.size()];
  put_big_endian(key.data(), offset_of(begin));
  views_.push_back(
      {key.data(), buffer_.data() + begin, 8, static_cast<std::uint32_t>(end - begin)});
}

void TextReader::cut_lines() {
  const char* const data = buffer_.data();
  const std::uint64_t split_end = input_->end();
  while (views_.size() < span_lines && at_ < filled_ && offset_of(at_) < split_end) {
    const auto* const found =
        static_cast<const char*>(std::memchr(data + at_, '\n', filled_ - at_));
    if (found == nullptr) return;
    const auto end = static_cast<std::size_t>(found - data);
    add_line(at_, end > at_ && data[end - 1] == '\r' ? end - 1 : end);
    at_ = end + 1;
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
  return std::span<const RecordView>(views_);
}

std::string TextReader::place_of(const RecordView& record) const {
  return fmt::format("'{}', line at byte {}", input_->path(), big_endian_64(record.key_data));
}

}  // namespace hummer::batch
