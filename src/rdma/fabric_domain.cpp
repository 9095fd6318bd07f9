#include "rdma/fabric_domain.hpp"

#include <rdma/fi_errno.h>
#include <sys/random.h>
#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr std::uint32_t fabric_version = FI_VERSION(1, 17);

ErrorCode code_of_fabric_error(int error) {
  switch (error) {
    case FI_ENOMEM:
    case FI_EMFILE:
    case FI_ENOSPC:
    case FI_ENOBUFS: return ErrorCode::limit_exceeded;
    case FI_ENODATA:
    case FI_ENODEV:
    case FI_ENOENT:
    case FI_EADDRNOTAVAIL:
    case FI_ENETUNREACH:
    case FI_EHOSTUNREACH: return ErrorCode::not_found;
    case FI_ECONNREFUSED:
    case FI_ECONNRESET:
    case FI_ECONNABORTED:
    case FI_ENOTCONN:
    case FI_ESHUTDOWN:
    case EPIPE:
    case FI_ETIMEDOUT:
    case FI_ECANCELED: return ErrorCode::connection_lost;
    default: return ErrorCode::io_error;
  }
}

// What the code here can do without, the provider may do without: only what it must be told is
// asked for.
FabricInfo hints_for(const FabricQuery& query, bool in_order) {
  FabricInfo hints(::fi_allocinfo());
  if (hints == nullptr) return hints;
  hints->caps = FI_MSG | FI_SEND | FI_RECV | FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
  hints->mode = FI_RX_CQ_DATA;
  hints->ep_attr->type = query.kind == EndpointKind::message ? FI_EP_MSG : FI_EP_RDM;
  hints->domain_attr->mr_mode =
      FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT;
  hints->domain_attr->threading = FI_THREAD_SAFE;
  // Else verbs does not say that numbers take receives.
  hints->domain_attr->cq_data_size = sizeof(std::uint32_t);
  if (in_order) {
    hints->tx_attr->msg_order = FI_ORDER_RMA_WAW;
    hints->rx_attr->msg_order = FI_ORDER_RMA_WAW;
  }
  hints->fabric_attr->prov_name = ::strdup(query.provider.c_str());
  return hints;
}

// The first of the list that is of this provider alone: layers over others have its name in theirs.
FabricInfo first_of(const fi_info* list, const FabricQuery& query) {
  for (; list != nullptr; list = list->next) {
    const char* const name = list->fabric_attr->prov_name;
    if (name != nullptr && query.provider == name) return FabricInfo(::fi_dupinfo(list));
  }
  return nullptr;
}

}  // namespace

Status fabric_failure(int error, std::string_view doing) {
  return {code_of_fabric_error(error), fmt::format("cannot {}: {}", doing, ::fi_strerror(error))};
}

Status draw_random(void* bytes, std::size_t size) {
  if (::getrandom(bytes, size, 0) == static_cast<ssize_t>(size)) return {};
  return fabric_failure(errno, "draw random bytes");
}

Result<FabricInfo> ask_fabric(const FabricQuery& query) {
  int result = -FI_ENODATA;
  for (const bool in_order : {true, false}) {
    // Datagram endpoints split writes, and none of them is believed.
    if (in_order && query.kind == EndpointKind::datagram) continue;
    const FabricInfo hints = hints_for(query, in_order);
    // Without any address verbs finds nothing: any of this machine is one, too.
    const bool is_any = query.host.empty() && query.kind == EndpointKind::message;
    const char* const host = query.host.empty() ? nullptr : query.host.c_str();
    const char* const port = is_any ? "0" : query.port.empty() ? nullptr : query.port.c_str();
    std::uint64_t flags = host != nullptr ? FI_NUMERICHOST : 0;
    if (is_any || (host != nullptr && query.is_own)) flags |= FI_SOURCE;
    fi_info* list = nullptr;
    result = ::fi_getinfo(fabric_version, host, port, flags, hints.get(), &list);
    if (result != 0) continue;
    const FabricInfo all(list);
    if (FabricInfo first = first_of(list, query)) return first;
    result = -FI_ENODATA;
  }
  return fabric_failure(-result, fmt::format("find a device by libfabric's {}{}{}", query.provider,
                                             query.host.empty() ? "" : " for ", query.host));
}

std::string FabricDomain::name_of(const fi_info& information) {
  const char* const name = information.domain_attr->name;
  return fmt::format("{} ({})", information.fabric_attr->prov_name, name != nullptr ? name : "?");
}

Result<std::shared_ptr<FabricDomain>> FabricDomain::open(fi_info* information) {
  std::shared_ptr<FabricDomain> opened(new FabricDomain());
  opened->name_ = name_of(*information);
  opened->mr_mode_ = information->domain_attr->mr_mode;
  opened->key_bytes_ = information->domain_attr->mr_key_size;
  fid_fabric* fabric = nullptr;
  if (const int result = ::fi_fabric(information->fabric_attr, &fabric, nullptr)) {
    return fabric_failure(-result, "open " + opened->name_);
  }
  opened->fabric_.reset(fabric);
  fid_domain* domain = nullptr;
  if (const int result = ::fi_domain(fabric, information, &domain, nullptr)) {
    return fabric_failure(-result, "open " + opened->name_);
  }
  opened->domain_.reset(domain);
  return opened;
}

}  // namespace hummer
