#include "client/job_manager_link.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

constexpr Nanoseconds connect_timeout_ns = seconds(3);

}  // namespace

Status closed_here() { return {ErrorCode::cancelled, "the client was closed"}; }

Nanoseconds wait_of(const wire::ClientRequest& request) {
  std::uint32_t wait_ms = 0;
  if (request.has_job()) wait_ms = request.job().wait_ms();
  if (request.has_log()) wait_ms = request.log().wait_ms();
  if (request.has_savepoint()) wait_ms = request.savepoint().wait_ms();
  return milliseconds(static_cast<std::int64_t>(wait_ms));
}

Task<Result<std::unique_ptr<ByteStream>>> JobManagerLink::open_stream(Nanoseconds give_up) {
  refused_ = false;
  Network& network = platform_.network();
  const Result<SocketAddress> address = co_await network.look_up(options_.job_manager);
  if (!address.ok()) co_return refused(address.status());
  ConnectOptions connecting;
  connecting.timeout_ns = std::min(connect_timeout_ns, give_up - executor_.now());
  Result<std::unique_ptr<ByteStream>> stream = co_await network.connect(*address, connecting);
  if (!stream.ok()) co_return stream.status();
  if (closed_) co_return closed_here();
  if (options_.tls != nullptr) {
    *stream = options_.tls->connected(std::move(*stream), options_.job_manager);
  }
  co_return std::move(*stream);
}

}  // namespace hummer
