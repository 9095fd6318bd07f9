#include "platform/simulated_executor.hpp"

#include <algorithm>
#include <utility>

namespace hummer {
namespace {

// Names the executor whose code runs, for as long as it lives.
class Entered {
 public:
  Entered(SimulatedExecutor*& current, SimulatedExecutor* entered)
      : current_(current), before_(std::exchange(current, entered)) {}
  ~Entered() { current_ = before_; }

 private:
  SimulatedExecutor*& current_;
  SimulatedExecutor* before_;
};

}  // namespace

SimulatedExecutor::SimulatedExecutor(ExecutorOptions options, Simulation& simulation,
                                     SimulatedPlatform& node, std::uint64_t number)
    : Executor(std::move(options)), simulation_(simulation), node_(node), number_(number) {
  simulation_.executors_.push_back(this);
}

SimulatedExecutor::~SimulatedExecutor() { stop(); }

void SimulatedExecutor::stop() {
  if (stopped_) return;
  HUMMER_ASSERT(!is_current());
  stopped_ = true;
  std::erase(simulation_.executors_, this);
  Entered entered(simulation_.current_, this);
  drop_everything();
}

void SimulatedExecutor::run_one() {
  Entered entered(simulation_.current_, this);
  recent_now_ = simulation_.now();
  deliver_inbox();
  if (!ready_.empty()) resume_one();
}

void SimulatedExecutor::fire_due(Nanoseconds now) {
  if (!node_.alive() || paused()) return;
  Entered entered(simulation_.current_, this);
  recent_now_ = now;
  timers_.fire(now);
}

bool SimulatedExecutor::poll() {
  if (!node_.alive() || paused() || pollers_.empty()) return false;
  Entered entered(simulation_.current_, this);
  return call_pollers();
}

}  // namespace hummer
