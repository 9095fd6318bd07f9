// The native methods of hummer.hadoop.NativeMapTask, each of which stands for one of MapTask.
#include <memory>
#include <string>
#include <vector>

#include "java_calls.hpp"
#include "java_failures.hpp"
#include "job_collector.hpp"
#include "library.hpp"
#include "map_task.hpp"

namespace hummer::hadoop {
namespace {

jlong create_map_task(JNIEnv* java, jclass, jobjectArray names_and_values, jlong collector,
                      jobject stream, jobject sink) {
  jlong handle = 0;
  guarded(java, [&]() -> Status {
    const Settings settings = Settings::of(java, names_and_values);
    MapTaskParts parts{.settings = settings, .stream = stream, .sink = sink};
    if (collector != 0) parts.collector = object_of<JobCollector>(collector).collector.get();
    auto task = MapTask::create(platform(), java, parts);
    if (!task.ok()) return task.status();
    handle = handle_of(task->release());
    return Status();
  });
  return handle;
}

jboolean map_some(JNIEnv* java, jclass, jlong handle) {
  bool has_more = false;
  guarded(java, [&] {
    const auto more = object_of<MapTask>(handle).map_some();
    has_more = more.ok() && *more;
    return more.status();
  });
  return has_more ? JNI_TRUE : JNI_FALSE;
}

void map_batch(JNIEnv* java, jclass, jlong handle, jobject records, jint size_bytes) {
  guarded(java, [&]() -> Status {
    const auto bytes = bytes_of_buffer(java, records, size_bytes);
    return bytes.ok() ? object_of<MapTask>(handle).map_batch(*bytes) : bytes.status();
  });
}

void close_map_task(JNIEnv* java, jclass, jlong handle) {
  guarded(java, [&] { return object_of<MapTask>(handle).close(); });
}

// In the order of the fields of NativeMapTask.Report.
jlongArray report_of_map_task(JNIEnv* java, jclass, jlong handle) {
  const MapTask::Report report = object_of<MapTask>(handle).report();
  return java_longs(
      java, {report.input_records, report.bytes_read, report.output_records, report.output_bytes});
}

jobjectArray counters_of_map_task(JNIEnv* java, jclass, jlong handle) {
  return java_counters(java, object_of<MapTask>(handle).counters());
}

}  // namespace

jint register_map_task(JNIEnv* java) {
  return register_methods(
      java, "hummer/hadoop/NativeMapTask",
      {method("create",
              "([Ljava/lang/String;JLhummer/hadoop/FileStream;Lhummer/hadoop/OutputSink;)J",
              create_map_task),
       method("mapSome", "(J)Z", map_some),
       method("mapBatch", "(JLjava/nio/ByteBuffer;I)V", map_batch),
       method("close", "(J)V", close_map_task), method("report", "(J)[J", report_of_map_task),
       method("counters", "(J)[Ljava/lang/String;", counters_of_map_task),
       method("destroy", "(J)V", destroy_object<MapTask>)});
}

}  // namespace hummer::hadoop
