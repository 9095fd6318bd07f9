#include <netinet/in.h>
#include <sys/socket.h>

#include <arpa/inet.h>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "rdma/datagram_end.hpp"
#include "rdma/fabric_memory.hpp"
#include "rdma/message_end.hpp"

namespace hummer {
namespace {

struct FabricChoice {
  std::string provider;
  EndpointKind kind = EndpointKind::message;
};

// Real devices, the best first.
const std::array<FabricChoice, 2>& real_devices() {
  static const std::array<FabricChoice, 2> devices = {{
      {"verbs", EndpointKind::message},
      {"efa", EndpointKind::datagram},
  }};
  return devices;
}

// "10.0.0.1" and "45252" of the bytes of a place.
bool read_socket_address(const std::string& bytes, std::string& host, std::string& port) {
  const bool is_ipv6 = bytes.size() == 18;
  const std::size_t port_at = bytes.size() - 2;
  char text[INET6_ADDRSTRLEN] = "";
  if (::inet_ntop(is_ipv6 ? AF_INET6 : AF_INET, bytes.data(), text, sizeof(text)) == nullptr) {
    return false;
  }
  const unsigned number = static_cast<unsigned char>(bytes[port_at]) << 8 |
                          static_cast<unsigned char>(bytes[port_at + 1]);
  host = text;
  port = std::to_string(number);
  return number != 0;
}

class FabricDevice final : public RemoteMemoryDevice {
 public:
  FabricDevice(FabricChoice choice, RemoteMemoryOptions options)
      : choice_(std::move(choice)), options_(std::move(options)) {}

  // Two that are told different things of their devices don't fit together.
  std::string provider() const override {
    return choice_.provider + (options_.last_byte ? ", lower addresses first" : "");
  }

  Result<MadeRemoteMemory> create(std::size_t size_bytes, std::size_t largest_write_bytes,
                                  std::string_view local_address) override {
    FabricQuery query{.provider = choice_.provider, .kind = choice_.kind, .is_own = true};
    if (choice_.kind == EndpointKind::message) {
      if (local_address.empty()) {
        return Status(ErrorCode::not_found, fmt::format("{} listens on an address of this machine, "
                                                        "and none was given",
                                                        choice_.provider));
      }
      query.host = local_address;
    }
    Result<FabricInfo> information = ask_fabric(query);
    if (!information.ok()) return information.status();
    Result<RegisteredMemory> memory = make_memory(information->get(), size_bytes);
    if (!memory.ok()) return memory.status();
    const FabricEndOptions options{size_bytes, largest_write_bytes, options_.last_byte};
    return choice_.kind == EndpointKind::message
               ? MessageEnd::listen(std::move(*information), std::move(*memory), options)
               : DatagramEnd::make(std::move(*information), std::move(*memory), options);
  }

  Result<std::unique_ptr<RemoteMemory>> open(std::string_view place, std::size_t size_bytes,
                                             std::size_t largest_write_bytes) override {
    const std::optional<FabricPlace> wanted = parse_fabric_place(place);
    if (!wanted) {
      return Status(ErrorCode::not_found, fmt::format("\"{}\" names no memory of a device", place));
    }
    if (wanted->provider != choice_.provider || wanted->kind != choice_.kind) {
      return Status(ErrorCode::not_found,
                    fmt::format("the memory {} is of another kind of device than {}, which is "
                                "used here",
                                place, choice_.provider));
    }
    FabricQuery query{.provider = choice_.provider, .kind = choice_.kind};
    if (choice_.kind == EndpointKind::message &&
        !read_socket_address(wanted->address, query.host, query.port)) {
      return Status(ErrorCode::not_found, fmt::format("\"{}\" has no address", place));
    }
    Result<FabricInfo> information = ask_fabric(query);
    if (!information.ok()) {
      return Status(ErrorCode::not_found, information.status().message());
    }
    Result<RegisteredMemory> memory = make_memory(information->get(), size_bytes);
    if (!memory.ok()) return memory.status();
    const FabricEndOptions options{size_bytes, largest_write_bytes, options_.last_byte};
    return choice_.kind == EndpointKind::message
               ? MessageEnd::open(std::move(*information), std::move(*memory), wanted->cookie,
                                  options)
               : DatagramEnd::open(std::move(*information), std::move(*memory), *wanted, options);
  }

 private:
  Result<RegisteredMemory> make_memory(fi_info* information, std::size_t size_bytes) {
    Result<std::shared_ptr<FabricDomain>> domain = domain_of(information);
    if (!domain.ok()) return domain.status();
    return RegisteredMemory::make(std::move(*domain), size_bytes);
  }

  Result<std::shared_ptr<FabricDomain>> domain_of(fi_info* information) {
    const std::lock_guard lock(mutex_);
    std::shared_ptr<FabricDomain>& domain = domains_[FabricDomain::name_of(*information)];
    if (domain == nullptr) {
      Result<std::shared_ptr<FabricDomain>> opened = FabricDomain::open(information);
      if (!opened.ok()) return opened.status();
      domain = std::move(*opened);
    }
    return domain;
  }

  const FabricChoice choice_;
  const RemoteMemoryOptions options_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<FabricDomain>> domains_;
};

Result<FabricChoice> choose_device(const std::string& provider) {
  if (provider.empty()) {
    for (const FabricChoice& each : real_devices()) {
      if (ask_fabric({.provider = each.provider, .kind = each.kind}).ok()) return each;
    }
    return Status(ErrorCode::not_found,
                  "this machine has no RDMA device that libfabric can use by verbs or efa: its "
                  "driver, the package ibverbs-providers, or the right to open /dev/infiniband is "
                  "missing");
  }
  for (const EndpointKind kind : {EndpointKind::message, EndpointKind::datagram}) {
    if (ask_fabric({.provider = provider, .kind = kind}).ok()) return FabricChoice{provider, kind};
  }
  return Status(ErrorCode::not_found,
                fmt::format("libfabric has no provider {} on this machine that writes into the "
                            "memory of others",
                            provider));
}

}  // namespace

Result<std::unique_ptr<RemoteMemoryDevice>> make_fabric_memory_device(
    const RemoteMemoryOptions& options) {
  // Else libfabric, for a cache that nobody here needs, writes into libc's code (mmap, munmap, ...)
  // while other threads run it: some of them crash.
  ::setenv("FI_MR_CACHE_MONITOR", "disabled", 0);
  Result<FabricChoice> choice = choose_device(options.provider);
  if (!choice.ok()) return choice.status();
  return std::unique_ptr<RemoteMemoryDevice>(
      std::make_unique<FabricDevice>(std::move(*choice), options));
}

}  // namespace hummer
