// Where records of a native mapper or reducer go: contents come in, and what Hadoop's classes
// write of them goes on (writable_form.hpp).
//
//   CollectedWritables output(forms, partitioner, collector);   // a mapper's, natively
//   auto output = output_for_java(settings, "out_", java, sink);   // to a Java object, in batches
//   HUMMER_TRY((*output)->hand_over());                            // at the end
//
// To Java they go as records (record_batch.hpp), of the classes PREFIXkey_class and
// PREFIXvalue_class; or, where the setting `lines` says so, as the lines that TextOutputFormat
// makes of them (text_lines.hpp), with the setting `separator` within.
//
// The first counts what went through, in bytes as Hadoop does. Thread: one.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <jni.h>

#include <hummer/batch/partitioner.hpp>
#include <hummer/batch/record_output.hpp>

#include "batch/output_collector.hpp"
#include "settings.hpp"
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

class OutputForJava : public batch::MapOutput {
 public:
  // What was not handed over yet goes now.
  virtual Status hand_over() = 0;
};

// Failed: a class has no text.
Result<std::unique_ptr<OutputForJava>> output_for_java(const Settings& settings,
                                                       std::string_view prefix, JNIEnv* java,
                                                       jobject sink);

}  // namespace hummer::hadoop
