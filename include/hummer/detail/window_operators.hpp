// How windows of a stream become operators: late records out, partial results where that pays, the
// exchange by key, and the windows themselves. Included by hummer/windowed_stream.hpp, never by
// itself.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include <hummer/windowed_stream.hpp>

namespace hummer {

template <typename T, typename KeyOf, typename Windows, typename Trigger>
template <typename Aggregate, typename Finish>
auto WindowedStream<T, KeyOf, Windows, Trigger>::add(const std::string& name, Aggregate aggregate,
                                                     Finish finish,
                                                     const CapturedValues& of_aggregate) const
    -> DataStream<typename Finish::Output> {
  using Out = typename Finish::Output;
  const CapturedValues captured = captured_values(key_of_)
                                      .and_also(captured_values(windows_))
                                      .and_also(captured_values(trigger_))
                                      .and_also(encoded_values(lateness_ms_))
                                      .and_also(of_aggregate);
  EdgeSpecification upstream = stream_.edge();
  EdgeSpecification exchange;
  exchange.network = std::exchange(upstream.network, {});
  exchange.routing = EdgeRouting::hash;
  int from = stream_.node();
  std::optional<int> late_node;
  if constexpr (has_late) {
    if (windows_.domain == TimeDomain::processing && late_tag_) {
      stream_.environment().refuse(
          "late_output(\"" + std::string(late_tag_->name) + "\") of " + name +
          ": no record is late in windows of processing time; leave it out, or take windows of "
          "event time, without in_processing_time()");
    }
  }
  if constexpr (on_grid<Windows>) {
    if (windows_.domain == TimeDomain::event) {
      const bool late_output = late_tag_.has_value();
      const std::int64_t lateness_ms = lateness_ms_;
      const WindowGrid grid = windows_;
      const auto make = [grid, lateness_ms, late_output] {
        return std::make_unique<LateRecordsOperator<T>>(grid, lateness_ms, late_output,
                                                        default_trigger);
      };
      late_node = from = detail::add_operator(stream_.environment(), from, upstream,
                                              {.name = "late_records",
                                               .factory = make_operator_factory(make),
                                               .output = &type_of<T>(),
                                               .captured = captured});
      upstream = {};
    }
  }
  DataStream<Out> result = exchange_and_aggregate<Aggregate, Finish>(
      from, upstream, exchange, name, std::move(aggregate), std::move(finish), captured);
  if (late_tag_ && (late_node || gives_late_output())) {
    result = result.with_side_outputs(side_outputs(*late_tag_), late_node);
  }
  return keyed ? result : result.parallelism(1);
}

template <typename T, typename KeyOf, typename Windows, typename Trigger>
template <typename Aggregate, typename Finish>
auto WindowedStream<T, KeyOf, Windows, Trigger>::exchange_and_aggregate(
    int from, const EdgeSpecification& upstream, EdgeSpecification exchange,
    const std::string& name, Aggregate aggregate, Finish finish,
    const CapturedValues& captured) const -> DataStream<typename Finish::Output> {
  using Out = typename Finish::Output;
  StreamExecutionEnvironment& env = stream_.environment();
  const KeyOf key_of = key_of_;
  const Windows windows = windows_;
  const std::int64_t lateness_ms = lateness_ms_;
  if constexpr (on_grid<Windows> && default_trigger && can_be_partial<Aggregate>) {
    if (may_be_partial()) {
      using Part = SlicePartial<Key, typename Aggregate::Accumulator>;
      using PartInput = PartialInput<Key, typename Aggregate::Accumulator>;
      using OwnInput = RecordInput<T, Key, KeyOf>;
      using Partial = PartialWindowOperator<T, Key, KeyOf, Aggregate>;
      const WindowGrid grid = windows;
      const bool always = strategy_ == WindowStrategy::late_merge;
      const auto make_partial = [key_of, grid, aggregate, always](const Plan& plan) {
        return std::make_unique<Partial>(key_of, grid, aggregate, plan.partial_state_bytes,
                                         always ? Folding::always : plan.folding,
                                         !always && has_bypass(plan));
      };
      const int partial = detail::add_operator(
          env, from, upstream,
          {.name = "partial_" + name,
           .factory = make_planned_factory(make_partial),
           .output = &type_of<Part>(),
           .captured = captured,
           .planned_for = always ? PlannedFor::every_plan : PlannedFor::partial_windows,
           .pre_aggregation = always ? PreAggregation::forced_partial : PreAggregation::partial});
      const auto key_of_part = [](const Part& part) -> const Key& { return part.key; };
      exchange.partitioner = hash_partitioner<Part>(key_of_part);
      exchange.partitioner_past = hash_partitioner<T>(key_of);
      const auto make = [key_of, grid, lateness_ms, aggregate, finish,
                         always](const Plan& plan) -> std::unique_ptr<Operator> {
        if constexpr (Partial::passes_records) {
          if (!always && plan.partial_windows && has_bypass(plan)) {
            return std::make_unique<
                SliceWindowOperatorWithBypass<PartInput, OwnInput, Key, Aggregate, Finish>>(
                OwnInput{key_of}, grid, lateness_ms, aggregate, finish);
          }
        }
        if (always || plan.partial_windows) {
          return std::make_unique<SliceWindowOperator<PartInput, Key, Aggregate, Finish>>(
              PartInput(), grid, lateness_ms, aggregate, finish);
        }
        return std::make_unique<SliceWindowOperator<OwnInput, Key, Aggregate, Finish>>(
            OwnInput{key_of}, grid, lateness_ms, aggregate, finish);
      };
      const PreAggregation part = always ? PreAggregation::none : PreAggregation::merge;
      const int merging = detail::add_operator(env, partial, exchange,
                                               {.name = name,
                                                .factory = make_planned_factory(make),
                                                .output = &type_of<Out>(),
                                                .captured = captured,
                                                .stateful = true,
                                                .pre_aggregation = part});
      if (Partial::passes_records && !always) {
        detail::add_bypass(env, partial, merging, exchange, exchange.partitioner_past);
      }
      return DataStream<Out>(env, merging);
    }
  }
  // What was about the edge to here (rebalance, ...) gives way to the exchange by key, unless an
  // operator stands between.
  if (from == stream_.node()) exchange.port = upstream.port;
  exchange.partitioner = hash_partitioner<T>(key_of);
  std::shared_ptr<const OperatorFactory> factory;
  using Input = RecordInput<T, Key, KeyOf>;
  if constexpr (by_count) {
    factory = make_operator_factory([key_of, windows, aggregate, finish] {
      return std::make_unique<CountWindowOperator<T, Key, KeyOf, Aggregate, Finish>>(
          key_of, windows, aggregate, finish);
    });
  } else if constexpr (on_grid<Windows> && default_trigger) {
    const WindowGrid grid = windows;
    factory = make_operator_factory([key_of, grid, lateness_ms, aggregate, finish] {
      return std::make_unique<SliceWindowOperator<Input, Key, Aggregate, Finish>>(
          Input{key_of}, grid, lateness_ms, aggregate, finish);
    });
  } else {
    const auto trigger = trigger_for(windows, trigger_);
    using Chosen = std::remove_const_t<decltype(trigger)>;
    const bool late_output = gives_late_output();
    factory = make_operator_factory(
        [key_of, windows, trigger, lateness_ms, aggregate, finish, late_output] {
          return std::make_unique<
              KeyedWindowOperator<T, Key, KeyOf, Windows, Chosen, Aggregate, Finish>>(
              key_of, windows, trigger, lateness_ms, aggregate, finish, late_output);
        });
  }
  return DataStream<Out>(env, detail::add_operator(env, from, exchange,
                                                   {.name = name,
                                                    .factory = std::move(factory),
                                                    .output = &type_of<Out>(),
                                                    .captured = captured,
                                                    .stateful = true}));
}

}  // namespace hummer
