// The native methods of hummer.hadoop.NativeCollector, each of which stands for one of
// batch::OutputCollector.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <hummer/batch/key_order.hpp>
#include "batch/codec.hpp"
#include "batch/output_collector.hpp"
#include "class_combiner.hpp"
#include "java_calls.hpp"
#include "java_combiner.hpp"
#include "java_failures.hpp"
#include "job_collector.hpp"
#include "library.hpp"
#include "loaded_classes.hpp"
#include "record_batch.hpp"
#include "settings.hpp"

namespace hummer::hadoop {
namespace {

using batch::OutputCollector;

// The job's: a class of a library, or else one of Java's, if any.
Status make_combiner(JNIEnv* java, const Settings& settings, jobject of_java, batch::KeyOrder order,
                     JobCollector& job) {
  const std::string& name = settings.text("combiner");
  if (name.empty()) {
    if (of_java != nullptr) job.combiner = std::make_unique<JavaCombiner>(java, of_java, order);
    return Status();
  }
  const auto classes = loaded_classes(platform().files(), settings.text("libraries"));
  if (!classes.ok()) return classes.status();
  const auto make = (*classes)->find<batch::Combiner>(name);
  if (!make.ok()) return make.status();
  auto combiner = std::make_unique<ClassCombiner>(forms_of(settings), order, (*make)());
  job.class_combiner = combiner.get();
  job.combiner = std::move(combiner);
  return Status();
}

jlong create_collector(JNIEnv* java, jclass, jobjectArray names_and_values, jobject combiner) {
  jlong handle = 0;
  guarded(java, [&]() -> Status {
    const Settings settings = Settings::of(java, names_and_values);
    const std::string& keys = settings.text("key_class");
    const std::optional<batch::KeyOrder> order = batch::key_order_of(keys);
    if (!order.has_value()) {
      return {ErrorCode::invalid_argument, "keys of the class " + keys + " have no native order"};
    }
    const std::string& named = settings.text("codec");
    const std::optional<batch::Codec> codec = batch::codec_of(named);
    if (!codec.has_value()) {
      return {ErrorCode::invalid_argument, "the codec " + named + " has no native form"};
    }
    auto job = std::make_unique<JobCollector>();
    HUMMER_TRY(make_combiner(java, settings, combiner, *order, *job));
    auto collector = OutputCollector::create(
        platform(), {.partitions = static_cast<std::uint32_t>(settings.number("partitions")),
                     .memory_bytes = static_cast<std::size_t>(settings.number("memory_bytes")),
                     .order = *order,
                     .codec = *codec,
                     .spill_directory = settings.text("spill_directory"),
                     .stream_combiner = job->combiner.get()});
    if (!collector.ok()) return collector.status();
    job->collector = std::move(*collector);
    handle = handle_of(job.release());
    return Status();
  });
  return handle;
}

void collect(JNIEnv* java, jclass, jlong handle, jobject records, jint size_bytes) {
  guarded(java, [&]() -> Status {
    const auto bytes = bytes_of_buffer(java, records, size_bytes);
    if (!bytes.ok()) return bytes.status();
    OutputCollector& collector = *object_of<JobCollector>(handle).collector;
    return for_each_record(
        *bytes, [&](std::uint32_t partition, std::string_view key, std::string_view value) {
          return collector.collect(partition, key, value);
        });
  });
}

void finish(JNIEnv* java, jclass, jlong handle, jstring path) {
  guarded(java, [&] {
    return object_of<JobCollector>(handle).collector->finish_to_file(text_of(java, path));
  });
}

// In the order of the fields of NativeCollector.Metrics.
jlongArray metrics(JNIEnv* java, jclass, jlong handle) {
  const auto& job = object_of<JobCollector>(handle);
  const batch::CollectorMetrics all = job.collector->metrics();
  const bool combines = job.class_combiner != nullptr;
  constexpr std::uint64_t per_millisecond = 1'000'000;
  return java_longs(
      java,
      {all.spills, all.spilled_records, all.spilled_bytes, all.merges, all.written_records,
       combines ? job.class_combiner->records_in() : 0,
       combines ? job.class_combiner->records_out() : 0, all.sort_nanoseconds / per_millisecond,
       all.spill_nanoseconds / per_millisecond, all.merge_nanoseconds / per_millisecond});
}

}  // namespace

jint register_collector(JNIEnv* java) {
  return register_methods(
      java, "hummer/hadoop/NativeCollector",
      {method("create", "([Ljava/lang/String;Lhummer/hadoop/JobCombiner;)J", create_collector),
       method("collect", "(JLjava/nio/ByteBuffer;I)V", collect),
       method("finish", "(JLjava/lang/String;)V", finish), method("metrics", "(J)[J", metrics),
       method("destroy", "(J)V", destroy_object<JobCollector>)});
}

}  // namespace hummer::hadoop
