#include "map_task.hpp"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "batch_reader.hpp"
#include "guarded_call.hpp"
#include "hash_partitioner.hpp"
#include "loaded_classes.hpp"
#include "sequence_file_reader.hpp"
#include "split_bytes.hpp"
#include "text_reader.hpp"

namespace hummer::hadoop {
namespace {

using batch::ClassLibraries;
using batch::RecordReader;

// Some MiB of lines, so that a call from Java takes some milliseconds.
constexpr int spans_per_call = 64;

// Of hexadecimal digits, two for each byte, with commas between keys.
Result<std::vector<std::string>> keys_in(std::string_view digits) {
  std::vector<std::string> keys;
  while (!digits.empty()) {
    const std::string_view one = digits.substr(0, digits.find(','));
    digits.remove_prefix(std::min(one.size() + 1, digits.size()));
    std::string key;
    for (std::size_t i = 0; i + 1 < one.size(); i += 2) {
      unsigned byte = 0;
      if (std::from_chars(&one[i], &one[i] + 2, byte, 16).ptr != &one[i] + 2) {
        return Status(ErrorCode::invalid_argument, "a cut point is no hexadecimal number");
      }
      key.push_back(static_cast<char>(byte));
    }
    keys.push_back(std::move(key));
  }
  return keys;
}

Result<std::unique_ptr<batch::Partitioner>> by_cut_points(const Settings& settings) {
  const auto written = keys_in(settings.text("cut_points"));
  if (!written.ok()) return written.status();
  const WritableForm form = forms_of(settings).key;
  auto cut_points = std::make_shared<batch::CutPoints>();
  cut_points->order = content_order(
      form, batch::key_order_of(settings.text("key_class")).value_or(batch::KeyOrder()));
  for (const std::string& key : *written) cut_points->keys.emplace_back(content_of(form, key));
  return std::unique_ptr<batch::Partitioner>(
      std::make_unique<batch::TotalOrderPartitioner>(std::move(cut_points)));
}

Result<std::unique_ptr<batch::Partitioner>> make_partitioner(const Settings& settings,
                                                             const ClassLibraries& classes,
                                                             std::uint32_t partitions) {
  const std::string& name = settings.text("partitioner");
  if (!name.empty()) {
    const auto found = classes.find<batch::Partitioner>(name);
    if (!found.ok()) return found.status();
    std::unique_ptr<batch::Partitioner> made;
    HUMMER_TRY(batch::call_guarded("the partitioner", [&] {
      made = (*found)();
      return Status();
    }));
    return made;
  }
  if (!settings.text("cut_points").empty()) return by_cut_points(settings);
  // One partition takes all.
  auto by_hash = JavaHashPartitioner::of(partitions == 1 ? "org.apache.hadoop.io.NullWritable"
                                                         : settings.text("key_class"));
  if (by_hash == nullptr) {
    return Status(ErrorCode::invalid_argument,
                  "keys of the class " + settings.text("key_class") + " have no native hash code");
  }
  return by_hash;
}

Result<std::unique_ptr<RecordReader>> make_reader(const std::string& name,
                                                  const ClassLibraries& classes) {
  if (name == "text") {
    return std::unique_ptr<RecordReader>(
        std::make_unique<batch::TextReader>(batch::TextReader::Lines::hadoop));
  }
  if (name == "sequence") {
    return std::unique_ptr<RecordReader>(std::make_unique<SequenceFileReader>());
  }
  if (name.find('.') != std::string::npos) {
    const auto found = classes.find<RecordReader>(name);
    if (!found.ok()) return found.status();
    return (*found)();
  }
  const auto format = batch::input_format_of(name);
  if (!format.ok()) return format.status();
  return format->make_reader();
}

}  // namespace

MapTask::MapTask(const Settings& settings)
    : parameters_(settings.parameters()),
      context_(batch::TaskContext::Kind::map, static_cast<std::uint32_t>(settings.number("number")),
               static_cast<std::uint32_t>(settings.number("attempt")) + 1, parameters_,
               is_stopping_) {
  context_.set_input(0, settings.text("path"));
}

MapTask::~MapTask() = default;

Result<std::unique_ptr<MapTask>> MapTask::create(Platform& platform, JNIEnv* java,
                                                 const MapTaskParts& parts) {
  const auto classes = loaded_classes(platform.files(), parts.settings.text("libraries"));
  if (!classes.ok()) return classes.status();
  std::unique_ptr<MapTask> task(new MapTask(parts.settings));
  HUMMER_TRY(task->open_output(java, parts, **classes));
  HUMMER_TRY(task->open_mapper(platform, java, parts, **classes));
  return task;
}

Status MapTask::open_output(JNIEnv* java, const MapTaskParts& parts,
                            const ClassLibraries& classes) {
  if (parts.collector == nullptr) {
    auto output = output_for_java(parts.settings, "", java, parts.sink);
    if (output.ok()) for_java_ = std::move(*output);
    return output.status();
  }
  auto partitioner = make_partitioner(parts.settings, classes, parts.collector->partitions());
  if (!partitioner.ok()) return partitioner.status();
  partitioner_ = std::move(*partitioner);
  HUMMER_TRY(batch::call_guarded("the partitioner", [&] { return partitioner_->open(context_); }));
  collected_ = std::make_unique<CollectedWritables>(forms_of(parts.settings), *partitioner_,
                                                    *parts.collector);
  return Status();
}

Status MapTask::open_mapper(Platform& platform, JNIEnv* java, const MapTaskParts& parts,
                            const ClassLibraries& classes) {
  const Settings& settings = parts.settings;
  const auto mapper = classes.find<batch::Mapper>(settings.text("mapper"));
  if (!mapper.ok()) return mapper.status();
  attempt_ = std::make_unique<batch::MapAttempt>(context_);
  if (settings.text("reader").empty()) {
    auto from_java = std::make_unique<BatchReader>(forms_of(settings, "in_"));
    batch_reader_ = from_java.get();
    return attempt_->open(std::move(from_java), *mapper);
  }
  auto input = open_hadoop_split(platform, java, settings, parts.stream);
  if (!input.ok()) return input.status();
  std::unique_ptr<RecordReader> reader;
  HUMMER_TRY(batch::call_guarded("the reader", [&]() -> Status {
    auto made = make_reader(settings.text("reader"), classes);
    if (!made.ok()) return made.status();
    reader = std::move(*made);
    return reader->open(std::move(*input));
  }));
  return attempt_->open(std::move(reader), *mapper);
}

batch::MapOutput& MapTask::output() {
  if (collected_ != nullptr) return *collected_;
  return *for_java_;
}

Result<bool> MapTask::map_some() {
  for (int i = 0; i < spans_per_call; ++i) {
    auto more = attempt_->map_span(output());
    if (!more.ok() || !*more) return more;
  }
  return true;
}

Status MapTask::map_batch(std::string_view records) {
  HUMMER_ASSERT(batch_reader_ != nullptr);
  HUMMER_TRY(batch_reader_->set_batch(records));
  for (;;) {
    const auto more = attempt_->map_span(output());
    if (!more.ok()) return more.status();
    if (!*more) return Status();
  }
}

Status MapTask::close() {
  HUMMER_TRY(attempt_->close(output()));
  return for_java_ != nullptr ? for_java_->hand_over() : Status();
}

MapTask::Report MapTask::report() const {
  Report report;
  report.input_records = attempt_->records();
  report.bytes_read = attempt_->reader().bytes_read();
  if (collected_ != nullptr) {
    report.output_records = collected_->records();
    report.output_bytes = collected_->bytes();
  }
  return report;
}

}  // namespace hummer::hadoop
