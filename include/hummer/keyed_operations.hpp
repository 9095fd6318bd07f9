// KeyedOperations: what a keyed stream can do beside aggregates: functions with
// state and timers, connections, joins, deduplicate, top_n. The base of KeyedStream;
// Self is the KeyedStream<T, KeyOf> itself.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <hummer/deduplicate.hpp>
#include <hummer/detail/checks.hpp>
#include <hummer/detail/keyed_nodes.hpp>
#include <hummer/detail/owned_text.hpp>
#include <hummer/detail/process_checks.hpp>
#include <hummer/environment.hpp>
#include <hummer/rebuildable.hpp>
#include <hummer/top_n.hpp>

namespace hummer {

template <typename T, typename KeyOf>
class KeyedStream;
template <typename A, typename KeyOfA, typename B, typename KeyOfB>
class KeyedConnectedStreams;
template <typename T, typename KeyOf, typename B>
class BroadcastConnectedStream;
template <typename A, typename KeyOfA, typename B, typename KeyOfB, bool co_group>
class JoinedStreams;
template <typename A, typename KeyOfA, typename B, typename KeyOfB>
class IntervalJoin;

template <typename Self, typename T>
class KeyedOperations : public detail::CallsOfUnkeyedStreams<Self> {
 public:
  // A function with state and timers per key: see hummer/detail/operators/keyed_process.hpp. What
  // it puts out: named here, or that of the function's KeyedOutput<Out>.
  template <typename Named = void, typename User>
  auto process(User user, RestoreOptions options = {}) const {
    using Out = detail::NamedOrOutputOf<Named, User>;
    if constexpr (detail::takes_owned_process<User, T, KeyedOutput, Out>()) {
      return self().owned().template process<Out>(std::move(user), options);
    } else if constexpr (!detail::check_keyed_process<User, T, Out>()) {
      return detail::RefusedStream();
    } else if constexpr (!detail::check_keyed_hooks<User, Out>()) {
      return detail::RefusedStream();
    } else {
      return process_keyed<typename Self::Key, Out>(self().stream().environment(), "process", user,
                                                    options, captured_by_keyed(user),
                                                    self().input());
    }
  }
  // Two keyed streams with common state and timers, or state per key and broadcast state:
  // see connected_streams.hpp.
  template <typename B, typename KeyOfB>
  auto connect(const KeyedStream<B, KeyOfB>& other) const {
    if constexpr (detail::check_connected_keys<typename Self::Key,
                                               typename KeyedStream<B, KeyOfB>::Key>()) {
      return KeyedConnectedStreams<T, typename Self::KeyFunction, B, KeyOfB>(self(), other);
    } else {
      return detail::RefusedStream();
    }
  }
  template <typename B>
  auto connect(const DataStream<B>& broadcast) const {
    return BroadcastConnectedStream<T, typename Self::KeyFunction, B>(self(), broadcast);
  }
  // Pairs of records of equal keys, in event time: see joins.hpp.
  template <typename B, typename KeyOfB>
  auto join(const KeyedStream<B, KeyOfB>& other) const {
    if constexpr (detail::check_join<T, typename Self::Key, B,
                                     typename KeyedStream<B, KeyOfB>::Key>()) {
      return JoinedStreams<T, typename Self::KeyFunction, B, KeyOfB, false>(self(), other);
    } else {
      return detail::RefusedStream();
    }
  }
  template <typename B, typename KeyOfB>
  auto co_group(const KeyedStream<B, KeyOfB>& other) const {
    if constexpr (detail::check_join<T, typename Self::Key, B,
                                     typename KeyedStream<B, KeyOfB>::Key>()) {
      return JoinedStreams<T, typename Self::KeyFunction, B, KeyOfB, true>(self(), other);
    } else {
      return detail::RefusedStream();
    }
  }
  template <typename B, typename KeyOfB>
  auto interval_join(const KeyedStream<B, KeyOfB>& other) const {
    if constexpr (detail::check_join<T, typename Self::Key, B,
                                     typename KeyedStream<B, KeyOfB>::Key>()) {
      return IntervalJoin<T, typename Self::KeyFunction, B, KeyOfB>(self(), other);
    } else {
      return detail::RefusedStream();
    }
  }
  // Of a second side without keys.
  template <typename Other>
  detail::RefusedStream join(const Other& other) const {
    return detail::without_keys(other);
  }
  template <typename Other>
  detail::RefusedStream co_group(const Other& other) const {
    return detail::without_keys(other);
  }
  template <typename Other>
  detail::RefusedStream interval_join(const Other& other) const {
    return detail::without_keys(other);
  }
  // The first record of each key; a key that was not seen for `ttl_ms` (of processing time) is
  // new again. 0: never.
  DataStream<T> deduplicate(std::int64_t ttl_ms = 0) const {
    return process_keyed<typename Self::Key, T>(self().stream().environment(), "deduplicate",
                                                Deduplicate<T>(ttl_ms), {}, encoded_values(ttl_ms),
                                                self().input());
  }
  // The `n` records with the highest score_of(record) per key and tumbling window of event time,
  // best first: see hummer/top_n.hpp.
  template <typename ScoreOf>
  auto top_n(std::uint32_t n, ScoreOf score_of, std::int64_t window_ms) const {
    if constexpr (detail::check_top_n<ScoreOf, T>()) {
      return process_keyed<typename Self::Key, Ranked<T>>(
          self().stream().environment(), "top_n", TopN<T, ScoreOf>(n, score_of, window_ms), {},
          encoded_values(n, window_ms).and_also(captured_values(score_of)), self().input());
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  const Self& self() const { return static_cast<const Self&>(*this); }
};

}  // namespace hummer
