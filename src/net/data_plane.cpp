#include "net/data_plane.hpp"

#include <algorithm>
#include <atomic>
#include <list>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/equal_tokens.hpp"
#include "net/connecting_transport.hpp"
#include "net/handshake.hpp"
#include "net/ring_offer.hpp"
#include "net/ring_transport.hpp"
#include "platform/log_limit.hpp"
#include "platform/look_up_now.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

namespace {

// Goes on with connecting while its end waits for the peer's words.
Task<void> keep_connecting(std::shared_ptr<RemoteMemory> memory, std::shared_ptr<bool> until) {
  while (!*until && memory->connect().ok()) co_await sleep_for(microseconds(200));
}

}  // namespace

class DataPlane::State : public std::enable_shared_from_this<DataPlane::State> {
 public:
  State(Platform& platform, Executor& executor, DataPlaneOptions options)
      : platform_(platform), executor_(executor), options_(std::move(options)) {}

  Status start();
  void stop();
  const std::vector<DataAddress>& addresses() const { return addresses_; }
  SocketAddress address() const { return listeners_.front()->local_address(); }
  DataPlaneCounts counts() const {
    const std::lock_guard lock(mutex_);
    DataPlaneCounts counts = counts_;
    counts.buffer_bytes = buffers_->held_bytes.load(std::memory_order_relaxed);
    counts.buffer_bytes_used = buffers_->used_bytes.load(std::memory_order_relaxed);
    return counts;
  }
  const std::shared_ptr<BufferMetrics>& buffers() const { return buffers_; }
  void expect(const ChannelKey& key, const TypeDescriptor& type, const NetworkSettings& settings,
              const TransportOptions& options, std::shared_ptr<ConnectionMailbox> mailbox);
  // Of this process, for the hello of a sender; empty when it can share none.
  const std::string& shared_place() const { return probe_.place; }

  Platform& platform() { return platform_; }
  const DataPlaneOptions& options() const { return options_; }

 private:
  struct Registration {
    std::shared_ptr<ConnectionMailbox> mailbox;
    std::uint64_t type_id = 0;
    std::string type_name;
    std::size_t buffer_size_bytes = 0;
    RingsWanted rings;
    Nanoseconds deadline = never;
  };

  // A connection that is being greeted; in the list while it is.
  class Handshake {
   public:
    Handshake(std::shared_ptr<State> state, std::unique_ptr<ByteStream> stream);
    ~Handshake();

    // It has said hello, and the right token.
    void known();
    // Under the mutex.
    void move_to(std::list<Handshake*>& list);

    const std::shared_ptr<State> state;
    WakeEvent event;
    std::unique_ptr<ByteStream> stream;
    bool turned_away = false;

   private:
    std::list<Handshake*>* list_;
    std::list<Handshake*>::iterator place_;
  };

  static Task<void> accept(std::shared_ptr<State> self, Listener& listener);
  static Task<void> sweep(std::shared_ptr<State> self);
  static Task<void> greet(std::shared_ptr<State> self, std::unique_ptr<ByteStream> stream);
  Task<void> serve(Handshake& handshake);
  Task<void> refuse(Handshake& handshake, Status why);
  bool crowded() const {
    const std::lock_guard lock(mutex_);
    return pending_handshakes_.size() >= options_.max_pending_handshakes ||
           pending_handshakes_.size() + known_.size() >= options_.max_handshakes;
  }
  // So that a new connection has room.
  void turn_oldest_away();
  void not_let_in(const SocketAddress& from, const Status& why);
  Task<Result<Registration>> find_receiver(Handshake& handshake, Hello hello);
  // Whether the sender has the ring; not_found: it says why not.
  Task<Status> hear_of_ring(Handshake& handshake, std::shared_ptr<RemoteMemory> remote);

  Task<void> serve_fetch(Handshake& handshake, Result<FetchRequest> request);

  // Of a hello, or of a request to fetch.
  Status check(std::uint32_t version, std::string_view token) const;
  Status check(const Hello& hello, const Registration& registration) const;
  // Fails registrations that are too old; the earliest deadline of the others.
  Nanoseconds drop_overdue(Nanoseconds now);
  HandshakeWaits waits(Handshake& handshake, Nanoseconds timeout_ns) const {
    return {&handshake.event, &stopping_, executor_.now() + timeout_ns};
  }
  // Under the mutex.
  void wake_handshakes() {
    for (Handshake* handshake : pending_handshakes_) handshake->event.notify();
    for (Handshake* handshake : known_) handshake->event.notify();
  }
  void count(std::uint64_t DataPlaneCounts::* counter) {
    const std::lock_guard lock(mutex_);
    ++(counts_.*counter);
  }

  Platform& platform_;
  Executor& executor_;
  const DataPlaneOptions options_;
  std::vector<std::unique_ptr<Listener>> listeners_;
  std::vector<DataAddress> addresses_;
  std::atomic<bool> stopping_{false};
  WakeEvent sweep_event_;
  LogLimit log_limit_;
  MadeSegment probe_;  // what a peer that shares memory with this process can open
  const std::shared_ptr<BufferMetrics> buffers_ = std::make_shared<BufferMetrics>();

  mutable std::mutex mutex_;
  std::map<ChannelKey, Registration> receivers_;
  std::list<Handshake*> pending_handshakes_;  // oldest first, as the next
  std::list<Handshake*> known_;
  std::list<Handshake*> leaving_;  // closed already
  DataPlaneCounts counts_;
};

DataPlane::State::Handshake::Handshake(std::shared_ptr<State> state_,
                                       std::unique_ptr<ByteStream> stream_)
    : state(std::move(state_)), stream(std::move(stream_)) {
  const std::lock_guard lock(state->mutex_);
  list_ = &state->pending_handshakes_;
  place_ = list_->insert(list_->end(), this);
  ++state->counts_.in_progress;
}

DataPlane::State::Handshake::~Handshake() {
  const std::lock_guard lock(state->mutex_);
  list_->erase(place_);
  --state->counts_.in_progress;
}

void DataPlane::State::Handshake::known() {
  const std::lock_guard lock(state->mutex_);
  move_to(state->known_);
}

void DataPlane::State::Handshake::move_to(std::list<Handshake*>& list) {
  list.splice(list.end(), *list_, place_);
  list_ = &list;
}

void DataPlane::State::turn_oldest_away() {
  Handshake* oldest = nullptr;
  {
    const std::lock_guard lock(mutex_);
    oldest = pending_handshakes_.empty() ? known_.front() : pending_handshakes_.front();
    oldest->move_to(leaving_);
    ++counts_.turned_away;
  }
  oldest->turned_away = true;
  oldest->stream->close();
}

void DataPlane::State::not_let_in(const SocketAddress& from, const Status& why) {
  if (!log_limit_.admit(executor_.now())) return;
  options_.log.warning("data connection from " + from.to_string() + " refused: " + why.message() +
                       log_limit_.suffix());
}

Status DataPlane::State::start() {
  for (const DataAddress& wanted : options_.listen_addresses) {
    const std::string context = "data plane on " + to_string(wanted);
    const Result<SocketAddress> address = look_up_now(platform_, wanted.address);
    if (!address.ok()) return address.status().with_context(context);
    Result<std::unique_ptr<Listener>> listener = platform_.network().listen(*address);
    if (!listener.ok()) return listener.status().with_context(context);
    addresses_.push_back({wanted.interface, (*listener)->local_address().to_string()});
    listeners_.push_back(std::move(*listener));
  }
  HUMMER_ASSERT(!listeners_.empty());
  // Where there is none, all goes over connections.
  Result<MadeSegment> probe = platform_.shared_memory().create(probe_segment_bytes);
  if (probe.ok()) probe_ = std::move(*probe);
  for (const auto& listener : listeners_) executor_.spawn(accept(shared_from_this(), *listener));
  executor_.spawn(sweep(shared_from_this()));
  return {};
}

void DataPlane::State::stop() {
  stopping_.store(true, std::memory_order_release);
  sweep_event_.notify();
  const std::lock_guard lock(mutex_);
  wake_handshakes();
  for (auto& [key, registration] : receivers_) {
    registration.mailbox->fail({ErrorCode::cancelled, "the data plane has stopped"});
  }
  receivers_.clear();
}

void DataPlane::State::expect(const ChannelKey& key, const TypeDescriptor& type,
                              const NetworkSettings& settings, const TransportOptions& options,
                              std::shared_ptr<ConnectionMailbox> mailbox) {
  const std::lock_guard lock(mutex_);
  if (stopping_.load(std::memory_order_acquire)) {
    mailbox->fail({ErrorCode::cancelled, "the data plane has stopped"});
    return;
  }
  Registration& registration = receivers_[key];
  if (registration.mailbox != nullptr) {
    registration.mailbox->fail({ErrorCode::cancelled, to_string(key) + " was opened again"});
  }
  registration = {std::move(mailbox),
                  type.id,
                  type.name,
                  options.buffer_size_bytes,
                  rings_wanted(settings, ring_shape(options), options_.tls != nullptr),
                  platform_.now() + options_.receiver_timeout_ns};
  wake_handshakes();
  sweep_event_.notify();
}

Nanoseconds DataPlane::State::drop_overdue(Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  Nanoseconds earliest = never;
  for (auto at = receivers_.begin(); at != receivers_.end();) {
    Registration& registration = at->second;
    const bool overdue = registration.deadline <= now;
    if (overdue) {
      registration.mailbox->fail(
          {ErrorCode::timed_out, "no sender connected for " + to_string(at->first)});
    }
    if (overdue || registration.mailbox->abandoned()) {
      at = receivers_.erase(at);
      continue;
    }
    earliest = std::min(earliest, registration.deadline);
    ++at;
  }
  return earliest;
}

Task<void> DataPlane::State::sweep(std::shared_ptr<State> self) {
  while (!self->stopping_.load(std::memory_order_acquire)) {
    self->sweep_event_.prepare_wait();
    const Nanoseconds earliest = self->drop_overdue(self->executor_.now());
    if (self->stopping_.load(std::memory_order_acquire)) {
      self->sweep_event_.cancel_wait();
      break;
    }
    co_await self->sweep_event_.wait_until(earliest);
  }
  for (const auto& listener : self->listeners_) listener->close();
}

Task<void> DataPlane::State::accept(std::shared_ptr<State> self, Listener& listener) {
  while (true) {
    Result<std::unique_ptr<ByteStream>> stream = co_await listener.accept();
    if (self->stopping_.load(std::memory_order_acquire)) co_return;
    if (!stream.ok()) {
      if (stream.status().code() == ErrorCode::cancelled) co_return;
      // Out of descriptors: others must close theirs first.
      co_await sleep_for(milliseconds(100));
      continue;
    }
    self->count(&DataPlaneCounts::accepted);
    if (self->options_.tls != nullptr) *stream = self->options_.tls->accepted(std::move(*stream));
    self->executor_.spawn(greet(self, std::move(*stream)));
    // A crowd at the door must not keep the others of this executor waiting.
    co_await yield();
  }
}

Task<void> DataPlane::State::greet(std::shared_ptr<State> self,
                                   std::unique_ptr<ByteStream> stream) {
  if (self->crowded()) self->turn_oldest_away();
  Handshake handshake(self, std::move(stream));
  handshake.stream->set_wake_events(self->executor_, &handshake.event, &handshake.event);
  co_await self->serve(handshake);
  if (handshake.stream != nullptr) handshake.stream->close();
}

Task<void> DataPlane::State::serve(Handshake& handshake) {
  const HandshakeWaits in_time = waits(handshake, options_.handshake_timeout_ns);
  const Result<Frame> frame = co_await read_handshake_frame(*handshake.stream, in_time);
  if (!frame.ok()) {
    if (handshake.turned_away) co_return;
    const ErrorCode code = frame.status().code();
    const bool late = code == ErrorCode::timed_out;
    count(late ? &DataPlaneCounts::timed_out : &DataPlaneCounts::garbage);
    if (code == ErrorCode::tls_failed || code == ErrorCode::protocol_error) {
      not_let_in(handshake.stream->peer_address(), frame.status());
    }
    co_return;
  }
  if (frame->header.kind == FrameKind::fetch) {
    co_await serve_fetch(handshake, decode_fetch(frame->payload));
    co_return;
  }
  const Result<Hello> hello = decode_hello(frame->payload);
  if (frame->header.kind != FrameKind::hello || !hello.ok()) {
    count(&DataPlaneCounts::garbage);
    const Status why(ErrorCode::protocol_error, "it did not say hello");
    not_let_in(handshake.stream->peer_address(), hello.ok() ? why : hello.status());
    co_return;
  }
  const Status valid = check(hello->version, hello->token);
  if (!valid.ok()) {
    co_await refuse(handshake, valid);
    co_return;
  }
  handshake.known();
  const Result<Registration> receiver = co_await find_receiver(handshake, *hello);
  if (!receiver.ok()) {
    co_await refuse(handshake, receiver.status());
    co_return;
  }
  const Status fits = check(*hello, *receiver);
  if (!fits.ok()) {
    receiver->mailbox->fail(fits);
    co_await refuse(handshake, fits);
    co_return;
  }
  Connected connected;
  const RingsWanted& wanted = receiver->rings;
  const Accept accept = offer_ring(platform_.shared_memory(), options_.remote_memory, *hello,
                                   wanted, handshake.stream->local_address(), connected.ring);
  if (connected.ring.empty() && wanted.needs_one()) {
    const Status why = no_ring(wanted.transport, accept.no_ring);
    receiver->mailbox->fail(why);
    co_await refuse(handshake, why);
    co_return;
  }
  std::string accept_frame = encode_accept(accept);
  const HandshakeWaits soon = waits(handshake, options_.handshake_timeout_ns);
  Status accepted = co_await write_exactly(*handshake.stream, std::move(accept_frame), soon);
  if (accepted.ok() && !connected.ring.empty()) {
    const std::shared_ptr<RemoteMemory> remote = connected.ring.remote();
    const Status seen = co_await hear_of_ring(handshake, remote);
    if (seen.code() == ErrorCode::not_found) {
      connected.ring = RingStorage();
      if (wanted.needs_one()) {
        receiver->mailbox->fail(no_ring(wanted.transport, seen.message()));
        co_return;
      }
    } else {
      accepted = seen;
    }
  }
  if (!accepted.ok()) {
    receiver->mailbox->fail(
        accepted.with_context("the connection of " + hello->sender_name + " was lost"));
    co_return;
  }
  handshake.stream->set_wake_events(executor_, nullptr, nullptr);
  handshake.stream->detach();
  const bool shares_memory = !connected.ring.empty() && connected.ring.remote() == nullptr;
  const bool writes_remotely = connected.ring.remote() != nullptr;
  connected.stream = std::move(handshake.stream);
  if (!receiver->mailbox->deliver(std::move(connected))) co_return;
  count(&DataPlaneCounts::handed_over);
  if (shares_memory) count(&DataPlaneCounts::rings);
  if (writes_remotely) count(&DataPlaneCounts::remote_rings);
}

Task<Status> DataPlane::State::hear_of_ring(Handshake& handshake,
                                            std::shared_ptr<RemoteMemory> remote) {
  // A sender that connects to remote memory answers when that is done.
  const HandshakeWaits soon =
      waits(handshake, options_.handshake_timeout_ns +
                           (remote != nullptr ? longest_memory_connect_ns : Nanoseconds{0}));
  const auto heard = std::make_shared<bool>(false);
  if (remote != nullptr) executor_.spawn(keep_connecting(remote, heard));
  const Result<Frame> answer = co_await read_handshake_frame(*handshake.stream, soon);
  *heard = true;
  if (!answer.ok()) co_return answer.status();
  if (answer->header.kind != FrameKind::ring) {
    co_return Status(ErrorCode::protocol_error, "the sender did not answer the offer of a ring");
  }
  if ((answer->header.flags & FrameHeader::last) == 0) {
    co_return Status(ErrorCode::not_found, answer->payload);
  }
  if (remote == nullptr) co_return Status();
  if (const Status taken = remote->answered(answer->payload); !taken.ok()) co_return taken;
  const HandshakeWaits again = waits(handshake, options_.handshake_timeout_ns);
  co_return co_await connect_memory(*remote, again);
}

Task<void> DataPlane::State::refuse(Handshake& handshake, Status why) {
  if (handshake.turned_away) co_return;
  count(&DataPlaneCounts::refused);
  not_let_in(handshake.stream->peer_address(), why);
  std::string frame = encode_failure(why.with_context("refused by " + options_.name));
  const HandshakeWaits soon = waits(handshake, options_.handshake_timeout_ns);
  const Status told = co_await write_exactly(*handshake.stream, std::move(frame), soon);
  (void)told;
}

// The first connection for a key takes its registration.
Task<Result<DataPlane::State::Registration>> DataPlane::State::find_receiver(Handshake& handshake,
                                                                             Hello hello) {
  const Nanoseconds deadline = executor_.now() + options_.unknown_channel_timeout_ns;
  bool in_time = true;
  while (true) {
    handshake.event.prepare_wait();
    bool found = false;
    Registration registration;
    {
      const std::lock_guard lock(mutex_);
      const auto at = receivers_.find(hello.key);
      if (at != receivers_.end()) {
        found = true;
        registration = std::move(at->second);
        receivers_.erase(at);
      }
    }
    const bool stopping = stopping_.load(std::memory_order_acquire) || handshake.turned_away;
    if (found || !in_time || stopping) {
      handshake.event.cancel_wait();
      if (found) co_return registration;
      co_return Status(stopping ? ErrorCode::cancelled : ErrorCode::not_found,
                       "nobody here receives " + to_string(hello.key));
    }
    in_time = co_await handshake.event.wait_until(deadline);
  }
}

Task<void> DataPlane::State::serve_fetch(Handshake& handshake, Result<FetchRequest> request) {
  if (!request.ok()) {
    count(&DataPlaneCounts::garbage);
    not_let_in(handshake.stream->peer_address(), request.status());
    co_return;
  }
  Status valid = check(request->version, request->token);
  if (valid.ok() && !options_.on_fetch) {
    valid = {ErrorCode::not_found, "nothing can be fetched here"};
  }
  if (!valid.ok()) {
    co_await refuse(handshake, valid);
    co_return;
  }
  handshake.stream->set_wake_events(executor_, nullptr, nullptr);
  handshake.stream->detach();
  options_.on_fetch(std::move(handshake.stream), std::move(*request));
  count(&DataPlaneCounts::fetches);
}

Status DataPlane::State::check(std::uint32_t version, std::string_view token) const {
  if (version != protocol_version) {
    return {ErrorCode::protocol_error, "protocol version " + std::to_string(version) +
                                           " differs from " + std::to_string(protocol_version)};
  }
  if (!equal_tokens(token, options_.token)) {
    return {ErrorCode::permission_denied, "the token is not valid"};
  }
  return {};
}

Status DataPlane::State::check(const Hello& hello, const Registration& registration) const {
  if (hello.type_id != registration.type_id) {
    return {ErrorCode::protocol_error, to_string(hello.key) + ": " + hello.sender_name +
                                           " sends records of type " + hello.type_name +
                                           ", the receiver takes " + registration.type_name};
  }
  if (hello.buffer_size_bytes != registration.buffer_size_bytes) {
    return {ErrorCode::protocol_error, to_string(hello.key) + ": buffers of " +
                                           std::to_string(hello.buffer_size_bytes) +
                                           " bytes do not fit the receiver's " +
                                           std::to_string(registration.buffer_size_bytes)};
  }
  return {};
}

DataPlane::DataPlane(Platform& platform, Executor& executor, DataPlaneOptions options)
    : state_(std::make_shared<State>(platform, executor, std::move(options))) {}

DataPlane::~DataPlane() { stop(); }

Status DataPlane::start() { return state_->start(); }
SocketAddress DataPlane::address() const { return state_->address(); }
std::vector<DataAddress> DataPlane::addresses() const { return state_->addresses(); }
void DataPlane::stop() { state_->stop(); }
DataPlaneCounts DataPlane::counts() const { return state_->counts(); }
const DataPlaneOptions& DataPlane::options() const { return state_->options(); }

std::unique_ptr<TransportReceiver> DataPlane::open_receiver(const ChannelKey& key,
                                                            const TypeDescriptor& type,
                                                            const NetworkSettings& settings,
                                                            std::string peer) {
  TransportOptions options = transport_options(settings, std::move(peer));
  options.buffers = state_->buffers();
  auto mailbox = std::make_shared<ConnectionMailbox>();
  state_->expect(key, type, settings, options, mailbox);
  return make_connecting_receiver(std::move(mailbox), std::move(options));
}

std::unique_ptr<TransportSender> DataPlane::open_sender(std::string address, const ChannelKey& key,
                                                        const TypeDescriptor& type,
                                                        const NetworkSettings& settings,
                                                        std::string peer) {
  DataRoute route{std::move(address), connect_options(settings.interface_or_address)};
  return open_sender(std::move(route), key, type, settings, std::move(peer));
}

std::unique_ptr<TransportSender> DataPlane::open_sender(DataRoute route, const ChannelKey& key,
                                                        const TypeDescriptor& type,
                                                        const NetworkSettings& settings,
                                                        std::string peer) {
  const TransportOptions options = transport_options(settings, std::move(peer));
  HandshakeTarget target;
  target.address = std::move(route.address);
  target.options = std::move(route.options);
  const RingsWanted wanted =
      rings_wanted(settings, ring_shape(options), state_->options().tls != nullptr);
  target.rings = wanted;
  target.timeout_ns = state_->options().connect_timeout_ns;
  target.tls = state_->options().tls;
  target.hello.key = key;
  target.hello.type_id = type.id;
  target.hello.buffer_size_bytes = options.buffer_size_bytes;
  target.hello.credits = static_cast<std::uint32_t>(options.credits);
  target.hello.control_credits = options.control_credits;
  target.hello.token = state_->options().token;
  target.hello.type_name = type.name;
  target.hello.sender_name = state_->options().name;
  if (wanted.may_share_memory) target.hello.shared_place = state_->shared_place();
  if (wanted.may_write_remotely && state_->options().remote_memory != nullptr) {
    target.remote = state_->options().remote_memory;
    target.hello.remote_provider = target.remote->provider();
  }
  return make_connecting_sender(make_handshake_connector(state_->platform(), std::move(target)),
                                options);
}

}  // namespace hummer
