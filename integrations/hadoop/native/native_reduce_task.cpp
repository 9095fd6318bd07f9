// The native methods of hummer.hadoop.NativeReduceTask, each of which stands for one of ReduceTask.
#include "java_failures.hpp"
#include "library.hpp"
#include "merged_batches.hpp"
#include "reduce_task.hpp"

namespace hummer::hadoop {
namespace {

jlong create_reduce_task(JNIEnv* java, jclass, jobjectArray names_and_values, jlong merge,
                         jobject source, jobject sink) {
  jlong handle = 0;
  guarded(java, [&]() -> Status {
    const Settings settings = Settings::of(java, names_and_values);
    ReduceTaskParts parts{.settings = settings, .source = source, .sink = sink};
    if (merge != 0) parts.merged = &object_of<JobMerge>(merge).records;
    auto task = ReduceTask::create(platform(), java, parts);
    if (!task.ok()) return task.status();
    handle = handle_of(task->release());
    return Status();
  });
  return handle;
}

void run_reduce_task(JNIEnv* java, jclass, jlong handle) {
  guarded(java, [&] { return object_of<ReduceTask>(handle).run(); });
}

void stop_reduce_task(JNIEnv*, jclass, jlong handle) { object_of<ReduceTask>(handle).stop(); }

// In the order of the fields of NativeReduceTask.Report.
jlongArray report_of_reduce_task(JNIEnv* java, jclass, jlong handle) {
  const ReduceTask::Report report = object_of<ReduceTask>(handle).report();
  return java_longs(java, {report.records, report.groups, report.bytes});
}

jobjectArray counters_of_reduce_task(JNIEnv* java, jclass, jlong handle) {
  return java_counters(java, object_of<ReduceTask>(handle).counters());
}

}  // namespace

jint register_reduce_task(JNIEnv* java) {
  return register_methods(
      java, "hummer/hadoop/NativeReduceTask",
      {method("create",
              "([Ljava/lang/String;JLhummer/hadoop/RecordSource;Lhummer/hadoop/OutputSink;)J",
              create_reduce_task),
       method("run", "(J)V", run_reduce_task), method("stop", "(J)V", stop_reduce_task),
       method("report", "(J)[J", report_of_reduce_task),
       method("counters", "(J)[Ljava/lang/String;", counters_of_reduce_task),
       method("destroy", "(J)V", destroy_object<ReduceTask>)});
}

}  // namespace hummer::hadoop
