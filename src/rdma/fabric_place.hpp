// FabricPlace: where the memory of a peer is found, as text that goes over another link.
//
//   tcp:msg:0a000001b0c4:00112233445566778899aabbccddeeff
//           address and port: 6 bytes or 18; cookie
//   efa:rdm:<name>:<base, 16 digits>:<key, 16 digits>
//
// Bytes are lower-case hexadecimal digits. What is read comes from outside: each part has a limit,
// and what is read is written again as the same text.
//
// Thread: values.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hummer {

enum class EndpointKind : std::uint8_t { message, datagram };

// Where a memory begins for who writes into it, and the key that opens it.
struct PeerMemory {
  std::uint64_t base = 0;
  std::uint64_t key = 0;
};

using FabricCookie = std::array<char, 16>;

struct FabricPlace {
  static constexpr std::size_t max_provider_bytes = 16;
  static constexpr std::size_t max_name_bytes = 112;

  std::string provider;
  EndpointKind kind = EndpointKind::message;
  std::string address;       // message: of IPv4 or IPv6, behind it the port, both as on the wire
  FabricCookie cookie = {};  // message
  std::string name;          // datagram: as fi_getname gives it
  PeerMemory memory;         // datagram
};

std::string to_text(const FabricPlace& place);
std::optional<FabricPlace> parse_fabric_place(std::string_view text);

// What goes with a connection: the sender's cookie and memory (`offer`), the receiver's memory.
// Little-endian. More bytes may follow, which some networks fill up to a fixed size.
std::string encode_peer_memory(const PeerMemory& memory);
std::optional<PeerMemory> decode_peer_memory(std::string_view bytes);
struct FabricOffer {
  FabricCookie cookie = {};
  PeerMemory memory;
};
std::string encode_offer(const FabricOffer& offer);
std::optional<FabricOffer> decode_offer(std::string_view bytes);

}  // namespace hummer
