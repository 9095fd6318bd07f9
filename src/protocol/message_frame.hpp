// MessageFrame: an Envelope as bytes, and back; see message_stream.hpp for the layout.
//
// Pure: no stream, no coroutine, no clock. FrameDecoder turns bytes as they arrive, in whatever
// pieces, into messages. It keeps a copy only of a frame that is not complete yet, and of no more
// of it than has arrived; between frames it holds no memory.
//
// Errors: protocol_error (magic, check, length above the limit, no Envelope); the decoder must not
// be used after one. Thread: a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "protocol/control.pb.h"

namespace hummer {

inline constexpr std::size_t message_header_bytes = 12;

// Appends the frame to `out`; limit_exceeded (and `out` unchanged) above `max_message_bytes`.
Status append_frame(const wire::Envelope& message, std::string& out);

class FrameDecoder {
 public:
  explicit FrameDecoder(std::size_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Of payloads that begin from now on.
  void set_limit(std::size_t bytes) { limit_bytes_ = bytes; }

  // Takes from the front of `bytes`: true with a whole message; false when all was taken and more
  // is needed.
  Result<bool> next(std::string_view& bytes, wire::Envelope& message);
  bool in_the_middle() const { return !partial_.empty(); }
  // What of an incomplete frame has been taken.
  std::string_view partial() const { return partial_; }

 private:
  // The payload's length, of a whole header.
  Result<std::size_t> payload_bytes(const char* header) const;
  // Of a whole frame.
  Status parse(std::string_view frame, wire::Envelope& message) const;

  std::size_t limit_bytes_;
  std::string partial_;  // a frame without its end
};

}  // namespace hummer
