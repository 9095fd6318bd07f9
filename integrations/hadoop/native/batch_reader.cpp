#include "batch_reader.hpp"

#include <fmt/format.h>

#include "content_stream.hpp"
#include "record_batch.hpp"

namespace hummer::hadoop {

Status BatchReader::set_batch(std::string_view records) {
  records_before_ += views_.size();
  views_.clear();
  is_read_ = false;
  return for_each_record(records,
                         [this](std::uint32_t, std::string_view key, std::string_view value) {
                           views_.push_back(content_view(forms_, key, value));
                           return Status();
                         });
}

Result<std::span<const batch::RecordView>> BatchReader::next() {
  if (is_read_) return std::span<const batch::RecordView>();
  is_read_ = true;
  return std::span<const batch::RecordView>(views_);
}

std::string BatchReader::place_of(const batch::RecordView& record) const {
  return fmt::format("record {} of the split",
                     records_before_ + static_cast<std::uint64_t>(&record - views_.data()));
}

}  // namespace hummer::hadoop
