#include "tera_rows.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>

namespace hummer::batch {
namespace {

constexpr std::size_t rows_per_span = 1000;
constexpr const char* row_digits = "0123456789ABCDEF";

constexpr WideNumber wide_number(std::uint64_t high, std::uint64_t low) {
  return (WideNumber{high} << 64) | low;
}
constexpr WideNumber row_multiplier = wide_number(0x2360ed051fc65da4, 0x4385df649fccf645);
constexpr WideNumber row_increment = wide_number(0x4a696d4772617952, 0x4950202020202001);

}  // namespace

TeraRows::TeraRows(std::uint64_t row) : row_(row) {
  // Steps are put together as powers are: that of twice as many is the step of a step.
  WideNumber factor = row_multiplier;
  WideNumber addend = row_increment;
  for (std::uint64_t left = row; left != 0; left >>= 1) {
    if ((left & 1) != 0) state_ = state_ * factor + addend;
    addend = factor * addend + addend;
    factor *= factor;
  }
}

void TeraRows::next(char* to) {
  state_ = state_ * row_multiplier + row_increment;
  for (std::size_t i = 0; i < tera_key_bytes; ++i) {
    to[i] = static_cast<char>(state_ >> (120 - 8 * i));
  }
  std::memcpy(to + 10, "\x00\x11", 2);
  std::memset(to + 12, '0', 16);
  for (std::size_t i = 0; i < 16; ++i) to[28 + i] = row_digits[(row_ >> (60 - 4 * i)) & 15];
  std::memcpy(to + 44, "\x88\x99\xAA\xBB", 4);
  for (std::size_t i = 0; i < 12; ++i) {
    std::memset(to + 48 + 4 * i, row_digits[static_cast<unsigned>(state_ >> (44 - 4 * i)) & 15], 4);
  }
  std::memcpy(to + 96, "\xCC\xDD\xEE\xFF", 4);
  ++row_;
}

Status TeraRowReader::open(std::unique_ptr<SplitInput> input) {
  input_ = std::move(input);
  at_ = input_->begin();
  rows_ = std::make_unique<TeraRows>(at_);
  buffer_.resize(rows_per_span * tera_record_bytes);
  views_.reserve(rows_per_span);
  return Status();
}

Result<std::span<const RecordView>> TeraRowReader::next() {
  views_.clear();
  for (; at_ < input_->end() && views_.size() < rows_per_span; ++at_) {
    char* const record = buffer_.data() + views_.size() * tera_record_bytes;
    rows_->next(record);
    views_.push_back({record, record + tera_key_bytes, tera_key_bytes, tera_value_bytes});
  }
  return std::span<const RecordView>(views_);
}

std::string TeraRowReader::place_of(const RecordView& record) const {
  return fmt::format("row {}", at_ - static_cast<std::uint64_t>(&views_.back() + 1 - &record));
}

InputFormat tera_rows_input(std::uint64_t rows) {
  return {.name = "rows", .has_files = false, .rows = rows, .make_reader = [] {
            return std::make_unique<TeraRowReader>();
          }};
}

}  // namespace hummer::batch
