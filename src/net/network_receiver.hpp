// NetworkReceiver: the head of a receiver task. Each call of produce hands out
// one received batch and the control behind it, if that has arrived with it.
//
// Answers: more (something was handed out), blocked (nothing is there; the task's
// WakeEvent is notified when it is), done (the sender's `end` has come), failed
// (peer_gone, connection_lost, protocol_error and so on, naming the peer).
//
// While its chain is blocked, read_ahead() takes what has arrived and keeps its credits, so that a
// barrier is met whose records wait; see barrier_relay.hpp.
//
// Lifecycle: that of a source operator; attaches its transport end in open().
// Thread: that of the task. Ownership: owns its transport end; a batch that was
// handed out may hold received buffers (see BlockReader).
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>

#include <hummer/operator.hpp>

#include "net/block_reader.hpp"
#include "net/transport.hpp"
#include "runtime/barrier_relay.hpp"

namespace hummer {

class NetworkReceiver final : public SourceOperator, public BarrierRelay {
 public:
  // `peer` is for people: "map[0] at 10.0.0.1:7001".
  NetworkReceiver(std::unique_ptr<TransportReceiver> transport, const TypeDescriptor& type,
                  std::string peer, std::size_t max_record_bytes = default_max_record_bytes);

  void declare(Output& out) const override { out.add_port(type_); }
  bool wakes_itself() const override { return true; }
  Status open() override;
  OperatorResult produce(Output& out) override;
  Status close() override;

  void read_ahead() override;
  bool has_barrier() const override { return barrier_.has_value(); }
  std::optional<OutOfBandBarrier> take_barrier() override;

 private:
  // An element that has been read, and the credits that go back when it is handed out.
  struct Ahead {
    Element element;
    int credits = 0;
  };
  enum class Step { run, nothing, barrier, failed };

  Step poll_run();
  Status read_block(Batch& batch, Control& control);
  void hand_out(const Control& control, Output& out);
  OperatorResult fail(const Status& why);

  std::unique_ptr<TransportReceiver> transport_;
  const TypeDescriptor& type_;
  const std::string peer_;
  BlockReader reader_;
  bool holding_ = false;  // a polled run that has not been released
  std::deque<Ahead> ahead_;
  std::optional<OutOfBandBarrier> barrier_;  // behind `ahead_`; nothing behind it has been read
  Status failure_;                           // met while reading ahead
  bool end_read_ = false;
  bool ended_ = false;
};

}  // namespace hummer
