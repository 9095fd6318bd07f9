// Memory transport: both ends in one process, buffers handed over by reference.
//
// For tests, and to keep the contract of transport.hpp honest: elements between
// two slots of one process travel in runtime's ring channel without encoding. One
// lock per buffer guards the ring; the ends may live on two executors.
#pragma once

#include <hummer/network_settings.hpp>

#include "net/transport.hpp"

namespace hummer {

TransportPair make_memory_transport(const NetworkSettings& settings);

}  // namespace hummer
