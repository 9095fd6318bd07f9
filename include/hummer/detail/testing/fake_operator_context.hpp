// FakeOperatorContext: the surroundings of an operator under test.
//
// Its clock stands still until somebody moves it; wake() is only counted. Unless
// it was given a platform there is none below it: an operator that asks for one aborts the test.
//
// Thread: one.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <hummer/detail/connector_context.hpp>
#include <hummer/detail/user_metrics.hpp>
#include <hummer/source_splits.hpp>

namespace hummer {

class FakeOperatorContext : public ConnectorContext {
 public:
  struct Place {
    std::string name = "operator under test";
    int subtask = 0;
    int parallelism = 1;
    bool bounded = true;
    int key_groups = default_key_groups;
    // Where state goes that has no room in memory; null: nowhere.
    Platform* platform = nullptr;
    std::size_t memory_limit_bytes = 0;
  };

  FakeOperatorContext() : FakeOperatorContext(Place()) {}
  explicit FakeOperatorContext(const Place& place)
      : ConnectorContext({
            .name = place.name,
            .subtask = place.subtask,
            .parallelism = place.parallelism,
            .key_groups = place.key_groups,
            .bounded = place.bounded,
            .memory = MemoryAccount::make_root("the test", place.memory_limit_bytes)
                          ->make_child(place.name),
            .spill_directory = "/spill",
        }),
        platform_(place.platform) {}

  std::int64_t now() const override { return now_; }
  void call_at(std::int64_t when) override { timer_ = when; }
  void wake() override { wakes_.fetch_add(1, std::memory_order_acq_rel); }
  Platform& platform() override {
    return platform_ != nullptr ? *platform_ : *static_cast<Platform*>(missing("platform"));
  }
  Executor& executor() override { return *static_cast<Executor*>(missing("executor")); }
  WakeEvent& wake_event() override { return *static_cast<WakeEvent*>(missing("wake event")); }

  void set_now(std::int64_t nanoseconds) { now_ = nanoseconds; }
  void advance(std::int64_t nanoseconds) { now_ += nanoseconds; }
  const std::optional<std::int64_t>& timer() const { return timer_; }
  void set_timer(std::optional<std::int64_t> when) { timer_ = when; }
  // The timer asked for has come; it is forgotten.
  bool take_due_timer() {
    if (!timer_ || *timer_ > now_) return false;
    timer_.reset();
    return true;
  }
  int wakes() const { return wakes_.load(std::memory_order_acquire); }
  // Of the barrier that a flush is for; whether there is earlier state.
  void set_epoch(std::uint64_t epoch) { place_.epoch = epoch; }
  void set_restored(bool restored) { place_.restored = restored; }
  void set_delta_follows(bool follows) { place_.delta_follows = follows; }
  // Before a snapshot; and whether it was a delta, after.
  void set_may_write_delta(bool may) {
    place_.may_write_delta = may;
    report_.wrote_delta = false;
  }
  bool has_written_delta() const { return report_.wrote_delta; }
  // Which stretches of what the last call has written are of certain key groups.
  std::vector<KeyGroupBlock> take_blocks() { return std::exchange(report_.key_group_blocks, {}); }
  // What the operator has said.
  const Status& failure() const { return report_.failure; }
  std::uint64_t late_records() const { return report_.late_records; }
  // How often the operator has asked for the rest of its snapshot.
  int hurries() const { return hurries_; }
  void hurry_snapshot() override { ++hurries_; }
  // Of a source with splits, or of what stands behind one: those of a new attempt.
  SourceSplits& begin_splits() {
    own_splits_ = std::make_unique<SourceSplits>(subtask(), parallelism());
    place_.splits = own_splits_.get();
    return *own_splits_;
  }
  // What the operator's functions count within a MetricsScope of it.
  detail::UserMetrics& user_metrics() const { return *user_metrics_; }
  void set_snapshot_step_bytes(std::size_t bytes) { place_.snapshot_step_bytes = bytes; }

 private:
  [[noreturn]] static void* missing(const char* what) {
    std::fprintf(stderr, "hummer: FakeOperatorContext has no %s\n", what);
    std::abort();
  }

  Platform* platform_;
  std::unique_ptr<SourceSplits> own_splits_;
  std::shared_ptr<detail::UserMetrics> user_metrics_ = std::make_shared<detail::UserMetrics>();
  std::int64_t now_ = 1'000'000'000;
  std::optional<std::int64_t> timer_;
  std::atomic<int> wakes_{0};
  int hurries_ = 0;
};

}  // namespace hummer
