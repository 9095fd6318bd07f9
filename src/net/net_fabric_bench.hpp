// A bare loop over libfabric, as good as we can make it: what stands beside Hummer's rings by
// one-sided writes. Provider tcp, connected endpoints (FI_EP_MSG), as many slots as a channel has,
// each written in place; then a word of eight bytes that says how many slots are there, which the
// provider's order keeps behind them. Credits come back a quarter of the ring at a time.
//
// It is cheaper to drive than a library for any program can be: one thread per domain, so nothing
// is locked; progress by whoever spins; no completions, since a credit says that a slot has left;
// words are sent from a copy that the provider makes. Both loops read the queue of completions
// while they wait, without which nothing moves.
//
// An End as net_plain_bench.hpp has it. Thread: one at a time. What goes wrong ends the process.
#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include "net/net_pair_bench.hpp"
#include "net/net_plain_bench.hpp"

namespace hummer::net_bench {

class FabricLoopEnd {
 public:
  FabricLoopEnd(Meeting& meeting, bool listens, const Work& work)
      : buffer_bytes_(work.buffer_bytes),
        flag_every_(slots_per_flag(work.buffer_bytes)),
        memory_bytes_(2 * slots * work.buffer_bytes + page) {
    void* const memory =
        ::mmap(nullptr, memory_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    HUMMER_ASSERT(memory != MAP_FAILED);
    ::madvise(memory, memory_bytes_, MADV_HUGEPAGE);  // a request; it may be off
    base_ = static_cast<char*>(memory);
    if (listens) {
      listen(meeting);
    } else {
      connect(meeting);
    }
    meeting.tell(Place{takes_addresses_ ? reinterpret_cast<std::uintptr_t>(base_) : 0,
                       ::fi_mr_key(registration_)});
    peer_ = meeting.hear<Place>();
  }
  FabricLoopEnd(const FabricLoopEnd&) = delete;
  FabricLoopEnd& operator=(const FabricLoopEnd&) = delete;
  // What it holds goes with its process.

  char* room() {
    if (sent_ - credits() >= slots) {
      show();
      while (sent_ - credits() >= slots) progress();
    }
    return base_ + place_of_out(sent_);
  }
  void send(std::size_t bytes, bool more) {
    const char* const from = base_ + place_of_out(sent_);
    const std::uint64_t to = peer_.base + place_of_in(sent_);
    insist("write", [&] {
      return ::fi_write(endpoint_, from, bytes, descriptor_, FI_ADDR_UNSPEC, to, peer_.key,
                        nullptr);
    });
    ++sent_;
    if (!more || sent_ - shown_ >= flag_every_) show();
  }
  const char* receive(std::size_t /*bytes*/) {
    while (word(place_of_shown()).load(std::memory_order_acquire) == received_) progress();
    return base_ + place_of_in(received_);
  }
  void release() {
    if (++received_ - credited_ < slots / 4) return;
    credited_ = received_;
    write_word(credited_, place_of_credits());
  }
  void finish(Meeting& meeting) {
    meeting.tell('.');
    while (!meeting.was_told()) progress();
    (void)meeting.hear<char>();
  }

 private:
  static constexpr std::size_t page = 4096;
  static constexpr const char* address = "127.0.0.1";

  struct Place {
    std::uint64_t base = 0;
    std::uint64_t key = 0;
  };

  // Of small buffers, several are shown at once, where more follow anyway.
  static std::uint64_t slots_per_flag(std::size_t buffer_bytes) {
    if (const char* said = std::getenv("NET_BENCH_SLOTS_PER_FLAG")) {
      return static_cast<std::uint64_t>(std::atoi(said));
    }
    return std::clamp<std::uint64_t>(64 * 1024 / buffer_bytes, 1, slots / 4);
  }

  // The memory: slots that come, slots that go, and two words of the other side.
  std::size_t place_of_in(std::uint64_t number) const { return number % slots * buffer_bytes_; }
  std::size_t place_of_out(std::uint64_t number) const {
    return (slots + number % slots) * buffer_bytes_;
  }
  std::size_t place_of_shown() const { return 2 * slots * buffer_bytes_; }
  std::size_t place_of_credits() const { return place_of_shown() + 64; }
  std::atomic<std::uint64_t>& word(std::size_t place) const {
    return *reinterpret_cast<std::atomic<std::uint64_t>*>(base_ + place);
  }
  std::uint64_t credits() const { return word(place_of_credits()).load(std::memory_order_acquire); }

  void show() {
    if (shown_ == sent_) return;
    shown_ = sent_;
    write_word(shown_, place_of_shown());
  }
  void write_word(std::uint64_t value, std::size_t place) {
    insist("write a word", [&] {
      return ::fi_inject_write(endpoint_, &value, sizeof value, FI_ADDR_UNSPEC, peer_.base + place,
                               peer_.key);
    });
  }
  template <typename Post>
  void insist(const char* doing, const Post& post) {
    while (true) {
      const ssize_t result = post();
      if (result == 0) return;
      if (result != -FI_EAGAIN) check(static_cast<int>(result), doing);
      progress();
    }
  }
  void progress() {
    std::array<fi_cq_entry, 8> entries;
    const ssize_t count = ::fi_cq_read(completions_, entries.data(), entries.size());
    if (count >= 0 || count == -FI_EAGAIN) return;
    fi_cq_err_entry failed{};
    (void)::fi_cq_readerr(completions_, &failed, 0);
    check(failed.err != 0 ? -failed.err : static_cast<int>(count), "complete a write");
  }

  static void check(int result, const char* doing) {
    if (result == 0) return;
    std::fprintf(stderr, "net_bench: libfabric cannot %s: %s\n", doing, ::fi_strerror(-result));
    std::abort();
  }

  // --- connecting

  static fi_info* find(const char* port, std::uint64_t flags) {
    fi_info* const hints = ::fi_allocinfo();
    hints->caps = FI_RMA | FI_WRITE | FI_REMOTE_WRITE;
    hints->ep_attr->type = FI_EP_MSG;
    hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
    hints->domain_attr->threading = FI_THREAD_DOMAIN;
    hints->domain_attr->control_progress = FI_PROGRESS_MANUAL;
    hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
    hints->tx_attr->msg_order = FI_ORDER_RMA_WAW;
    hints->rx_attr->msg_order = FI_ORDER_RMA_WAW;
    hints->fabric_attr->prov_name = ::strdup("tcp");
    fi_info* found = nullptr;
    check(::fi_getinfo(FI_VERSION(1, 17), address, port, FI_NUMERICHOST | flags, hints, &found),
          "find the provider tcp");
    ::fi_freeinfo(hints);
    return found;
  }

  void open_fabric(fi_info* information) {
    check(::fi_fabric(information->fabric_attr, &fabric_, nullptr), "open a fabric");
    // Nobody sleeps for events: the provider would start a thread that makes progress.
    fi_eq_attr attributes{};
    attributes.wait_obj = FI_WAIT_NONE;
    check(::fi_eq_open(fabric_, &attributes, &events_, nullptr), "open an event queue");
  }
  void open_endpoint(fi_info* information) {
    fid_domain* domain = nullptr;
    check(::fi_domain(fabric_, information, &domain, nullptr), "open a domain");
    fi_cq_attr attributes{};
    attributes.format = FI_CQ_FORMAT_CONTEXT;
    attributes.wait_obj = FI_WAIT_NONE;
    check(::fi_cq_open(domain, &attributes, &completions_, nullptr), "open a completion queue");
    information->tx_attr->op_flags = 0;
    check(::fi_endpoint(domain, information, &endpoint_, nullptr), "open an endpoint");
    check(::fi_ep_bind(endpoint_, &events_->fid, 0), "bind an event queue");
    check(::fi_ep_bind(endpoint_, &completions_->fid,
                       FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION),
          "bind a completion queue");
    check(::fi_enable(endpoint_), "enable an endpoint");
    constexpr std::uint64_t own_key = 1;
    check(::fi_mr_reg(domain, base_, memory_bytes_, FI_WRITE | FI_REMOTE_WRITE, 0, own_key, 0,
                      &registration_, nullptr),
          "register memory");
    descriptor_ = ::fi_mr_desc(registration_);
    takes_addresses_ = (information->domain_attr->mr_mode & FI_MR_VIRT_ADDR) != 0;
    HUMMER_ASSERT(information->tx_attr->inject_size >= sizeof(std::uint64_t) &&
                  information->ep_attr->max_order_waw_size >= buffer_bytes_);
  }
  // The next event, which must be this one.
  fi_info* wait_for(std::uint32_t wanted) {
    while (true) {
      std::uint32_t event = 0;
      fi_eq_cm_entry entry{};
      const ssize_t size = ::fi_eq_read(events_, &event, &entry, sizeof entry, 0);
      if (size == -FI_EAGAIN) {
        ::sched_yield();
        continue;
      }
      if (size == -FI_EAVAIL) {
        fi_eq_err_entry failed{};
        (void)::fi_eq_readerr(events_, &failed, 0);
        check(-failed.err, "connect");
      }
      check(size < 0 ? static_cast<int>(size) : event == wanted ? 0 : -FI_EOTHER, "connect");
      return entry.info;
    }
  }

  void listen(Meeting& meeting) {
    fi_info* const found = find(nullptr, FI_SOURCE);
    open_fabric(found);
    fid_pep* listener = nullptr;
    check(::fi_passive_ep(fabric_, found, &listener, nullptr), "open a listener");
    check(::fi_pep_bind(listener, &events_->fid, 0), "bind a listener");
    check(::fi_listen(listener), "listen");
    sockaddr_in own{};
    std::size_t size = sizeof own;
    check(::fi_getname(&listener->fid, &own, &size), "ask where it listens");
    meeting.tell(own.sin_port);
    fi_info* const request = wait_for(FI_CONNREQ);
    open_endpoint(request);
    check(::fi_accept(endpoint_, nullptr, 0), "accept");
    (void)wait_for(FI_CONNECTED);
  }
  void connect(Meeting& meeting) {
    const std::string port = std::to_string(ntohs(meeting.hear<in_port_t>()));
    fi_info* const found = find(port.c_str(), 0);
    open_fabric(found);
    open_endpoint(found);
    check(::fi_connect(endpoint_, found->dest_addr, nullptr, 0), "connect");
    (void)wait_for(FI_CONNECTED);
  }

  const std::size_t buffer_bytes_;
  const std::uint64_t flag_every_;
  const std::size_t memory_bytes_;
  char* base_ = nullptr;
  bool takes_addresses_ = false;
  Place peer_;

  fid_fabric* fabric_ = nullptr;
  fid_eq* events_ = nullptr;
  fid_cq* completions_ = nullptr;
  fid_ep* endpoint_ = nullptr;
  fid_mr* registration_ = nullptr;
  void* descriptor_ = nullptr;

  std::uint64_t sent_ = 0, shown_ = 0;
  std::uint64_t received_ = 0, credited_ = 0;
};

}  // namespace hummer::net_bench
