// NetworkReceiver: the head of a receiver task. Each call of produce hands out
// one received batch and the control behind it, if that has arrived with it.
//
// Answers: more (something was handed out), blocked (nothing is there; the task's
// WakeEvent is notified when it is), done (the sender's `end` has come), failed
// (peer_gone, connection_lost, protocol_error and so on, naming the peer).
//
// Lifecycle: that of a source operator; attaches its transport end in open().
// Thread: that of the task. Ownership: owns its transport end; a batch that was
// handed out may hold received buffers (see BlockReader).
#pragma once

#include <memory>
#include <string>

#include <hummer/operator.hpp>

#include "net/block_reader.hpp"
#include "net/transport.hpp"

namespace hummer {

class NetworkReceiver final : public SourceOperator {
 public:
  // `peer` is for people: "map[0] at 10.0.0.1:7001".
  NetworkReceiver(std::unique_ptr<TransportReceiver> transport, const TypeDescriptor& type,
                  std::string peer, std::size_t max_record_bytes = default_max_record_bytes);

  void declare(Output& out) const override { out.add_port(type_); }
  Status open() override;
  Answer produce(Output& out) override;
  Status close() override;

 private:
  Answer read_block(Output& out, bool& handed_out);
  Answer fail(const Status& why);

  std::unique_ptr<TransportReceiver> transport_;
  const TypeDescriptor& type_;
  const std::string peer_;
  BlockReader reader_;
  bool holding_ = false;  // a polled run that has not been released
  bool ended_ = false;
};

}  // namespace hummer
