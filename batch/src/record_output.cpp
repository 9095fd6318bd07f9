#include <hummer/batch/record_output.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hummer::batch {
namespace {

Status check_size(std::string_view key, std::string_view value) {
  constexpr std::size_t most = RecordOutput::most_text_bytes;
  if (key.size() <= most && value.size() <= most) return Status();
  return Status(ErrorCode::limit_exceeded,
                fmt::format("a record has a key of {} and a value of {} bytes, and {} are the most "
                            "of each",
                            key.size(), value.size(), most));
}

}  // namespace

RecordOutput::RecordOutput()
    : buffer_(std::make_unique_for_overwrite<char[]>(buffer_bytes)),
      views_(std::make_unique_for_overwrite<RecordView[]>(buffer_records)) {}

void RecordOutput::flush() {
  const std::size_t count = std::exchange(count_, 0);
  used_bytes_ = 0;
  if (count > 0) hand_on({views_.get(), count});
}

void RecordOutput::emit_keys(std::span<const std::string_view> keys, std::string_view value) {
  flush();
  if (status_.ok()) status_ = check_size({}, value);
  if (status_.ok() && !keys.empty()) status_ = take_keys(keys, value);
}

Status RecordOutput::take_keys(std::span<const std::string_view> keys, std::string_view value) {
  while (!keys.empty()) {
    const std::size_t count = std::min(keys.size(), buffer_records);
    for (std::size_t i = 0; i < count; ++i) {
      HUMMER_TRY(check_size(keys[i], value));
      views_[i] = {keys[i].data(), value.data(), static_cast<std::uint32_t>(keys[i].size()),
                   static_cast<std::uint32_t>(value.size())};
    }
    HUMMER_TRY(take({views_.get(), count}));
    keys = keys.subspan(count);
  }
  return Status();
}

void RecordOutput::hand_on(std::span<const RecordView> records) {
  if (status_.ok()) status_ = take(records);
}

bool RecordOutput::make_room(std::string_view key, std::string_view value) {
  flush();
  if (Status size = check_size(key, value); !size.ok()) {
    if (status_.ok()) status_ = std::move(size);
    return false;
  }
  if (key.size() + value.size() <= buffer_bytes) return true;
  const RecordView record{key.data(), value.data(), static_cast<std::uint32_t>(key.size()),
                          static_cast<std::uint32_t>(value.size())};
  hand_on({&record, 1});
  return false;
}

}  // namespace hummer::batch
