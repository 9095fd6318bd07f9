#include "rdma/fabric_end.hpp"

#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

namespace hummer {
namespace {

constexpr std::size_t most_receives = 1024;
constexpr std::size_t completions_at_once = 32;
// One call of progress() comes to an end also under a peer that never does.
constexpr int most_reads = 16;

}  // namespace

WriteOrder write_order_of(const fi_info& information, const FabricEndOptions& options) {
  constexpr std::uint64_t granted = FI_ORDER_WAW | FI_ORDER_RMA_WAW;
  // Datagram endpoints split large writes themselves, and let small ones pass them.
  const bool in_order = information.ep_attr->type == FI_EP_MSG &&
                        (information.tx_attr->msg_order & granted) != 0 &&
                        (information.rx_attr->msg_order & granted) != 0 &&
                        information.ep_attr->max_order_waw_size >= options.largest_write_bytes;
  if (!in_order) return WriteOrder::none;
  return options.last_byte ? WriteOrder::bytes : WriteOrder::in_order;
}

FabricEnd::FabricEnd(RegisteredMemory memory, WriteOrder order)
    : memory_(std::move(memory)), order_(order) {}

FabricEnd::~FabricEnd() {
  if (memory_.domain()->has(FI_MR_ENDPOINT)) memory_.unregister();
  endpoint_.reset();
  completions_.reset();
}

std::string FabricEnd::description() const { return "libfabric " + device_name(); }

Status FabricEnd::open_completions(const fi_info& information) {
  const std::size_t receives = std::min(information.rx_attr->size, most_receives);
  numbers_take_receives_ = ((information.mode | information.rx_attr->mode) & FI_RX_CQ_DATA) != 0;
  missing_receives_ = numbers_take_receives_ ? receives : 0;
  fi_cq_attr attributes{};
  attributes.format = FI_CQ_FORMAT_DATA;
  attributes.wait_obj = FI_WAIT_NONE;
  attributes.size = std::min(information.tx_attr->size, most_receives) + receives;
  fid_cq* completions = nullptr;
  if (const int result = ::fi_cq_open(domain(), &attributes, &completions, nullptr)) {
    return fabric_failure(-result, "open a completion queue of " + device_name());
  }
  completions_.reset(completions);
  return {};
}

Status FabricEnd::open_endpoint(fi_info* information, fid* queue) {
  HUMMER_TRY(open_completions(*information));
  fid_ep* endpoint = nullptr;
  if (const int result = ::fi_endpoint(domain(), information, &endpoint, nullptr)) {
    return fabric_failure(-result, "open an endpoint of " + device_name());
  }
  endpoint_.reset(endpoint);
  int result = ::fi_ep_bind(endpoint, queue, 0);
  if (result == 0) {
    result = ::fi_ep_bind(endpoint, &completions_->fid, FI_TRANSMIT | FI_RECV);
  }
  if (result == 0) result = ::fi_enable(endpoint);
  if (result != 0) return fabric_failure(-result, "enable an endpoint of " + device_name());
  HUMMER_TRY(memory_.attach(endpoint));
  largest_write_bytes_ = information->ep_attr->max_msg_size;
  inject_bytes_ = information->tx_attr->inject_size;
  queue_size_ = std::max<std::size_t>(information->tx_attr->size, 1);
  // Before the peer may write.
  post_receives();
  return failure_;
}

void FabricEnd::begin(const PeerMemory& peer, fi_addr_t address) {
  peer_ = peer;
  peer_address_ = address;
  ready_ = true;
}

void FabricEnd::fail(Status failure) {
  if (failure_.ok()) failure_ = std::move(failure);
}

bool FabricEnd::write(const Range& range, std::optional<std::uint32_t> told) {
  const std::size_t size = memory_.bytes().size();
  HUMMER_ASSERT(ready_ && range.size <= size && range.from <= size - range.size &&
                range.to <= size - range.size);
  if (failed()) return false;
  if (range.size > largest_write_bytes_) {
    fail({ErrorCode::limit_exceeded, fmt::format("{} writes at most {} bytes at once, not {}",
                                                 device_name(), largest_write_bytes_, range.size)});
    return false;
  }
  ssize_t result = begin_write(range, told);
  if (result == -FI_EAGAIN) {
    // There is room again where something is complete.
    read_completions();
    if (failed()) return false;
    result = begin_write(range, told);
  }
  if (result == 0) return true;
  if (result != -FI_EAGAIN) {
    fail(fabric_failure(static_cast<int>(-result), "write by " + device_name()));
  }
  return false;
}

ssize_t FabricEnd::begin_write(const Range& range, std::optional<std::uint32_t> told) {
  const char* const from = memory_.bytes().data() + range.from;
  const std::uint64_t to = peer_.base + range.to;
  fid_ep* const endpoint = endpoint_.get();
  if (range.size <= inject_bytes_) {
    const ssize_t result =
        told
            ? ::fi_inject_writedata(endpoint, from, range.size, *told, peer_address_, to, peer_.key)
            : ::fi_inject_write(endpoint, from, range.size, peer_address_, to, peer_.key);
    if (result != -FI_ENOSYS && result != -FI_EOPNOTSUPP) return result;
    inject_bytes_ = 0;
  }
  if (under_way_ >= queue_size_) return -FI_EAGAIN;
  void* const descriptor = memory_.descriptor();
  const ssize_t result = told ? ::fi_writedata(endpoint, from, range.size, descriptor, *told,
                                               peer_address_, to, peer_.key, nullptr)
                              : ::fi_write(endpoint, from, range.size, descriptor, peer_address_,
                                           to, peer_.key, nullptr);
  if (result == 0) ++under_way_;
  return result;
}

Status FabricEnd::connect() {
  if (!failed()) {
    if (completions_ != nullptr) read_completions();
    advance(false);
  }
  return failure_;
}

Status FabricEnd::progress(std::vector<std::uint32_t>& told) {
  (void)connect();
  told.insert(told.end(), arrived_.begin(), arrived_.end());
  arrived_.clear();
  return failure_;
}

void FabricEnd::read_completions() {
  std::array<fi_cq_data_entry, completions_at_once> entries;
  for (int i = 0; i < most_reads; ++i) {
    const ssize_t count = ::fi_cq_read(completions_.get(), entries.data(), entries.size());
    if (count == -FI_EAGAIN) break;
    if (count == -FI_EAVAIL) {
      take_failed_completion();
      return;
    }
    if (count < 0) {
      fail(fabric_failure(static_cast<int>(-count), "read completions of " + device_name()));
      return;
    }
    const auto read = static_cast<std::size_t>(count);
    for (std::size_t each = 0; each < read; ++each) take_completion(entries[each]);
    if (read < entries.size()) break;
  }
  if (missing_receives_ > 0) post_receives();
}

void FabricEnd::take_completion(const fi_cq_data_entry& entry) {
  if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
    arrived_.push_back(static_cast<std::uint32_t>(entry.data));
    if (numbers_take_receives_) ++missing_receives_;
  } else if ((entry.flags & FI_WRITE) != 0 && under_way_ > 0) {
    --under_way_;
  }
}

void FabricEnd::take_failed_completion() {
  // The connection knows better why it broke, if it did.
  advance(true);
  fi_cq_err_entry entry{};
  const ssize_t count = ::fi_cq_readerr(completions_.get(), &entry, 0);
  if (count < 0) {
    if (count != -FI_EAGAIN) {
      fail(fabric_failure(static_cast<int>(-count), "read a failure of " + device_name()));
    }
    return;
  }
  char text[128] = "";
  const char* const reason =
      ::fi_cq_strerror(completions_.get(), entry.prov_errno, entry.err_data, text, sizeof(text));
  const Status failure = fabric_failure(entry.err, "write by " + device_name());
  fail({failure.code(),
        fmt::format("{} ({})", failure.message(), reason != nullptr ? reason : "no reason given")});
}

void FabricEnd::post_receives() {
  for (; missing_receives_ > 0; --missing_receives_) {
    const ssize_t result =
        ::fi_recv(endpoint_.get(), nullptr, 0, memory_.descriptor(), FI_ADDR_UNSPEC, nullptr);
    if (result == -FI_EAGAIN) return;
    if (result != 0) {
      fail(fabric_failure(static_cast<int>(-result), "receive by " + device_name()));
      return;
    }
  }
}

}  // namespace hummer
