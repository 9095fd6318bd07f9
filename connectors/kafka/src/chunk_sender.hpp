// ChunkSender: hands the records of a chunk to a producer, and waits where its queue is full.
//
//   ChunkSender sender;
//   HUMMER_TRY(sender.send(chunk, producer));
//   sender.let_go();      // once all of them have arrived, or the producer is gone
//
// What lies in memory is not copied: the sender keeps it until let_go(). Thread: one. Errors: a
// chunk that can't be decoded or read again, a record that the producer refuses or could not
// deliver. Cost: one call of librdkafka's for a thousand records that have key and value alone, one
// for each other.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "epoch_records.hpp"
#include "producer.hpp"

namespace hummer::kafka {

class ChunkSender {
 public:
  // `hurries`: once it is set, a full queue is a failure (E3004).
  Status send(const EpochChunk& chunk, Producer& producer,
              const std::atomic<bool>* hurries = nullptr);
  void let_go() { kept_.clear(); }

 private:
  Status send_gathered(Producer& producer, bool copies, const std::atomic<bool>* hurries);

  std::vector<std::shared_ptr<const std::string>> kept_;
  std::string space_;
  Outgoing record_;
  std::string topic_;  // of those gathered
  std::vector<rd_kafka_message_t> gathered_;
};

}  // namespace hummer::kafka
