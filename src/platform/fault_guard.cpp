#include "platform/fault_guard.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <mutex>

namespace hummer {
namespace {

struct GuardedRange {
  std::atomic<bool> taken{false};
  std::atomic<std::uint32_t> version{0};
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<bool> faulted{false};
};

constexpr int range_count = 4096;
GuardedRange ranges[range_count];  // why it is global: see the header
struct sigaction previous_action;
std::uintptr_t page_bytes = 4096;

void set_range(GuardedRange& range, std::uintptr_t begin, std::uintptr_t end) {
  range.version.fetch_add(1, std::memory_order_seq_cst);
  range.begin.store(begin, std::memory_order_seq_cst);
  range.end.store(end, std::memory_order_seq_cst);
  range.version.fetch_add(1, std::memory_order_seq_cst);
}

// Async-signal-safe: atomics and one system call.
bool cover_fault(std::uintptr_t address) {
  for (GuardedRange& range : ranges) {
    const std::uint32_t version = range.version.load(std::memory_order_seq_cst);
    const std::uintptr_t begin = range.begin.load(std::memory_order_seq_cst);
    const std::uintptr_t end = range.end.load(std::memory_order_seq_cst);
    if ((version & 1) != 0 || version != range.version.load(std::memory_order_seq_cst)) continue;
    if (address < begin || address >= end) continue;
    const std::uintptr_t page = address & ~(page_bytes - 1);
    // The flag first: who sees the zeros must be able to see it.
    range.faulted.store(true, std::memory_order_seq_cst);
    const long got = ::syscall(SYS_mmap, page, end - page, PROT_READ,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return got == static_cast<long>(page);
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* information, void* context) {
  const int saved_errno = errno;
  // Sent by a process rather than raised by a read: then there is no address.
  const bool sent = information->si_code <= 0;
  const bool covered = !sent && cover_fault(reinterpret_cast<std::uintptr_t>(information->si_addr));
  errno = saved_errno;
  if (covered) return;
  if ((previous_action.sa_flags & SA_SIGINFO) != 0) {
    previous_action.sa_sigaction(signal, information, context);
  } else if (previous_action.sa_handler != SIG_DFL && previous_action.sa_handler != SIG_IGN) {
    previous_action.sa_handler(signal);
  } else {
    // The faulting read runs again after the return, and this time ends the process.
    ::signal(signal, SIG_DFL);
    if (sent) ::raise(signal);
  }
}

}  // namespace

void install_fault_guard() {
  static std::once_flag once;
  std::call_once(once, [] {
    page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
    struct sigaction action{};
    action.sa_sigaction = &on_bus_error;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    // Where signals are missing, so are truncations by another process.
    ::sigaction(SIGBUS, &action, &previous_action);
  });
}

int guard_range(const void* begin, std::size_t length) {
  for (int slot = 0; slot < range_count; ++slot) {
    GuardedRange& range = ranges[slot];
    if (range.taken.load(std::memory_order_relaxed)) continue;
    if (range.taken.exchange(true, std::memory_order_acquire)) continue;
    range.faulted.store(false, std::memory_order_relaxed);
    const auto address = reinterpret_cast<std::uintptr_t>(begin);
    set_range(range, address, address + length);
    return slot;
  }
  return -1;
}

bool range_faulted(int slot) { return ranges[slot].faulted.load(std::memory_order_acquire); }

void release_range(int slot) {
  set_range(ranges[slot], 0, 0);
  ranges[slot].taken.store(false, std::memory_order_release);
}

}  // namespace hummer
