#include "net/tcp_receiver.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/wake_event.hpp"

namespace hummer {
TcpReceiver::TcpReceiver(std::unique_ptr<ByteStream> stream, TransportOptions options)
    : options_(std::move(options)),
      stream_(std::move(stream)),
      pool_(options_.buffer_size_bytes, static_cast<std::size_t>(options_.credits),
            options_.buffers) {}

TcpReceiver::~TcpReceiver() {
  if (!last_seen_) abandon({ErrorCode::peer_gone, "the receiving task ended before the stream"});
}

void TcpReceiver::attach(Executor& executor, WakeEvent& wake_event) {
  stream_->set_wake_events(executor, &wake_event, &wake_event);
}

Poll TcpReceiver::fail(const Status& why) {
  if (failure_.ok()) {
    failure_ = why;
    // What a lost connection says names the peer already.
    const bool nameless =
        why.code() == ErrorCode::protocol_error || why.code() == ErrorCode::peer_gone;
    if (nameless) {
      failure_ = why.with_context("connection to " + stream_->peer_address().to_string());
    }
    // The peer's own words and a dead connection need no answer.
    if (why.code() == ErrorCode::protocol_error) {
      const std::string frame = encode_failure(why);
      (void)stream_->try_write(frame);
      stream_->close();
    }
    failure_ = failure_.with_context("receiving from " + options_.peer);
  }
  return Poll::failed;
}

Poll TcpReceiver::poll(Received& received) {
  HUMMER_ASSERT(!holding_);
  if (!failure_.ok()) return Poll::failed;
  write_credits(last_seen_);
  if (last_seen_) return Poll::closed;
  while (true) {
    std::size_t needed = frame_header_bytes;
    const bool known = end_ - begin_ >= frame_header_bytes;
    if (known) {
      const Result<FrameHeader> header = read_frame_header(
          buffer_->data() + begin_, options_.buffer_size_bytes - frame_header_bytes);
      if (!header.ok()) return fail(header.status());
      needed = header->frame_bytes();
      if (end_ - begin_ >= needed) {
        const Poll taken = take_frame(*header, received);
        if (taken != Poll::nothing) return taken;
        continue;
      }
    }
    switch (fill(needed, known)) {
      case Fill::more: break;
      case Fill::nothing: return Poll::nothing;
      case Fill::failed: return Poll::failed;
    }
  }
}

TcpReceiver::Fill TcpReceiver::fill(std::size_t needed, bool known) {
  const bool starts_fresh = begin_ == end_ && begin_ != 0;
  if (!buffer_ || starts_fresh || begin_ + needed > buffer_->size()) {
    if (starts_fresh && buffer_->unique()) {
      begin_ = end_ = 0;
    } else {
      BufferRef fresh = pool_.take();
      const std::size_t have = end_ - begin_;
      if (have != 0) std::memcpy(fresh->data(), buffer_->data() + begin_, have);
      buffer_ = std::move(fresh);
      begin_ = 0;
      end_ = have;
    }
  }
  const bool is_large = known && needed > buffer_->size() / 2;
  const std::size_t limit = is_large ? begin_ + needed : buffer_->size();
  const Result<std::size_t> got = stream_->try_read({buffer_->data() + end_, limit - end_});
  if (!got.ok()) {
    fail(got.status());
    return Fill::failed;
  }
  if (*got == would_block) return Fill::nothing;
  if (*got == 0) {
    fail({ErrorCode::peer_gone, "the sender closed the connection before the end of its stream"});
    return Fill::failed;
  }
  end_ += *got;
  return Fill::more;
}

Poll TcpReceiver::take_frame(const FrameHeader& header, Received& received) {
  const std::string_view payload(buffer_->data() + begin_ + frame_header_bytes,
                                 header.payload_bytes);
  if (Status whole = check_payload(header, payload); !whole.ok()) return fail(whole);
  if (header.kind == FrameKind::failure) {
    const Status why = decode_failure(payload);
    return fail({ErrorCode::peer_gone, "the sender gave up: " + why.to_string()});
  }
  if (header.kind == FrameKind::barrier) return take_barrier(header, payload, received);
  const bool is_data = header.kind == FrameKind::data;
  if (!is_data && header.kind != FrameKind::control) {
    return fail({ErrorCode::protocol_error, "a frame that no sender sends"});
  }
  if (header.sequence != next_sequence_ || payload.empty()) {
    return fail({ErrorCode::protocol_error, "frame " + std::to_string(header.sequence) +
                                                " came where " + std::to_string(next_sequence_) +
                                                " was expected"});
  }
  ++next_sequence_;
  begin_ += header.frame_bytes();
  last_seen_ = (header.flags & FrameHeader::last) != 0;
  held_ = header.kind;
  holding_ = true;
  received.buffer = is_data ? buffer_ : BufferRef();
  received.bytes = payload;
  return Poll::bytes;
}

Poll TcpReceiver::take_barrier(const FrameHeader& header, std::string_view payload,
                               Received& received) {
  Result<std::optional<std::string>> whole = barrier_.add(header, payload);
  if (!whole.ok()) return fail(whole.status());
  begin_ += header.frame_bytes();
  if (!whole->has_value()) return Poll::nothing;
  received = {};
  received.epoch = header.sequence;
  received.in_flight = std::move(**whole);
  return Poll::barrier;
}

void TcpReceiver::keep_credit() {
  HUMMER_ASSERT(holding_);
  holding_ = false;
  kept_.push_back(held_);
}

void TcpReceiver::give_back() {
  ++(kept_.front() == FrameKind::data ? data_released_ : controls_released_);
  kept_.pop_front();
  write_credits(last_seen_);
}

void TcpReceiver::write_credits(bool all) {
  while (!mute_) {
    if (outgoing_sent_ == outgoing_.size()) {
      const auto data_step = std::max<std::uint64_t>(options_.credits / 2, 1);
      const auto control_step = std::max<std::uint64_t>(options_.control_credits / 4, 1);
      const std::uint64_t data = data_released_ - data_granted_;
      const std::uint64_t controls = controls_released_ - controls_granted_;
      const bool due =
          data >= data_step || controls >= control_step || (all && data + controls != 0);
      if (!due) return;
      outgoing_ = encode_credit(data_released_, controls_released_);
      outgoing_sent_ = 0;
      data_granted_ = data_released_;
      controls_granted_ = controls_released_;
    }
    const Result<std::size_t> written =
        stream_->try_write({outgoing_.data() + outgoing_sent_, outgoing_.size() - outgoing_sent_});
    if (!written.ok()) {
      mute_ = true;
      return;
    }
    if (*written == would_block) return;
    outgoing_sent_ += *written;
  }
}

bool TcpReceiver::flush() {
  if (mute_ || !failure_.ok()) return true;
  write_credits(true);
  return mute_ || (outgoing_sent_ == outgoing_.size() && data_granted_ == data_released_ &&
                   controls_granted_ == controls_released_);
}

void TcpReceiver::abandon(const Status& why) {
  if (!failure_.ok()) return;
  failure_ = {ErrorCode::cancelled, "the channel was abandoned on this side"};
  if (stream_->closed()) return;
  // Best effort: behind a credit that left in part it would only be noise.
  if (outgoing_sent_ == outgoing_.size()) (void)stream_->try_write(encode_failure(why));
  stream_->close();
}

std::unique_ptr<TransportReceiver> make_tcp_receiver(std::unique_ptr<ByteStream> stream,
                                                     TransportOptions options) {
  return std::make_unique<TcpReceiver>(std::move(stream), std::move(options));
}

}  // namespace hummer
