// StreamTask: one subtask of one vertex, as a coroutine on its slot's executor.
//
// It takes elements from its input channels (or from the source at the head of
// its chain), merges their watermarks, and drives the chain; when there is
// nothing to do it waits on its WakeEvent, which its channels, timers and
// connectors notify. A chain that is blocked on output suspends this coroutine,
// never the slot.
//
// It is at one step at a time (enum Step); each is a function of the same name, which answers what
// comes next. The coroutine itself suspends at the steps give_way and sleep, and nowhere else.
//
//   begin → drive_chain → between_elements → next_element → take_input or ask_source → drive_chain
//   chain_blocked → wait_for_room or wait_for_operator → drive_chain
//   nothing_at_hand → wait_for_input → drive_chain
//   end_stream → last_snapshot → await_commits → ended
//
// Lifecycle: made and wired by the deployer (deployment.hpp) before
// any task of the job runs; `invoke` is spawned once on the slot's executor and
// ends by itself: finished, cancelled or failed. Then `result()` is set and
// `on_finished` was called. Destroyed after its executor has stopped or after
// all tasks of the job have ended.
//
//   cancel()  end now: no more output, channels are abandoned. A user function is
//             never interrupted; the task ends when it returns, and what it has
//             returned goes nowhere: no operator behind it is called, nothing is
//             committed or saved. Operators are closed only.
//   stop()    sources end their stream here; what is under way is finished.
//
// Where the operator at the head looks ahead (looks_ahead.hpp: its state lies on disk) the task
// gathers the elements that are at hand, shows them, and only then hands them on one by one; at the
// same pace it takes those that are shown next. It waits for more only for a part of the time that
// the last ones took. A barrier comes behind all that was taken before it.
//
// Snapshots (after enable_snapshots): a source task puts the barrier that trigger() asked for
// between two elements; other tasks pass a barrier on when it has come on every input that has not
// ended. Until then, for exactly_once, inputs on which it has come wait. When the barrier has left
// the chain the task reports what its operators wrote; the rest of large pieces is written in steps
// of less than a millisecond between elements, and reported as it comes, as long as not too much of
// it waits for the disk. While there are records the steps get a share of the task's time
// (snapshot_pace.hpp). At the end of its stream it reports once more, and stays, to commit, until
// finish_committed().
//
// Barriers that overtake (trigger with unaligned): a task takes its snapshot as soon as the barrier
// is announced on one input, also while its chain is blocked, and announces it on. Records that the
// barrier passes on their way to it (in its chain, in its channels, those that still come on the
// other inputs before the barrier is announced there) are saved with its state; it reports when
// that is all. A sender or receiver task has no state: what it holds goes on with the announcement.
//
// Thread: invoke on the slot's; cancel, stop, trigger, commit, pause_after, finish_committed and
// metrics from any.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <hummer/checkpointing.hpp>

#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/wake_event.hpp"
#include "runtime/chain_driver.hpp"
#include "runtime/gathered_input.hpp"
#include "runtime/ring_channel.hpp"
#include "runtime/snapshot_pace.hpp"
#include "runtime/watermark_merger.hpp"

namespace hummer {

class StreamTask {
 public:
  StreamTask(Platform& platform, std::string name, std::string slot);
  ~StreamTask();
  StreamTask(const StreamTask&) = delete;
  StreamTask& operator=(const StreamTask&) = delete;

  ChainDriver& chain() { return *chain_; }
  bool has_source() const { return chain_->has_source(); }
  WakeEvent& wake_event() { return wake_event_; }
  // Takes part in ownership of nothing: channels belong to the deployment. `head_input`: which
  // input of the operator at the head of the chain it feeds.
  void add_input(RingChannel* channel, int head_input = 0) {
    inputs_.push_back({.channel = channel, .head_input = head_input});
  }

  // Called on the slot's thread when the task has ended.
  void set_on_finished(std::function<void(StreamTask&)> on_finished) {
    on_finished_ = std::move(on_finished);
  }

  // Before invoke. `on_snapshot` is called on the slot's thread.
  void enable_snapshots(Guarantee guarantee,
                        std::function<void(StreamTask&, TaskSnapshot)> on_snapshot);

  Task<void> invoke();
  void cancel();
  void stop();
  // Before invoke: this is a sender or receiver task.
  void set_passes_barriers_on() { passes_on_ = true; }

  // Of a source task: puts the barrier of `epoch` behind what it has sent, or ahead of what has not
  // left its chain. `whole`: no snapshot of it may build on an earlier one.
  void trigger(std::uint64_t epoch, bool whole = false, bool unaligned = false);
  // The epoch's snapshots are complete everywhere: operators may commit.
  void commit(std::uint64_t epoch);
  // Of a source task: sends nothing behind the barrier of `epoch`, or of the one it has sent since;
  // 0: goes on.
  void pause_after(std::uint64_t epoch);
  // The newest epoch that its operators have committed.
  std::uint64_t committed() const { return committed_.load(std::memory_order_acquire); }
  // Before invoke: called on the slot's thread after each commit.
  void set_on_committed(std::function<void()> on_committed) {
    on_committed_ = std::move(on_committed);
  }
  // Nothing is left to commit: a task that has ended may finish.
  void finish_committed();
  // Its last snapshot was reported.
  bool ended() const { return ended_.load(std::memory_order_acquire); }

  // Failure, E3001 when cancelled, or ok. REQUIRES: state finished.
  const Status& result() const { return result_; }
  const TaskMetrics& metrics() const { return metrics_; }
  TaskMetrics& metrics() { return metrics_; }
  // "blocked at → count[1]": for the watch. Any thread; may be out of date.
  std::string describe_state() const;
  // Closes the operators; called once after all tasks of the job have ended, so that
  // what operators own (mappings) outlives the records that point into it.
  Status close();

 private:
  struct Input {
    RingChannel* channel;
    int head_input = 0;
    bool ended = false;
    bool barrier_came = false;
    bool recorded = true;  // what the barrier in hand has overtaken here is known
  };
  enum class Step : std::uint8_t {
    begin,              // opens the operators
    drive_chain,        // works off what is in the chain
    chain_blocked,      // does what can be done meanwhile
    wait_for_room,      // in a channel behind it
    wait_for_operator,  // which says nothing when it can go on
    between_elements,   // the chain is empty
    next_element,       // or the call of an operator whose time has come
    take_input,
    ask_source,
    pass_barrier,
    nothing_at_hand,  // lets waiting records out
    wait_for_input,
    end_stream,  // the end has left the chain
    last_snapshot,
    await_commits,
    give_way,  // to the other tasks of the slot
    sleep,
    ended,
  };

  enum class Polled : std::uint8_t {
    nothing,
    element,
    barrier,  // one that overtakes has been announced
    gone,     // a task upstream has ended early
  };

  Step begin();
  Step drive_chain();
  Step amid_element();
  Step chain_blocked();
  Step wait_for_room();
  Step wait_for_operator();
  Step between_elements();
  Step next_element();
  Step take_input();
  Step ask_source();
  Step pass_barrier();
  Step nothing_at_hand();
  Step wait_for_input();
  Step end_stream();
  Step last_snapshot();
  Step await_commits();
  // The ways from a step to the next.
  Step commit_then(Step next);
  Step give_way_then(Step next);
  Step sleep_until(Nanoseconds until, TaskState state, Step next = Step::drive_chain);
  void wake_up();
  Step stay_awake(Step next = Step::drive_chain);
  Step end(Status status);

  void offer(int head_input);
  Step feed(int head_input);
  // Input for an operator that looks ahead; stream_task_gather.cpp.
  bool gathers();
  Step gather(int head_input);
  Step wait_for_more();
  void begin_gathering();
  bool is_gathered() const;
  bool takes_meanwhile() const;
  Step hand_out();
  Step hand_on();
  Step show(std::span<const LooksAhead::Waiting> waiting);
  Step take_gathered();
  // stream_task_inputs.cpp
  std::size_t wanted_input() const;
  Polled poll_inputs(int& head_input);
  void take_spare_of(int head_input);
  bool take_element(std::size_t index, Element& element);
  void take_barrier(Input& input, const Control& barrier);
  void complete_alignment();
  // Writes a step of the snapshot under way, if there is one and room; false: there is not.
  bool step_snapshot();
  // The same where its pace allows it: while there is nothing else to do, and behind a turn.
  bool step_snapshot_meanwhile();
  void step_snapshot_in_turn();
  bool snapshot_step_is_due() const;
  void begin_pace();
  bool is_saturated(Nanoseconds now);
  bool has_room_for_step() const;
  Nanoseconds next_snapshot_step(Nanoseconds now) const;
  // Barriers that overtake; stream_task_barriers.cpp.
  bool barrier_waits();
  std::uint64_t newest_barrier() const;
  OperatorResult pass_barriers();
  OperatorResult pass_by(std::uint64_t epoch);
  void pass_on(std::uint64_t epoch);
  void pass_on_received();
  void record_inputs();
  void forget_recording();
  void append_waiting(const RingChannel& channel, std::uint64_t until, std::string& runs) const;
  bool is_cancelled() const { return cancelled_.load(std::memory_order_relaxed); }
  bool commit_due() const {
    return !is_cancelled() && commit_asked_.load(std::memory_order_acquire) > committed();
  }
  // Asks the source, unless it is paused; false: it has nothing.
  bool produce();
  bool input_at_hand() const;
  bool is_paused() const;
  bool holds_input() const;
  bool waits(const Input& input) const { return input.barrier_came && aligns_; }
  Nanoseconds latest_try();
  Nanoseconds latest_look();
  void finish();

  Platform& platform_;
  WakeEvent wake_event_;
  TaskMetrics metrics_;
  std::unique_ptr<ChainDriver> chain_;
  std::vector<Input> inputs_;
  std::unique_ptr<WatermarkMerger> merger_;
  std::size_t next_input_ = 0;
  int in_a_row_ = 0;  // elements of the input that was furthest behind
  Element element_;
  // Whose used batch is in element_, and whose in the chain: batches of different inputs of the
  // head differ in type.
  int element_input_ = 0;
  int chain_input_ = 0;
  std::vector<Batch> spares_;  // by head input
  GatheredInput gathered_;
  bool shows_ = false;                 // what was gathered, which is not handed out yet
  std::size_t calls_ = 0;              // that have brought what it needs
  std::size_t calls_before_ = 0;       // likewise, of what was shown before
  Nanoseconds gather_until_ = 0;       // it waits so long for more
  Nanoseconds handing_out_since_ = 0;  // what was gathered
  Nanoseconds handing_out_took_ = 0;   // the last time
  Executor* executor_ = nullptr;
  SnapshotPace pace_;
  std::uint64_t paced_epoch_ = UINT64_MAX;  // whose snapshot pace_ is for; at first none
  std::uint64_t elements_ = 0;              // taken
  // As the last snapshot began.
  struct Load {
    Nanoseconds at = 0;
    Nanoseconds waited = 0;  // its slot
    std::uint64_t elements = 0;
    std::uint64_t records = 0;
  } load_;
  Step after_chain_ = Step::between_elements;  // end_stream: the end is in the chain
  int turn_ = 0;
  bool idle_announced_ = true;
  Nanoseconds source_retry_ns_ = 0;    // the last one, of a source that has nothing
  Nanoseconds operator_retry_ns_ = 0;  // the last one, of a chain that an operator blocks
  Step after_pause_ = Step::begin;     // where give_way and sleep go on
  Nanoseconds sleep_until_ = never;
  Nanoseconds sleep_began_ = 0;
  bool sleep_holds_input_ = false;
  std::atomic<bool> cancelled_{false};
  std::atomic<bool> stopping_{false};
  std::function<void(StreamTask&)> on_finished_;
  std::function<void(StreamTask&, TaskSnapshot)> on_snapshot_;  // empty: no snapshots
  bool aligns_ = true;  // inputs on which a barrier has come wait for the others
  std::atomic<std::uint64_t> triggered_{0};
  std::atomic<std::uint64_t> triggered_whole_{0};
  std::uint64_t last_barrier_ = 0;  // of a source: sent; else: passed on
  std::uint64_t aligning_ = 0;      // the barrier that has come on some inputs; 0: none
  std::uint64_t barrier_due_ = 0;   // it has come on all: goes next
  bool whole_ = false;              // the barrier under way asks for that
  bool passes_on_ = false;
  std::atomic<std::uint64_t> overtaking_{0};
  std::uint64_t recording_ = 0;  // the barrier whose records in flight are being gathered; 0: none
  std::vector<SnapshotPiece> state_at_barrier_;
  InFlight in_flight_;
  std::atomic<std::uint64_t> commit_asked_{0};
  std::atomic<std::uint64_t> committed_{0};
  std::function<void()> on_committed_;
  std::atomic<std::uint64_t> pause_after_{0};
  std::atomic<bool> finish_asked_{false};
  std::atomic<bool> ended_{false};
  Status result_;
};

}  // namespace hummer
