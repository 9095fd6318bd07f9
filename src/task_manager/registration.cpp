#include "task_manager/registration.hpp"

#include <algorithm>
#include <utility>

#include "protocol/graph_messages.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds connect_timeout_ns = seconds(5);
constexpr Nanoseconds handshake_timeout_ns = seconds(5);

// The address as others may use it.
std::string reachable(const DataAddress& address, SocketAddress local) {
  const Result<SocketAddress> listening = parse_socket_address(address.address);
  if (!listening.ok() || listening->bytes != decltype(listening->bytes){}) return address.address;
  local.port = listening->port;
  return local.to_string();
}

Registered failed(Status status, bool for_good = false) {
  Registered registered;
  registered.status = std::move(status);
  registered.for_good = for_good;
  return registered;
}

}  // namespace

Task<Registered> register_once(Platform& platform, RegistrationRequest request) {
  const std::string context = "JobManager " + request.job_manager;
  Executor& executor = co_await current_executor();
  const Result<SocketAddress> address = co_await platform.network().look_up(request.job_manager);
  if (!address.ok()) co_return failed(address.status().with_context(context));
  ConnectOptions options;
  options.timeout_ns = connect_timeout_ns;
  Result<std::unique_ptr<ByteStream>> connected =
      co_await platform.network().connect(*address, options);
  if (!connected.ok()) co_return failed(connected.status().with_context(context));

  if (request.tls != nullptr) {
    *connected = request.tls->connected(std::move(*connected), request.job_manager);
  }
  for (const DataAddress& own : request.data_addresses) {
    wire::DataAddress& told = *request.hello.mutable_registration()->add_data_addresses();
    told.set_interface(own.interface);
    told.set_address(reachable(own, (*connected)->local_address()));
  }
  MessageStream::Options stream_options;
  stream_options.faults = request.faults;
  auto stream = std::make_unique<MessageStream>(executor, std::move(*connected), stream_options);
  wire::Envelope hello;
  *hello.mutable_hello() = std::move(request.hello);
  const Status sent = stream->send(hello);
  if (!sent.ok()) co_return failed(sent.with_context(context));
  Result<wire::Envelope> answer = co_await stream->receive(executor.now() + handshake_timeout_ns);
  if (!answer.ok()) co_return failed(answer.status().with_context(context));

  if (answer->has_refusal()) {
    const wire::Refusal& refusal = answer->refusal();
    co_return failed(status_from(refusal.failure()).with_context(context), !refusal.may_retry());
  }
  if (!answer->has_welcome() || answer->welcome().session() == 0) {
    co_return failed({ErrorCode::protocol_error, context + " did not answer the handshake"});
  }
  stream->set_limit(max_message_bytes);
  Registered registered;
  registered.stream = std::move(stream);
  registered.welcome = answer->welcome();
  co_return registered;
}

Nanoseconds Backoff::next() {
  const Nanoseconds pause = random_.between(pause_ns_ / 2, pause_ns_);
  pause_ns_ = std::min(2 * pause_ns_, longest_ns);
  return pause;
}

}  // namespace hummer
