// SocketSource: lines that arrive on a connection. make_socket_source
// (hummer/detail/connector_factories.hpp) makes it.
//
// open() resolves the address and starts to connect; produce() answers `blocked`
// until the connection stands. Whole lines are handed on at once when they
// arrive; the begin of a line waits for its rest; a last line without '\n' is
// handed on when the peer closes. Then the stream ends.
//
// One reader only: with parallelism above 1, open() fails (invalid_argument).
// What was read can't be read again: nothing is kept in snapshots, and it is not replayable.
//
// Errors, each naming the address: name_not_resolved, connection_refused,
// timed_out, connection_lost, limit_exceeded for a line above max_line_bytes.
//
// Thread: that of the operator, which is its executor's; the connection wakes
// ConnectorContext::wake_event().
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <hummer/operator.hpp>

#include "connectors/line_buffers.hpp"
#include "platform/network.hpp"

namespace hummer {

class SocketSource final : public SourceOperator {
 public:
  struct Connecting;  // what it shares with the coroutine that connects

  SocketSource(std::string address, std::size_t max_line_bytes);

  void declare(Output& out) const override;
  bool wakes_itself() const override { return true; }
  Status open() override;
  OperatorResult produce(Output& out) override;
  Status close() override;
  bool replayable() const override { return false; }

 private:
  OperatorResult fail(const Status& status) {
    return context().fail(status.with_context(*origin_));
  }
  // Takes over the connection. blocked: not yet.
  OperatorResult finish_connecting();
  void make_room();
  void emit(std::size_t length, Output& out);

  std::shared_ptr<const std::string> origin_;  // the address
  std::size_t max_line_bytes_;
  LineBufferPool pool_;
  std::shared_ptr<Connecting> connecting_;
  std::unique_ptr<ByteStream> stream_;
  LineBufferPool::Lease space_;
  std::size_t size_ = 0;      // bytes in space_: the begin of a line
  std::uint64_t offset_ = 0;  // in the stream, of the first of them
  bool ended_ = false;
};

}  // namespace hummer
