// TopN: the n best records per key and tumbling window of event time, as a
// function with keyed state and timers.
//
// Emits Ranked<T> when the watermark has passed the window's end, rank 1 first, with
// the time of the window's last millisecond. A score that is NaN is below all numbers. Among equal
// scores the smaller record (by its canonical bytes) is the better one, so that the result depends
// on the records alone and not on their order. A record whose window is over is counted as late
// and goes to the side output `late_records<T>`; one without a time fails the job.
//
// REQUIRES: T owns its text. Cost: O(n) per record that is among the best so far.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include <hummer/keyed_output.hpp>
#include <hummer/keyed_states.hpp>
#include <hummer/windows.hpp>

namespace hummer {

template <typename T>
struct Ranked {
  Timestamp window_start;
  std::uint32_t rank;  // from 1
  T record;
};

// The tag of the ready operators for records that come too late.
template <typename T>
inline constexpr SideOutput<T> late_records{"late"};

template <typename T, typename ScoreOf>
class TopN {
  using Score = std::remove_cvref_t<std::invoke_result_t<ScoreOf&, const T&>>;

 public:
  TopN(std::uint32_t n, ScoreOf score_of, std::int64_t window_ms)
      : n_(n), score_of_(std::move(score_of)), window_ms_(window_ms) {
    HUMMER_ASSERT(n > 0 && window_ms > 0);
  }

  SideOutputPorts side_outputs() const { return hummer::side_outputs(late_records<T>); }
  auto states() { return hummer::states(windows_); }

  void open(OperatorContext& context) { context_ = &context; }
  void process(const T& record, KeyedOutput<Ranked<T>>& out) {
    if (out.time() == no_timestamp) {
      throw std::runtime_error("top_n needs event time: assign timestamps before it");
    }
    const Timestamp start = WindowGrid{window_ms_, window_ms_}.floor(out.time(), window_ms_);
    if (start + window_ms_ <= out.watermark()) {
      context_->count_late(1);
      return out.side(late_records<T>, record);
    }
    windows_.update(start, {}, [&](std::vector<T>& best) {
      const auto at = std::upper_bound(best.begin(), best.end(), record,
                                       [&](const T& a, const T& b) { return better(a, b); });
      if (at == best.end() && best.size() >= n_) return;
      best.insert(at, record);
      if (best.size() > n_) best.pop_back();
    });
    out.set_event_timer(start + window_ms_);
  }

  OperatorResult on_timer(Timestamp end, KeyedOutput<Ranked<T>>& out) {
    const Timestamp start = end - window_ms_;
    const std::vector<T>* const best = windows_.find(start);
    while (best != nullptr && emitted_ < best->size()) {
      if (out.full()) return OperatorResult::more;
      const auto rank = static_cast<std::uint32_t>(emitted_ + 1);
      out.emit(Ranked<T>{start, rank, (*best)[emitted_]}, end - 1);
      ++emitted_;
    }
    emitted_ = 0;
    windows_.remove(start);
    return OperatorResult::done;
  }

 private:
  bool better(const T& a, const T& b) const {
    const Score score_a = std::invoke(score_of_, a);
    const Score score_b = std::invoke(score_of_, b);
    if constexpr (std::is_floating_point_v<Score>) {
      if (std::isnan(score_a) != std::isnan(score_b)) return std::isnan(score_b);
      if (score_a != score_b && !std::isnan(score_a)) return score_b < score_a;
    } else {
      if (score_a != score_b) return score_b < score_a;
    }
    return detail::CanonicalLess<T>::bytes(a) < detail::CanonicalLess<T>::bytes(b);
  }

  std::uint32_t n_;
  ScoreOf score_of_;
  std::int64_t window_ms_;
  OperatorContext* context_ = nullptr;
  MapState<Timestamp, std::vector<T>> windows_{"windows"};
  std::size_t emitted_ = 0;  // of the window whose timer fires
};

}  // namespace hummer
