#include "net/handshake.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

constexpr Nanoseconds first_pause_ns = milliseconds(10);
constexpr Nanoseconds longest_pause_ns = milliseconds(500);
constexpr Nanoseconds connect_pause_ns = microseconds(200);

Status given_up_status() { return {ErrorCode::cancelled, "the connection is not wanted any more"}; }

// Whether trying again may help.
bool is_passing(const Status& status) {
  return status.code() == ErrorCode::connection_refused ||
         status.code() == ErrorCode::connection_lost || status.code() == ErrorCode::timed_out ||
         status.code() == ErrorCode::peer_gone;
}

// ok() when it is worth looking again.
Task<Status> wait_for_event(HandshakeWaits waits) {
  waits.event->prepare_wait();
  if (waits.given_up->load(std::memory_order_acquire)) {
    waits.event->cancel_wait();
    co_return given_up_status();
  }
  const bool notified = co_await waits.event->wait_until(waits.deadline);
  if (waits.given_up->load(std::memory_order_acquire)) co_return given_up_status();
  if (!notified) co_return Status(ErrorCode::timed_out, "the peer did not answer in time");
  co_return Status();
}

class HandshakeConnector final : public Connector {
 public:
  HandshakeConnector(Platform& platform, HandshakeTarget target)
      : platform_(platform), target_(std::move(target)) {}

  Task<Result<Connected>> connect(WakeEvent& event, const std::atomic<bool>& given_up) override {
    Executor& executor = co_await current_executor();
    const HandshakeWaits waits{&event, &given_up, executor.now() + target_.timeout_ns};
    Nanoseconds pause = first_pause_ns;
    while (true) {
      Result<Connected> connected = co_await try_once(executor, waits);
      if (connected.ok() || !is_passing(connected.status())) co_return connected;
      const Nanoseconds again = executor.now() + pause;
      if (again >= waits.deadline) co_return connected;
      pause = std::min(2 * pause, longest_pause_ns);
      HandshakeWaits sleep = waits;
      sleep.deadline = again;
      const Status woken = co_await wait_for_event(sleep);
      if (woken.code() == ErrorCode::cancelled) co_return woken;
    }
  }

 private:
  Task<Result<Connected>> try_once(Executor& executor, HandshakeWaits waits) {
    const Result<SocketAddress> address = co_await platform_.network().look_up(target_.address);
    if (!address.ok()) co_return address.status();
    ConnectOptions options = target_.options;
    // A lost packet of one attempt must not cost the whole time.
    const Nanoseconds left = std::max<Nanoseconds>(waits.deadline - executor.now(), 1);
    options.timeout_ns = std::min(left, std::max(target_.timeout_ns / 8, seconds(1)));
    Result<std::unique_ptr<ByteStream>> stream =
        co_await platform_.network().connect(*address, options);
    if (!stream.ok()) co_return stream.status();
    if (target_.tls != nullptr) {
      *stream = target_.tls->connected(std::move(*stream), target_.address);
    }
    (*stream)->set_wake_events(executor, waits.event, waits.event);
    Result<RingStorage> ring = co_await greet(**stream, waits);
    (*stream)->set_wake_events(executor, nullptr, nullptr);
    if (!ring.ok()) {
      (*stream)->close();
      co_return ring.status();
    }
    co_return Connected{std::move(*stream), std::move(*ring)};
  }

  // Empty: all goes over the stream.
  Task<Result<RingStorage>> greet(ByteStream& stream, HandshakeWaits waits) {
    std::string hello = encode_hello(target_.hello);
    const Status written = co_await write_exactly(stream, std::move(hello), waits);
    if (!written.ok()) co_return written;
    const Result<Frame> answer = co_await read_handshake_frame(stream, waits);
    if (!answer.ok()) co_return answer.status();
    if (answer->header.kind == FrameKind::accept) {
      const Result<Accept> accept = decode_accept(answer->payload);
      if (!accept.ok()) co_return accept.status();
      co_return co_await open_ring(stream, *accept, waits);
    }
    if (answer->header.kind != FrameKind::failure) {
      co_return Status(ErrorCode::protocol_error, "the peer did not answer the hello");
    }
    // Not to be tried again, whatever its code is.
    const Status why = decode_failure(answer->payload);
    co_return Status(is_passing(why) ? ErrorCode::not_found : why.code(), why.message());
  }

  Task<Result<RingStorage>> open_ring(ByteStream& stream, Accept accept, HandshakeWaits waits) {
    RingStorage ring;
    std::string why_not = std::move(accept.no_ring);
    if (!accept.ring_place.empty()) {
      // Not as a conditional expression, which GCC 12 miscompiles around co_await.
      Result<Opened> opened = Opened();
      if (accept.remote) {
        opened = co_await open_remote(accept.ring_place, *accept.remote, waits);
      } else {
        opened = open_shared(accept.ring_place);
      }
      std::string answer;
      if (opened.ok()) {
        ring = std::move(opened->ring);
        answer = encode_ring(opened->answer);
      } else {
        why_not = opened.status().message();
        answer = encode_no_ring(why_not);
      }
      const Status written = co_await write_exactly(stream, std::move(answer), waits);
      if (!written.ok()) co_return written;
    }
    if (ring.empty() && target_.rings.needs_one())
      co_return no_ring(target_.rings.transport, why_not);
    co_return ring;
  }

  struct Opened {
    RingStorage ring;
    std::string answer;
  };

  Result<Opened> open_shared(std::string_view place) {
    Result<std::unique_ptr<SharedSegment>> opened =
        platform_.shared_memory().open(place, target_.rings.shape.segment_bytes());
    if (!opened.ok()) return opened.status();
    return Opened{std::move(*opened), {}};
  }

  Task<Result<Opened>> open_remote(std::string place, WriteOrder order, HandshakeWaits waits) {
    if (target_.remote == nullptr) {
      co_return Status(ErrorCode::not_found, "this process has no device for it");
    }
    Result<std::unique_ptr<RemoteMemory>> opened = target_.remote->open(
        place, target_.rings.shape.mirrored_bytes(), target_.rings.shape.largest_write_bytes());
    if (!opened.ok()) co_return opened.status();
    if ((*opened)->order() != order) {
      co_return Status(ErrorCode::not_found,
                       "the devices of the two processes promise different orders of writes");
    }
    const std::shared_ptr<RemoteMemory> memory = std::move(*opened);
    Executor& executor = co_await current_executor();
    waits.deadline = std::min(waits.deadline, executor.now() + longest_memory_connect_ns);
    const Status connected = co_await connect_memory(*memory, waits);
    if (!connected.ok()) co_return connected;
    Opened made;
    made.ring = RingStorage(memory);
    made.answer = memory->answer();
    co_return made;
  }

  Platform& platform_;
  const HandshakeTarget target_;
};

}  // namespace

Task<Status> read_exactly(ByteStream& stream, std::span<char> into, HandshakeWaits waits) {
  while (!into.empty()) {
    const Result<std::size_t> got = stream.try_read(into);
    if (!got.ok()) co_return got.status();
    if (*got == 0) co_return Status(ErrorCode::peer_gone, "the peer closed the connection");
    if (*got != would_block) {
      into = into.subspan(*got);
      continue;
    }
    const Status woken = co_await wait_for_event(waits);
    if (!woken.ok()) co_return woken;
  }
  co_return Status();
}

Task<Status> write_exactly(ByteStream& stream, std::string bytes, HandshakeWaits waits) {
  std::size_t sent = 0;
  while (sent < bytes.size()) {
    const Result<std::size_t> put = stream.try_write({bytes.data() + sent, bytes.size() - sent});
    if (!put.ok()) co_return put.status();
    if (*put != would_block) {
      sent += *put;
      continue;
    }
    const Status woken = co_await wait_for_event(waits);
    if (!woken.ok()) co_return woken;
  }
  co_return Status();
}

Task<Result<Frame>> read_handshake_frame(ByteStream& stream, HandshakeWaits waits) {
  char bytes[frame_header_bytes];
  const Status header_read = co_await read_exactly(stream, bytes, waits);
  if (!header_read.ok()) co_return header_read;
  const Result<FrameHeader> header = read_frame_header(bytes, 0);
  if (!header.ok()) co_return header.status();
  Frame frame{*header, std::string(header->frame_bytes() - frame_header_bytes, '\0')};
  const Status payload_read = co_await read_exactly(stream, frame.payload, waits);
  if (!payload_read.ok()) co_return payload_read;
  frame.payload.resize(header->payload_bytes);
  const Status whole = check_payload(*header, frame.payload);
  if (!whole.ok()) co_return whole;
  co_return frame;
}

std::unique_ptr<Connector> make_handshake_connector(Platform& platform, HandshakeTarget target) {
  return std::make_unique<HandshakeConnector>(platform, std::move(target));
}

Status no_ring(Transport transport, std::string_view why) {
  const std::string reason(why.empty() ? "the peer offers none" : why);
  if (transport == Transport::rdma) {
    return {ErrorCode::invalid_configuration,
            "the edge asks for the rdma transport, and the two processes have no common device: " +
                reason +
                "; start both with the same --rdma-provider, or leave the transport "
                "automatic"};
  }
  return {ErrorCode::invalid_configuration,
          "the edge asks for the shm transport, and the two processes share no memory: " + reason +
              "; run them as one user on one machine, or leave the transport automatic"};
}

Task<Status> connect_memory(RemoteMemory& memory, HandshakeWaits waits) {
  Executor& executor = co_await current_executor();
  while (true) {
    const Status gone_on = memory.connect();
    if (!gone_on.ok()) co_return gone_on;
    if (memory.ready()) co_return Status();
    const Nanoseconds now = executor.now();
    if (now >= waits.deadline) {
      co_return Status(ErrorCode::timed_out, "the other end of the remote memory did not answer");
    }
    HandshakeWaits pause = waits;
    pause.deadline = std::min(waits.deadline, now + connect_pause_ns);
    const Status woken = co_await wait_for_event(pause);
    if (woken.code() == ErrorCode::cancelled) co_return woken;
  }
}

ConnectOptions connect_options(const std::string& interface_or_address) {
  ConnectOptions options;
  if (interface_or_address.empty()) return options;
  const bool has_colon = interface_or_address.find(':') != std::string::npos;
  const std::string address =
      (has_colon ? "[" + interface_or_address + "]" : interface_or_address) + ":0";
  if (parse_socket_address(address).ok()) {
    options.bind_address = address;
  } else {
    options.interface = interface_or_address;
  }
  return options;
}

}  // namespace hummer
