// RegisteredMemory: zeroed pages of this process that a device reads and writes.
//
// Lifecycle: make() asks the system for the pages and registers them; where the device wants the
// registration to belong to an endpoint (FI_MR_ENDPOINT) it counts from attach() on. A child of
// this process does not have the pages: the device would go on writing into one copy of them.
//
// Thread: as its end.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include <hummer/status.hpp>

#include "rdma/fabric_domain.hpp"

namespace hummer {

class RegisteredMemory {
 public:
  static Result<RegisteredMemory> make(std::shared_ptr<FabricDomain> domain,
                                       std::size_t size_bytes);

  std::span<char> bytes() const { return pages_.bytes; }
  // What the device wants to be told of local bytes.
  void* descriptor() const { return ::fi_mr_desc(registration_.get()); }
  // For who writes here. REQUIRES: attached.
  PeerMemory place() const;

  // REQUIRES: the endpoint is enabled.
  Status attach(fid_ep* endpoint);
  // No write arrives any more, and none may begin.
  void unregister() { registration_.reset(); }
  const std::shared_ptr<FabricDomain>& domain() const { return domain_; }

 private:
  struct Pages {
    Pages() = default;
    Pages(Pages&& other) noexcept : bytes(std::exchange(other.bytes, {})) {}
    Pages& operator=(Pages&& other) noexcept {
      std::swap(bytes, other.bytes);
      return *this;
    }
    ~Pages();
    std::span<char> bytes;
  };

  RegisteredMemory() = default;

  std::shared_ptr<FabricDomain> domain_;
  Pages pages_;
  FabricHandle<fid_mr> registration_;
};

}  // namespace hummer
