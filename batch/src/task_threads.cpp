#include "task_threads.hpp"

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "platform/task.hpp"

namespace hummer::batch {
namespace {

Task<void> run_thread(Platform& platform, const std::function<void(std::size_t)>& work,
                      std::size_t thread, std::atomic<std::size_t>& running) {
  work(thread);
  running.fetch_sub(1, std::memory_order_acq_rel);
  platform.notify_main();
  co_return;
}

}  // namespace

void run_on_threads(Platform& platform, std::size_t threads,
                    const std::function<void(std::size_t thread)>& work,
                    const std::function<void()>& look, Nanoseconds interval) {
  std::atomic<std::size_t> running{threads};
  std::vector<std::unique_ptr<Executor>> executors;
  for (std::size_t thread = 0; thread < threads; ++thread) {
    executors.push_back(platform.make_executor({.name = "batch-" + std::to_string(thread)}));
    executors.back()->spawn(run_thread(platform, work, thread, running));
  }
  const auto all_done = [&] {
    look();
    return running.load(std::memory_order_acquire) == 0;
  };
  while (!all_done()) static_cast<void>(platform.run_until(all_done, platform.now() + interval));
  for (const auto& executor : executors) executor->stop();
}

}  // namespace hummer::batch
