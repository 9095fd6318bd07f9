#include "platform/simulated_network.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "platform/simulated_datagram.hpp"
#include "platform/simulated_stream.hpp"

namespace hummer {
namespace {

constexpr std::uint16_t first_free_port = 40'000;

bool is_loopback(const SocketAddress& address) {
  return !address.is_ipv6 && address.bytes[0] == 127;
}

}  // namespace

SocketAddress simulated_address(int node_index) {
  const int number = node_index + 1;
  SocketAddress address;
  address.bytes = {10, static_cast<std::uint8_t>(number >> 16),
                   static_cast<std::uint8_t>(number >> 8), static_cast<std::uint8_t>(number)};
  return address;
}

SimulatedFabric::SimulatedFabric() = default;
SimulatedFabric::~SimulatedFabric() = default;

void SimulatedFabric::cut(Simulation& simulation, int from, int to) {
  simulation.trace("cut", static_cast<std::uint64_t>(from * 65536 + to));
  cuts_.insert({from, to});
}

void SimulatedFabric::join(Simulation& simulation, int a, int b) {
  simulation.trace("heal", static_cast<std::uint64_t>(a * 65536 + b));
  cuts_.erase({a, b});
  cuts_.erase({b, a});
  for (const auto& weak : connections) {
    if (const auto connection = weak.lock()) connection->resume();
  }
}

void SimulatedFabric::corrupt(Simulation& simulation, int a, int b, double rate) {
  simulation.trace("corrupt", static_cast<std::uint64_t>(a * 65536 + b));
  corruption_rates_.erase(std::minmax(a, b));
  if (rate > 0) corruption_rates_[std::minmax(a, b)] = rate;
}

double SimulatedFabric::corruption_rate(int a, int b) const {
  if (corruption_rates_.empty()) return 0;
  const auto found = corruption_rates_.find(std::minmax(a, b));
  return found == corruption_rates_.end() ? 0 : found->second;
}

void SimulatedFabric::node_died(int node) {
  const auto of_node = [node](const auto& entry) { return entry.first.first == node; };
  std::erase_if(listeners, of_node);
  std::erase_if(datagram_sockets, of_node);
  std::erase_if(connections, [](const auto& weak) { return weak.expired(); });
  for (const auto& weak : connections) {
    const auto connection = weak.lock();
    for (int end = 0; end < 2; ++end) {
      if (connection->place(end).node == node) connection->kill(end);
    }
  }
}

std::uint16_t SimulatedFabric::free_port(int node) {
  std::uint16_t& next = next_port_.try_emplace(node, first_free_port).first->second;
  for (int tries = 0; tries < 65536 - first_free_port; ++tries) {
    const std::uint16_t port = next;
    next = next == 65535 ? first_free_port : static_cast<std::uint16_t>(next + 1);
    const std::pair place(node, port);
    if (!listeners.contains(place) && !datagram_sockets.contains(place)) return port;
  }
  return 0;
}

SimulatedNetwork::SimulatedNetwork(SimulatedPlatform& node)
    : node_(node), names_(*this, node.files(), node.random()) {}

int SimulatedNetwork::node_of(const SocketAddress& address) const {
  if (is_loopback(address)) return node_.index_;
  if (address.is_ipv6 || address.bytes[0] != 10) return -1;
  return ((address.bytes[1] << 16) | (address.bytes[2] << 8) | address.bytes[3]) - 1;
}

Nanoseconds SimulatedNetwork::latency() {
  const SimulationOptions& options = simulation().options();
  return simulation().random().between(options.latency_minimum_ns, options.latency_maximum_ns);
}

Result<SocketAddress> SimulatedNetwork::resolve(std::string_view text) {
  Result<SocketAddress> parsed = parse_socket_address(text);
  if (parsed.ok() || parsed.status().code() != ErrorCode::name_not_resolved) return parsed;
  const std::size_t colon = text.rfind(':');
  const SimulatedPlatform* node = simulation().node_named(text.substr(0, colon));
  if (node == nullptr) {
    return Status(ErrorCode::name_not_resolved,
                  "no node is called '" + std::string(text.substr(0, colon)) + "'");
  }
  SocketAddress address = node->address();
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), address.port);
  return address;
}

Task<Result<SocketAddress>> SimulatedNetwork::look_up(std::string text) {
  Result<SocketAddress> here = resolve(text);
  if (here.ok() || here.status().code() != ErrorCode::name_not_resolved) co_return here;
  if (!node_.files().stat("/etc/resolv.conf").ok()) co_return here;
  co_return co_await names_.look_up(std::move(text));
}

Task<Result<std::unique_ptr<ByteStream>>> SimulatedNetwork::connect(SocketAddress address,
                                                                    ConnectOptions options) {
  Executor& executor = co_await current_executor();
  const std::string doing = "cannot connect to " + address.to_string();
  if (!node_.alive()) co_return Status(ErrorCode::cancelled, "the process was killed");
  const Nanoseconds deadline =
      options.timeout_ns >= never - executor.now() ? never : executor.now() + options.timeout_ns;
  simulation().trace("connect", address.port);
  const int target = node_of(address);
  if (target < 0) co_return Status(ErrorCode::connection_lost, doing + ": no route");
  co_await sleep_for(latency());
  const SimulationOptions& faults = simulation().options();
  const bool fails = simulation().random().chance(faults.connect_failure_rate);
  const bool silently = fails && simulation().random().chance(0.5);
  const bool separated = fabric().separated(node_.index_, target);
  if (separated) ++simulation().counts_.held_by_partition;
  if (silently || separated) {
    co_await sleep_until(deadline);
    co_return Status(
        ErrorCode::timed_out,
        doing + ": no answer within " + std::to_string(options.timeout_ns / 1'000'000) + " ms");
  }
  const auto found = fabric().listeners.find({target, address.port});
  if (fails || found == fabric().listeners.end()) {
    co_return Status(ErrorCode::connection_refused, doing + ": nobody listens there");
  }
  SocketAddress local = is_loopback(address) ? address : simulated_address(node_.index_);
  local.port = fabric().free_port(node_.index_);
  auto connection = std::make_shared<SimulatedConnection>(
      simulation(), fabric(), SimulatedConnection::Place{node_.index_, local},
      SimulatedConnection::Place{target, address});
  std::erase_if(fabric().connections, [](const auto& weak) { return weak.expired(); });
  fabric().connections.push_back(connection);
  auto stream = std::make_unique<SimulatedByteStream>(node_, connection, 0);
  found->second->arrive(std::move(connection));
  co_await sleep_for(latency());
  co_return std::unique_ptr<ByteStream>(std::move(stream));
}

Result<std::unique_ptr<Listener>> SimulatedNetwork::listen(SocketAddress address, ListenOptions) {
  const std::string doing = "cannot listen on " + address.to_string();
  if (!node_.alive()) return Status(ErrorCode::cancelled, "the process was killed");
  const bool any = !address.is_ipv6 && address.bytes == SocketAddress().bytes;
  if (!any && node_of(address) != node_.index_) {
    return Status(ErrorCode::invalid_argument, doing + ": not an address of this node");
  }
  if (address.port == 0) address.port = fabric().free_port(node_.index_);
  if (fabric().listeners.count({node_.index_, address.port}) > 0) {
    return Status(ErrorCode::address_in_use, doing + ": the address is in use");
  }
  simulation().trace("listen", address.port);
  return std::unique_ptr<Listener>(
      std::make_unique<SimulatedListener>(node_, fabric(), node_.index_, address));
}

Result<std::unique_ptr<DatagramSocket>> SimulatedNetwork::open_datagrams(
    const SocketAddress& local, const SocketAddress* peer) {
  const std::string doing = "cannot receive datagrams at " + local.to_string();
  if (!node_.alive()) return Status(ErrorCode::cancelled, "the process was killed");
  const bool any = !local.is_ipv6 && local.bytes == SocketAddress().bytes;
  if (!any && node_of(local) != node_.index_) {
    return Status(ErrorCode::invalid_argument, doing + ": not an address of this node");
  }
  SocketAddress address = local;
  if (any && peer != nullptr) {
    address = is_loopback(*peer) ? *peer : simulated_address(node_.index_);
    address.port = local.port;
  }
  if (address.port == 0) address.port = fabric().free_port(node_.index_);
  if (fabric().datagram_sockets.contains({node_.index_, address.port})) {
    return Status(ErrorCode::address_in_use, doing + ": the address is in use");
  }
  simulation().trace("open datagrams", address.port);
  return std::unique_ptr<DatagramSocket>(std::make_unique<SimulatedDatagramSocket>(
      *this, fabric(), node_.index_, address,
      peer == nullptr ? std::nullopt : std::optional(*peer)));
}

void SimulatedNetwork::send_datagram(const SocketAddress& from, const SocketAddress& to,
                                     std::string bytes) {
  const SimulationOptions& options = simulation().options();
  const int target = node_of(to);
  simulation().trace("send datagram", bytes.size());
  if (target < 0) return;
  if (fabric().is_cut(node_.index_, target) ||
      simulation().random().chance(options.datagram_loss_rate)) {
    ++simulation().counts_.lost_datagrams;
    return;
  }
  SocketAddress sender = from;
  if (sender.bytes == SocketAddress().bytes) {
    sender = is_loopback(to) ? to : simulated_address(node_.index_);
    sender.port = from.port;
  }
  Nanoseconds when = latency();
  if (simulation().random().chance(options.delay_rate)) when *= 100;
  auto datagram =
      std::make_unique<SimulatedDatagram>(fabric(), target, sender, to, std::move(bytes));
  simulation().events_.arm(datagram->arrival, simulation().now() + when);
  fabric().datagrams.push_back(std::move(datagram));
}

void SimulatedNetwork::node_died() { fabric().node_died(node_.index_); }

}  // namespace hummer
