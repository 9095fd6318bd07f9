#include "tera_rows.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer::batch {
namespace {

constexpr std::size_t rows_per_span = 1000;

}  // namespace

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
