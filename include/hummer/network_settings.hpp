// NetworkSettings: how the records of one edge travel when its two ends do not
// share a slot.
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
// Lifecycle: a value; it is copied into the graphs and never changed there.
// Thread: a value. Errors: `validate` returns `invalid_configuration` naming the
// setting and what to write instead.
#pragma once

#include <cctype>
#include <cstddef>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

namespace hummer {

enum class Transport {
  automatic,  // memory within one TaskManager, tcp between two
  memory,     // batches by pointer; both ends must be on one TaskManager
  shm,        // a ring in shared memory on one host; not built yet: validate refuses it
  tcp,        // also on one host and within one TaskManager, when asked for
  rdma,       // one-sided writes over RDMA; not built yet: validate refuses it
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

  friend bool operator==(const NetworkSettings&, const NetworkSettings&) = default;
};

inline Status validate(const NetworkSettings& settings) {
  const auto refuse = [](std::string message) {
    return Status(ErrorCode::invalid_configuration, "network settings: " + std::move(message));
  };
  const auto outside = [&](std::string_view what, auto value, auto low, auto high,
                           std::string_view unit) {
    return refuse(std::string(what) + " is " + std::to_string(value) + "; write a number from " +
                  std::to_string(low) + " to " + std::to_string(high) + std::string(unit));
  };
  if (settings.transport == Transport::shm || settings.transport == Transport::rdma) {
    return refuse("the " + std::string(to_string(settings.transport)) +
                  " transport is not built yet, and nothing else runs in its place; choose tcp or "
                  "memory, or leave the transport automatic");
  }
  using Limits = NetworkSettings;
  if (settings.sender_slots < 0 || settings.sender_slots > Limits::max_own_slots) {
    return outside("sender_slots", settings.sender_slots, 0, Limits::max_own_slots,
                   " (0: share the task's slot)");
  }
  if (settings.receiver_slots < 0 || settings.receiver_slots > Limits::max_own_slots) {
    return outside("receiver_slots", settings.receiver_slots, 0, Limits::max_own_slots,
                   " (0: share the task's slot)");
  }
  if (settings.buffer_size_bytes < Limits::min_buffer_size_bytes ||
      settings.buffer_size_bytes > Limits::max_buffer_size_bytes) {
    return outside("buffer_size_bytes", settings.buffer_size_bytes, Limits::min_buffer_size_bytes,
                   Limits::max_buffer_size_bytes, " bytes");
  }
  if (settings.credits < 1 || settings.credits > Limits::max_credits) {
    return outside("credits", settings.credits, 1, Limits::max_credits, " buffers");
  }
  for (const char c : settings.interface_or_address) {
    if (!std::isgraph(static_cast<unsigned char>(c))) {
      return refuse(
          "interface_or_address holds a blank or control character; write one interface "
          "name or address, such as \"eth1\" or \"10.0.0.7\"");
    }
  }
  if (settings.transport == Transport::memory && !settings.interface_or_address.empty()) {
    return refuse("interface_or_address is \"" + settings.interface_or_address +
                  "\" but the memory transport binds nothing; choose tcp or drop the interface");
  }
  return {};
}

// One line for people: "tcp on eth1, 16 credits of 64 KiB, 1 sender slot, receiver shares slot".
inline std::string to_string(const NetworkSettings& settings) {
  const auto size = [](std::size_t size_bytes) {
    if (size_bytes % (1024 * 1024) == 0) return std::to_string(size_bytes / 1024 / 1024) + " MiB";
    if (size_bytes % 1024 == 0) return std::to_string(size_bytes / 1024) + " KiB";
    return std::to_string(size_bytes) + " B";
  };
  const auto slots = [](std::string_view role, int count) {
    if (count == 0) return std::string(role) + " shares slot";
    return std::to_string(count) + " " + std::string(role) + (count == 1 ? " slot" : " slots");
  };
  std::string text(to_string(settings.transport));
  if (!settings.interface_or_address.empty()) text += " on " + settings.interface_or_address;
  text += ", " + std::to_string(settings.credits) +
          (settings.credits == 1 ? " credit of " : " credits of ") +
          size(settings.buffer_size_bytes);
  text += ", " + slots("sender", settings.sender_slots);
  text += ", " + slots("receiver", settings.receiver_slots);
  return text;
}

}  // namespace hummer
