// Task<T>: the engine's coroutine, and what it can await on its executor.
//
//   Task<Result<int>> read_header(ByteStream& stream) {
//     ...
//     Result<std::size_t> got = co_await stream.read_some(buffer);
//     ...
//     co_return value;
//   }
//   executor.spawn(serve(...));                     // root: Task<void>
//   Result<int> header = co_await read_header(s);   // child: same executor
//
// Lifecycle: lazy. A Task owns its frame; nothing runs before it is awaited
// (`co_await std::move(task)` or a temporary) or spawned. It stays on one
// executor for life: a child inherits its parent's. A task that has started
// must finish before its Task object is destroyed, except when its executor
// stops; who wants to give up waiting tells the task and awaits its end.
//
// No symmetric transfer: GCC makes a tail call of it only when it optimises, so
// that a loop of awaits would overflow the stack at -O0 and under sanitizers.
// `co_await child` resumes the child inside await_suspend; if it finishes at
// once the parent goes on inline, without a queue; a child that suspended posts
// its parent to the ready queue when it finishes. Stack depth is the depth of
// nested first starts, never the length of a loop.
//
// Errors: an exception inside a task is rethrown where its result is awaited,
// and nowhere else.
//
// GCC 12: no `co_await` inside ?:, initialiser lists or call arguments; no
// capturing lambda may be a coroutine (its captures die with the lambda).
// Parameters of a coroutine are kept by value unless their owner outlives it.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include <hummer/status.hpp>

#include "platform/executor.hpp"
#include "platform/time.hpp"
#include "platform/timer.hpp"

namespace hummer {

class PromiseBase {
 public:
  Executor* executor() const { return executor_; }

  std::suspend_always initial_suspend() const noexcept { return {}; }

  struct FinalAwaiter {
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    void await_suspend(std::coroutine_handle<Promise> handle) const noexcept {
      handle.promise().finished();
    }
    void await_resume() const noexcept {}
  };
  FinalAwaiter final_suspend() const noexcept { return {}; }

  void unhandled_exception() noexcept { exception_ = std::current_exception(); }

 protected:
  void rethrow_if_failed() {
    if (exception_) std::rethrow_exception(std::exchange(exception_, nullptr));
  }

 private:
  template <typename T>
  friend class Task;
  friend class Executor;
  friend class RootTask;

  void finished() noexcept {
    if (continuation_) {
      executor_->post(continuation_);
    } else if (root_ != nullptr) {
      executor_->finish(*root_);
    }  // else: finished inside the parent's await_suspend, which goes on by itself
  }

  Executor* executor_ = nullptr;  // null: not started
  std::coroutine_handle<> continuation_;
  RootTask* root_ = nullptr;
  std::exception_ptr exception_;
};

template <typename T>
class TaskPromise final : public PromiseBase {
 public:
  Task<T> get_return_object() noexcept;
  template <typename U>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T take() {
    rethrow_if_failed();
    return std::move(*value_);
  }

 private:
  std::optional<T> value_;
};

template <>
class TaskPromise<void> final : public PromiseBase {
 public:
  Task<void> get_return_object() noexcept;
  void return_void() const noexcept {}
  void take() { rethrow_if_failed(); }
};

template <typename T>
class [[nodiscard]] Task {
 public:
  using promise_type = TaskPromise<T>;
  using Handle = std::coroutine_handle<promise_type>;

  Task() = default;
  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (!handle_) return;
    const Executor* executor = handle_.promise().executor_;
    HUMMER_ASSERT(executor == nullptr || handle_.done() || executor->is_stopping());
    handle_.destroy();
  }

  bool valid() const { return static_cast<bool>(handle_); }

  class Awaiter {
   public:
    explicit Awaiter(Handle child) : child_(child) {}
    bool await_ready() const noexcept { return false; }
    template <typename Promise>
    bool await_suspend(std::coroutine_handle<Promise> parent) {
      PromiseBase& promise = child_.promise();
      promise.executor_ = parent.promise().executor();
      child_.resume();
      if (child_.done()) return false;
      promise.continuation_ = parent;
      return true;
    }
    T await_resume() { return child_.promise().take(); }

   private:
    Handle child_;
  };
  Awaiter operator co_await() && noexcept {
    HUMMER_ASSERT(handle_ && handle_.promise().executor_ == nullptr);
    return Awaiter(handle_);
  }

 private:
  friend class RootTask;
  Handle handle_;
};

template <typename T>
Task<T> TaskPromise<T>::get_return_object() noexcept {
  return Task<T>(std::coroutine_handle<TaskPromise<T>>::from_promise(*this));
}
inline Task<void> TaskPromise<void>::get_return_object() noexcept {
  return Task<void>(std::coroutine_handle<TaskPromise<void>>::from_promise(*this));
}

class YieldAwaiter {
 public:
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) const {
    handle.promise().executor()->post(handle);
  }
  void await_resume() const noexcept {}
};

class CurrentExecutorAwaiter {
 public:
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  bool await_suspend(std::coroutine_handle<Promise> handle) noexcept {
    executor_ = handle.promise().executor();
    return false;
  }
  Executor& await_resume() const noexcept { return *executor_; }

 private:
  Executor* executor_ = nullptr;
};

class SleepAwaiter {
 public:
  SleepAwaiter(Nanoseconds time, bool relative) : time_(time), relative_(relative) {}
  bool await_ready() const noexcept { return false; }
  template <typename Promise>
  void await_suspend(std::coroutine_handle<Promise> handle) {
    executor_ = handle.promise().executor();
    handle_ = handle;
    executor_->call_at(timer_, relative_ ? executor_->now() + time_ : time_);
  }
  void await_resume() const noexcept {}

 private:
  static void fire(void* self) {
    auto* sleeper = static_cast<SleepAwaiter*>(self);
    sleeper->executor_->post(sleeper->handle_);
  }
  Nanoseconds time_;
  bool relative_;
  Executor* executor_ = nullptr;
  std::coroutine_handle<> handle_;
  Timer timer_{&SleepAwaiter::fire, this};
};

// co_await yield(): to the back of the ready queue.
inline YieldAwaiter yield() { return {}; }
// Executor& executor = co_await current_executor(): does not suspend.
inline CurrentExecutorAwaiter current_executor() { return {}; }
inline SleepAwaiter sleep_until(Nanoseconds time) { return {time, false}; }
inline SleepAwaiter sleep_for(Nanoseconds duration) { return {duration, true}; }

}  // namespace hummer
