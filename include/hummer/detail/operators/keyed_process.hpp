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
// Cost: one hash and one look-up per record. The keys of a batch are looked up together, ahead of
// the function's calls (KeyedStore::expect), so key_of is called twice per record.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <span>
#include <tuple>
#include <utility>

#include <hummer/detail/looks_ahead.hpp>
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

// All of it that needs no type of the keys, the records and the function.
class KeyedProcessBase : public Operator, public LooksAhead {
 public:
  Reach reach() const override { return store_.reach(); }
  bool can_skip_record() const override { return true; }
  Status restore(ByteReader& in) override;
  std::vector<StateDescription> states() override;
  Status snapshot(ByteWriter& out) override;
  OperatorResult snapshot_rest(ByteWriter& out) override;
  OperatorResult watermark(Timestamp time, Output& out) override;
  OperatorResult timer(std::int64_t, Output& out) override;
  OperatorResult end(Output& out) override;

 protected:
  // `store` is the operator's own.
  KeyedProcessBase(KeyedStoreBase& store, RestoreOptions options, bool fires_timers_set_at_end)
      : store_(store), options_(options), fires_timers_set_at_end_(fires_timers_set_at_end) {}

  // Of the user's object, which does not move from the first call on.
  virtual DeclaredStates declared_states() = 0;
  // The timers up to `limit`. An unfinished one (its hook answered `more`) goes first.
  virtual OperatorResult fire(TimerKind kind, Timestamp limit, Output& out) = 0;

  Status bind();
  void begin_open();
  Status count_broadcast();
  // Asks for a call at the next processing timer or sweep, if that is not asked for already.
  void arm();
  // Whether there is a timer up to `limit`, or an unfinished one.
  bool due_timer(TimerKind kind, Timestamp limit) {
    return unfinished_ != nullptr || store_.due_timer(kind, limit);
  }
  // REQUIRES: due_timer. Its key is in hand then, and timer_time_ says when it is due.
  void take_timer(TimerKind kind);
  // Behind its hook: nothing in hand. `more`: it is called again.
  OperatorResult leave_timer(OperatorResult answer, FiredTimers& fired);

  Timestamp watermark_ = no_timestamp;
  Timestamp timer_time_ = no_timestamp;

 private:
  static constexpr std::size_t sweep_entries = 1024;

  KeyedStoreBase& store_;
  const RestoreOptions options_;
  const bool fires_timers_set_at_end_;
  DeclaredStates states_;
  MemoryUse broadcast_memory_;
  bool bound_ = false;
  int subtasks_restored_ = 0;
  RestoredWatermark restored_watermark_;
  StoreEntry* unfinished_ = nullptr;  // of the timer whose hook answered `more`; held by its count
  Timestamp armed_ms_ = end_of_time;
  Timestamp sweep_at_ms_ = no_timestamp;
};

// The function goes last: the store's entries are destroyed by its states.
template <typename Key, typename User>
struct FunctionWithStore {
  User user;
  KeyedStore<Key> store;
};

template <typename Key, StreamType Out, typename User, typename... Inputs>
class KeyedProcessOperator final : private FunctionWithStore<Key, User>, public KeyedProcessBase {
  using Emit = KeyedOutput<Out>;
  static constexpr std::size_t keyed_inputs = (std::size_t{Inputs::keyed} + ...);
  static constexpr bool has_timer_hook =
      requires(User& user, Timestamp time, Emit& emit) { user.on_timer(time, emit); };
  static constexpr bool has_processing_timer_hook =
      requires(User& user, Timestamp time, Emit& emit) { user.on_processing_timer(time, emit); };

 public:
  KeyedProcessOperator(User function, Inputs... inputs, RestoreOptions options = {})
      : FunctionWithStore<Key, User>{std::move(function),
                                     KeyedStore<Key>({has_timer_hook, has_processing_timer_hook})},
        KeyedProcessBase(
            this->store, options, requires { requires User::fires_timers_set_at_end; }),
        inputs_(std::move(inputs)...),
        sides_(side_outputs_of(this->user)) {}

  void declare(Output& out) const override {
    out.add_port(type_of<Out>());
    for (const SideOutputPort& side : sides_) out.add_port(*side.type);
  }

  Status open() override {
    HUMMER_TRY(bind());
    begin_open();
    if constexpr (requires(OperatorContext& place) { this->user.open(place); }) {
      if constexpr (std::is_void_v<decltype(this->user.open(context()))>) {
        this->user.open(context());
      } else {
        return this->user.open(context());
      }
    }
    return {};
  }
  Status close() override {
    if constexpr (requires { this->user.close(); }) {
      if constexpr (std::is_void_v<decltype(this->user.close())>) {
        this->user.close();
      } else {
        return this->user.close();
      }
    }
    return {};
  }

  OperatorResult look_ahead(std::span<const Waiting> waiting) override {
    for (const Waiting& each : waiting) {
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (void)((static_cast<int>(I) == each.input && (show<I>(*each.batch), true)) || ...);
      }(std::index_sequence_for<Inputs...>{});
    }
    return fetch_ahead(this->store, context());
  }
  OperatorResult process(Batch& in, Output& out) override { return process_input(0, in, out); }
  OperatorResult process_input(int input, Batch& in, Output& out) override {
    return within_share(this->store, context(), [&] {
      return [&]<std::size_t... I>(std::index_sequence<I...>) {
        OperatorResult answer = OperatorResult::failed;
        (void)((static_cast<int>(I) == input && (answer = take<I>(in, out), true)) || ...);
        return answer;
      }(std::index_sequence_for<Inputs...>{});
    });
  }

 private:
  DeclaredStates declared_states() override { return DeclaredStates::of(this->user); }

  template <std::size_t I>
  void show(const Batch& waiting) {
    auto& input = std::get<I>(inputs_);
    using Input = std::remove_reference_t<decltype(input)>;
    if constexpr (Input::keyed) {
      this->store.look_ahead(waiting.values<typename Input::Record>().subspan(waiting.position()),
                             input.key_of);
    }
  }
  template <std::size_t I>
  OperatorResult take(Batch& in, Output& out) {
    auto& input = std::get<I>(inputs_);
    using Input = std::remove_reference_t<decltype(input)>;
    using EmitTo = std::conditional_t<Input::keyed, Emit, BroadcastOutput<Out>>;
    const std::size_t used = out.batch().size();
    const auto values = in.values<typename Input::Record>();
    const Timestamp* const times = in.has_timestamps() ? in.timestamps().data() : nullptr;
    std::size_t taken = in.position();
    this->store.set_now_ms(context().wall_time_ms());
    try {
      EmitTo emit = make_emitter<EmitTo>(out);
      if constexpr (Input::keyed) {
        while (taken < values.size() && !emit.full()) {
          const std::size_t first = taken;
          const std::size_t expected = this->store.expect(values.subspan(first), input.key_of);
          for (; taken < first + expected && !emit.full(); ++taken) {
            if (times != nullptr) emit.set_time(times[taken]);
            const auto& made = std::invoke(input.key_of, values[taken]);
            check_key<decltype(std::invoke(input.key_of, values[taken]))>(made);
            const Key& key = made;  // a std::string is the key's text while `made` lives
            this->store.set_expected_key(key, taken - first);
            call<I>(values[taken], emit);
            this->store.leave_key();
          }
        }
      } else {
        for (; taken < values.size() && !emit.full(); ++taken) {
          if (times != nullptr) emit.set_time(times[taken]);
          this->user.process_broadcast(values[taken], emit);
        }
      }
    } catch (...) {
      this->store.leave_key();
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
      return Emitter(out, sides_, watermark_, this->store);
    } else {
      return Emitter(out, sides_, watermark_);
    }
  }
  template <std::size_t I, typename T>
  void call(const T& record, Emit& emit) {
    if constexpr (keyed_inputs == 1) {
      if constexpr (requires { this->user.process(record, emit); }) {
        this->user.process(record, emit);
      } else {
        this->user(record, emit);
      }
    } else if constexpr (I == 0) {
      this->user.process_first(record, emit);
    } else {
      this->user.process_second(record, emit);
    }
  }

  OperatorResult fire(TimerKind kind, Timestamp limit, Output& out) override {
    return within_share(this->store, context(), [&] { return fire_timers(kind, limit, out); });
  }
  OperatorResult fire_timers(TimerKind kind, Timestamp limit, Output& out) {
    const std::size_t used = out.batch().size();
    {
      Emit emit(out, sides_, watermark_, this->store);
      FiredTimers fired;
      while (due_timer(kind, limit)) {
        if (emit.full()) {
          this->store.leave_key();
          return OperatorResult::more;
        }
        take_timer(kind);
        emit.set_time(kind == TimerKind::event ? timer_time_ : no_timestamp);
        const OperatorResult answer = leave_timer(call_timer(kind, emit), fired);
        if (answer != OperatorResult::done) return answer;
      }
    }
    if (const Status views = check_new_views<Out>(context(), Batch(), out.batch(), used);
        !views.ok()) {
      return context().fail(views);
    }
    return OperatorResult::done;
  }
  OperatorResult call_timer([[maybe_unused]] TimerKind kind, [[maybe_unused]] Emit& emit) {
    if constexpr (requires { this->user.on_timer(timer_time_, emit); }) {
      if (kind == TimerKind::event) {
        return answer_of(
            [&]() -> decltype(auto) { return this->user.on_timer(timer_time_, emit); });
      }
    }
    if constexpr (requires { this->user.on_processing_timer(timer_time_, emit); }) {
      if (kind == TimerKind::processing) {
        return answer_of(
            [&]() -> decltype(auto) { return this->user.on_processing_timer(timer_time_, emit); });
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

  std::tuple<Inputs...> inputs_;
  SideOutputPorts sides_;
};

namespace detail {

// The Out of the function's KeyedOutput<Out>, found in the signature of a hook.
template <typename Signature>
struct KeyedOutputType;
template <typename Class, typename Return, typename In, template <typename> typename Emit,
          typename Out, bool nothrow>
struct KeyedOutputType<Return (Class::*)(In, Emit<Out>&) noexcept(nothrow)> {
  using Type = Out;
};
template <typename Class, typename Return, typename In, template <typename> typename Emit,
          typename Out, bool nothrow>
struct KeyedOutputType<Return (Class::*)(In, Emit<Out>&) const noexcept(nothrow)> {
  using Type = Out;
};
template <typename Member>
concept NamesItsOutput = requires { typename KeyedOutputType<Member>::Type; };

template <typename User>
auto keyed_output_type() {
  if constexpr (requires { typename User::Output; }) {
    return std::type_identity<typename User::Output>{};
  } else if constexpr (requires { requires NamesItsOutput<decltype(&User::process)>; }) {
    return std::type_identity<typename KeyedOutputType<decltype(&User::process)>::Type>{};
  } else if constexpr (requires { requires NamesItsOutput<decltype(&User::process_first)>; }) {
    return std::type_identity<typename KeyedOutputType<decltype(&User::process_first)>::Type>{};
  } else if constexpr (requires { requires NamesItsOutput<decltype(&User::operator())>; }) {
    return std::type_identity<typename KeyedOutputType<decltype(&User::operator())>::Type>{};
  } else {
    return std::type_identity<void>{};
  }
}

}  // namespace detail

// void: unknown.
template <typename User>
using OutputOfKeyed = typename decltype(detail::keyed_output_type<User>())::type;

namespace detail {

template <typename Named, typename User>
using NamedOrOutputOf = std::conditional_t<std::is_void_v<Named>, OutputOfKeyed<User>, Named>;

}  // namespace detail

}  // namespace hummer
