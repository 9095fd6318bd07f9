// The options of jobs: of programs with a job inside, of `hummer run`, and of what follows the
// library in `hummer submit`.
#include "api/options/option_programs.hpp"
#include "api/options/shared_rows.hpp"

namespace hummer {
namespace {

using O = EnvironmentOptions;
using C = CheckpointOptions;
using R = RestartStrategy;

constexpr std::string_view window_strategies[] = {"automatic", "repartition", "late_merge"};
constexpr std::string_view exchanges[] = {"pipelined", "blocking"};
constexpr std::string_view check_views[] = {"automatic", "off", "on"};
constexpr std::string_view restart_strategies[] = {"none", "fixed-delay", "exponential",
                                                   "failure-rate"};
constexpr std::string_view graph_formats[] = {"text", "json", "dot"};
constexpr std::int64_t default_interval_ms = 10'000;
constexpr double day_ms = 86'400'000;

static_assert(static_cast<int>(WindowStrategy::automatic) == 0 &&
              static_cast<int>(WindowStrategy::repartition) == 1 &&
              static_cast<int>(WindowStrategy::late_merge) == 2);

static_assert(static_cast<int>(ExchangeMode::pipelined) == 0 &&
              static_cast<int>(ExchangeMode::blocking) == 1);

static_assert(static_cast<int>(CheckViews::automatic) == 0 &&
              static_cast<int>(CheckViews::off) == 1 && static_cast<int>(CheckViews::on) == 2);

static_assert(static_cast<int>(R::Kind::none) == 0 && static_cast<int>(R::Kind::fixed_delay) == 1 &&
              static_cast<int>(R::Kind::exponential) == 2 &&
              static_cast<int>(R::Kind::failure_rate) == 3);

// Without it checkpoints bring a strategy of their own.
constexpr OptionOf<O> restart_strategy(const Option& row) {
  OptionOf<O> typed = field<&O::restart, &R::kind>(row);
  typed.option.store = [](const Option& option, const OptionValue& value, void* settings) {
    R& restart = static_cast<O*>(settings)->restart;
    option_field_detail::store_member(option, value, restart.kind);
    restart.is_set = true;
  };
  return typed;
}

// --checkpoint-dir alone means the default interval too; the interval's row comes after this one.
constexpr OptionOf<O> checkpoint_directory(const Option& row) {
  OptionOf<O> typed = field<&O::checkpoints, &C::directory>(row);
  typed.option.store = [](const Option&, const OptionValue& value, void* settings) {
    CheckpointOptions& checkpoints = static_cast<O*>(settings)->checkpoints;
    checkpoints.directory = value.texts.front();
    if (checkpoints.interval_ms == 0) checkpoints.interval_ms = default_interval_ms;
  };
  return typed;
}

// --at-least-once is a switch between the two guarantees.
constexpr OptionOf<O> at_least_once(Option row) {
  row.type = OptionType::on_off;
  row.store = [](const Option&, const OptionValue& value, void* settings) {
    static_cast<O*>(settings)->checkpoints.guarantee =
        value.on ? Guarantee::at_least_once : Guarantee::exactly_once;
  };
  row.load = [](const Option&, const void* settings) {
    OptionValue value;
    value.on = static_cast<const O*>(settings)->checkpoints.guarantee == Guarantee::at_least_once;
    return value;
  };
  return {row};
}

constexpr std::array running_rows{
    row_without_field<O>(config_row),
    row_without_field<O>(strict_variables_row),
    field<&O::parallelism>({.name = "parallelism",
                            .value = "N",
                            .unit = "slots",
                            .least = 1,
                            .most = 4096,
                            .otherwise = "one per processor",
                            .description = "slots, and parallelism of operators that set none"}),
    field<&O::batch_records>({.name = "batch-records",
                              .value = "N",
                              .unit = "records",
                              .least = 1,
                              .most = 1 << 20,
                              .description = "records per batch"}),
    field<&O::channel_credits>({.name = "channel-credits",
                                .value = "N",
                                .unit = "batches",
                                .least = 1,
                                .most = 65536,
                                .description = "batches under way per channel"}),
    field<&O::partial_state_bytes>(
        {.name = "partial-state-bytes",
         .value = "SIZE",
         .type = OptionType::size,
         .least = 1,
         .most = 1099511627776.0,
         .description = "partial aggregates empty themselves before they outgrow this"}),
    field<&O::bounded_memory_bytes>(
        {.name = "bounded-memory-bytes",
         .value = "SIZE",
         .type = OptionType::size,
         .least = 1 << 20,
         .most = 1099511627776.0,
         .description = "what sorts, groups and joins of whole bounded inputs hold in memory, per "
                        "slot, before they go to disk"}),
    field<&O::memory_limit_bytes>(memory_limit_row),
    field<&O::spill_directory>(spill_directory_row),
    field<&O::window_strategy>({.name = "window-strategy",
                                .value = "NAME",
                                .choices = window_strategies,
                                .description = "how records reach windows and aggregates: "
                                               "automatic, repartition or late_merge"}),
    field<&O::check_views>(
        {.name = "check-views",
         .value = "NAME",
         .choices = check_views,
         .description = "whether text that leaves a user function must be in memory that stays: "
                        "on, off, or automatic: in jobs that run in this process"}),
    field<&O::spin_us>(
        {.name = "spin-us",
         .value = "N",
         .unit = "us",
         .least = -1,
         .most = 1e9,
         .description = "how long an idle slot polls before it parks; -1: for ever"}),
    field<&O::pin_slots>({.name = "pin-slots",
                          .description = "pin each slot to a core that nobody else has claimed"}),
    negated_field<&O::chaining>({.name = "no-chaining", .description = "do not fuse operators"}),
    field<&O::exchange>(
        {.name = "exchange",
         .value = "NAME",
         .choices = exchanges,
         .description = "how the edges of a job whose sources all end hand records on: pipelined, "
                        "or blocking: all through files, and the job's regions one after another"}),
    field<&O::bytes_per_subtask>(
        {.name = "bytes-per-subtask",
         .value = "SIZE",
         .type = OptionType::size,
         .most = 1125899906842624.0,
         .otherwise = "as many subtasks as elsewhere",
         .description = "behind a blocking edge: fewer subtasks, where none are asked for, if each "
                        "would get less than this"}),
    field<&O::rest_listen>(
        {.name = "rest-listen",
         .value = "ADDRESS",
         .type = OptionType::address,
         .choices = no_address,
         .otherwise = "none",
         .description = "host:port where a job that runs in this process answers HTTP: status, "
                        "metrics, savepoints (docs/rest.md); none: nowhere"}),
    field<&O::explain>({.name = "explain",
                        .value = "FORMAT",
                        .type = OptionType::choice,
                        .choices = graph_formats,
                        .implied = "text",
                        .description = "print the job's graphs as text, json or dot, and run "
                                       "nothing"}),
    // EnvironmentOptions are quiet unless a command line is read.
    field<&O::quiet>(
        {.name = "quiet", .otherwise = "false", .description = "no progress and no summary"}),
    field<&O::progress_per_vertex>({.name = "progress-per-vertex",
                                    .description = "progress and summary with a line per vertex"}),
};

constexpr std::array checkpoint_rows{
    checkpoint_directory({.name = "checkpoint-dir",
                          .value = "DIR",
                          .description = "where checkpoints are kept; without it none are taken"}),
    field<&O::checkpoints, &C::interval_ms>({.name = "checkpoint-interval-ms",
                                             .value = "N",
                                             .unit = "ms",
                                             .least = 0,
                                             .most = day_ms,
                                             .otherwise = "10000",
                                             .description = "time between two checkpoints; 0: "
                                                            "none by time"}),
    field<&O::checkpoints, &C::minimum_pause_ms>(
        {.name = "checkpoint-minimum-pause-ms",
         .value = "N",
         .unit = "ms",
         .least = 0,
         .most = day_ms,
         .description = "time between the end of a checkpoint and the begin of the next"}),
    field<&O::checkpoints, &C::timeout_ms>({.name = "checkpoint-timeout-ms",
                                            .value = "N",
                                            .unit = "ms",
                                            .least = 1,
                                            .most = day_ms,
                                            .description = "then a checkpoint is given up"}),
    field<&O::checkpoints, &C::tolerated_failures>(
        {.name = "checkpoint-tolerated-failures",
         .value = "N",
         .unit = "checkpoints",
         .least = 0,
         .most = 1e6,
         .description = "failed checkpoints in a row; one more fails the job"}),
    field<&O::checkpoints, &C::retained>({.name = "checkpoints-retained",
                                          .value = "N",
                                          .unit = "checkpoints",
                                          .least = 1,
                                          .most = 1000,
                                          .description = "complete checkpoints that are kept"}),
    field<&O::checkpoints, &C::keep_at_end>(
        {.name = "keep-checkpoints", .description = "also those of a job that has finished"}),
    at_least_once(
        {.name = "at-least-once", .description = "inputs do not wait for each other at a barrier"}),
    field<&O::checkpoints, &C::unaligned>(
        {.name = "checkpoint-unaligned",
         .description = "barriers overtake records that wait, which are saved too"}),
    field<&O::checkpoints, &C::alignment_timeout_ms>(
        {.name = "alignment-timeout-ms",
         .value = "N",
         .unit = "ms",
         .least = 0,
         .most = day_ms,
         .description = "with --checkpoint-unaligned: barriers overtake only after this"}),
    field<&O::checkpoints, &C::step_bytes>(
        {.name = "checkpoint-step-bytes",
         .value = "SIZE",
         .type = OptionType::size,
         .least = 1,
         .most = 4194304,
         .description = "how much of large state is written between two batches of records"}),
    field<&O::checkpoints, &C::restore>(
        {.name = "restore",
         .value = "PATH",
         .description = "begin with the state of this checkpoint's directory, or 'latest'"}),
    field<&O::checkpoints, &C::allow_dropped_state>(
        {.name = "allow-dropped-state",
         .description = "restore also when operators with state are gone"}),
    field<&O::checkpoints, &C::allow_fresh_start>(
        {.name = "allow-fresh-start",
         .description = "begin anew when all checkpoints that the job had completed are gone"}),
};

constexpr std::array restart_rows{
    restart_strategy({.name = "restart-strategy",
                      .value = "NAME",
                      .choices = restart_strategies,
                      .otherwise = "exponential with checkpoints, else none",
                      .description = "when a job that failed starts again: none, fixed-delay, "
                                     "exponential or failure-rate"}),
    field<&O::restart, &R::attempts>({.name = "restart-attempts",
                                      .value = "N",
                                      .unit = "restarts",
                                      .least = 0,
                                      .most = 1e9,
                                      .description = "fixed-delay: restarts in all"}),
    field<&O::restart, &R::delay_ms>(
        {.name = "restart-delay-ms",
         .value = "N",
         .unit = "ms",
         .least = 0,
         .most = day_ms,
         .description = "time between a failure and the restart; exponential: the first"}),
    field<&O::restart, &R::longest_delay_ms>({.name = "restart-longest-delay-ms",
                                              .value = "N",
                                              .unit = "ms",
                                              .least = 0,
                                              .most = day_ms,
                                              .description = "exponential: the longest"}),
    field<&O::restart, &R::factor>({.name = "restart-factor",
                                    .value = "X",
                                    .least = 1,
                                    .most = 1000,
                                    .description = "exponential: how many times longer each is"}),
    field<&O::restart, &R::quiet_ms>(
        {.name = "restart-quiet-ms",
         .value = "N",
         .unit = "ms",
         .least = 0,
         .most = day_ms,
         .description = "exponential: so long without a failure, and the first delay is next"}),
    field<&O::restart, &R::failures>(
        {.name = "restart-failures",
         .value = "N",
         .unit = "failures",
         .least = 0,
         .most = 1e9,
         .description = "failure-rate: more within --restart-interval-ms fail the job"}),
    field<&O::restart, &R::interval_ms>({.name = "restart-interval-ms",
                                         .value = "N",
                                         .unit = "ms",
                                         .least = 1,
                                         .most = day_ms,
                                         .description = "failure-rate: the time they count in"}),
};

constexpr Option on_the_cluster(Option row) {
  row.description = "run on the cluster of this JobManager (host:port)";
  return row;
}

constexpr std::array cluster_rows{
    field<&O::job_manager>(on_the_cluster(job_manager_row)),
    field<&O::token>(token_row),
    field<&O::token_file>(token_file_row),
    field<&O::tls_ca>(tls_ca_row),
    field<&O::tls_certificate>(tls_certificate_row),
    field<&O::tls_key>(tls_key_row),
    field<&O::tls_peer_name>(tls_peer_name_row),
    field<&O::detached>({.name = "detached",
                         .description = "on a cluster: print the job's number and leave it "
                                        "running"}),
};

constexpr auto job_rows = options_of(running_rows, checkpoint_rows, restart_rows, cluster_rows);

}  // namespace

template <>
const OptionProgram& program_of<EnvironmentOptions>() {
  static const EnvironmentOptions defaults;
  static const OptionProgram program{
      "job", "jobs: programs with a job inside, `hummer run LIBRARY`, `hummer submit LIBRARY`",
      job_rows, &defaults};
  return program;
}

}  // namespace hummer
