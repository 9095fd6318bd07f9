// Background: a thread of a sink's own, for what waits for the brokers.
//
//   Background background([&] { context.wake(); });
//   background.post([&] { return transactions.write(records, name); });   // one after the other
//   if (Status status = background.failure(); !status.ok()) …
//   Status status = background.finish();                                    // waits for all
//
// Behind a failure nothing is done any more. Destroyed, it drops what has not begun, and waits for
// what has. `done` is called by the thread after each piece of work. Thread: that of the task, but
// for `done`.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include <hummer/status.hpp>

namespace hummer::kafka {

class Background {
 public:
  using Work = std::function<Status()>;

  explicit Background(std::function<void()> done);

  void post(Work work);
  // Whether there is something that is not done.
  bool is_busy() const;
  Status failure() const;
  Status finish();

 private:
  void run(const std::stop_token& stop);

  const std::function<void()> done_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Work> works_;  // the first is under way
  Status failure_;
  std::jthread thread_;  // the last, so that it ends before what it uses
};

}  // namespace hummer::kafka
