#include "batch/combined_records.hpp"

namespace hummer::batch {
namespace {

// What a span of combined records has at least, unless they end.
constexpr std::size_t enough_records = 256;
constexpr std::size_t enough_bytes = std::size_t{64} << 10;

}  // namespace

std::span<const RecordView> RecordBuffer::views() {
  const char* at = bytes_.data();
  for (RecordView& view : views_) {
    view.key_data = at;
    view.value_data = at + view.key_bytes;
    at = view.value_data + view.value_bytes;
  }
  return views_;
}

Result<std::span<const RecordView>> CombinedRecords::next() {
  buffer_.clear();
  while (!has_ended_ && buffer_.records() < enough_records && buffer_.size_bytes() < enough_bytes) {
    auto more = groups_.next_group();
    if (!more.ok()) return more.status();
    if (!*more) {
      has_ended_ = true;
    } else {
      HUMMER_TRY(combiner_.combine(groups_, buffer_));
      HUMMER_TRY(Status(groups_.status()));
    }
  }
  return buffer_.views();
}

}  // namespace hummer::batch
