// process_keyed: adds an operator that runs a function with state and timers to the graph.
#pragma once

#include <memory>
#include <string>
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
DataStream<Out> process_keyed(StreamExecutionEnvironment& env, std::string name, User user,
                              RestoreOptions options, const CapturedValues& captured,
                              StreamInput<Inputs>... inputs) {
  SideOutputPorts sides = side_outputs_of(user);
  CapturedValues all = captured;
  ((all = all.and_also(inputs.captured)), ...);
  const int node =
      env.add_node({.name = std::move(name),
                    .kind = "operator",
                    .factory = make_operator_factory([user, options, ... input = inputs.input] {
                      return std::make_unique<KeyedProcessOperator<Key, Out, User, Inputs...>>(
                          user, input..., options);
                    }),
                    .stateful = true,
                    .output_type = type_of<Out>().name,
                    .captured = all});
  (env.add_edge(inputs.node, node, inputs.edge), ...);
  return DataStream<Out>(env, node).with_side_outputs(std::move(sides));
}

}  // namespace hummer
