#include "simulation/stateful_cluster_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include <hummer/hummer.hpp>

#include "api/job_build.hpp"
#include "client/submit.hpp"
#include "graph/job_graph.hpp"
#include "protocol/graph_messages.hpp"
#include "simulation/committed_output.hpp"
#include "simulation/completed_checkpoints.hpp"
#include "simulation/simulated_nodes.hpp"
#include "simulation/stateful_client.hpp"
#include "simulation/stateful_job.hpp"

namespace hummer::cluster_simulation {

StatefulCluster::StatefulCluster(RunOptions options)
    : options_(options),
      simulation_({.seed = options.seed}),
      random_(mix_bits(options.seed ^ 0xc1057e5)),
      store_(simulation_.add_node("store")),
      context_{simulation_, weather_,        messages_, random_, job_manager_address,
               token,       options.verbose, &store_,   journal},
      interval_ms_(random_.between(400, 2500)),
      unaligned_(random_.chance(0.5)),
      keeps_parallelism_(unaligned_ && random_.chance(0.5)),
      workload_(draw_work()),
      requests_(mix_bits(options.seed ^ 0x3e5ca1e)) {
  report_.seed = options.seed;
  for (const std::string_view name : strike_names) report_.totals[fmt::format("fault {}", name)];
  report_.totals[fmt::format("fault {}", power_cut_name)];
  for (std::size_t i = 1; i < event_names.size(); ++i) report_.totals[std::string(event_names[i])];
  if (workload_.crowd > 0) context_.memory_limit_bytes = memory_limit_bytes;
  context_.draw_machines(options.seed);
  job_manager_ = std::make_unique<JobManagerProcess>(context_, "jobmanager");
  for (int i = 1; i <= task_manager_count; ++i) {
    task_managers_.push_back(
        std::make_unique<TaskManagerProcess>(context_, fmt::format("tm{}", i)));
  }
  client_ = std::make_unique<StatefulClientProcess>(context_, submission_);
}

StatefulCluster::~StatefulCluster() {
  const auto end = [](SimulatedProcess& process) {
    if (process.alive()) process.kill(true);
  };
  end(*client_);
  for (const auto& one : task_managers_) end(*one);
  end(*job_manager_);
}

Workload StatefulCluster::draw_work() {
  const std::int64_t begins_ms = simulation_.options().start_wall_time_ms;
  Workload workload = draw_workload(random_, begins_ms, cluster_lasts_s);
  if (random_.chance(0.7)) add_input_files(workload, random_, cluster_lasts_s);
  if (random_.chance(0.5)) workload.crowd = 3000 + random_.below(6000);
  if (unaligned_ && !keeps_parallelism_) {
    workload.shuts_accounts = 0;
    workload.order_kept = false;
  }
  return workload;
}

Status StatefulCluster::write_input() {
  Files& files = store_.files();
  HUMMER_TRY(files.create_directories(input_directory));
  for (const InputText& one : input_files(workload_)) {
    auto file = files.open_for_writing(one.path, WriteMode::truncate);
    if (!file.ok()) return file.status();
    HUMMER_TRY((*file)->append(one.text));
    HUMMER_TRY((*file)->sync());
  }
  HUMMER_TRY(files.sync_directory(input_directory));
  return files.sync_directory("/");
}

Status StatefulCluster::make_request(int parallelism, const std::string& restore) {
  log(fmt::format("---- job at parallelism {}, from '{}'", parallelism, restore));
  restored_from_ = restore;
  parallelism_ = parallelism;
  EnvironmentOptions options;
  options.platform = &store_;
  options.parallelism = parallelism;
  options.checkpoints.restore = restore;
  options.batch_records = random_.chance(0.2) ? 16 : 512;
  options.channel_credits = static_cast<int>(2 + random_.below(3));
  options.checkpoints.directory = checkpoints;
  // In small steps some are given up in the middle of a table. Each is written by itself: where the
  // disk is slow hardly any would be in time, least of all what a join keeps.
  if (random_.chance(0.5)) {
    const bool keeps_records = workload_.pair_ms > 0 || workload_.groups > 0;
    const auto least = static_cast<std::uint64_t>(simulation_.options().disk_operation_maximum_ns /
                                                  microseconds(keeps_records ? 4 : 20));
    options.checkpoints.step_bytes = std::max(1 + random_.below(400), least);
  }
  options.checkpoints.interval_ms = interval_ms_;
  // Some are given up only because something is slow; what comes next must not build on them.
  options.checkpoints.timeout_ms = random_.between(1500, 8000);
  options.checkpoints.tolerated_failures = 1000;
  options.checkpoints.unaligned = unaligned_;
  options.checkpoints.alignment_timeout_ms = draw_alignment_timeout_ms(options_.seed);
  options.checkpoints.retained = static_cast<std::uint32_t>(1 + random_.below(2));
  options.checkpoints.keep_at_end = random_.chance(0.5);
  options.restart = RestartStrategy::fixed_delay(10'000, 100);
  const std::vector<std::string> arguments = {"--workload=" + workload_.to_text(),
                                              std::string("--output=") + output};
  const Result<BuiltJob> built = build_job(&call_job<&stateful_job>, arguments, options);
  if (!built.ok()) return built.status();
  const Result<JobGraph> graph = fuse(built->graph, {.enabled = true});
  if (!graph.ok()) return graph.status();
  wire::SubmitJob& job = submission_.request;
  job.Clear();
  to_message(*graph, *job.mutable_graph());
  job.set_submission_id(random_.next() | 1);
  job.set_library_hash(stateful_job_library);
  job.set_library_name("built in");
  for (const std::string& argument : arguments) job.add_arguments(argument);
  *job.mutable_options() = job_options(options);
  submission_.client.job_manager = job_manager_address;
  submission_.client.token = token;
  submission_.client.over_rest = true;
  submission_.client.patience_ns = seconds(4);
  submission_.client.answer_timeout_ns = seconds(2);
  return {};
}

void StatefulCluster::look(CommittedOutput::Look how) {
  if (std::string wrong = output_.look(store_, output, how); !wrong.empty()) violation(wrong);
  for (const std::string& path : completed_.look(store_, checkpoints)) {
    log(fmt::format("checkpoint {}", path));
  }
  const std::uint32_t attempt = submission_.last.attempt();
  if (attempt > attempts_seen_) {
    restores_ += completed_.count() == 0 ? 0 : attempt - attempts_seen_;
    attempts_seen_ = attempt;
  }
}

// By its number: of checkpoints, and of the savepoint that the job began with. Others let no sink
// commit, and files that they hold are gone when the job has begun again with a checkpoint before.
std::string StatefulCluster::newest_checkpoint() const {
  std::string newest;
  std::string highest;
  for (const auto& file : store_.files_below(checkpoints)) {
    std::string_view path = file.first;
    if (!path.ends_with("/_metadata")) continue;
    path.remove_suffix(std::string_view("/_metadata").size());
    const std::string directory = fmt::format("{}/{}", checkpoints, path);
    if (path.starts_with("savepoint-") && directory != restored_from_) continue;
    std::string_view number = path.substr(path.rfind('/') + 1);
    number.remove_prefix(std::min(number.find('-') + 1, number.size()));
    number = number.substr(0, number.find('-'));  // of ten digits
    if (number <= highest) continue;
    highest = number;
    newest = directory;
  }
  return newest;
}

void StatefulCluster::desired_state(Random& random) {
  if (!random.chance(request_rate)) return;
  // One that is not answered yet may still come true.
  const bool refused = submission_.request_answered && !submission_.request_failure.ok();
  if (submission_.desired_state != StatefulRequest::none && !refused) return;
  submission_.desired_state = static_cast<StatefulRequest>(1 + random.below(3));
  submission_.request_id = random.next() | 1;
  submission_.request_answered = false;
  submission_.savepoint.clear();
  log(fmt::format("---- request: {}",
                  event_names[static_cast<std::size_t>(submission_.desired_state)]));
  run_until(simulation_.now() + random.between(0, milliseconds(2 * interval_ms_)));
}

void StatefulCluster::take_answer() {
  if (submission_.desired_state == StatefulRequest::none || !submission_.request_answered) return;
  log(fmt::format("---- answer: {} {}", submission_.savepoint,
                  submission_.request_failure.to_string()));
  const bool was_savepoint = submission_.desired_state == StatefulRequest::savepoint;
  if (was_savepoint && submission_.request_failure.ok()) {
    ++report_.totals[std::string(event_names[1])];
  }
  // The end of a job that was to end for it tells what came of the request.
  if (was_savepoint) submission_.desired_state = StatefulRequest::none;
}

bool StatefulCluster::goes_on() {
  take_answer();
  if (!submission_.ended) return true;
  const wire::JobStatus& last = submission_.last;
  const StatefulRequest desired_state = submission_.desired_state;
  std::string restore;
  if (last.state() == wire::JOB_CANCELLED && desired_state == StatefulRequest::cancel) {
    restore = newest_checkpoint();
  } else if (last.state() == wire::JOB_FINISHED &&
             desired_state == StatefulRequest::stop_with_savepoint &&
             last.last_checkpoint_path().find("/savepoint-") != std::string::npos) {
    restore = last.last_checkpoint_path();
    if (!submission_.savepoint.empty() && submission_.savepoint != restore) {
      violation(fmt::format("the savepoint is '{}', and the job was stopped with '{}'",
                            submission_.savepoint, restore));
    }
  } else {
    return false;
  }
  ++report_.totals[std::string(event_names[static_cast<std::size_t>(desired_state)])];
  ++restores_;
  attempts_seen_ = 1;
  // At 1 a late merge has no halves to which records can be in flight.
  const std::uint64_t least = unaligned_ ? 2 : 1;
  int parallelism = static_cast<int>(least + requests_.below(parallelism_most + 1 - least));
  if (desired_state == StatefulRequest::cancel && keeps_parallelism_) parallelism = parallelism_;
  if (Status made = make_request(parallelism, restore); !made.ok()) {
    violation("the job can't be made again: " + made.to_string());
    return false;
  }
  submission_.job = 0;
  submission_.desired_state = StatefulRequest::none;
  submission_.last.Clear();
  submission_.ended = false;
  return true;
}

void StatefulCluster::run_until(Nanoseconds time) {
  while (simulation_.now() < time && goes_on()) {
    (void)simulation_.run_until([&] { return submission_.ended; }, std::min(time, next_look_));
    look(CommittedOutput::Look::sizes);
    next_look_ = simulation_.now() + look_every;
  }
}

void StatefulCluster::run_until_checkpoints(std::uint64_t count) {
  const Nanoseconds patience = simulation_.now() + seconds(20);
  while (completed_.count() < count && goes_on() && simulation_.now() < patience) {
    run_until(simulation_.now() + look_every);
  }
}

void StatefulCluster::run_steps(std::uint64_t steps) {
  const std::uint64_t last = simulation_.steps() + steps;
  (void)simulation_.run_until([&] { return simulation_.steps() >= last; },
                              simulation_.now() + milliseconds(500));
}

void StatefulCluster::check_end() {
  look(CommittedOutput::Look::bytes);
  if (!submission_.violation.empty()) violation(submission_.violation);
  if (!submission_.ended) {
    violation(fmt::format("the job never ended: {} {}", job_state_name(submission_.last.state()),
                          submission_.last.reason()));
    return;
  }
  if (submission_.last.state() != wire::JOB_FINISHED) {
    violation(fmt::format("the job is {}: {}", job_state_name(submission_.last.state()),
                          submission_.last.failure().message()));
    return;
  }
  // Whoever was cut off when the job ended learns of it.
  (void)simulation_.run_until([] { return false; }, simulation_.now() + seconds(15));
  look(CommittedOutput::Look::bytes);
  for (const auto& one : task_managers_) {
    if (one->actor()->attempts() == 0) continue;
    violation(
        fmt::format("{} attempts were left on {}", one->actor()->attempts(), one->node().name()));
  }
  for (std::string& wrong : output_.check_end(store_, output, workload_)) {
    violation(std::move(wrong));
  }
  if (completed_.count() < checkpoints_least || restores_ == 0) {
    violation(fmt::format("checkpoints stall: {} were completed in {} s, with {} restores",
                          completed_.count(), simulation_.now() / seconds(1), restores_));
  }
}

// Of the whole run: the longer something takes, the more comes in between.
void StatefulCluster::draw_conditions() {
  SimulationOptions& options = simulation_.options();
  if (random_.chance(0.6))
    options.latency_maximum_ns = random_.between(milliseconds(1), milliseconds(100));
  // Time that an operation of a disk takes passes for everybody, and a checkpoint has hundreds of
  // them: not where a batch needs as many.
  const bool slow = random_.chance(0.4);
  if (slow && workload_.crowd == 0) {
    options.disk_operation_maximum_ns = random_.between(milliseconds(1), milliseconds(4));
  }
}

SeedReport StatefulCluster::run() {
  draw_conditions();
  Status started = job_manager_->start();
  for (const auto& one : task_managers_) {
    if (started.ok()) started = one->start();
  }
  if (started.ok()) started = write_input();
  const std::uint64_t least = unaligned_ ? 2 : 1;
  if (started.ok()) {
    started =
        make_request(static_cast<int>(least + random_.below(parallelism_most + 1 - least)), "");
  }
  if (started.ok()) started = client_->start();
  if (!started.ok()) violation("the cluster does not start: " + started.to_string());
  // While it takes the job.
  if (started.ok() && random_.chance(0.4)) {
    strike(random_.chance(0.7) ? Strike::job_manager_death_at_the_disk : Strike::client_death,
           random_.between(milliseconds(1), seconds(1)));
  }
  const std::uint64_t faults = 2 + random_.below(faults_most - 1);
  Random power(mix_bits(options_.seed ^ 0x90e5));
  const std::uint64_t cut_behind = power.chance(0.15) ? power.below(faults) : faults;
  const Nanoseconds stretch = (faults_until - faults_from) / static_cast<Nanoseconds>(faults);
  for (std::uint64_t i = 0; i < faults && report_.violations.empty(); ++i) {
    run_until(faults_from + static_cast<Nanoseconds>(i) * stretch +
              random_.between(0, stretch / 3));
    const Nanoseconds longest = std::min(stretch / 2, seconds(12));
    // The faults leave the cluster alone for at least that long.
    run_until_checkpoints(i + 1);
    if (goes_on()) desired_state(requests_);
    if (!goes_on()) break;
    // A death, until the job has begun again from a checkpoint.
    strike(static_cast<Strike>(random_.below(restores_ == 0 ? 4 : strike_names.size())),
           random_.between(milliseconds(50), longest));
    if (i == cut_behind && goes_on()) power_cut(power);
  }
  run_until(run_at_most);
  check_end();
  report_.virtual_ns = simulation_.now();
  report_.steps = simulation_.steps();
  report_.trace_hash = simulation_.trace_hash();
  report_.totals["restores"] = restores_;
  report_.totals["checkpoints"] = completed_.count();
  report_.totals["checkpoints with deltas"] = completed_.with_deltas();
  report_.totals["checkpoints with records in flight"] = completed_.with_records_in_flight();
  report_.totals["seeds with unaligned checkpoints"] = unaligned_ ? 1 : 0;
  report_.totals["seeds with input files"] = workload_.lines > 0 ? 1 : 0;
  const bool spilled = simulation_.counts().nameless_files > 0;
  report_.totals["seeds with state on disk"] = spilled ? 1 : 0;
  report_.totals["records checked"] = output_.records_checked();
  report_.least["fewest checkpoints"] = completed_.count();
  report_.least["fewest restores after a kill"] = restores_;
  report_.least["fewest records checked"] = output_.records_checked();
  return report_;
}

SeedReport simulate_stateful_cluster(RunOptions options) { return StatefulCluster(options).run(); }

}  // namespace hummer::cluster_simulation
