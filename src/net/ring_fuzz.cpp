// What a peer may have written into a ring: entries with any numbers in any order, returns, words,
// and bytes where they should not be. Neither end may read or write beyond the segment, hang, or
// hand out bytes that lie elsewhere.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "net/ring_transport.hpp"
#include "platform/platform.hpp"
#include "platform/wake_event.hpp"

namespace {

using hummer::Poll;

// A connection on which nothing comes and everything goes.
class SilentStream final : public hummer::ByteStream {
 public:
  hummer::Result<std::size_t> try_read(std::span<char>) override { return hummer::would_block; }
  hummer::Result<std::size_t> try_write(std::span<const char> bytes) override {
    return bytes.size();
  }
  hummer::Status shutdown_write() override { return {}; }
  hummer::SocketAddress local_address() const override { return {}; }
  hummer::SocketAddress peer_address() const override { return {}; }

 private:
  void do_attach(hummer::Executor&) override {}
  void do_detach() override {}
  void do_close() override {}
};

// Memory of this process.
class HeapSegment final : public hummer::SharedSegment {
 public:
  explicit HeapSegment(std::shared_ptr<std::vector<char>> bytes) : bytes_(std::move(bytes)) {}
  std::span<char> bytes() override { return *bytes_; }

 private:
  std::shared_ptr<std::vector<char>> bytes_;
};

class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  bool empty() const { return left_ == 0; }
  std::uint32_t number() {
    std::uint32_t value = 0;
    const std::size_t take = left_ < 4 ? left_ : 4;
    std::memcpy(&value, data_, take);
    data_ += take;
    left_ -= take;
    return value;
  }

 private:
  const std::uint8_t* data_;
  std::size_t left_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hummer::TransportOptions options;
  options.buffer_size_bytes = 512;
  options.credits = 3;
  options.control_credits = 2;
  const hummer::RingShape shape = hummer::ring_shape(options);
  auto bytes = std::make_shared<std::vector<char>>(shape.segment_bytes());
  hummer::RingMemory memory(*bytes, shape);
  const auto receiver = hummer::make_ring_receiver(std::make_unique<SilentStream>(),
                                                   std::make_unique<HeapSegment>(bytes), options);
  const auto sender = hummer::make_ring_sender(std::make_unique<SilentStream>(),
                                               std::make_unique<HeapSegment>(bytes), options);
  std::vector<hummer::Received> held;
  std::uint64_t position = 0;
  for (Input input(data, size); !input.empty();) {
    switch (input.number() % 6) {
      case 0: {
        hummer::RingMessage message;
        const std::uint32_t word = input.number();
        message.kind = static_cast<hummer::RingMessage::Kind>(1 + word % 4);
        message.closes = (word >> 8) % 2 != 0;
        message.last = (word >> 9) % 16 == 0;
        message.barriers = (word >> 16) % 32 == 0 ? 1 : 0;
        message.slot = (word >> 21) % 5;
        message.offset = input.number();
        message.bytes = input.number();
        memory.write(position, message);
        memory.show(position);
        if ((word >> 24) % 16 != 0) ++position;
        break;
      }
      case 1:
        memory.give_back(input.number() % 16, input.number() % 5);
        memory.released().store(input.number() % 64);
        break;
      case 2: {
        const std::uint32_t value = input.number();
        std::memcpy(bytes->data() + input.number() % (bytes->size() - 4), &value, sizeof value);
        break;
      }
      case 3:
        if (const std::span<char> room = sender->acquire(64); !room.empty()) {
          std::memset(room.data(), 1, room.size());
          sender->publish(64, false);
        }
        (void)sender->finished();
        break;
      case 4:
        if (!held.empty()) held.pop_back();
        break;
      default: {
        hummer::Received received;
        if (receiver->poll(received) != Poll::bytes) break;
        volatile char sum = 0;
        for (const char byte : received.bytes) sum = static_cast<char>(sum + byte);
        receiver->release();
        if (received.buffer) held.push_back(std::move(received));
      }
    }
  }
  return 0;
}
