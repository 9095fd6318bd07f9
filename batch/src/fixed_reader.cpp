#include "fixed_reader.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer::batch {
namespace {

constexpr std::size_t buffered_bytes = std::size_t{1} << 20;

}  // namespace

Status FixedReader::open(std::unique_ptr<SplitInput> input) {
  input_ = std::move(input);
  next_offset_ = input_->begin();
  buffer_.resize(std::max(buffered_bytes / record_bytes_, std::size_t{1}) * record_bytes_);
  views_.reserve(buffer_.size() / record_bytes_);
  return Status();
}

Result<std::span<const RecordView>> FixedReader::next() {
  views_.clear();
  if (next_offset_ >= input_->end()) return std::span<const RecordView>();
  const auto wanted = static_cast<std::size_t>(
      std::min<std::uint64_t>(buffer_.size(), input_->end() - next_offset_));
  const auto got = input_->read_at(next_offset_, std::span(buffer_).first(wanted));
  if (!got.ok()) return got.status();
  if (*got % record_bytes_ != 0) {
    return Status(ErrorCode::corrupt_file,
                  fmt::format("'{}' ends within a record: it has {} bytes behind byte {}, and "
                              "records have {}",
                              input_->path(), *got % record_bytes_,
                              next_offset_ + *got / record_bytes_ * record_bytes_, record_bytes_));
  }
  buffer_offset_ = next_offset_;
  next_offset_ += *got;
  for (std::size_t at = 0; at < *got; at += record_bytes_) {
    const char* const record = buffer_.data() + at;
    views_.push_back({record, record + key_bytes_, key_bytes_,
                      static_cast<std::uint32_t>(record_bytes_ - key_bytes_)});
  }
  return std::span<const RecordView>(views_);
}

std::string FixedReader::place_of(const RecordView& record) const {
  return fmt::format("'{}', record at byte {}", input_->path(),
                     buffer_offset_ + static_cast<std::uint64_t>(record.key_data - buffer_.data()));
}

}  // namespace hummer::batch
