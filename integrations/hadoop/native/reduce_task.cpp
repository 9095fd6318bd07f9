#include "reduce_task.hpp"

#include <string>
#include <vector>

#include "content_stream.hpp"
#include "java_calls.hpp"
#include "loaded_classes.hpp"
#include "record_batch.hpp"
#include "reduce_attempt.hpp"

namespace hummer::hadoop {
namespace {

using batch::RecordView;

// Records that Hadoop has merged.
class RecordsOfJava final : public batch::RecordStream {
 public:
  RecordsOfJava(JNIEnv* java, jobject source)
      : source_(java, source, "next", "()Ljava/nio/ByteBuffer;") {}

  Result<std::span<const RecordView>> next() override {
    const auto records = source_.call_for_bytes();
    if (!records.ok()) return records.status();
    views_.clear();
    HUMMER_TRY(for_each_record(*records,
                               [this](std::uint32_t, std::string_view key, std::string_view value) {
                                 views_.push_back(content_view({}, key, value));
                                 return Status();
                               }));
    return std::span<const RecordView>(views_);
  }

 private:
  JavaObject source_;
  std::vector<RecordView> views_;
};

}  // namespace

// The contents of what comes, which others may ask about.
class ReduceTask::Input final : public batch::RecordStream {
 public:
  Input(RecordForms forms, batch::RecordStream& stream) : contents_(forms, stream) {}

  Result<std::span<const RecordView>> next() override {
    auto records = contents_.next();
    if (!records.ok()) return records;
    std::uint64_t bytes = 0;
    for (const RecordView& record : *records) {
      bytes += std::uint64_t{record.key_bytes} + record.value_bytes;
    }
    records_.fetch_add(records->size(), std::memory_order_relaxed);
    bytes_.fetch_add(bytes, std::memory_order_relaxed);
    return records;
  }
  std::uint64_t records() const { return records_.load(std::memory_order_relaxed); }
  std::uint64_t bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  ContentStream contents_;
  std::atomic<std::uint64_t> records_{0};
  std::atomic<std::uint64_t> bytes_{0};
};

ReduceTask::ReduceTask(const ReduceTaskParts& parts)
    : parameters_(parts.settings.parameters()),
      context_(batch::TaskContext::Kind::reduce,
               static_cast<std::uint32_t>(parts.settings.number("number")),
               static_cast<std::uint32_t>(parts.settings.number("attempt")) + 1, parameters_,
               is_stopping_) {}

ReduceTask::~ReduceTask() = default;

Result<std::unique_ptr<ReduceTask>> ReduceTask::create(Platform& platform, JNIEnv* java,
                                                       const ReduceTaskParts& parts) {
  const Settings& settings = parts.settings;
  const auto classes = loaded_classes(platform.files(), settings.text("libraries"));
  if (!classes.ok()) return classes.status();
  auto reducer = (*classes)->find<batch::Reducer>(settings.text("reducer"));
  if (!reducer.ok()) return reducer.status();
  const auto order = batch::key_order_of(settings.text("key_class"));
  if (!order.has_value()) {
    return Status(ErrorCode::invalid_argument,
                  "keys of the class " + settings.text("key_class") + " have no native order");
  }
  std::unique_ptr<ReduceTask> task(new ReduceTask(parts));
  auto output = output_for_java(settings, "out_", java, parts.sink);
  if (!output.ok()) return output.status();
  task->output_ = std::move(*output);
  task->make_reducer_ = std::move(*reducer);
  const RecordForms forms = forms_of(settings);
  task->order_ = content_order(forms.key, *order);
  if (parts.merged == nullptr) {
    task->from_java_ = std::make_unique<RecordsOfJava>(java, parts.source);
  }
  task->input_ =
      std::make_unique<Input>(forms, parts.merged != nullptr ? *parts.merged : *task->from_java_);
  return task;
}

Status ReduceTask::run() {
  batch::ReduceInput input(*input_, context_);
  const auto groups = batch::reduce_groups(make_reducer_, context_, input, order_, *output_);
  if (!groups.ok()) return groups.status();
  groups_.store(*groups, std::memory_order_relaxed);
  return output_->hand_over();
}

ReduceTask::Report ReduceTask::report() const {
  return {input_->records(), groups_.load(std::memory_order_relaxed), input_->bytes()};
}

}  // namespace hummer::hadoop
