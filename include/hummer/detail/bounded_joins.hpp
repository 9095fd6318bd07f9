// Joins of two whole bounded inputs by equal keys.
//
//   orders.key_by(&Order::customer)
//       .join(customers.key_by(&Customer::id))
//       .inner()
//       .apply([](const Order& order, const Customer& customer) { return Sale{…}; });
//
//   .left_outer()    apply(function(const A&, const B*))    every A; null: no B has its key
//   .right_outer()   apply(function(const A*, const B&))
//   .full_outer()    apply(function(const A*, const B*))    not both are null
//
// Each takes a strategy:
//   hybrid_hash  both sides are spread over partitions by a hash of their keys. What does not fit
//                into memory goes to disk, partition by partition, with both sides. The side that
//                ends first is what the others are looked up in. A partition on disk is joined in
//                the same way, and what hashing doesn't make smaller, such as one frequent key, by
//                sort_merge.
//   sort_merge   both sides are sorted by the bytes of their keys, and merged. Takes as long
//                whatever the keys are, and results come key by key.
//   automatic    hybrid_hash
//
// Results come in no particular order, and carry no timestamps. Some of a hybrid_hash come when one
// side has ended, all others when both have. Keys are equal when their canonical bytes are
// (hummer/codec.hpp): -0.0 is 0.0, and NaN is NaN.
//
// Memory, disk and checkpoints: as of sorts, hummer/bounded.hpp. Both sides own
// their text.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

#include <hummer/detail/checks.hpp>
#include <hummer/detail/graph_nodes.hpp>
#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/keyed_stream.hpp>

namespace hummer {

namespace detail {

template <typename Function, typename A, typename B, JoinKind kind>
struct BoundedJoinCall {
  using First = std::conditional_t<keeps_second(kind), const A*, const A&>;
  using Second = std::conditional_t<keeps_first(kind), const B*, const B&>;
};

template <typename Function, typename A, typename B, JoinKind kind>
consteval bool check_bounded_join() {
  using Call = BoundedJoinCall<Function, A, B, kind>;
  using First = typename Call::First;
  using Second = typename Call::Second;
  if constexpr (!std::is_invocable_v<Function&, First, Second>) {
    static_assert(never<Function>,
                  "apply: the function of a join must take a record of each side; where the join "
                  "keeps records of the other side that have no partner, a pointer to it, which "
                  "is null then: left_outer (const A&, const B*), right_outer (const A*, const "
                  "B&), full_outer (const A*, const B*)");
    return false;
  } else if constexpr (std::is_void_v<std::invoke_result_t<Function&, First, Second>>) {
    static_assert(never<Function>,
                  "apply: the function of a join returns nothing: let it return the record that it "
                  "makes of both");
    return false;
  } else {
    using Out = Stored<std::remove_cvref_t<std::invoke_result_t<Function&, First, Second>>>;
    return check_record_type<Out>() && check_copies<Function>();
  }
}

}  // namespace detail

template <typename A, typename KeyOfA, typename B, typename KeyOfB, JoinKind kind>
class BoundedJoin {
 public:
  BoundedJoin(KeyedStream<A, KeyOfA> first, KeyedStream<B, KeyOfB> second, JoinStrategy strategy)
      : first_(std::move(first)), second_(std::move(second)), strategy_(strategy) {}

  template <typename Function>
  auto apply(Function function) const {
    if constexpr (detail::check_bounded_join<Function, A, B, kind>()) {
      using Call = detail::BoundedJoinCall<Function, A, B, kind>;
      using Out = Stored<std::remove_cvref_t<
          std::invoke_result_t<Function&, typename Call::First, typename Call::Second>>>;
      const auto make = [of_first = first_.key_of(), of_second = second_.key_of(), function,
                         strategy = strategy_](std::size_t memory_bytes) {
        return make_join_operator(
            {.first = std::make_unique<RecordCodingOf<A, KeyOfA, KeyBytes::equal>>(of_first),
             .second = std::make_unique<RecordCodingOf<B, KeyOfB, KeyBytes::equal>>(of_second),
             .function = std::make_unique<JoinFunctionOf<A, B, Out, kind, Function>>(function),
             .kind = kind,
             .strategy = strategy},
            memory_bytes);
      };
      StreamExecutionEnvironment& env = first_.stream().environment();
      const auto first = first_.input();
      const auto second = second_.input();
      const int node = detail::add_operator(
          env,
          {.name = strategy_ == JoinStrategy::sort_merge ? "sort_merge_join" : "hybrid_hash_join",
           .factory = make_bounded_factory(make),
           .output = &type_of<Out>(),
           .captured =
               captured_values(function).and_also(first.captured).and_also(second.captured)});
      env.add_edge(first.node, node, first.edge);
      env.add_edge(second.node, node, second.edge);
      return DataStream<Out>(env, node);
    } else {
      return detail::RefusedStream();
    }
  }

 private:
  KeyedStream<A, KeyOfA> first_;
  KeyedStream<B, KeyOfB> second_;
  JoinStrategy strategy_;
};

// What JoinedStreams has of them.
template <typename A, typename KeyOfA, typename B, typename KeyOfB, bool co_group>
class BoundedJoins {
 public:
  BoundedJoins(KeyedStream<A, KeyOfA> first, KeyedStream<B, KeyOfB> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  auto inner(JoinStrategy strategy = JoinStrategy::automatic) const
    requires(!co_group)
  {
    return of<JoinKind::inner>(strategy);
  }
  auto left_outer(JoinStrategy strategy = JoinStrategy::automatic) const
    requires(!co_group)
  {
    return of<JoinKind::left_outer>(strategy);
  }
  auto right_outer(JoinStrategy strategy = JoinStrategy::automatic) const
    requires(!co_group)
  {
    return of<JoinKind::right_outer>(strategy);
  }
  auto full_outer(JoinStrategy strategy = JoinStrategy::automatic) const
    requires(!co_group)
  {
    return of<JoinKind::full_outer>(strategy);
  }

 protected:
  KeyedStream<A, KeyOfA> first_;
  KeyedStream<B, KeyOfB> second_;

 private:
  template <JoinKind kind>
  BoundedJoin<A, KeyOfA, B, KeyOfB, kind> of(JoinStrategy strategy) const {
    return {first_, second_, strategy};
  }
};

}  // namespace hummer
