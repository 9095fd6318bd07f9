#include <hummer/environment.hpp>

#include <algorithm>

#include <hummer/data_stream.hpp>

#include "api/bounded_operators.hpp"
#include "api/environment_impl.hpp"
#include "graph/planner.hpp"

namespace hummer {

StreamExecutionEnvironment::StreamExecutionEnvironment(EnvironmentOptions options)
    : options_(std::move(options)), impl_(std::make_unique<Impl>()) {}

StreamExecutionEnvironment::StreamExecutionEnvironment(int argc, const char* const* argv)
    : impl_(std::make_unique<Impl>()) {
  options_.quiet = false;
  impl_->from_command_line = true;
  parse_command_line(argc, argv, options_, *impl_);
}

StreamExecutionEnvironment::~StreamExecutionEnvironment() = default;

std::string StreamExecutionEnvironment::argument(const std::string& name,
                                                 const std::string& description) {
  impl_->asked.emplace(name, description);
  const auto found = impl_->arguments.find(name);
  if (found != impl_->arguments.end()) return found->second;
  if (impl_->missing.empty()) impl_->missing = name;
  return {};
}

std::string StreamExecutionEnvironment::argument_or(const std::string& name,
                                                    const std::string& otherwise,
                                                    const std::string& description) {
  impl_->asked.emplace(name, description + " [" + otherwise + "]");
  const auto found = impl_->arguments.find(name);
  return found == impl_->arguments.end() ? otherwise : found->second;
}

bool StreamExecutionEnvironment::flag(const std::string& name, const std::string& description) {
  impl_->asked.emplace(name, description);
  return impl_->arguments.contains(name);
}

int StreamExecutionEnvironment::add_node(NodeSpecification specification) {
  StreamNode node;
  node.id = static_cast<int>(impl_->graph.nodes.size());
  node.name = std::move(specification.name);
  node.kind = specification.kind == "source" ? OperatorKind::source
              : specification.kind == "sink" ? OperatorKind::sink
                                             : OperatorKind::operator_;
  node.factory = std::move(specification.factory);
  node.bounded = specification.bounded;
  node.stateful = specification.stateful;
  node.parallelism = specification.parallelism;
  node.parallelism_without_checkpoints = specification.parallelism_without_checkpoints;
  node.planned_for = specification.planned_for;
  node.pre_aggregation = specification.pre_aggregation;
  node.output_type = std::move(specification.output_type);
  node.captured_hash = specification.captured.hash;
  node.captured_unknown = specification.captured.unknown;
  if (specification.is_conversion) impl_->conversions.insert(node.id);
  impl_->graph.nodes.push_back(std::move(node));
  return impl_->graph.nodes.back().id;
}

void StreamExecutionEnvironment::refuse(const std::string& what) {
  if (impl_->graph.mistake.ok()) impl_->graph.mistake = {ErrorCode::invalid_graph, what};
}

void StreamExecutionEnvironment::add_edge(int from, int to,
                                          const EdgeSpecification& specification) {
  StreamEdge edge;
  edge.from = from;
  edge.to = to;
  edge.from_port = specification.port;
  edge.network = specification.network;
  edge.partitioner = specification.partitioner;
  edge.partitioner_past = specification.partitioner_past;
  edge.is_custom = specification.is_custom;
  edge.is_ordered = specification.is_ordered;
  edge.is_bypass = specification.is_bypass;
  edge.automatic = specification.routing == EdgeRouting::automatic;
  switch (specification.routing) {
    case EdgeRouting::automatic:
    case EdgeRouting::forward: edge.routing = Routing::forward; break;
    case EdgeRouting::hash: edge.routing = Routing::hash; break;
    case EdgeRouting::rebalance: edge.routing = Routing::rebalance; break;
    case EdgeRouting::broadcast: edge.routing = Routing::broadcast; break;
  }
  StreamNode& node = impl_->graph.nodes[static_cast<std::size_t>(to)];
  const CapturedValues captured =
      CapturedValues{node.captured_unknown, node.captured_hash}.and_also(specification.captured);
  node.captured_hash = captured.hash;
  node.captured_unknown = captured.unknown;
  impl_->graph.edges.push_back(std::move(edge));
}

namespace {

bool is_replayable(const StreamNode& node) {
  if (node.kind != OperatorKind::source || node.factory == nullptr) return true;
  try {
    const std::unique_ptr<Operator> op = node.factory->make();
    const auto* source = dynamic_cast<const SourceOperator*>(op.get());
    return source == nullptr || source->replayable();
  } catch (...) {
    return true;  // the job fails by that when it makes its operators
  }
}

// Of the graph, the operators that hold the whole of their input.
std::size_t count_bounded_operators(const StreamGraph& graph) {
  return static_cast<std::size_t>(
      std::count_if(graph.nodes.begin(), graph.nodes.end(), is_bounded_operator));
}

// What the options say to those that were written before they were set.
Plan plan_of(const EnvironmentOptions& options, std::size_t bounded_operators) {
  Plan plan;
  plan.checkpoints = options.checkpoints.enabled();
  plan.partial_state_bytes = options.partial_state_bytes;
  plan.bypass = options.bypass;
  plan.bounded_operator_bytes =
      options.bounded_memory_bytes / std::max<std::size_t>(bounded_operators, 1);
  // One subtask would keep two tables of the same keys. With checkpoints the graph must not depend
  // on the parallelism, which may change at a restore.
  plan.partial_windows = options.window_strategy == WindowStrategy::automatic
                             ? options.parallelism != 1 || plan.checkpoints
                             : options.window_strategy == WindowStrategy::late_merge;
  switch (options.window_strategy) {
    case WindowStrategy::automatic: break;
    case WindowStrategy::repartition: plan.folding = Folding::off; break;
    case WindowStrategy::late_merge: plan.folding = Folding::always; break;
  }
  return plan;
}

}  // namespace

StreamGraph StreamExecutionEnvironment::Impl::finished_graph(
    const std::string& job_name, const EnvironmentOptions& options) const {
  StreamGraph finished = plan(graph, plan_of(options, count_bounded_operators(graph)));
  finished.job_name = job_name;
  if (finished.mistake.ok()) finished.mistake = check_sinks(finished);
  if (finished.mistake.ok()) {
    finished.mistake = check_bounded_operators(finished, options.checkpoints.enabled());
  }
  for (StreamNode& node : finished.nodes) node.replayable = is_replayable(node);
  return finished;
}

std::shared_ptr<JobResult> StreamExecutionEnvironment::Impl::no_result() {
  auto result = std::make_shared<JobResult>();
  result->status = {ErrorCode::invalid_graph,
                    "the job never called execute(): call it once, at the end"};
  return result;
}

JobResult StreamExecutionEnvironment::Impl::keep(const std::string& job_name,
                                                 const EnvironmentOptions& options) {
  JobResult result;
  result.job_name = job_name;
  if (execute_calls > 1) {
    kept->status = {ErrorCode::invalid_graph,
                    "the job calls execute() twice: a job function executes one job"};
  } else if (!help) {
    kept->status = check_arguments(*this);
    kept->graph = finished_graph(job_name, options);
    kept->options = options;
  }
  result.status = kept->status;
  *last_result = result;
  return result;
}

bool StreamExecutionEnvironment::is_rebuilt() const { return impl_->kept != nullptr; }

JobResult StreamExecutionEnvironment::last_result() const { return *impl_->last_result; }

namespace {

// Its inputs are there: a setting follows the call that made the operator.
void set_failures(StreamExecutionEnvironment& env, StreamNode& node, const FailurePolicy& policy) {
  node.failures = policy.skips ? std::make_shared<const FailurePolicy>(policy) : nullptr;
  if (!policy.skips) return;
  if (!node.factory->make()->can_skip_record()) {
    env.refuse("on_failure(...) of '" + node.name +
               "': this operator can't go on behind a record whose function has thrown; let a map "
               "in front of it do what may fail, and give that one the policy");
  }
  if (policy.record == nullptr) return;
  const StreamGraph& graph = env.impl().graph;
  for (const StreamEdge& edge : graph.edges) {
    if (edge.to != node.id || edge.from_port != 0) continue;
    const std::string& type = graph.nodes[static_cast<std::size_t>(edge.from)].output_type;
    const bool line =
        type == type_of<TextBlock>().name && *policy.record == type_of<std::string_view>();
    if (line || type == policy.record->name) continue;
    env.refuse("failures_to(\"" + std::string(policy.output.name) + "\") of '" + node.name +
               "': its records are of type " + type + ", and the tag is for FailedRecord<" +
               policy.record->name + ">");
  }
}

// What makes the strings that an operator takes has as many subtasks as it: an edge ahead of both
// spreads records for the operator that its author sees.
void share_parallelism(StreamExecutionEnvironment::Impl& impl, const StreamNode& node) {
  impl.conversions.erase(node.id);
  for (const StreamEdge& edge : impl.graph.edges) {
    if (edge.to != node.id || !impl.conversions.contains(edge.from)) continue;
    StreamNode& conversion = impl.graph.nodes[static_cast<std::size_t>(edge.from)];
    conversion.parallelism = node.parallelism;
    conversion.min_parallelism = node.min_parallelism;
    conversion.max_parallelism = node.max_parallelism;
  }
}

}  // namespace

void apply_settings(StreamExecutionEnvironment& env, int id, const NodeSettings& settings) {
  StreamNode& node = env.impl().graph.nodes[static_cast<std::size_t>(id)];
  if (settings.name) node.name = *settings.name;
  if (settings.uid) node.uid = *settings.uid;
  if (settings.resource_group) node.resource_group = *settings.resource_group;
  if (settings.parallelism) node.parallelism = settings.parallelism;
  if (settings.min_parallelism) node.min_parallelism = settings.min_parallelism;
  if (settings.max_parallelism) node.max_parallelism = settings.max_parallelism;
  if (settings.chain_with_upstream) node.chain_with_upstream = *settings.chain_with_upstream;
  if (settings.chain_with_downstream) node.chain_with_downstream = *settings.chain_with_downstream;
  if (settings.parallelism || settings.min_parallelism || settings.max_parallelism) {
    share_parallelism(env.impl(), node);
  }
  if (settings.failures) set_failures(env, node, *settings.failures);
}

bool is_bounded(StreamExecutionEnvironment& env, int id) {
  const StreamGraph& graph = env.impl().graph;
  const StreamNode& node = graph.nodes[static_cast<std::size_t>(id)];
  if (node.kind == OperatorKind::source) return node.bounded;
  for (const StreamEdge& edge : graph.edges) {
    if (edge.to == id && !is_bounded(env, edge.from)) return false;
  }
  return true;
}

std::uint64_t JobResult::counter(std::string_view name) const {
  std::uint64_t sum = 0;
  for (const VertexSummary& vertex : vertices) {
    for (const OperatorSummary& op : vertex.operators) {
      for (const MetricSummary& metric : op.metrics) {
        if (metric.kind == MetricKind::counter && metric.name == name) sum += metric.count;
      }
    }
  }
  return sum;
}

int JobResult::exit_code() const {
  switch (status.code()) {
    case ErrorCode::ok: return 0;
    case ErrorCode::invalid_argument:
    case ErrorCode::invalid_configuration:
    case ErrorCode::unknown_option: return 2;
    case ErrorCode::cancelled: return 130;
    default: return 1;
  }
}

}  // namespace hummer
