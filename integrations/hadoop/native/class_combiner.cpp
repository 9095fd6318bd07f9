#include "class_combiner.hpp"

#include <string>
#include <vector>

#include "batch/combined_records.hpp"
#include "content_stream.hpp"

namespace hummer::hadoop {
namespace {

class CombinedByClass final : public batch::RecordStream {
 public:
  CombinedByClass(RecordForms forms, batch::KeyOrder order, batch::Combiner& combiner,
                  batch::RecordStream& stream)
      : forms_(forms),
        contents_(forms, stream),
        combined_(contents_, content_order(forms.key, order), combiner) {}

  Result<std::span<const batch::RecordView>> next() override {
    auto records = combined_.next();
    const bool is_written =
        forms_.key == WritableForm::plain && forms_.value == WritableForm::plain;
    if (!records.ok() || is_written) return records;
    bytes_.clear();
    views_.clear();
    for (const batch::RecordView& record : *records) {
      const auto key_bytes = append(forms_.key, record.key());
      const auto value_bytes = append(forms_.value, record.value());
      views_.push_back({nullptr, nullptr, key_bytes, value_bytes});
    }
    const char* at = bytes_.data();
    for (batch::RecordView& view : views_) {
      view.key_data = at;
      view.value_data = at + view.key_bytes;
      at = view.value_data + view.value_bytes;
    }
    return std::span<const batch::RecordView>(views_);
  }

 private:
  std::uint32_t append(WritableForm form, std::string_view content) {
    char head[most_head_bytes];
    const std::size_t head_bytes = write_head(form, content.size(), head);
    bytes_.append(head, head_bytes).append(content);
    return static_cast<std::uint32_t>(head_bytes + content.size());
  }

  const RecordForms forms_;
  ContentStream contents_;
  batch::CombinedRecords combined_;
  std::string bytes_;
  std::vector<batch::RecordView> views_;
};

}  // namespace

std::unique_ptr<batch::RecordStream> ClassCombiner::combine(batch::RecordStream& stream) {
  return std::make_unique<CombinedByClass>(forms_, order_, combiner_, stream);
}

}  // namespace hummer::hadoop
