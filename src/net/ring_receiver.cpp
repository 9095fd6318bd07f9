// The receiving end of ring_transport.hpp.
#include <array>
#include <cstring>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "net/frame_link.hpp"
#include "net/ring_mirror.hpp"
#include "net/ring_transport.hpp"
#include "platform/executor.hpp"
#include "platform/poller.hpp"
#include "platform/wake_event.hpp"

namespace hummer {
namespace {

// The ring's memory and its slots as buffers, for as long as anybody needs one of them.
// Thread: freed() any; the rest that of the end.
class RingSlots : public std::enable_shared_from_this<RingSlots> {
 public:
  RingSlots(RingStorage storage, const RingShape& shape, std::shared_ptr<BufferMetrics> metrics);
  ~RingSlots();

  RingMemory& ring() { return ring_; }
  RemoteMemory* remote() const { return storage_.remote().get(); }
  // The slot as a buffer; it goes back to the sender when the last reference is dropped. Empty: it
  // is out already.
  BufferRef take(std::uint32_t slot);
  std::size_t out() const { return out_.load(std::memory_order_relaxed); }
  // Slots that have come back.
  std::uint64_t returned() const { return returned_.load(std::memory_order_acquire); }
  // Notified when a slot has come back to a sender that is parked, or to one that must be written
  // to. Null: the end is gone.
  void notify(WakeEvent* event) {
    const std::lock_guard lock(mutex_);
    event_ = event;
  }

 private:
  class SlotBuffer;
  void freed(std::uint32_t slot);
  void hold(std::size_t bytes);

  const RingStorage storage_;
  RingMemory ring_;
  const std::uint32_t slot_bytes_;
  const std::shared_ptr<BufferMetrics> metrics_;
  std::size_t held_bytes_ = 0;
  std::vector<std::unique_ptr<SlotBuffer>> buffers_;  // made when a slot first has something
  std::vector<std::atomic<bool>> is_out_;
  std::atomic<std::size_t> out_{0};

  std::mutex mutex_;
  std::atomic<std::uint64_t> returned_{0};  // written under the mutex
  WakeEvent* event_ = nullptr;
};

class RingSlots::SlotBuffer final : public Buffer {
 public:
  SlotBuffer(char* bytes, std::size_t size_bytes, std::uint32_t slot)
      : Buffer(bytes, size_bytes), slot_(slot) {}
  ~SlotBuffer() override = default;

  void leave(std::shared_ptr<RingSlots> slots) { slots_ = std::move(slots); }

 protected:
  void destroy() override {
    // The last one may take the memory with it, and this.
    const std::shared_ptr<RingSlots> slots = std::move(slots_);
    slots->freed(slot_);
  }

 private:
  const std::uint32_t slot_;
  std::shared_ptr<RingSlots> slots_;  // while it is out
};

RingSlots::RingSlots(RingStorage storage, const RingShape& shape,
                     std::shared_ptr<BufferMetrics> metrics)
    : storage_(std::move(storage)),
      ring_(storage_.bytes(), shape),
      slot_bytes_(shape.slot_bytes),
      metrics_(metrics != nullptr ? std::move(metrics) : std::make_shared<BufferMetrics>()),
      buffers_(shape.slots),
      is_out_(shape.slots) {
  // What a device writes to is there as a whole from the beginning.
  if (remote() != nullptr) hold(storage_.bytes().size());
}

void RingSlots::hold(std::size_t bytes) {
  held_bytes_ += bytes;
  metrics_->held_bytes.fetch_add(bytes, std::memory_order_relaxed);
}

RingSlots::~RingSlots() { metrics_->held_bytes.fetch_sub(held_bytes_, std::memory_order_relaxed); }

BufferRef RingSlots::take(std::uint32_t slot) {
  if (is_out_[slot].exchange(true, std::memory_order_acquire)) return {};
  out_.fetch_add(1, std::memory_order_relaxed);
  metrics_->used_bytes.fetch_add(slot_bytes_, std::memory_order_relaxed);
  std::unique_ptr<SlotBuffer>& buffer = buffers_[slot];
  if (buffer == nullptr) {
    buffer = std::make_unique<SlotBuffer>(ring_.slot(slot), slot_bytes_, slot);
    if (remote() == nullptr) hold(slot_bytes_);
  } else {
    buffer->add_reference();  // from none to one
  }
  buffer->leave(shared_from_this());
  return BufferRef::adopt(buffer.get());
}

void RingSlots::freed(std::uint32_t slot) {
  metrics_->used_bytes.fetch_sub(slot_bytes_, std::memory_order_relaxed);
  out_.fetch_sub(1, std::memory_order_relaxed);
  is_out_[slot].store(false, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  const std::uint64_t position = returned_.load(std::memory_order_relaxed);
  ring_.give_back(position, slot);
  returned_.store(position + 1, std::memory_order_release);
  // The end's own thread tells the sender, and wakes it.
  if (event_ == nullptr) return;
  if (remote() != nullptr || ring_.sender_parked().is_set()) event_->notify();
}

class RingReceiver final : public TransportReceiver, public Poller {
 public:
  RingReceiver(std::unique_ptr<ByteStream> stream, RingStorage storage, TransportOptions options);
  ~RingReceiver() override;

  void attach(Executor& executor, WakeEvent& wake_event) override;
  Poll poll(Received& received) override;
  void keep_credit() override;
  void give_back() override;
  bool flush() override;
  const Status& failure() const override { return failure_; }
  void abandon(const Status& why) override;

  bool poll() override;
  bool prepare_park() override;
  void after_park() override { ring().receiver_parked().clear(); }

 private:
  struct Kept {
    BufferRef buffer;  // empty for a control
    bool is_close = false;
  };
  struct Barrier {
    std::uint64_t position = 0;  // of the ring's messages, that come before it
    std::uint64_t epoch = 0;
    std::string in_flight;
  };

  RingMemory& ring() const { return slots_->ring(); }
  Poll fail(const Status& why);
  // Of the connection; whether anything came.
  bool read_frames();
  void take_barrier(const Frame& frame);
  Poll take(const RingMessage& message, Received& received);
  Status take_slot(const RingMessage& message);
  void release_closes();
  void wake_sender();
  bool is_shown() const { return mirror_ ? mirror_->is_shown(next_) : ring().shown(next_); }
  bool sender_went_on() const { return !waits_for_barrier_ && is_shown(); }
  // The next message; empty: it is not there yet.
  Result<std::optional<RingMessage>> read_next() const;
  void took_next();
  // With a mirror: what has come back and was not written to the sender yet; and whether that is
  // much.
  void tell_sender();
  bool has_much_to_tell() const;
  // Looks after the mirror; false: it has failed.
  bool progress();
  // Whether to do that now: a look at a device is a system call with some, so while there are
  // messages at hand it is done now and then.
  bool is_due();

  const TransportOptions options_;
  const RingShape shape_;
  FrameLink link_;
  const std::shared_ptr<RingSlots> slots_;
  BufferPool copies_;
  Executor* executor_ = nullptr;
  WakeEvent* wake_event_ = nullptr;
  Status failure_;
  Status stream_end_;  // what is in the ring comes before it

  std::uint64_t next_ = 0;  // position of the next message
  BufferRef open_;          // the slot that the last message lay in
  std::uint32_t open_slot_ = 0;
  std::size_t open_used_ = 0;
  BufferRef held_;  // what the last poll gave; empty for a control
  std::array<char, max_control_bytes> control_{};
  bool holding_ = false;
  std::deque<Kept> kept_;  // whose credits have not gone back
  std::uint64_t released_ = 0;
  bool last_seen_ = false;
  bool idle_ = false;  // the last poll found nothing
  // With a mirror.
  std::optional<RingMirror> mirror_;
  static constexpr std::uint32_t looks_apart = 8;
  std::uint32_t looks_ = 0;
  bool told_parked_ = false;  // and was not woken since
  bool told_end_ = false;
  struct Seen {
    std::uint64_t returns = 0;
    std::uint64_t released = 0;
  };
  std::optional<Seen> sender_parks_;  // having seen so much

  std::uint32_t barriers_given_ = 0;
  bool waits_for_barrier_ = false;  // which comes before the next message, over the connection
  BarrierFrames barrier_;
  std::deque<Barrier> barriers_;
};

RingReceiver::RingReceiver(std::unique_ptr<ByteStream> stream, RingStorage storage,
                           TransportOptions options)
    : options_(std::move(options)),
      shape_(ring_shape(options_)),
      link_(std::move(stream), options_.capacity()),
      slots_(std::make_shared<RingSlots>(std::move(storage), shape_, options_.buffers)),
      copies_(options_.capacity(), static_cast<std::size_t>(options_.credits), options_.buffers) {
  if (RemoteMemory* const memory = slots_->remote()) {
    mirror_.emplace(RingMirror::End::receiver, *memory, ring(), shape_);
  }
}

// Until the sender goes, or for so long. A connection that is closed while something that came over
// it is unread is reset, and then what the sender was told last is lost with its packet.
Task<void> read_until_closed(std::unique_ptr<ByteStream> stream, Nanoseconds linger_ns) {
  Executor& executor = co_await current_executor();
  const Nanoseconds deadline = executor.now() + linger_ns;
  WakeEvent event;
  stream->set_wake_events(executor, &event, nullptr);
  std::array<char, 1024> unwanted;
  bool in_time = true;
  while (in_time) {
    event.prepare_wait();
    const Result<std::size_t> got = stream->try_read(unwanted);
    const bool is_over = !got.ok() || *got == 0;
    if (is_over || *got != would_block) event.cancel_wait();
    if (is_over) break;
    if (*got == would_block) in_time = co_await event.wait_until(deadline);
  }
  stream->set_wake_events(executor, nullptr, nullptr);
}

RingReceiver::~RingReceiver() {
  if (executor_ != nullptr) executor_->remove_poller(*this);
  slots_->notify(nullptr);
  if (!last_seen_) abandon({ErrorCode::peer_gone, "the receiving task ended before the stream"});
  if (!told_end_ || link_.stream().closed() || executor_->is_stopping()) return;
  link_.stream().set_wake_events(*executor_, nullptr, nullptr);
  executor_->spawn(read_until_closed(link_.take_stream(), options_.linger_ns));
}

void RingReceiver::attach(Executor& executor, WakeEvent& wake_event) {
  HUMMER_ASSERT(executor_ == nullptr);
  executor_ = &executor;
  wake_event_ = &wake_event;
  slots_->notify(&wake_event);
  link_.stream().set_wake_events(executor, &wake_event, &wake_event);
  executor.add_poller(*this);
}

Poll RingReceiver::fail(const Status& why) {
  if (!failure_.ok()) return Poll::failed;
  failure_ = why;
  if (why.code() == ErrorCode::protocol_error || why.code() == ErrorCode::peer_gone) {
    failure_ = why.with_context("connection to " + link_.stream().peer_address().to_string());
  }
  if (why.code() == ErrorCode::protocol_error) {
    link_.send(encode_failure(why));
    link_.stream().close();
  }
  return Poll::failed;
}

Poll RingReceiver::poll(Received& received) {
  HUMMER_ASSERT(!holding_);
  if (!failure_.ok()) return Poll::failed;
  wake_sender();
  link_.write_out();
  if (last_seen_) return Poll::closed;
  idle_ = false;
  const bool mirrored = !is_due() || progress();
  while (failure_.ok()) {
    if (!barriers_.empty() && barriers_.front().position <= next_) {
      Barrier barrier = std::move(barriers_.front());
      barriers_.pop_front();
      if (barrier.position < next_) {
        return fail({ErrorCode::protocol_error, "a barrier for a place that has passed"});
      }
      ++barriers_given_;
      received = {};
      received.epoch = barrier.epoch;
      received.in_flight = std::move(barrier.in_flight);
      return Poll::barrier;
    }
    const Result<std::optional<RingMessage>> message = read_next();
    if (!message.ok()) return fail(message.status());
    waits_for_barrier_ = message->has_value() && (**message).barriers != barriers_given_;
    if (message->has_value() && !waits_for_barrier_) {
      if ((**message).kind != RingMessage::Kind::close) return take(**message, received);
      if (!open_ || open_slot_ != (**message).slot) {
        return fail({ErrorCode::protocol_error, "a slot of the ring is closed that is not open"});
      }
      open_ = {};
      took_next();
      kept_.push_back({{}, true});
      release_closes();
      continue;
    }
    if (!stream_end_.ok()) return fail(stream_end_);
    if (read_frames()) continue;
    // A sender that goes in order says over the connection why.
    if (!mirrored && mirror_->progress().code() != ErrorCode::peer_gone) {
      return fail(mirror_->progress());
    }
    idle_ = true;
    return Poll::nothing;
  }
  return Poll::failed;
}

bool RingReceiver::read_frames() {
  bool came = false;
  while (failure_.ok() && stream_end_.ok()) {
    const Result<std::optional<Frame>> frame = link_.read();
    if (!frame.ok()) {
      if (frame.status().code() == ErrorCode::protocol_error) {
        fail(frame.status());
      } else {
        stream_end_ = frame.status();
      }
      return true;
    }
    if (!frame->has_value()) return came;
    came = true;
    switch ((**frame).header.kind) {
      case FrameKind::wake: told_parked_ = false; break;
      case FrameKind::park:
        sender_parks_ = Seen{(**frame).header.sequence, (**frame).header.data_credits};
        wake_sender();
        break;
      case FrameKind::barrier: take_barrier(**frame); break;
      case FrameKind::failure:
        fail({ErrorCode::peer_gone,
              "the sender gave up: " + decode_failure((**frame).payload).to_string()});
        break;
      default: fail({ErrorCode::protocol_error, "a frame that no sender sends beside a ring"});
    }
  }
  return came;
}

void RingReceiver::take_barrier(const Frame& frame) {
  Result<std::optional<std::string>> whole = barrier_.add(frame.header, frame.payload);
  if (!whole.ok()) {
    fail(whole.status());
  } else if (whole->has_value()) {
    barriers_.push_back({frame.header.data_credits, frame.header.sequence, std::move(**whole)});
  }
}

Poll RingReceiver::take(const RingMessage& message, Received& received) {
  received = {};
  if (message.kind == RingMessage::Kind::control) {
    held_ = {};
    control_ = message.control;
    received.bytes = {control_.data(), control_.size()};
  } else {
    if (const Status fits = take_slot(message); !fits.ok()) return fail(fits);
    held_ = open_;
    const char* bytes = ring().slot(message.slot) + message.offset;
    received.bytes = {bytes, message.bytes};
    if (slots_->out() <= shape_.slots / 2) {
      received.buffer = open_;
    } else {
      received.buffer = copies_.take();
      std::memcpy(received.buffer->data(), bytes, message.bytes);
      received.bytes = {received.buffer->data(), message.bytes};
    }
  }
  took_next();
  last_seen_ = message.last;
  if (message.closes || message.last) open_ = {};
  holding_ = true;
  return Poll::bytes;
}

// A slot is written from front to back, and closed before another one is.
Status RingReceiver::take_slot(const RingMessage& message) {
  if (!open_) {
    if (message.offset == 0) open_ = slots_->take(message.slot);
    open_slot_ = message.slot;
    open_used_ = 0;
  }
  if (!open_ || open_slot_ != message.slot || message.offset != open_used_) {
    return {ErrorCode::protocol_error, "a message of the ring lies where another one may be read"};
  }
  open_used_ = message.offset + message.bytes;
  return {};
}

void RingReceiver::keep_credit() {
  HUMMER_ASSERT(holding_);
  holding_ = false;
  kept_.push_back({std::move(held_), false});
}

void RingReceiver::give_back() {
  kept_.pop_front();
  ++released_;
  release_closes();
}

// What nobody was given comes back with what is before it.
void RingReceiver::release_closes() {
  while (!kept_.empty() && kept_.front().is_close) {
    kept_.pop_front();
    ++released_;
  }
  ring().released().store(released_, std::memory_order_release);
  // What is little waits until there is nothing else to do.
  if (mirror_ && has_much_to_tell()) tell_sender();
  wake_sender();
}

void RingReceiver::wake_sender() {
  if (mirror_) {
    const bool more = sender_parks_ && (mirror_->given_back() > sender_parks_->returns ||
                                        mirror_->told_released() > sender_parks_->released);
    if (!more) return;
    sender_parks_.reset();
  } else if (!ring().sender_parked().take()) {
    return;
  }
  link_.send(encode_wake());
}

void RingReceiver::tell_sender() {
  mirror_->give_back(slots_->returned());
  mirror_->release(released_);
}

bool RingReceiver::has_much_to_tell() const {
  return released_ - mirror_->told_released() >= shape_.entries() / 4 ||
         slots_->returned() - mirror_->given_back() >= std::max<std::uint64_t>(shape_.slots / 4, 1);
}

bool RingReceiver::is_due() {
  return mirror_ && (!is_shown() || mirror_->has_waiting() || ++looks_ % looks_apart == 0);
}

bool RingReceiver::progress() {
  if (!mirror_) return true;
  if (!is_shown() || has_much_to_tell()) tell_sender();
  const bool moved = mirror_->progress().ok();
  wake_sender();
  return moved;
}

Result<std::optional<RingMessage>> RingReceiver::read_next() const {
  if (!mirror_ || mirror_->laps_tell()) return ring().read(next_);
  if (!is_shown()) return std::optional<RingMessage>();
  Result<std::optional<RingMessage>> message = ring().read(next_);
  if (message.ok() && !message->has_value()) {
    return Status(ErrorCode::protocol_error, "a message of the ring is shown that is not there");
  }
  return message;
}

void RingReceiver::took_next() {
  if (mirror_) mirror_->took(next_);
  ++next_;
}

bool RingReceiver::flush() {
  if (!failure_.ok()) return true;
  if (mirror_) tell_sender();
  (void)progress();
  wake_sender();
  // Its memory may be gone before a last write of this end has left.
  if (mirror_ && last_seen_ && kept_.empty() && !told_end_) {
    told_end_ = true;
    link_.send(encode_credit(released_, 0));
  }
  link_.write_out();
  return link_.all_written();
}

void RingReceiver::abandon(const Status& why) {
  if (!failure_.ok()) return;
  failure_ = {ErrorCode::cancelled, "the channel was abandoned on this side"};
  if (link_.stream().closed()) return;
  if (link_.all_written()) link_.send(encode_failure(why));
  link_.stream().close();
}

bool RingReceiver::poll() {
  if (mirror_ && !idle_ && !is_due()) return false;
  const bool failed = !progress() && mirror_->progress().code() != ErrorCode::peer_gone;
  if (!idle_ || (!failed && !sender_went_on())) return false;
  idle_ = false;
  wake_event_->notify();
  return true;
}

bool RingReceiver::prepare_park() {
  if (!mirror_) {
    if (!idle_) return true;
    ring().receiver_parked().set();
    return !sender_went_on();
  }
  tell_sender();
  if (progress() && !mirror_->all_written()) return false;
  // A task that waits for room asks for nothing, and the sender may say meanwhile that it parks.
  if (read_frames() && idle_) {
    idle_ = false;
    wake_event_->notify();
    return false;
  }
  if (!idle_) return true;
  if (!told_parked_) {
    told_parked_ = true;
    link_.send(encode_park(next_, 0));
  }
  return !sender_went_on();
}

}  // namespace

std::unique_ptr<TransportReceiver> make_ring_receiver(std::unique_ptr<ByteStream> stream,
                                                      RingStorage storage,
                                                      TransportOptions options) {
  return std::make_unique<RingReceiver>(std::move(stream), std::move(storage), std::move(options));
}

}  // namespace hummer
