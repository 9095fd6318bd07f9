// Joins of keyed streams: in event time, or of whole bounded inputs.
//
//   bids.key_by(&Bid::auction)
//       .join(auctions.key_by(&Auction::id))
//       .window(TumblingWindows::of(10'000))
//       .apply([](const Bid& bid, const Auction& auction) { return Sale{…}; });
//
//   a.co_group(b).window(w).apply(function)     both sides of a window at once:
//       function(TimeWindow, std::span<const A>, std::span<const B>, KeyedOutput<Out>&)
//   a.interval_join(b).between(-5'000, 0).apply(function)     b.time − a.time within the bounds,
//                                                             both included
//
//   a.join(b).inner().apply(function)           of bounded inputs, as large as the disk; also
//                                               left_outer(), right_outer(), full_outer(): see
//                                               hummer/detail/bounded_joins.hpp
//
// Both sides need timestamps (but for bounded inputs), own their text, and have a key of the same
// type. Records whose windows are over: `.side_output(late_first<Bid>)` and `late_second`. Details:
// window_join.hpp, session_join.hpp and interval_join.hpp in hummer/detail/operators.
#pragma once

#include <utility>

#include <hummer/connected_streams.hpp>
#include <hummer/detail/bounded_joins.hpp>
#include <hummer/detail/join_nodes.hpp>
#include <hummer/detail/join_types.hpp>
#include <hummer/detail/operators/interval_join.hpp>
#include <hummer/detail/operators/session_join.hpp>
#include <hummer/windows.hpp>

namespace hummer {

template <typename A, typename KeyOfA, typename B, typename KeyOfB, bool co_group, typename Windows>
class WindowedJoin {
  using Key = typename KeyedStream<A, KeyOfA>::Key;

 public:
  WindowedJoin(KeyedStream<A, KeyOfA> first, KeyedStream<B, KeyOfB> second, Windows windows)
      : first_(std::move(first)), second_(std::move(second)), windows_(windows) {}

  template <typename Function>
    requires(!co_group)
  auto apply(Function function) const {
    if constexpr (detail::check_join_function<Function, A, B>()) {
      using Out = detail::JoinedType<Function, A, B>;
      return add<Out>("window_join", std::move(function));
    } else {
      return detail::RefusedStream();
    }
  }
  // With a generic lambda name Out: apply<Out>(…).
  template <typename Named = void, typename Function>
    requires co_group
  auto apply(Function function) const {
    using Out = typename decltype(detail::co_group_output<Named, Function>())::type;
    if constexpr (detail::check_co_group_function<Function, A, B, Out>()) {
      return add<Out>("co_group", std::move(function));
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  template <typename Out, typename Function>
  DataStream<Out> add(std::string name, Function function) const {
    StreamExecutionEnvironment& env = first_.stream().environment();
    const CapturedValues captured = captured_values(function);
    if constexpr (on_grid<Windows>) {
      return join_windows<Key, Out, co_group>(
          env, name, windows_, std::move(function),
          captured.and_also(
              encoded_values(windows_.size_ms, windows_.slide_ms, windows_.offset_ms)),
          first_.input(), second_.input());
    } else {
      using Join = SessionJoin<A, B, Out, Function, co_group>;
      return process_keyed<Key, Out>(env, name, Join(windows_, std::move(function)), {},
                                     captured.and_also(encoded_values(windows_.gap_ms)),
                                     first_.input(), second_.input());
    }
  }

  KeyedStream<A, KeyOfA> first_;
  KeyedStream<B, KeyOfB> second_;
  Windows windows_;
};

template <typename A, typename KeyOfA, typename B, typename KeyOfB, bool co_group>
class JoinedStreams : public BoundedJoins<A, KeyOfA, B, KeyOfB, co_group> {
 public:
  using BoundedJoins<A, KeyOfA, B, KeyOfB, co_group>::BoundedJoins;

  template <typename Windows>
  auto window(Windows windows) const {
    if constexpr (detail::check_join_windows<Windows>()) {
      return WindowedJoin<A, KeyOfA, B, KeyOfB, co_group, Windows>(this->first_, this->second_,
                                                                   windows);
    } else {
      return detail::RefusedStream();
    }
  }
};

template <typename A, typename KeyOfA, typename B, typename KeyOfB>
class IntervalJoin {
  using Key = typename KeyedStream<A, KeyOfA>::Key;

 public:
  IntervalJoin(KeyedStream<A, KeyOfA> first, KeyedStream<B, KeyOfB> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  IntervalJoin between(std::int64_t lower_ms, std::int64_t upper_ms) const {
    IntervalJoin copy = *this;
    copy.lower_ms_ = lower_ms;
    copy.upper_ms_ = upper_ms;
    return copy;
  }
  // function(const A&, const B&) → Out
  template <typename Function>
  auto apply(Function function) const {
    if constexpr (detail::check_join_function<Function, A, B>()) {
      using Out = detail::JoinedType<Function, A, B>;
      using Join = IntervalJoinFunction<A, B, Out, Function>;
      return process_keyed<Key, Out>(
          first_.stream().environment(), "interval_join", Join(lower_ms_, upper_ms_, function), {},
          encoded_values(lower_ms_, upper_ms_).and_also(captured_values(function)), first_.input(),
          second_.input());
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  KeyedStream<A, KeyOfA> first_;
  KeyedStream<B, KeyOfB> second_;
  std::int64_t lower_ms_ = 0;
  std::int64_t upper_ms_ = 0;
};

}  // namespace hummer
