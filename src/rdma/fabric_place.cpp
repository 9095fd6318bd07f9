#include "rdma/fabric_place.hpp"

#include <algorithm>

namespace hummer {
namespace {

constexpr std::string_view hex_digits = "0123456789abcdef";
constexpr std::string_view message_word = "msg";
constexpr std::string_view datagram_word = "rdm";

std::string hex(std::string_view bytes) {
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char each : bytes) {
    const auto byte = static_cast<unsigned char>(each);
    text += hex_digits[byte >> 4];
    text += hex_digits[byte & 15];
  }
  return text;
}

std::optional<std::string> bytes_of_hex(std::string_view text) {
  if (text.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = hex_digits.find(text[i]);
    const std::size_t low = hex_digits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    bytes += static_cast<char>(high << 4 | low);
  }
  return bytes;
}

std::string hex(std::uint64_t number) {
  std::string text(16, '0');
  for (auto digit = text.rbegin(); digit != text.rend(); ++digit, number >>= 4) {
    *digit = hex_digits[number & 15];
  }
  return text;
}

std::optional<std::uint64_t> number_of_hex(std::string_view text) {
  if (text.size() != 16) return std::nullopt;
  std::uint64_t number = 0;
  for (const char each : text) {
    const std::size_t digit = hex_digits.find(each);
    if (digit == std::string_view::npos) return std::nullopt;
    number = number << 4 | digit;
  }
  return number;
}

// What stands before the next ':', which goes too.
std::optional<std::string_view> next_part(std::string_view& text) {
  const std::size_t end = text.find(':');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end + 1);
  return part;
}

bool is_provider(std::string_view text) {
  return !text.empty() && text.size() <= FabricPlace::max_provider_bytes &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
         });
}

bool read_message_part(std::string_view text, FabricPlace& place) {
  const auto address_text = next_part(text);
  if (!address_text) return false;
  const auto address = bytes_of_hex(*address_text);
  const auto cookie = bytes_of_hex(text);
  if (!address || (address->size() != 6 && address->size() != 18)) return false;
  if (!cookie || cookie->size() != place.cookie.size()) return false;
  place.address = *address;
  std::copy(cookie->begin(), cookie->end(), place.cookie.begin());
  return true;
}

bool read_datagram_part(std::string_view text, FabricPlace& place) {
  const auto name_text = next_part(text);
  if (!name_text || name_text->size() > 2 * FabricPlace::max_name_bytes) return false;
  const auto base_text = next_part(text);
  if (!base_text) return false;
  const auto name = bytes_of_hex(*name_text);
  const auto base = number_of_hex(*base_text);
  const auto key = number_of_hex(text);
  if (!name || name->empty() || !base || !key) return false;
  place.name = *name;
  place.memory = {*base, *key};
  return true;
}

void append_number(std::string& bytes, std::uint64_t number) {
  for (int i = 0; i < 8; ++i, number >>= 8) bytes += static_cast<char>(number & 255);
}

// REQUIRES: bytes.size() >= at + 8.
std::uint64_t number_at(std::string_view bytes, std::size_t at) {
  std::uint64_t number = 0;
  for (std::size_t i = 8; i-- > 0;) {
    number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return number;
}

}  // namespace

std::string to_text(const FabricPlace& place) {
  std::string text = place.provider + ":";
  if (place.kind == EndpointKind::message) {
    text.append(message_word).append(":").append(hex(place.address)).append(":");
    text += hex(std::string_view(place.cookie.data(), place.cookie.size()));
  } else {
    text.append(datagram_word).append(":").append(hex(place.name)).append(":");
    text.append(hex(place.memory.base)).append(":").append(hex(place.memory.key));
  }
  return text;
}

std::optional<FabricPlace> parse_fabric_place(std::string_view text) {
  FabricPlace place;
  const auto provider = next_part(text);
  if (!provider || !is_provider(*provider)) return std::nullopt;
  place.provider = *provider;
  const auto kind = next_part(text);
  if (!kind) return std::nullopt;
  if (*kind == message_word) {
    place.kind = EndpointKind::message;
    if (!read_message_part(text, place)) return std::nullopt;
  } else if (*kind == datagram_word) {
    place.kind = EndpointKind::datagram;
    if (!read_datagram_part(text, place)) return std::nullopt;
  } else {
    return std::nullopt;
  }
  return place;
}

std::string encode_peer_memory(const PeerMemory& memory) {
  std::string bytes;
  append_number(bytes, memory.base);
  append_number(bytes, memory.key);
  return bytes;
}

std::optional<PeerMemory> decode_peer_memory(std::string_view bytes) {
  if (bytes.size() < 16) return std::nullopt;
  return PeerMemory{number_at(bytes, 0), number_at(bytes, 8)};
}

std::string encode_offer(const FabricOffer& offer) {
  return std::string(offer.cookie.data(), offer.cookie.size()) + encode_peer_memory(offer.memory);
}

std::optional<FabricOffer> decode_offer(std::string_view bytes) {
  FabricOffer offer;
  if (bytes.size() < offer.cookie.size()) return std::nullopt;
  std::copy_n(bytes.begin(), offer.cookie.size(), offer.cookie.begin());
  const auto memory = decode_peer_memory(bytes.substr(offer.cookie.size()));
  if (!memory) return std::nullopt;
  offer.memory = *memory;
  return offer;
}

}  // namespace hummer
