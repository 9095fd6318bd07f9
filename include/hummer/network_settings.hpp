// NetworkSettings: how the records of one edge travel when its two ends do not
// share a slot, and whether they are read while they are made.
//
// Every edge of a job has its own settings, so a heterogeneous network (a fast
// interface for the data, a slow one for control) and the isolation of stream
// from batch traffic are a matter of configuration. Network transfer is an
// ordinary task (Hummer, section 3.3): a sender task encodes batches into the
// buffers of the transport, a receiver task decodes them. The settings say
// which transport, which interface, in which slots those two tasks run, and how
// much memory a channel may hold.
//
// Memory: one network channel holds at most `credits * buffer_size_bytes` bytes
// on each side, and there is one channel per pair of connected subtasks. A
// memory channel holds at most `credits` batches.
//
// Thread: a value. Errors: `validate` returns `invalid_configuration` naming the
// setting and what to write instead.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

enum class Transport {
  automatic,  // memory within one TaskManager; between two what they have: shm, rdma, tcp
  memory,     // batches by pointer; both ends must be on one TaskManager
  shm,        // a ring in memory that both processes see; else the job fails and says why
  tcp,        // also on one host and within one TaskManager, when asked for
  rdma,       // one-sided writes over RDMA; else the job fails and says why
};

constexpr std::string_view to_string(Transport transport) {
  switch (transport) {
    case Transport::automatic: return "automatic";
    case Transport::memory: return "memory";
    case Transport::shm: return "shm";
    case Transport::tcp: return "tcp";
    case Transport::rdma: return "rdma";
  }
  return "unknown";
}

enum class ExchangeMode {
  pipelined,  // records are read while they are made
  blocking,   // all are on disk before the first is read; the stream must be bounded
};

struct NetworkSettings {
  static constexpr int max_own_slots = 1024;
  static constexpr std::size_t min_buffer_size_bytes = 1024;
  static constexpr std::size_t max_buffer_size_bytes = std::size_t{1} << 30;
  static constexpr int max_credits = 1 << 16;

  // Name ("eth1") or address ("10.0.0.7", "fe80::1") to bind; empty: the
  // TaskManager's own data address.
  std::string interface_or_address = {};
  Transport transport = Transport::automatic;
  // Slots (threads) of their own for the edge's sender and receiver tasks on each
  // TaskManager; 0: a sender shares the slot of the task that it sends for, a
  // receiver that of the task that it receives for.
  int sender_slots = 0;
  int receiver_slots = 0;
  // Bytes of one transport buffer. A batch larger than this takes several.
  std::size_t buffer_size_bytes = 64 * 1024;
  // Buffers that may be under way in one channel; the receiver grants them.
  int credits = 16;
  ExchangeMode exchange = ExchangeMode::pipelined;

  friend bool operator==(const NetworkSettings&, const NetworkSettings&) = default;
};

Status validate(const NetworkSettings& settings);

// One line for people: "tcp on eth1, 16 credits of 64 KiB, 1 sender slot, receiver shares slot".
std::string to_string(const NetworkSettings& settings);

}  // namespace hummer
