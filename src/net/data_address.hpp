// DataAddress: where the data plane of a TaskManager is reached through one of its interfaces,
// and how an edge's NetworkSettings::interface_or_address chooses among them.
//
//   "eth1=10.0.2.1:0"    an interface by name
//   "127.0.0.1:0"        without a name
//
// The names are labels: both ends of an edge must use the same one, whatever the systems call
// the device. Pure; thread: any.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/status.hpp>

#include "platform/network.hpp"

namespace hummer {

struct DataAddress {
  std::string interface;  // may be empty
  std::string address;    // host:port

  friend bool operator==(const DataAddress&, const DataAddress&) = default;
};

// invalid_argument names the text and how to write it.
Result<DataAddress> parse_data_address(std::string_view text);
// "eth1=10.0.2.1:7000", or the address alone.
std::string to_string(const DataAddress& address);
// "eth0=10.0.1.1:7000, eth1=10.0.2.1:7001", or "none".
std::string to_string(std::span<const DataAddress> addresses);

// Where to connect to, and from where.
struct DataRoute {
  std::string address;
  ConnectOptions options;
};

// The way from one TaskManager to another for an edge.
//
//   ""             the peer's first address; the system chooses where from
//   "eth1"         the peer's address of that name, from the own one of that name
//   "10.0.2.1"     from or to exactly this address; the other end is its interface's namesake, or
//                  the first address when the interface has no name
//   "10.0.2.0/24"  both ends inside this subnet
//
// Errors: invalid_configuration that names what there is.
Result<DataRoute> choose_route(std::string_view interface_or_address,
                               std::span<const DataAddress> own, std::span<const DataAddress> peer,
                               std::string_view peer_name);

}  // namespace hummer
