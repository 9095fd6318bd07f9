// TcpReceiver: the receiving end of tcp_transport.hpp.
//
// Reading: one system call asks for as much as the buffer holds, so that a full
// frame of a busy connection comes with one call and lies 64-aligned at the
// buffer's start, and many small frames come together. A frame that does not fit
// into the rest of the buffer is moved to a fresh one; its remainder is then read
// to its end only, which brings full frames back into step.
//
// A credit that cannot be written now is merged with later ones (they are totals)
// and goes with the next call. Thread: the task's executor.
#pragma once

#include <deque>
#include <memory>
#include <string>

#include "net/buffer_pool.hpp"
#include "net/frame.hpp"
#include "net/tcp_transport.hpp"

namespace hummer {

class TcpReceiver final : public TransportReceiver {
 public:
  TcpReceiver(std::unique_ptr<ByteStream> stream, TransportOptions options);
  ~TcpReceiver() override;

  void attach(Executor& executor, WakeEvent& wake_event) override;
  Poll poll(Received& received) override;
  void keep_credit() override;
  void give_back() override;
  bool flush() override;
  const Status& failure() const override { return failure_; }
  void abandon(const Status& why) override;

 private:
  enum class Fill { more, nothing, failed };

  Poll fail(const Status& why);
  // Reads once. `needed`: bytes of the frame at begin_, when known, or of a header.
  Fill fill(std::size_t needed, bool known);
  Poll take_frame(const FrameHeader& header, Received& received);
  // Poll::nothing: there is more of it to come.
  Poll take_barrier(const FrameHeader& header, std::string_view payload, Received& received);
  void write_credits(bool all);

  const TransportOptions options_;
  const std::unique_ptr<ByteStream> stream_;
  Status failure_;

  BufferPool pool_;
  BufferRef buffer_;
  std::size_t begin_ = 0;  // of what has not been handed out
  std::size_t end_ = 0;    // of what has been read

  std::uint64_t next_sequence_ = 0;
  FrameKind held_ = FrameKind::data;  // what the last poll gave
  bool holding_ = false;
  std::deque<FrameKind> kept_;  // whose credits have not gone back
  BarrierFrames barrier_;
  bool last_seen_ = false;

  std::uint64_t data_released_ = 0;
  std::uint64_t controls_released_ = 0;
  std::uint64_t data_granted_ = 0;  // written, or in outgoing_
  std::uint64_t controls_granted_ = 0;
  std::string outgoing_;
  std::size_t outgoing_sent_ = 0;
  bool mute_ = false;  // the peer does not listen any more; its bytes may still come
};

}  // namespace hummer
