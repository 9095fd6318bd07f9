// The native methods of hummer.hadoop.NativeMerge, each of which stands for one of ShuffleMerge.
#include <string>

#include "java_calls.hpp"
#include "java_failures.hpp"
#include "library.hpp"
#include "merged_batches.hpp"
#include "settings.hpp"

namespace hummer::hadoop {
namespace {

ShuffleMerge& merge_of(jlong handle) { return object_of<JobMerge>(handle).merge; }

ShuffleMerge::Id id_of(jlong id) { return static_cast<ShuffleMerge::Id>(id); }

jlong create_merge(JNIEnv* java, jclass, jobjectArray names_and_values) {
  jlong handle = 0;
  guarded(java, [&]() -> Status {
    const Settings settings = Settings::of(java, names_and_values);
    const auto order = batch::key_order_of(settings.text("key_class"));
    const auto codec = batch::codec_of(settings.text("codec"));
    if (!order.has_value() || !codec.has_value()) {
      return {ErrorCode::invalid_argument, "keys of the class " + settings.text("key_class") +
                                               ", or the codec " + settings.text("codec") +
                                               ", have no native form"};
    }
    handle = handle_of(new JobMerge(
        platform(), {.memory_bytes = static_cast<std::size_t>(settings.number("memory_bytes")),
                     .order = *order,
                     .codec = *codec,
                     .spill_directory = settings.text("spill_directory")}));
    return Status();
  });
  return handle;
}

jlong reserve(JNIEnv* java, jclass, jlong handle, jlong raw_bytes) {
  jlong id = 0;
  guarded(java, [&] {
    const auto reserved = merge_of(handle).reserve(static_cast<std::uint64_t>(raw_bytes));
    if (reserved.ok()) id = static_cast<jlong>(*reserved);
    return reserved.status();
  });
  return id;
}

void begin(JNIEnv* java, jclass, jlong handle, jlong id, jlong raw_bytes, jlong stored_bytes) {
  guarded(java, [&]() -> Status {
    if (raw_bytes < 0 || stored_bytes < 0) {
      return {ErrorCode::corrupt_file, "a map output announces a length below 0"};
    }
    return merge_of(handle).begin(id_of(id), {0, static_cast<std::uint64_t>(raw_bytes),
                                              static_cast<std::uint64_t>(stored_bytes)});
  });
}

void receive(JNIEnv* java, jclass, jlong handle, jlong id, jobject bytes, jint size_bytes) {
  guarded(java, [&]() -> Status {
    const auto received = bytes_of_buffer(java, bytes, size_bytes);
    return received.ok() ? merge_of(handle).receive(id_of(id), *received) : received.status();
  });
}

void check(JNIEnv* java, jclass, jlong handle, jlong id) {
  guarded(java, [&] { return merge_of(handle).check(id_of(id)); });
}

void commit(JNIEnv* java, jclass, jlong handle, jlong id) {
  guarded(java, [&] { return merge_of(handle).commit(id_of(id)); });
}

void abort(JNIEnv*, jclass, jlong handle, jlong id) { merge_of(handle).abort(id_of(id)); }

// Whether there are records.
jboolean finish_merge(JNIEnv* java, jclass, jlong handle) {
  bool has_records = false;
  guarded(java, [&]() -> Status {
    HUMMER_TRY(merge_of(handle).finish());
    const auto found = object_of<JobMerge>(handle).records.peek();
    has_records = found.ok() && *found;
    return found.status();
  });
  return has_records ? JNI_TRUE : JNI_FALSE;
}

jobject next_batch(JNIEnv* java, jclass, jlong handle) {
  jobject buffer = nullptr;
  guarded(java, [&] {
    const auto batch = object_of<JobMerge>(handle).next_batch();
    if (batch.ok() && !batch->empty()) {
      buffer = java->NewDirectByteBuffer(const_cast<char*>(batch->data()),
                                         static_cast<jlong>(batch->size()));
    }
    return batch.status();
  });
  return buffer;
}

// In the order of the fields of NativeMerge.Metrics.
jlongArray metrics_of_merge(JNIEnv* java, jclass, jlong handle) {
  const ShuffleMergeMetrics metrics = merge_of(handle).metrics();
  return java_longs(java,
                    {metrics.outputs, metrics.spills, metrics.spilled_records, metrics.all_bytes});
}

}  // namespace

jint register_merge(JNIEnv* java) {
  return register_methods(java, "hummer/hadoop/NativeMerge",
                          {method("create", "([Ljava/lang/String;)J", create_merge),
                           method("reserve", "(JJ)J", reserve), method("begin", "(JJJJ)V", begin),
                           method("receive", "(JJLjava/nio/ByteBuffer;I)V", receive),
                           method("check", "(JJ)V", check), method("commit", "(JJ)V", commit),
                           method("abort", "(JJ)V", abort), method("finish", "(J)Z", finish_merge),
                           method("nextBatch", "(J)Ljava/nio/ByteBuffer;", next_batch),
                           method("metrics", "(J)[J", metrics_of_merge),
                           method("destroy", "(J)V", destroy_object<JobMerge>)});
}

}  // namespace hummer::hadoop
