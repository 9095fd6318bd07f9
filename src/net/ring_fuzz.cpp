// What a peer may have written into a ring, in shared memory or from remote: entries with any
// numbers in any order, returns, words, bytes where they should not be, and numbers of writes.
// Neither end may read or write beyond the segment, hang, or hand out bytes that lie elsewhere.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
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

// Memory that a peer writes into, which is this program. What goes to the peer goes nowhere.
class HeapRemote final : public hummer::RemoteMemory {
 public:
  HeapRemote(std::shared_ptr<std::vector<char>> bytes, hummer::WriteOrder order)
      : bytes_(std::move(bytes)), order_(order) {}

  std::span<char> bytes() override { return *bytes_; }
  hummer::WriteOrder order() const override { return order_; }
  std::string description() const override { return "a fuzzer"; }
  std::string answer() const override { return {}; }
  hummer::Status answered(std::string_view) override { return {}; }
  hummer::Status connect() override { return {}; }
  bool ready() const override { return true; }
  bool write(const Range&, std::optional<std::uint32_t>) override { return true; }
  std::size_t under_way() const override { return 0; }
  hummer::Status progress(std::vector<std::uint32_t>& told) override {
    told.insert(told.end(), numbers.begin(), numbers.end());
    numbers.clear();
    return {};
  }

  std::vector<std::uint32_t> numbers;

 private:
  std::shared_ptr<std::vector<char>> bytes_;
  const hummer::WriteOrder order_;
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
  Input input(data, size);
  // 3: shared memory.
  const std::uint32_t form = input.number() % 4;
  auto bytes = std::make_shared<std::vector<char>>(form == 3 ? shape.segment_bytes()
                                                             : shape.mirrored_bytes());
  hummer::RingMemory memory(*bytes, shape);
  std::vector<std::shared_ptr<HeapRemote>> remote;
  const auto storage = [&]() -> hummer::RingStorage {
    if (form == 3) return std::unique_ptr<hummer::SharedSegment>(new HeapSegment(bytes));
    remote.push_back(std::make_shared<HeapRemote>(bytes, static_cast<hummer::WriteOrder>(form)));
    return std::shared_ptr<hummer::RemoteMemory>(remote.back());
  };
  const auto receiver =
      hummer::make_ring_receiver(std::make_unique<SilentStream>(), storage(), options);
  const auto sender =
      hummer::make_ring_sender(std::make_unique<SilentStream>(), storage(), options);
  std::vector<hummer::Received> held;
  std::uint64_t position = 0;
  while (!input.empty()) {
    switch (input.number() % 7) {
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
        if (form == 1) memory.all_shown().store(position + 1);
        for (std::uint32_t part : {0u, 1u}) {
          if (form == 0)
            remote[0]->numbers.push_back(static_cast<std::uint32_t>(position << 1 | part));
        }
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
      case 5:
        if (!remote.empty()) remote[input.number() % 2]->numbers.push_back(input.number());
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
