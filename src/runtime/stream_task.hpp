// StreamTask: one subtask of one vertex, as a coroutine on its slot's executor.
//
// It takes elements from its input channels (or from the source at the head of
// its chain), merges their watermarks, and drives the chain; when there is
// nothing to do it waits on its WakeEvent, which its channels, timers and
// connectors notify. A chain that is blocked on output suspends this coroutine,
// never the slot.
//
// Lifecycle: made and wired by the deployer (control/task_executor.hpp) before
// any task of the job runs; `invoke` is spawned once on the slot's executor and
// ends by itself: finished, cancelled or failed. Then `result()` is set and
// `on_finished` was called. Destroyed after its executor has stopped or after
// all tasks of the job have ended.
//
//   cancel()  end now: no more output, channels are abandoned. A user function is
//             never interrupted; the task ends when it returns.
//   stop()    sources end their stream here; what is under way is finished.
//
// Thread: invoke on the slot's; cancel, stop and figures from any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"
#include "runtime/chain_driver.hpp"
#include "runtime/ring_channel.hpp"
#include "runtime/watermark_merger.hpp"

namespace hummer {

class StreamTask {
 public:
  StreamTask(Platform& platform, std::string name, std::string slot);
  ~StreamTask();
  StreamTask(const StreamTask&) = delete;
  StreamTask& operator=(const StreamTask&) = delete;

  ChainDriver& chain() { return *chain_; }
  WakeEvent& wake_event() { return wake_event_; }
  // Takes part in ownership of nothing: channels belong to the deployment.
  void add_input(RingChannel* channel) { inputs_.push_back({channel, false}); }

  // Called on the slot's thread when the task has ended.
  void set_on_finished(std::function<void(StreamTask&)> on_finished) {
    on_finished_ = std::move(on_finished);
  }

  Task<void> invoke();
  void cancel();
  void stop();

  // Failure, E3001 when cancelled, or ok. REQUIRES: state finished.
  const Status& result() const { return result_; }
  const TaskFigures& figures() const { return figures_; }
  TaskFigures& figures() { return figures_; }
  // "blocked at → count[1]": for the watch. Any thread; may be out of date.
  std::string describe_state() const;
  // Closes the operators; called once after all tasks of the job have ended, so that
  // what operators own (mappings) outlives the records that point into it.
  Status close();

 private:
  struct Input {
    RingChannel* channel;
    bool ended;
  };
  enum class Next { element, nothing, ended, failed };

  Task<void> run();
  Next take_input();
  bool take_element(std::size_t index, Element& element);
  void finish(Status status);

  Platform& platform_;
  WakeEvent wake_event_;
  TaskFigures figures_;
  std::unique_ptr<ChainDriver> chain_;
  std::vector<Input> inputs_;
  std::unique_ptr<WatermarkMerger> merger_;
  std::size_t next_input_ = 0;
  Element element_;
  bool idle_announced_ = true;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> stopping_{false};
  std::function<void(StreamTask&)> on_finished_;
  Status result_;
};

}  // namespace hummer
