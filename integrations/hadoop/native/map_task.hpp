// MapTask: a mapper of a class library in a map task of Hadoop's, with what it reads and where its
// records go.
//
//   auto task = MapTask::create(platform, java, {settings, collector, stream, sink});
//   (*task)->map_some();            // false: the split has ended
//   (*task)->map_batch(records);    // instead, where Java reads: a batch (record_batch.hpp)
//   (*task)->close();               // then its counters may be asked for
//
// Settings: mapper, libraries, define.NAME; key_class and value_class of the map output;
// partitioner, a class of a library (none: Hadoop's HashPartitioner, by the keys' class), or
// cut_points; reader and what split_bytes.hpp says, or in_key_class and in_value_class where Java
// reads; number and attempt.
//
// Where there is a collector records go there, else to `sink`, a Java object, as records or lines
// (task_output.hpp).
//
// Thread: one. Failures name what failed, and of mappers the record.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string_view>

#include <jni.h>

#include <hummer/batch/task_context.hpp>

#include "batch/output_collector.hpp"
#include "class_libraries.hpp"
#include "map_attempt.hpp"
#include "platform/platform.hpp"
#include "settings.hpp"
#include "task_output.hpp"

namespace hummer::hadoop {

class BatchReader;

struct MapTaskParts {
  const Settings& settings;
  batch::OutputCollector* collector = nullptr;  // outlives the task
  jobject stream = nullptr;                     // what a split is read from where that is Java's
  jobject sink = nullptr;
};

class MapTask {
 public:
  // What it has done so far.
  struct Report {
    std::uint64_t input_records = 0;
    std::uint64_t bytes_read = 0;
    std::uint64_t output_records = 0;  // into the collector
    std::uint64_t output_bytes = 0;
  };

  static Result<std::unique_ptr<MapTask>> create(Platform& platform, JNIEnv* java,
                                                 const MapTaskParts& parts);
  MapTask(const MapTask&) = delete;
  MapTask& operator=(const MapTask&) = delete;
  ~MapTask();

  Result<bool> map_some();
  Status map_batch(std::string_view records);
  Status close();
  Report report() const;
  const batch::Counters& counters() const { return context_.counters(); }

 private:
  explicit MapTask(const Settings& settings);
  Status open_output(JNIEnv* java, const MapTaskParts& parts, const batch::ClassLibraries& classes);
  Status open_mapper(Platform& platform, JNIEnv* java, const MapTaskParts& parts,
                     const batch::ClassLibraries& classes);
  batch::MapOutput& output();

  const batch::Parameters parameters_;
  const std::atomic<bool> is_stopping_{false};
  batch::TaskContext context_;
  std::unique_ptr<batch::Partitioner> partitioner_;
  std::unique_ptr<CollectedWritables> collected_;
  std::unique_ptr<OutputForJava> for_java_;
  std::unique_ptr<batch::MapAttempt> attempt_;
  BatchReader* batch_reader_ = nullptr;  // the attempt's, where Java reads
};

}  // namespace hummer::hadoop
