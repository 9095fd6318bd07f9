// FabricDomain: an opened device of libfabric, which all ends on it share; and what is asked of
// libfabric before one can be opened.
//
// Thread: any.
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_domain.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "rdma/fabric_place.hpp"

namespace hummer {

struct FabricCloser {
  template <typename Object>
  void operator()(Object* object) const {
    ::fi_close(&object->fid);
  }
};
// Of an object of libfabric: fid_ep, fid_cq …
template <typename Object>
using FabricHandle = std::unique_ptr<Object, FabricCloser>;

struct FabricInfoFreer {
  void operator()(fi_info* information) const { ::fi_freeinfo(information); }
};
using FabricInfo = std::unique_ptr<fi_info, FabricInfoFreer>;

// "cannot <doing>: <reason>". `error`: positive, of libfabric or the system.
Status fabric_failure(int error, std::string_view doing);

// Of whoever writes here: fits what the machine draws for secrets.
Status draw_random(void* bytes, std::size_t size);

struct FabricQuery {
  std::string provider;
  EndpointKind kind = EndpointKind::message;
  std::string host = {};  // an address in numbers
  std::string port = {};
  bool is_own = false;  // host is of this machine
};
// The provider's first answer, in order where it grants that to message endpoints.
Result<FabricInfo> ask_fabric(const FabricQuery& query);

class FabricDomain {
 public:
  static Result<std::shared_ptr<FabricDomain>> open(fi_info* information);

  fid_fabric* fabric() const { return fabric_.get(); }
  fid_domain* domain() const { return domain_.get(); }
  // "tcp (eth0)", which is also what it is known by.
  const std::string& name() const { return name_; }
  bool has(int mr_mode) const { return (mr_mode_ & mr_mode) != 0; }
  std::size_t key_bytes() const { return key_bytes_; }

  static std::string name_of(const fi_info& information);

 private:
  FabricDomain() = default;

  FabricHandle<fid_fabric> fabric_;
  FabricHandle<fid_domain> domain_;
  std::string name_;
  int mr_mode_ = 0;
  std::size_t key_bytes_ = 0;
};

}  // namespace hummer
