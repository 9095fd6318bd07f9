// SimulatedNetwork: connections in memory, with latency, partial transfers and
// death by seed; see simulation.hpp. (Simulated form only.)
//
// SimulatedFabric knows the listeners and connections of one simulation;
// a SimulatedConnection is shared by its two streams and lives until both are gone.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "platform/name_client.hpp"
#include "platform/network.hpp"
#include "platform/simulation.hpp"

namespace hummer {

class SimulatedByteStream;
class SimulatedDatagramSocket;
class SimulatedListener;

SocketAddress simulated_address(int node_index);

class SimulatedConnection {
 public:
  struct Place {
    int node = 0;
    SocketAddress address;
  };
  // End 0 connected, end 1 accepted.
  SimulatedConnection(Simulation& simulation, SimulatedFabric& fabric, Place connected,
                      Place accepted);

  Result<std::size_t> read(int end, std::span<char> into);
  Result<std::size_t> write(int end, std::span<const char> bytes);
  void shutdown_write(int end);
  void close(int end);
  // The process at `end` was killed: nobody is told but the other end, by the network.
  void kill(int end);

  void attach(int end, SimulatedByteStream* stream) { ends_[end].stream = stream; }
  const Place& place(int end) const { return ends_[end].place; }
  // After a partition was healed.
  void resume();

 private:
  struct Chunk {
    Nanoseconds when = 0;
    std::string bytes;
    bool last = false;  // the writer ended
  };
  struct TimerContext {
    SimulatedConnection* connection;
    int end;
  };
  struct End {
    End(Place where, TimerContext* context)
        : place(where), delivery(&deliver_due, context), death(&die_now, context) {}
    Place place;
    SimulatedByteStream* stream = nullptr;
    bool closed = false;
    bool ended = false;   // no more writes from here
    bool dead = false;    // has learnt of the connection's death
    bool doomed = false;  // will learn of it
    // What comes in at this end.
    std::deque<Chunk> in_flight;
    std::size_t in_flight_bytes = 0;
    std::string arrived;
    std::size_t arrived_read = 0;
    bool end_arrived = false;
    Timer delivery;
    Timer death;
  };
  static void deliver_due(void* context);
  static void die_now(void* context);
  Nanoseconds latency();
  // Whether nothing passes in one of the ways, or to this end.
  bool separated() const;
  bool cut_off(int to) const;
  void corrupt(std::string& bytes);
  void send(int to, std::string bytes, bool last);
  void learn_of_death(int end);
  void doom(int end);
  Status lost(int end) const;

  Simulation& simulation_;
  SimulatedFabric& fabric_;
  TimerContext contexts_[2];
  End ends_[2];
};

struct SimulatedDatagram;

class SimulatedFabric {
 public:
  SimulatedFabric();
  ~SimulatedFabric();
  void cut(Simulation& simulation, int from, int to);
  void join(Simulation& simulation, int a, int b);
  bool is_cut(int from, int to) const { return cuts_.count({from, to}) > 0; }
  bool separated(int a, int b) const { return is_cut(a, b) || is_cut(b, a); }
  void corrupt(Simulation& simulation, int a, int b, double rate);
  double corruption_rate(int a, int b) const;
  void node_died(int node);

  // Zero: none is free.
  std::uint16_t free_port(int node);
  std::map<std::pair<int, std::uint16_t>, SimulatedListener*> listeners;
  std::vector<std::weak_ptr<SimulatedConnection>> connections;  // in order of creation
  std::map<std::pair<int, std::uint16_t>, SimulatedDatagramSocket*> datagram_sockets;
  std::vector<std::unique_ptr<SimulatedDatagram>> datagrams;  // on their way

 private:
  std::set<std::pair<int, int>> cuts_;  // from one to the other
  std::map<std::pair<int, int>, double> corruption_rates_;
  std::map<int, std::uint16_t> next_port_;
};

class SimulatedNetwork final : public Network {
 public:
  explicit SimulatedNetwork(SimulatedPlatform& node);

  Result<SocketAddress> resolve(std::string_view text) override;
  // Of name servers: those of /etc/resolv.conf on the node's disk; without that file, none.
  Task<Result<SocketAddress>> look_up(std::string text) override;
  Result<SocketAddress> interface_address(std::string_view) override { return node_.address(); }
  Task<Result<std::unique_ptr<ByteStream>>> connect(SocketAddress address,
                                                    ConnectOptions options) override;
  Result<std::unique_ptr<DatagramSocket>> open_datagrams(const SocketAddress& local,
                                                         const SocketAddress* peer) override;
  using Network::listen;
  Result<std::unique_ptr<Listener>> listen(SocketAddress address, ListenOptions options) override;
  void node_died();
  bool alive() const { return node_.alive(); }
  // Loses it, or delivers it later.
  void send_datagram(const SocketAddress& from, const SocketAddress& to, std::string bytes);

 private:
  // The node that an address means here; negative: none.
  int node_of(const SocketAddress& address) const;
  Simulation& simulation() const { return node_.simulation(); }
  SimulatedFabric& fabric() const { return *node_.simulation().fabric_; }
  Nanoseconds latency();

  SimulatedPlatform& node_;
  NameClient names_;
};

}  // namespace hummer
