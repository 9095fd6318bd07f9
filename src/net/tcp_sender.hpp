// TcpSender: the sending end of tcp_transport.hpp, and the state that it shares
// with its pump.
//
// Buffers: a slot is free, open (being filled; it holds a credit) or in the queue.
// The queue holds what has to leave, in order; its first entry may have left in
// part. While it is empty a published buffer is written at once; otherwise it
// stays open until it is full or the queue has drained.
//
// Thread: the state belongs to the task's executor; only `dropped` and `event` are
// touched from elsewhere (when an end is destroyed after its executor stopped).
#pragma once

#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "net/frame.hpp"
#include "net/tcp_transport.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class TcpSenderState {
 public:
  TcpSenderState(std::unique_ptr<ByteStream> stream, TransportOptions options);
  ~TcpSenderState();

  // Runs until the end is destroyed and what it left behind has gone, or until failure.
  static Task<void> pump(std::shared_ptr<TcpSenderState> state);

  // Writes what waits, as far as the connection takes it; then the open buffer, if any.
  void write_out();
  // Each of `buffers` as a frame, as many as there is credit for; what the connection does not take
  // at once goes to buffers. How many. REQUIRES: nothing waits, and the open buffer is empty.
  std::size_t write_in_place(std::span<const Pieces> buffers);
  void keep_rest(std::span<const std::string_view> frame, std::size_t sent, int slot);
  // Reads what the receiver says.
  void read_in();
  void fail(Status why);

  struct Slot {
    char* bytes = nullptr;
    std::size_t used = 0;  // with the frame header
  };
  struct Leaving {
    char* bytes;
    std::size_t size;
    std::size_t sent;
    int slot;  // -1: a control or a failure; `text` owns its bytes
    std::string text;
  };

  std::size_t data_credit() const;
  bool open_slot();
  bool open_has_content() const;
  void close_open(bool last);
  void enqueue(std::string frame);
  void enqueue_control(std::span<const char> bytes, bool last);
  void enqueue_failure(const Status& why);
  bool everything_released() const;

  const TransportOptions options;
  const std::unique_ptr<ByteStream> stream;
  Executor* executor = nullptr;
  WakeEvent* task_event = nullptr;  // null once the end is gone
  WakeEvent event;                  // the pump's
  std::atomic<bool> dropped{false};
  Status failure;

  std::vector<Slot> slots;
  std::vector<int> free_slots;
  int open = -1;
  std::deque<Leaving> queue;
  std::size_t queued_slots = 0;
  std::uint64_t sequence = 0;
  std::uint64_t data_taken = 0;  // buffers opened
  std::uint64_t controls_sent = 0;
  std::uint64_t data_released = 0;
  std::uint64_t controls_released = 0;
  bool last_sent = false;

  std::array<char, frame_header_bytes + align_up(max_failure_bytes)> incoming;
  std::size_t incoming_bytes = 0;
};

}  // namespace hummer
