// ShuffleEmitter: the end of a chain ahead of a blocking edge. It writes all that leaves the task
// into one shuffle file, by partition, and publishes that with the end of the stream.
//
// Partitions: by key, with a partitioner; else batches go to them in turn. (A forward or broadcast
// edge has one, which all read.) Records are encoded as for a network (NetworkEmitter), in blocks
// that are gathered in a buffer for each partition; a full one is written as a chunk. Of controls
// only the end counts: in a bounded stream nothing waits for the others, and who reads partition
// after partition could not merge watermarks.
//
// Memory: a buffer of `chunk_bytes` for each partition that has records, and, with a partitioner, a
// batch. Lifecycle, thread: those of an emitter; the file is made with the first chunk, on the
// task's thread. Errors: those of the disk, naming the edge.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/partitioner.hpp>

#include "net/network_emitter.hpp"
#include "runtime/emitter.hpp"
#include "shuffle/shuffle_store.hpp"

namespace hummer {

// Of one partition, so that the buffers of all take no more than 8 MiB if they can.
std::size_t chunk_bytes_for(std::size_t partitions);

struct ShuffleOutput {
  ShuffleStore* store = nullptr;
  ShuffleKey key;
  std::uint32_t partitions = 1;
  std::unique_ptr<Partitioner> partitioner;  // null: batches in turn
  std::uint32_t batch_records = default_batch_records;
  std::string target;  // for people: the vertex behind the edge
};

class ShuffleEmitter final : public Emitter {
 public:
  ShuffleEmitter(ShuffleOutput output, const TypeDescriptor& type);
  ~ShuffleEmitter() override;

  OperatorResult offer(Element& element) override;
  Status failure() const override { return failure_; }
  // No barrier comes: jobs with blocking edges take no checkpoints.
  void send_out_of_band(std::uint64_t epoch, std::string in_flight) override;
  void abandon() override;
  std::string describe() const override { return "→ files for " + output_.target; }

 private:
  class Partition;

  Status write_chunk(std::uint32_t partition, std::string_view chunk);
  // Takes all of the batch.
  bool write_batch(std::size_t partition, Batch& batch);
  bool scatter(Batch& batch);
  OperatorResult finish();
  OperatorResult fail(const Status& why);

  const ShuffleOutput output_;
  const TypeDescriptor& type_;
  std::vector<Batch> targets_;          // with a partitioner, by partition
  std::vector<Partition*> partitions_;  // owned by their encoders
  std::vector<std::unique_ptr<NetworkEmitter>> encoders_;
  std::size_t next_;  // without a partitioner; senders begin at different ones
  std::unique_ptr<ShuffleStore::Draft> draft_;
  Status failure_;
};

}  // namespace hummer
