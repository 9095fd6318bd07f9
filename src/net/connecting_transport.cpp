#include "net/connecting_transport.hpp"

#include <string>
#include <utility>
#include <vector>

#include "net/frame.hpp"
#include "net/ring_transport.hpp"
#include "net/tcp_transport.hpp"
#include "platform/wake_event.hpp"

namespace hummer {
namespace {

std::unique_ptr<TransportSender> make_sender(Connected connected, const TransportOptions& options) {
  if (connected.ring.empty()) return make_tcp_sender(std::move(connected.stream), options);
  return make_ring_sender(std::move(connected.stream), std::move(connected.ring), options);
}

std::unique_ptr<TransportReceiver> make_receiver(Connected connected,
                                                 const TransportOptions& options) {
  if (connected.ring.empty()) return make_tcp_receiver(std::move(connected.stream), options);
  return make_ring_receiver(std::move(connected.stream), std::move(connected.ring), options);
}

// What the sender shares with the coroutine that waits for the connection.
// Thread: the task's executor; only `dropped` and `event` are touched from elsewhere.
struct Connecting {
  static Task<void> run(std::shared_ptr<Connecting> self);

  TransportOptions options;
  std::unique_ptr<Connector> connector;
  Executor* executor = nullptr;
  WakeEvent* task_event = nullptr;
  WakeEvent event;
  std::atomic<bool> dropped{false};
  std::unique_ptr<TransportSender> end;  // null until it is connected
  Status failure;                        // before that
  Status given_up;                       // what the receiver is to be told as soon as it can be
  struct Barrier {
    std::uint64_t epoch;
    std::string in_flight;
  };
  std::vector<Barrier> barriers;
};

Task<void> Connecting::run(std::shared_ptr<Connecting> self) {
  Result<Connected> connected = co_await self->connector->connect(self->event, self->dropped);
  if (self->dropped.load(std::memory_order_acquire)) co_return;
  if (!connected.ok()) {
    if (self->failure.ok()) {
      self->failure = connected.status().with_context("sending to " + self->options.peer);
    }
  } else {
    self->end = make_sender(std::move(*connected), self->options);
    self->end->attach(*self->executor, *self->task_event);
    for (Barrier& barrier : self->barriers) {
      self->end->send_out_of_band(barrier.epoch, std::move(barrier.in_flight));
    }
    self->barriers.clear();
    if (!self->given_up.ok()) self->end->abandon(self->given_up);
  }
  self->task_event->notify();
}

class ConnectingSender final : public TransportSender {
 public:
  ConnectingSender(std::unique_ptr<Connector> connector, TransportOptions options)
      : state_(std::make_shared<Connecting>()) {
    state_->options = std::move(options);
    state_->connector = std::move(connector);
  }
  ~ConnectingSender() override {
    state_->end.reset();
    state_->dropped.store(true, std::memory_order_release);
    state_->event.notify();
  }

  void attach(Executor& executor, WakeEvent& wake_event) override {
    HUMMER_ASSERT(state_->executor == nullptr);
    state_->executor = &executor;
    state_->task_event = &wake_event;
    executor.spawn(Connecting::run(state_));
  }
  std::size_t capacity() const override { return state_->options.capacity(); }
  std::span<char> acquire(std::size_t minimum) override {
    return state_->end ? state_->end->acquire(minimum) : std::span<char>();
  }
  void publish(std::size_t used, bool more) override {
    HUMMER_ASSERT(state_->end != nullptr);
    state_->end->publish(used, more);
  }
  std::size_t publish_in_place(std::span<const Pieces> buffers) override {
    return state_->end ? state_->end->publish_in_place(buffers) : 0;
  }
  bool publish_control(std::span<const char> bytes, bool last) override {
    return state_->end && state_->end->publish_control(bytes, last);
  }
  void send_out_of_band(std::uint64_t epoch, std::string in_flight) override {
    if (state_->end) return state_->end->send_out_of_band(epoch, std::move(in_flight));
    if (state_->failure.ok()) state_->barriers.push_back({epoch, std::move(in_flight)});
  }
  bool finished() override { return state_->end && state_->end->finished(); }
  const Status& failure() const override {
    return state_->end ? state_->end->failure() : state_->failure;
  }
  void abandon(const Status& why) override {
    if (state_->end) return state_->end->abandon(why);
    if (!state_->failure.ok()) return;
    state_->given_up = why;
    state_->failure = {ErrorCode::cancelled, "the channel was abandoned on this side"};
  }

 private:
  std::shared_ptr<Connecting> state_;
};

class ConnectingReceiver final : public TransportReceiver {
 public:
  ConnectingReceiver(std::shared_ptr<ConnectionMailbox> mailbox, TransportOptions options)
      : options_(std::move(options)), mailbox_(std::move(mailbox)) {}
  ~ConnectingReceiver() override { mailbox_->abandon(); }

  void attach(Executor& executor, WakeEvent& wake_event) override {
    HUMMER_ASSERT(executor_ == nullptr);
    executor_ = &executor;
    wake_event_ = &wake_event;
    mailbox_->attach(&wake_event);
  }
  Poll poll(Received& received) override {
    if (end_ == nullptr && !connect()) return failure_.ok() ? Poll::nothing : Poll::failed;
    return end_->poll(received);
  }
  void keep_credit() override { end_->keep_credit(); }
  void give_back() override { end_->give_back(); }
  bool flush() override { return end_ == nullptr || end_->flush(); }
  const Status& failure() const override { return end_ ? end_->failure() : failure_; }
  void abandon(const Status& why) override {
    if (end_) return end_->abandon(why);
    mailbox_->abandon();
    if (failure_.ok()) failure_ = {ErrorCode::cancelled, "the channel was abandoned on this side"};
  }

 private:
  bool connect() {
    if (!failure_.ok()) return false;
    Result<Connected> connected = mailbox_->take();
    if (!connected.ok()) {
      failure_ = connected.status();
      return false;
    }
    if (connected->stream == nullptr) return false;
    end_ = make_receiver(std::move(*connected), options_);
    end_->attach(*executor_, *wake_event_);
    return true;
  }

  const TransportOptions options_;
  const std::shared_ptr<ConnectionMailbox> mailbox_;
  Executor* executor_ = nullptr;
  WakeEvent* wake_event_ = nullptr;
  std::unique_ptr<TransportReceiver> end_;  // null until it is connected
  Status failure_;                          // before that
};

}  // namespace

bool ConnectionMailbox::deliver(Connected connected) {
  const std::lock_guard lock(mutex_);
  if (answered_ || abandoned_) return false;
  answered_ = true;
  connected_ = std::move(connected);
  if (wake_event_ != nullptr) wake_event_->notify();
  return true;
}

bool ConnectionMailbox::fail(const Status& status) {
  const std::lock_guard lock(mutex_);
  if (answered_ || abandoned_) return false;
  answered_ = true;
  failure_ = status;
  if (wake_event_ != nullptr) wake_event_->notify();
  return true;
}

void ConnectionMailbox::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  wake_event_ = nullptr;
  connected_ = {};
}

bool ConnectionMailbox::abandoned() const {
  const std::lock_guard lock(mutex_);
  return abandoned_;
}

void ConnectionMailbox::attach(WakeEvent* wake_event) {
  const std::lock_guard lock(mutex_);
  wake_event_ = wake_event;
}

Result<Connected> ConnectionMailbox::take() {
  const std::lock_guard lock(mutex_);
  if (!failure_.ok()) return failure_;
  return std::exchange(connected_, {});
}

std::unique_ptr<TransportSender> make_connecting_sender(std::unique_ptr<Connector> connector,
                                                        TransportOptions options) {
  return std::make_unique<ConnectingSender>(std::move(connector), std::move(options));
}

std::unique_ptr<TransportReceiver> make_connecting_receiver(
    std::shared_ptr<ConnectionMailbox> mailbox, TransportOptions options) {
  return std::make_unique<ConnectingReceiver>(std::move(mailbox), std::move(options));
}

std::size_t TransportOptions::capacity() const { return buffer_size_bytes - frame_header_bytes; }

TransportOptions transport_options(const NetworkSettings& settings, std::string peer) {
  TransportOptions options;
  options.buffer_size_bytes =
      settings.buffer_size_bytes / transport_alignment * transport_alignment;
  options.credits = settings.credits;
  options.peer = std::move(peer);
  return options;
}

}  // namespace hummer
