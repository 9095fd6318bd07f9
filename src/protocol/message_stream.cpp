#include "protocol/message_stream.hpp"

#include <array>
#include <utility>

#include "protocol/message_frame.hpp"

namespace hummer {
namespace {

// What one read takes. On the stack of a plain function, never in a coroutine's frame.
constexpr std::size_t read_bytes = 16 * 1024;
// Reads in a row without a wait, after which the others of the executor get their turn.
constexpr int reads_in_a_row = 8;
constexpr int messages_in_a_row = 32;

Status closed_here() { return {ErrorCode::cancelled, "the connection was closed on this side"}; }

}  // namespace

class MessageStream::State : public std::enable_shared_from_this<MessageStream::State> {
 public:
  State(Executor& executor, std::unique_ptr<ByteStream> stream, Options options)
      : executor_(executor),
        options_(options),
        decoder_(options.limit_bytes),
        stream_(std::move(stream)) {}

  enum class Read { message, nothing, ended };

  static Task<Result<wire::Envelope>> receive(std::shared_ptr<State> self, Nanoseconds deadline) {
    self->attach();
    if (++self->in_a_row_ > messages_in_a_row) {
      self->in_a_row_ = 0;
      co_await yield();
    }
    wire::Envelope message;
    int reads = 0;
    while (true) {
      if (self->stream_->closed()) co_return closed_here();
      const Result<Read> got = self->read(message);
      if (!got.ok()) co_return got.status();
      if (*got == Read::message) co_return message;
      if (*got == Read::ended) co_return self->ended();
      if (!self->blocked_) {
        if (++reads % reads_in_a_row == 0) co_await yield();
        continue;
      }
      self->in_a_row_ = 0;
      // No second look is needed: the stream notifies on this thread only.
      self->readable_.prepare_wait();
      const bool notified = co_await self->readable_.wait_until(deadline);
      if (!notified) {
        co_return Status(ErrorCode::timed_out, "the peer sent no message in time");
      }
    }
  }

  Status send(const wire::Envelope& message) {
    MessageFaults::Verdict verdict;
    if (options_.faults != nullptr) verdict = options_.faults->next(message);
    if (verdict.fate == MessageFaults::Fate::lose) return {};
    std::string frame;
    HUMMER_TRY(append_frame(message, frame));
    if (verdict.fate == MessageFaults::Fate::delay) {
      executor_.spawn(send_later(shared_from_this(), std::move(frame), verdict.delay_ns));
      return {};
    }
    if (verdict.fate == MessageFaults::Fate::repeat) HUMMER_TRY(put(frame));
    return put(std::move(frame));
  }

  static Task<Status> flush(std::shared_ptr<State> self, Nanoseconds deadline) {
    while (true) {
      if (!self->failure_.ok()) co_return self->failure_;
      if (self->stream_->closed()) co_return closed_here();
      if (self->queued_.empty()) co_return Status();
      self->flushed_.prepare_wait();
      const bool notified = co_await self->flushed_.wait_until(deadline);
      if (!notified) co_return Status(ErrorCode::timed_out, "the peer does not read");
    }
  }

  void close() {
    if (stream_ != nullptr) stream_->close();
    drop_queue();
  }

  void set_limit(std::size_t bytes) { decoder_.set_limit(bytes); }
  std::size_t queued_bytes() const { return queued_.size() - sent_; }
  SocketAddress peer_address() const { return stream_->peer_address(); }
  std::string_view foreign_bytes() const { return foreign_; }

  std::unique_ptr<ByteStream> release() {
    HUMMER_ASSERT(queued_.empty());
    return std::move(stream_);
  }

 private:
  void attach() {
    if (attached_ || stream_->closed()) return;
    attached_ = true;
    stream_->set_wake_events(executor_, &readable_, &writable_);
  }

  Status ended() const {
    if (!decoder_.in_the_middle()) {
      return {ErrorCode::peer_gone, "the peer closed the connection"};
    }
    return {ErrorCode::connection_lost, "the peer closed the connection within a message"};
  }

  // One read at most; first what an earlier one left.
  Result<Read> read(wire::Envelope& message) {
    blocked_ = false;
    if (!left_.empty()) {
      std::string_view bytes = std::string_view(left_).substr(left_taken_);
      const Result<bool> whole = decoder_.next(bytes, message);
      if (!whole.ok()) return whole.status();
      left_taken_ = left_.size() - bytes.size();
      if (bytes.empty()) {
        std::string().swap(left_);
        left_taken_ = 0;
      }
      if (*whole) return Read::message;
    }
    std::array<char, read_bytes> buffer;  // NOLINT: filled by the read
    const Result<std::size_t> got = stream_->try_read(buffer);
    if (!got.ok()) return got.status();
    if (*got == 0) return Read::ended;
    if (*got == would_block) {
      blocked_ = true;
      return Read::nothing;
    }
    std::string_view bytes(buffer.data(), *got);
    const Result<bool> whole = decoder_.next(bytes, message);
    if (!whole.ok()) {
      if (!std::exchange(spoke_ours_, true)) {
        foreign_.assign(decoder_.partial());  // at most a header
        foreign_.append(bytes);
      }
      return whole.status();
    }
    spoke_ours_ |= *whole;
    left_.assign(bytes);
    return *whole ? Read::message : Read::nothing;
  }

  // To the network, as far as it takes it now; the rest is queued.
  Status put(std::string frame) {
    if (stream_->closed()) return closed_here();
    if (!failure_.ok()) return failure_;
    attach();
    if (!queued_.empty()) {
      if (queued_bytes() + frame.size() > options_.max_queued_bytes) {
        return {ErrorCode::limit_exceeded,
                "the peer does not read: " + std::to_string(queued_bytes()) + " bytes wait for it"};
      }
      queued_ += frame;
      return {};
    }
    std::size_t sent = 0;
    const Result<bool> all = write(frame, sent);
    if (!all.ok()) return failure_ = all.status();
    if (*all) return {};
    queued_ = std::move(frame);
    sent_ = sent;
    executor_.spawn(write_queued(shared_from_this()));
    return {};
  }

  // False: the network takes no more now.
  Result<bool> write(std::string_view bytes, std::size_t& sent) {
    while (sent < bytes.size()) {
      const Result<std::size_t> put = stream_->try_write(bytes.substr(sent));
      if (!put.ok()) return put.status();
      if (*put == would_block) return false;
      sent += *put;
    }
    return true;
  }

  static Task<void> write_queued(std::shared_ptr<State> self) {
    while (!self->stream_->closed() && !self->queued_.empty()) {
      const Result<bool> all = self->write(self->queued_, self->sent_);
      if (!all.ok()) self->failure_ = all.status();
      if (!all.ok() || *all) {
        self->drop_queue();
        break;
      }
      if (self->sent_ > self->queued_.size() / 2) {
        self->queued_.erase(0, std::exchange(self->sent_, 0));
      }
      self->writable_.prepare_wait();
      co_await self->writable_.wait();
    }
  }

  void drop_queue() {
    std::string().swap(queued_);
    sent_ = 0;
    flushed_.notify();
  }

  static Task<void> send_later(std::shared_ptr<State> self, std::string frame, Nanoseconds delay) {
    co_await sleep_for(delay);
    const Status unused = self->put(std::move(frame));
    (void)unused;
  }

  Executor& executor_;
  const Options options_;
  FrameDecoder decoder_;
  std::string left_;  // behind the last message
  std::size_t left_taken_ = 0;
  bool spoke_ours_ = false;
  std::string foreign_;  // what came instead of the first message
  std::string queued_;   // a write is under way while it is not empty
  std::size_t sent_ = 0;
  Status failure_;  // of writing
  bool attached_ = false;
  bool blocked_ = false;
  int in_a_row_ = 0;
  WakeEvent readable_;
  WakeEvent writable_;
  WakeEvent flushed_;
  std::unique_ptr<ByteStream> stream_;
};

MessageStream::MessageStream(Executor& executor, std::unique_ptr<ByteStream> stream,
                             Options options)
    : state_(std::make_shared<State>(executor, std::move(stream), options)) {}

MessageStream::~MessageStream() { close(); }

Task<Result<wire::Envelope>> MessageStream::receive(Nanoseconds deadline) {
  return State::receive(state_, deadline);
}
Status MessageStream::send(const wire::Envelope& message) { return state_->send(message); }
Task<Status> MessageStream::flush(Nanoseconds deadline) { return State::flush(state_, deadline); }
void MessageStream::set_limit(std::size_t bytes) { state_->set_limit(bytes); }
std::size_t MessageStream::queued_bytes() const { return state_->queued_bytes(); }
void MessageStream::close() { state_->close(); }
SocketAddress MessageStream::peer_address() const { return state_->peer_address(); }
std::string_view MessageStream::foreign_bytes() const { return state_->foreign_bytes(); }
std::unique_ptr<ByteStream> MessageStream::release() { return state_->release(); }

}  // namespace hummer
