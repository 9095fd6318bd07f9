#include "net/data_address.hpp"

#include <charconv>
#include <cstdint>
#include <optional>

namespace hummer {
namespace {

struct Subnet {
  SocketAddress address;
  int bits = 0;
};

std::optional<SocketAddress> parse_host(std::string_view text) {
  const bool is_ipv6 = text.find(':') != std::string_view::npos;
  const Result<SocketAddress> parsed =
      parse_socket_address(is_ipv6 ? "[" + std::string(text) + "]:0" : std::string(text) + ":0");
  if (!parsed.ok()) return std::nullopt;
  return *parsed;
}

std::optional<Subnet> parse_subnet(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<SocketAddress> host = parse_host(text.substr(0, slash));
  if (!host) return std::nullopt;
  Subnet subnet{*host, 0};
  const std::string_view digits = text.substr(slash + 1);
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), subnet.bits);
  const int most = host->is_ipv6 ? 128 : 32;
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  if (subnet.bits < 0 || subnet.bits > most) return std::nullopt;
  return subnet;
}

bool contains(const Subnet& subnet, const SocketAddress& address) {
  if (subnet.address.is_ipv6 != address.is_ipv6) return false;
  for (int bit = 0; bit < subnet.bits; ++bit) {
    const auto at = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if ((subnet.address.bytes[at] & mask) != (address.bytes[at] & mask)) return false;
  }
  return true;
}

bool same_host(const SocketAddress& a, const SocketAddress& b) {
  return a.is_ipv6 == b.is_ipv6 && a.bytes == b.bytes;
}

bool is_any(const SocketAddress& address) { return address.bytes == decltype(address.bytes){}; }

template <typename Predicate>
const DataAddress* find(std::span<const DataAddress> addresses, const Predicate& wanted) {
  for (const DataAddress& address : addresses) {
    if (wanted(address)) return &address;
  }
  return nullptr;
}

// Of an address given by name nothing can be said but its name.
template <typename Predicate>
const DataAddress* find_host(std::span<const DataAddress> addresses, const Predicate& wanted) {
  return find(addresses, [&](const DataAddress& address) {
    const Result<SocketAddress> parsed = parse_socket_address(address.address);
    return parsed.ok() && wanted(*parsed);
  });
}

// The other end's address on the same interface.
const DataAddress* namesake(std::span<const DataAddress> addresses, const DataAddress& of) {
  if (addresses.empty()) return nullptr;
  if (of.interface.empty()) return &addresses.front();
  return find(addresses,
              [&](const DataAddress& address) { return address.interface == of.interface; });
}

DataRoute route(const DataAddress* own, const DataAddress& peer) {
  DataRoute result{peer.address, {}};
  if (own == nullptr) return result;
  const Result<SocketAddress> from = parse_socket_address(own->address);
  if (from.ok() && !is_any(*from)) {
    SocketAddress bind = *from;
    bind.port = 0;
    result.options.bind_address = bind.to_string();
  } else {
    result.options.interface = own->interface;
  }
  return result;
}

}  // namespace

Result<DataAddress> parse_data_address(std::string_view text) {
  const std::size_t equals = text.find('=');
  DataAddress address;
  if (equals != std::string_view::npos) address.interface = std::string(text.substr(0, equals));
  address.address = std::string(equals == std::string_view::npos ? text : text.substr(equals + 1));
  const Result<SocketAddress> parsed = parse_socket_address(address.address);
  const bool readable = parsed.ok() || parsed.status().code() == ErrorCode::name_not_resolved;
  if (equals == 0 || !readable) {
    return Status(ErrorCode::invalid_argument,
                  "data address '" + std::string(text) +
                      "': write ADDRESS:PORT or INTERFACE=ADDRESS:PORT, such as "
                      "'10.0.2.1:0' or 'eth1=10.0.2.1:0' (port 0: any free one)");
  }
  return address;
}

std::string to_string(const DataAddress& address) {
  return address.interface.empty() ? address.address : address.interface + "=" + address.address;
}

std::string to_string(std::span<const DataAddress> addresses) {
  std::string text;
  for (const DataAddress& address : addresses) {
    if (!text.empty()) text += ", ";
    text += to_string(address);
  }
  return text.empty() ? "none" : text;
}

Result<DataRoute> choose_route(std::string_view wanted, std::span<const DataAddress> own,
                               std::span<const DataAddress> peer, std::string_view peer_name) {
  const auto missing = [&](std::string_view whose, std::span<const DataAddress> there) {
    return Status(ErrorCode::invalid_configuration,
                  std::string(whose) + " has no data address for '" + std::string(wanted) +
                      "' (NetworkSettings::interface_or_address); it has " + to_string(there));
  };
  const auto missing_there = [&] { return missing("TaskManager " + std::string(peer_name), peer); };
  const auto missing_here = [&] { return missing("this TaskManager", own); };

  if (peer.empty()) return missing_there();
  if (wanted.empty()) return route(nullptr, peer.front());

  if (const std::optional<Subnet> subnet = parse_subnet(wanted)) {
    const auto inside = [&](const SocketAddress& address) { return contains(*subnet, address); };
    const DataAddress* from = find_host(own, inside);
    if (from == nullptr) return missing_here();
    const DataAddress* to = find_host(peer, inside);
    if (to == nullptr) return missing_there();
    return route(from, *to);
  }
  if (const std::optional<SocketAddress> host = parse_host(wanted)) {
    const auto equal = [&](const SocketAddress& address) { return same_host(address, *host); };
    if (const DataAddress* to = find_host(peer, equal)) {
      const DataAddress* from = to->interface.empty() ? find_host(own, equal) : namesake(own, *to);
      if (from == nullptr && !to->interface.empty()) return missing_here();
      return route(from, *to);
    }
    const DataAddress* from = find_host(own, equal);
    if (from == nullptr) return missing_there();
    const DataAddress* to = namesake(peer, *from);
    if (to == nullptr) return missing_there();
    return route(from, *to);
  }
  const auto named = [&](const DataAddress& address) { return address.interface == wanted; };
  const DataAddress* from = find(own, named);
  if (from == nullptr) return missing_here();
  const DataAddress* to = find(peer, named);
  if (to == nullptr) return missing_there();
  return route(from, *to);
}

}  // namespace hummer
