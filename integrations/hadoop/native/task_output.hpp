// Where records of a native mapper or reducer go: contents come in, and what Hadoop's classes
// write of them goes on (writable_form.hpp).
//
//   CollectedWritables output(forms, partitioner, collector);   // a mapper's, natively
//   WritablesForJava output(forms, java, sink);                 // to a Java object, by the batch
//
// Both count what went through, in bytes as Hadoop does. Thread: one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <jni.h>

#include <hummer/batch/partitioner.hpp>
#include <hummer/batch/record_output.hpp>

#include "batch/output_collector.hpp"
#include "java_calls.hpp"
#include "writable_form.hpp"

namespace hummer::hadoop {

class CollectedWritables final : public batch::MapOutput {
 public:
  // Both outlive it.
  CollectedWritables(RecordForms forms, batch::Partitioner& partitioner,
                     batch::OutputCollector& collector)
      : forms_(forms), partitioner_(partitioner), collector_(collector) {}

  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return bytes_; }

 protected:
  Status take(std::span<const batch::RecordView> records) override;

 private:
  Status collect(std::uint32_t partition, std::string_view key, std::string_view value);

  const RecordForms forms_;
  batch::Partitioner& partitioner_;
  batch::OutputCollector& collector_;
  std::vector<std::uint32_t> partitions_;
  std::vector<char> written_;  // key and value, each with its head
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
};

class WritablesForJava final : public batch::MapOutput {
 public:
  WritablesForJava(RecordForms forms, JNIEnv* java, jobject sink)
      : forms_(forms), sink_(java, sink, "take", "(Ljava/nio/ByteBuffer;)V") {}

  // What was not handed over yet goes now.
  Status hand_over();

 protected:
  Status take(std::span<const batch::RecordView> records) override;

 private:
  const RecordForms forms_;
  JavaObject sink_;
  std::string batch_;
};

}  // namespace hummer::hadoop
