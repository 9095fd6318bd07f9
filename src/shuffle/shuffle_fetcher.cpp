#include "shuffle/shuffle_fetcher.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "platform/executor.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds first_pause_ns = milliseconds(10);
constexpr Nanoseconds longest_pause_ns = milliseconds(500);
// As often a chunk, or the head of its frame, may come damaged before its file counts as lost.
constexpr int most_damaged = 8;

// Whether another connection may help.
bool is_passing(const Status& status) {
  switch (status.code()) {
    case ErrorCode::connection_refused:
    case ErrorCode::connection_lost:
    case ErrorCode::timed_out:
    case ErrorCode::peer_gone: return true;
    default: return false;
  }
}

}  // namespace

void ShuffleFetcher::start(Executor& executor, WakeEvent& wake_event) {
  executor_ = &executor;
  task_event_ = &wake_event;
  executor.spawn(run(shared_from_this()));
}

bool ShuffleFetcher::take(Item& item) {
  if (ready_.empty()) return false;
  item = std::move(ready_.front());
  ready_.pop_front();
  if (item.bytes) ready_bytes_ -= item.bytes->size();
  if (ready_bytes_ < shuffle_ahead_bytes) event_.notify();
  return true;
}

void ShuffleFetcher::give_up() {
  given_up_.store(true, std::memory_order_release);
  event_.notify();
}

void ShuffleFetcher::push(BufferRef bytes) {
  if (bytes) ready_bytes_ += bytes->size();
  ready_.push_back({std::move(bytes)});
  task_event_->notify();
}

HandshakeWaits ShuffleFetcher::waits() const {
  return {&event_, &given_up_, executor_->now() + access_.answer_timeout_ns};
}

Task<void> ShuffleFetcher::run(std::shared_ptr<ShuffleFetcher> self) {
  for (const ShuffleInput& input : self->inputs_) {
    Status status;
    if (input.is_local) {
      status = co_await self->read_local(input);
    } else {
      status = co_await self->read_remote(input);
    }
    if (self->given_up()) break;
    if (!status.ok()) {
      self->failure_ = std::move(status);
      break;
    }
    self->push(BufferRef());
  }
  if (self->stream_) self->stream_->close();
  if (self->given_up()) co_return;
  self->done_ = self->failure_.ok();
  self->task_event_->notify();
}

Status ShuffleFetcher::lost(const ShuffleInput& input, const Status& why) {
  on_lost_(input.key);
  return {ErrorCode::not_found,
          fmt::format("what {} has left for this task is lost, and must be made again: {}",
                      input.from, why.message())};
}

Task<Status> ShuffleFetcher::await_room() {
  while (ready_bytes_ >= shuffle_ahead_bytes && !given_up()) {
    event_.prepare_wait();
    if (ready_bytes_ < shuffle_ahead_bytes || given_up()) {
      event_.cancel_wait();
      break;
    }
    co_await event_.wait();
  }
  if (given_up()) co_return Status(ErrorCode::cancelled, "the files are not wanted any more");
  co_return Status();
}

Task<void> ShuffleFetcher::pause(Nanoseconds duration) {
  const Nanoseconds until = executor_->now() + duration;
  bool in_time = true;
  while (in_time && !given_up()) {
    event_.prepare_wait();
    in_time = co_await event_.wait_until(until);
  }
}

// ---- here ----

Task<Status> ShuffleFetcher::read_local(const ShuffleInput& input) {
  const Result<std::shared_ptr<const ShuffleFile>> file = access_.store->open(input.key);
  if (!file.ok()) co_return lost(input, file.status());
  if (input.partition >= (*file)->partitions()) {
    const Status why(ErrorCode::corrupt_file, "its file has fewer partitions");
    co_return lost(input, why);
  }
  for (const ChunkEntry& entry : (*file)->chunks(input.partition)) {
    const Status room = co_await await_room();
    if (!room.ok()) co_return room;
    BufferRef bytes = BufferRef::allocate(entry.bytes);
    const Status read = (*file)->read(entry, std::span(bytes->data(), entry.bytes));
    if (!read.ok()) co_return lost(input, read);
    push(std::move(bytes));
    co_await yield();
  }
  co_return Status();
}

// ---- elsewhere ----

Task<Status> ShuffleFetcher::read_remote(const ShuffleInput& input) {
  std::uint64_t chunk = 0;
  int damaged = 0;
  Nanoseconds pause_ns = first_pause_ns;
  Nanoseconds since = executor_->now();
  while (true) {
    const std::uint64_t before = chunk;
    file_is_lost_ = false;
    const Status status = co_await fetch(input, chunk);
    if (status.ok() || given_up()) co_return status;
    if (stream_) stream_->close();
    stream_.reset();
    if (file_is_lost_) co_return lost(input, status);
    if (chunk != before) {
      since = executor_->now();
      pause_ns = first_pause_ns;
      damaged = 0;
    }
    if (status.code() == ErrorCode::corrupt_record) {
      if (++damaged == most_damaged) co_return lost(input, status);
    } else if (!is_passing(status)) {
      co_return status.with_context("fetching from " + input.from);
    } else if (executor_->now() - since >= access_.patience_ns) {
      co_return lost(input, status);
    }
    co_await pause(pause_ns);
    pause_ns = std::min(2 * pause_ns, longest_pause_ns);
  }
}

Task<Status> ShuffleFetcher::connect(const ShuffleInput& input) {
  const Result<SocketAddress> address =
      co_await access_.platform->network().look_up(input.route.address);
  if (!address.ok()) co_return address.status();
  ConnectOptions options = input.route.options;
  options.timeout_ns = std::max(access_.patience_ns / 4, seconds(1));
  Result<std::unique_ptr<ByteStream>> stream =
      co_await access_.platform->network().connect(*address, options);
  if (!stream.ok()) co_return stream.status();
  stream_ = std::move(*stream);
  if (access_.tls != nullptr) {
    stream_ = access_.tls->connected(std::move(stream_), input.route.address);
  }
  stream_->set_wake_events(*executor_, &event_, &event_);
  connected_to_ = input.route.address;
  co_return Status();
}

Task<Status> ShuffleFetcher::fetch(const ShuffleInput& input, std::uint64_t& chunk) {
  if (stream_ != nullptr && connected_to_ != input.route.address) {
    stream_->close();
    stream_.reset();
  }
  if (stream_ == nullptr) {
    const Status connected = co_await connect(input);
    if (!connected.ok()) co_return connected;
  }
  FetchRequest request;
  request.key = input.key;
  request.partition = input.partition;
  request.first_chunk = chunk;
  request.token = access_.token;
  std::string frame = encode_fetch(request);
  const Status asked = co_await write_exactly(*stream_, std::move(frame), waits());
  if (!asked.ok()) co_return asked;
  co_return co_await read_answer(chunk);
}

Task<Status> ShuffleFetcher::read_answer(std::uint64_t& chunk) {
  while (true) {
    const Status room = co_await await_room();
    if (!room.ok()) co_return room;
    char head[frame_header_bytes];
    const Status head_read = co_await read_exactly(*stream_, head, waits());
    if (!head_read.ok()) co_return head_read;
    const Result<FrameHeader> header = read_frame_header(head, max_chunk_bytes);
    if (!header.ok()) co_return Status(ErrorCode::corrupt_record, header.status().message());
    if (header->kind == FrameKind::fetched) {
      if (header->sequence == chunk) co_return Status();
      co_return Status(ErrorCode::protocol_error,
                       fmt::format("a file of {} chunks ended with {}", header->sequence, chunk));
    }
    const bool is_chunk = header->kind == FrameKind::data && header->payload_bytes > 0 &&
                          header->payload_bytes % transport_alignment == 0 &&
                          header->sequence == chunk;
    if (!is_chunk && header->kind != FrameKind::failure) {
      co_return Status(ErrorCode::protocol_error, "a frame that no holder of files sends");
    }
    BufferRef bytes = BufferRef::allocate(header->frame_bytes() - frame_header_bytes);
    const std::span<char> into(bytes->data(), bytes->size());
    const Status read = co_await read_exactly(*stream_, into, waits());
    if (!read.ok()) co_return read;
    const std::string_view payload(bytes->data(), header->payload_bytes);
    const Status whole = check_payload(*header, payload);
    if (!whole.ok()) co_return Status(ErrorCode::corrupt_record, whole.message());
    if (header->kind == FrameKind::failure) {
      const Status why = decode_failure(payload);
      file_is_lost_ = why.code() == ErrorCode::not_found || why.code() == ErrorCode::corrupt_file;
      // Its words are final, whatever their code.
      co_return Status(is_passing(why) ? ErrorCode::io_error : why.code(), why.message());
    }
    push(std::move(bytes));
    ++chunk;
  }
}

}  // namespace hummer
