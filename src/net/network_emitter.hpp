// NetworkEmitter: the end of a sender task. Encodes elements into the buffers of
// a transport: one copy, from the batch to the memory that is sent; none of a large batch of
// bitwise values whose way is free, which leaves from where it lies.
//
// Each batch leaves with the offer that brought it when the way is free, so
// batching adds no waiting time; while it is busy, batches and controls share a
// buffer (see TransportSender::publish). A control follows its batch, if need be
// with the controls' own credit, and leaves together with it. `idle` is not sent: the
// receiving task says so itself when nothing comes. `end` is done when the receiver has taken
// everything.
//
// Lifecycle: made for one channel; attach before the first offer. Thread: that of
// the task. Ownership: owns its transport end. Errors: failure() names the peer;
// limit_exceeded when one record exceeds `max_record_bytes`.
#pragma once

#include <memory>
#include <string>

#include "net/block_reader.hpp"
#include "net/transport.hpp"
#include "runtime/emitter.hpp"
#include "runtime/task_metrics.hpp"

namespace hummer {

class NetworkEmitter final : public Emitter {
 public:
  // `peer` is for people: "count[1] at 10.0.0.2:7001".
  NetworkEmitter(std::unique_ptr<TransportSender> transport, const TypeDescriptor& type,
                 std::string peer, std::size_t max_record_bytes = default_max_record_bytes);

  // The task's executor and event. From any thread, once.
  void attach(Executor& executor, WakeEvent& wake_event);

  OperatorResult offer(Element& element) override;
  Status failure() const override;
  void send_out_of_band(std::uint64_t epoch, std::string in_flight) override;
  void abandon() override;
  std::string describe() const override { return "→ " + peer_; }

  // Encoded, with headers and padding. Any thread.
  std::uint64_t bytes_sent() const { return bytes_sent_.get(); }
  std::uint64_t records_sent() const { return records_sent_; }

 private:
  OperatorResult send_batch(Element& element);
  OperatorResult send_bitwise(Element& element);
  // As many records as a few buffers hold, and the control if they are the last; false: acquire
  // room.
  bool send_in_place(Element& element);
  // `follows`: something comes behind the batch in the same offer.
  OperatorResult send_encoded(Batch& batch, bool follows);
  OperatorResult start_record(Batch& batch, bool follows);
  OperatorResult send_fragments(Batch& batch, bool follows);
  OperatorResult send_control(const Control& control);
  OperatorResult no_room() const {
    return transport_->failure().ok() ? OperatorResult::blocked : OperatorResult::failed;
  }
  void publish(BlockHeader& header, char* at, bool more);

  std::unique_ptr<TransportSender> transport_;
  const TypeDescriptor& type_;
  const std::string peer_;
  const std::size_t max_record_bytes_;
  Status failure_;
  std::uint64_t next_sequence_ = 0;
  MetricCell<> bytes_sent_;
  std::uint64_t records_sent_ = 0;
  std::size_t typical_record_bytes_ = 16;
  bool end_sent_ = false;
  // A record larger than a buffer, encoded, and how much of it has gone.
  std::string record_;
  std::size_t record_bytes_ = 0;
  std::size_t record_sent_ = 0;
};

}  // namespace hummer
