// The native methods of hummer.hadoop.NativeCollector, each of which stands for one of
// batch::OutputCollector. The library shows JNI_OnLoad alone, which registers them: where the Java
// class is of another version that fails, and Java loads nothing.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <jni.h>

#include <hummer/batch/key_order.hpp>
#include "batch/codec.hpp"
#include "batch/output_collector.hpp"
#include "java_combiner.hpp"
#include "java_failures.hpp"
#include "platform/platform.hpp"
#include "record_batch.hpp"

namespace hummer::hadoop {
namespace {

using batch::OutputCollector;

// One of the process. Signals are Java's, so it takes none; and it stays, as nobody knows when the
// last task has ended.
Platform& platform() {
  static Platform& one =
      *make_linux_platform({.guard_mappings = false, .ignore_broken_pipes = false}).release();
  return one;
}

std::string text_of(JNIEnv* java, jstring text) {
  if (text == nullptr) return {};
  const char* const bytes = java->GetStringUTFChars(text, nullptr);
  if (bytes == nullptr) return {};
  std::string copy(bytes);
  java->ReleaseStringUTFChars(text, bytes);
  return copy;
}

// What a handle of Java's stands for.
struct JobCollector {
  std::unique_ptr<JavaCombiner> combiner;
  std::unique_ptr<OutputCollector> collector;
};

// At the begin of each call from Java, which may be on another thread than the last one.
JobCollector& entered(JNIEnv* java, jlong handle) {
  auto& job = *reinterpret_cast<JobCollector*>(static_cast<std::uintptr_t>(handle));
  if (job.combiner != nullptr) job.combiner->enter(java);
  return job;
}

jlong create(JNIEnv* java, jclass, jint partitions, jlong memory_bytes, jstring key_class,
             jstring codec_name, jstring spill_directory, jobject combiner) {
  jlong handle = 0;
  guarded(java, [&]() -> Status {
    const std::string keys = text_of(java, key_class);
    const std::optional<batch::KeyOrder> order = batch::key_order_of(keys);
    if (!order.has_value()) {
      return {ErrorCode::invalid_argument, "keys of the class " + keys + " have no native order"};
    }
    const std::string named = text_of(java, codec_name);
    const std::optional<batch::Codec> codec = batch::codec_of(named);
    if (!codec.has_value()) {
      return {ErrorCode::invalid_argument, "the codec " + named + " has no native form"};
    }
    auto job = std::make_unique<JobCollector>();
    if (combiner != nullptr) job->combiner = std::make_unique<JavaCombiner>(java, combiner, *order);
    auto collector =
        OutputCollector::create(platform(), {.partitions = static_cast<std::uint32_t>(partitions),
                                             .memory_bytes = static_cast<std::size_t>(memory_bytes),
                                             .order = *order,
                                             .codec = *codec,
                                             .spill_directory = text_of(java, spill_directory),
                                             .stream_combiner = job->combiner.get()});
    if (!collector.ok()) return collector.status();
    job->collector = std::move(*collector);
    handle = static_cast<jlong>(reinterpret_cast<std::uintptr_t>(job.release()));
    return Status();
  });
  return handle;
}

void collect(JNIEnv* java, jclass, jlong handle, jobject records, jint size_bytes) {
  guarded(java, [&]() -> Status {
    const auto* const bytes = static_cast<const char*>(java->GetDirectBufferAddress(records));
    if (bytes == nullptr) return {ErrorCode::internal, "the buffer of records is not a direct one"};
    OutputCollector& collector = *entered(java, handle).collector;
    return for_each_record(
        {bytes, static_cast<std::size_t>(size_bytes)},
        [&](std::uint32_t partition, std::string_view key, std::string_view value) {
          return collector.collect(partition, key, value);
        });
  });
}

void finish(JNIEnv* java, jclass, jlong handle, jstring path) {
  guarded(java,
          [&] { return entered(java, handle).collector->finish_to_file(text_of(java, path)); });
}

// In the order of the fields of NativeCollector.Metrics.
jlongArray metrics(JNIEnv* java, jclass, jlong handle) {
  jlongArray array = nullptr;
  guarded(java, [&] {
    const batch::CollectorMetrics all = entered(java, handle).collector->metrics();
    const jlong values[] = {static_cast<jlong>(all.spills), static_cast<jlong>(all.spilled_records),
                            static_cast<jlong>(all.spilled_bytes), static_cast<jlong>(all.merges),
                            static_cast<jlong>(all.written_records)};
    constexpr auto count = static_cast<jsize>(std::size(values));
    array = java->NewLongArray(count);
    if (array != nullptr) java->SetLongArrayRegion(array, 0, count, values);
    return Status();
  });
  return array;
}

void destroy(JNIEnv* java, jclass, jlong handle) {
  guarded(java, [&] {
    delete &entered(java, handle);
    return Status();
  });
}

template <typename Function>
JNINativeMethod method(const char* name, const char* signature, Function* function) {
  return {const_cast<char*>(name), const_cast<char*>(signature), reinterpret_cast<void*>(function)};
}

jint register_methods(JNIEnv* java) {
  const JNINativeMethod methods[] = {
      method("create",
             "(IJLjava/lang/String;Ljava/lang/String;Ljava/lang/String;"
             "Lhummer/hadoop/JobCombiner;)J",
             create),
      method("collect", "(JLjava/nio/ByteBuffer;I)V", collect),
      method("finish", "(JLjava/lang/String;)V", finish),
      method("metrics", "(J)[J", metrics),
      method("destroy", "(J)V", destroy),
  };
  jclass type = java->FindClass("hummer/hadoop/NativeCollector");
  if (type == nullptr) return JNI_ERR;
  const jint answer = java->RegisterNatives(type, methods, static_cast<jint>(std::size(methods)));
  java->DeleteLocalRef(type);
  return answer;
}

}  // namespace
}  // namespace hummer::hadoop

extern "C" JNIEXPORT jint JNICALL JNI_OnLoad(JavaVM* machine, void*) {
  constexpr jint version = JNI_VERSION_1_8;
  void* java = nullptr;
  if (machine->GetEnv(&java, version) != JNI_OK) return JNI_ERR;
  if (hummer::hadoop::register_methods(static_cast<JNIEnv*>(java)) != JNI_OK) return JNI_ERR;
  return version;
}
