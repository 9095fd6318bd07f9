// process_keyed: adds an operator that runs a function with state and timers to the graph.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/environment.hpp>
#include <hummer/rebuildable.hpp>

namespace hummer {

template <typename T>
class DataStream;

// An input of an operator, as a stream gives it.
template <typename Input>
struct StreamInput {
  int node;
  EdgeSpecification edge;
  Input input;
  CapturedValues captured = {};
};
// Adds a KeyedProcessOperator behind its inputs; `captured`: by the function.
template <typename Key, typename Out, typename User, typename... Inputs>
[[gnu::cold]] DataStream<Out> process_keyed(StreamExecutionEnvironment& env, std::string_view name,
                                            User user, RestoreOptions options,
                                            const CapturedValues& captured,
                                            StreamInput<Inputs>... inputs) {
  SideOutputPorts sides = side_outputs_of(user);
  CapturedValues all = captured;
  ((all = all.and_also(inputs.captured)), ...);
  const int node = detail::add_operator(
      env, {.name = name,
            .factory = make_operator_factory([user, options, ... input = inputs.input] {
              return std::make_unique<KeyedProcessOperator<Key, Out, User, Inputs...>>(
                  user, input..., options);
            }),
            .output = &type_of<Out>(),
            .captured = all,
            .stateful = true});
  (env.add_edge(inputs.node, node, inputs.edge), ...);
  return DataStream<Out>(env, node).with_side_outputs(std::move(sides));
}

}  // namespace hummer
