#include "rdma/message_end.hpp"

#include <netinet/in.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <sys/socket.h>
#include <cstddef>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

namespace hummer {
namespace {

// More than any network carries with a connection.
constexpr std::size_t most_shown_bytes = 512;
// Reading events is a system call: of a connection that stands they are read each so many times.
constexpr std::uint32_t skipped_reads = 15;
constexpr int most_events = 32;

std::string_view raw_bytes(const void* data, std::size_t size) {
  return {static_cast<const char*>(data), size};
}

}  // namespace

Result<MadeRemoteMemory> MessageEnd::listen(FabricInfo information, RegisteredMemory memory,
                                            const FabricEndOptions& options) {
  const WriteOrder order = write_order_of(*information, options);
  std::unique_ptr<MessageEnd> end(new MessageEnd(std::move(memory), order));
  HUMMER_TRY(draw_random(end->cookie_.data(), end->cookie_.size()));
  HUMMER_TRY(end->open_events());
  HUMMER_TRY(end->begin_listening(information.get()));
  Result<std::string> address = end->listening_address();
  if (!address.ok()) return address.status();
  FabricPlace place;
  place.provider = information->fabric_attr->prov_name;
  place.address = std::move(*address);
  place.cookie = end->cookie_;
  return MadeRemoteMemory{std::move(end), to_text(place)};
}

Result<std::unique_ptr<RemoteMemory>> MessageEnd::open(FabricInfo information,
                                                       RegisteredMemory memory,
                                                       const FabricCookie& cookie,
                                                       const FabricEndOptions& options) {
  const WriteOrder order = write_order_of(*information, options);
  std::unique_ptr<MessageEnd> end(new MessageEnd(std::move(memory), order));
  HUMMER_TRY(end->open_events());
  HUMMER_TRY(end->open_endpoint(information.get(), &end->events_->fid));
  const std::string offer = encode_offer({cookie, end->memory().place()});
  const int result =
      ::fi_connect(end->endpoint(), information->dest_addr, offer.data(), offer.size());
  if (result != 0) return fabric_failure(-result, "connect by " + end->device_name());
  return std::unique_ptr<RemoteMemory>(std::move(end));
}

Status MessageEnd::open_events() {
  fi_eq_attr attributes{};
  attributes.wait_obj = FI_WAIT_UNSPEC;
  fid_eq* events = nullptr;
  if (const int result = ::fi_eq_open(fabric(), &attributes, &events, nullptr)) {
    return fabric_failure(-result, "open an event queue of " + device_name());
  }
  events_.reset(events);
  return {};
}

Status MessageEnd::begin_listening(fi_info* information) {
  fid_pep* listener = nullptr;
  int result = ::fi_passive_ep(fabric(), information, &listener, nullptr);
  if (result == 0) {
    listener_.reset(listener);
    result = ::fi_pep_bind(listener, &events_->fid, 0);
  }
  if (result == 0) result = ::fi_listen(listener);
  if (result == 0) return {};
  return fabric_failure(-result, "listen by " + device_name());
}

Result<std::string> MessageEnd::listening_address() const {
  sockaddr_storage storage{};
  std::size_t size = sizeof(storage);
  if (const int result = ::fi_getname(&listener_->fid, &storage, &size)) {
    return fabric_failure(-result, "ask where it listens by " + device_name());
  }
  if (storage.ss_family == AF_INET && size >= sizeof(sockaddr_in)) {
    sockaddr_in v4{};
    std::memcpy(&v4, &storage, sizeof(v4));
    return std::string(raw_bytes(&v4.sin_addr, sizeof(v4.sin_addr)))
        .append(raw_bytes(&v4.sin_port, sizeof(v4.sin_port)));
  }
  if (storage.ss_family == AF_INET6 && size >= sizeof(sockaddr_in6)) {
    sockaddr_in6 v6{};
    std::memcpy(&v6, &storage, sizeof(v6));
    return std::string(raw_bytes(&v6.sin6_addr, sizeof(v6.sin6_addr)))
        .append(raw_bytes(&v6.sin6_port, sizeof(v6.sin6_port)));
  }
  return Status(ErrorCode::io_error,
                fmt::format("{} listens on an address of an unknown kind", device_name()));
}

void MessageEnd::advance(bool now) {
  if (ready() && !now && skipped_ < skipped_reads) {
    ++skipped_;
    return;
  }
  skipped_ = 0;
  for (int i = 0; i < most_events && !failed() && take_event(); ++i) {
  }
}

bool MessageEnd::take_event() {
  alignas(fi_eq_cm_entry) char room[sizeof(fi_eq_cm_entry) + most_shown_bytes];
  std::uint32_t event = 0;
  const ssize_t size = ::fi_eq_read(events_.get(), &event, room, sizeof(room), 0);
  if (size == -FI_EAGAIN) return false;
  if (size == -FI_EAVAIL) {
    take_failed_event();
    return true;
  }
  if (size < 0) {
    fail(fabric_failure(static_cast<int>(-size), "read events of " + device_name()));
    return false;
  }
  const auto* const entry = reinterpret_cast<const fi_eq_cm_entry*>(room);
  constexpr std::size_t head = offsetof(fi_eq_cm_entry, data);
  const auto read = static_cast<std::size_t>(size);
  const std::string_view shown(room + head, read > head ? read - head : 0);
  if (event == FI_CONNREQ) {
    take_request(FabricInfo(entry->info), shown);
  } else if (event == FI_CONNECTED) {
    take_connected(shown);
  } else if (event == FI_SHUTDOWN) {
    fail({ErrorCode::peer_gone,
          fmt::format("the other end of a connection by {} is gone", device_name())});
  }
  return true;
}

void MessageEnd::take_request(FabricInfo request, std::string_view shown) {
  if (listener_ == nullptr || request == nullptr) return;
  const std::optional<FabricOffer> offer = decode_offer(shown);
  if (endpoint() != nullptr || !offer || offer->cookie != cookie_) {
    refuse(*request);
    return;
  }
  Status accepted = accept(*request, *offer);
  if (!accepted.ok()) fail(std::move(accepted));
}

Status MessageEnd::accept(fi_info& request, const FabricOffer& offer) {
  // The memory is registered with the device of the address that create() was given.
  if (FabricDomain::name_of(request) != device_name()) {
    refuse(request);
    return {ErrorCode::io_error, fmt::format("a connection came by {}, and the memory is of {}",
                                             FabricDomain::name_of(request), device_name())};
  }
  if (Status opened = open_endpoint(&request, &events_->fid); !opened.ok()) {
    if (endpoint() == nullptr) refuse(request);
    return opened;
  }
  sender_ = offer.memory;
  const std::string own = encode_peer_memory(memory().place());
  const int result = ::fi_accept(endpoint(), own.data(), own.size());
  if (result != 0) return fabric_failure(-result, "accept a connection by " + device_name());
  return {};
}

void MessageEnd::refuse(const fi_info& request) {
  // What becomes of who was refused is no concern of this end.
  (void)::fi_reject(listener_.get(), request.handle, nullptr, 0);
}

void MessageEnd::take_connected(std::string_view shown) {
  if (listener_ != nullptr) {
    begin(sender_, FI_ADDR_UNSPEC);
    return;
  }
  const std::optional<PeerMemory> peer = decode_peer_memory(shown);
  if (!peer) {
    fail({ErrorCode::connection_lost,
          fmt::format("who accepted a connection by {} did not say where its memory is",
                      device_name())});
    return;
  }
  begin(*peer, FI_ADDR_UNSPEC);
}

void MessageEnd::take_failed_event() {
  fi_eq_err_entry entry{};
  const ssize_t size = ::fi_eq_readerr(events_.get(), &entry, 0);
  if (size < 0) {
    if (size != -FI_EAGAIN) {
      fail(fabric_failure(static_cast<int>(-size), "read a failure of " + device_name()));
    }
    return;
  }
  // A stranger's attempt that came to nothing.
  if (endpoint() == nullptr || entry.fid != &endpoint()->fid) return;
  fail({ErrorCode::connection_lost, fmt::format("a connection by {} failed: {}", device_name(),
                                                ::fi_strerror(std::abs(entry.err)))});
}

}  // namespace hummer
