#include "simulation/stateful_cluster.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include <hummer/hummer.hpp>

#include "api/job_build.hpp"
#include "control/client/submit.hpp"
#include "control/protocol/graph_messages.hpp"
#include "graph/job_graph.hpp"
#include "simulation/committed_output.hpp"
#include "simulation/completed_checkpoints.hpp"
#include "simulation/simulated_nodes.hpp"
#include "simulation/stateful_client.hpp"
#include "simulation/stateful_job.hpp"

namespace hummer::cluster_simulation {
namespace {

constexpr std::int64_t lasts_s = 66;
constexpr Nanoseconds faults_from = seconds(10);
// Also while the job ends.
constexpr Nanoseconds faults_until = seconds(68);
// See embedded_simulation.cpp.
constexpr Nanoseconds run_at_most = seconds(300);
constexpr Nanoseconds look_every = milliseconds(200);
constexpr std::uint64_t faults_most = 6;
constexpr const char* checkpoints = "/checkpoints";
constexpr const char* output = "/out";
constexpr const char* journal = "/journal";
constexpr const char* token = "secret";
constexpr const char* job_manager_address = "jobmanager:6123";

enum class Strike : std::uint8_t {
  task_manager_death,
  task_manager_death_at_the_disk,
  job_manager_death,
  job_manager_death_at_the_disk,
  client_death,
  // It is lost, and runs on, with its disk and its peers, until it notices.
  cut_until_lost,
  // The next one knows nothing of the one that is cut off.
  job_manager_death_behind_a_cut,
  cut_from_job_manager,
  cut_from_task_managers,
  cut_from_all,
  connection_deaths,
  message_loss,
  message_repetition,
  message_delay,
  slow_network,
  task_manager_pause,
  failing_disk,
  full_disk,
  slow_disk,
  // It is heard and hears nothing, or the other way round.
  one_way_cut_from_job_manager,
  one_way_cut_to_job_manager,
  one_way_cut_between_task_managers,
  // Longer than anybody waits for it.
  task_manager_stall,
  job_manager_stall,
  task_manager_clock_step,
  job_manager_clock_step,
  corrupted_data,
  corrupted_messages,
};
constexpr std::array<std::string_view, 28> strike_names = {"TaskManager death",
                                                           "TaskManager death at the disk",
                                                           "JobManager death",
                                                           "JobManager death at the disk",
                                                           "client death",
                                                           "TaskManager cut off until it is lost",
                                                           "JobManager death behind a cut",
                                                           "TaskManager cut off from JobManager",
                                                           "cut between TaskManagers",
                                                           "TaskManager cut off from all",
                                                           "connection deaths",
                                                           "message loss",
                                                           "message repetition",
                                                           "message delay",
                                                           "slow network",
                                                           "TaskManager clock pause",
                                                           "failing disk",
                                                           "full disk",
                                                           "slow disk",
                                                           "one-way cut from JobManager",
                                                           "one-way cut to JobManager",
                                                           "one-way cut between TaskManagers",
                                                           "TaskManager stall beyond time-outs",
                                                           "JobManager stall beyond time-outs",
                                                           "TaskManager clock step",
                                                           "JobManager clock step",
                                                           "corrupted data",
                                                           "corrupted control messages"};
// Every process dies, and the disk keeps what was synced, the rest torn. Drawn apart from the
// others, so that seeds without one are what they were before there was any.
constexpr std::string_view power_cut_name = "power cut of the cluster";
// What the person does to the job, beside the faults: drawn apart, too.
constexpr std::array<std::string_view, 4> event_names = {"", "event savepoint",
                                                         "event rescale by a savepoint",
                                                         "event rescale by a checkpoint"};
constexpr double wish_rate = 0.3;  // ahead of each fault
// Channels alone need a third of it.
constexpr std::size_t memory_limit_bytes = 96 << 20;

// The client's process.
class StatefulClientProcess final : public SimulatedProcess {
 public:
  StatefulClientProcess(NodeSurroundings& surroundings, StatefulSubmission& submission)
      : SimulatedProcess(surroundings, "client"), submission_(submission) {}
  ~StatefulClientProcess() override { drop(); }

 private:
  Status make() override {
    client_ = std::make_unique<StatefulClient>(node(), submission_);
    return {};
  }
  void drop() override { client_.reset(); }
  StatefulSubmission& submission_;
  std::unique_ptr<StatefulClient> client_;
};

class StatefulCluster {
 public:
  explicit StatefulCluster(RunOptions options);
  ~StatefulCluster();
  SeedReport run();

 private:
  void draw_surroundings();
  Workload draw_work();
  Status write_input();
  // The job as a client makes it, with what is drawn anew for each run of it.
  Status make_request(int parallelism, const std::string& restore);
  void wish(Random& random);
  // What the wish for a savepoint came to, if it has.
  void take_answer();
  // Whether the job runs, or another one goes on where it was ended for that.
  bool goes_on();
  std::string newest_checkpoint() const;
  void run_until(Nanoseconds time);
  void run_steps(std::uint64_t steps);
  // Until there is one.
  void run_until_checkpoint();
  void look(CommittedOutput::Look how);
  void strike(Strike kind, Nanoseconds duration);
  // `spared`: a TaskManager that it does not hit while there is another at work.
  void die(Strike kind, Nanoseconds duration, std::size_t spared = task_manager_count);
  // Any of the five.
  Strike draw_death() { return static_cast<Strike>(random_.below(5)); }
  void power_cut(Random& random);
  void cut_off(Strike kind, Nanoseconds duration);
  void revive(SimulatedProcess& process);
  // One that has a part of the job, if there is any.
  std::size_t a_task_manager_at_work(std::size_t but = task_manager_count);
  void count(Strike kind) {
    ++report_.totals[fmt::format("fault {}", strike_names[static_cast<std::size_t>(kind)])];
  }
  std::uint64_t effect(Strike kind);
  std::int64_t draw_clock_step();
  void corrupt(Strike kind, double rate);
  void end_one_way_cuts(Strike kind, std::size_t victim);
  void check_end();
  void violation(std::string text) {
    log("VIOLATION " + text);
    report_.violations.push_back(std::move(text));
  }
  void log(const std::string& text) const {
    if (!options_.verbose) return;
    fmt::print(stderr, "{:11.6f} {}\n", static_cast<double>(simulation_.now()) / 1e9, text);
  }
  SimulatedPlatform& task_manager(std::size_t number) { return task_managers_[number]->node(); }

  const RunOptions options_;
  Simulation simulation_;
  Random random_;
  SimulatedPlatform& store_;
  MessageWeather weather_;
  FaultTotals messages_;
  NodeSurroundings surroundings_;
  const std::int64_t interval_ms_;
  const bool unaligned_;
  const bool keeps_parallelism_;  // where records in flight come back
  const Workload workload_;
  Random wishes_;
  int parallelism_ = 1;
  StatefulSubmission submission_;
  std::unique_ptr<JobManagerProcess> job_manager_;
  std::vector<std::unique_ptr<TaskManagerProcess>> task_managers_;
  std::unique_ptr<StatefulClientProcess> client_;
  Nanoseconds next_look_ = 0;
  CommittedOutput output_;
  CompletedCheckpoints completed_;
  std::uint64_t restores_ = 0;
  std::uint32_t attempts_seen_ = 1;
  SeedReport report_;
};

StatefulCluster::StatefulCluster(RunOptions options)
    : options_(options),
      simulation_({.seed = options.seed}),
      random_(mix_bits(options.seed ^ 0xc1057e5)),
      store_(simulation_.add_node("store")),
      surroundings_{simulation_, weather_,        messages_, random_, job_manager_address,
                    token,       options.verbose, &store_,   journal},
      interval_ms_(random_.between(400, 2500)),
      unaligned_(random_.chance(0.5)),
      keeps_parallelism_(unaligned_ && random_.chance(0.5)),
      workload_(draw_work()),
      wishes_(mix_bits(options.seed ^ 0x3e5ca1e)) {
  report_.seed = options.seed;
  for (const std::string_view name : strike_names) report_.totals[fmt::format("fault {}", name)];
  report_.totals[fmt::format("fault {}", power_cut_name)];
  for (std::size_t i = 1; i < event_names.size(); ++i) report_.totals[std::string(event_names[i])];
  if (workload_.crowd > 0) surroundings_.memory_limit_bytes = memory_limit_bytes;
  job_manager_ = std::make_unique<JobManagerProcess>(surroundings_, "jobmanager");
  for (int i = 1; i <= task_manager_count; ++i) {
    task_managers_.push_back(
        std::make_unique<TaskManagerProcess>(surroundings_, fmt::format("tm{}", i)));
  }
  client_ = std::make_unique<StatefulClientProcess>(surroundings_, submission_);
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
  Workload workload = draw_workload(random_, begins_ms, lasts_s);
  if (random_.chance(0.7)) add_input_files(workload, random_, lasts_s);
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
    const auto least = static_cast<std::uint64_t>(simulation_.options().disk_operation_maximum_ns /
                                                  microseconds(workload_.pair_ms > 0 ? 4 : 20));
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

// By its number: of checkpoints and savepoints alike, since sinks have committed with both.
std::string StatefulCluster::newest_checkpoint() const {
  std::string newest;
  std::string highest;
  for (const auto& file : store_.files_below(checkpoints)) {
    std::string_view path = file.first;
    if (!path.ends_with("/_metadata")) continue;
    path.remove_suffix(std::string_view("/_metadata").size());
    std::string_view number = path.substr(path.rfind('/') + 1);
    number.remove_prefix(std::min(number.find('-') + 1, number.size()));
    number = number.substr(0, number.find('-'));  // of ten digits
    if (number <= highest) continue;
    highest = number;
    newest = fmt::format("{}/{}", checkpoints, path);
  }
  return newest;
}

void StatefulCluster::wish(Random& random) {
  if (!random.chance(wish_rate)) return;
  // One that is not answered yet may still come true.
  const bool refused = submission_.wish_answered && !submission_.wish_failure.ok();
  if (submission_.wish != StatefulWish::none && !refused) return;
  submission_.wish = static_cast<StatefulWish>(1 + random.below(3));
  submission_.wish_id = random.next() | 1;
  submission_.wish_answered = false;
  submission_.savepoint.clear();
  log(fmt::format("---- wish: {}", event_names[static_cast<std::size_t>(submission_.wish)]));
  run_until(simulation_.now() + random.between(0, milliseconds(2 * interval_ms_)));
}

void StatefulCluster::take_answer() {
  if (submission_.wish == StatefulWish::none || !submission_.wish_answered) return;
  log(fmt::format("---- answer: {} {}", submission_.savepoint,
                  submission_.wish_failure.to_string()));
  const bool was_savepoint = submission_.wish == StatefulWish::savepoint;
  if (was_savepoint && submission_.wish_failure.ok()) {
    ++report_.totals[std::string(event_names[1])];
  }
  // The end of a job that was to end for it tells what came of the wish.
  if (was_savepoint) submission_.wish = StatefulWish::none;
}

bool StatefulCluster::goes_on() {
  take_answer();
  if (!submission_.ended) return true;
  const wire::JobStatus& last = submission_.last;
  const StatefulWish wish = submission_.wish;
  std::string restore;
  if (last.state() == wire::JOB_CANCELLED && wish == StatefulWish::cancel) {
    restore = newest_checkpoint();
  } else if (last.state() == wire::JOB_FINISHED && wish == StatefulWish::stop_with_savepoint &&
             last.last_checkpoint_path().find("/savepoint-") != std::string::npos) {
    restore = last.last_checkpoint_path();
    if (!submission_.savepoint.empty() && submission_.savepoint != restore) {
      violation(fmt::format("the savepoint is '{}', and the job was stopped with '{}'",
                            submission_.savepoint, restore));
    }
  } else {
    return false;
  }
  ++report_.totals[std::string(event_names[static_cast<std::size_t>(wish)])];
  ++restores_;
  attempts_seen_ = 1;
  // At 1 a late merge has no halves to which records can be in flight.
  const std::uint64_t least = unaligned_ ? 2 : 1;
  int parallelism = static_cast<int>(least + wishes_.below(5 - least));
  if (wish == StatefulWish::cancel && keeps_parallelism_) parallelism = parallelism_;
  if (Status made = make_request(parallelism, restore); !made.ok()) {
    violation("the job can't be made again: " + made.to_string());
    return false;
  }
  submission_.job = 0;
  submission_.wish = StatefulWish::none;
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

void StatefulCluster::run_until_checkpoint() {
  const Nanoseconds patience = faults_from + seconds(20);
  while (completed_.count() == 0 && goes_on() && simulation_.now() < patience) {
    run_until(simulation_.now() + look_every);
  }
}

void StatefulCluster::run_steps(std::uint64_t steps) {
  const std::uint64_t last = simulation_.steps() + steps;
  (void)simulation_.run_until([&] { return simulation_.steps() >= last; },
                              simulation_.now() + milliseconds(500));
}

std::size_t StatefulCluster::a_task_manager_at_work(std::size_t but) {
  const std::size_t first = random_.below(3);
  for (std::size_t i = 0; i < 3; ++i) {
    const std::size_t one = (first + i) % 3;
    if (one != but && task_managers_[one]->actor()->attempts() > 0) return one;
  }
  return first;
}

// It may be killed again while it starts.
void StatefulCluster::revive(SimulatedProcess& process) {
  const bool again = random_.chance(0.2);
  const std::uint64_t dies_at = again ? 1 + random_.below(48) : 0;
  Status status = process.restart(dies_at);
  if (!process.alive()) status = process.restart();
  if (!status.ok()) {
    violation(process.node().name() + " does not start again: " + status.to_string());
  }
}

void StatefulCluster::die(Strike kind, Nanoseconds duration, std::size_t spared) {
  const bool of_job_manager =
      kind == Strike::job_manager_death || kind == Strike::job_manager_death_at_the_disk;
  const bool at_the_disk = kind == Strike::task_manager_death_at_the_disk ||
                           kind == Strike::job_manager_death_at_the_disk;
  SimulatedProcess* process = client_.get();
  if (of_job_manager) {
    process = job_manager_.get();
  } else if (kind != Strike::client_death) {
    process = task_managers_[a_task_manager_at_work(spared)].get();
  }
  // Short and long distances alike: the logarithm is uniform.
  const std::uint64_t later = random_.below(std::uint64_t{1} << random_.below(12));
  if (at_the_disk) {
    process->node().kill_at_disk_operation(later % 32 + 1);
    const Nanoseconds patience = simulation_.now() + milliseconds(2 * interval_ms_);
    while (process->alive() && goes_on() && simulation_.now() < patience) {
      run_until(std::min(patience, simulation_.now() + milliseconds(50)));
    }
    process->node().kill_at_disk_operation(0);
    if (process->alive()) {
      kind = of_job_manager ? Strike::job_manager_death : Strike::task_manager_death;
      process->node().kill();
    }
    process->killed(random_.chance(0.5));
  } else {
    run_steps(later);
    process->kill(random_.chance(0.5));
  }
  look(CommittedOutput::Look::bytes);
  count(kind);
  run_until(simulation_.now() + duration);
  revive(*process);
}

void StatefulCluster::power_cut(Random& random) {
  simulation_.trace("power cut", 0);
  log("---- power cut");
  const std::vector<SimulatedProcess*> all = {client_.get(), task_managers_[0].get(),
                                              task_managers_[1].get(), task_managers_[2].get(),
                                              job_manager_.get()};
  run_steps(random.below(std::uint64_t{1} << random.below(12)));
  // At an operation of somebody's disk, or anywhere.
  SimulatedProcess* writing = job_manager_.get();
  if (random.chance(0.5)) writing = task_managers_[a_task_manager_at_work()].get();
  if (random.chance(0.7)) {
    writing->node().kill_at_disk_operation(1 + random.below(32));
    const Nanoseconds patience = simulation_.now() + milliseconds(2 * interval_ms_);
    (void)simulation_.run_until([&] { return !writing->alive() || submission_.ended; }, patience);
    writing->node().kill_at_disk_operation(0);
  }
  for (SimulatedProcess* process : all) {
    if (process->alive()) process->node().kill();
  }
  look(CommittedOutput::Look::bytes);
  for (SimulatedProcess* process : all) process->killed(random.chance(0.5));
  store_.crash_disk();
  if (std::string wrong = output_.look_after_power_cut(store_, output); !wrong.empty()) {
    violation(wrong);
  }
  ++report_.totals[fmt::format("fault {}", power_cut_name)];
  (void)simulation_.run_until([] { return false; },
                              simulation_.now() + random.between(milliseconds(10), seconds(3)));
  for (auto process = all.rbegin(); process != all.rend(); ++process) revive(**process);
}

void StatefulCluster::cut_off(Strike kind, Nanoseconds duration) {
  const std::size_t number = a_task_manager_at_work();
  SimulatedPlatform& victim = task_manager(number);
  const Nanoseconds until = simulation_.now() + heartbeat_timeout + duration;
  simulation_.partition(victim, job_manager_->node());
  if (kind == Strike::job_manager_death_behind_a_cut) {
    run_until(simulation_.now() + random_.between(0, seconds(1)));
    run_steps(random_.below(64));
    job_manager_->kill(random_.chance(0.5));
    run_until(simulation_.now() + random_.between(milliseconds(1), milliseconds(500)));
    revive(*job_manager_);
  } else if (random_.chance(0.6)) {
    // The attempt fails while nobody knows what the one that is cut off does.
    run_until(simulation_.now() + random_.between(0, seconds(2)));
    die(Strike::task_manager_death, random_.between(milliseconds(50), seconds(1)), number);
  }
  run_until(until);
  simulation_.heal(victim, job_manager_->node());
  count(kind);
}

std::uint64_t StatefulCluster::effect(Strike kind) {
  const SimulationCounts& counts = simulation_.counts();
  switch (kind) {
    case Strike::connection_deaths: return counts.connection_deaths;
    case Strike::cut_from_job_manager:
    case Strike::cut_from_task_managers:
    case Strike::cut_from_all:
    case Strike::one_way_cut_from_job_manager:
    case Strike::one_way_cut_to_job_manager:
    case Strike::one_way_cut_between_task_managers: return counts.held_by_partition;
    case Strike::corrupted_data:
    case Strike::corrupted_messages: return counts.corrupted_transfers;
    case Strike::message_loss: return messages_[FaultKind::message_loss];
    case Strike::message_repetition: return messages_[FaultKind::message_repetition];
    case Strike::message_delay: return messages_[FaultKind::message_delay];
    case Strike::slow_network: return counts.transfers;
    case Strike::failing_disk: return counts.write_faults;
    case Strike::full_disk: return counts.full_disks;
    case Strike::slow_disk: return counts.disk_operations;
    default: return simulation_.steps();
  }
}

void StatefulCluster::strike(Strike kind, Nanoseconds duration) {
  simulation_.trace("fault", static_cast<std::uint64_t>(kind));
  log(fmt::format("---- {}", strike_names[static_cast<std::size_t>(kind)]));
  if (kind <= Strike::client_death) return die(kind, duration);
  if (kind <= Strike::job_manager_death_behind_a_cut) return cut_off(kind, duration);
  SimulationOptions& options = simulation_.options();
  const SimulationOptions calm = options;
  const std::uint64_t before = effect(kind);
  const std::size_t victim = a_task_manager_at_work();
  std::vector<SimulatedPlatform*> cut;
  switch (kind) {
    case Strike::cut_from_job_manager: cut = {&job_manager_->node()}; break;
    case Strike::cut_from_task_managers: cut = {&task_manager((victim + 1) % 3)}; break;
    case Strike::cut_from_all:
      cut = {&job_manager_->node(), &task_manager((victim + 1) % 3),
             &task_manager((victim + 2) % 3)};
      break;
    case Strike::connection_deaths: options.connection_death_rate = 0.02; break;
    case Strike::message_loss: ++weather_.losing; break;
    case Strike::message_repetition: ++weather_.repeating; break;
    case Strike::message_delay: ++weather_.delaying; break;
    case Strike::slow_network:
      options.latency_minimum_ns = milliseconds(20);
      options.latency_maximum_ns = milliseconds(300);
      options.delay_rate = 0.01;
      break;
    case Strike::task_manager_pause:
      task_manager(victim).pause_until(simulation_.now() + duration);
      break;
    case Strike::failing_disk:
      // Also so rarely that one checkpoint is given up and the next is complete.
      options.write_fault_rate = 0.003 * static_cast<double>(1 + random_.below(16));
      break;
    case Strike::full_disk: options.disk_capacity_bytes = 1; break;
    case Strike::one_way_cut_from_job_manager:
      simulation_.cut(job_manager_->node(), task_manager(victim));
      break;
    case Strike::one_way_cut_to_job_manager:
      simulation_.cut(task_manager(victim), job_manager_->node());
      break;
    case Strike::one_way_cut_between_task_managers:
      simulation_.cut(task_manager(victim), task_manager((victim + 1) % 3));
      break;
    case Strike::task_manager_stall:
      task_manager(victim).pause_until(simulation_.now() + heartbeat_timeout + duration);
      break;
    case Strike::job_manager_stall:
      job_manager_->node().pause_until(simulation_.now() + heartbeat_timeout + duration);
      break;
    case Strike::task_manager_clock_step:
      task_manager(victim).step_wall_clock(draw_clock_step());
      break;
    case Strike::job_manager_clock_step:
      job_manager_->node().step_wall_clock(draw_clock_step());
      break;
    case Strike::corrupted_data:
    case Strike::corrupted_messages:
      corrupt(kind, 0.001 * static_cast<double>(1 + random_.below(32)));
      break;
    default:
      options.disk_operation_minimum_ns = milliseconds(1) / (workload_.crowd > 0 ? 20 : 1);
      options.disk_operation_maximum_ns = milliseconds(50) / (workload_.crowd > 0 ? 100 : 1);
      break;
  }
  for (SimulatedPlatform* other : cut) simulation_.partition(task_manager(victim), *other);
  const bool stalls = kind == Strike::task_manager_stall || kind == Strike::job_manager_stall;
  const Nanoseconds until = simulation_.now() + duration + (stalls ? heartbeat_timeout : 0);
  const bool of_the_disk = kind >= Strike::failing_disk && kind <= Strike::slow_disk;
  // Nobody can start where the disk takes nothing.
  const bool can_start = kind != Strike::failing_disk && kind != Strike::full_disk;
  if (can_start && random_.chance(kind == Strike::slow_disk ? 0.7 : 0.3)) {
    run_until(simulation_.now() + random_.between(0, duration / 2));
    die(draw_death(), random_.between(milliseconds(10), duration / 4 + milliseconds(10)));
  }
  run_until(until);
  for (SimulatedPlatform* other : cut) simulation_.heal(task_manager(victim), *other);
  end_one_way_cuts(kind, victim);
  corrupt(kind, 0);
  weather_ = {};
  options = calm;
  if (effect(kind) > before) count(kind);
  log(fmt::format("---- end of it ({})", effect(kind) - before));
  // What builds on a checkpoint that the disk refused must not be relied on.
  if (of_the_disk && random_.chance(0.8)) {
    run_until(simulation_.now() + random_.between(0, milliseconds(4 * interval_ms_)));
    die(draw_death(), random_.between(milliseconds(50), seconds(1)));
  }
}

// Short and long ones, forwards and back.
std::int64_t StatefulCluster::draw_clock_step() {
  const auto step = static_cast<std::int64_t>(1 + random_.below(std::uint64_t{1} << random_.below(15)));
  return random_.chance(0.5) ? step : -step;
}

// On all links between TaskManagers, or all of them to the JobManager.
void StatefulCluster::corrupt(Strike kind, double rate) {
  if (kind != Strike::corrupted_data && kind != Strike::corrupted_messages) return;
  for (std::size_t i = 0; i < 3; ++i) {
    SimulatedPlatform& other =
        kind == Strike::corrupted_data ? task_manager((i + 1) % 3) : job_manager_->node();
    simulation_.corrupt(task_manager(i), other, rate);
  }
}

void StatefulCluster::end_one_way_cuts(Strike kind, std::size_t victim) {
  if (kind < Strike::one_way_cut_from_job_manager ||
      kind > Strike::one_way_cut_between_task_managers) {
    return;
  }
  const bool of_task_managers = kind == Strike::one_way_cut_between_task_managers;
  simulation_.heal(task_manager(victim), of_task_managers ? task_manager((victim + 1) % 3)
                                                          : job_manager_->node());
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
}

// Of the whole run: the longer something takes, the more comes in between.
void StatefulCluster::draw_surroundings() {
  SimulationOptions& options = simulation_.options();
  if (random_.chance(0.6))
    options.latency_maximum_ns = random_.between(milliseconds(1), milliseconds(100));
  // Time that an operation of a disk takes passes for everybody: not where a batch needs hundreds.
  const bool slow = random_.chance(0.4);
  if (slow && workload_.crowd == 0) {
    options.disk_operation_maximum_ns = random_.between(milliseconds(1), milliseconds(10));
  }
}

SeedReport StatefulCluster::run() {
  draw_surroundings();
  Status started = job_manager_->start();
  for (const auto& one : task_managers_) {
    if (started.ok()) started = one->start();
  }
  if (started.ok()) started = write_input();
  const std::uint64_t least = unaligned_ ? 2 : 1;
  if (started.ok()) {
    started = make_request(static_cast<int>(least + random_.below(5 - least)), "");
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
    if (i == 0) run_until_checkpoint();
    if (goes_on()) wish(wishes_);
    if (!goes_on()) break;
    // The first is a death, so that each seed has a restart.
    strike(static_cast<Strike>(random_.below(i == 0 ? 4 : strike_names.size())),
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

}  // namespace

SeedReport simulate_stateful_cluster(RunOptions options) { return StatefulCluster(options).run(); }

}  // namespace hummer::cluster_simulation
