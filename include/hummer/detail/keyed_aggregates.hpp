// How an aggregate of a keyed stream becomes operators: partial state where the records are, the
// exchange by key, and the merge. Included by hummer/keyed_stream.hpp, never by itself.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <hummer/keyed_stream.hpp>

namespace hummer {

template <typename T, typename KeyOf>
template <typename Aggregate, typename When>
auto KeyedStream<T, KeyOf>::aggregate_of(const std::string& name, Aggregate aggregate, When when,
                                         const CapturedValues& of_aggregate) const
    -> DataStream<KeyValue<Key, typename Aggregate::Result>> {
  using Partial = KeyValue<Key, typename Aggregate::Accumulator>;
  using Out = KeyValue<Key, typename Aggregate::Result>;
  StreamExecutionEnvironment& env = stream_.environment();
  const KeyOf key_of = key_of_;
  const CapturedValues captured = captured_values(key_of).and_also(of_aggregate);
  const Emit emit = when;
  if constexpr (!std::is_same_v<When, AutomaticEmit>) {
    if (emit == Emit::every_record) {
      EdgeSpecification edge = stream_.edge();
      edge.routing = EdgeRouting::hash;
      edge.partitioner = hash_partitioner<T>(key_of);
      const auto make = [key_of, aggregate] {
        return std::make_unique<RunningAggregateOperator<T, Key, KeyOf, Aggregate>>(key_of,
                                                                                    aggregate);
      };
      return DataStream<Out>(env, detail::add_operator(env, stream_.node(), edge,
                                                       {.name = name,
                                                        .factory = make_operator_factory(make),
                                                        .output = &type_of<Out>(),
                                                        .captured = captured,
                                                        .stateful = true}));
    }
  }
  const bool at_end =
      emit == Emit::at_end || (emit == Emit::automatic && is_bounded(env, stream_.node()));
  // Only where results are held back and no barrier comes may the halves share a table.
  const auto pair_name = [name = at_end ? env.unique_name(name) : ""](const Plan& plan) {
    return plan.checkpoints ? std::string() : name;
  };
  EdgeSpecification upstream = stream_.edge();
  const NetworkSettings network = std::exchange(upstream.network, {});
  using PartialOperator = PartialAggregateOperator<T, Key, KeyOf, Aggregate>;
  constexpr bool bypass = PartialOperator::passes_records;
  const auto make_partial = [key_of, aggregate, at_end, pair_name](const Plan& plan) {
    return std::make_unique<PartialOperator>(
        key_of, aggregate,
        PartialAggregateOptions{.limit_bytes = plan.partial_state_bytes,
                                .hold_until_end = at_end,
                                .folding = plan.folding,
                                .bypass = has_bypass(plan),
                                .pair_name = pair_name(plan)});
  };
  const int partial = detail::add_operator(
      env, stream_.node(), upstream,
      {.name = "partial_" + name,
       .factory = make_planned_factory(make_partial),
       .output = &type_of<Partial>(),
       .captured = captured,
       .pre_aggregation = at_end ? PreAggregation::paired_partial : PreAggregation::partial});
  const auto partial_key = [](const Partial& record) -> const Key& { return record.key; };
  EdgeSpecification exchange;
  exchange.routing = EdgeRouting::hash;
  exchange.network = network;
  exchange.partitioner = hash_partitioner<Partial>(partial_key);
  const auto make_merge = [key_of, aggregate, at_end,
                           pair_name](const Plan& plan) -> std::unique_ptr<Operator> {
    (void)key_of;  // only a bypass needs it
    if constexpr (bypass) {
      if (has_bypass(plan)) {
        return std::make_unique<MergeAggregateOperatorWithBypass<T, Key, KeyOf, Aggregate>>(
            key_of, aggregate, !at_end, pair_name(plan));
      }
    }
    return std::make_unique<MergeAggregateOperator<Key, Aggregate>>(aggregate, !at_end,
                                                                    pair_name(plan));
  };
  const int merge = detail::add_operator(env, partial, exchange,
                                         {.name = name,
                                          .factory = make_planned_factory(make_merge),
                                          .output = &type_of<Out>(),
                                          .captured = bypass ? captured : of_aggregate,
                                          .stateful = true});
  if (bypass) {
    detail::add_bypass(env, partial, merge, exchange, hash_partitioner<T>(key_of));
  }
  return DataStream<Out>(env, merge);
}

}  // namespace hummer
