#include <algorithm>
#include <utility>

#include "platform/simulated_network.hpp"
#include "platform/simulated_stream.hpp"

namespace hummer {

SimulatedConnection::SimulatedConnection(Simulation& simulation, SimulatedFabric& fabric,
                                         Place connected, Place accepted)
    : simulation_(simulation),
      fabric_(fabric),
      contexts_{{this, 0}, {this, 1}},
      ends_{End(connected, &contexts_[0]), End(accepted, &contexts_[1])} {}

Nanoseconds SimulatedConnection::latency() {
  const SimulationOptions& options = simulation_.options();
  const Nanoseconds drawn =
      simulation_.random().between(options.latency_minimum_ns, options.latency_maximum_ns);
  return simulation_.random().chance(options.delay_rate) ? drawn * 100 : drawn;
}

bool SimulatedConnection::separated() const {
  return fabric_.separated(ends_[0].place.node, ends_[1].place.node);
}

bool SimulatedConnection::cut_off(int to) const {
  return fabric_.is_cut(ends_[1 - to].place.node, ends_[to].place.node);
}

// One bit, as TCP's checksum of 16 bits lets pass now and then.
void SimulatedConnection::corrupt(std::string& bytes) {
  const double rate = fabric_.corruption_rate(ends_[0].place.node, ends_[1].place.node);
  if (rate <= 0 || bytes.empty() || !simulation_.random().chance(rate)) return;
  const std::uint64_t bit = simulation_.random().below(bytes.size() * 8);
  bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
  simulation_.trace("corruption", bit);
  ++simulation_.counts_.corrupted_transfers;
}

Status SimulatedConnection::lost(int end) const {
  return {ErrorCode::connection_lost,
          "connection to " + ends_[1 - end].place.address.to_string() + " lost"};
}

Result<std::size_t> SimulatedConnection::read(int end, std::span<char> into) {
  End& own = ends_[end];
  std::size_t count = std::min(into.size(), own.arrived.size() - own.arrived_read);
  if (count == 0) {
    if (own.end_arrived || into.empty()) return std::size_t{0};
    if (own.dead) return lost(end);
    return would_block;
  }
  if (simulation_.random().chance(simulation_.options().partial_transfer_rate)) {
    count = 1 + simulation_.random().below(count);
  }
  std::copy_n(own.arrived.data() + own.arrived_read, count, into.data());
  own.arrived_read += count;
  if (own.arrived_read == own.arrived.size()) {
    own.arrived.clear();
    own.arrived_read = 0;
  }
  simulation_.trace("receive", count);
  if (ends_[1 - end].stream != nullptr) ends_[1 - end].stream->can_write();
  return count;
}

Result<std::size_t> SimulatedConnection::write(int end, std::span<const char> bytes) {
  End& own = ends_[end];
  End& other = ends_[1 - end];
  if (bytes.empty()) return std::size_t{0};
  if (simulation_.random().chance(simulation_.options().connection_death_rate)) {
    simulation_.trace("connection death");
    ++simulation_.counts_.connection_deaths;
    learn_of_death(end);
    doom(1 - end);
  }
  if (other.closed && !own.dead && !separated()) learn_of_death(end);
  if (own.dead || own.ended) return lost(end);
  const std::size_t used = other.in_flight_bytes + other.arrived.size() - other.arrived_read;
  const std::size_t capacity = simulation_.options().stream_buffer_bytes;
  if (used >= capacity) return would_block;
  std::size_t count = std::min(bytes.size(), capacity - used);
  if (simulation_.random().chance(simulation_.options().partial_transfer_rate)) {
    count = 1 + simulation_.random().below(count);
  }
  simulation_.trace("send", count);
  send(1 - end, std::string(bytes.data(), count), false);
  return count;
}

void SimulatedConnection::send(int to, std::string bytes, bool last) {
  End& end = ends_[to];
  ++simulation_.counts_.transfers;
  if (cut_off(to)) ++simulation_.counts_.held_by_partition;
  corrupt(bytes);
  Nanoseconds when = simulation_.now() + latency();
  if (!end.in_flight.empty()) when = std::max(when, end.in_flight.back().when);
  end.in_flight_bytes += bytes.size();
  end.in_flight.push_back({when, std::move(bytes), last});
  if (!end.delivery.armed()) simulation_.events_.arm(end.delivery, end.in_flight.front().when);
}

void SimulatedConnection::deliver_due(void* context) {
  const auto& timer = *static_cast<TimerContext*>(context);
  SimulatedConnection& self = *timer.connection;
  End& end = self.ends_[timer.end];
  if (self.cut_off(timer.end)) return;  // resume() goes on
  const Nanoseconds now = self.simulation_.now();
  while (!end.in_flight.empty() && end.in_flight.front().when <= now) {
    Chunk& chunk = end.in_flight.front();
    self.simulation_.trace("deliver", chunk.bytes.size());
    end.in_flight_bytes -= chunk.bytes.size();
    if (!end.closed) end.arrived += chunk.bytes;
    end.end_arrived |= chunk.last;
    end.in_flight.pop_front();
  }
  if (!end.in_flight.empty()) {
    self.simulation_.events_.arm(end.delivery, end.in_flight.front().when);
  }
  if (end.stream != nullptr) end.stream->can_read();
}

void SimulatedConnection::shutdown_write(int end) {
  End& own = ends_[end];
  if (own.ended || own.dead) return;
  own.ended = true;
  send(1 - end, {}, true);
}

void SimulatedConnection::close(int end) {
  if (ends_[end].closed) return;
  shutdown_write(end);
  ends_[end].closed = true;
  simulation_.trace("close", static_cast<std::uint64_t>(end));
  // A writer that waits for space would wait for ever.
  if (ends_[1 - end].stream != nullptr) ends_[1 - end].stream->can_write();
}

void SimulatedConnection::kill(int end) {
  ends_[end].stream = nullptr;
  ends_[end].closed = true;
  doom(1 - end);
}

void SimulatedConnection::doom(int end) {
  if (ends_[end].dead || ends_[end].doomed) return;
  ends_[end].doomed = true;
  simulation_.events_.arm(ends_[end].death, simulation_.now() + latency());
}

void SimulatedConnection::die_now(void* context) {
  const auto& timer = *static_cast<TimerContext*>(context);
  if (timer.connection->cut_off(timer.end)) return;  // resume() goes on
  timer.connection->learn_of_death(timer.end);
}

void SimulatedConnection::learn_of_death(int end) {
  End& own = ends_[end];
  own.dead = true;
  own.in_flight.clear();
  own.in_flight_bytes = 0;
  own.delivery.disarm();
  if (own.stream == nullptr) return;
  own.stream->can_read();
  own.stream->can_write();
}

void SimulatedConnection::resume() {
  for (End& end : ends_) {
    if (!end.in_flight.empty() && !end.delivery.armed()) {
      simulation_.events_.arm(end.delivery,
                              std::max(simulation_.now(), end.in_flight.front().when));
    }
    if (end.doomed && !end.dead && !end.death.armed()) {
      simulation_.events_.arm(end.death, simulation_.now());
    }
  }
}

}  // namespace hummer
