#include "net/frame_link.hpp"

#include <array>
#include <utility>

namespace hummer {

void FrameLink::write_out() {
  while (failure_.ok() && outgoing_sent_ < outgoing_.size()) {
    const Result<std::size_t> written =
        stream_->try_write(std::span(outgoing_).subspan(outgoing_sent_));
    if (!written.ok()) {
      failure_ = written.status();
      return;
    }
    if (*written == would_block) return;
    outgoing_sent_ += *written;
  }
  outgoing_.clear();
  outgoing_sent_ = 0;
}

Result<std::optional<Frame>> FrameLink::read() {
  while (true) {
    if (incoming_.size() >= frame_header_bytes) {
      const Result<FrameHeader> header = read_frame_header(incoming_.data(), max_payload_bytes_);
      if (!header.ok()) return header.status();
      if (incoming_.size() >= header->frame_bytes()) {
        Frame frame{*header, incoming_.substr(frame_header_bytes, header->payload_bytes)};
        incoming_.erase(0, header->frame_bytes());
        if (const Status whole = check_payload(*header, frame.payload); !whole.ok()) return whole;
        return std::optional(std::move(frame));
      }
    }
    std::array<char, 4096> bytes;
    const Result<std::size_t> got = stream_->try_read(bytes);
    if (!got.ok()) return got.status();
    if (*got == would_block) return std::optional<Frame>();
    if (*got == 0) return Status(ErrorCode::peer_gone, "the other end closed the connection");
    incoming_.append(bytes.data(), *got);
  }
}

}  // namespace hummer
