// What the files of ChainDriver share: the context of an operator, and the guarded call.
#pragma once

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include <hummer/detail/connector_context.hpp>

#include "platform/executor.hpp"
#include "platform/platform.hpp"
#include "platform/wake_event.hpp"
#include "runtime/chain_driver.hpp"

namespace hummer {

class ChainDriver::Context final : public ConnectorContext {
 public:
  Context(ChainDriver& driver, const StageOptions& options)
      : ConnectorContext({
            .name = options.name,
            .uid = options.uid,
            .subtask = options.subtask,
            .parallelism = options.parallelism,
            .key_groups = options.key_groups,
            .run = options.run,
            .attempt = options.attempt,
            .bounded = options.bounded,
            .checks_views = options.checks_views,
            .leaves_memory = options.leaves_memory,
            .epoch = options.restored_epoch,
            .superseded_epoch = options.superseded_epoch,
            .snapshot_step_bytes = std::max<std::size_t>(options.snapshot_step_bytes, 1),
            .memory = options.memory,
            .spill_directory = options.spill_directory,
        }),
        driver_(driver),
        slot_objects_(options.slot_objects) {}

  std::int64_t now() const override { return driver_.now_; }
  std::int64_t input_now() const override { return driver_.now_ - driver_.input_held_ns_; }
  void call_at(std::int64_t when) override {
    timer_at_ = when;
    driver_.rearm_timers();
  }
  void wake() override {
    // A source is asked anyway.
    if (of_source_) {
      driver_.source_woke_.store(true, std::memory_order_relaxed);
    } else {
      driver_.woken_.store(true, std::memory_order_release);
    }
    driver_.wake_event_.notify();
  }
  Timestamp wall_time_ms() const override {
    return (driver_.now_ + driver_.wall_origin_ns_) / 1'000'000;
  }
  std::shared_ptr<void> slot_local(const std::string& name,
                                   const std::function<std::shared_ptr<void>()>& make) override {
    if (slot_objects_ == nullptr) return make();
    std::shared_ptr<void>& object = (*slot_objects_)[name];
    if (!object) object = make();
    return object;
  }
  std::uint64_t line_at(const std::string& path, std::uint64_t offset) override {
    return driver_.line_at(path, offset);
  }
  void hurry_snapshot() override { driver_.snapshot_hurries_ = true; }
  Platform& platform() override { return driver_.platform_; }
  Executor& executor() override { return *driver_.executor_; }
  WakeEvent& wake_event() override { return driver_.wake_event_; }

  void set_epoch(std::uint64_t epoch) { place_.epoch = epoch; }
  void set_restored() { place_.restored = true; }
  void set_delta_follows(bool follows) { place_.delta_follows = follows; }
  void set_restored_keys(RestoredKeys* keys) { place_.restored_keys = keys; }
  void set_splits(SourceSplits* splits) { place_.splits = splits; }
  void begin_snapshot(bool may_be_delta) {
    place_.may_write_delta = may_be_delta;
    report_.wrote_delta = false;
    report_.key_group_blocks.clear();
  }
  std::vector<KeyGroupBlock> take_blocks() { return std::exchange(report_.key_group_blocks, {}); }
  const OperatorReport& report() const { return report_; }
  std::uint64_t take_further_records() { return std::exchange(report_.further_records, 0); }

  std::int64_t timer_at_ = never;
  bool of_source_ = false;

 private:
  ChainDriver& driver_;
  SlotObjects* slot_objects_;
};

// Runs a call of the operator, whose functions count in its metrics meanwhile, turning what its
// user code throws into a failure, or, where the stage goes on then, into what comes behind the
// record. The one gate to operators, so also the fence of an attempt that is over.
template <typename Call>
OperatorResult ChainDriver::guarded(Stage& stage, Call&& call, bool may_skip) {
  if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) [[unlikely]]
    return fail({ErrorCode::cancelled, "cancelled"});
  metrics_.current_operator.store(
      static_cast<std::uint32_t>(stage.metrics - &metrics_.operators.front()),
      std::memory_order_relaxed);
  std::string thrown;
  detail::UserMetrics& user_metrics = *stage.metrics->user;
  const detail::MetricsScope scope(&user_metrics);
  try {
    const OperatorResult answer = call();
    if (user_metrics.refused()) [[unlikely]]
      return fail({ErrorCode::invalid_argument,
                   "operator '" + stage.context->name() + "': " + user_metrics.refusal()});
    if (answer != OperatorResult::failed) [[likely]]
      return answer;
    const Status& status = stage.context->report().failure;
    return fail(status.ok()
                    ? Status(ErrorCode::operator_failed,
                             "operator '" + stage.context->name() + "' failed without a reason")
                    : status);
  } catch (const std::exception& error) {
    thrown = error.what();
  } catch (...) {
    thrown = "an exception that is no std::exception";
  }
  if (may_skip && skip_failed(stage, thrown)) {
    return stage.input.batch.finished() ? OperatorResult::done : OperatorResult::more;
  }
  return fail({ErrorCode::user_function_failed,
               "function of operator '" + stage.context->name() + "' (subtask " +
                   std::to_string(stage.context->subtask()) + ") failed at " + position_of(stage) +
                   ": " + thrown});
}

}  // namespace hummer
