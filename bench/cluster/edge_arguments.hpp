// The settings of a job's edge by the arguments --transport, --credits and --buffer-bytes.
#pragma once

#include <stdexcept>
#include <string>

#include <hummer/hummer.hpp>

inline hummer::Transport transport_named(const std::string& name) {
  using enum hummer::Transport;
  for (const hummer::Transport each : {automatic, memory, shm, tcp, rdma}) {
    if (name == hummer::to_string(each)) return each;
  }
  throw std::invalid_argument("--transport: there is none called " + name);
}

inline hummer::NetworkSettings edge_of_arguments(hummer::StreamExecutionEnvironment& env) {
  hummer::NetworkSettings edge;
  edge.transport =
      transport_named(env.argument_or("transport", "automatic", "shm, tcp, rdma, ... of the edge"));
  edge.credits = std::stoi(
      env.argument_or("credits", std::to_string(edge.credits), "buffers under way per channel"));
  edge.buffer_size_bytes = std::stoull(env.argument_or(
      "buffer-bytes", std::to_string(edge.buffer_size_bytes), "size of each of them"));
  return edge;
}
