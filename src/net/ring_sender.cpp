// The sending end of ring_transport.hpp, and the state that it shares with its pump.
#include <algorithm>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "net/frame_link.hpp"
#include "net/ring_mirror.hpp"
#include "net/ring_transport.hpp"
#include "platform/poller.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {
namespace {

// Thread: the task's executor; only `dropped` and `event` are touched from elsewhere (when an end
// is destroyed after its executor stopped).
class RingSenderState final : public Poller {
 public:
  RingSenderState(std::unique_ptr<ByteStream> stream, RingStorage storage_,
                  TransportOptions options_)
      : options(std::move(options_)),
        shape(ring_shape(options)),
        storage(std::move(storage_)),
        ring(storage.bytes(), shape),
        link(std::move(stream), options.capacity()),
        gathered_bytes(std::min({shape.largest_write_bytes(),
                                 std::max(most_gathered_bytes, std::size_t{shape.slot_bytes}),
                                 std::size_t{shape.slots} * shape.slot_bytes / 4})),
        is_out(shape.slots, false) {
    if (RemoteMemory* const memory = storage.remote().get()) {
      mirror.emplace(RingMirror::End::sender, *memory, ring, shape);
    }
    for (std::uint32_t slot = shape.slots; slot > 0; --slot) free_slots.push_back(slot - 1);
  }

  // Runs until the end is destroyed and what it left behind has gone, or until failure.
  static Task<void> pump(std::shared_ptr<RingSenderState> state);

  void fail(const Status& why);
  // What the receiver says over the connection.
  void read_frames();
  // What it says in memory: released messages and free slots.
  void look();
  // In the open slot, or in another one.
  bool make_room(std::size_t minimum);
  std::uint32_t take_free_slot();
  // Controls have entries of their own.
  bool has_entry() const { return position - released < shape.entries() - shape.controls; }
  std::span<char> room() const {
    return {ring.slot(open) + open_used, shape.slot_bytes - open_used};
  }
  void publish(RingMessage message, bool more);
  void show_all();
  // With a mirror a write for each element would cost more than the element, so what is little
  // waits for more, until the executor has been round once without anything new.
  void show_if_quiet();
  bool everything_released() const { return last_sent && released == position; }
  void notify_task();

  void wake_receiver();

  bool poll() override;
  bool prepare_park() override;
  void after_park() override { ring.sender_parked().clear(); }
  bool slot_came_back() const {
    return mirror ? mirror->came_back(returns_read) : ring.came_back(returns_read);
  }
  std::uint64_t released_by_receiver() const {
    if (!mirror) return ring.released().load(std::memory_order_acquire);
    // A total that is being written may look less than the one before for a moment.
    return std::max({mirror->released(), released_at_end, released});
  }
  bool receiver_went_on() const { return slot_came_back() || released_by_receiver() != released; }

  static constexpr std::uint32_t no_slot = UINT32_MAX;
  static constexpr std::size_t most_gathered_bytes = std::size_t{256} << 10;
  // A look at a device is a system call with some; what keeps neither task nor write waiting needs
  // one now and then.
  static constexpr std::uint32_t looks_apart = 8;

  const TransportOptions options;
  const RingShape shape;
  const RingStorage storage;
  RingMemory ring;
  std::optional<RingMirror> mirror;  // of a ring that is not shared memory
  FrameLink link;
  Executor* executor = nullptr;
  WakeEvent* task_event = nullptr;   // null once the end is gone
  WakeEvent event;                   // the pump's
  const std::size_t gathered_bytes;  // with a mirror: what is shown at once
  std::atomic<bool> dropped{false};
  Status failure;

  std::deque<std::uint32_t> free_slots;  // the last one is the warmest
  std::vector<bool> is_out;
  std::uint32_t open = no_slot;
  std::size_t open_used = 0;
  std::uint64_t position = 0;  // of the next message
  std::uint64_t shown = 0;     // messages that the receiver may see
  std::uint64_t released = 0;
  std::uint64_t returns_read = 0;
  std::deque<std::uint64_t> controls;  // positions of those that are not released
  std::uint32_t barriers = 0;          // sent so far
  bool last_sent = false;
  bool waiting = false;  // the task got nothing, and waits for its event
  // With a mirror.
  bool mirror_ended = false;  // by a failure
  std::uint64_t released_at_end = 0;
  std::size_t unshown_bytes = 0;
  bool show_asked = false;  // of what is not shown, some need not wait for more
  std::uint64_t position_at_look = 0;
  std::uint32_t looks = 0;
  bool told_parked = false;                     // and was not woken since
  std::optional<std::uint64_t> receiver_parks;  // having seen so many messages
};

class RingSender final : public TransportSender {
 public:
  explicit RingSender(std::shared_ptr<RingSenderState> state) : state_(std::move(state)) {}
  ~RingSender() override;

  void attach(Executor& executor, WakeEvent& wake_event) override;
  std::size_t capacity() const override { return state_->shape.slot_bytes; }
  std::span<char> acquire(std::size_t minimum) override;
  void publish(std::size_t used, bool more) override;
  bool publish_control(std::span<const char> bytes, bool last) override;
  void send_out_of_band(std::uint64_t epoch, std::string in_flight) override;
  bool finished() override;
  const Status& failure() const override { return state_->failure; }
  void abandon(const Status& why) override;

 private:
  std::shared_ptr<RingSenderState> state_;
};

RingSender::~RingSender() {
  state_->look();
  if (state_->failure.ok() && !state_->everything_released()) {
    abandon({ErrorCode::peer_gone, "the sending task ended before its stream"});
  }
  state_->task_event = nullptr;
  state_->dropped.store(true, std::memory_order_release);
  state_->event.notify();
}

void RingSender::attach(Executor& executor, WakeEvent& wake_event) {
  HUMMER_ASSERT(state_->executor == nullptr);
  state_->executor = &executor;
  state_->task_event = &wake_event;
  executor.spawn(RingSenderState::pump(state_));
}

std::span<char> RingSender::acquire(std::size_t minimum) {
  HUMMER_ASSERT(minimum <= capacity());
  RingSenderState& state = *state_;
  if (!state.failure.ok()) return {};
  if (!state.make_room(minimum)) {
    state.show_all();
    state.look();
    if (!state.failure.ok()) return {};
    if (!state.make_room(minimum)) {
      state.show_all();  // it may have closed a slot
      state.waiting = true;
      return {};
    }
  }
  return state.room();
}

void RingSender::publish(std::size_t used, bool more) {
  RingSenderState& state = *state_;
  if (!state.failure.ok()) return;
  HUMMER_ASSERT(state.open != RingSenderState::no_slot && used > 0 &&
                used % transport_alignment == 0 && used <= state.room().size());
  RingMessage message;
  message.slot = state.open;
  message.offset = static_cast<std::uint32_t>(state.open_used);
  message.bytes = static_cast<std::uint32_t>(used);
  state.open_used += used;
  state.is_out[state.open] = true;
  message.closes = state.room().size() < least_open_room;
  if (message.closes) state.open = RingSenderState::no_slot;
  state.publish(message, more);
}

bool RingSender::publish_control(std::span<const char> bytes, bool last) {
  HUMMER_ASSERT(bytes.size() == max_control_bytes);
  RingSenderState& state = *state_;
  if (!state.failure.ok()) return false;
  HUMMER_ASSERT(!state.last_sent);
  if (state.controls.size() >= state.shape.controls) {
    state.show_all();
    state.look();
    if (!state.failure.ok() || state.controls.size() >= state.shape.controls) {
      state.waiting = true;
      return false;
    }
  }
  RingMessage message;
  message.kind = RingMessage::Kind::control;
  message.last = last;
  std::memcpy(message.control.data(), bytes.data(), bytes.size());
  state.controls.push_back(state.position);
  state.last_sent = last;
  if (last) state.open = RingSenderState::no_slot;
  state.publish(message, false);
  return true;
}

void RingSender::send_out_of_band(std::uint64_t epoch, std::string in_flight) {
  RingSenderState& state = *state_;
  if (!state.failure.ok() || state.last_sent) return;
  state.show_all();
  for (const std::string& frame : encode_barrier(epoch, state.position, in_flight, capacity())) {
    state.link.send(frame);
  }
  ++state.barriers;
}

bool RingSender::finished() {
  if (!state_->everything_released()) {
    state_->look();
    if (!state_->everything_released()) state_->waiting = true;
  }
  return state_->everything_released();
}

void RingSender::abandon(const Status& why) {
  RingSenderState& state = *state_;
  if (!state.failure.ok()) return;
  state.link.send(encode_failure(why));
  state.failure = {ErrorCode::cancelled, "the channel was abandoned on this side"};
  state.event.notify();
}

void RingSenderState::fail(const Status& why) {
  if (!failure.ok()) return;
  failure = why;
  if (why.code() == ErrorCode::protocol_error) {
    failure = why.with_context("connection to " + link.stream().peer_address().to_string());
    link.send(encode_failure(why));
  }
  failure = failure.with_context("sending to " + options.peer);
  notify_task();
}

void RingSenderState::read_frames() {
  while (failure.ok()) {
    const Result<std::optional<Frame>> frame = link.read();
    if (!frame.ok()) {
      // A receiver that has released everything may go.
      look();
      if (!everything_released()) fail(frame.status());
      notify_task();
      return;
    }
    if (!frame->has_value()) return;
    switch ((**frame).header.kind) {
      case FrameKind::wake: told_parked = false; break;
      case FrameKind::park:
        receiver_parks = (**frame).header.sequence;
        wake_receiver();
        break;
      case FrameKind::credit: released_at_end = (**frame).header.data_credits; break;
      case FrameKind::failure:
        return fail({ErrorCode::peer_gone,
                     "the receiver gave up: " + decode_failure((**frame).payload).to_string()});
      default: return fail({ErrorCode::protocol_error, "a frame that no receiver sends"});
    }
  }
}

void RingSenderState::look() {
  if (!failure.ok()) return;
  const Status moved = mirror ? mirror->progress() : Status();
  const std::uint64_t now_released = released_by_receiver();
  if (now_released < released || now_released > position) {
    return fail({ErrorCode::protocol_error, "the receiver released what was not published"});
  }
  released = now_released;
  while (!controls.empty() && controls.front() < released) controls.pop_front();
  while (true) {
    if (mirror && !mirror->returns_tell() && !mirror->came_back(returns_read)) break;
    const Result<std::optional<std::uint32_t>> slot = ring.taken_back(returns_read);
    if (!slot.ok()) return fail(slot.status());
    if (!slot->has_value()) break;
    if (**slot >= shape.slots || !is_out[**slot] || **slot == open) {
      return fail({ErrorCode::protocol_error, "a slot came back that was not under way"});
    }
    is_out[**slot] = false;
    free_slots.push_back(**slot);
    if (mirror) mirror->took_back(returns_read);
    ++returns_read;
  }
  // A receiver that goes in order says over the connection why, or that it has released everything;
  // its memory may be gone before that is here.
  const bool tells = last_sent || moved.code() == ErrorCode::peer_gone;
  if (!moved.ok() && !tells) fail(moved);
}

bool RingSenderState::make_room(std::size_t minimum) {
  if (!has_entry()) return false;
  if (open != no_slot && room().size() < minimum) {
    RingMessage close;
    close.kind = RingMessage::Kind::close;
    close.slot = std::exchange(open, no_slot);
    publish(close, true);
  }
  if (open != no_slot) return true;
  if (!has_entry() || free_slots.empty()) return false;
  open = take_free_slot();
  open_used = 0;
  return true;
}

std::uint32_t RingSenderState::take_free_slot() {
  std::uint32_t slot = 0;
  if (mirror) {  // in their order, so that neighbours are written together
    slot = free_slots.front();
    free_slots.pop_front();
  } else {
    slot = free_slots.back();
    free_slots.pop_back();
  }
  return slot;
}

void RingSenderState::publish(RingMessage message, bool more) {
  message.barriers = barriers;
  ring.write(position, message);
  ++position;
  unshown_bytes += message.bytes;
  show_asked = show_asked || !more;
  const bool gathers = mirror && !message.last && unshown_bytes < gathered_bytes &&
                       position - shown < shape.entries() / 4;
  if (show_asked && !gathers) show_all();
}

void RingSenderState::show_if_quiet() {
  if (std::exchange(position_at_look, position) == position && show_asked) show_all();
}

void RingSenderState::show_all() {
  if (shown == position) return;
  const std::uint64_t first = shown;
  for (; shown < position; ++shown) ring.show(shown);
  unshown_bytes = 0;
  show_asked = false;
  if (mirror) mirror->show(first, position);
  wake_receiver();
}

void RingSenderState::wake_receiver() {
  if (mirror) {
    if (!receiver_parks || *receiver_parks >= shown) return;
    receiver_parks.reset();
  } else if (!ring.receiver_parked().take()) {
    return;
  }
  link.send(encode_wake());
}

bool RingSenderState::poll() {
  if (mirror) show_if_quiet();
  const bool looks_now = waiting || (mirror && mirror->has_waiting()) || ++looks % looks_apart == 0;
  if (mirror && looks_now && !mirror_ended && !mirror->progress().ok()) {
    mirror_ended = true;
    look();
    notify_task();
    return true;
  }
  if (!waiting || !receiver_went_on()) return false;
  notify_task();
  return true;
}

void RingSenderState::notify_task() {
  waiting = false;
  if (task_event != nullptr) task_event->notify();
}

bool RingSenderState::prepare_park() {
  if (!mirror) {
    if (!waiting) return true;
    ring.sender_parked().set();
    return !receiver_went_on();
  }
  if (show_asked) show_all();
  if (!mirror_ended && failure.ok() && !mirror->all_written()) {
    (void)mirror->progress();
    if (!mirror->all_written()) return false;
  }
  if (!waiting) return true;
  if (!told_parked) {
    told_parked = true;
    link.send(encode_park(returns_read, released));
  }
  return !receiver_went_on();
}

// While the pump runs.
class Polled {
 public:
  Polled(Executor& executor, Poller& poller) : executor_(executor), poller_(poller) {
    executor_.add_poller(poller_);
  }
  ~Polled() { executor_.remove_poller(poller_); }
  Polled(const Polled&) = delete;
  Polled& operator=(const Polled&) = delete;

 private:
  Executor& executor_;
  Poller& poller_;
};

Task<void> RingSenderState::pump(std::shared_ptr<RingSenderState> state) {
  const Polled polled(*state->executor, *state);
  ByteStream& stream = state->link.stream();
  stream.set_wake_events(*state->executor, &state->event, &state->event);
  bool lingering = false;
  Nanoseconds deadline = never;
  while (true) {
    state->read_frames();
    state->link.write_out();
    const bool dropped = state->dropped.load(std::memory_order_acquire);
    if (dropped && state->link.all_written()) break;
    (void)state->poll();
    if (dropped && !lingering) {
      lingering = true;
      deadline = state->executor->now() + state->options.linger_ns;
    }
    state->event.prepare_wait();
    if (!lingering && state->dropped.load(std::memory_order_acquire)) {
      state->event.cancel_wait();
      continue;
    }
    const bool notified = co_await state->event.wait_until(deadline);
    if (!notified) break;
  }
  stream.close();
}

}  // namespace

std::unique_ptr<TransportSender> make_ring_sender(std::unique_ptr<ByteStream> stream,
                                                  RingStorage storage, TransportOptions options) {
  return std::make_unique<RingSender>(
      std::make_shared<RingSenderState>(std::move(stream), std::move(storage), std::move(options)));
}

RingShape ring_shape(const TransportOptions& options) {
  return {static_cast<std::uint32_t>(options.credits),
          static_cast<std::uint32_t>(options.capacity()), options.control_credits};
}

}  // namespace hummer
