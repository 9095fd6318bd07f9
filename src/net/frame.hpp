// Frame: what travels on a connection between two data planes.
//
//   frame    := header (64 bytes) payload (payload_bytes, then zeros up to 64)
//
//   header   offset  0  magic             u32   "HUM1"
//                    4  kind              u8    see FrameKind
//                    5  flags             u8    1: last frame of the channel
//                    6  reserved          u16   0
//                    8  payload_bytes     u32
//                   12  check             u32   low half of XXH3-64 of the header with check = 0
//                   16  sequence          u64   data, control: 0, 1, 2, ... in one count;
//                                               barrier: its epoch; park: messages seen by a
//                                               receiver, slots that came back by a sender
//                   24  data_credits      u64   credit: data frames released so far (of a ring: all
//                                               messages); barrier: messages of the ring before it;
//                                               park: of a sender, messages released as it knows
//                   32  control_credits   u64   credit: control frames released so far
//                   40  payload_check     u64   XXH3-64 of the payload; 0 where it has none
//                   48  reserved          2 × u64, 0
//
//   sender → receiver   hello, then data | control | barrier ..., the last of data and control
//                       flagged; or failure
//   receiver → sender   accept or failure, then credit ...; or failure
//
// Beside a ring in shared or remote memory (ring_transport.hpp): the accept names the memory, the
// sender answers ring (flagged when it has it, else with the reason, and goes on as above), and
// then barrier, wake, park and failure are all that comes, wake, park, credit and failure all that
// goes back.
//
// A data frame's payload is a run of blocks (block.hpp), 64-aligned in memory when
// the frame is. A control frame's payload is one block of control. A barrier
// with the records in flight before it takes one frame or more, the last of them flagged. All
// numbers are little-endian. Credits are totals, so a repeated or merged one does no harm.
//
// Fetching of shuffle files (shuffle/shuffle_store.hpp), instead of a hello:
//
//   reader → holder     fetch ..., each when the answer to the one before is whole
//   holder → reader     data ... (a chunk each: sequence its number, payload_check its check),
//                       then fetched (the number of all chunks as sequence); or failure
//
// Bytes from outside: every length is checked against a limit before anything is
// made of it; a frame that is not valid is a protocol_error and its connection is
// closed. TCP's checksum of 16 bits misses some of what a network turns; the checks here don't, on
// plain connections as over TLS.
// Thread: values and pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/bytes.hpp>
#include <hummer/status.hpp>

#include "platform/remote_memory.hpp"

namespace hummer {

inline constexpr std::uint32_t protocol_version = 6;
inline constexpr std::uint32_t frame_magic = 0x314D5548;  // "HUM1"
inline constexpr std::size_t frame_header_bytes = 64;
inline constexpr std::size_t max_hello_bytes = 4096;
inline constexpr std::size_t max_token_bytes = 1024;
inline constexpr std::size_t max_failure_bytes = 2048;
inline constexpr std::size_t max_accept_bytes = 640;

enum class FrameKind : std::uint8_t {
  hello = 1,
  accept,
  data,
  control,
  credit,
  failure,
  barrier,
  ring,
  wake,
  park,
  fetch,
  fetched,
};

struct FrameHeader {
  static constexpr std::uint8_t last = 1;

  std::uint32_t magic = frame_magic;
  FrameKind kind = FrameKind::data;
  std::uint8_t flags = 0;
  std::uint16_t reserved = 0;
  std::uint32_t payload_bytes = 0;
  std::uint32_t check = 0;
  std::uint64_t sequence = 0;
  std::uint64_t data_credits = 0;
  std::uint64_t control_credits = 0;
  std::uint64_t payload_check = 0;
  std::uint64_t reserved_words[2] = {};

  // Header, payload and padding.
  std::size_t frame_bytes() const;
};
static_assert(sizeof(FrameHeader) == frame_header_bytes);

// Writes 64 bytes, with the check of the header.
void write_frame_header(FrameHeader header, char* to);
// The same in front of the payload, which lies behind `frame`'s first 64 bytes, with both checks.
void seal_frame(FrameHeader header, char* frame);
// The same of a payload that lies in several places; `to` gets the 64 bytes only.
void seal_frame(FrameHeader header, std::span<const std::string_view> payload, char* to);
// REQUIRES: 64 bytes at `from`. protocol_error when they are no header, or when the payload of a
// data frame exceeds `max_data_bytes` or any other its own limit.
Result<FrameHeader> read_frame_header(const char* from, std::size_t max_data_bytes);
// protocol_error when the payload is not that which was sent.
Status check_payload(const FrameHeader& header, std::string_view payload);

// One that has come, with its payload.
struct Frame {
  FrameHeader header;
  std::string payload;
};

// One shuffle file: what a subtask has left for a blocking edge.
struct ShuffleKey {
  std::uint64_t job = 0;
  std::uint32_t attempt = 0;
  std::uint32_t region = 0;
  std::uint32_t edge = 0;  // JobEdge
  std::uint32_t subtask = 0;

  friend auto operator<=>(const ShuffleKey&, const ShuffleKey&) = default;
};
// "shuffle file of edge 2, subtask 1 (job 00000000000000ff, region 1, attempt 3)"
std::string to_string(const ShuffleKey& key);

// Which channel of which job: the same on both sides of a connection.
struct ChannelKey {
  std::uint64_t job = 0;
  std::uint32_t channel = 0;  // ExecutionChannel::id
  std::uint32_t attempt = 0;

  friend auto operator<=>(const ChannelKey&, const ChannelKey&) = default;
};
// "channel 7 of job 00000000000000ff (attempt 2)"
std::string to_string(const ChannelKey& key);

struct Hello {
  std::uint32_t version = protocol_version;
  ChannelKey key;
  std::uint64_t type_id = 0;
  std::uint64_t buffer_size_bytes = 0;
  std::uint32_t credits = 0;
  std::uint32_t control_credits = 0;
  std::string token;
  std::string type_name;    // for messages; cut to 1024 bytes
  std::string sender_name;  // for messages; cut to 256 bytes
  // Some memory of the sender's process (SharedMemory): a receiver that can open it offers a ring.
  // Empty: none is wanted.
  std::string shared_place;
  // The device for one-sided writes that the sender has (RemoteMemoryDevice::provider): a receiver
  // that has the same one may offer a ring that is mirrored. Empty: none is wanted.
  std::string remote_provider;
};

// A whole frame. REQUIRES: the token has at most 1024 bytes.
std::string encode_hello(const Hello& hello);
// Of the payload.
Result<Hello> decode_hello(std::string_view payload);

// Chunks of one partition of a file, from one of them on.
struct FetchRequest {
  std::uint32_t version = protocol_version;
  ShuffleKey key;
  std::uint32_t partition = 0;
  std::uint64_t first_chunk = 0;
  std::string token;
};
// A whole frame. REQUIRES: the token has at most 1024 bytes.
std::string encode_fetch(const FetchRequest& request);
// Of the payload.
Result<FetchRequest> decode_fetch(std::string_view payload);
std::string encode_fetched(std::uint64_t chunks);

// What a receiver offers: nothing, or a ring in memory of its own.
struct Accept {
  std::string ring_place;
  // Of a place of RemoteMemory; none: it is one of SharedMemory.
  std::optional<WriteOrder> remote = {};
  // Why there is none, where the sender wanted one.
  std::string no_ring;
};
std::string encode_accept(const Accept& accept);
Result<Accept> decode_accept(std::string_view payload);
// The answer to a ring that was offered. It is taken: with what the receiver's end of remote memory
// is to know, or nothing.
std::string encode_ring(std::string_view answer);
std::string encode_no_ring(std::string_view why_not);
std::string encode_wake();
// Of an end that is about to park; see the fields above.
std::string encode_park(std::uint64_t seen, std::uint64_t released);

// A barrier with the records in flight before it, in frames of at most `most_bytes` of these.
// `messages`: of the ring before it; 0 without one.
std::vector<std::string> encode_barrier(std::uint64_t epoch, std::uint64_t messages,
                                        std::string_view in_flight, std::size_t most_bytes);
// The other way: gathers the frames of one barrier after the other.
class BarrierFrames {
 public:
  // The records in flight, with the last frame of a barrier. protocol_error when they are more than
  // any channel holds.
  Result<std::optional<std::string>> add(const FrameHeader& header, std::string_view payload);

 private:
  std::string in_flight_;  // as far as they have come
};
std::string encode_credit(std::uint64_t data_credits, std::uint64_t control_credits);
// A whole frame; the message is cut to fit.
std::string encode_failure(const Status& status);
// What the peer said; a payload that cannot be read is a protocol_error.
Status decode_failure(std::string_view payload);

}  // namespace hummer
