// ReduceTask: a reducer of a class library in a reduce task of Hadoop's.
//
//   auto task = ReduceTask::create(platform, java, {settings, merged, source, sink});
//   (*task)->run();                 // on one thread, while another may look at report() and stop()
//
// Settings: reducer, libraries, define.NAME, number, attempt; key_class, value_class of what comes,
// out_key_class, out_value_class of what goes; lines, separator (task_output.hpp). Records come
// from `merged`, or from Java, where Hadoop has merged them: `source.next()` gives a batch
// (record_batch.hpp), an empty one at the end. What the reducer gives out goes to `sink` by the
// batch.
//
// Failures name what failed, and of reducers the key.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <jni.h>

#include <hummer/batch/key_order.hpp>
#include <hummer/batch/task_context.hpp>

#include "class_libraries.hpp"
#include "platform/platform.hpp"
#include "settings.hpp"
#include "task_output.hpp"

namespace hummer::hadoop {

struct ReduceTaskParts {
  const Settings& settings;
  batch::RecordStream* merged = nullptr;  // outlives the task; null: from Java
  jobject source = nullptr;
  jobject sink = nullptr;
};

class ReduceTask {
 public:
  struct Report {
    std::uint64_t records = 0;
    std::uint64_t groups = 0;  // when it has ended
    std::uint64_t bytes = 0;   // of keys and values
  };

  static Result<std::unique_ptr<ReduceTask>> create(Platform& platform, JNIEnv* java,
                                                    const ReduceTaskParts& parts);
  ReduceTask(const ReduceTask&) = delete;
  ReduceTask& operator=(const ReduceTask&) = delete;
  ~ReduceTask();

  Status run();
  // Any thread.
  Report report() const;
  void stop() { is_stopping_.store(true, std::memory_order_relaxed); }
  // When it has ended.
  const batch::Counters& counters() const { return context_.counters(); }

 private:
  class Input;
  explicit ReduceTask(const ReduceTaskParts& parts);

  const batch::Parameters parameters_;
  std::atomic<bool> is_stopping_{false};
  batch::TaskContext context_;
  batch::Factory<batch::Reducer> make_reducer_;
  batch::KeyOrder order_;
  std::unique_ptr<batch::RecordStream> from_java_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<OutputForJava> output_;
  std::atomic<std::uint64_t> groups_{0};
};

}  // namespace hummer::hadoop
