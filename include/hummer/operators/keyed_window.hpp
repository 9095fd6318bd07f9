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
// Late records (end + lateness not above the watermark) are dropped and counted;
// LateRecordsOperator has taken most of them out before. At the end of the stream
// event-time timers and, in windows of processing time, those of the clock come
// due. A result's time is its window's last millisecond; of GlobalWindows, that of
// the record that made it go out.
//
// State: watermark, windows with accumulators and triggers; restored by the keys it owns.
#pragma once

#include <utility>

#include <hummer/operators/late_records.hpp>
#include <hummer/operators/view_check.hpp>
#include <hummer/operators/window_results.hpp>
#include <hummer/state/table_state.hpp>
#include <hummer/state/window_states.hpp>

namespace hummer {

template <typename In, typename K, typename KeyOf, typename Windows, typename Trigger,
          typename Aggregate, typename Finish>
class KeyedWindowOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Out = typename Finish::Output;
  using States = WindowStates<K, Accumulator, typename Trigger::State>;
  using Window = typename States::Window;
  using Entry = typename States::Entry;
  static constexpr bool sessions = std::is_same_v<Windows, SessionWindows>;
  static constexpr bool global = std::is_same_v<Windows, GlobalWindows>;

 public:
  KeyedWindowOperator(KeyOf key_of, Windows windows, Trigger trigger, std::int64_t lateness_ms,
                      Aggregate aggregate, Finish finish)
      : key_of_(std::move(key_of)),
        windows_(windows),
        trigger_(std::move(trigger)),
        lateness_ms_(lateness_ms),
        aggregate_(std::move(aggregate)),
        finish_(std::move(finish)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  Status open() override {
    if (const Status status = windows_.check(); !status.ok()) return status;
    arm();
    return {};
  }

  Answer process(Batch& in, Output& out) override {
    const auto records = in.values<In>();
    const bool timed = in.has_timestamps();
    if (!timed && !processing_time() && !global && !in.empty()) {
      return context().fail({ErrorCode::invalid_argument, no_event_time});
    }
    const std::size_t used = out.batch().size();
    {
      RecordInHand in_hand(in);
      std::size_t i = in.position();
      for (; i < records.size() && !out.full(); ++i) {
        in_hand.set(i);
        time_ = processing_time() ? context().wall_time_ms()
                : timed           ? in.timestamps()[i]
                                  : no_timestamp;
        add(records[i], out);
      }
      in_hand.set(i);
    }
    time_ = no_timestamp;
    arm();
    return checked(used, out, in.finished());
  }

  Answer watermark(Timestamp time, Output& out) override {
    watermark_ = std::max(watermark_, time);
    return fire_due(states_.events(), watermark_, true, out);
  }
  Answer timer(std::int64_t, Output& out) override {
    const Answer answer = fire_due(states_.processing(), context().wall_time_ms(), false, out);
    if (answer == Answer::done) arm();
    return answer;
  }
  Answer end(Output& out) override {
    const Answer answer = watermark(end_of_time, out);
    if (answer != Answer::done || !processing_time()) return answer;
    ending_ = true;
    return fire_due(states_.processing(), end_of_time, false, out);
  }

  std::vector<StateDescription> states() override {
    return {table_state<K, Accumulator>("windows")};
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(std::uint8_t{1});  // version
    out.put_value(watermark_);
    const auto entries = states_.in_order();
    out.put_value(static_cast<std::uint64_t>(entries.size()));
    for (const Entry* entry : entries) {
      Codec<K>::encode(States::Form::key(entry->first), out);
      out.put_value(static_cast<std::uint32_t>(entry->second.windows.size()));
      for (const Window& window : entry->second.windows) {
        out.put_value(window.window);
        Codec<Accumulator>::encode(window.accumulator, out);
        out.put_value(static_cast<std::uint8_t>(window.filled));
        Codec<typename Trigger::State>::encode(window.trigger, out);
        out.put_value(window.event_timer);
        out.put_value(window.processing_timer);
      }
    }
    return {};
  }
  Status restore(ByteReader& in) override {
    if (restore_windows(in)) return {};
    return {ErrorCode::corrupt_record, "the state of a window cannot be decoded"};
  }

 private:
  bool processing_time() const { return windows_.domain == TimeDomain::processing; }
  Timestamp processing_now() const { return ending_ ? end_of_time : context().wall_time_ms(); }
  Timestamp forgotten_at(const Window& window) const {
    return time_after(window.window.end_ms, lateness_ms_);
  }

  void add(const In& record, Output& out) {
    Entry* entry = nullptr;
    windows_.each_window(time_, [&](const TimeWindow& own) {
      if (!processing_time() && !global && time_after(own.end_ms, lateness_ms_) <= watermark_) {
        context().count_late(1);
        return;
      }
      if (entry == nullptr) entry = &states_.at(K(std::invoke(key_of_, record)));
      Window& window = sessions ? merged(*entry, own) : same(*entry, own);
      aggregate_.add(window.accumulator, !window.filled, record);
      window.filled = true;
      ask(*entry, window, out,
          [&](TriggerContext& place) { return trigger_.record(place, window.trigger); });
    });
    if (entry != nullptr) states_.forget_if_unused(*entry);
  }
  Window& same(Entry& entry, const TimeWindow& own) {
    for (Window& window : entry.second.windows) {
      if (window.window.start_ms == own.start_ms) return window;
    }
    return states_.add(entry.second, own);
  }
  // The session that holds `own`: it may join several.
  Window& merged(Entry& entry, const TimeWindow& own) {
    auto& windows = entry.second.windows;
    Window* into = nullptr;
    TimeWindow whole = own;
    std::sort(windows.begin(), windows.end(),
              [](const Window& a, const Window& b) { return a.window < b.window; });
    for (std::size_t i = 0; i < windows.size();) {
      Window& window = windows[i];
      if (window.window.start_ms >= own.end_ms || own.start_ms >= window.window.end_ms) {
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
    if (into == nullptr) return states_.add(entry.second, own);
    into->window = whole;
    return *into;
  }

  // Calls the trigger, does what it answers and queues what it asks for.
  template <typename Call>
  void ask(Entry& entry, Window& window, Output& out, Call&& call) {
    TriggerContext place{window.window,      time_,
                         watermark_,         processing_now(),
                         window.event_timer, window.processing_timer};
    const TriggerResult result = call(place);
    window.event_timer = place.event_timer;
    window.processing_timer = place.processing_timer;
    if (result == TriggerResult::fire || result == TriggerResult::fire_and_purge) {
      emit(entry, window, out);
    }
    if (result == TriggerResult::purge || result == TriggerResult::fire_and_purge) {
      window.accumulator = Accumulator{};
      window.filled = false;
    }
    queue(entry, window);
  }
  void queue(Entry& entry, Window& window) {
    Timestamp event = window.event_timer;
    Timestamp processing = window.processing_timer;
    (processing_time() ? processing : event) =
        std::min(processing_time() ? processing : event, forgotten_at(window));
    // At the end of time only what must come at the end of the stream.
    if (event != end_of_time || !processing_time()) states_.queue_event(entry, window, event);
    if (processing != end_of_time || processing_time()) {
      states_.queue_processing(entry, window, processing);
    }
  }

  void emit(Entry& entry, const Window& window, Output& out) {
    if (!window.filled) return;
    Batch& batch = out.batch();
    const std::size_t used = batch.size();
    {
      auto collector = out.collector<Out>();
      finish_(States::Form::key(entry.first), window.window, window.accumulator, collector);
    }
    stamp(batch, used, batch.size(), global ? time_ : time_before(window.window.end_ms, 1));
  }

  Answer fire_due(typename States::Queue& queue, Timestamp now, bool event, Output& out) {
    const std::size_t used = out.batch().size();
    while (!queue.empty() && queue.top().time <= now) {
      if (out.full()) return checked(used, out, false);
      typename States::Queued taken{};
      Window* const window = states_.take(queue, taken);
      if (window != nullptr) look_at(*taken.entry, *window, taken.time, event, out);
      states_.forget_if_unused(*taken.entry);
    }
    return checked(used, out, true);
  }
  void look_at(Entry& entry, Window& window, Timestamp queued, bool event, Output& out) {
    Timestamp& queued_for = event ? window.queued_event : window.queued_processing;
    if (queued_for != queued) return;  // queued again for an earlier time
    queued_for = States::not_queued;
    Timestamp& asked = event ? window.event_timer : window.processing_timer;
    if (asked <= queued && (asked != end_of_time || wants_end(window))) {
      asked = end_of_time;
      ask(entry, window, out, [&](TriggerContext& place) {
        return event ? trigger_.event_time(place, window.trigger)
                     : trigger_.processing_time(place, window.trigger);
      });
    }
    if (event != processing_time() && forgotten_at(window) <= queued) {
      auto& windows = entry.second.windows;
      windows.erase(windows.begin() + (&window - windows.data()));
    } else {
      this->queue(entry, window);
    }
  }
  // A timer for the end of time is one for windows that end there.
  static bool wants_end(const Window& window) { return window.window.end_ms == end_of_time; }

  Answer checked(std::size_t used, Output& out, bool finished) {
    const Status views = check_new_views<Out>(Batch(), out.batch(), used);
    if (!views.ok()) return context().fail(views);
    return finished ? Answer::done : Answer::more;
  }
  void arm() {
    if (states_.processing().empty()) return;
    const Timestamp time = states_.processing().top().time;
    if (time == end_of_time) return;
    context().call_at(context().now() + (time - context().wall_time_ms()) * 1'000'000);
  }

  bool restore_windows(ByteReader& in) {
    std::uint8_t version = 0;
    Timestamp time = 0;
    std::uint64_t keys = 0;
    if (!in.get_value(version) || version != 1 || !in.get_value(time) || !in.get_value(keys)) {
      return false;
    }
    watermark_ = restored_ ? std::min(watermark_, time) : time;
    restored_ = true;
    for (std::uint64_t i = 0; i < keys; ++i) {
      K key{};
      std::uint32_t count = 0;
      if (!Codec<K>::decode(in, key) || !in.get_value(count)) return false;
      Entry* const entry = context().owns_key(key) ? &states_.at(key) : nullptr;
      for (std::uint32_t j = 0; j < count; ++j) {
        Window window;
        std::uint8_t filled = 0;
        if (!in.get_value(window.window) || !Codec<Accumulator>::decode(in, window.accumulator) ||
            !in.get_value(filled) || !Codec<typename Trigger::State>::decode(in, window.trigger) ||
            !in.get_value(window.event_timer) || !in.get_value(window.processing_timer)) {
          return false;
        }
        if (entry == nullptr) continue;
        Window& added = states_.add(entry->second, window.window);
        window.number = added.number;
        window.filled = filled != 0;
        added = std::move(window);
        queue(*entry, added);
      }
    }
    return true;
  }

  KeyOf key_of_;
  const Windows windows_;
  const Trigger trigger_;
  const std::int64_t lateness_ms_;
  const Aggregate aggregate_;
  Finish finish_;
  States states_;
  Timestamp watermark_ = no_timestamp;
  Timestamp time_ = no_timestamp;  // of the record in hand
  bool restored_ = false;
  bool ending_ = false;
};

}  // namespace hummer
