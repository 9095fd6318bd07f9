// PartitionReader: what a source of Kafka topics does that depends on no record type.
//
// It finds the partitions that are this subtask's, reads each through a queue of its own, and keeps
// the offsets. librdkafka fetches ahead in its own threads; a queue that gets its first record says
// so, and wakes the task.
//
// Lifecycle: restore_split*, open, (begin_turns next fetch note take | snapshot_split | commit)*,
// close. Thread: that of the task.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/kafka/record.hpp>
#include <hummer/kafka/settings.hpp>
#include <hummer/operator.hpp>
#include <hummer/source_splits.hpp>

namespace hummer::kafka::detail {

struct Partition {
  SplitId split = 0;
  std::string topic;
  std::int32_t number = 0;
};

class PartitionReader {
 public:
  explicit PartitionReader(SourceSettings settings);
  ~PartitionReader();
  PartitionReader(const PartitionReader&) = delete;
  PartitionReader& operator=(const PartitionReader&) = delete;

  Status open(OperatorContext& context);
  Status snapshot_split(SplitId id, ByteWriter& out);
  Status restore_split(SplitId id, ByteReader& in);
  Status commit(std::uint64_t epoch);
  void close();

  // How many partitions may have records now. next() gives them in turn; each is put back, or
  // fetched from and taken.
  std::size_t begin_turns();
  Partition& next();
  void put_back(Partition& partition);
  // Records at hand, in order; valid until `take`, which says how many were handed on. True: the
  // partition has ended.
  std::span<const Record> fetch(Partition& partition);
  bool take(Partition& partition, std::size_t records);

  // For failure messages: the record that is put out next, and whether it is not put out after all.
  void note(const Partition& partition, const Record& record) {
    noted_.push_back({&partition, record.offset});
  }
  void leave_out() { noted_.pop_back(); }
  std::string describe(std::size_t record) const;
  std::string describe_last() const { return describe(noted_.size() - 1); }

  // When there was nothing to hand on: blocked, done or failed.
  OperatorResult answer();

 private:
  struct Impl;
  struct Noted {
    const Partition* partition;
    std::int64_t offset;
  };
  const std::unique_ptr<Impl> impl_;
  std::vector<Noted> noted_;  // of the last call
};

}  // namespace hummer::kafka::detail
