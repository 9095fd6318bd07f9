// FabricEnd: what both kinds of endpoints have in common: the memory, writes into the peer's, and
// their completions. How an end finds its peer is its form's: MessageEnd, DatagramEnd.
//
// The first failure stays: progress() says it from then on, and write() is false.
//
// Thread: one at a time.
#pragma once

#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "platform/remote_memory.hpp"
#include "platform/remote_memory_plugin.hpp"
#include "rdma/fabric_domain.hpp"
#include "rdma/registered_memory.hpp"

namespace hummer {

// What both ends of a memory are made with.
struct FabricEndOptions {
  std::size_t size_bytes = 0;
  std::size_t largest_write_bytes = 0;
  bool last_byte = false;  // RemoteMemoryOptions
};

// What the provider says in `information` of writes in a memory of that size.
WriteOrder write_order_of(const fi_info& information, const FabricEndOptions& options);

class FabricEnd : public RemoteMemory {
  RegisteredMemory memory_;  // first: it keeps the device open for all below

 public:
  ~FabricEnd() override;
  FabricEnd(const FabricEnd&) = delete;
  FabricEnd& operator=(const FabricEnd&) = delete;

  std::span<char> bytes() override { return memory_.bytes(); }
  WriteOrder order() const override { return order_; }
  std::string description() const override;
  Status connect() override;
  bool ready() const override { return ready_; }
  bool write(const Range& range, std::optional<std::uint32_t> told) override;
  std::size_t under_way() const override { return under_way_; }
  Status progress(std::vector<std::uint32_t>& told) override;

 protected:
  FabricEnd(RegisteredMemory memory, WriteOrder order);

  // Reads events of the connection, and brings it on; one that stands may wait unless `now`.
  virtual void advance(bool now) = 0;

  // Opens the endpoint with its queues, and enables it. `queue` is what more it is bound to: events
  // of the connection, or an address vector.
  Status open_endpoint(fi_info* information, fid* queue);
  // REQUIRES: an endpoint. From now on there is someone to write to.
  void begin(const PeerMemory& peer, fi_addr_t address);
  void fail(Status failure);
  bool failed() const { return !failure_.ok(); }

  fid_domain* domain() const { return memory_.domain()->domain(); }
  fid_fabric* fabric() const { return memory_.domain()->fabric(); }
  const std::string& device_name() const { return memory_.domain()->name(); }
  const RegisteredMemory& memory() const { return memory_; }
  fid_ep* endpoint() const { return endpoint_.get(); }

  // An endpoint is closed before what it is bound to.
  FabricHandle<fid_eq> events_;
  FabricHandle<fid_av> addresses_;

 private:
  Status open_completions(const fi_info& information);
  ssize_t begin_write(const Range& range, std::optional<std::uint32_t> told);
  void read_completions();
  void take_completion(const fi_cq_data_entry& entry);
  void take_failed_completion();
  void post_receives();

  WriteOrder order_;
  FabricHandle<fid_cq> completions_;
  FabricHandle<fid_ep> endpoint_;
  PeerMemory peer_;
  fi_addr_t peer_address_ = FI_ADDR_UNSPEC;
  std::size_t largest_write_bytes_ = 0;
  // Writes up to this size are copied by the device at once, and need no completion.
  std::size_t inject_bytes_ = 0;
  std::size_t under_way_ = 0;
  // What the device takes at once; tcp would take any number.
  std::size_t queue_size_ = 0;
  // Receives that the device wants to have posted: each write with a number takes one.
  std::size_t missing_receives_ = 0;
  bool numbers_take_receives_ = false;
  bool ready_ = false;
  std::vector<std::uint32_t> arrived_;
  Status failure_;
};

}  // namespace hummer
