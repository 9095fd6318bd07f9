// How an aggregate of a keyed stream becomes operators: partial state where the records are, the
// exchange by key, and the merge. Included by hummer/keyed_stream.hpp, never by itself.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include <hummer/keyed_stream.hpp>

namespace hummer {

template <typename T, typename KeyOf>
template <typename Aggregate>
auto KeyedStream<T, KeyOf>::aggregate_of(const std::string& name, Aggregate aggregate, Emit emit,
                                         const CapturedValues& of_aggregate) const
    -> DataStream<KeyValue<Key, typename Aggregate::Result>> {
  using Partial = KeyValue<Key, typename Aggregate::Accumulator>;
  using Out = KeyValue<Key, typename Aggregate::Result>;
  StreamExecutionEnvironment& env = stream_.environment();
  const KeyOf key_of = key_of_;
  const CapturedValues captured = captured_values(key_of).and_also(of_aggregate);
  if (emit == Emit::every_record) {
    EdgeSpecification edge = stream_.edge();
    edge.routing = EdgeRouting::hash;
    edge.partitioner = std::make_shared<HashPartitionerFactory<T, KeyOf>>(key_of);
    return append<Out>(
        stream_.node(), edge, name, true, make_operator_factory([key_of, aggregate] {
          return std::make_unique<RunningAggregateOperator<T, Key, KeyOf, Aggregate>>(key_of,
                                                                                      aggregate);
        }),
        captured);
  }
  const bool at_end =
      emit == Emit::at_end || (emit == Emit::automatic && is_bounded(env, stream_.node()));
  // Only where results are held back and no barrier comes may the halves share a table.
  const auto pair_name = [name = at_end ? env.unique_name(name) : ""](const Plan& plan) {
    return plan.checkpoints ? std::string() : name;
  };
  EdgeSpecification upstream = stream_.edge();
  const NetworkSettings network = std::exchange(upstream.network, {});
  const DataStream<Partial> partial = append<Partial>(
      stream_.node(), upstream, "partial_" + name, false,
      make_planned_factory([key_of, aggregate, at_end, pair_name](const Plan& plan) {
        return std::make_unique<PartialAggregateOperator<T, Key, KeyOf, Aggregate>>(
            key_of, aggregate,
            PartialAggregateOptions{.limit_bytes = plan.partial_state_bytes,
                                    .hold_until_end = at_end,
                                    .pair_name = pair_name(plan)});
      }),
      captured);
  const auto partial_key = [](const Partial& record) -> const Key& { return record.key; };
  EdgeSpecification exchange;
  exchange.routing = EdgeRouting::hash;
  exchange.network = network;
  exchange.partitioner =
      std::make_shared<HashPartitionerFactory<Partial, decltype(partial_key)>>(partial_key);
  return append<Out>(partial.node(), exchange, name, true,
                     make_planned_factory([aggregate, at_end, pair_name](const Plan& plan) {
                       return std::make_unique<MergeAggregateOperator<Key, Aggregate>>(
                           aggregate, !at_end, pair_name(plan));
                     }),
                     of_aggregate);
}

template <typename T, typename KeyOf>
template <typename Out>
auto KeyedStream<T, KeyOf>::append(int from, const EdgeSpecification& edge, std::string name,
                                   bool stateful, std::shared_ptr<const OperatorFactory> factory,
                                   const CapturedValues& captured) const -> DataStream<Out> {
  StreamExecutionEnvironment& env = stream_.environment();
  const int node = env.add_node({.name = std::move(name),
                                 .kind = "operator",
                                 .factory = std::move(factory),
                                 .stateful = stateful,
                                 .output_type = type_of<Out>().name,
                                 .captured = captured});
  env.add_edge(from, node, edge);
  return DataStream<Out>(env, node);
}

}  // namespace hummer
