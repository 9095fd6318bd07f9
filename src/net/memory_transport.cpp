#include "net/memory_transport.hpp"

#include <array>
#include <cstring>
#include <deque>
#include <mutex>
#include <utility>

#include "net/buffer_pool.hpp"
#include "net/tcp_transport.hpp"
#include "platform/wake_event.hpp"

namespace hummer {
namespace {

struct Entry {
  BufferRef buffer;  // empty: a control
  std::size_t size = 0;
  std::array<char, max_control_bytes> control{};
  std::uint64_t epoch = 0;  // set: a barrier
  std::string in_flight;
};

// What both ends share. An end that has gone has no event any more.
struct MemoryChannel {
  explicit MemoryChannel(const NetworkSettings& settings)
      : credits(static_cast<std::size_t>(settings.credits)),
        pool(settings.buffer_size_bytes / transport_alignment * transport_alignment, credits) {}

  const std::size_t credits;
  BufferPool pool;  // the sender takes

  std::mutex mutex;
  std::deque<Entry> ring;
  std::size_t data_under_way = 0;
  std::size_t controls_under_way = 0;
  bool last_published = false;
  WakeEvent* sender_event = nullptr;
  WakeEvent* receiver_event = nullptr;
  Status sender_failure;
  Status receiver_failure;

  void fail(Status& side, WakeEvent* event, const Status& why) {
    const std::lock_guard lock(mutex);
    if (side.ok()) side = {ErrorCode::peer_gone, "the other end is gone: " + why.message()};
    if (event != nullptr) event->notify();
  }
};

class MemorySender final : public TransportSender {
 public:
  explicit MemorySender(std::shared_ptr<MemoryChannel> channel) : channel_(std::move(channel)) {}
  ~MemorySender() override {
    if (!finished()) abandon({ErrorCode::peer_gone, "the sender ended before its stream"});
    const std::lock_guard lock(channel_->mutex);
    channel_->sender_event = nullptr;
  }

  void attach(Executor&, WakeEvent& wake_event) override {
    const std::lock_guard lock(channel_->mutex);
    channel_->sender_event = &wake_event;
  }
  std::size_t capacity() const override { return channel_->pool.buffer_bytes(); }

  std::span<char> acquire(std::size_t minimum) override {
    HUMMER_ASSERT(minimum <= capacity());
    if (!failure().ok()) return {};
    if (!open_) {
      const std::lock_guard lock(channel_->mutex);
      if (channel_->data_under_way == channel_->credits) return {};
      ++channel_->data_under_way;
      open_ = channel_->pool.take();
    }
    return {open_->data(), open_->size()};
  }

  void publish(std::size_t used, bool) override {
    HUMMER_ASSERT(open_ && used <= capacity() && used % transport_alignment == 0);
    Entry entry;
    entry.buffer = std::move(open_);
    entry.size = used;
    push(std::move(entry), false);
  }

  bool publish_control(std::span<const char> bytes, bool last) override {
    HUMMER_ASSERT(bytes.size() == max_control_bytes);
    if (!failure().ok()) return false;
    Entry entry;
    entry.size = bytes.size();
    std::memcpy(entry.control.data(), bytes.data(), bytes.size());
    {
      const std::lock_guard lock(channel_->mutex);
      HUMMER_ASSERT(!channel_->last_published);
      if (channel_->controls_under_way == default_control_credits) return false;
      ++channel_->controls_under_way;
    }
    push(std::move(entry), last);
    return true;
  }

  void send_out_of_band(std::uint64_t epoch, std::string in_flight) override {
    Entry entry;
    entry.epoch = epoch;
    entry.in_flight = std::move(in_flight);
    push(std::move(entry), false);
  }

  bool finished() override {
    const std::lock_guard lock(channel_->mutex);
    return channel_->last_published && channel_->data_under_way + channel_->controls_under_way == 0;
  }

  const Status& failure() const override {
    if (failure_.ok()) {
      const std::lock_guard lock(channel_->mutex);
      failure_ = channel_->sender_failure;
    }
    return failure_;
  }
  void abandon(const Status& why) override {
    failure_ = {ErrorCode::cancelled, "the channel was abandoned on this side"};
    channel_->fail(channel_->receiver_failure, channel_->receiver_event, why);
  }

 private:
  void push(Entry entry, bool last) {
    const std::lock_guard lock(channel_->mutex);
    channel_->ring.push_back(std::move(entry));
    channel_->last_published = last;
    if (channel_->receiver_event != nullptr) channel_->receiver_event->notify();
  }

  std::shared_ptr<MemoryChannel> channel_;
  BufferRef open_;
  mutable Status failure_;
};

class MemoryReceiver final : public TransportReceiver {
 public:
  explicit MemoryReceiver(std::shared_ptr<MemoryChannel> channel) : channel_(std::move(channel)) {}
  ~MemoryReceiver() override {
    if (!closed_) abandon({ErrorCode::peer_gone, "the receiver ended before the stream"});
    const std::lock_guard lock(channel_->mutex);
    channel_->receiver_event = nullptr;
  }

  void attach(Executor&, WakeEvent& wake_event) override {
    const std::lock_guard lock(channel_->mutex);
    channel_->receiver_event = &wake_event;
  }

  Poll poll(Received& received) override {
    HUMMER_ASSERT(!holding_);
    if (!failure_.ok()) return Poll::failed;
    if (closed_) return Poll::closed;
    const std::lock_guard lock(channel_->mutex);
    if (channel_->ring.empty()) {
      if (channel_->receiver_failure.ok()) return Poll::nothing;
      failure_ = channel_->receiver_failure;
      return Poll::failed;
    }
    entry_ = std::move(channel_->ring.front());
    channel_->ring.pop_front();
    if (entry_.epoch != 0) {
      received = {};
      received.epoch = entry_.epoch;
      received.in_flight = std::move(entry_.in_flight);
      return Poll::barrier;
    }
    holding_ = true;
    const char* bytes = entry_.buffer ? entry_.buffer->data() : entry_.control.data();
    received = {};
    received.buffer = entry_.buffer;
    received.bytes = {bytes, entry_.size};
    return Poll::bytes;
  }

  void keep_credit() override {
    HUMMER_ASSERT(holding_);
    holding_ = false;
    kept_.push_back(static_cast<bool>(entry_.buffer));
    entry_.buffer = {};
    const std::lock_guard lock(channel_->mutex);
    closed_ = channel_->last_published && channel_->ring.empty();
  }
  void give_back() override {
    const bool is_data = kept_.front();
    kept_.pop_front();
    const std::lock_guard lock(channel_->mutex);
    --(is_data ? channel_->data_under_way : channel_->controls_under_way);
    if (channel_->sender_event != nullptr) channel_->sender_event->notify();
  }

  bool flush() override { return true; }
  const Status& failure() const override { return failure_; }
  void abandon(const Status& why) override {
    if (failure_.ok()) failure_ = {ErrorCode::cancelled, "the channel was abandoned on this side"};
    channel_->fail(channel_->sender_failure, channel_->sender_event, why);
  }

 private:
  std::shared_ptr<MemoryChannel> channel_;
  Entry entry_;
  bool holding_ = false;
  std::deque<bool> kept_;  // credits that have not gone back: of data?
  bool closed_ = false;
  Status failure_;
};

}  // namespace

TransportPair make_memory_transport(const NetworkSettings& settings) {
  auto channel = std::make_shared<MemoryChannel>(settings);
  return {std::make_unique<MemorySender>(channel), std::make_unique<MemoryReceiver>(channel)};
}

}  // namespace hummer
