#include "net/tcp_sender.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "platform/task.hpp"

namespace hummer {
namespace {

class TcpSender final : public TransportSender {
 public:
  explicit TcpSender(std::shared_ptr<TcpSenderState> state) : state_(std::move(state)) {}
  ~TcpSender() override;

  void attach(Executor& executor, WakeEvent& wake_event) override;
  std::size_t capacity() const override {
    return state_->options.buffer_size_bytes - frame_header_bytes;
  }
  std::span<char> acquire(std::size_t minimum) override;
  void publish(std::size_t used, bool more) override;
  std::size_t publish_in_place(std::span<const Pieces> buffers) override;
  bool publish_control(std::span<const char> bytes, bool last) override;
  void send_out_of_band(std::uint64_t epoch, std::string in_flight) override;
  bool finished() override;
  const Status& failure() const override { return state_->failure; }
  void abandon(const Status& why) override;

 private:
  std::span<char> open_room() const {
    const TcpSenderState::Slot& slot = state_->slots[static_cast<std::size_t>(state_->open)];
    return {slot.bytes + slot.used, state_->options.buffer_size_bytes - slot.used};
  }

  std::shared_ptr<TcpSenderState> state_;
};

TcpSender::~TcpSender() {
  if (state_->failure.ok() && !state_->everything_released()) {
    abandon({ErrorCode::peer_gone, "the sending task ended before its stream"});
  }
  state_->task_event = nullptr;
  state_->dropped.store(true, std::memory_order_release);
  state_->event.notify();
}

void TcpSender::attach(Executor& executor, WakeEvent& wake_event) {
  HUMMER_ASSERT(state_->executor == nullptr);
  state_->executor = &executor;
  state_->task_event = &wake_event;
  executor.spawn(TcpSenderState::pump(state_));
}

std::span<char> TcpSender::acquire(std::size_t minimum) {
  HUMMER_ASSERT(minimum <= capacity());
  TcpSenderState& state = *state_;
  if (!state.failure.ok()) return {};
  if (state.open >= 0 && open_room().size() < minimum) {
    state.close_open(false);
    state.write_out();
  }
  if (state.open < 0 && !state.open_slot()) {
    // Credits may have arrived, or the connection may take more, since the pump last looked.
    state.read_in();
    if (state.failure.ok()) state.write_out();
    if (!state.failure.ok() || !state.open_slot()) return {};
  }
  return open_room();
}

void TcpSender::publish(std::size_t used, bool more) {
  TcpSenderState& state = *state_;
  if (!state.failure.ok()) return;
  HUMMER_ASSERT(state.open >= 0 && used % transport_alignment == 0 && used <= open_room().size());
  state.slots[static_cast<std::size_t>(state.open)].used += used;
  if (open_room().size() < least_open_room) state.close_open(false);
  if (!more) state.write_out();
}

std::size_t TcpSender::publish_in_place(std::span<const Pieces> buffers) {
  TcpSenderState& state = *state_;
  // While the connection is busy what is published shares buffers: few of them, and full.
  if (!state.failure.ok() || !state.queue.empty() || !state.stream->writes_pieces()) return 0;
  if (acquire(capacity()).empty() || !state.queue.empty()) return 0;
  return state.write_in_place(buffers.first(std::min(buffers.size(), max_buffers_in_place)));
}

bool TcpSender::publish_control(std::span<const char> bytes, bool last) {
  HUMMER_ASSERT(bytes.size() == max_control_bytes);
  TcpSenderState& state = *state_;
  if (!state.failure.ok()) return false;
  HUMMER_ASSERT(!state.last_sent);
  if (state.open >= 0 && open_room().size() >= bytes.size()) {
    std::memcpy(open_room().data(), bytes.data(), bytes.size());
    state.slots[static_cast<std::size_t>(state.open)].used += bytes.size();
    if (last) state.close_open(true);
  } else {
    if (state.controls_sent - state.controls_released >= state.options.control_credits) {
      state.read_in();
      if (state.failure.ok()) state.write_out();
      if (!state.failure.ok()) return false;
      if (state.controls_sent - state.controls_released >= state.options.control_credits) {
        return false;
      }
    }
    if (state.open >= 0) state.close_open(false);
    state.enqueue_control(bytes, last);
  }
  state.last_sent = last;
  state.write_out();
  return true;
}

void TcpSender::send_out_of_band(std::uint64_t epoch, std::string in_flight) {
  TcpSenderState& state = *state_;
  if (!state.failure.ok() || state.last_sent) return;
  if (state.open >= 0) state.close_open(false);
  for (std::string& frame : encode_barrier(epoch, 0, in_flight, capacity())) {
    state.enqueue(std::move(frame));
  }
  if (state.failure.ok()) state.write_out();
}

bool TcpSender::finished() {
  if (state_->failure.ok() && !state_->everything_released()) state_->read_in();
  return state_->everything_released();
}

void TcpSender::abandon(const Status& why) {
  TcpSenderState& state = *state_;
  if (!state.failure.ok()) return;
  state.enqueue_failure(why);
  state.write_out();
  if (state.failure.ok()) {
    state.failure = {ErrorCode::cancelled, "the channel was abandoned on this side"};
  }
  state.event.notify();
}

}  // namespace

TcpSenderState::TcpSenderState(std::unique_ptr<ByteStream> stream_, TransportOptions options_)
    : options(std::move(options_)), stream(std::move(stream_)) {}

TcpSenderState::~TcpSenderState() {
  for (Slot& slot : slots) {
    ::operator delete(slot.bytes, std::align_val_t(transport_alignment));
  }
}

std::size_t TcpSenderState::data_credit() const {
  return static_cast<std::size_t>(options.credits) -
         static_cast<std::size_t>(data_taken - data_released);
}

bool TcpSenderState::open_slot() {
  if (data_credit() == 0 || queued_slots >= options.max_unsent_buffers) return false;
  if (free_slots.empty()) {
    free_slots.push_back(static_cast<int>(slots.size()));
    void* bytes = ::operator new(options.buffer_size_bytes, std::align_val_t(transport_alignment));
    slots.push_back({static_cast<char*>(bytes), 0});
  }
  open = free_slots.back();
  free_slots.pop_back();
  slots[static_cast<std::size_t>(open)].used = frame_header_bytes;
  ++data_taken;
  return true;
}

void TcpSenderState::close_open(bool last) {
  Slot& slot = slots[static_cast<std::size_t>(open)];
  if (slot.used == frame_header_bytes) return;  // nothing in it: it stays open
  FrameHeader header;
  header.kind = FrameKind::data;
  header.flags = last ? FrameHeader::last : 0;
  header.payload_bytes = static_cast<std::uint32_t>(slot.used - frame_header_bytes);
  header.sequence = sequence++;
  seal_frame(header, slot.bytes);
  queue.push_back({slot.bytes, slot.used, 0, open, {}});
  ++queued_slots;
  open = -1;
}

void TcpSenderState::enqueue_control(std::span<const char> bytes, bool last) {
  FrameHeader header;
  header.kind = FrameKind::control;
  header.flags = last ? FrameHeader::last : 0;
  header.payload_bytes = static_cast<std::uint32_t>(bytes.size());
  header.sequence = sequence++;
  std::string frame(header.frame_bytes(), '\0');
  std::copy(bytes.begin(), bytes.end(), frame.begin() + frame_header_bytes);
  seal_frame(header, frame.data());
  enqueue(std::move(frame));
  ++controls_sent;
}

void TcpSenderState::enqueue(std::string frame) {
  const std::size_t size = frame.size();
  queue.push_back({nullptr, size, 0, -1, std::move(frame)});
}

// Overtakes everything but a frame that has left in part.
void TcpSenderState::enqueue_failure(const Status& why) {
  while (!queue.empty() && queue.back().sent == 0) queue.pop_back();
  enqueue(encode_failure(why));
  open = -1;
}

bool TcpSenderState::everything_released() const {
  return last_sent && data_released + (open >= 0 ? 1 : 0) == data_taken &&
         controls_released == controls_sent;
}

bool TcpSenderState::open_has_content() const {
  return open >= 0 && slots[static_cast<std::size_t>(open)].used > frame_header_bytes;
}

void TcpSenderState::write_out() {
  while (true) {
    if (queue.empty()) {
      if (!open_has_content()) return;
      close_open(false);
    }
    Leaving& first = queue.front();
    const char* begin = first.slot >= 0 ? first.bytes : first.text.data();
    const std::span bytes(begin + first.sent, first.size - first.sent);
    const Result<std::size_t> written = queue.size() > 1 || open_has_content()
                                            ? stream->try_write_more(bytes)
                                            : stream->try_write(bytes);
    if (!written.ok()) {
      // The receiver may have said why before it closed.
      read_in();
      fail(written.status());
      queue.clear();
      return;
    }
    if (*written == would_block) return;
    first.sent += *written;
    if (first.sent < first.size) continue;
    if (first.slot >= 0) {
      free_slots.push_back(first.slot);
      --queued_slots;
    }
    queue.pop_front();
  }
}

std::size_t TcpSenderState::write_in_place(std::span<const Pieces> buffers) {
  std::array<std::array<char, frame_header_bytes>, max_buffers_in_place> heads;
  std::array<int, max_buffers_in_place> taken;
  std::array<std::string_view, max_write_pieces> all;
  static_assert(max_buffers_in_place * (1 + Pieces::most) <= max_write_pieces);
  std::size_t count = 0, pieces = 0;
  do {
    const Pieces& buffer = buffers[count];
    HUMMER_ASSERT(buffer.bytes() % transport_alignment == 0);
    FrameHeader header;
    header.kind = FrameKind::data;
    header.payload_bytes = static_cast<std::uint32_t>(buffer.bytes());
    header.sequence = sequence++;
    seal_frame(header, buffer.all(), heads[count].data());
    all[pieces++] = {heads[count].data(), frame_header_bytes};
    for (const std::string_view piece : buffer.all()) all[pieces++] = piece;
    taken[count++] = std::exchange(open, -1);
  } while (count < buffers.size() && open_slot());
  const std::span<const std::string_view> left = std::span(all).first(pieces);
  const Result<std::size_t> written = stream->try_write_pieces(left);
  if (!written.ok()) {
    read_in();
    fail(written.status());
    return count;
  }
  std::size_t sent = *written == would_block ? 0 : *written;
  for (std::size_t i = 0, piece = 0; i < count; ++i) {
    const std::size_t size = frame_header_bytes + buffers[i].bytes();
    const std::size_t end = piece + 1 + buffers[i].all().size();
    const std::size_t gone = std::min(sent, size);
    if (gone == size) {
      free_slots.push_back(taken[i]);
    } else {
      keep_rest(left.subspan(piece, end - piece), gone, taken[i]);
    }
    sent -= gone;
    piece = end;
  }
  return count;
}

// Each byte at its place in the buffer.
void TcpSenderState::keep_rest(std::span<const std::string_view> frame, std::size_t sent,
                               int slot) {
  char* const bytes = slots[static_cast<std::size_t>(slot)].bytes;
  std::size_t at = 0;
  for (const std::string_view piece : frame) {
    const std::size_t gone = std::min(sent - std::min(sent, at), piece.size());
    std::memcpy(bytes + at + gone, piece.data() + gone, piece.size() - gone);
    at += piece.size();
  }
  queue.push_back({bytes, at, sent, slot, {}});
  ++queued_slots;
}

void TcpSenderState::read_in() {
  while (failure.ok()) {
    std::size_t needed = frame_header_bytes;
    FrameHeader header;
    if (incoming_bytes >= frame_header_bytes) {
      const Result<FrameHeader> read = read_frame_header(incoming.data(), 0);
      if (!read.ok()) return fail(read.status());
      header = *read;
      needed = header.frame_bytes();
    }
    if (incoming_bytes >= frame_header_bytes && incoming_bytes >= needed) {
      incoming_bytes = 0;
      const std::string_view payload(incoming.data() + frame_header_bytes, header.payload_bytes);
      const Status whole = check_payload(header, payload);
      if (!whole.ok()) return fail(whole);
      if (header.kind == FrameKind::failure) {
        const Status why = decode_failure(payload);
        return fail({ErrorCode::peer_gone, "the receiver gave up: " + why.to_string()});
      }
      const bool valid = header.kind == FrameKind::credit && header.data_credits <= data_taken &&
                         header.control_credits <= controls_sent;
      if (!valid) return fail({ErrorCode::protocol_error, "a frame that no receiver sends"});
      data_released = std::max(data_released, header.data_credits);
      controls_released = std::max(controls_released, header.control_credits);
      continue;
    }
    const Result<std::size_t> got =
        stream->try_read({incoming.data() + incoming_bytes, needed - incoming_bytes});
    if (!got.ok()) return fail(got.status());
    if (*got == would_block) return;
    if (*got == 0) {
      if (everything_released()) return;
      return fail({ErrorCode::peer_gone, "the receiver closed the connection"});
    }
    incoming_bytes += *got;
  }
}

void TcpSenderState::fail(Status why) {
  if (!failure.ok()) return;
  failure = why.with_context("sending to " + options.peer);
  if (task_event != nullptr) task_event->notify();
}

Task<void> TcpSenderState::pump(std::shared_ptr<TcpSenderState> state) {
  state->stream->set_wake_events(*state->executor, &state->event, &state->event);
  bool lingering = false;
  Nanoseconds deadline = never;
  while (true) {
    const std::uint64_t released = state->data_released + state->controls_released;
    const std::size_t queued = state->queue.size();
    state->read_in();
    // What is left after a failure of our own is the word about it to the peer.
    const bool may_write = state->failure.ok() || state->failure.code() == ErrorCode::cancelled;
    if (may_write) state->write_out();
    const bool helps = released != state->data_released + state->controls_released ||
                       queued != state->queue.size();
    if (helps && state->task_event != nullptr) state->task_event->notify();
    const bool dropped = state->dropped.load(std::memory_order_acquire);
    if (dropped && (state->queue.empty() || !may_write)) break;
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
  state->stream->close();
}

std::unique_ptr<TransportSender> make_tcp_sender(std::unique_ptr<ByteStream> stream,
                                                 TransportOptions options) {
  return std::make_unique<TcpSender>(
      std::make_shared<TcpSenderState>(std::move(stream), std::move(options)));
}

}  // namespace hummer
