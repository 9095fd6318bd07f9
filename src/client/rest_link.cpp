#include "client/rest_link.hpp"

#include <algorithm>
#include <array>

#include "client/rest_questions.hpp"

namespace hummer {
namespace {

constexpr std::size_t read_bytes = 16 * 1024;

Status silent() { return {ErrorCode::timed_out, "it does not answer"}; }

}  // namespace

void RestLink::close() {
  closed_ = true;
  event_.notify();
}

void RestLink::disconnect() {
  if (stream_ != nullptr) stream_->close();
  stream_.reset();
}

Task<Status> RestLink::connect(Nanoseconds give_up) {
  Result<std::unique_ptr<ByteStream>> stream = co_await open_stream(give_up);
  if (!stream.ok()) co_return stream.status();
  stream_ = std::move(*stream);
  stream_->set_wake_events(executor_, &event_, &event_);
  host_ = stream_->peer_address().to_string();
  co_return Status();
}

Task<Status> RestLink::write(std::string text, Nanoseconds deadline) {
  std::string_view rest = text;
  while (!rest.empty()) {
    event_.prepare_wait();
    const Result<std::size_t> moved = stream_->try_write(rest);
    if (!moved.ok() || *moved != would_block) {
      event_.cancel_wait();
      if (!moved.ok()) co_return moved.status();
      rest.remove_prefix(*moved);
      continue;
    }
    const bool notified = co_await event_.wait_until(deadline);
    if (closed_) co_return closed_here();
    if (!notified) co_return silent();
  }
  co_return Status();
}

Result<bool> RestLink::read_now(HttpAnswerReader& reader, bool& blocked) {
  std::array<char, read_bytes> buffer;  // NOLINT: filled by the read
  const Result<std::size_t> got = stream_->try_read(buffer);
  if (!got.ok()) return got.status();
  if (*got == 0) return Status(ErrorCode::connection_lost, "it closed the connection");
  blocked = *got == would_block;
  if (blocked) return false;
  return reader.take({buffer.data(), *got});
}

Task<Result<HttpAnswer>> RestLink::read(Nanoseconds deadline) {
  HttpAnswerReader reader;
  while (true) {
    event_.prepare_wait();
    bool blocked = false;
    const Result<bool> whole = read_now(reader, blocked);
    if (!blocked) {
      event_.cancel_wait();
      if (!whole.ok()) co_return whole.status();
      if (*whole) co_return reader.answer();
      if (closed_) co_return closed_here();
      if (executor_.now() >= deadline) co_return silent();
      continue;
    }
    const bool notified = co_await event_.wait_until(deadline);
    if (closed_) co_return closed_here();
    if (!notified) co_return silent();
  }
}

Task<Result<wire::ClientAnswer>> RestLink::exchange(wire::ClientRequest& request,
                                                    std::uint64_t numbered_by,
                                                    Nanoseconds give_up) {
  refused_ = false;
  const Nanoseconds deadline =
      std::min(give_up, executor_.now() + options_.answer_timeout_ns + wait_of(request));
  std::string text =
      format_http_request(rest_question(request), host_, options_.token, numbered_by);
  // A server that refuses the connection may say why before all is written.
  const Status written = co_await write(std::move(text), deadline);
  if (written.code() == ErrorCode::cancelled) co_return written;
  Result<HttpAnswer> answer = co_await read(deadline);
  if (!answer.ok()) {
    const ErrorCode code = answer.status().code();
    if (code == ErrorCode::protocol_error) {
      co_return refused(answer.status().with_context("what listens there is no JobManager"));
    }
    if (code == ErrorCode::tls_failed) co_return refused(answer.status());
    const Status why = written.ok() ? answer.status() : written;
    co_return code == ErrorCode::timed_out ? why : why.with_context("it did not answer");
  }
  const bool keep_alive = answer->keep_alive;
  if (answer->numbering != 0) numbering_ = answer->numbering;
  Result<wire::ClientAnswer> said = rest_answer(request, *std::move(answer));
  if (!keep_alive) disconnect();
  // Whatever answers there answers so the next time, too; a JobManager that is busy does not.
  if (said.status().code() == ErrorCode::protocol_error) refused_ = true;
  co_return said;
}

}  // namespace hummer
