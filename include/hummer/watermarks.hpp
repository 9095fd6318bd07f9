// WatermarkStrategy: how an operator knows that no earlier records will come.
//
//   stream.assign_timestamps(&Order::time_ms, WatermarkStrategy::bounded(5'000))
//
//   ascending()            times never fall back
//   bounded(ms)            a record may be this much earlier than the latest one before it
//   punctuated(function)   function(const T&, Timestamp) → std::optional<Timestamp>: the watermark
//                          that this record carries
//   generated(generator)   of your own, see below
//
// A watermark t says: no record with a time before t will come (one at t may).
//
// every(n): it follows each n-th record of a subtask, if it has moved since the last one; and what
// has moved without it, the last record when nothing more is at hand and when the input ends. Where
// batches end makes no difference. n is 1024, and 1 of `punctuated`. With every(1) event timers,
// windows and lateness are exact, as if each record were handled by itself: nothing depends on
// where the input paused either. Each watermark ends a batch, so that costs throughput where each
// record moves it.
//
// Fused behind a source with splits (hummer/source_splits.hpp), all of this is for each split: one
// generator, and the watermark is the least of those that count.
//
// with_idleness(ms): when no record has come for so long, the input is inactive,
// and the watermarks of others no longer wait for it; its next record makes it active again. What
// operators behind it emit meanwhile, by timers of their own, may be late.
//
// aligned(group, ms): an input whose watermark is more than `ms` ahead of the lowest of
// its group waits, so that windows and joins behind need not keep what the fast ones
// are ahead. Members are all subtasks in this process that were given (a copy of) the group;
// those that are inactive or have ended do not count. REQUIRES: inputs that do not come from
// one task, such as sources of their own: else one that waits could hold back the other. (Splits of
// one source wait by themselves: the source gives records of the others meanwhile.)
//
// A generator of your own is copied into each subtask:
//
//   struct Generator {
//     void record(const T&, Timestamp time);   each record, in order
//     Timestamp watermark() const;             asked behind each n-th record (every), and when
//                                              nothing is at hand; may fall back, which is ignored
//     void restore(Timestamp watermark);       optional: goes on behind this watermark
//     Timestamp periodic(Timestamp now_ms);    optional: asked every 200 ms as well, with the
//                                              clock, also while no record comes
//   };
//
// with_interval(ms): how often periodic() is asked. Only a generator whose watermark
// follows the clock needs it; that of an inactive input is not asked.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include <hummer/batch.hpp>
#include <hummer/detail/watermark_generators.hpp>
#include <hummer/rebuildable.hpp>

namespace hummer {

template <typename Generator>
inline constexpr bool asks_periodically =
    requires(Generator& generator) { static_cast<Timestamp>(generator.periodic(Timestamp{})); };

template <typename Generator>
struct WatermarkSettings {
  Generator generator;
  std::int64_t idle_ms = 0;  // 0: waits for ever
  std::optional<WatermarkAlignment> alignment = {};
  std::int64_t ahead_ms = 0;
  std::int64_t interval_ms = 200;  // of periodic()
  std::uint32_t every_records = 1024;

  WatermarkSettings with_idleness(std::int64_t milliseconds) const {
    WatermarkSettings copy = *this;
    copy.idle_ms = milliseconds;
    return copy;
  }
  WatermarkSettings with_interval(std::int64_t milliseconds) const {
    static_assert(asks_periodically<Generator>,
                  "an interval is for generators with a member periodic(Timestamp now_ms)");
    WatermarkSettings copy = *this;
    copy.interval_ms = milliseconds;
    return copy;
  }
  WatermarkSettings every(std::uint32_t records) const {
    WatermarkSettings copy = *this;
    copy.every_records = records;
    return copy;
  }
  // See hummer/rebuildable.hpp.
  CapturedValues captured() const {
    const CapturedValues settings = encoded_values(idle_ms, ahead_ms, interval_ms, every_records);
    if constexpr (requires { generator.function; }) {
      return settings.and_also(captured_values(generator.function));
    } else {
      return settings.and_also(captured_values(generator));
    }
  }
  WatermarkSettings aligned(const WatermarkAlignment& group, std::int64_t most_ahead_ms) const {
    WatermarkSettings copy = *this;
    copy.alignment = group;
    copy.ahead_ms = most_ahead_ms;
    return copy;
  }
};

struct WatermarkStrategy {
  static WatermarkSettings<BoundedWatermarks> ascending() { return {{}}; }
  static WatermarkSettings<BoundedWatermarks> bounded(std::int64_t out_of_order_ms) {
    return {{.out_of_order_ms = out_of_order_ms}};
  }
  template <typename Function>
  static WatermarkSettings<PunctuatedWatermarks<Function>> punctuated(Function function) {
    return {.generator = {.function = std::move(function)}, .every_records = 1};
  }
  template <typename Generator>
  static WatermarkSettings<Generator> generated(Generator generator) {
    return {std::move(generator)};
  }
};

}  // namespace hummer
