// FrameLink: the connection beside a ring, on which frames are few: barriers, wake-ups, failures.
//
//   link.send(encode_wake());                 // leaves as far as the connection takes it
//   while (true) {
//     Result<std::optional<Frame>> frame = link.read();   // empty: no whole one is there
//   }
//   link.write_out();                         // what was left, when the connection takes more
//
// Thread: one. Errors of read: protocol_error for what is no frame, those of the stream, peer_gone
// at its end. An error of writing is kept: the peer's last words may still be read.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/frame.hpp"
#include "platform/network.hpp"

namespace hummer {

class FrameLink {
 public:
  // `max_payload_bytes`: of a barrier's frame.
  FrameLink(std::unique_ptr<ByteStream> stream, std::size_t max_payload_bytes)
      : stream_(std::move(stream)), max_payload_bytes_(max_payload_bytes) {}

  ByteStream& stream() { return *stream_; }
  // Nothing else may be called after it.
  std::unique_ptr<ByteStream> take_stream() { return std::move(stream_); }

  void send(std::string_view frame) {
    outgoing_ += frame;
    write_out();
  }
  void write_out();
  bool all_written() const { return outgoing_sent_ == outgoing_.size() || !failure_.ok(); }
  const Status& write_failure() const { return failure_; }

  Result<std::optional<Frame>> read();

 private:
  std::unique_ptr<ByteStream> stream_;
  const std::size_t max_payload_bytes_;
  std::string incoming_;
  std::string outgoing_;
  std::size_t outgoing_sent_ = 0;
  Status failure_;
};

}  // namespace hummer
