// DataStream<T>: a stream of records of type T, as the job's author writes it.
//
// A DataStream is a small value that names an output of an operator in the
// environment's graph; calling `map` and so on adds an operator behind it and
// answers the new stream. Nothing runs before execute().
//
// Settings (`name`, `uid`, `parallelism`, …) are about the operator that produced the stream;
// `rebalance`, `broadcast`, `forward` and `network` are about the edge to the next operator.
//
// User functions are copied into every subtask and called on one thread at a time; they are inlined
// into the loop over a batch. A function that throws ends the job with its operator's name and the
// record's position, unless on_failure says otherwise.
//
// Records: arithmetic types, text (std::string_view; a function may return std::string), pairs,
// tuples, arrays, vectors, optionals, aggregates of these, and types with a hummer::Codec.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include <hummer/aggregate.hpp>
#include <hummer/detail/collected_type.hpp>
#include <hummer/detail/operators/assign_timestamps.hpp>
#include <hummer/detail/operators/async_map.hpp>
#include <hummer/detail/operators/block_flat_map.hpp>
#include <hummer/detail/operators/collection_source.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/filter.hpp>
#include <hummer/detail/operators/flat_map.hpp>
#include <hummer/detail/operators/for_each_sink.hpp>
#include <hummer/detail/operators/generator_source.hpp>
#include <hummer/detail/operators/hash_partitioner.hpp>
#include <hummer/detail/operators/line_flat_map.hpp>
#include <hummer/detail/operators/map.hpp>
#include <hummer/detail/operators/merge_aggregate.hpp>
#include <hummer/detail/operators/partial_aggregate.hpp>
#include <hummer/detail/operators/process.hpp>
#include <hummer/detail/operators/sink_function_operator.hpp>
#include <hummer/detail/operators/source_function_operator.hpp>
#include <hummer/detail/operators/text_sink.hpp>
#include <hummer/detail/operators/two_phase_sink.hpp>
#include <hummer/detail/operators/two_phase_sink_function_operator.hpp>
#include <hummer/detail/operators/union.hpp>
#include <hummer/detail/owned_text.hpp>
#include <hummer/environment.hpp>
#include <hummer/failure_policy.hpp>
#include <hummer/format.hpp>
#include <hummer/identity.hpp>
#include <hummer/keyed_operations.hpp>

namespace hummer {

template <typename T, typename KeyOf>
class KeyedStream;
struct DefaultTrigger;
template <typename T, typename KeyOf, typename Windows, typename Trigger>
class WindowedStream;  // hummer/windowed_stream.hpp
struct NoKey;
template <typename A, typename B>
class ConnectedStreams;

namespace detail {

// make() gives an object of the user's own on this contract.
template <typename Make, typename Contract>
concept Makes = std::is_convertible_v<std::invoke_result_t<const Make&>, std::unique_ptr<Contract>>;

// The sink of write_file, reading from `node` over `edge`: lines by one of these operators, without
// checkpoints and with them. Answers its node.
int add_file_sink(
    StreamExecutionEnvironment& env, int node, const EdgeSpecification& edge,
    const std::string& path, std::unique_ptr<Operator> (*make_sink)(std::unique_ptr<TextWriter>),
    std::unique_ptr<Operator> (*make_two_phase_sink)(std::unique_ptr<TwoPhaseWriter>));

}  // namespace detail

template <typename T>
class DataStream {
  static_assert(detail::check_record_type<T>() || !StreamType<T>);

 public:
  using Record = T;

  DataStream(StreamExecutionEnvironment& env, int node, int port = 0) : env_(&env), node_(node) {
    edge_.port = port;
  }

  // Of a stream of text: `DataStream<std::string> lines = env.from_collection(...)`.
  template <typename U>
    requires(has_owned_form<U> && std::is_same_v<Owned<U>, T>)
  DataStream(const DataStream<U>& views) : DataStream(views.owned()) {}  // NOLINT: on purpose

  // ---- operators ----
  //
  // Where T has views of text, functions may take std::string in their place; see owned_text.hpp.

  // Each record with std::string instead of views.
  DataStream<Owned<T>> owned() const
    requires has_owned_form<T>
  {
    return add<Owned<T>>("owned", make_operator_factory([] {
                           return std::make_unique<MapOperator<T, Owned<T>, OwnText>>(OwnText());
                         }));
  }
  // function(const T&) → U
  template <typename Function>
    requires wants_owned<Function, T>
  auto map(Function function) const {
    return owned().map(std::move(function));
  }
  template <typename Function>
  auto map(Function function) const {
    using Out = Stored<std::remove_cvref_t<std::invoke_result_t<Function&, const T&>>>;
    if constexpr (detail::check_record_type<Out>()) {
      return add<Out>("map", make_operator_factory([function] {
                        return std::make_unique<MapOperator<T, Out, Function>>(function);
                      }),
                      false, captured_values(function));
    }
  }
  // function(const T&) → bool: keeps those for which it is true.
  template <typename Function>
    requires wants_owned<Function, T>
  auto filter(Function function) const {
    return owned().filter(std::move(function));
  }
  template <typename Function>
  DataStream filter(Function function) const {
    return add<T>("filter", make_operator_factory([function] {
                    return std::make_unique<FilterOperator<T, Function>>(function);
                  }),
                  false, captured_values(function));
  }
  // function(const T&, Collector<U>&): any number of results. With a generic lambda name U:
  // flat_map<U>(…).
  template <typename U = void, typename Function>
  auto flat_map(Function function) const {
    using Out = typename OutputOf<U, Function>::Type;
    if constexpr (wants_owned<Function, T, Collector<Out>&>) {
      return owned().template flat_map<Out>(std::move(function));
    } else if constexpr (detail::check_record_type<Out>()) {
      return add<Out>("flat_map", make_operator_factory([function] {
                        return std::make_unique<FlatMapOperator<T, Out, Function>>(function);
                      }),
                      false, captured_values(function));
    }
  }
  // function(const T&, AsyncResult<U>): starts what gives one result per record, later and from
  // any thread: see hummer/detail/operators/async_map.hpp.
  template <typename Function>
  auto async_map(Function function, AsyncOptions options = {}) const {
    using U = typename detail::AsyncResultType<decltype(&Function::operator())>::Type;
    return add<Stored<U>>("async_map", make_operator_factory([function, options] {
                            return std::make_unique<AsyncMapOperator<T, U, Function>>(function,
                                                                                      options);
                          }),
                          true, captured_values(function));
  }
  // The general operator of the author's own, with state, timers and side outputs:
  // see hummer/detail/operators/process.hpp. Out: named here, or User::Output.
  template <typename Out = void, typename User>
  auto process(User user, SideOutputPorts sides = {}) const {
    if constexpr (std::is_void_v<Out>) {
      return process<typename User::Output>(std::move(user), std::move(sides));
    } else if constexpr (process_wants_owned<User, T, ProcessOutput<Out>>) {
      return owned().template process<Out>(std::move(user), std::move(sides));
    } else if constexpr (detail::check_record_type<Out>()) {
      if (sides.empty()) sides = side_outputs_of(user);
      auto stream = add<Out>("process", make_operator_factory([user, sides] {
                               return std::make_unique<ProcessOperator<Out, User, T>>(user, sides);
                             }),
                             false, captured_values(user));
      return stream.with_side_outputs(std::move(sides));
    }
  }
  // Of an operator with ports that side_output() is to find.
  DataStream with_side_outputs(SideOutputPorts sides) const {
    DataStream copy = *this;
    copy.sides_ = std::move(sides);
    return copy;
  }
  // What the `process` or window that gave this stream puts out under `tag`. Under a tag that it
  // does not know nothing comes: execute() refuses the job.
  template <typename U>
  DataStream<U> side_output(const SideOutput<U>& tag) const {
    const std::size_t port = side_output_port(sides_, tag.name, type_of<U>());
    if (port == 0) {
      env_->refuse(
          "side_output(\"" + std::string(tag.name) +
          "\"): no side output of this name and type; list the tag in side_outputs(...) of "
          "the process function, or hand it to late_output(...) of the window");
    }
    return DataStream<U>(*env_, side_node_.value_or(node_), static_cast<int>(port));
  }
  // timestamp_of: member pointer or function(const T&) → ms since 1970. See hummer/watermarks.hpp.
  template <typename TimestampOf, typename Generator>
    requires wants_owned<TimestampOf, T>
  auto assign_timestamps(TimestampOf timestamp_of, WatermarkSettings<Generator> watermarks) const {
    return owned().assign_timestamps(std::move(timestamp_of), watermarks);
  }
  template <typename TimestampOf, typename Generator>
  DataStream assign_timestamps(TimestampOf timestamp_of,
                               WatermarkSettings<Generator> watermarks) const {
    return add<T>("assign_timestamps", make_operator_factory([timestamp_of, watermarks] {
                    return std::make_unique<AssignTimestampsOperator<T, TimestampOf, Generator>>(
                        timestamp_of, watermarks);
                  }),
                  false, watermarks.captured().and_also(captured_values(timestamp_of)));
  }
  // All records in windows, in one subtask behind the exchange. See hummer/windows.hpp.
  template <typename Windows, typename Key = NoKey>
  auto window_all(Windows windows) const {
    return WindowedStream<T, Key, Windows, DefaultTrigger>(*this, Key(), windows);
  }
  // Records of both, in no particular order between them.
  template <typename... Others>
  DataStream union_with(const Others&... others) const {
    const int node = env_->add_node({.name = "union",
                                     .kind = "operator",
                                     .factory = make_operator_factory([] {
                                       return std::make_unique<UnionOperator>(type_of<T>());
                                     }),
                                     .output_type = type_of<T>().name});
    env_->add_edge(node_, node, edge_);
    (env_->add_edge(others.node_, node, others.edge_), ...);
    return DataStream(*env_, node);
  }

  // Two streams, of any types, in one operator: see connected_streams.hpp.
  template <typename B>
  ConnectedStreams<T, B> connect(const DataStream<B>& other) const {
    return ConnectedStreams<T, B>(*this, other);
  }

  // key_of(const T&) → the key: text, an integer, or any record type that owns its text.
  template <typename KeyOf>
  auto key_by(KeyOf key_of) const {
    if constexpr (wants_owned<KeyOf, T>) {
      return owned().key_by(std::move(key_of));
    } else {
      return KeyedStream<T, KeyOf>(*this, std::move(key_of));
    }
  }

  // ---- edges ----

  DataStream rebalance() const { return with_routing(EdgeRouting::rebalance); }
  DataStream broadcast() const { return with_routing(EdgeRouting::broadcast); }
  DataStream forward() const { return with_routing(EdgeRouting::forward); }
  // Interface, transport, slots, buffer size and credits of the edge to the next operator.
  DataStream network(NetworkSettings settings) const {
    DataStream copy = *this;
    copy.edge_.network = std::move(settings);
    return copy;
  }

  // ---- sinks ----

  // One line per record to standard output, as they come: what a restart does again is printed
  // again.
  void print() const { add_text_sink("print", make_print_writer()); }
  // One line per record to the file `path` ("-": standard output). With parallelism(n) above one,
  // `path` is a directory of n files.
  // Formatted where the records are made; see hummer/detail/operators/format_text.hpp.
  // With checkpoints `path` is a directory, in which each part appears once, with the checkpoint
  // that holds its lines: see hummer/detail/operators/two_phase_sink.hpp.
  DataStream write_file(const std::string& path) const {
    if constexpr (!std::is_same_v<T, TextBlock>) {
      if (edge_.routing == EdgeRouting::automatic) {
        const auto text =
            network({})
                .with_routing(EdgeRouting::forward)
                .template add<FormattedText>(
                    "format",
                    make_operator_factory([] { return std::make_unique<FormatTextOperator<T>>(); }),
                    false, {}, path == "-" ? PlannedFor::every_plan : PlannedFor::no_checkpoints)
                .network(edge_.network);  // the way to the one sink is what it is for
        return DataStream(*env_, text.template add_file_sink<T>(path));
      }
    }
    return DataStream(*env_, add_file_sink<T>(path));
  }
  // function(const T&) for its effect.
  template <typename Function>
    requires wants_owned<Function, T>
  auto for_each(Function function) const {
    return owned().for_each(std::move(function));
  }
  template <typename Function>
  DataStream for_each(Function function) const {
    return add_sink("for_each", make_operator_factory([function] {
                      return std::make_unique<ForEachSinkOperator<T, Function>>(function);
                    }),
                    captured_values(function));
  }
  // A sink of your own: make() gives one per subtask. hummer/sink_function.hpp: records are
  // written at least once, and lost by no checkpoint where it has a flush.
  template <typename Make>
    requires detail::Makes<Make, SinkFunction<T>>
  DataStream add_sink(std::string name, Make make) const {
    return add_sink(std::move(name), make_operator_factory([make] {
                      return std::make_unique<SinkFunctionOperator<T>>(make());
                    }),
                    captured_values(make));
  }
  // hummer/two_phase_sink_function.hpp: records become visible once, with their checkpoint;
  // without checkpoints, at the end.
  template <typename Make>
    requires detail::Makes<Make, TwoPhaseSinkFunction<T>>
  DataStream add_sink(std::string name, Make make) const {
    return add_sink(std::move(name), make_planned_factory([make](const Plan& plan) {
                      return std::make_unique<TwoPhaseSinkFunctionOperator<T>>(make(),
                                                                               !plan.checkpoints);
                    }),
                    captured_values(make));
  }
  // Either of these of records that own their text.
  template <typename Make>
    requires(has_owned_form<T> && (detail::Makes<Make, SinkFunction<Owned<T>>> ||
                                   detail::Makes<Make, TwoPhaseSinkFunction<Owned<T>>>))
  auto add_sink(std::string name, Make make) const {
    return owned().add_sink(std::move(name), std::move(make));
  }
  // An Operator without output per subtask.
  DataStream add_sink(std::string name, std::shared_ptr<const OperatorFactory> factory,
                      const CapturedValues& captured = {}) const {
    const int node = env_->add_node({.name = std::move(name),
                                     .kind = "sink",
                                     .factory = std::move(factory),
                                     .captured = captured});
    env_->add_edge(node_, node, edge_);
    return DataStream(*env_, node);
  }
  // Any operator on the public contract.
  template <typename Out>
  DataStream<Out> transform(std::string name, std::shared_ptr<const OperatorFactory> factory,
                            bool stateful = false, const CapturedValues& captured = {}) const {
    return add<Out>(std::move(name), std::move(factory), stateful, captured);
  }

  // ---- settings of the operator behind this stream ----

  DataStream name(const std::string& name) const { return set({.name = name}); }
  // Names the operator's state across versions of the job.
  DataStream uid(const std::string& uid) const { return set({.uid = uid}); }
  DataStream parallelism(int parallelism) const { return set({.parallelism = parallelism}); }
  DataStream min_parallelism(int parallelism) const {
    return set({.min_parallelism = parallelism});
  }
  DataStream max_parallelism(int parallelism) const {
    return set({.max_parallelism = parallelism});
  }
  // Operators of different groups never share a slot.
  DataStream resource_group(const std::string& group) const {
    return set({.resource_group = group});
  }
  DataStream disable_chaining() const {
    return set({.chain_with_upstream = false, .chain_with_downstream = false});
  }
  DataStream start_new_chain() const { return set({.chain_with_upstream = false}); }

  // What becomes of a record for which its function throws: fail_job(), skip_failures() or
  // failures_to(tag), which the stream then has as a side output. See hummer/failure_policy.hpp.
  DataStream on_failure(const FailurePolicy& policy) const {
    DataStream copy = set({.failures = policy});
    if (policy.output.type != nullptr) copy.sides_.push_back(policy.output);
    return copy;
  }

  StreamExecutionEnvironment& environment() const { return *env_; }
  int node() const { return node_; }
  const EdgeSpecification& edge() const { return edge_; }

 private:
  template <typename U>
  friend class DataStream;
  template <typename U, typename KeyOf, typename Windows, typename Trigger>
  friend class WindowedStream;

  template <typename U, typename Function>
  struct OutputOf {
    using Type = U;
  };
  template <typename Function>
  struct OutputOf<void, Function> {
    using Type = detail::Collected<Function>;
  };

  template <typename Out>
  DataStream<Out> add(std::string name, std::shared_ptr<const OperatorFactory> factory,
                      bool stateful = false, const CapturedValues& captured = {},
                      PlannedFor planned_for = PlannedFor::every_plan) const {
    const int node = env_->add_node({.name = std::move(name),
                                     .kind = "operator",
                                     .factory = std::move(factory),
                                     .stateful = stateful,
                                     .planned_for = planned_for,
                                     .output_type = type_of<Out>().name,
                                     .captured = captured});
    env_->add_edge(node_, node, edge_);
    return DataStream<Out>(*env_, node);
  }
  DataStream add_text_sink(std::string name, std::shared_ptr<const TextWriterFactory> writers,
                           const CapturedValues& captured = {}) const {
    return add_sink(std::move(name), make_operator_factory([writers] {
                      return std::make_unique<TextSinkOperator<T>>(writers->make());
                    }),
                    captured);
  }
  // Of lines, or where they are formatted ahead of it (T: FormattedText) of `Record`s, which is
  // what it reads with checkpoints.
  template <typename Record>
  int add_file_sink(const std::string& path) const {
    return detail::add_file_sink(
        *env_, node_, edge_, path,
        [](std::unique_ptr<TextWriter> writer) -> std::unique_ptr<Operator> {
          return std::make_unique<TextSinkOperator<T>>(std::move(writer));
        },
        [](std::unique_ptr<TwoPhaseWriter> writer) -> std::unique_ptr<Operator> {
          return std::make_unique<TwoPhaseSinkOperator<Record>>(std::move(writer));
        });
  }
  DataStream with_routing(EdgeRouting routing) const {
    DataStream copy = *this;
    copy.edge_.routing = routing;
    return copy;
  }
  DataStream set(const NodeSettings& settings) const {
    apply_settings(*env_, node_, settings);
    return *this;
  }

  StreamExecutionEnvironment* env_;
  int node_;
  EdgeSpecification edge_;
  SideOutputPorts sides_;
  std::optional<int> side_node_;  // whose ports they are, where not node_'s
};

// A stream of which each record has a key: aggregates per key.
template <typename T, typename KeyOf>
class KeyedStream : public KeyedOperations<KeyedStream<T, KeyOf>, T> {
 public:
  using Key = Stored<std::remove_cvref_t<std::invoke_result_t<KeyOf&, const T&>>>;
  using KeyFunction = KeyOf;

  KeyedStream(DataStream<T> stream, KeyOf key_of)
      : stream_(std::move(stream)), key_of_(std::move(key_of)) {}

  const DataStream<T>& stream() const { return stream_; }
  const KeyOf& key_of() const { return key_of_; }
  // As an input of an operator: the edge that brings each record to the owner of its key.
  StreamInput<KeyedInput<T, KeyOf>> input() const {
    EdgeSpecification edge = stream_.edge();
    edge.routing = EdgeRouting::hash;
    edge.partitioner = std::make_shared<HashPartitionerFactory<T, KeyOf>>(key_of_);
    return {stream_.node(), edge, {key_of_}, captured_values(key_of_)};
  }
  // The same with std::string instead of views in the records; see owned_text.hpp.
  auto owned() const { return stream_.owned().key_by(key_of_); }

  // How many records per key: KeyValue<Key, std::uint64_t>.
  auto count(Emit emit = Emit::automatic) const {
    return aggregate("count", CountAggregate{}, emit);
  }
  // value_of: a member pointer or function(const T&) → number.
  template <typename ValueOf>
  auto sum(ValueOf value_of, Emit emit = Emit::automatic) const {
    return aggregate_of("sum", SumAggregate<Value<ValueOf>, ValueOf>{value_of}, emit,
                        captured_values(value_of));
  }
  template <typename ValueOf>
  auto min(ValueOf value_of, Emit emit = Emit::automatic) const {
    using V = Value<ValueOf>;
    return aggregate_of("min", BestAggregate<V, ValueOf, std::less<V>>{value_of}, emit,
                        captured_values(value_of));
  }
  template <typename ValueOf>
  auto max(ValueOf value_of, Emit emit = Emit::automatic) const {
    using V = Value<ValueOf>;
    return aggregate_of("max", BestAggregate<V, ValueOf, std::greater<V>>{value_of}, emit,
                        captured_values(value_of));
  }
  // combine(const T&, const T&) → T, associative and commutative: KeyValue<Key, T>.
  template <typename Combine>
    requires wants_owned<Combine, T, const Owned<T>&>
  auto reduce(Combine combine, Emit emit = Emit::automatic) const {
    return owned().reduce(std::move(combine), emit);
  }
  template <typename Combine>
  auto reduce(Combine combine, Emit emit = Emit::automatic) const {
    return aggregate_of("reduce", ReduceAggregate<T, Combine>{combine}, emit,
                        captured_values(combine));
  }

  // Aggregates per key and window: TumblingWindows and so on of hummer/windows.hpp.
  template <typename Windows>
  auto window(Windows windows) const {
    return WindowedStream<T, KeyOf, Windows, DefaultTrigger>(stream_, key_of_, windows);
  }

  // Any aggregate of the shape in hummer/aggregate.hpp.
  template <typename Aggregate>
  DataStream<KeyValue<Key, typename Aggregate::Result>> aggregate(
      const std::string& name, Aggregate aggregate, Emit emit = Emit::automatic) const {
    return aggregate_of(name, aggregate, emit, captured_values(aggregate));
  }

 private:
  template <typename ValueOf>
  using Value = std::remove_cvref_t<std::invoke_result_t<ValueOf&, const T&>>;

  template <typename Aggregate>
  DataStream<KeyValue<Key, typename Aggregate::Result>> aggregate_of(
      const std::string& name, Aggregate aggregate, Emit emit,
      const CapturedValues& of_aggregate) const {
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

  template <typename Out>
  DataStream<Out> append(int from, const EdgeSpecification& edge, std::string name, bool stateful,
                         std::shared_ptr<const OperatorFactory> factory,
                         const CapturedValues& captured) const {
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

  DataStream<T> stream_;
  KeyOf key_of_;
};

}  // namespace hummer
