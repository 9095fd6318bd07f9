// KeyedWindowOperator: windows of any kind with any trigger, kept per key.
//
// The general way: each record goes into every window that holds it, each window
// of a key has an accumulator and a trigger of its own. Tumbling and sliding windows with
// the default trigger have a faster one, SliceWindowOperator.
//
// Sessions: a record opens [time, time + gap); windows of a key that overlap become
// one. Two records exactly a gap apart are in two sessions, so that a session is
// complete when the watermark has reached its end.
//
// Late records (end + lateness of all their windows not above the watermark) are dropped and
// counted; LateRecordsOperator has taken most of them out before. Not so of sessions, where the
// window that counts is the one that the record would be part of: only here it is known whether
// one is still open that it touches, so late records go to port 1, if that is wanted. (Flink too
// merges first.) At the end of the stream
// event-time timers and, in windows of processing time, those of the clock come
// due. A result's time is its window's last millisecond; of GlobalWindows, that of
// the record that made it go out.
//
// State: watermark (see hummer/detail/state/restored_watermark.hpp) and, in steps, a KeyedStore
// with the windows of each key; restored by the keys it owns. Windows that come due at the same
// time go out in the order of their keys, then of their starts.
#pragma once

#include <functional>
#include <optional>
#include <utility>

#include <hummer/detail/looks_ahead.hpp>
#include <hummer/detail/operators/call_at_wall_time.hpp>
#include <hummer/detail/operators/late_records.hpp>
#include <hummer/detail/operators/record_text.hpp>
#include <hummer/detail/operators/store_snapshot.hpp>
#include <hummer/detail/operators/window_results.hpp>
#include <hummer/detail/operators/within_share.hpp>
#include <hummer/detail/state/keyed_store.hpp>
#include <hummer/detail/state/restored_watermark.hpp>
#include <hummer/detail/state/table_state.hpp>
#include <hummer/detail/state/window_states.hpp>
#include <hummer/triggers.hpp>

namespace hummer {

template <typename In, typename K, typename KeyOf, typename Windows, typename Trigger,
          typename Aggregate, typename Finish>
class KeyedWindowOperator final : public Operator, public LooksAhead {
  using Accumulator = typename Aggregate::Accumulator;
  using Out = typename Finish::Output;
  using States = WindowStates<Accumulator, typename Trigger::State>;
  using Window = typename States::Window;
  using InHand = typename States::InHand;
  static constexpr Timestamp not_queued = States::Cell::not_queued;
  static constexpr bool sessions = std::is_same_v<Windows, SessionWindows>;
  static constexpr bool global = std::is_same_v<Windows, GlobalWindows>;

 public:
  KeyedWindowOperator(KeyOf key_of, Windows windows, Trigger trigger, std::int64_t lateness_ms,
                      Aggregate aggregate, Finish finish, bool late_output = false)
      : key_of_(std::move(key_of)),
        windows_(windows),
        trigger_(std::move(trigger)),
        lateness_ms_(lateness_ms),
        aggregate_(std::move(aggregate)),
        finish_(std::move(finish)),
        late_output_(late_output) {}

  void declare(Output& out) const override {
    out.add_port(type_of<Out>());
    if (late_output_) out.add_port(type_of<In>());
  }
  Status open() override {
    HUMMER_TRY(windows_.check());
    HUMMER_TRY(bind());
    if (restored_watermark_.known()) watermark_ = restored_watermark_.of(context());
    arm();
    return {};
  }

  Reach reach() const override { return store_.reach(); }
  OperatorResult look_ahead(std::span<const Waiting> waiting) override {
    for (const Waiting& each : waiting) {
      store_.look_ahead(each.batch->values<In>().subspan(each.batch->position()), key_of_);
    }
    return fetch_ahead(store_, context());
  }
  OperatorResult process(Batch& in, Output& out) override {
    const bool timed = in.has_timestamps();
    if (!timed && !processing_time() && !global && !in.empty()) {
      return context().fail({ErrorCode::invalid_argument, no_event_time});
    }
    return within_share(store_, context(), [&] { return add_all(in, timed, out); });
  }

  OperatorResult watermark(Timestamp time, Output& out) override {
    watermark_ = std::max(watermark_, time);
    return fire_due(TimerKind::event, watermark_, out);
  }
  OperatorResult timer(std::int64_t, Output& out) override {
    const OperatorResult answer = fire_due(TimerKind::processing, context().wall_time_ms(), out);
    if (answer == OperatorResult::done) arm();
    return answer;
  }
  OperatorResult end(Output& out) override {
    const OperatorResult answer = watermark(end_of_time, out);
    if (answer != OperatorResult::done || !processing_time()) return answer;
    ending_ = true;
    return fire_due(TimerKind::processing, end_of_time, out);
  }

  std::vector<StateDescription> states() override {
    return {table_state<K, Accumulator>("windows")};
  }
  Status snapshot(ByteWriter& out) override {
    return begin_store_snapshot(store_, context(), watermark_, out);
  }
  OperatorResult snapshot_rest(ByteWriter& out) override {
    return store_snapshot_rest(store_, context(), out);
  }
  Status restore(ByteReader& in) override {
    HUMMER_TRY(bind());
    const Result<StoreSnapshotHead> head = read_store_head(in, context());
    if (!head.ok()) return head.status();
    restored_watermark_.add(head->watermark, head->delta);
    return store_.restore(in, context(), {}, head->delta);
  }

 private:
  Status bind() {
    if (bound_) return {};
    bound_ = true;
    HUMMER_TRY(store_.bind({&states_}));
    store_.open(context());
    return {};
  }
  bool processing_time() const { return windows_.domain == TimeDomain::processing; }
  Timestamp processing_now() const { return ending_ ? end_of_time : context().wall_time_ms(); }
  Timestamp forgotten_at(const Window& window) const {
    return time_after(window.window.end_ms, lateness_ms_);
  }

  OperatorResult add_all(Batch& in, bool timed, Output& out) {
    const auto records = in.values<In>();
    const std::size_t used = out.batch().size();
    {
      RecordInHand in_hand(in);
      std::size_t i = in.position();
      while (i < records.size() && !out.any_full()) {
        in_hand.set(i);
        const std::size_t first = i;
        const std::size_t expected = store_.expect(records.subspan(first), key_of_);
        for (; i < first + expected && !out.any_full(); ++i) {
          in_hand.set(i);
          time_ = processing_time() ? context().wall_time_ms()
                  : timed           ? in.timestamps()[i]
                                    : no_timestamp;
          add(records[i], i - first, out);
        }
      }
      in_hand.set(i);
    }
    time_ = no_timestamp;
    arm();
    return checked(used, out, in.finished());
  }
  // `expected`: its number among the records whose keys the store expects.
  void add(const In& record, std::size_t expected, Output& out) {
    const auto& made = std::invoke(key_of_, record);
    check_key<decltype(std::invoke(key_of_, record))>(made);
    const K& key = made;  // a std::string is the key's text while `made` lives
    store_.set_expected_key(key, expected);
    {
      std::optional<InHand> in_hand;
      bool late = false;
      windows_.each_window(time_, [&](const TimeWindow& own) {
        if (is_over(own)) {
          late = true;
          return;
        }
        if (!in_hand) in_hand.emplace(states_, store_.obtain_entry());
        Window& window = sessions ? merged(in_hand->windows(), own) : same(*in_hand, own);
        aggregate_.add(window.accumulator, !window.filled, record);
        window.filled = true;
        ask(window, out,
            [&](TriggerContext& place) { return trigger_.record(place, window.trigger); });
        queue(*in_hand, window);
      });
      if (late && !in_hand) drop_late(record, out);
    }
    store_.leave_key();
  }
  // REQUIRES: the record's key is in hand.
  bool is_over(const TimeWindow& own) const {
    if (processing_time() || global || time_after(own.end_ms, lateness_ms_) > watermark_) {
      return false;
    }
    if constexpr (sessions) {
      // What is kept is not over, so neither is what this becomes a part of.
      if (const std::vector<Window>* const open = states_.find()) {
        return std::none_of(open->begin(), open->end(),
                            [&](const Window& window) { return overlap(window.window, own); });
      }
    }
    return true;
  }
  static bool overlap(const TimeWindow& a, const TimeWindow& b) {
    return a.start_ms < b.end_ms && b.start_ms < a.end_ms;
  }
  void drop_late(const In& record, Output& out) {
    context().count_late(1);
    if (!late_output_) return;
    out.collector<In>(1).emit(record);
    out.batch(1).timestamps().push_back(time_);
  }
  static Window& added(std::vector<Window>& windows, const TimeWindow& window) {
    windows.emplace_back().window = window;
    return windows.back();
  }
  Window& same(InHand& in_hand, const TimeWindow& own) {
    for (Window& window : in_hand.windows()) {
      if (window.window.start_ms == own.start_ms) return window;
    }
    return added(in_hand.windows(), own);
  }
  // The session that holds `own`: it may join several.
  Window& merged(std::vector<Window>& windows, const TimeWindow& own) {
    if (windows.size() == 1 && overlap(windows[0].window, own)) {  // most of the time
      TimeWindow& only = windows[0].window;
      only = {std::min(only.start_ms, own.start_ms), std::max(only.end_ms, own.end_ms)};
      return windows[0];
    }
    Window* into = nullptr;
    TimeWindow whole = own;
    std::sort(windows.begin(), windows.end(),
              [](const Window& a, const Window& b) { return a.window < b.window; });
    for (std::size_t i = 0; i < windows.size();) {
      Window& window = windows[i];
      if (!overlap(window.window, own)) {
        ++i;
        continue;
      }
      whole.start_ms = std::min(whole.start_ms, window.window.start_ms);
      whole.end_ms = std::max(whole.end_ms, window.window.end_ms);
      if (into == nullptr) {
        into = &window;
        ++i;
        continue;
      }
      if (window.filled) {
        aggregate_.merge(into->accumulator, !into->filled, window.accumulator);
        into->filled = true;
      }
      trigger_.merge(into->trigger, window.trigger);
      windows.erase(windows.begin() + static_cast<std::ptrdiff_t>(i));  // `into` is before it
    }
    if (into == nullptr) return added(windows, own);
    into->window = whole;
    return *into;
  }

  // Calls the trigger and does what it answers.
  template <typename Call>
  void ask(Window& window, Output& out, Call&& call) {
    TriggerContext place{
        window.window,           time_,          watermark_, processing_now(), window.event_timer,
        window.processing_timer, windows_.domain};
    const TriggerResult result = call(place);
    window.event_timer = place.event_timer;
    window.processing_timer = place.processing_timer;
    if (result == TriggerResult::fire || result == TriggerResult::fire_and_purge) {
      emit(window, out);
    }
    if (result == TriggerResult::purge || result == TriggerResult::fire_and_purge) {
      window.accumulator = Accumulator{};
      window.filled = false;
    }
  }

  void emit(const Window& window, Output& out) {
    if (!window.filled) return;
    Batch& batch = out.batch();
    const std::size_t used = batch.size();
    {
      auto collector = out.collector<Out>();
      finish_(*store_.key(), window.window, window.accumulator, collector);
    }
    copy_record_text<Accumulator, Out>(Batch(), batch, used);
    stamp(batch, used, batch.size(), global ? time_ : time_before(window.window.end_ms, 1));
  }

  // ---- when windows are looked at ----

  TimerKind own_kind() const {
    return processing_time() ? TimerKind::processing : TimerKind::event;
  }
  static Timestamp& asked(Window& window, TimerKind kind) {
    return kind == TimerKind::event ? window.event_timer : window.processing_timer;
  }
  // When the window is to be looked at: its trigger asked for it, or it is forgotten.
  Timestamp wanted(Window& window, TimerKind kind) const {
    const Timestamp time = asked(window, kind);
    if (kind == own_kind()) return std::min(time, forgotten_at(window));
    // At the end of time only what must come at the end of the stream.
    return time == end_of_time ? not_queued : time;
  }
  static bool is_earlier(Timestamp time, Timestamp queued) {
    return time != not_queued && (queued == not_queued || time < queued);
  }
  void move_timer(InHand& in_hand, TimerKind kind, Timestamp time) {
    Timestamp& queued = in_hand.queued(kind);
    if (queued == time) return;
    if (queued != not_queued) store_.delete_timer(kind, queued);
    if (time != not_queued) store_.set_timer(kind, time);
    queued = time;
  }
  void queue(InHand& in_hand, Window& window) {
    for (const TimerKind kind : {TimerKind::event, TimerKind::processing}) {
      const Timestamp time = wanted(window, kind);
      if (is_earlier(time, in_hand.queued(kind))) move_timer(in_hand, kind, time);
    }
  }
  void queue_earliest(InHand& in_hand, TimerKind kind) {
    Timestamp earliest = not_queued;
    for (Window& window : in_hand.windows()) {
      const Timestamp time = wanted(window, kind);
      if (is_earlier(time, earliest)) earliest = time;
    }
    move_timer(in_hand, kind, earliest);
  }

  OperatorResult fire_due(TimerKind kind, Timestamp now, Output& out) {
    return within_share(store_, context(), [&] {
      const std::size_t used = out.batch().size();
      FiredTimers fired;
      while (store_.due_timer(kind, now)) {
        if (out.full()) return checked(used, out, false);
        const Timestamp time = store_.take_timer(kind);
        look_at_first(kind, time, out);
        store_.leave_key();
        if (Status room = fired.make_room(store_); !room.ok()) {
          return context().fail(std::move(room));
        }
      }
      return checked(used, out, true);
    });
  }
  // Of the key in hand the first window that comes due at `time`; others have their turn next.
  void look_at_first(TimerKind kind, Timestamp time, Output& out) {
    InHand in_hand(states_, store_.obtain_entry());
    in_hand.queued(kind) = not_queued;
    Window* first = nullptr;
    for (Window& window : in_hand.windows()) {
      const Timestamp own = wanted(window, kind);
      if (own == not_queued || own > time) continue;
      if (first == nullptr || window.window.start_ms < first->window.start_ms) first = &window;
    }
    if (first != nullptr) look_at(in_hand, *first, kind, time, out);
    queue_earliest(in_hand, TimerKind::event);
    queue_earliest(in_hand, TimerKind::processing);
  }
  void look_at(InHand& in_hand, Window& window, TimerKind kind, Timestamp time, Output& out) {
    Timestamp& timer = asked(window, kind);
    if (timer <= time && (timer != end_of_time || wants_end(window))) {
      timer = end_of_time;
      ask(window, out, [&](TriggerContext& place) {
        return kind == TimerKind::event ? trigger_.event_time(place, window.trigger)
                                        : trigger_.processing_time(place, window.trigger);
      });
    }
    if (kind == own_kind() && forgotten_at(window) <= time) {
      auto& windows = in_hand.windows();
      windows.erase(windows.begin() + (&window - windows.data()));
    }
  }
  // A timer for the end of time is one for windows that end there.
  static bool wants_end(const Window& window) { return window.window.end_ms == end_of_time; }

  OperatorResult checked(std::size_t used, Output& out, bool finished) {
    const Status views = check_new_views<Out>(context(), Batch(), out.batch(), used);
    if (!views.ok()) return context().fail(views);
    return finished ? OperatorResult::done : OperatorResult::more;
  }
  void arm() {
    const Timestamp time = store_.next_timer(TimerKind::processing);
    if (time != end_of_time) call_at_wall_time(context(), time);
  }

  KeyOf key_of_;
  const Windows windows_;
  const Trigger trigger_;
  const std::int64_t lateness_ms_;
  const Aggregate aggregate_;
  Finish finish_;
  const bool late_output_;
  States states_;
  KeyedStore<K> store_{TimerKinds{.event = true, .processing = true}};
  bool bound_ = false;
  RestoredWatermark restored_watermark_;
  Timestamp watermark_ = no_timestamp;
  Timestamp time_ = no_timestamp;  // of the record in hand
  bool ending_ = false;
};

}  // namespace hummer
