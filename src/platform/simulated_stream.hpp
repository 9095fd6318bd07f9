// SimulatedByteStream and SimulatedListener: the handles of one node on the
// simulated network. They go inert when their node is killed. (Simulated form only.)
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "platform/simulated_network.hpp"

namespace hummer {

class SimulatedByteStream final : public ByteStream {
 public:
  SimulatedByteStream(const SimulatedPlatform& node,
                      std::shared_ptr<SimulatedConnection> connection, int end)
      : node_(node), connection_(std::move(connection)), end_(end) {
    connection_->attach(end_, this);
  }
  ~SimulatedByteStream() override {
    connection_->attach(end_, nullptr);
    if (!closed() && node_.alive()) connection_->close(end_);
  }

  Result<std::size_t> try_read(std::span<char> into) override {
    if (inert()) return closed_failure();
    return connection_->read(end_, into);
  }
  Result<std::size_t> try_write(std::span<const char> bytes) override {
    if (inert()) return closed_failure();
    return connection_->write(end_, bytes);
  }
  bool writes_pieces() const override { return true; }
  Result<std::size_t> try_write_pieces(std::span<const std::string_view> pieces) override {
    std::string run;
    for (const std::string_view piece : pieces) run += piece;
    return try_write(run);
  }
  Status shutdown_write() override {
    if (inert()) return closed_failure();
    connection_->shutdown_write(end_);
    return {};
  }
  SocketAddress local_address() const override { return connection_->place(end_).address; }
  SocketAddress peer_address() const override { return connection_->place(1 - end_).address; }

  // From the connection.
  void can_read() { readable(); }
  void can_write() { writable(); }

 private:
  bool inert() const { return closed() || !node_.alive(); }
  void do_attach(Executor&) override {}
  void do_detach() override {}
  void do_close() override {
    if (node_.alive()) connection_->close(end_);
  }

  const SimulatedPlatform& node_;
  std::shared_ptr<SimulatedConnection> connection_;
  int end_;
};

class SimulatedListener final : public Listener {
 public:
  SimulatedListener(SimulatedPlatform& node, SimulatedFabric& fabric, int node_index,
                    SocketAddress address)
      : node_(node), fabric_(fabric), node_index_(node_index), address_(address) {
    fabric_.listeners[{node_index_, address_.port}] = this;
  }
  ~SimulatedListener() override { do_close(); }

  Result<std::unique_ptr<ByteStream>> try_accept() override {
    if (!open_ || !node_.alive()) {
      return Status(ErrorCode::cancelled, "the listener was closed");
    }
    std::unique_ptr<ByteStream> stream;
    if (!pending_.empty()) {
      stream = std::move(pending_.front());
      pending_.pop_front();
    }
    return stream;
  }
  SocketAddress local_address() const override { return address_; }

  // From the network.
  void arrive(std::shared_ptr<SimulatedConnection> connection) {
    pending_.push_back(std::make_unique<SimulatedByteStream>(node_, std::move(connection), 1));
    acceptable();
  }

 private:
  void do_attach(Executor&) override {}
  void do_close() override {
    open_ = false;
    pending_.clear();
    const auto found = fabric_.listeners.find({node_index_, address_.port});
    if (found != fabric_.listeners.end() && found->second == this) fabric_.listeners.erase(found);
  }

  SimulatedPlatform& node_;
  SimulatedFabric& fabric_;
  int node_index_;
  SocketAddress address_;
  bool open_ = true;
  std::deque<std::unique_ptr<ByteStream>> pending_;
};

}  // namespace hummer
