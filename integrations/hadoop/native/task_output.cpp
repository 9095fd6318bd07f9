#include "task_output.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "guarded_call.hpp"
#include "java_calls.hpp"
#include "record_batch.hpp"
#include "text_lines.hpp"

namespace hummer::hadoop {
namespace {

constexpr std::size_t enough_bytes = std::size_t{256} << 10;

// Where it ends.
char* write_content(WritableForm form, std::string_view content, char* to) {
  to += write_head(form, content.size(), to);
  if (!content.empty()) std::memcpy(to, content.data(), content.size());
  return to + content.size();
}

class WritablesForJava final : public OutputForJava {
 public:
  WritablesForJava(RecordForms forms, JNIEnv* java, jobject sink)
      : forms_(forms), sink_(java, sink, "take", "(Ljava/nio/ByteBuffer;)V") {}

  Status hand_over() override {
    if (batch_.empty()) return Status();
    const Status status = sink_.call_with_bytes(batch_);
    batch_.clear();
    return status;
  }

 protected:
  Status take(std::span<const batch::RecordView> records) override {
    for (const batch::RecordView& record : records) {
      char key_head[most_head_bytes];
      char value_head[most_head_bytes];
      const std::size_t key_head_bytes = write_head(forms_.key, record.key_bytes, key_head);
      const std::size_t value_head_bytes = write_head(forms_.value, record.value_bytes, value_head);
      append_head(batch_, {0, static_cast<std::uint32_t>(key_head_bytes + record.key_bytes),
                           static_cast<std::uint32_t>(value_head_bytes + record.value_bytes)});
      batch_.append(key_head, key_head_bytes).append(record.key());
      batch_.append(value_head, value_head_bytes).append(record.value());
      if (batch_.size() >= enough_bytes) HUMMER_TRY(hand_over());
    }
    return Status();
  }

 private:
  const RecordForms forms_;
  JavaObject sink_;
  std::string batch_;
};

// A batch: the number of records, 4 bytes of the machine's order, and the lines (LineSink of Java's
// side).
class LinesForJava final : public OutputForJava {
 public:
  LinesForJava(TextLines lines, JNIEnv* java, jobject sink)
      : lines_(std::move(lines)), sink_(java, sink, "take", "(Ljava/nio/ByteBuffer;)V") {}

  Status hand_over() override {
    if (records_ == 0) return Status();
    std::memcpy(batch_.data(), &records_, sizeof records_);
    const Status status = sink_.call_with_bytes(batch_);
    batch_.resize(sizeof records_);
    records_ = 0;
    return status;
  }

 protected:
  Status take(std::span<const batch::RecordView> records) override {
    for (const batch::RecordView& record : records) {
      if (records_++ > 0) batch_.push_back('\n');
      HUMMER_TRY(lines_.append(record, batch_));
      if (batch_.size() >= enough_bytes) HUMMER_TRY(hand_over());
    }
    return Status();
  }

 private:
  const TextLines lines_;
  JavaObject sink_;
  std::uint32_t records_ = 0;
  std::string batch_ = std::string(sizeof records_, '\0');
};

}  // namespace

Status CollectedWritables::take(std::span<const batch::RecordView> records) {
  if (partitions_.size() < records.size()) partitions_.resize(records.size());
  const auto partitions = std::span(partitions_).first(records.size());
  HUMMER_TRY(batch::call_guarded("the partitioner", [&] {
    return partitioner_.partition(records, collector_.partitions(), partitions);
  }));
  for (std::size_t i = 0; i < records.size(); ++i) {
    HUMMER_TRY(collect(partitions[i], records[i].key(), records[i].value()));
  }
  records_ += records.size();
  return Status();
}

Status CollectedWritables::collect(std::uint32_t partition, std::string_view key,
                                   std::string_view value) {
  const std::size_t most = key.size() + value.size() + 2 * most_head_bytes;
  if (written_.size() < most) [[unlikely]]
    written_.resize(most);
  char* const begin = written_.data();
  char* const middle = write_content(forms_.key, key, begin);
  const char* const end = write_content(forms_.value, value, middle);
  bytes_ += static_cast<std::size_t>(end - begin);
  return collector_.collect(partition, {begin, static_cast<std::size_t>(middle - begin)},
                            {middle, static_cast<std::size_t>(end - middle)});
}

Result<std::unique_ptr<OutputForJava>> output_for_java(const Settings& settings,
                                                       std::string_view prefix, JNIEnv* java,
                                                       jobject sink) {
  if (settings.text("lines").empty()) {
    return std::unique_ptr<OutputForJava>(
        std::make_unique<WritablesForJava>(forms_of(settings, prefix), java, sink));
  }
  const std::string start(prefix);
  auto lines = TextLines::of(settings.text(start + "key_class"),
                             settings.text(start + "value_class"), settings.text("separator"));
  if (!lines.ok()) return lines.status();
  return std::unique_ptr<OutputForJava>(
      std::make_unique<LinesForJava>(std::move(*lines), java, sink));
}

}  // namespace hummer::hadoop
