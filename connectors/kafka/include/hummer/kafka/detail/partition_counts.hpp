// PartitionCounts: how many partitions topics have, for a sink whose partitioner wants to know.
//
// The brokers are asked when a topic is first written to, and again when the answer is five minutes
// old; a topic gets more partitions, never fewer. Thread: that of the task, which waits for the
// answer. Errors: a topic that is not there, brokers that do not answer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hummer/kafka/settings.hpp>

namespace hummer::kafka::detail {

class PartitionCounts {
 public:
  explicit PartitionCounts(Connection connection);
  ~PartitionCounts();

  Result<std::int32_t> of(const std::string& topic);

 private:
  struct Impl;
  const std::unique_ptr<Impl> impl_;
};

}  // namespace hummer::kafka::detail
