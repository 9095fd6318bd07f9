// What a machine says of names: /etc/hosts, and in /etc/resolv.conf whom to ask and how
// (hosts(5), resolv.conf(5)).
//
// Of resolv.conf: nameserver (the first three), search and domain (the last of them counts),
// options ndots, timeout, attempts, rotate, use-vc and no-aaaa. Other lines and options are passed
// over, as are addresses with a zone ("fe80::1%eth0").
//
// Functions. Thread: any.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "platform/network.hpp"
#include "platform/time.hpp"

namespace hummer {

struct NameConfiguration {
  std::vector<SocketAddress> servers;  // never empty
  std::vector<std::string> search;
  std::size_t dots = 1;  // a name with so many is looked up as it is first
  Nanoseconds timeout_ns = seconds(5);
  int attempts = 2;
  bool rotate = false;
  bool by_stream = false;
  bool ipv4_only = false;

  // The names to ask for, in order, as labels (name_message.hpp); none: it is no name of a host.
  std::vector<std::string> candidates(std::string_view name) const;
};

// `port`: of the servers, for tests; others have 53. Without a nameserver it is this machine's.
NameConfiguration parse_name_configuration(std::string_view text, std::uint16_t port);

// The address of the first line that names the host, with port 0.
std::optional<SocketAddress> find_in_hosts(std::string_view text, std::string_view name);

}  // namespace hummer
