// ContentStream: records that Hadoop's classes have written, as their contents (writable_form.hpp).
// No byte is copied.
//
// Thread: one. The stream outlives it. Errors: those of the stream.
#pragma once

#include <span>
#include <vector>

#include <hummer/batch/record_stream.hpp>

#include "writable_form.hpp"

namespace hummer::hadoop {

inline batch::RecordView content_view(RecordForms forms, std::string_view key,
                                      std::string_view value) {
  const std::string_view key_content = content_of(forms.key, key);
  const std::string_view value_content = content_of(forms.value, value);
  return {key_content.data(), value_content.data(), static_cast<std::uint32_t>(key_content.size()),
          static_cast<std::uint32_t>(value_content.size())};
}

class ContentStream final : public batch::RecordStream {
 public:
  ContentStream(RecordForms forms, batch::RecordStream& stream) : forms_(forms), stream_(stream) {}

  Result<std::span<const batch::RecordView>> next() override {
    auto records = stream_.next();
    if (!records.ok()) return records;
    views_.clear();
    for (const batch::RecordView& record : *records) {
      views_.push_back(content_view(forms_, record.key(), record.value()));
    }
    return std::span<const batch::RecordView>(views_);
  }

 private:
  const RecordForms forms_;
  batch::RecordStream& stream_;
  std::vector<batch::RecordView> views_;
};

}  // namespace hummer::hadoop
