// SimulatedDatagramSocket: datagrams in memory, with latency, loss and change of places by seed;
// see simulation.hpp. (Simulated form only.)
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "platform/simulated_network.hpp"

namespace hummer {

// One on its way. Owned by the fabric.
struct SimulatedDatagram {
  SimulatedDatagram(SimulatedFabric& between, int node, SocketAddress sender,
                    SocketAddress receiver, std::string text)
      : fabric(between),
        to_node(node),
        from(sender),
        to(receiver),
        bytes(std::move(text)),
        arrival(&arrive, this) {}
  static void arrive(void* context);

  SimulatedFabric& fabric;
  int to_node;
  SocketAddress from;
  SocketAddress to;
  std::string bytes;
  Timer arrival;
};

class SimulatedDatagramSocket final : public DatagramSocket {
 public:
  SimulatedDatagramSocket(SimulatedNetwork& network, SimulatedFabric& fabric, int node_index,
                          SocketAddress local, std::optional<SocketAddress> peer);
  ~SimulatedDatagramSocket() override;

  Result<Received> try_receive(std::span<char> into) override;
  Status send(std::span<const char> bytes, const SocketAddress& to) override;
  SocketAddress local_address() const override { return local_; }

  // From the network.
  void arrive(const SocketAddress& from, std::string bytes);

 private:
  void do_attach(Executor&) override {}
  void do_close() override;

  SimulatedNetwork& network_;
  SimulatedFabric& fabric_;
  int node_index_;
  SocketAddress local_;
  std::optional<SocketAddress> peer_;
  bool open_ = true;
  std::deque<std::pair<SocketAddress, std::string>> arrived_;
};

}  // namespace hummer
