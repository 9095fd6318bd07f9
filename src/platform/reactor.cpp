#include "platform/reactor.hpp"

#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>

#include <hummer/status.hpp>

namespace hummer {
namespace {

[[noreturn]] void fail(const char* call) {
  const std::string what = std::string(call) + " for an executor: " + std::strerror(errno) +
                           " (raise the limit of open files?)";
  assertion_failed(what.c_str(), __FILE__, __LINE__);
}

}  // namespace

Reactor::Reactor() {
  epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  if (epoll_ < 0) fail("epoll_create1");
  wake_up_ = ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (wake_up_ < 0) fail("eventfd");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.ptr = nullptr;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, wake_up_, &event) != 0) fail("epoll_ctl");
}

Reactor::~Reactor() {
  ::close(wake_up_);
  ::close(epoll_);
}

void Reactor::add(int descriptor, ReadinessWatcher& watcher) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
  event.data.ptr = &watcher;
  if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, descriptor, &event) != 0) fail("epoll_ctl");
  ++watched_;
}

void Reactor::remove(int descriptor, ReadinessWatcher& watcher) {
  epoll_event unused{};
  ::epoll_ctl(epoll_, EPOLL_CTL_DEL, descriptor, &unused);
  --watched_;
  // It may be among the events that poll() is working through right now.
  for (int i = 0; i < event_count_; ++i) {
    if (events_[i].data.ptr == &watcher) events_[i].events = 0;
  }
}

int Reactor::wait(Nanoseconds timeout) {
  const int capacity = static_cast<int>(events_.size());
  if (timeout == 0) return ::epoll_wait(epoll_, events_.data(), capacity, 0);
  if (timeout == never) return ::epoll_wait(epoll_, events_.data(), capacity, -1);
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 35)
  if (has_fine_wait_) {
    timespec limit{};
    limit.tv_sec = static_cast<time_t>(timeout / seconds(1));
    limit.tv_nsec = static_cast<long>(timeout % seconds(1));
    const int count = ::epoll_pwait2(epoll_, events_.data(), capacity, &limit, nullptr);
    if (count >= 0 || errno == EINTR) return count;
    has_fine_wait_ = false;  // ENOSYS, or EPERM under a filter
  }
#endif
  const Nanoseconds up = (timeout - 1) / milliseconds(1) + 1;  // round up, or we'd spin at the end
  const int limit_ms =
      up > std::numeric_limits<int>::max() ? std::numeric_limits<int>::max() : static_cast<int>(up);
  return ::epoll_wait(epoll_, events_.data(), capacity, limit_ms);
}

bool Reactor::poll(Nanoseconds timeout) {
  event_count_ = wait(timeout);
  for (int i = 0; i < event_count_; ++i) {
    const std::uint32_t what = events_[i].events;
    if (what == 0) continue;  // removed meanwhile
    if (events_[i].data.ptr == nullptr) {
      std::uint64_t count = 0;
      [[maybe_unused]] const ssize_t got = ::read(wake_up_, &count, sizeof(count));
      continue;
    }
    constexpr std::uint32_t ended = EPOLLHUP | EPOLLERR;
    static_cast<ReadinessWatcher*>(events_[i].data.ptr)
        ->on_ready((what & (EPOLLIN | EPOLLRDHUP | ended)) != 0, (what & (EPOLLOUT | ended)) != 0);
  }
  const bool found = event_count_ > 0;
  event_count_ = 0;
  return found;
}

void Reactor::wake() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t put = ::write(wake_up_, &one, sizeof(one));
}

}  // namespace hummer
