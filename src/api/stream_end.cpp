#include <hummer/detail/operators/format_text.hpp>
#include <hummer/detail/operators/text_sink.hpp>
#include <hummer/detail/operators/two_phase_sink.hpp>
#include <hummer/detail/operators/union.hpp>
#include <hummer/environment.hpp>

#include <hummer/detail/operators/factory.hpp>

#include "api/environment_impl.hpp"

namespace hummer::detail {

int add_operator(StreamExecutionEnvironment& env, const NewOperator& what) {
  const bool is_sink = what.output == nullptr;
  return env.add_node({.name = std::string(what.name),
                       .kind = is_sink ? "sink" : "operator",
                       .factory = what.factory,
                       .stateful = what.stateful,
                       .planned_for = what.planned_for,
                       .pre_aggregation = what.pre_aggregation,
                       .output_type = is_sink ? "" : what.output->name,
                       .is_conversion = what.is_conversion,
                       .captured = what.captured});
}

int add_source(StreamExecutionEnvironment& env, std::string name,
               std::shared_ptr<const OperatorFactory> factory, bool bounded,
               const TypeDescriptor& output, const CapturedValues& captured) {
  return env.add_node({.name = std::move(name),
                       .kind = "source",
                       .factory = std::move(factory),
                       .bounded = bounded,
                       .output_type = output.name,
                       .captured = captured});
}

int add_operator(StreamExecutionEnvironment& env, int from, const EdgeSpecification& edge,
                 const NewOperator& what) {
  const int node = add_operator(env, what);
  env.add_edge(from, node, edge);
  return node;
}

void add_bypass(StreamExecutionEnvironment& env, int partial, int merge, EdgeSpecification parts,
                std::shared_ptr<const PartitionerFactory> of_records) {
  parts.port = 1;
  parts.partitioner = std::move(of_records);
  parts.is_bypass = true;
  env.add_edge(partial, merge, parts);
}

StreamEnd::StreamEnd(StreamExecutionEnvironment& env, int node, int port)
    : env_(&env), node_(node) {
  edge_.port = port;
}
StreamEnd::StreamEnd(const StreamEnd&) = default;
StreamEnd::StreamEnd(StreamEnd&&) noexcept = default;
StreamEnd& StreamEnd::operator=(const StreamEnd&) = default;
StreamEnd& StreamEnd::operator=(StreamEnd&&) noexcept = default;
StreamEnd::~StreamEnd() = default;

StreamEnd StreamEnd::add(const NewOperator& what) const {
  return {*env_, add_operator(*env_, node_, edge_, what)};
}

StreamEnd StreamEnd::union_with(const TypeDescriptor& type,
                                const std::vector<StreamEnd>& others) const {
  const auto make = [&type] { return std::make_unique<UnionOperator>(type); };
  StreamEnd all = add({.name = "union", .factory = make_operator_factory(make), .output = &type});
  for (const StreamEnd& other : others) env_->add_edge(other.node_, all.node_, other.edge_);
  return all;
}

void StreamEnd::print(AppendLines append) const {
  const auto make = [writers = make_print_writer(), append] {
    return std::make_unique<TextSinkOperator>(writers->make(), append);
  };
  const StreamEnd sink = add({.name = "print", .factory = make_operator_factory(make)});
  // Records of one subtask, such as those of a sort, are printed in their order.
  const std::vector<StreamNode>& nodes = env_->impl().graph.nodes;
  const std::optional<int> parallelism = nodes[static_cast<std::size_t>(node_)].parallelism;
  if (parallelism == 1) sink.parallelism(1);
}

namespace {

// `append`: of the records that reach it; `formatted`: but where checkpoints are taken they do so
// as text.
int add_file_sink(const StreamEnd& from, const std::string& path, AppendLines append,
                  bool formatted, const std::string& head) {
  const auto make_sink = [append, formatted,
                          head](const TextWriterFactory& writers) -> std::unique_ptr<Operator> {
    if (formatted) return std::make_unique<FormattedTextSinkOperator>(writers.make(), head);
    return std::make_unique<TextSinkOperator>(writers.make(), append, head);
  };
  NodeSpecification sink{
      .name = "write_file",
      .kind = "sink",
      .captured = head.empty() ? encoded_values(path) : encoded_values(path, head)};
  if (path == "-") {
    sink.factory = make_operator_factory(
        [writers = make_print_writer(), make_sink] { return make_sink(*writers); });
    sink.parallelism = 1;
  } else {
    sink.factory = make_planned_factory(
        [writers = make_file_writer(path), transactions = make_two_phase_file_writer(path, head),
         append, make_sink](const Plan& plan) -> std::unique_ptr<Operator> {
          if (!plan.checkpoints) return make_sink(*writers);
          return std::make_unique<TwoPhaseSinkOperator>(transactions->make(), append);
        });
    sink.parallelism_without_checkpoints = 1;
  }
  const int added = from.environment().add_node(std::move(sink));
  from.environment().add_edge(from.node(), added, from.edge());
  return added;
}

}  // namespace

StreamEnd StreamEnd::write_file(const std::string& path, AppendLines append, bool blocks,
                                const std::string& head) const {
  if (blocks || edge_.routing != EdgeRouting::automatic) {
    return {*env_, add_file_sink(*this, path, append, false, head)};
  }
  const auto make = [append] { return std::make_unique<FormatTextOperator>(append); };
  const StreamEnd text =
      with_network({})
          .with_routing(EdgeRouting::forward)
          .add({.name = "format",
                .factory = make_operator_factory(make),
                .output = &type_of<FormattedText>(),
                .planned_for = path == "-" ? PlannedFor::every_plan : PlannedFor::no_checkpoints})
          .with_network(edge_.network);  // the way to the one sink is what it is for
  return {*env_, add_file_sink(text, path, append, true, head)};
}

StreamEnd StreamEnd::with_routing(EdgeRouting routing) const {
  StreamEnd copy = *this;
  copy.edge_.routing = routing;
  return copy;
}
StreamEnd StreamEnd::with_partitioner(std::shared_ptr<const PartitionerFactory> partitioner,
                                      const CapturedValues& captured) const {
  StreamEnd copy = with_routing(EdgeRouting::hash);
  copy.edge_.partitioner = std::move(partitioner);
  copy.edge_.captured = captured;
  copy.edge_.is_custom = true;
  return copy;
}
StreamEnd StreamEnd::with_network(NetworkSettings settings) const {
  StreamEnd copy = *this;
  copy.edge_.network = std::move(settings);
  return copy;
}

StreamEnd StreamEnd::set(const NodeSettings& settings) const {
  apply_settings(*env_, node_, settings);
  return *this;
}
StreamEnd StreamEnd::name(const std::string& name) const { return set({.name = name}); }
StreamEnd StreamEnd::uid(const std::string& uid) const { return set({.uid = uid}); }
StreamEnd StreamEnd::parallelism(int parallelism) const {
  return set({.parallelism = parallelism});
}
StreamEnd StreamEnd::min_parallelism(int parallelism) const {
  return set({.min_parallelism = parallelism});
}
StreamEnd StreamEnd::max_parallelism(int parallelism) const {
  return set({.max_parallelism = parallelism});
}
StreamEnd StreamEnd::resource_group(const std::string& group) const {
  return set({.resource_group = group});
}
StreamEnd StreamEnd::disable_chaining() const {
  return set({.chain_with_upstream = false, .chain_with_downstream = false});
}
StreamEnd StreamEnd::start_new_chain() const { return set({.chain_with_upstream = false}); }
StreamEnd StreamEnd::on_failure(const FailurePolicy& policy) const {
  StreamEnd copy = set({.failures = policy});
  if (policy.output.type != nullptr) copy.sides_.push_back(policy.output);
  return copy;
}

StreamEnd StreamEnd::with_side_outputs(SideOutputPorts sides, std::optional<int> side_node) const {
  StreamEnd copy = *this;
  copy.sides_ = std::move(sides);
  copy.side_node_ = side_node;
  return copy;
}
StreamEnd StreamEnd::side_output(std::string_view name, const TypeDescriptor& type) const {
  const std::size_t port = side_output_port(sides_, name, type);
  if (port == 0) {
    env_->refuse("side_output(\"" + std::string(name) +
                 "\"): no side output of this name and type; list the tag in side_outputs(...) of "
                 "the process function, or hand it to late_output(...) of the window");
  }
  return {*env_, side_node_.value_or(node_), static_cast<int>(port)};
}

}  // namespace hummer::detail
