// DataStream<T>: a stream of records of type T, as the job's author writes it.
//
// A DataStream is a small value that names an output of an operator in the
// environment's graph; calling `map` and so on adds an operator behind it and
// answers the new stream. Nothing runs before execute().
//
// Settings (`name`, `uid`, `parallelism`, …) are about the operator that produced the stream;
// `rebalance`, `broadcast`, `forward`, `partition_custom` and `network` are about the edge to the
// next operator.
//
// User functions are copied into every subtask and called on one thread at a time; they are inlined
// into the loop over a batch. A function that throws ends the job with its operator's name and the
// record's position, unless on_failure says otherwise.
//
// sort, sort_partition and group_by, of whole bounded inputs: hummer/bounded.hpp.
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
#include <vector>

#include <hummer/aggregate.hpp>
#include <hummer/bounded.hpp>
#include <hummer/detail/checks.hpp>
#include <hummer/detail/collected_type.hpp>
#include <hummer/detail/operators/assign_timestamps.hpp>
#include <hummer/detail/operators/async_map.hpp>
#include <hummer/detail/operators/collection_source.hpp>
#include <hummer/detail/operators/custom_partitioner.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/filter.hpp>
#include <hummer/detail/operators/flat_map.hpp>
#include <hummer/detail/operators/for_each_sink.hpp>
#include <hummer/detail/operators/generator_source.hpp>
#include <hummer/detail/operators/hash_partitioner.hpp>
#include <hummer/detail/operators/map.hpp>
#include <hummer/detail/operators/merge_aggregate.hpp>
#include <hummer/detail/operators/partial_aggregate.hpp>
#include <hummer/detail/operators/process.hpp>
#include <hummer/detail/operators/sink_function_operator.hpp>
#include <hummer/detail/operators/source_function_operator.hpp>
#include <hummer/detail/operators/two_phase_sink_function_operator.hpp>
#include <hummer/detail/owned_text.hpp>
#include <hummer/detail/process_checks.hpp>
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

template <typename T>
class DataStream : public detail::CallsOfKeyedStreams<DataStream<T>>,
                   public BoundedOperations<DataStream<T>, T> {
  static_assert(detail::check_record_type<T>() || true);

 public:
  using Record = T;

  DataStream(StreamExecutionEnvironment& env, int node, int port = 0) : end_(env, node, port) {}
  explicit DataStream(detail::StreamEnd end) : end_(std::move(end)) {}

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
    const auto make = [] { return std::make_unique<MapOperator<T, Owned<T>, OwnText>>(OwnText()); };
    return DataStream<Owned<T>>(end_.add({.name = "owned",
                                          .factory = make_operator_factory(make),
                                          .output = &type_of<Owned<T>>(),
                                          .is_conversion = true}));
  }
  // function(const T&) → U
  template <typename Function>
    requires wants_owned<Function, T>
  auto map(Function function) const {
    return owned().map(std::move(function));
  }
  template <typename Function>
  auto map(Function function) const {
    if constexpr (detail::check_map<Function, T>()) {
      using Out = Stored<std::remove_cvref_t<std::invoke_result_t<Function&, const T&>>>;
      if constexpr (detail::check_record_type<Out>()) {
        return add<Out>("map", make_operator_factory([function] {
                          return std::make_unique<MapOperator<T, Out, Function>>(function);
                        }),
                        false, captured_values(function));
      } else {
        return detail::RefusedStream();
      }
    } else {
      return detail::RefusedStream();
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
    if constexpr (detail::check_filter<Function, T>()) {
      return add<T>("filter", make_operator_factory([function] {
                      return std::make_unique<FilterOperator<T, Function>>(function);
                    }),
                    false, captured_values(function));
    } else {
      return *this;
    }
  }
  // function(const T&, Collector<U>&): any number of results. With a generic lambda name U:
  // flat_map<U>(…).
  template <typename U = void, typename Function>
  auto flat_map(Function function) const {
    using Out = typename OutputOf<U, Function>::Type;
    if constexpr (detail::takes_owned_into<Function, T, Out>()) {
      return owned().template flat_map<Out>(std::move(function));
    } else if constexpr (detail::check_flat_map<Function, T, Out>()) {
      return add<Out>("flat_map", make_operator_factory([function] {
                        return std::make_unique<FlatMapOperator<T, Out, Function>>(function);
                      }),
                      false, captured_values(function));
    } else {
      return detail::RefusedStream();
    }
  }
  // function(const T&, AsyncResult<U>): starts what gives one result per record, later and from
  // any thread: see hummer/detail/operators/async_map.hpp.
  template <typename Function>
  auto async_map(Function function, AsyncOptions options = {}) const {
    using U = detail::AsyncResultOf<Function>;
    if constexpr (detail::check_async_map<Function, T, U>()) {
      return add<Stored<U>>("async_map", make_operator_factory([function, options] {
                              return std::make_unique<AsyncMapOperator<T, U, Function>>(function,
                                                                                        options);
                            }),
                            true, captured_values(function));
    } else {
      return detail::RefusedStream();
    }
  }
  // The general operator of the author's own, with state, timers and side outputs:
  // see hummer/detail/operators/process.hpp. Named: Out; otherwise it is User::Output, or that of
  // the function's ProcessOutput<Out>.
  template <typename Named = void, typename User>
  auto process(User user, SideOutputPorts sides = {}) const {
    using Out = detail::NamedOrOutputOf<Named, User>;
    if constexpr (detail::takes_owned_process<User, T, ProcessOutput, Out>()) {
      return owned().template process<Out>(std::move(user), std::move(sides));
    } else if constexpr (!detail::check_process<User, T, Out>()) {
      return detail::RefusedStream();
    } else if constexpr (!detail::check_hooks<User, Out>()) {
      return detail::RefusedStream();
    } else {
      if (sides.empty()) sides = side_outputs_of(user);
      auto stream = add<Out>("process", make_operator_factory([user, sides] {
                               return std::make_unique<ProcessOperator<Out, User, T>>(user, sides);
                             }),
                             false, captured_values(user));
      return stream.with_side_outputs(std::move(sides));
    }
  }
  // Of an operator with ports that side_output() is to find.
  DataStream with_side_outputs(SideOutputPorts sides, std::optional<int> side_node = {}) const {
    return DataStream(end_.with_side_outputs(std::move(sides), side_node));
  }
  // What the `process` or window that gave this stream puts out under `tag`. Under a tag that it
  // does not know nothing comes: execute() refuses the job.
  template <typename U>
  DataStream<U> side_output(const SideOutput<U>& tag) const {
    return DataStream<U>(end_.side_output(tag.name, type_of<U>()));
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
    if constexpr (detail::check_timestamps<TimestampOf, T, Generator>()) {
      return add<T>("assign_timestamps", make_operator_factory([timestamp_of, watermarks] {
                      return std::make_unique<AssignTimestampsOperator<T, TimestampOf, Generator>>(
                          timestamp_of, watermarks);
                    }),
                    false, watermarks.captured().and_also(captured_values(timestamp_of)));
    } else {
      return *this;
    }
  }
  // All records in windows, in one subtask behind the exchange. See hummer/windows.hpp.
  template <typename Windows, typename Key = NoKey>
  auto window_all(Windows windows) const {
    if constexpr (detail::check_windows<Windows>()) {
      return WindowedStream<T, Key, Windows, DefaultTrigger>(*this, Key(), windows);
    } else {
      return detail::RefusedStream();
    }
  }
  // Records of both, in no particular order between them.
  template <typename... Others>
  DataStream union_with(const Others&... others) const {
    if constexpr (!detail::check_union<DataStream, Others...>()) {
      return *this;
    } else {
      return DataStream(end_.union_with(type_of<T>(), {DataStream(others).end_...}));
    }
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
    } else if constexpr (detail::check_key_by<KeyOf, T>()) {
      return KeyedStream<T, KeyOf>(*this, std::move(key_of));
    } else {
      return detail::RefusedStream();
    }
  }

  // ---- edges ----

  DataStream rebalance() const { return DataStream(end_.with_routing(EdgeRouting::rebalance)); }
  DataStream broadcast() const { return DataStream(end_.with_routing(EdgeRouting::broadcast)); }
  DataStream forward() const { return DataStream(end_.with_routing(EdgeRouting::forward)); }
  // choose(const T&, std::uint32_t partitions) → the subtask behind, from 0 to partitions - 1.
  template <typename Choose>
  auto partition_custom(Choose choose) const {
    if constexpr (wants_owned<Choose, T, std::uint32_t>) {
      return owned().partition_custom(std::move(choose));
    } else if constexpr (detail::check_partition_custom<Choose, T>()) {
      return DataStream(
          end_.with_partitioner(custom_partitioner<T>(choose), captured_values(choose)));
    } else {
      return *this;
    }
  }
  // Interface, transport, slots, buffer size and credits of the edge to the next operator.
  DataStream network(NetworkSettings settings) const {
    return DataStream(end_.with_network(std::move(settings)));
  }

  // ---- sinks ----

  // One line per record to standard output, as they come: what a restart does again is printed
  // again.
  void print() const {
    if constexpr (detail::check_written<T>()) end_.print(append_lines<T>);
  }
  // One line per record to the file `path` ("-": standard output). With parallelism(n) above one,
  // `path` is a directory of n files.
  // Formatted where the records are made; see hummer/detail/operators/format_text.hpp.
  // With checkpoints `path` is a directory, in which each part appears once, with the checkpoint
  // that holds its lines: see hummer/detail/operators/two_phase_sink.hpp.
  // `head`: what each file begins with.
  DataStream write_file(const std::string& path, const std::string& head = {}) const {
    if constexpr (detail::check_written<T>()) {
      return DataStream(end_.write_file(path, append_lines<T>, is_written_text<T>, head));
    } else {
      return *this;
    }
  }
  // function(const T&) for its effect.
  template <typename Function>
    requires wants_owned<Function, T>
  auto for_each(Function function) const {
    return owned().for_each(std::move(function));
  }
  template <typename Function>
  DataStream for_each(Function function) const {
    if constexpr (detail::check_for_each<Function, T>()) {
      return add_sink("for_each", make_operator_factory([function] {
                        return std::make_unique<ForEachSinkOperator<T, Function>>(function);
                      }),
                      captured_values(function));
    } else {
      return *this;
    }
  }
  // A sink of your own: make() gives one per subtask. hummer/sink_function.hpp: records are
  // written at least once, and lost by no checkpoint where it has a flush.
  template <typename Make>
    requires Makes<Make, SinkFunction<T>>
  DataStream add_sink(std::string name, Make make) const {
    return add_sink(std::move(name), make_operator_factory([make] {
                      return std::make_unique<SinkFunctionOperator<T>>(make());
                    }),
                    captured_values(make));
  }
  // hummer/two_phase_sink_function.hpp: records become visible once, with their checkpoint;
  // without checkpoints, at the end.
  template <typename Make>
    requires Makes<Make, TwoPhaseSinkFunction<T>>
  DataStream add_sink(std::string name, Make make) const {
    return add_sink(std::move(name), make_planned_factory([make](const Plan& plan) {
                      return std::make_unique<TwoPhaseSinkFunctionOperator<T>>(make(),
                                                                               !plan.checkpoints);
                    }),
                    captured_values(make));
  }
  // Either of these of records that own their text.
  template <typename Make>
    requires(has_owned_form<T> &&
             (Makes<Make, SinkFunction<Owned<T>>> || Makes<Make, TwoPhaseSinkFunction<Owned<T>>>))
  auto add_sink(std::string name, Make make) const {
    return owned().add_sink(std::move(name), std::move(make));
  }
  template <typename Make>
    requires(!detail::makes_sink<Make, T> &&
             !std::is_convertible_v<Make, std::shared_ptr<const OperatorFactory>>)
  DataStream add_sink(std::string, Make) const {
    static_assert(detail::never<Make>,
                  "add_sink: the second argument must be a function without parameters that "
                  "returns a std::unique_ptr to a hummer::SinkFunction<T> or "
                  "hummer::TwoPhaseSinkFunction<T>");
    return *this;
  }
  // An Operator without output per subtask.
  DataStream add_sink(std::string name, std::shared_ptr<const OperatorFactory> factory,
                      const CapturedValues& captured = {}) const {
    return DataStream(
        end_.add({.name = name, .factory = std::move(factory), .captured = captured}));
  }
  // Any operator on the public contract.
  template <typename Out>
  DataStream<Out> transform(std::string name, std::shared_ptr<const OperatorFactory> factory,
                            bool stateful = false, const CapturedValues& captured = {}) const {
    return add<Out>(name, std::move(factory), stateful, captured);
  }

  // ---- settings of the operator behind this stream ----

  DataStream name(const std::string& name) const { return DataStream(end_.name(name)); }
  // Names the operator's state across versions of the job.
  DataStream uid(const std::string& uid) const { return DataStream(end_.uid(uid)); }
  DataStream parallelism(int parallelism) const {
    return DataStream(end_.parallelism(parallelism));
  }
  DataStream min_parallelism(int parallelism) const {
    return DataStream(end_.min_parallelism(parallelism));
  }
  DataStream max_parallelism(int parallelism) const {
    return DataStream(end_.max_parallelism(parallelism));
  }
  // Operators of different groups never share a slot.
  DataStream resource_group(const std::string& group) const {
    return DataStream(end_.resource_group(group));
  }
  DataStream disable_chaining() const { return DataStream(end_.disable_chaining()); }
  DataStream start_new_chain() const { return DataStream(end_.start_new_chain()); }

  // What becomes of a record for which its function throws: fail_job(), skip_failures() or
  // failures_to(tag), which the stream then has as a side output. See hummer/failure_policy.hpp.
  DataStream on_failure(const FailurePolicy& policy) const {
    return DataStream(end_.on_failure(policy));
  }

  StreamExecutionEnvironment& environment() const { return end_.environment(); }
  int node() const { return end_.node(); }
  const EdgeSpecification& edge() const { return end_.edge(); }

 private:
  template <typename U>
  friend class DataStream;

  template <typename U, typename Function>
  struct OutputOf {
    using Type = U;
  };
  template <typename Function>
  struct OutputOf<void, Function> {
    using Type = detail::Collected<Function>;
  };

  template <typename Out>
  DataStream<Out> add(std::string_view name, std::shared_ptr<const OperatorFactory> factory,
                      bool stateful = false, const CapturedValues& captured = {}) const {
    return DataStream<Out>(end_.add({.name = name,
                                     .factory = std::move(factory),
                                     .output = &type_of<Out>(),
                                     .captured = captured,
                                     .stateful = stateful}));
  }

  detail::StreamEnd end_;
};

}  // namespace hummer
