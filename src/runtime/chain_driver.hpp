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
// Snapshots: at a barrier every stage writes the first part of its piece; where one has more to
// write, the rest follows in steps (step_snapshot) while records go on. Whether a stage may write a
// delta is decided here: its last snapshot is part of the newest complete checkpoint, the deltas
// are few, and smaller than what they build on.
//
// A barrier that unaligned (overtake, below) does not wait for any of that: it finds every stage
// wherever it has come to, lets the operators come to where they can be saved, with their output
// deferred, and saves what waits between them. A stage works off what was deferred before it
// takes more from the one ahead of it; so it happens at most once per barrier and is bounded by
// what the batches in hand expand to. An earlier barrier that it finds in the chain ends there.
//
// Lifecycle: add_stage*, set_emitters*, open, then (offer | produce | fire_timers,
// run)*, close. Owned by the StreamTask. Thread: that of the task.
#pragma once

#include <algorithm>
#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/detail/chooses_input.hpp>
#include <hummer/detail/looks_ahead.hpp>
#include <hummer/failure_policy.hpp>
#include <hummer/operator.hpp>

#include "platform/time.hpp"
#include "runtime/barrier_relay.hpp"
#include "runtime/emitter.hpp"
#include "runtime/in_flight.hpp"
#include "runtime/snapshot_buffers.hpp"
#include "runtime/snapshot_piece.hpp"
#include "runtime/task_metrics.hpp"

namespace hummer {

class Executor;
class Platform;
class WakeEvent;

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
  bool checks_views = false;
  bool leaves_memory = false;
  std::uint64_t restored_epoch = 0;
  std::uint64_t superseded_epoch = 0;  // see OperatorContext
  std::uint32_t batch_records = default_batch_records;
  std::size_t snapshot_step_bytes = default_snapshot_step_bytes;
  // On their way to the disk, where nobody counts them.
  std::size_t snapshot_most_bytes = SnapshotBuffers::default_most_bytes;
  SlotObjects* slot_objects = nullptr;              // outlives the chain
  std::shared_ptr<MemoryAccount> memory = nullptr;  // of the stage; null: nobody counts
  std::string spill_directory = {};
  std::shared_ptr<const FailurePolicy> failures = nullptr;
  // Where the operator was made; null: the chain makes them.
  std::shared_ptr<detail::UserMetrics> user_metrics = nullptr;
};

class ChainDriver {
 public:
  ChainDriver(Platform& platform, WakeEvent& wake_event, TaskMetrics& metrics);
  ~ChainDriver();
  ChainDriver(const ChainDriver&) = delete;
  ChainDriver& operator=(const ChainDriver&) = delete;

  void add_stage(std::unique_ptr<Operator> op, const StageOptions& options);
  // Of output `port` of stage `stage`. Port 0 of a stage that has a successor has none. `target`:
  // where its records are saved for when a barrier unaligned them.
  void add_emitter(std::size_t stage, std::size_t port, std::unique_ptr<Emitter> emitter,
                   Destination target = {});
  const TypeDescriptor& output_type(std::size_t stage, std::size_t port) const;
  std::uint32_t batch_records() const { return stages_.front()->output.soft_limit(); }
  std::size_t stage_count() const { return stages_.size(); }

  // Before open: the stage has earlier state; its pieces follow. Where it `ended`, its end() is not
  // called again.
  void begin_restore(std::size_t stage, bool ended);
  // `in`: a piece from behind the byte that says its kind. One that holds state of which the
  // operator reads nothing is refused, unless `allow_dropped`. `keys`: null: not known.
  Status restore(std::size_t stage, ByteReader& in, bool delta_follows, bool allow_dropped,
                 RestoredKeys* keys = nullptr);
  const std::string& uid(std::size_t stage) const { return stages_[stage]->uid; }
  // See Operator.
  bool takes_all_pieces(std::size_t stage) const { return stages_[stage]->op->takes_all_pieces(); }
  // Called when a barrier has left the last stage, with what every stage wrote, and with the parts
  // that follow.
  void set_on_snapshot(std::function<void(TaskSnapshot)> function) {
    on_snapshot_ = std::move(function);
  }
  // The newest checkpoint that is complete everywhere; known before a barrier comes.
  void set_last_complete(std::uint64_t epoch) { last_complete_ = epoch; }
  // Some stages have not written all of their pieces.
  bool snapshot_under_way() const { return !rests_.empty(); }
  // Of the snapshot under way, or the last one.
  std::uint64_t snapshot_epoch() const { return snapshot_epoch_; }
  // An operator waits for its snapshot: see ConnectorContext::hurry_snapshot.
  bool snapshot_hurries() const { return snapshot_hurries_; }
  // REQUIRES: snapshot_under_way(). Writes a little more, between any two calls. Not blocked. While
  // it lasts, the end of the stream waits: run() is blocked.
  OperatorResult step_snapshot();

  // Before open: records that an earlier run had in flight to input `input` of this stage. They
  // come before everything else, in the order of these calls.
  void restore_in_flight(std::size_t stage, int input, Batch batch);

  // Before open. Once it is true no operator is called but to be closed: the chain fails as
  // cancelled. So a user function that returns late hands nothing on.
  void end_once(const std::atomic<bool>& cancelled) { cancelled_ = &cancelled; }

  Status open(Executor& executor);

  // REQUIRES: idle(). Takes the element (its batch is swapped with a used one), which came by
  // this input of the head.
  void offer(Element& element, int input = 0);
  // The operator at the head, where it chooses its input; else null.
  ChoosesInput* chooser() const { return chooser_; }
  // How much the operator at the head would look ahead at.
  LooksAhead::Reach reach() const {
    return looks_ahead_ == nullptr ? LooksAhead::Reach() : looks_ahead_->reach();
  }
  // Shows it what will be offered. REQUIRES: idle(), reach() is not none.
  OperatorResult look_ahead(std::span<const LooksAhead::Waiting> waiting);
  // A source chain: asks the source for its next element. done: the stream has ended
  // and Control::end is on its way. Then run().
  OperatorResult produce();
  bool has_source() const { return source_ != nullptr; }
  // After produce() has answered blocked: nobody has promised to say when the source can go on.
  bool source_needs_retry() const;
  BarrierRelay* relay() const { return relay_; }  // null: the head is none
  int subtask() const;
  // Makes a source end early: produce() is not asked again.
  void end_source();

  // REQUIRES: idle(), no snapshot_under_way(). The state of all stages as it is, behind the end of
  // the stream, as at a barrier of epoch 0: parts may follow.
  Status begin_last_snapshot();
  // Between two calls of run(), whether idle or blocked. See Operator::commit.
  Status commit(std::uint64_t epoch);

  // Between two calls of run(): the state of all stages at a barrier that unaligned what is in the
  // chain, which goes to `in_flight`; announces the barrier on all emitters. blocked: an operator
  // waits in the middle of a control or of its flush; nothing was announced, ask again later.
  OperatorResult take_unaligned_barrier(std::uint64_t epoch, std::vector<SnapshotPiece>& pieces,
                                        InFlight& in_flight);
  // The same for the one stage of a sender or receiver task, which has no state: appends what is in
  // it as runs.
  void collect_all(std::string& runs) const;
  // Tells all emitters. `in_flight` as in Emitter::send_out_of_band.
  void send_out_of_band(std::uint64_t epoch, std::string in_flight);

  // Works until nothing is in flight (done), or blocked, or failed. more: an operator puts out much
  // for one element, and now it is others' turn.
  OperatorResult run();
  bool idle() const { return current_ < 0; }
  // Where parts of snapshots come from; everyone who keeps one shares it.
  const std::shared_ptr<SnapshotBuffers>& snapshot_buffers() const { return buffers_; }

  // REQUIRES: idle(). Starts the call of one operator whose time has come; false: none.
  bool fire_timer(Nanoseconds now);
  Nanoseconds next_timer() const { return next_timer_; }
  // `now` for the operators of this round; theirs never goes back, as the loop's last reading may
  // be older than that of open().
  void set_now(Nanoseconds now) { now_ = std::max(now_, now); }
  // For so long the task has taken no input although there may have been some.
  void count_input_held(Nanoseconds duration) { input_held_ns_ += duration; }

  // After run() answered blocked: by an emitter (its channel will notify), or by an
  // operator, which may or may not wake the task.
  bool blocked_by_operator() const { return blocked_by_operator_; }
  std::string describe_block() const;
  // An operator other than the source has asked for a call, by OperatorContext::wake(), since the
  // last time; or the source has said something of its splits. Any thread.
  bool woken() const { return woken_.load(std::memory_order_acquire); }
  // The source has called OperatorContext::wake() at some time: it knows when it has something.
  bool source_has_woken() const { return source_woke_.load(std::memory_order_relaxed); }
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
    std::vector<Destination> targets;  // of the emitters
    Element pending;
    Element copy;
    std::size_t next = 0;
    bool loaded = false;
    std::deque<Element> deferred;  // behind `pending`

    OperatorResult push();
    bool load_deferred();
  };

  // An element that was deferred ahead of a stage.
  struct Waiting {
    Element element;
    int input = 0;
  };

  struct Stage {
    std::string uid;
    std::unique_ptr<Operator> op;
    std::unique_ptr<Context> context;
    OperatorMetrics* metrics = nullptr;
    Output output;
    std::vector<Exit> exits;  // by port; [0] unused where a stage follows
    Element input;
    std::deque<Waiting> deferred;  // behind `input`
    bool input_was_deferred = false;
    bool input_taken = false;  // all of it; it stays until the stages behind are done with it
    std::size_t first = 0;     // of `input`, which the last call of process began with
    bool processed = false;    // its output is of that call
    std::shared_ptr<const FailurePolicy> failures;
    Phase phase = Phase::empty;
    Phase resume = Phase::empty;  // where to go on after hand_over; empty: finished
    std::size_t port = 0;         // hand_over: next port
    Control forwarded;            // goes with the output being handed over
    bool output_has_views = false;
    bool keeps_splits = false;
    bool opened = false;
    bool has_ended = false;  // its end() was called, here or in an earlier run

    // What its snapshots were.
    std::uint64_t last_snapshot = 0;  // its epoch, where the next may build on it
    std::uint64_t whole_bytes = 0;    // of the last whole one
    std::uint64_t delta_bytes = 0;    // of the deltas on it
    int deltas = 0;
    SnapshotPiece part;  // written, and not handed on

    // Whether `input` holds records that the operator has not taken.
    bool processes() const {
      return phase == Phase::process || (phase == Phase::hand_over && resume == Phase::process);
    }
  };

  void look_at_clocks(Nanoseconds now);
  OperatorResult step(Stage& stage);
  OperatorResult step_process(Stage& stage);
  OperatorResult call_process(Stage& stage);
  OperatorResult step_control(Stage& stage);
  OperatorResult flush_before_end(Stage& stage);
  void begin_hand_over(Stage& stage);
  OperatorResult step_hand_over(Stage& stage);
  OperatorResult push(const Stage& stage, Exit& exit);
  OperatorResult call_control(Stage& stage);
  template <typename Call>
  OperatorResult guarded(Stage& stage, Call&& call, bool may_skip = false);
  OperatorResult snapshot(Stage& stage, bool may_be_delta);
  void abandon_snapshot();
  std::vector<SnapshotPiece> take_complete_pieces(std::uint64_t epoch);
  void take_deferred(Stage& stage);
  OperatorResult bring_between_elements(std::size_t index);
  OperatorResult flush_deferred(std::size_t index, std::uint64_t epoch);
  void defer(std::size_t index, std::size_t first_port);
  void collect(std::size_t index, InFlight& in_flight) const;
  template <typename Take>
  static void each_unsent(const Exit& exit, std::size_t emitter, Take&& take);
  OperatorResult fail(Status status);
  void finish_input(Stage& stage);
  static void let_go_of_input(Stage& stage);
  void rearm_timers();
  // What has failed, for messages: chain_failures.cpp.
  std::string position_of(const Stage& stage) const;
  std::string describe_input(std::size_t index, std::size_t record) const;
  std::string describe_source(std::size_t record) const;
  void note_split(const Batch& out);
  bool skip_failed(Stage& stage, const std::string& reason);
  std::uint64_t line_at(const std::string& path, std::uint64_t offset);

  Platform& platform_;
  WakeEvent& wake_event_;
  TaskMetrics& metrics_;
  Executor* executor_ = nullptr;
  const std::atomic<bool>* cancelled_ = nullptr;  // null: never
  std::vector<std::unique_ptr<Stage>> stages_;
  SourceOperator* source_ = nullptr;
  std::unique_ptr<SourceSplits> splits_;                // of the source; null: it has none
  std::map<SplitNumber, std::uint64_t> split_records_;  // that it has handed out of each
  SplitNumber handed_split_ = no_split;                 // of its last batch
  std::uint64_t handed_before_ = 0;                     // records of that split ahead of it
  // The last line that was asked for.
  struct KnownLine {
    std::string path;
    std::uint64_t offset = 0;
    std::uint64_t line = 0;
  } known_line_;
  BarrierRelay* relay_ = nullptr;
  LooksAhead* looks_ahead_ = nullptr;  // the head; null: it does not
  ChoosesInput* chooser_ = nullptr;    // likewise
  bool source_ended_ = false;
  int current_ = -1;
  Nanoseconds now_ = 0;
  Nanoseconds input_held_ns_ = 0;
  Nanoseconds wall_origin_ns_ = 0;  // of 1970, in terms of now_
  Nanoseconds next_timer_ = never;
  bool blocked_by_operator_ = false;
  int more_answers_ = 0;  // of operators, in this call of run()
  const std::shared_ptr<SnapshotBuffers> buffers_ = std::make_shared<SnapshotBuffers>();
  std::deque<Stage*> rests_;  // that have more to write, of snapshot_epoch_
  std::uint64_t snapshot_epoch_ = 0;
  bool snapshot_hurries_ = false;
  bool flushed_before_end_ = false;
  std::uint64_t last_complete_ = 0;
  std::function<void(TaskSnapshot)> on_snapshot_;
  int head_input_ = 0;  // where the head's batch came from
  std::atomic<bool> woken_{false};
  std::atomic<bool> source_woke_{false};
  Status failure_;
};

}  // namespace hummer
