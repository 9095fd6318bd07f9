#include "shuffle/fetch_server.hpp"

#include <string>
#include <utility>

#include <fmt/format.h>

#include "net/handshake.hpp"
#include "platform/executor.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds patience_ns = seconds(60);

// What the other side takes as the word that it is lost.
Status as_lost(const Status& status) {
  const bool missing = status.code() == ErrorCode::not_found;
  return {missing ? ErrorCode::not_found : ErrorCode::corrupt_file, status.message()};
}

}  // namespace

void FetchServer::take(std::unique_ptr<ByteStream> stream, FetchRequest request) {
  const std::lock_guard lock(mutex_);
  if (stopping_.load(std::memory_order_acquire)) return;
  if (!executor_) executor_ = platform_.make_executor({.name = "shuffle"});
  executor_->spawn(serve(*this, std::move(stream), std::move(request)));
}

void FetchServer::stop() {
  stopping_.store(true, std::memory_order_release);
  const std::lock_guard lock(mutex_);
  if (executor_) executor_->stop();
}

Task<void> FetchServer::serve(FetchServer& self, std::unique_ptr<ByteStream> stream,
                              FetchRequest request) {
  Executor& executor = co_await current_executor();
  WakeEvent event;
  stream->set_wake_events(executor, &event, &event);
  while (true) {
    const Status answered = co_await self.answer(*stream, std::move(request), event);
    if (!answered.ok()) break;
    const HandshakeWaits waits{&event, &self.stopping_, executor.now() + patience_ns};
    const Result<Frame> frame = co_await read_handshake_frame(*stream, waits);
    if (!frame.ok() || frame->header.kind != FrameKind::fetch) break;
    Result<FetchRequest> next = decode_fetch(frame->payload);
    if (!next.ok() || next->version != protocol_version) break;
    request = std::move(*next);
  }
  stream->close();
}

Task<Status> FetchServer::answer(ByteStream& stream, FetchRequest request, WakeEvent& event) {
  Executor& executor = co_await current_executor();
  HandshakeWaits waits{&event, &stopping_, executor.now() + patience_ns};
  const Result<std::shared_ptr<const ShuffleFile>> file = store_.open(request.key);
  Status failure = file.status();
  std::span<const ChunkEntry> chunks;
  if (file.ok() && request.partition < (*file)->partitions()) {
    chunks = (*file)->chunks(request.partition);
  } else if (file.ok()) {
    failure = {ErrorCode::corrupt_file,
               fmt::format("{} has {} partitions, not {}", to_string(request.key),
                           (*file)->partitions(), request.partition + 1)};
  }
  for (std::uint64_t i = request.first_chunk; failure.ok() && i < chunks.size(); ++i) {
    const ChunkEntry& entry = chunks[i];
    std::string frame(frame_header_bytes + entry.bytes, '\0');
    failure = (*file)->read(entry, std::span(frame).subspan(frame_header_bytes));
    if (!failure.ok()) break;
    FrameHeader header;
    header.kind = FrameKind::data;
    header.payload_bytes = entry.bytes;
    header.sequence = i;
    header.payload_check = entry.check;
    write_frame_header(header, frame.data());
    waits.deadline = executor.now() + patience_ns;
    const Status sent = co_await write_exactly(stream, std::move(frame), waits);
    if (!sent.ok()) co_return sent;
    bytes_sent_.fetch_add(entry.bytes, std::memory_order_relaxed);
  }
  std::string last =
      failure.ok() ? encode_fetched(chunks.size()) : encode_failure(as_lost(failure));
  co_return co_await write_exactly(stream, std::move(last), waits);
}

}  // namespace hummer
