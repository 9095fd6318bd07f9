// Two streams in one function: connected streams and broadcast state.
//
//   orders.connect(payments)
//       .key_by(&Order::id, &Payment::order)
//       .process(Match{});                    process_first(const Order&, …),
//                                             process_second(const Payment&, …)
//   events.key_by(&Event::kind)
//       .connect(rules.broadcast())
//       .process(Judge{});                    process(const Event&, …),
//                                             process_broadcast(const Rule&, …)
//   metrics.connect(alarms)
//       .process(Log{});                      process_first(const Metric&, …),
//                                             process_second(const Alarm&, …)
//
// State and timers are per key and common to both keyed sides; the hooks are those
// of hummer/detail/operators/keyed_process.hpp, broadcast state is in hummer/broadcast_state.hpp.
// Without keys the function is one of hummer/detail/operators/process.hpp; either side may be a
// broadcast(). Records of the two sides come in any order between them; the watermark is the
// smaller of both.
//
// Errors: keys of different types are refused at compile time.
#pragma once

#include <utility>

#include <hummer/data_stream.hpp>

namespace hummer {

template <typename A, typename KeyOfA, typename B, typename KeyOfB>
class KeyedConnectedStreams {
  using Key = typename KeyedStream<A, KeyOfA>::Key;

 public:
  KeyedConnectedStreams(KeyedStream<A, KeyOfA> first, KeyedStream<B, KeyOfB> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  template <typename Named = void, typename User>
  auto process(User user, RestoreOptions options = {}) const {
    using Out = detail::NamedOrOutputOf<Named, User>;
    if constexpr (!detail::check_keyed_connected_process<User, A, B, Out>()) {
      return detail::RefusedStream();
    } else if constexpr (!detail::check_keyed_hooks<User, Out>()) {
      return detail::RefusedStream();
    } else {
      return process_keyed<Key, Out>(first_.stream().environment(), "connect", user, options,
                                     captured_by_keyed(user), first_.input(), second_.input());
    }
  }

 private:
  KeyedStream<A, KeyOfA> first_;
  KeyedStream<B, KeyOfB> second_;
};

template <typename A, typename B>
class ConnectedStreams {
 public:
  ConnectedStreams(DataStream<A> first, DataStream<B> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  template <typename KeyOfA, typename KeyOfB>
  auto key_by(KeyOfA key_of_first, KeyOfB key_of_second) const {
    return first_.key_by(key_of_first).connect(second_.key_by(key_of_second));
  }

  // What it puts out: named here, User::Output, or that of the hooks' ProcessOutput<Out>.
  template <typename Named = void, typename User>
  auto process(User user, SideOutputPorts sides = {}) const {
    using Out = detail::NamedOrOutputOf<Named, User>;
    if constexpr (!detail::check_connected_process<User, A, B, Out>()) {
      return detail::RefusedStream();
    } else if constexpr (!detail::check_hooks<User, Out>()) {
      return detail::RefusedStream();
    } else {
      if (sides.empty()) sides = side_outputs_of(user);
      StreamExecutionEnvironment& env = first_.environment();
      const int node = detail::add_operator(
          env, first_.node(), first_.edge(),
          {.name = "connect",
           .factory = make_operator_factory([user, sides] {
             return std::make_unique<ProcessOperator<Out, User, A, B>>(user, sides);
           }),
           .output = &type_of<Out>(),
           .captured = captured_values(user)});
      env.add_edge(second_.node(), node, second_.edge());
      return DataStream<Out>(env, node).with_side_outputs(std::move(sides));
    }
  }

 private:
  DataStream<A> first_;
  DataStream<B> second_;
};

template <typename T, typename KeyOf, typename B>
class BroadcastConnectedStream {
 public:
  BroadcastConnectedStream(KeyedStream<T, KeyOf> keyed, DataStream<B> broadcast)
      : keyed_(std::move(keyed)), broadcast_(std::move(broadcast)) {}

  template <typename Named = void, typename User>
  auto process(User user, RestoreOptions options = {}) const {
    using Out = detail::NamedOrOutputOf<Named, User>;
    if constexpr (!detail::check_broadcast_process<User, T, B, Out>()) {
      return detail::RefusedStream();
    } else if constexpr (!detail::check_keyed_hooks<User, Out>()) {
      return detail::RefusedStream();
    } else {
      // Also when the author left out broadcast(): nothing else would be right.
      EdgeSpecification edge = broadcast_.edge();
      edge.routing = EdgeRouting::broadcast;
      return process_keyed<typename KeyedStream<T, KeyOf>::Key, Out>(
          keyed_.stream().environment(), "connect_broadcast", user, options,
          captured_by_keyed(user), keyed_.input(),
          StreamInput<BroadcastInput<B>>{broadcast_.node(), edge, {}});
    }
  }

 private:
  KeyedStream<T, KeyOf> keyed_;
  DataStream<B> broadcast_;
};

}  // namespace hummer
