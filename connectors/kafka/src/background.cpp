#include "background.hpp"

#include <utility>

namespace hummer::kafka {

Background::Background(std::function<void()> done)
    : done_(std::move(done)), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void Background::post(Work work) {
  {
    const std::lock_guard lock(mutex_);
    if (!failure_.ok()) return;
    works_.push_back(std::move(work));
  }
  changed_.notify_all();
}

bool Background::is_busy() const {
  const std::lock_guard lock(mutex_);
  return !works_.empty();
}

Status Background::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

Status Background::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return works_.empty(); });
  return failure_;
}

void Background::run(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [&] { return !works_.empty(); }) && !stop.stop_requested()) {
    Work work = std::move(works_.front());
    lock.unlock();
    Status status = work();
    work = nullptr;  // what it holds may be large
    lock.lock();
    works_.pop_front();
    if (!status.ok()) {
      failure_ = std::move(status);
      works_.clear();
    }
    changed_.notify_all();
    lock.unlock();
    done_();
    lock.lock();
  }
}

}  // namespace hummer::kafka
