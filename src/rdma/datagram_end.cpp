#include "rdma/datagram_end.hpp"

#include <rdma/fi_cm.h>
#include <rdma/fi_errno.h>
#include <array>

#include <fmt/format.h>

#include "platform/kept_signal_handlers.hpp"

namespace hummer {

Result<std::unique_ptr<DatagramEnd>> DatagramEnd::prepare(FabricInfo information,
                                                          RegisteredMemory memory,
                                                          const FabricEndOptions& options) {
  const WriteOrder order = write_order_of(*information, options);
  std::unique_ptr<DatagramEnd> end(new DatagramEnd(std::move(memory), order));
  end->provider_ = information->fabric_attr->prov_name;
  end->name_is_text_ = information->addr_format == FI_ADDR_STR;
  HUMMER_TRY(end->open_addresses());
  const KeptSignalHandlers handlers;  // shm has its own, and efa has shm inside
  HUMMER_TRY(end->open_endpoint(information.get(), &end->addresses_->fid));
  HUMMER_TRY(end->find_name());
  return end;
}

Result<MadeRemoteMemory> DatagramEnd::make(FabricInfo information, RegisteredMemory memory,
                                           const FabricEndOptions& options) {
  auto end = prepare(std::move(information), std::move(memory), options);
  if (!end.ok()) return end.status();
  std::string place = (*end)->place_;
  return MadeRemoteMemory{std::move(*end), std::move(place)};
}

Result<std::unique_ptr<RemoteMemory>> DatagramEnd::open(FabricInfo information,
                                                        RegisteredMemory memory,
                                                        const FabricPlace& peer,
                                                        const FabricEndOptions& options) {
  auto end = prepare(std::move(information), std::move(memory), options);
  if (!end.ok()) return end.status();
  HUMMER_TRY((*end)->begin_with(peer));
  return std::unique_ptr<RemoteMemory>(std::move(*end));
}

Status DatagramEnd::open_addresses() {
  fi_av_attr attributes{};
  attributes.type = FI_AV_UNSPEC;
  attributes.count = 1;
  fid_av* addresses = nullptr;
  if (const int result = ::fi_av_open(domain(), &attributes, &addresses, nullptr)) {
    return fabric_failure(-result, "open an address vector of " + device_name());
  }
  addresses_.reset(addresses);
  return {};
}

Status DatagramEnd::find_name() {
  std::array<char, FabricPlace::max_name_bytes> name;
  std::size_t size = name.size();
  if (const int result = ::fi_getname(&endpoint()->fid, name.data(), &size)) {
    return fabric_failure(-result, "ask for its name on " + device_name());
  }
  if (size > name.size()) {
    return {ErrorCode::limit_exceeded,
            fmt::format("a name on {} has {} bytes, and at most {} can be told", device_name(),
                        size, name.size())};
  }
  name_.assign(name.data(), size);
  FabricPlace place;
  place.provider = provider_;
  place.kind = EndpointKind::datagram;
  place.name = name_;
  place.memory = memory().place();
  place_ = to_text(place);
  return {};
}

Status DatagramEnd::answered(std::string_view answer) {
  const std::optional<FabricPlace> peer = parse_fabric_place(answer);
  if (!peer || peer->kind != EndpointKind::datagram || peer->provider != provider_) {
    return {ErrorCode::not_found,
            fmt::format("\"{}\" is no answer of an end on {}", answer, device_name())};
  }
  return begin_with(*peer);
}

Status DatagramEnd::begin_with(const FabricPlace& peer) {
  // The device takes as many bytes as it expects: those of texts up to their end, else as many as
  // its own name has.
  const bool fits = name_is_text_ ? peer.name.find('\0') == peer.name.size() - 1
                                  : peer.name.size() == name_.size();
  fi_addr_t address = FI_ADDR_UNSPEC;
  if (!fits || ::fi_av_insert(addresses_.get(), peer.name.data(), 1, &address, 0, nullptr) != 1) {
    return {ErrorCode::not_found,
            fmt::format("\"{}\" leads to no peer on {}", to_text(peer), device_name())};
  }
  begin(peer.memory, address);
  return {};
}

}  // namespace hummer
