#include "platform/executor.hpp"

#include <algorithm>
#include <exception>
#include <memory>

#include <hummer/status.hpp>

#include "platform/task.hpp"

namespace hummer {

// A spawned task: travels through the inbox once, then hangs in the list of what is alive.
class RootTask final : public InboxNode {
 public:
  RootTask(Executor& executor, Task<void> task) : executor_(executor), task_(std::move(task)) {}

  void deliver(Executor& executor) override { executor.adopt(*this); }
  void discard() override {
    executor_.live_tasks_.fetch_sub(1, std::memory_order_release);
    delete this;
  }

 private:
  friend class Executor;

  std::coroutine_handle<> start(Executor& executor) {
    PromiseBase& promise = task_.handle_.promise();
    promise.executor_ = &executor;
    promise.root_ = this;
    return task_.handle_;
  }
  std::exception_ptr exception() const { return task_.handle_.promise().exception_; }

  Executor& executor_;
  Task<void> task_;
  RootTask* previous_ = nullptr;
  RootTask* next_ = nullptr;
};

namespace {

class PostedHandle final : public InboxNode {
 public:
  explicit PostedHandle(std::coroutine_handle<> handle) : handle_(handle) {}
  void deliver(Executor& executor) override {
    executor.post(handle_);
    delete this;
  }
  void discard() override { delete this; }

 private:
  std::coroutine_handle<> handle_;
};

[[noreturn]] void fail_because_of(const std::exception_ptr& exception, const std::string& name) {
  std::string what = "no exception leaves a spawned task (executor " + name + "): ";
  try {
    std::rethrow_exception(exception);
  } catch (const std::exception& caught) {
    what += caught.what();
  } catch (...) {
    what += "not a std::exception";
  }
  assertion_failed(what.c_str(), __FILE__, __LINE__);
}

}  // namespace

Executor::~Executor() { HUMMER_ASSERT(roots_ == nullptr && finished_ == nullptr); }

void Executor::spawn(Task<void> task) {
  HUMMER_ASSERT(task.valid());
  live_tasks_.fetch_add(1, std::memory_order_relaxed);
  post_from_anywhere(*new RootTask(*this, std::move(task)));
}

void Executor::post_from_anywhere(std::coroutine_handle<> handle) {
  post_from_anywhere(*new PostedHandle(handle));
}

void Executor::post_from_anywhere(InboxNode& node) {
  if (!inbox_.push(node)) {
    node.discard();
    return;
  }
  wake();
}

void Executor::add_poller(Poller& poller) { pollers_.push_back(&poller); }

void Executor::remove_poller(Poller& poller) {
  const auto found = std::find(pollers_.begin(), pollers_.end(), &poller);
  HUMMER_ASSERT(found != pollers_.end());
  pollers_.erase(found);
}

bool Executor::call_pollers() {
  bool found = false;
  for (std::size_t i = 0; i < pollers_.size(); ++i) found |= pollers_[i]->poll();
  return found;
}

void Executor::drop_everything() {
  stopping_ = true;
  inbox_.close([](InboxNode& node) { node.discard(); });
  ready_.clear();
  if (finished_ != nullptr) destroy_finished();
  while (roots_ != nullptr) {
    RootTask* root = roots_;
    roots_ = root->next_;
    if (roots_ != nullptr) roots_->previous_ = nullptr;
    delete root;
    live_tasks_.fetch_sub(1, std::memory_order_release);
  }
}

void Executor::adopt(RootTask& root) {
  root.next_ = roots_;
  if (roots_ != nullptr) roots_->previous_ = &root;
  roots_ = &root;
  post(root.start(*this));
}

void Executor::finish(RootTask& root) {
  (root.previous_ != nullptr ? root.previous_->next_ : roots_) = root.next_;
  if (root.next_ != nullptr) root.next_->previous_ = root.previous_;
  root.next_ = finished_;
  finished_ = &root;
}

void Executor::destroy_finished() {
  while (finished_ != nullptr) {
    RootTask* root = finished_;
    finished_ = root->next_;
    if (root->exception()) fail_because_of(root->exception(), name());
    delete root;
    live_tasks_.fetch_sub(1, std::memory_order_release);
  }
}

}  // namespace hummer
