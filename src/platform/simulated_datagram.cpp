#include "platform/simulated_datagram.hpp"

#include <algorithm>

namespace hummer {

void SimulatedDatagram::arrive(void* context) {
  auto& self = *static_cast<SimulatedDatagram*>(context);
  SimulatedFabric& fabric = self.fabric;
  const auto found = fabric.datagram_sockets.find({self.to_node, self.to.port});
  if (found != fabric.datagram_sockets.end()) {
    found->second->arrive(self.from, std::move(self.bytes));
  }
  std::erase_if(fabric.datagrams, [&](const auto& each) { return each.get() == &self; });
}

SimulatedDatagramSocket::SimulatedDatagramSocket(SimulatedNetwork& network, SimulatedFabric& fabric,
                                                 int node_index, SocketAddress local,
                                                 std::optional<SocketAddress> peer)
    : network_(network), fabric_(fabric), node_index_(node_index), local_(local), peer_(peer) {
  fabric_.datagram_sockets[{node_index_, local_.port}] = this;
}

SimulatedDatagramSocket::~SimulatedDatagramSocket() { do_close(); }

Result<DatagramSocket::Received> SimulatedDatagramSocket::try_receive(std::span<char> into) {
  if (!open_ || !network_.alive()) return Status(ErrorCode::cancelled, "the socket was closed");
  if (arrived_.empty()) return Received{would_block, {}};
  const auto [from, bytes] = std::move(arrived_.front());
  arrived_.pop_front();
  const std::size_t count = std::min(bytes.size(), into.size());
  std::copy_n(bytes.data(), count, into.data());
  return Received{count, from};
}

Status SimulatedDatagramSocket::send(std::span<const char> bytes, const SocketAddress& to) {
  if (!open_ || !network_.alive()) return {ErrorCode::cancelled, "the socket was closed"};
  network_.send_datagram(local_, to, std::string(bytes.data(), bytes.size()));
  return {};
}

void SimulatedDatagramSocket::arrive(const SocketAddress& from, std::string bytes) {
  if (peer_ && *peer_ != from) return;
  arrived_.emplace_back(from, std::move(bytes));
  receivable();
}

void SimulatedDatagramSocket::do_close() {
  open_ = false;
  arrived_.clear();
  const auto found = fabric_.datagram_sockets.find({node_index_, local_.port});
  if (found != fabric_.datagram_sockets.end() && found->second == this) {
    fabric_.datagram_sockets.erase(found);
  }
}

}  // namespace hummer
