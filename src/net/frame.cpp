#include "net/frame.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <hummer/detail/key_hash.hpp>

#include "base/hash_pieces.hpp"
#include "net/transport.hpp"
#include "platform/remote_memory.hpp"
#include "platform/shared_memory.hpp"

namespace hummer {
namespace {

static_assert(std::endian::native == std::endian::little, "frames are written as they lie");

constexpr std::size_t max_type_name_bytes = 1024;
constexpr std::size_t max_sender_name_bytes = 256;
constexpr std::size_t max_place_bytes =
    std::max(SharedMemory::max_place_bytes, RemoteMemory::max_place_bytes);
constexpr std::size_t max_ring_bytes = max_place_bytes;
constexpr std::size_t max_provider_bytes = RemoteMemoryDevice::max_provider_bytes;

std::uint64_t check_of(std::string_view payload) {
  return payload.empty() ? 0 : hash_bytes(payload.data(), payload.size());
}

std::uint32_t check_of(FrameHeader header) {
  header.check = 0;
  return static_cast<std::uint32_t>(hash_bytes(&header, sizeof header));
}

Status broken(const std::string& what) { return {ErrorCode::protocol_error, what}; }

std::string digits_of_job(std::uint64_t job) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(job));
  return digits;
}

std::size_t payload_limit(FrameKind kind, std::size_t max_data_bytes) {
  switch (kind) {
    case FrameKind::hello:
    case FrameKind::fetch: return max_hello_bytes;
    case FrameKind::data:
    case FrameKind::barrier: return max_data_bytes;
    case FrameKind::control: return max_control_bytes;
    case FrameKind::failure: return max_failure_bytes;
    case FrameKind::accept: return max_accept_bytes;
    case FrameKind::ring: return max_ring_bytes;
    case FrameKind::credit:
    case FrameKind::wake:
    case FrameKind::park:
    case FrameKind::fetched: break;
  }
  return 0;
}

std::string whole_frame(FrameHeader header, std::string_view payload) {
  header.payload_bytes = static_cast<std::uint32_t>(payload.size());
  std::string frame(header.frame_bytes(), '\0');
  std::copy(payload.begin(), payload.end(), frame.begin() + frame_header_bytes);
  seal_frame(header, frame.data());
  return frame;
}

FrameHeader header_of(FrameKind kind) {
  FrameHeader header;
  header.kind = kind;
  return header;
}

}  // namespace

std::size_t FrameHeader::frame_bytes() const {
  return frame_header_bytes + align_up(payload_bytes);
}

void write_frame_header(FrameHeader header, char* to) {
  header.check = check_of(header);
  std::memcpy(to, &header, sizeof header);
}

void seal_frame(FrameHeader header, char* frame) {
  header.payload_check = check_of({frame + frame_header_bytes, header.payload_bytes});
  write_frame_header(header, frame);
}

void seal_frame(FrameHeader header, std::span<const std::string_view> payload, char* to) {
  header.payload_check = hash_pieces(payload);
  write_frame_header(header, to);
}

Status check_payload(const FrameHeader& header, std::string_view payload) {
  if (check_of(payload) == header.payload_check) return {};
  return broken("a frame was damaged on its way (the check of its payload differs)");
}

Result<FrameHeader> read_frame_header(const char* from, std::size_t max_data_bytes) {
  FrameHeader header;
  std::memcpy(&header, from, sizeof header);
  if (header.magic != frame_magic) return broken("not a Hummer data connection (bad magic)");
  if (header.check != check_of(header)) return broken("frame header is damaged (bad check)");
  if (header.kind < FrameKind::hello || header.kind > FrameKind::fetched) {
    return broken("unknown frame kind " + std::to_string(static_cast<int>(header.kind)));
  }
  const bool reserved =
      header.reserved != 0 || header.reserved_words[0] != 0 || header.reserved_words[1] != 0;
  if (reserved || (header.flags & ~FrameHeader::last) != 0) {
    return broken("frame header sets reserved bits");
  }
  const std::size_t limit = payload_limit(header.kind, max_data_bytes);
  if (header.payload_bytes > limit) {
    return broken("frame of " + std::to_string(header.payload_bytes) +
                  " bytes exceeds the agreed " + std::to_string(limit));
  }
  return header;
}

std::string to_string(const ChannelKey& key) {
  return "channel " + std::to_string(key.channel) + " of job " + digits_of_job(key.job) +
         " (attempt " + std::to_string(key.attempt) + ")";
}

std::string encode_hello(const Hello& hello) {
  HUMMER_ASSERT(hello.token.size() <= max_token_bytes);
  std::string bytes;
  ByteWriter out(bytes);
  out.put_value(hello.version);
  out.put_value(hello.key.job);
  out.put_value(hello.key.channel);
  out.put_value(hello.key.attempt);
  out.put_value(hello.type_id);
  out.put_value(hello.buffer_size_bytes);
  out.put_value(hello.credits);
  out.put_value(hello.control_credits);
  out.put_text(hello.token);
  out.put_text(std::string_view(hello.type_name).substr(0, max_type_name_bytes));
  out.put_text(std::string_view(hello.sender_name).substr(0, max_sender_name_bytes));
  out.put_text(std::string_view(hello.shared_place).substr(0, max_place_bytes));
  out.put_text(std::string_view(hello.remote_provider).substr(0, max_provider_bytes));
  return whole_frame(header_of(FrameKind::hello), out.view());
}

Result<Hello> decode_hello(std::string_view payload) {
  Hello hello;
  ByteReader in(payload);
  if (!in.get_value(hello.version)) return broken("hello is too short");
  // What follows may differ in other versions; the answer to them is a refusal, not "garbage".
  if (hello.version != protocol_version) return hello;
  std::string_view token, type_name, sender_name, shared_place, provider;
  const bool whole = in.get_value(hello.key.job) && in.get_value(hello.key.channel) &&
                     in.get_value(hello.key.attempt) && in.get_value(hello.type_id) &&
                     in.get_value(hello.buffer_size_bytes) && in.get_value(hello.credits) &&
                     in.get_value(hello.control_credits) && in.get_text(token) &&
                     in.get_text(type_name) && in.get_text(sender_name) &&
                     in.get_text(shared_place) && in.get_text(provider) && in.left() == 0;
  if (!whole || token.size() > max_token_bytes || type_name.size() > max_type_name_bytes ||
      sender_name.size() > max_sender_name_bytes || shared_place.size() > max_place_bytes ||
      provider.size() > max_provider_bytes) {
    return broken("hello is malformed");
  }
  hello.token = token;
  hello.type_name = type_name;
  hello.sender_name = sender_name;
  hello.shared_place = shared_place;
  hello.remote_provider = provider;
  return hello;
}

std::string to_string(const ShuffleKey& key) {
  return "shuffle file of edge " + std::to_string(key.edge) + ", subtask " +
         std::to_string(key.subtask) + " (job " + digits_of_job(key.job) + ", region " +
         std::to_string(key.region) + ", attempt " + std::to_string(key.attempt) + ")";
}

std::string encode_fetch(const FetchRequest& request) {
  HUMMER_ASSERT(request.token.size() <= max_token_bytes);
  std::string bytes;
  ByteWriter out(bytes);
  out.put_value(request.version);
  out.put_value(request.key.job);
  out.put_value(request.key.attempt);
  out.put_value(request.key.region);
  out.put_value(request.key.edge);
  out.put_value(request.key.subtask);
  out.put_value(request.partition);
  out.put_value(request.first_chunk);
  out.put_text(request.token);
  return whole_frame(header_of(FrameKind::fetch), out.view());
}

Result<FetchRequest> decode_fetch(std::string_view payload) {
  FetchRequest request;
  ByteReader in(payload);
  if (!in.get_value(request.version)) return broken("a request to fetch is too short");
  // As with a hello.
  if (request.version != protocol_version) return request;
  std::string_view token;
  ShuffleKey& key = request.key;
  const bool whole = in.get_value(key.job) && in.get_value(key.attempt) &&
                     in.get_value(key.region) && in.get_value(key.edge) &&
                     in.get_value(key.subtask) && in.get_value(request.partition) &&
                     in.get_value(request.first_chunk) && in.get_text(token) && in.left() == 0;
  if (!whole || token.size() > max_token_bytes) return broken("a request to fetch is malformed");
  request.token = token;
  return request;
}

std::string encode_fetched(std::uint64_t chunks) {
  FrameHeader header = header_of(FrameKind::fetched);
  header.sequence = chunks;
  return whole_frame(header, {});
}

std::string encode_accept(const Accept& accept) {
  static_assert(max_place_bytes + max_ring_bytes + 16 <= max_accept_bytes);
  std::string bytes;
  ByteWriter out(bytes);
  out.put_text(std::string_view(accept.ring_place).substr(0, max_place_bytes));
  out.put_text(std::string_view(accept.no_ring).substr(0, max_ring_bytes));
  out.put_value(accept.remote ? static_cast<std::uint8_t>(1 + static_cast<int>(*accept.remote))
                              : std::uint8_t{0});
  return whole_frame(header_of(FrameKind::accept), out.view());
}

Result<Accept> decode_accept(std::string_view payload) {
  ByteReader in(payload);
  std::string_view place, why;
  std::uint8_t remote = 0;
  if (!in.get_text(place) || !in.get_text(why) || !in.get_value(remote) || in.left() != 0 ||
      place.size() > max_place_bytes || remote > 1 + static_cast<int>(WriteOrder::bytes)) {
    return broken("the answer to the hello is malformed");
  }
  Accept accept{std::string(place), {}, std::string(why)};
  if (remote > 0) accept.remote = static_cast<WriteOrder>(remote - 1);
  return accept;
}

std::string encode_ring(std::string_view answer) {
  HUMMER_ASSERT(answer.size() <= max_ring_bytes);
  FrameHeader header = header_of(FrameKind::ring);
  header.flags = FrameHeader::last;
  return whole_frame(header, answer);
}

std::string encode_no_ring(std::string_view why_not) {
  return whole_frame(header_of(FrameKind::ring), why_not.substr(0, max_ring_bytes));
}

std::string encode_wake() { return whole_frame(header_of(FrameKind::wake), {}); }

std::string encode_park(std::uint64_t seen, std::uint64_t released) {
  FrameHeader header = header_of(FrameKind::park);
  header.sequence = seen;
  header.data_credits = released;
  return whole_frame(header, {});
}

std::vector<std::string> encode_barrier(std::uint64_t epoch, std::uint64_t messages,
                                        std::string_view in_flight, std::size_t most_bytes) {
  std::vector<std::string> frames;
  FrameHeader header = header_of(FrameKind::barrier);
  header.sequence = epoch;
  header.data_credits = messages;
  do {
    const std::string_view part = in_flight.substr(0, most_bytes);
    in_flight.remove_prefix(part.size());
    header.flags = in_flight.empty() ? FrameHeader::last : 0;
    frames.push_back(whole_frame(header, part));
  } while (!in_flight.empty());
  return frames;
}

Result<std::optional<std::string>> BarrierFrames::add(const FrameHeader& header,
                                                      std::string_view payload) {
  if (in_flight_.size() + payload.size() > max_in_flight_bytes) {
    return broken("a barrier with too many records in flight");
  }
  in_flight_ += payload;
  if ((header.flags & FrameHeader::last) == 0) return std::optional<std::string>();
  return std::optional(std::exchange(in_flight_, {}));
}

std::string encode_credit(std::uint64_t data_credits, std::uint64_t control_credits) {
  FrameHeader header = header_of(FrameKind::credit);
  header.data_credits = data_credits;
  header.control_credits = control_credits;
  return whole_frame(header, {});
}

std::string encode_failure(const Status& status) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put_value(static_cast<std::uint16_t>(status.code()));
  out.put_text(std::string_view(status.message()).substr(0, max_failure_bytes - 16));
  return whole_frame(header_of(FrameKind::failure), out.view());
}

Status decode_failure(std::string_view payload) {
  ByteReader in(payload);
  std::uint16_t code = 0;
  std::string_view message;
  if (!in.get_value(code) || !in.get_text(message) || in.left() != 0 || code == 0) {
    return broken("failure frame is malformed");
  }
  return {static_cast<ErrorCode>(code), std::string(message)};
}

}  // namespace hummer
