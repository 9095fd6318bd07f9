#include "connectors/socket/socket_source.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/connector_factories.hpp>

#include "platform/executor.hpp"
#include "platform/platform.hpp"

namespace hummer {

// The coroutine may outlive the source, so it owns this too.
struct SocketSource::Connecting {
  bool finished = false;
  bool abandoned = false;
  Status failure;
  std::unique_ptr<ByteStream> stream;
  WakeEvent* wake = nullptr;
};

namespace {

constexpr std::size_t read_bytes = 64 << 10;

Task<Result<std::unique_ptr<ByteStream>>> connect_to(Network& network, std::string name) {
  const Result<SocketAddress> address = co_await network.look_up(name);
  if (!address.ok()) co_return address.status().with_context("'" + name + "'");
  // Named: GCC 12 destroys a braced temporary in a co_await expression at a wrong address.
  ConnectOptions options;
  Task<Result<std::unique_ptr<ByteStream>>> attempt = network.connect(*address, std::move(options));
  co_return co_await std::move(attempt);
}

Task<void> connect(std::shared_ptr<SocketSource::Connecting> connecting, Network& network,
                   std::string name) {
  Result<std::unique_ptr<ByteStream>> stream = co_await connect_to(network, std::move(name));
  connecting->finished = true;
  if (connecting->abandoned) co_return;
  if (stream.ok()) {
    connecting->stream = std::move(*stream);
  } else {
    connecting->failure = stream.status();
  }
  connecting->wake->notify();
}

class SocketSourceFactory final : public OperatorFactory {
 public:
  SocketSourceFactory(std::string address, std::size_t max_line_bytes)
      : address_(std::move(address)), max_line_bytes_(max_line_bytes) {}
  std::unique_ptr<Operator> make() const override {
    return std::make_unique<SocketSource>(address_, max_line_bytes_);
  }

 private:
  std::string address_;
  std::size_t max_line_bytes_;
};

}  // namespace

std::shared_ptr<const OperatorFactory> make_socket_source(std::string address,
                                                          std::size_t max_line_bytes) {
  return std::make_shared<SocketSourceFactory>(std::move(address), max_line_bytes);
}

// A line of max_line_bytes and its '\n' fit into max_line_bytes + 1, a longer one does not.
SocketSource::SocketSource(std::string address, std::size_t max_line_bytes)
    : origin_(std::make_shared<const std::string>(std::move(address))),
      max_line_bytes_(std::clamp<std::size_t>(max_line_bytes, 1, std::size_t{1} << 31)),
      pool_(std::min(read_bytes, max_line_bytes_ + 1)) {}

void SocketSource::declare(Output& out) const { out.add_port(type_of<TextBlock>()); }

Status SocketSource::open() {
  if (context().parallelism() != 1) {
    return {ErrorCode::invalid_argument,
            "a socket has one reader: set the parallelism of the source on " + *origin_ +
                " to 1, not " + std::to_string(context().parallelism())};
  }
  ConnectorContext& engine = connector_context(context());
  Network& network = engine.platform().network();
  const Result<SocketAddress> number = parse_socket_address(*origin_);
  if (!number.ok() && number.status().code() != ErrorCode::name_not_resolved) {
    return number.status().with_context("'" + *origin_ + "'");
  }
  connecting_ = std::make_shared<Connecting>();
  connecting_->wake = &engine.wake_event();
  engine.executor().spawn(connect(connecting_, network, *origin_));
  return {};
}

OperatorResult SocketSource::finish_connecting() {
  if (!connecting_->finished) return OperatorResult::blocked;
  if (!connecting_->failure.ok()) return fail(connecting_->failure);
  stream_ = std::move(connecting_->stream);
  connecting_.reset();
  ConnectorContext& engine = connector_context(context());
  stream_->set_wake_events(engine.executor(), &engine.wake_event(), nullptr);
  return OperatorResult::done;
}

OperatorResult SocketSource::produce(Output& out) {
  if (out.full()) return OperatorResult::more;
  if (connecting_) {
    if (const OperatorResult answer = finish_connecting(); answer != OperatorResult::done)
      return answer;
  }
  while (!ended_) {
    make_room();
    char* const data = space_.buffer->data();
    const Result<std::size_t> got =
        stream_->try_read({data + size_, space_.buffer->size() - size_});
    if (!got.ok()) return fail(got.status());
    if (*got == would_block) return OperatorResult::blocked;
    context().count_bytes(*got);
    ended_ = *got == 0;
    const void* newline = ::memrchr(data + size_, '\n', *got);
    size_ += *got;
    if (newline != nullptr) {
      emit(static_cast<std::size_t>(static_cast<const char*>(newline) - data) + 1, out);
      return OperatorResult::more;
    }
    if (size_ > max_line_bytes_) {
      return fail({ErrorCode::limit_exceeded, "the line at byte " + std::to_string(offset_) +
                                                  " is longer than " +
                                                  std::to_string(max_line_bytes_) +
                                                  " bytes: raise the option max_line_bytes"});
    }
  }
  if (size_ > 0) emit(size_, out);
  return OperatorResult::done;
}

// At least one free byte behind the begin of the line.
void SocketSource::make_room() {
  if (space_.buffer != nullptr && size_ < space_.buffer->size()) return;
  const std::size_t wanted =
      std::max(pool_.usual_bytes(), std::min(size_ * 2, max_line_bytes_ + 1));
  LineBufferPool::Lease larger = pool_.take(wanted, origin_);
  if (size_ > 0) std::memcpy(larger.buffer->data(), space_.buffer->data(), size_);
  space_ = std::move(larger);
}

// Hands on the first `length` bytes; what is behind them moves to the next buffer.
void SocketSource::emit(std::size_t length, Output& out) {
  const LineBufferPool::Lease lines = std::exchange(space_, {});
  out.collector<TextBlock>()(
      TextBlock{lines.buffer->data(), length, offset_, lines.buffer->origin()});
  out.batch().keep(lines.ref);
  offset_ += length;
  size_ -= length;
  if (size_ == 0) return;
  space_ = pool_.take(std::max(size_ + 1, pool_.usual_bytes()), origin_);
  std::memcpy(space_.buffer->data(), lines.buffer->data() + length, size_);
}

Status SocketSource::close() {
  if (connecting_) connecting_->abandoned = true;
  if (stream_) stream_->close();
  stream_.reset();
  space_ = {};
  return {};
}

}  // namespace hummer
