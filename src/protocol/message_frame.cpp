#include "protocol/message_frame.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

#include <hummer/detail/key_hash.hpp>

#include "protocol/message_limits.hpp"

namespace hummer {
namespace {

constexpr std::uint32_t magic = 0x434d5548;  // "HUMC", little-endian

void put_u32(char* to, std::uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = static_cast<char>(value >> (8 * i));
}
std::uint32_t get_u32(const char* from) {
  std::uint32_t value = 0;
  for (int i = 0; i < 4; ++i) {
    value |= std::uint32_t{static_cast<unsigned char>(from[i])} << (8 * i);
  }
  return value;
}
std::uint32_t check_of(std::string_view payload) {
  return static_cast<std::uint32_t>(hash_bytes(payload.data(), payload.size()));
}

// A record of TLS: alert or handshake, version 3.x.
bool is_tls(const char* header) { return (header[0] == 21 || header[0] == 22) && header[1] == 3; }

Status refuse_frame(const std::string& what) { return {ErrorCode::protocol_error, what}; }

}  // namespace

Status append_frame(const wire::Envelope& message, std::string& out) {
  const std::size_t payload_bytes = message.ByteSizeLong();
  if (payload_bytes > max_message_bytes) {
    return {ErrorCode::limit_exceeded, "a control message of " + std::to_string(payload_bytes) +
                                           " bytes is above the limit of " +
                                           std::to_string(max_message_bytes)};
  }
  const std::size_t begin = out.size();
  out.resize(begin + message_header_bytes + payload_bytes);
  char* header = out.data() + begin;
  char* payload = header + message_header_bytes;
  message.SerializeWithCachedSizesToArray(reinterpret_cast<std::uint8_t*>(payload));
  put_u32(header, magic);
  put_u32(header + 4, static_cast<std::uint32_t>(payload_bytes));
  put_u32(header + 8, check_of({payload, payload_bytes}));
  return {};
}

Result<std::size_t> FrameDecoder::payload_bytes(const char* header) const {
  if (get_u32(header) != magic) {
    return refuse_frame(is_tls(header)
                            ? "the peer speaks TLS, this side does not: give both --tls-ca and "
                              "certificates, or neither"
                            : "the peer does not speak Hummer's control protocol");
  }
  const std::size_t bytes = get_u32(header + 4);
  if (bytes > limit_bytes_) {
    return refuse_frame("the peer announces a control message of " + std::to_string(bytes) +
                        " bytes; the limit is " + std::to_string(limit_bytes_));
  }
  return bytes;
}

Status FrameDecoder::parse(std::string_view frame, wire::Envelope& message) const {
  const std::string_view payload = frame.substr(message_header_bytes);
  if (get_u32(frame.data() + 8) != check_of(payload)) {
    return refuse_frame("a control message was damaged on its way (its check differs)");
  }
  if (!message.ParseFromArray(payload.data(), static_cast<int>(payload.size()))) {
    return refuse_frame("a control message can't be read");
  }
  return {};
}

Result<bool> FrameDecoder::next(std::string_view& bytes, wire::Envelope& message) {
  // The common case: the frame is whole where it arrived, and is read there.
  if (partial_.empty()) {
    if (bytes.empty()) return false;
    if (bytes.size() >= message_header_bytes) {
      const Result<std::size_t> length = payload_bytes(bytes.data());
      if (!length.ok()) return length.status();
      const std::size_t whole = message_header_bytes + *length;
      if (bytes.size() >= whole) {
        HUMMER_TRY(parse(bytes.substr(0, whole), message));
        bytes.remove_prefix(whole);
        return true;
      }
    }
    partial_.assign(bytes);
    bytes = {};
    return false;
  }
  const auto take = [&](std::size_t wanted) {
    const std::size_t count = std::min(wanted - partial_.size(), bytes.size());
    partial_.append(bytes.substr(0, count));
    bytes.remove_prefix(count);
    return partial_.size() == wanted;
  };
  if (partial_.size() < message_header_bytes && !take(message_header_bytes)) return false;
  const Result<std::size_t> length = payload_bytes(partial_.data());
  if (!length.ok()) return length.status();
  if (!take(message_header_bytes + *length)) return false;
  const Status parsed = parse(partial_, message);
  std::string().swap(partial_);
  if (!parsed.ok()) return parsed;
  return true;
}

}  // namespace hummer
