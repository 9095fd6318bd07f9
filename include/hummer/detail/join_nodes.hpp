// join_windows: adds the join of two keyed streams over windows on a grid to the graph.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include <hummer/detail/keyed_nodes.hpp>
#include <hummer/detail/operators/window_join.hpp>

namespace hummer {

template <typename Key, typename Out, bool co_group, typename Function, typename A, typename KeyOfA,
          typename B, typename KeyOfB>
[[gnu::cold]] DataStream<Out> join_windows(StreamExecutionEnvironment& env, std::string_view name,
                                           const WindowGrid& grid, Function function,
                                           const CapturedValues& captured,
                                           StreamInput<KeyedInput<A, KeyOfA>> first,
                                           StreamInput<KeyedInput<B, KeyOfB>> second) {
  const int node = detail::add_operator(
      env, {.name = name,
            .factory = make_operator_factory(
                [grid, function, of_first = first.input, of_second = second.input] {
                  return std::make_unique<
                      WindowJoinOperator<Key, A, B, Out, Function, KeyOfA, KeyOfB, co_group>>(
                      grid, function, of_first, of_second);
                }),
            .output = &type_of<Out>(),
            .captured = captured.and_also(first.captured).and_also(second.captured),
            .stateful = true});
  env.add_edge(first.node, node, first.edge);
  env.add_edge(second.node, node, second.edge);
  return DataStream<Out>(env, node).with_side_outputs(side_outputs(late_first<A>, late_second<B>));
}

}  // namespace hummer
