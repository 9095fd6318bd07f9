// ChainDriver: runs the operators of one fused chain over one element at a time.
//
// The operators never wait; this object keeps, for each of them, the element it
// is working on and how far it has come, so that the whole chain can stop at any
// step (an emitter without credit, an operator that is blocked) and go on there.
// One loop over the stages holds all control flow (see Jet's ProcessorTasklet).
//
// A stage works off its element in phases:
//
//   process   the batch, until the operator answers done
//   control   the watermark, idle, barrier or end behind it, until done
//   hand over side outputs to their emitters, the main output to the next stage
//             (or the chain's emitters), then back to the phase it came from
//
// Output of the control phase joins what the batch left, so a batch with its
// watermark stays one element all the way down. Batches swap from stage to stage.
//
// Lifecycle: add_stage*, set_emitters*, open, then (offer | produce | fire_timers,
// run)*, close. Owned by the StreamTask. Thread: that of the task.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/operator.hpp>

#include "platform/time.hpp"
#include "runtime/emitter.hpp"
#include "runtime/task_figures.hpp"

namespace hummer {

// What one operator wrote at the end of an epoch, or behind the end of its stream.
struct SnapshotPiece {
  std::string uid;
  std::string bytes;  // encode_states(its states), then what its snapshot() wrote
  bool ended = false;
};

// See OperatorContext::slot_local. Thread: that of the slot.
using SlotObjects = std::map<std::string, std::shared_ptr<void>>;

struct StageOptions {
  std::string name;
  std::string uid = {};  // names its state
  int subtask = 0;
  int parallelism = 1;
  int key_groups = default_key_groups;
  std::uint64_t run = 0;
  std::uint32_t attempt = 0;
  bool bounded = true;
  std::uint32_t batch_records = default_batch_records;
  SlotObjects* slot_objects = nullptr;  // outlives the chain
};

class ChainDriver {
 public:
  ChainDriver(Platform& platform, WakeEvent& wake_event, TaskFigures& figures);
  ~ChainDriver();
  ChainDriver(const ChainDriver&) = delete;
  ChainDriver& operator=(const ChainDriver&) = delete;

  void add_stage(std::unique_ptr<Operator> op, const StageOptions& options);
  // Of output `port` of stage `stage`. Port 0 of a stage that has a successor has none.
  void add_emitter(std::size_t stage, std::size_t port, std::unique_ptr<Emitter> emitter);
  const TypeDescriptor& output_type(std::size_t stage, std::size_t port) const;
  std::size_t stage_count() const { return stages_.size(); }

  // Before open: the stage has earlier state, and these are its pieces. Where all were written
  // behind the end of the stream, its end() is not called again.
  Status restore(std::size_t stage, std::span<const SnapshotPiece* const> pieces);
  const std::string& uid(std::size_t stage) const { return stages_[stage]->uid; }
  // Called when a barrier has left the last stage, with what every stage wrote.
  void set_on_snapshot(std::function<void(std::uint64_t, std::vector<SnapshotPiece>)> function) {
    on_snapshot_ = std::move(function);
  }

  Status open(Executor& executor);

  // REQUIRES: idle(). Takes the element (its batch is swapped with a used one), which came by
  // this input of the head.
  void offer(Element& element, int input = 0);
  // A source chain: asks the source for its next element. done: the stream has ended
  // and Control::end is on its way. Then run().
  Answer produce();
  bool has_source() const { return source_ != nullptr; }
  // Makes a source end early: produce() is not asked again.
  void end_source();

  // REQUIRES: idle(). The state of all stages as it is, behind the end of the stream.
  Result<std::vector<SnapshotPiece>> snapshot_now();
  // REQUIRES: idle(). See Operator::commit.
  Status commit(std::uint64_t epoch);

  // Works until nothing is in flight (done), or blocked, or failed.
  Answer run();
  bool idle() const { return current_ < 0; }

  // REQUIRES: idle(). Starts the call of one operator whose time has come; false: none.
  bool fire_timer(Nanoseconds now);
  Nanoseconds next_timer() const { return next_timer_; }
  // `now` for the operators of this round.
  void set_now(Nanoseconds now) { now_ = now; }

  // After run() answered blocked: by an emitter (its channel will notify), or by an
  // operator, which may or may not wake the task.
  bool blocked_by_operator() const { return blocked_by_operator_; }
  std::string describe_block() const;
  // An operator other than the source has asked for a call, by OperatorContext::wake(), since the
  // last time. Any thread.
  bool woken() const { return woken_.load(std::memory_order_acquire); }
  bool take_woken() { return woken_.exchange(false, std::memory_order_acq_rel); }

  const Status& failure() const { return failure_; }
  // Closes every opened operator, first failure wins.
  Status close();
  void abandon_emitters();

 private:
  class Context;
  enum class Phase : std::uint8_t { empty, process, control, timer, hand_over };

  // The emitters of one port, all of which get every element.
  struct Exit {
    std::vector<std::unique_ptr<Emitter>> emitters;
    Element pending;
    Element copy;
    std::size_t next = 0;
    bool loaded = false;

    Answer push();
  };

  struct Stage {
    std::string uid;
    std::unique_ptr<Operator> op;
    std::unique_ptr<Context> context;
    OperatorFigures* figures = nullptr;
    Output output;
    std::vector<Exit> exits;  // by port; [0] unused where a stage follows
    Element input;
    Phase phase = Phase::empty;
    Phase resume = Phase::empty;  // where to go on after hand_over; empty: finished
    std::size_t port = 0;         // hand_over: next port
    Control forwarded;            // goes with the output being handed over
    bool output_has_views = false;
    bool opened = false;
    bool has_ended = false;  // in an earlier run
  };

  Answer step(Stage& stage);
  Answer step_process(Stage& stage);
  Answer step_control(Stage& stage);
  Answer step_hand_over(Stage& stage);
  Answer push(const Stage& stage, Exit& exit);
  Answer call_control(Stage& stage);
  template <typename Call>
  Answer guarded(Stage& stage, Call&& call);
  Answer snapshot(Stage& stage);
  Answer fail(Status status);
  void finish_input(Stage& stage);
  void rearm_timers();
  std::string position_of(Stage& stage) const;

  Platform& platform_;
  WakeEvent& wake_event_;
  TaskFigures& figures_;
  Executor* executor_ = nullptr;
  std::vector<std::unique_ptr<Stage>> stages_;
  SourceOperator* source_ = nullptr;
  bool source_ended_ = false;
  int current_ = -1;
  Nanoseconds now_ = 0;
  Nanoseconds wall_origin_ns_ = 0;  // of 1970, in terms of now_
  Nanoseconds next_timer_ = never;
  bool blocked_by_operator_ = false;
  std::vector<SnapshotPiece> pieces_;  // of the barrier on its way down the chain
  std::function<void(std::uint64_t, std::vector<SnapshotPiece>)> on_snapshot_;
  int head_input_ = 0;  // where the head's batch came from
  std::atomic<bool> woken_{false};
  Status failure_;
};

}  // namespace hummer
