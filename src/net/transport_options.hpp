// TransportOptions: what both ends of a channel between two processes know of it before they meet.
//
// Thread: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include <hummer/network_settings.hpp>

#include "net/buffer_pool.hpp"
#include "platform/time.hpp"

namespace hummer {

inline constexpr std::uint32_t default_control_credits = 16;

struct TransportOptions {
  std::size_t buffer_size_bytes = NetworkSettings{}.buffer_size_bytes;  // with the header
  int credits = NetworkSettings{}.credits;
  std::uint32_t control_credits = default_control_credits;
  std::size_t max_unsent_buffers = 4;  // of a connection that is busy
  Nanoseconds linger_ns = seconds(2);
  std::string peer = "peer";               // for messages
  std::shared_ptr<BufferMetrics> buffers;  // where a receiver's count too; may be null

  // What a buffer has for what is published.
  std::size_t capacity() const;
};
TransportOptions transport_options(const NetworkSettings& settings, std::string peer);

}  // namespace hummer
