#include "discovery.hpp"

#include <chrono>
#include <utility>

namespace hummer::kafka {
namespace {

// What the end of a job may have to wait for.
constexpr int discovery_timeout_ms = 5'000;

}  // namespace

Discovery::Discovery(const Client& client, const SourceSettings& settings,
                     const std::vector<TopicPartition>& known, std::function<void()> wake)
    : client_(client),
      settings_(settings),
      wake_(std::move(wake)),
      known_(known.begin(), known.end()),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

std::vector<TopicPartition> Discovery::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(found_, {});
}

void Discovery::run(const std::stop_token& stop) {
  const std::chrono::milliseconds interval(settings_.discovery_interval_ms);
  std::unique_lock lock(mutex_);
  while (!stopping_.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
    lock.unlock();
    const Result<std::vector<TopicPartition>> all =
        find_partitions(client_, settings_, discovery_timeout_ms);
    std::vector<TopicPartition> fresh;
    if (all.ok()) {
      for (const TopicPartition& partition : *all) {
        if (known_.insert(partition).second) fresh.push_back(partition);
      }
    }
    lock.lock();
    found_.insert(found_.end(), fresh.begin(), fresh.end());
    if (!fresh.empty()) wake_();
    if (stop.stop_requested()) return;
  }
}

}  // namespace hummer::kafka
