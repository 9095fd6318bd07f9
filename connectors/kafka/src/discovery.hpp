// Discovery: a thread that looks for partitions that are new, since the question waits for its
// answer.
//
// Thread: take() that of the task; `wake` is called from its own. One that can't ask, since the
// brokers are away, asks again an interval later.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <stop_token>
#include <thread>
#include <vector>

#include "topics.hpp"

namespace hummer::kafka {

class Discovery {
 public:
  // `client` outlives it; `known` are not told of.
  Discovery(const Client& client, const SourceSettings& settings,
            const std::vector<TopicPartition>& known, std::function<void()> wake);

  // Those that are new since the last call.
  std::vector<TopicPartition> take();

 private:
  void run(const std::stop_token& stop);

  const Client& client_;
  const SourceSettings settings_;
  const std::function<void()> wake_;
  std::set<TopicPartition> known_;  // of the thread
  std::mutex mutex_;
  std::condition_variable_any stopping_;
  std::vector<TopicPartition> found_;
  std::jthread thread_;  // the last, so that it ends before what it uses
};

}  // namespace hummer::kafka
