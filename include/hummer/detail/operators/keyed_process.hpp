// KeyedProcessOperator: runs a function of the user's with state and timers per key.
//
//   struct Alarm {
//     ValueState<double> last{"last"};            // state: see hummer/keyed_states.hpp
//     void process(const Reading& reading, KeyedOutput<Alert>& out) {
//       if (reading.value > 2 * last.get_or(reading.value)) out.emit(Alert{reading});
//       last.set(reading.value);
//       out.set_event_timer(reading.time + 60'000);
//     }
//     void on_timer(Timestamp time, KeyedOutput<Alert>& out) { last.clear(); }
//   };
//
// Hooks: by the kind of each input
//   process(const T&, KeyedOutput<Out>&)                  the one keyed input
//   process_first, process_second(const T&, KeyedOutput<Out>&)   of two keyed inputs
//   process_broadcast(const T&, BroadcastOutput<Out>&)    a broadcast input
// and, if they are there:
//   on_timer(Timestamp, KeyedOutput<Out>&)                event time
//   on_processing_timer(Timestamp, KeyedOutput<Out>&)     processing time, milliseconds since 1970
//   open(OperatorContext&), close()                       void or Status
//   side_outputs() const                                  see side_output.hpp
// A timer's hook may return OperatorResult: `more` when out.full(), and is called again for
// the same timer. One that returns void may exceed the output limit.
//
// Timers fire in the order of their times, equal times in the order of their keys,
// and before the watermark goes on: so between two records as often as the strategy says that
// watermarks come there (WatermarkStrategy::….every(n); every(1) is as if each record were handled
// by itself). Where batches end makes no difference. When the input ends, all event timers fire;
// those that are set meanwhile don't (a periodic one would never end), unless the
// function has `static constexpr bool fires_timers_set_at_end = true`. Processing
// timers that are left then do not fire.
//
// Snapshot: version, whether it is a delta, the watermark, broadcast state, and in steps the
// KeyedStore. Restore takes the pieces of all earlier subtasks and keeps the keys it owns; where
// the watermark goes on, see hummer/detail/state/restored_watermark.hpp.
//
// Cost: one hash and one look-up per record that touches a state or a timer.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#include <hummer/detail/operators/call_at_wall_time.hpp>
#include <hummer/detail/operators/process.hpp>
#include <hummer/detail/operators/record_text.hpp>
#include <hummer/detail/operators/store_snapshot.hpp>
#include <hummer/detail/operators/within_share.hpp>
#include <hummer/detail/state/declared_states.hpp>
#include <hummer/detail/state/keyed_store.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/keyed_output.hpp>

namespace hummer {

// What an input of the operator is.
template <StreamType T, typename KeyOfRecord>
struct KeyedInput {
  using Record = T;
  static constexpr bool keyed = true;
  KeyOfRecord key_of;
};
template <StreamType T>
struct BroadcastInput {
  using Record = T;
  static constexpr bool keyed = false;
};

template <typename Key, StreamType Out, typename User, typename... Inputs>
class KeyedProcessOperator final : public Operator {
  using Emit = KeyedOutput<Out>;
  using Entry = typename KeyedStore<Key>::Entry;
  static constexpr std::size_t keyed_inputs = (std::size_t{Inputs::keyed} + ...);

 public:
  KeyedProcessOperator(User user, Inputs... inputs, RestoreOptions options = {})
      : user_(std::move(user)),
        inputs_(std::move(inputs)...),
        options_(options),
        sides_(side_outputs_of(user_)) {}

  void declare(Output& out) const override {
    out.add_port(type_of<Out>());
    for (const SideOutputPort& side : sides_) out.add_port(*side.type);
  }

  bool can_skip_record() const override { return true; }
  Status restore(ByteReader& in) override {
    HUMMER_TRY(bind());
    const Result<StoreSnapshotHead> head = read_store_head(in, context());
    if (!head.ok()) return head.status();
    restored_watermark_.add(head->watermark, head->delta);
    subtasks_restored_ += head->delta ? 0 : 1;
    HUMMER_TRY(restore_broadcast(states_.broadcast, in, subtasks_restored_ == 1,
                                 options_.allow_dropped_state));
    HUMMER_TRY(count_broadcast());
    return store_.restore(in, context(), options_, head->delta);
  }
  std::vector<StateDescription> states() override {
    std::vector<StateDescription> all;
    const DeclaredStates declared = DeclaredStates::of(user_);
    for (const KeyedState* state : declared.keyed) {
      all.push_back({state->name(), state->describe_type()});
    }
    for (const BroadcastStateBase* state : declared.broadcast) {
      all.push_back({state->name(), state->describe_type()});
    }
    return all;
  }
  Status snapshot(ByteWriter& out) override {
    return begin_store_snapshot(store_, context(), watermark_, out, [&](ByteWriter& own) {
      snapshot_broadcast(states_.broadcast, own);
    });
  }
  OperatorResult snapshot_rest(ByteWriter& out) override {
    return store_snapshot_rest(store_, context(), out);
  }
  Status open() override {
    HUMMER_TRY(bind());
    if (restored_watermark_.known()) watermark_ = restored_watermark_.of(context());
    arm();
    if constexpr (requires(OperatorContext& place) { user_.open(place); }) {
      if constexpr (std::is_void_v<decltype(user_.open(context()))>) {
        user_.open(context());
      } else {
        return user_.open(context());
      }
    }
    return {};
  }
  Status close() override {
    if constexpr (requires { user_.close(); }) {
      if constexpr (std::is_void_v<decltype(user_.close())>) {
        user_.close();
      } else {
        return user_.close();
      }
    }
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override { return process_input(0, in, out); }
  OperatorResult process_input(int input, Batch& in, Output& out) override {
    return within_share(store_, context(), [&] {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        OperatorResult answer = OperatorResult::failed;
        (void)((static_cast<int>(I) == input && (answer = take<I>(in, out), true)) || ...);
        return answer;
      }(std::index_sequence_for<Inputs...>{});
    });
  }

  OperatorResult watermark(Timestamp time, Output& out) override {
    watermark_ = std::max(watermark_, time);  // after a restore the first ones may be behind it
    store_.set_now_ms(context().wall_time_ms());
    const OperatorResult answer = fire(TimerKind::event, watermark_, out);
    if (answer == OperatorResult::done) arm();
    return answer;
  }
  OperatorResult timer(std::int64_t, Output& out) override {
    const Timestamp now = context().wall_time_ms();
    store_.set_now_ms(now);
    armed_ms_ = end_of_time;
    const OperatorResult answer = fire(TimerKind::processing, now, out);
    if (answer != OperatorResult::done) return answer;
    if (store_.has_ttl() && sweep_at_ms_ <= now) {
      sweep_at_ms_ = now + (store_.sweep(sweep_entries) ? store_.least_ttl_ms() : 1);
    }
    arm();
    return OperatorResult::done;
  }
  OperatorResult end(Output& out) override {
    if constexpr (!requires { requires User::fires_timers_set_at_end; }) store_.refuse_timers();
    watermark_ = end_of_time;
    store_.set_now_ms(context().wall_time_ms());
    return fire(TimerKind::event, end_of_time, out);
  }

 private:
  static constexpr std::size_t sweep_entries = 1024;

  // The user's object does not move any more.
  Status bind() {
    if (bound_) return {};
    bound_ = true;
    states_ = DeclaredStates::of(user_);
    Status bound = store_.bind(states_.keyed);
    store_.open(context());
    if (!states_.broadcast.empty()) {
      broadcast_memory_.open_part(context().memory(), "broadcast state");
    }
    return bound.with_context("operator '" + context().name() + "'");
  }

  Status count_broadcast() {
    std::size_t bytes = 0;
    for (const BroadcastStateBase* state : states_.broadcast) bytes += state->memory_bytes();
    return broadcast_memory_.set(bytes);
  }

  template <std::size_t I>
  OperatorResult take(Batch& in, Output& out) {
    auto& input = std::get<I>(inputs_);
    using Input = std::remove_reference_t<decltype(input)>;
    using EmitTo = std::conditional_t<Input::keyed, Emit, BroadcastOutput<Out>>;
    const std::size_t used = out.batch().size();
    const auto values = in.values<typename Input::Record>();
    std::size_t taken = in.position();
    store_.set_now_ms(context().wall_time_ms());
    try {
      EmitTo emit = make_emitter<EmitTo>(out);
      for (; taken < values.size() && !out.any_full(); ++taken) {
        if (in.has_timestamps()) emit.set_time(in.timestamps()[taken]);
        if constexpr (Input::keyed) {
          const auto& made = std::invoke(input.key_of, values[taken]);
          check_key<decltype(std::invoke(input.key_of, values[taken]))>(made);
          const Key& key = made;  // a std::string is the key's text while `made` lives
          store_.set_key(key);
          call<I>(values[taken], emit);
          store_.leave_key();
        } else {
          user_.process_broadcast(values[taken], emit);
        }
      }
    } catch (...) {
      store_.leave_key();
      in.advance_to(taken);
      arm();
      copy_record_text<typename Input::Record, Out>(in, out.batch(), used);
      throw;
    }
    in.advance_to(taken);
    arm();
    if constexpr (!Input::keyed) {
      if (Status room = count_broadcast(); !room.ok()) return context().fail(std::move(room));
    }
    copy_record_text<typename Input::Record, Out>(in, out.batch(), used);
    if (const Status views = check_new_views<Out>(context(), in, out.batch(), used); !views.ok()) {
      return context().fail(views);
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }
  template <typename Emitter>
  Emitter make_emitter(Output& out) {
    if constexpr (std::is_same_v<Emitter, Emit>) {
      return Emitter(out, sides_, watermark_, store_);
    } else {
      return Emitter(out, sides_, watermark_);
    }
  }
  template <std::size_t I, typename T>
  void call(const T& record, Emit& emit) {
    if constexpr (keyed_inputs == 1) {
      if constexpr (requires { user_.process(record, emit); }) {
        user_.process(record, emit);
      } else {
        user_(record, emit);
      }
    } else if constexpr (I == 0) {
      user_.process_first(record, emit);
    } else {
      user_.process_second(record, emit);
    }
  }

  // The timers up to `limit`. An unfinished one (its hook answered `more`) goes first.
  OperatorResult fire(TimerKind kind, Timestamp limit, Output& out) {
    return within_share(store_, context(), [&] { return fire_timers(kind, limit, out); });
  }
  OperatorResult fire_timers(TimerKind kind, Timestamp limit, Output& out) {
    const std::size_t used = out.batch().size();
    {
      Emit emit(out, sides_, watermark_, store_);
      FiredTimers fired;
      while (unfinished_ != nullptr || store_.due_timer(kind, limit)) {
        if (out.any_full()) {
          store_.leave_key();
          return OperatorResult::more;
        }
        if (unfinished_ != nullptr) {
          store_.set_entry(*std::exchange(unfinished_, nullptr));
          --store_.obtain().live;
        } else {
          timer_time_ = store_.enter_timer(kind);
          store_.take_timer(kind);
        }
        emit.set_time(kind == TimerKind::event ? timer_time_ : no_timestamp);
        const OperatorResult answer = call_timer(kind, emit);
        if (answer == OperatorResult::failed) {
          store_.leave_key();
          return answer;
        }
        if (answer == OperatorResult::more) {
          unfinished_ = static_cast<Entry*>(&store_.obtain());
          ++unfinished_->live;
          store_.leave_key();
          return OperatorResult::more;
        }
        store_.leave_key();
        if (Status room = fired.make_room(store_); !room.ok()) {
          return context().fail(std::move(room));
        }
      }
    }
    if (const Status views = check_new_views<Out>(context(), Batch(), out.batch(), used);
        !views.ok()) {
      return context().fail(views);
    }
    return OperatorResult::done;
  }
  OperatorResult call_timer([[maybe_unused]] TimerKind kind, [[maybe_unused]] Emit& emit) {
    if constexpr (requires { user_.on_timer(timer_time_, emit); }) {
      if (kind == TimerKind::event) {
        return answer_of([&]() -> decltype(auto) { return user_.on_timer(timer_time_, emit); });
      }
    }
    if constexpr (requires { user_.on_processing_timer(timer_time_, emit); }) {
      if (kind == TimerKind::processing) {
        return answer_of(
            [&]() -> decltype(auto) { return user_.on_processing_timer(timer_time_, emit); });
      }
    }
    return OperatorResult::done;
  }
  template <typename Call>
  static OperatorResult answer_of(Call&& call) {
    if constexpr (std::is_same_v<decltype(call()), OperatorResult>) {
      return call();
    } else {
      call();
      return OperatorResult::done;
    }
  }

  // Asks for a call at the next processing timer or sweep, if that is not asked for already.
  void arm() {
    Timestamp next = store_.next_timer(TimerKind::processing);
    if (store_.has_ttl() && store_.size() > 0) {
      const Timestamp now = context().wall_time_ms();
      if (sweep_at_ms_ == no_timestamp) sweep_at_ms_ = now + store_.least_ttl_ms();
      next = std::min(next, sweep_at_ms_);
    }
    if (next >= armed_ms_) return;
    armed_ms_ = next;
    call_at_wall_time(context(), next);
  }

  User user_;
  std::tuple<Inputs...> inputs_;
  RestoreOptions options_;
  SideOutputPorts sides_;
  DeclaredStates states_;
  KeyedStore<Key> store_;
  MemoryUse broadcast_memory_;
  bool bound_ = false;
  int subtasks_restored_ = 0;
  RestoredWatermark restored_watermark_;
  Timestamp watermark_ = no_timestamp;
  Entry* unfinished_ = nullptr;  // of the timer whose hook answered `more`; held by its count
  Timestamp timer_time_ = no_timestamp;
  Timestamp armed_ms_ = end_of_time;
  Timestamp sweep_at_ms_ = no_timestamp;
};

namespace detail {

// The Out of the function's KeyedOutput<Out>, found in the signature of a hook.
template <typename Signature>
struct KeyedOutputType;
template <typename Class, typename Return, typename In, template <typename> typename Emit,
          typename Out>
struct KeyedOutputType<Return (Class::*)(In, Emit<Out>&)> {
  using Type = Out;
};
template <typename Class, typename Return, typename In, template <typename> typename Emit,
          typename Out>
struct KeyedOutputType<Return (Class::*)(In, Emit<Out>&) const> {
  using Type = Out;
};

template <typename User>
auto keyed_output_type() {
  if constexpr (requires { typename User::Output; }) {
    return std::type_identity<typename User::Output>{};
  } else if constexpr (requires { &User::process; }) {
    return std::type_identity<typename KeyedOutputType<decltype(&User::process)>::Type>{};
  } else if constexpr (requires { &User::process_first; }) {
    return std::type_identity<typename KeyedOutputType<decltype(&User::process_first)>::Type>{};
  } else {
    return std::type_identity<typename KeyedOutputType<decltype(&User::operator())>::Type>{};
  }
}

}  // namespace detail

template <typename User>
using OutputOfKeyed = typename decltype(detail::keyed_output_type<User>())::type;

}  // namespace hummer
