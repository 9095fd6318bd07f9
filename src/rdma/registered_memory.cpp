#include "rdma/registered_memory.hpp"

#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <sys/mman.h>
#include <cerrno>
#include <cstdint>
#include <cstring>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr int drawn_keys = 16;

// A key that nobody guesses, as far as the device's are long: any connection on the device may use
// any key.
Result<std::uint64_t> draw_memory_key(std::size_t key_bytes) {
  std::uint64_t key = 0;
  HUMMER_TRY(draw_random(&key, sizeof(key)));
  if (key_bytes < sizeof(key)) key &= (std::uint64_t{1} << (8 * key_bytes)) - 1;
  return key;
}

Status registration_failure(int error, std::size_t size_bytes, const std::string& device) {
  if (error == FI_ENOMEM || error == FI_EPERM || error == FI_EAGAIN) {
    return {ErrorCode::limit_exceeded,
            fmt::format("cannot lock {} bytes of memory for {}: {}. Raise what a process may lock: "
                        "`ulimit -l unlimited`, or LimitMEMLOCK=infinity of a service",
                        size_bytes, device, ::fi_strerror(error))};
  }
  return fabric_failure(error, fmt::format("register {} bytes with {}", size_bytes, device));
}

}  // namespace

RegisteredMemory::Pages::~Pages() {
  if (!bytes.empty()) ::munmap(bytes.data(), bytes.size());
}

Result<RegisteredMemory> RegisteredMemory::make(std::shared_ptr<FabricDomain> domain,
                                                std::size_t size_bytes) {
  RegisteredMemory memory;
  void* const base =
      ::mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    return Status(
        errno == ENOMEM ? ErrorCode::limit_exceeded : ErrorCode::io_error,
        fmt::format("cannot map {} bytes of memory: {}", size_bytes, std::strerror(errno)));
  }
  memory.pages_.bytes = {static_cast<char*>(base), size_bytes};
  ::madvise(base, size_bytes, MADV_HUGEPAGE);  // a request; it may be off
  ::madvise(base, size_bytes, MADV_DONTFORK);
  const std::uint64_t access = FI_WRITE | FI_REMOTE_WRITE;
  int result = -FI_ENOKEY;
  for (int i = 0; i < drawn_keys && result == -FI_ENOKEY; ++i) {
    std::uint64_t key = 0;
    if (!domain->has(FI_MR_PROV_KEY)) {
      const Result<std::uint64_t> drawn = draw_memory_key(domain->key_bytes());
      if (!drawn.ok()) return drawn.status();
      key = *drawn;
    }
    fid_mr* registration = nullptr;
    result =
        ::fi_mr_reg(domain->domain(), base, size_bytes, access, 0, key, 0, &registration, nullptr);
    if (result == 0) memory.registration_.reset(registration);
  }
  if (result != 0) return registration_failure(-result, size_bytes, domain->name());
  memory.domain_ = std::move(domain);
  return memory;
}

PeerMemory RegisteredMemory::place() const {
  PeerMemory place;
  // Else the peer counts from the memory's first byte.
  if (domain_->has(FI_MR_VIRT_ADDR)) {
    place.base = reinterpret_cast<std::uintptr_t>(pages_.bytes.data());
  }
  place.key = ::fi_mr_key(registration_.get());
  return place;
}

Status RegisteredMemory::attach(fid_ep* endpoint) {
  if (!domain_->has(FI_MR_ENDPOINT)) return {};
  int result = ::fi_mr_bind(registration_.get(), &endpoint->fid, 0);
  if (result == 0) result = ::fi_mr_enable(registration_.get());
  if (result == 0) return {};
  return registration_failure(-result, pages_.bytes.size(), domain_->name());
}

}  // namespace hummer
