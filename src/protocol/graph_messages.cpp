#include "protocol/graph_messages.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>
#include <hummer/windows.hpp>

#include "graph/fingerprint.hpp"
#include "graph/regions.hpp"

namespace hummer {
namespace {

Status refuse_graph(std::string what) {
  return {ErrorCode::protocol_error, "the job graph makes no sense: " + std::move(what)};
}

// Checks all of one message's numbers and texts; the first thing wrong stays.
class Checker {
 public:
  explicit Checker(std::string where) : where_(std::move(where)) {}

  int number(std::string_view what, std::uint64_t value, std::uint64_t low, std::uint64_t high) {
    if (value < low || value > high) {
      fail(fmt::format("{} is {}, not within {} to {}", what, value, low, high));
      return static_cast<int>(low);
    }
    return static_cast<int>(value);
  }
  const std::string& text(std::string_view what, const std::string& value) {
    if (value.size() > max_graph_text_bytes) {
      fail(
          fmt::format("{} has {} bytes; the most is {}", what, value.size(), max_graph_text_bytes));
    }
    return value;
  }
  void require(bool condition, std::string_view what) {
    if (!condition) fail(std::string(what));
  }
  Status status() && { return std::move(failure_); }
  bool ok() const { return failure_.ok(); }

 private:
  void fail(const std::string& what) {
    if (failure_.ok()) failure_ = refuse_graph(where_ + ": " + what);
  }
  std::string where_;
  Status failure_;
};

constexpr std::uint64_t widest = static_cast<std::uint64_t>(highest_parallelism);
constexpr std::uint64_t most_ports = 1 << 16;

std::optional<OperatorKind> kind_from(const std::string& text) {
  for (const OperatorKind kind :
       {OperatorKind::source, OperatorKind::operator_, OperatorKind::sink}) {
    if (text == to_string(kind)) return kind;
  }
  return std::nullopt;
}

Result<ChainedOperator> operator_from(const wire::ChainedOperator& message, std::string where) {
  Checker check(std::move(where));
  ChainedOperator op;
  op.node = check.number("node", message.node(), 0, 1u << 30);
  op.name = check.text("its name", message.name());
  op.uid = check.text("its uid", message.uid());
  check.require(!op.uid.empty(), "it has no uid");
  const std::optional<OperatorKind> kind = kind_from(message.kind());
  check.require(kind.has_value(), "its kind is unknown");
  op.kind = kind.value_or(OperatorKind::operator_);
  op.output_type = check.text("its type", message.output_type());
  op.stateful = message.stateful();
  op.key_groups = check.number("key groups", message.key_groups(), 0, widest);
  op.captured_hash = message.captured_hash();
  op.replayable = !message.not_replayable();
  if (!check.ok()) return std::move(check).status();
  return op;
}

Result<JobVertex> vertex_from(const wire::JobVertex& message, int id) {
  Checker check(fmt::format("vertex {}", id));
  JobVertex vertex;
  vertex.id = id;
  vertex.name = check.text("its name", message.name());
  vertex.uid = check.text("its uid", message.uid());
  vertex.resource_group = check.text("its resource group", message.resource_group());
  vertex.bounded = message.bounded();
  if (message.has_min_parallelism()) {
    vertex.range.min = check.number("minimum parallelism", message.min_parallelism(), 1, widest);
  }
  if (message.has_max_parallelism()) {
    vertex.range.max = check.number("maximum parallelism", message.max_parallelism(), 1, widest);
  }
  check.require(!vertex.range.empty(), "its minimum parallelism is above its maximum");
  if (message.has_parallelism()) {
    const int parallelism = check.number("parallelism", message.parallelism(), 1, widest);
    check.require(parallelism >= vertex.range.min && parallelism <= vertex.range.max,
                  "its parallelism is outside of its minimum and maximum");
    vertex.parallelism = parallelism;
  }
  check.require(message.chain_size() > 0, "it has no operator");
  if (!check.ok()) return std::move(check).status();
  for (const wire::ChainedOperator& op : message.chain()) {
    Result<ChainedOperator> chained =
        operator_from(op, fmt::format("vertex {}, operator {}", id, vertex.chain.size()));
    if (!chained.ok()) return chained.status();
    vertex.chain.push_back(std::move(*chained));
  }
  return vertex;
}

Result<JobEdge> edge_from(const wire::JobEdge& message, int id, int vertices) {
  Checker check(fmt::format("edge {}", id));
  JobEdge edge;
  edge.id = id;
  const auto last = static_cast<std::uint64_t>(vertices - 1);
  edge.from = check.number("its upstream vertex", message.from(), 0, last);
  edge.to = check.number("its downstream vertex", message.to(), 0, last);
  check.require(edge.from < edge.to, "its upstream vertex is not before its downstream vertex");
  edge.from_port = check.number("its port", message.from_port(), 0, most_ports);
  edge.to_input = check.number("its input", message.to_input(), 0, most_ports);
  edge.routing = static_cast<Routing>(
      check.number("its routing", message.routing(), 0, static_cast<unsigned>(Routing::broadcast)));
  const bool hash = edge.routing == Routing::hash;
  edge.key_groups =
      check.number("its key groups", message.key_groups(), hash ? 1 : 0, hash ? widest : 0);
  edge.is_custom = message.custom();
  const wire::NetworkSettings& network = message.network();
  constexpr auto slots = static_cast<std::uint64_t>(NetworkSettings::max_own_slots);
  edge.network.interface_or_address = check.text("its interface", network.interface_or_address());
  edge.network.transport = static_cast<Transport>(check.number(
      "its transport", network.transport(), 0, static_cast<unsigned>(Transport::rdma)));
  edge.network.sender_slots = check.number("sender slots", network.sender_slots(), 0, slots);
  edge.network.receiver_slots = check.number("receiver slots", network.receiver_slots(), 0, slots);
  edge.network.buffer_size_bytes = static_cast<std::size_t>(
      check.number("buffer size", network.buffer_size_bytes(), 0, 1u << 30));
  edge.network.credits = check.number("credits", network.credits(), 0, 1u << 30);
  edge.network.exchange = static_cast<ExchangeMode>(check.number(
      "its exchange", network.exchange(), 0, static_cast<unsigned>(ExchangeMode::blocking)));
  if (!check.ok()) return std::move(check).status();
  if (const Status status = validate(edge.network); !status.ok()) {
    return status.with_context(fmt::format("edge {}", id));
  }
  return edge;
}

// Every code there is. A number beyond them is no ErrorCode.
constexpr std::array known_codes = {ErrorCode::invalid_argument,  ErrorCode::invalid_configuration,
                                    ErrorCode::unknown_option,    ErrorCode::invalid_graph,
                                    ErrorCode::not_enough_slots,  ErrorCode::user_function_failed,
                                    ErrorCode::cancelled,         ErrorCode::operator_failed,
                                    ErrorCode::corrupt_record,    ErrorCode::limit_exceeded,
                                    ErrorCode::peer_gone,         ErrorCode::timed_out,
                                    ErrorCode::not_found,         ErrorCode::permission_denied,
                                    ErrorCode::not_a_file,        ErrorCode::corrupt_file,
                                    ErrorCode::file_changed,      ErrorCode::disk_full,
                                    ErrorCode::io_error,          ErrorCode::connection_refused,
                                    ErrorCode::connection_lost,   ErrorCode::address_in_use,
                                    ErrorCode::name_not_resolved, ErrorCode::protocol_error,
                                    ErrorCode::internal};

}  // namespace

void to_message(const JobGraph& graph, wire::JobGraph& message) {
  message.Clear();
  message.set_job_name(graph.job_name);
  message.set_fingerprint(graph.fingerprint);
  for (const JobVertex& vertex : graph.vertices) {
    wire::JobVertex& out = *message.add_vertices();
    out.set_name(vertex.name);
    out.set_uid(vertex.uid);
    out.set_resource_group(vertex.resource_group);
    out.set_bounded(vertex.bounded);
    if (vertex.parallelism) out.set_parallelism(static_cast<std::uint32_t>(*vertex.parallelism));
    out.set_min_parallelism(static_cast<std::uint32_t>(vertex.range.min));
    out.set_max_parallelism(static_cast<std::uint32_t>(vertex.range.max));
    for (const ChainedOperator& op : vertex.chain) {
      wire::ChainedOperator& chained = *out.add_chain();
      chained.set_node(static_cast<std::uint32_t>(op.node));
      chained.set_name(op.name);
      chained.set_uid(op.uid);
      chained.set_kind(std::string(to_string(op.kind)));
      chained.set_output_type(op.output_type);
      chained.set_stateful(op.stateful);
      chained.set_key_groups(static_cast<std::uint32_t>(op.key_groups));
      chained.set_captured_hash(op.captured_hash);
      chained.set_not_replayable(!op.replayable);
    }
  }
  for (const JobEdge& edge : graph.edges) {
    wire::JobEdge& out = *message.add_edges();
    out.set_from(static_cast<std::uint32_t>(edge.from));
    out.set_to(static_cast<std::uint32_t>(edge.to));
    out.set_from_port(static_cast<std::uint32_t>(edge.from_port));
    out.set_to_input(static_cast<std::uint32_t>(edge.to_input));
    out.set_routing(static_cast<std::uint32_t>(edge.routing));
    out.set_key_groups(static_cast<std::uint32_t>(edge.key_groups));
    out.set_custom(edge.is_custom);
    wire::NetworkSettings& network = *out.mutable_network();
    network.set_interface_or_address(edge.network.interface_or_address);
    network.set_transport(static_cast<std::uint32_t>(edge.network.transport));
    network.set_sender_slots(static_cast<std::uint32_t>(edge.network.sender_slots));
    network.set_receiver_slots(static_cast<std::uint32_t>(edge.network.receiver_slots));
    network.set_buffer_size_bytes(edge.network.buffer_size_bytes);
    network.set_credits(static_cast<std::uint32_t>(edge.network.credits));
    network.set_exchange(static_cast<std::uint32_t>(edge.network.exchange));
  }
}

Result<JobGraph> job_graph_from(const wire::JobGraph& message) {
  const auto too_many = [](std::string_view what, int count, int most) {
    return refuse_graph(fmt::format("{} {}; the most is {}", count, what, most));
  };
  if (message.vertices_size() == 0) return refuse_graph("it has no vertex");
  if (message.vertices_size() > max_job_vertices) {
    return too_many("vertices", message.vertices_size(), max_job_vertices);
  }
  if (message.edges_size() > max_job_edges) {
    return too_many("edges", message.edges_size(), max_job_edges);
  }
  if (message.job_name().size() > max_graph_text_bytes) return refuse_graph("its name is too long");
  JobGraph graph;
  graph.job_name = message.job_name();
  int operators = 0;
  for (const wire::JobVertex& vertex : message.vertices()) {
    operators += vertex.chain_size();
    if (operators > max_job_operators) return too_many("operators", operators, max_job_operators);
    Result<JobVertex> read = vertex_from(vertex, static_cast<int>(graph.vertices.size()));
    if (!read.ok()) return read.status();
    graph.vertices.push_back(std::move(*read));
  }
  for (const wire::JobEdge& edge : message.edges()) {
    Result<JobEdge> read =
        edge_from(edge, static_cast<int>(graph.edges.size()), message.vertices_size());
    if (!read.ok()) return read.status();
    graph.edges.push_back(std::move(*read));
  }
  HUMMER_TRY(check_blocking_edges(graph));
  graph.fingerprint = fingerprint(graph);
  if (graph.fingerprint != message.fingerprint()) {
    return refuse_graph(
        fmt::format("its fingerprint is {:016x}, but {:016x} was computed here; client "
                    "and JobManager must be of one version",
                    message.fingerprint(), graph.fingerprint));
  }
  return graph;
}

void to_message(const Status& status, wire::Failure& message) {
  message.set_code(static_cast<std::uint32_t>(status.code()));
  message.set_message(status.message());
}

Status status_from(const wire::Failure& message) {
  if (message.code() == 0) return {};
  for (const ErrorCode code : known_codes) {
    if (static_cast<std::uint32_t>(code) == message.code()) return {code, message.message()};
  }
  return {ErrorCode::internal, fmt::format("E{}: {}", message.code(), message.message())};
}

void to_message(const CheckpointOptions& options, wire::Checkpointing& message) {
  message.set_directory(options.directory);
  message.set_interval_ms(options.interval_ms);
  message.set_guarantee(static_cast<std::uint32_t>(options.guarantee));
  message.set_minimum_pause_ms(options.minimum_pause_ms);
  message.set_timeout_ms(options.timeout_ms);
  message.set_tolerated_failures(options.tolerated_failures);
  message.set_retained(options.retained);
  message.set_keep_at_end(options.keep_at_end);
  message.set_restore(options.restore);
  message.set_allow_dropped_state(options.allow_dropped_state);
  message.set_unaligned(options.unaligned);
  message.set_alignment_timeout_ms(options.alignment_timeout_ms);
  message.set_step_bytes(options.step_bytes);
  message.set_allow_fresh_start(options.allow_fresh_start);
}

CheckpointOptions checkpoint_options_from(const wire::Checkpointing& message) {
  CheckpointOptions options;
  options.directory = message.directory();
  options.interval_ms = message.interval_ms();
  options.guarantee = static_cast<Guarantee>(message.guarantee());
  options.minimum_pause_ms = message.minimum_pause_ms();
  options.timeout_ms = message.timeout_ms();
  options.tolerated_failures = message.tolerated_failures();
  options.retained = message.retained();
  options.keep_at_end = message.keep_at_end();
  options.restore = message.restore();
  options.allow_dropped_state = message.allow_dropped_state();
  options.unaligned = message.unaligned();
  options.alignment_timeout_ms = message.alignment_timeout_ms();
  if (message.step_bytes() != 0) options.step_bytes = message.step_bytes();
  options.allow_fresh_start = message.allow_fresh_start();
  return options;
}

void to_message(const RestartStrategy& strategy, wire::Restarting& message) {
  message.set_kind(static_cast<std::uint32_t>(strategy.kind));
  message.set_is_set(strategy.is_set);
  message.set_attempts(strategy.attempts);
  message.set_delay_ms(strategy.delay_ms);
  message.set_longest_delay_ms(strategy.longest_delay_ms);
  message.set_factor(strategy.factor);
  message.set_quiet_ms(strategy.quiet_ms);
  message.set_failures(strategy.failures);
  message.set_interval_ms(strategy.interval_ms);
}

RestartStrategy restart_strategy_from(const wire::Restarting& message) {
  RestartStrategy strategy;
  strategy.kind = static_cast<RestartStrategy::Kind>(message.kind());
  strategy.is_set = message.is_set();
  strategy.attempts = message.attempts();
  strategy.delay_ms = message.delay_ms();
  strategy.longest_delay_ms = message.longest_delay_ms();
  strategy.factor = message.factor();
  strategy.quiet_ms = message.quiet_ms();
  strategy.failures = message.failures();
  strategy.interval_ms = message.interval_ms();
  return strategy;
}

namespace {

// Times that a deadline can be made of.
bool is_duration(std::int64_t ms) { return ms >= 0 && ms <= std::int64_t{1'000'000'000'000}; }

Status validate(const wire::Checkpointing& options) {
  const auto refuse = [](std::string what) {
    return Status(ErrorCode::invalid_configuration, "checkpoints: " + std::move(what));
  };
  if (options.directory().size() > max_graph_text_bytes ||
      options.restore().size() > max_graph_text_bytes) {
    return refuse("a path is longer than any can be");
  }
  if (options.guarantee() > static_cast<std::uint32_t>(Guarantee::at_least_once)) {
    return refuse("the guarantee is none that this JobManager knows");
  }
  if (!options.restore().empty() && options.directory().empty()) {
    return refuse("a job that begins with a checkpoint needs a directory for its own");
  }
  if (!is_duration(options.interval_ms()) || !is_duration(options.minimum_pause_ms()) ||
      !is_duration(options.timeout_ms()) || !is_duration(options.alignment_timeout_ms())) {
    return refuse("interval, pause and timeouts are from 0 to 10^12 ms");
  }
  if (options.step_bytes() > std::uint64_t{1} << 22) {
    return refuse("steps are of 2^22 bytes at most");
  }
  return {};
}

Status validate(const wire::Restarting& strategy) {
  const bool known =
      strategy.kind() <= static_cast<std::uint32_t>(RestartStrategy::Kind::failure_rate);
  if (known && is_duration(strategy.delay_ms()) && is_duration(strategy.longest_delay_ms()) &&
      is_duration(strategy.quiet_ms()) && is_duration(strategy.interval_ms()) &&
      strategy.factor() >= 0 && strategy.factor() <= 1e6 && strategy.failures() <= 1'000'000) {
    return {};
  }
  return {ErrorCode::invalid_configuration,
          "the restart strategy is none that this JobManager knows, or its times are not from 0 to "
          "10^12 ms"};
}

}  // namespace

Status validate(const wire::JobOptions& options) {
  HUMMER_TRY(validate(options.checkpointing()));
  HUMMER_TRY(validate(options.restarting()));
  const auto outside = [](std::string_view what, std::int64_t value, std::int64_t high) {
    return Status(ErrorCode::invalid_configuration,
                  fmt::format("{} is {}; the most is {}", what, value, high));
  };
  if (options.parallelism() > widest) {
    return outside("the job's default parallelism", options.parallelism(), widest);
  }
  if (options.total_slots() > 1u << 30) {
    return outside("the job's total of slots", options.total_slots(), 1 << 30);
  }
  if (options.batch_records() > 1u << 20) {
    return outside("batch_records", options.batch_records(), 1 << 20);
  }
  if (options.channel_credits() > 1u << 16) {
    return outside("channel_credits", options.channel_credits(), 1 << 16);
  }
  if (options.spin_us() < -1 || options.spin_us() > 1'000'000'000) {
    return outside("spin_us", options.spin_us(), 1'000'000'000);
  }
  if (options.window_strategy() > static_cast<std::uint32_t>(WindowStrategy::late_merge)) {
    return {ErrorCode::invalid_configuration,
            "the window strategy is none that this JobManager knows"};
  }
  if (options.exchange() > static_cast<std::uint32_t>(ExchangeMode::blocking)) {
    return {ErrorCode::invalid_configuration,
            "the mode of exchange is none that this JobManager knows"};
  }
  if (options.partial_state_bytes() > std::uint64_t{1} << 50) {
    return {ErrorCode::invalid_configuration, "partial_state_bytes is above 2^50"};
  }
  if (options.bounded_memory_bytes() > std::uint64_t{1} << 50) {
    return {ErrorCode::invalid_configuration, "bounded_memory_bytes is above 2^50"};
  }
  if (options.bytes_per_subtask() > std::uint64_t{1} << 50) {
    return {ErrorCode::invalid_configuration, "bytes_per_subtask is above 2^50"};
  }
  return {};
}

}  // namespace hummer
