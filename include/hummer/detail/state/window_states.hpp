// WindowStates<A, TriggerState>: what KeyedWindowOperator keeps for each key, as a state of its
// KeyedStore: the open windows, with accumulators and triggers.
//
// A key has at most one timer of each kind in the store, `queued`: the earliest moment that any of
// its windows asked for. Whoever comes to it and finds that it is too early queues it again. So a
// session that grows with each record does not move its timer each time.
//
// InHand: the windows of the key in hand while they are changed. Thread: one. Cost: that of the
// store.
#pragma once

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <hummer/keyed_states.hpp>
#include <hummer/windows.hpp>

namespace hummer {
namespace detail {

template <typename Accumulator, typename TriggerState>
struct WindowCell {
  struct Window {
    TimeWindow window;
    Accumulator accumulator{};
    bool filled = false;  // there is something in the accumulator
    TriggerState trigger{};
    Timestamp event_timer = end_of_time;
    Timestamp processing_timer = end_of_time;
  };
  std::vector<Window> windows;
  std::array<Timestamp, 2> queued{not_queued, not_queued};  // by TimerKind

  static constexpr Timestamp not_queued = no_timestamp;
  static constexpr bool uses_heap = true;

  bool empty() const { return windows.empty(); }
  void clear() { *this = {}; }
  Timestamp last_expiry() const { return end_of_time; }
  bool expires_by(Timestamp) const { return false; }
  void expire(Timestamp) {}
  void live_forever() {}
  void live_until(Timestamp) {}
  std::size_t heap_bytes() const {
    std::size_t bytes = windows.capacity() * sizeof(Window) + 16;
    for (const Window& window : windows) bytes += heap_bytes_of(window.accumulator);
    return bytes;
  }
  void encode(ByteWriter& out) const {
    for (const Timestamp time : queued) out.put_value(time);
    out.put_value(static_cast<std::uint32_t>(windows.size()));
    for (const Window& window : windows) encode_window(window, out);
  }
  bool decode(ByteReader& in) {
    for (Timestamp& time : queued) {
      if (!in.get_value(time)) return false;
    }
    std::uint32_t count = 0;
    if (!in.get_value(count)) return false;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!decode_window(in, windows.emplace_back())) return false;
    }
    return true;
  }
  static void encode_window(const Window& window, ByteWriter& out) {
    out.put_value(window.window);
    Codec<Accumulator>::encode(window.accumulator, out);
    out.put_value(static_cast<std::uint8_t>(window.filled));
    Codec<TriggerState>::encode(window.trigger, out);
    out.put_value(window.event_timer);
    out.put_value(window.processing_timer);
  }
  [[nodiscard]] static bool decode_window(ByteReader& in, Window& window) {
    std::uint8_t filled = 0;
    if (!in.get_value(window.window) || !Codec<Accumulator>::decode(in, window.accumulator) ||
        !in.get_value(filled) || !Codec<TriggerState>::decode(in, window.trigger) ||
        !in.get_value(window.event_timer) || !in.get_value(window.processing_timer)) {
      return false;
    }
    window.filled = filled != 0;
    return true;
  }
};

}  // namespace detail

template <typename Accumulator, typename TriggerState>
class WindowStates final : public detail::StateOf<detail::WindowCell<Accumulator, TriggerState>> {
 public:
  using Cell = detail::WindowCell<Accumulator, TriggerState>;
  using Window = typename Cell::Window;

  WindowStates() : detail::StateOf<Cell>("windows", {}) {}
  std::string describe_type() const override {
    return "windows<" + Codec<Accumulator>::name() + "," + Codec<TriggerState>::name() + ">";
  }

  // Of the key in hand; null: it has none.
  const std::vector<Window>* find() const {
    const Cell* const found = this->find_cell();
    return found != nullptr ? &found->windows : nullptr;
  }

  // REQUIRES: `entry` is that of the key in hand.
  class InHand {
   public:
    InHand(WindowStates& states, KeyedEntry& entry)
        : entry_(entry), cell_(states.cell(entry)), were_some_(!cell_.empty()) {
      states.backend().changing(entry);
    }
    InHand(const InHand&) = delete;
    InHand& operator=(const InHand&) = delete;
    ~InHand() {
      if (were_some_ == cell_.empty()) entry_.count(!were_some_);
    }
    std::vector<Window>& windows() { return cell_.windows; }
    // Cell::not_queued: there is no timer.
    Timestamp& queued(TimerKind kind) { return cell_.queued[static_cast<std::size_t>(kind)]; }

   private:
    KeyedEntry& entry_;
    Cell& cell_;
    const bool were_some_;
  };
};

}  // namespace hummer
