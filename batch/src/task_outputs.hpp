// Where records of a task go: through a partitioner into a collector, or to a writer.
//
// Thread: each one.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <hummer/batch/partitioner.hpp>
#include <hummer/batch/record_output.hpp>
#include <hummer/batch/record_writer.hpp>

#include "batch/output_collector.hpp"

namespace hummer::batch {

class CollectedOutput final : public MapOutput {
 public:
  // Both outlive it.
  CollectedOutput(Partitioner& partitioner, OutputCollector& collector)
      : partitioner_(partitioner), collector_(collector) {}

 protected:
  Status take(std::span<const RecordView> records) override;

 private:
  Partitioner& partitioner_;
  OutputCollector& collector_;
  std::vector<std::uint32_t> partitions_;
};

class WrittenOutput final : public MapOutput {
 public:
  // It outlives it.
  explicit WrittenOutput(RecordWriter& writer) : writer_(writer) {}

  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return bytes_; }

 protected:
  Status take(std::span<const RecordView> records) override;

 private:
  RecordWriter& writer_;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
};

// Collects into a collector of its own, of one partition, which is made when the first record
// comes.
class SortedOutput final : public MapOutput {
 public:
  SortedOutput(Platform& platform, CollectorOptions options)
      : platform_(platform), options_(std::move(options)) {}

  // Once, when there are no more. They may not outlive this.
  Result<std::vector<std::unique_ptr<RecordStream>>> streams();

 protected:
  Status take(std::span<const RecordView> records) override;

 private:
  Platform& platform_;
  const CollectorOptions options_;
  std::unique_ptr<OutputCollector> collector_;
};

// Counts what goes through to another output.
class CountedOutput final : public MapOutput {
 public:
  explicit CountedOutput(RecordOutput& output) : output_(output) {}

  std::uint64_t records() const { return records_; }
  std::uint64_t bytes() const { return bytes_; }

 protected:
  Status take(std::span<const RecordView> records) override;
  Status take_keys(std::span<const std::string_view> keys, std::string_view value) override;

 private:
  RecordOutput& output_;
  std::uint64_t records_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace hummer::batch
