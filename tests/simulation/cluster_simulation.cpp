#include "simulation/cluster_simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "simulation/simulated_nodes.hpp"

namespace hummer::cluster_simulation {
namespace {

constexpr Nanoseconds look_every = milliseconds(5);
constexpr Nanoseconds run_at_least = seconds(62);
// By then every job must have ended: 60 s after the last fault. A job waits at most 20 s for slots
// and then runs at most 8 s, or until its person ends it.
constexpr Nanoseconds run_at_most = seconds(100);
// From the moment that a TaskManager can't be heard: its timeout, the JobManager's way of looking
// once per interval, what was still on its way (delayed messages included), and the question.
constexpr Nanoseconds loss_slack = seconds(5);
constexpr double corruption_rate = 0.02;
// Nodes as places of a cut: the TaskManagers, then these.
constexpr int job_manager_place = task_manager_count;
constexpr int client_place = task_manager_count + 1;

bool is_death(FaultKind kind) {
  return kind == FaultKind::task_manager_death || kind == FaultKind::job_manager_death ||
         kind == FaultKind::client_death;
}

class ClusterSimulation {
 public:
  explicit ClusterSimulation(RunOptions options);
  ~ClusterSimulation();
  Report run();

 private:
  // What a fault still has to do: begin, then end.
  struct Running {
    Fault fault;
    bool begun = false;
    Nanoseconds next = 0;
    std::uint64_t before = 0;  // the count that tells whether it happened
    SimulatedProcess* process = nullptr;
    std::vector<std::pair<int, int>> cuts;
  };

  Status start();
  void run_until(Nanoseconds time) { run_steps(never_steps, time); }
  static constexpr std::uint64_t never_steps = UINT64_MAX;
  void run_steps(std::uint64_t steps, Nanoseconds time);
  void look();
  void play_schedule();
  void begin(Running& running);
  // False: it goes on.
  bool end(Running& running);
  std::uint64_t effect(FaultKind kind);
  void kill(Running& running);
  void revive(Running& running);
  void cut(int a, int b);
  void join(int a, int b);
  void cut_one_way(const Fault& fault, bool begins);
  void corrupt(int victim, double rate);
  SimulatedPlatform& place(int number);
  void run_until_stable();
  bool is_stable();
  void check_end();
  void check_submission(Submission& submission);
  void stop_everything();
  void log(const std::string& text) const;

  const RunOptions options_;
  Simulation simulation_;
  Random random_;
  History history_;
  Report report_;
  MessageWeather weather_;
  int dying_connections_ = 0;
  int slow_ = 0;
  std::map<std::pair<int, int>, int> cuts_;
  int job_managers_ = 0;
  NodeContext context_;
  Context client_context_;
  std::vector<Submission> submissions_;
  std::unique_ptr<JobManagerProcess> job_manager_;
  std::vector<std::unique_ptr<TaskManagerProcess>> task_managers_;
  std::unique_ptr<ClientProcess> client_;
  std::unique_ptr<ClientProcess> observer_;
  Nanoseconds next_look_ = 0;
  std::uint64_t losses_ = 0;  // of JobManagers that were killed since
};

SimulationOptions simulation_options(std::uint64_t seed) {
  SimulationOptions options;
  options.seed = seed;
  return options;
}

ClusterSimulation::ClusterSimulation(RunOptions options)
    : options_(options),
      simulation_(simulation_options(options.seed)),
      random_(mix_bits(options.seed ^ 0x5c4ed01e)),
      context_{simulation_,       weather_, report_.faults, random_,
               "jobmanager:6123", "secret", options.verbose},
      client_context_{simulation_,
                      history_,
                      random_,
                      job_managers_,
                      [this](std::string text) { log(text); },
                      "jobmanager:6123",
                      "secret"},
      submissions_(draw_submissions(random_)) {
  report_.seed = options.seed;
  context_.draw_machines(options.seed);
  job_manager_ = std::make_unique<JobManagerProcess>(context_, "jobmanager");
  for (int i = 1; i <= task_manager_count; ++i) {
    task_managers_.push_back(
        std::make_unique<TaskManagerProcess>(context_, fmt::format("tm{}", i)));
  }
  client_ = std::make_unique<ClientProcess>(context_, "client", client_context_);
  observer_ = std::make_unique<ClientProcess>(context_, "observer", client_context_);
}

// What still runs is killed: destroying it must not wait for anybody.
ClusterSimulation::~ClusterSimulation() {
  const auto end = [](SimulatedProcess& process) {
    if (process.alive()) process.kill(true);
  };
  end(*client_);
  end(*observer_);
  for (const auto& one : task_managers_) end(*one);
  end(*job_manager_);
}

void ClusterSimulation::log(const std::string& text) const {
  if (!options_.verbose) return;
  fmt::print(stderr, "{:11.6f} {}\n", static_cast<double>(simulation_.now()) / 1e9, text);
}

Status ClusterSimulation::start() {
  // A TaskManager may be there before the JobManager.
  const bool late = random_.chance(0.3);
  if (!late) HUMMER_TRY(job_manager_->start());
  for (const auto& one : task_managers_) HUMMER_TRY(one->start());
  if (late) {
    run_until(random_.between(0, seconds(1)));
    HUMMER_TRY(job_manager_->start());
  }
  HUMMER_TRY(client_->start());
  HUMMER_TRY(observer_->start());
  for (Submission& one : submissions_) client_->client().pursue(one);
  observer_->client().observe();
  return {};
}

void ClusterSimulation::look() {
  history_.set_now(simulation_.now());
  for (const auto& one : task_managers_) {
    if (!one->alive() || one->actor() == nullptr) continue;
    std::vector<HeldSlots> held;
    for (const TaskManager::Held& attempt : one->actor()->held()) {
      held.push_back({attempt.job, attempt.attempt, attempt.region, attempt.slots});
    }
    history_.saw_slots(one->node().name(), one->number(), held);
  }
}

void ClusterSimulation::run_steps(std::uint64_t steps, Nanoseconds time) {
  const std::uint64_t last = steps == never_steps ? never_steps : simulation_.steps() + steps;
  (void)simulation_.run_until(
      [&] {
        if (simulation_.now() >= next_look_) {
          look();
          next_look_ = simulation_.now() + look_every;
        }
        return simulation_.steps() >= last;
      },
      time);
}

SimulatedPlatform& ClusterSimulation::place(int number) {
  if (number == job_manager_place) return job_manager_->node();
  if (number == client_place) return client_->node();
  return task_managers_[static_cast<std::size_t>(number)]->node();
}

void ClusterSimulation::cut(int a, int b) {
  if (cuts_[std::minmax(a, b)]++ > 0) return;
  log(fmt::format("---- cut {} from {}", place(a).name(), place(b).name()));
  simulation_.partition(place(a), place(b));
  if (b == job_manager_place && a < task_manager_count) {
    history_.cut_off(place(a).name(), simulation_.now() + heartbeat_timeout + loss_slack);
  }
}

void ClusterSimulation::join(int a, int b) {
  if (--cuts_[std::minmax(a, b)] > 0) return;
  log(fmt::format("---- join {} and {}", place(a).name(), place(b).name()));
  simulation_.heal(place(a), place(b));
  if (b == job_manager_place && a < task_manager_count && place(a).alive()) {
    history_.reachable_again(place(a).name());
  }
}

std::uint64_t ClusterSimulation::effect(FaultKind kind) {
  switch (kind) {
    case FaultKind::connection_death: return simulation_.counts().connection_deaths;
    case FaultKind::partition:
    case FaultKind::one_way_cut: return simulation_.counts().held_by_partition;
    case FaultKind::corruption: return simulation_.counts().corrupted_transfers;
    case FaultKind::task_manager_stall:
    case FaultKind::clock_step: return simulation_.steps();
    case FaultKind::slow_network: return simulation_.counts().transfers;
    default: return report_.faults[kind];
  }
}

void ClusterSimulation::kill(Running& running) {
  const Fault& fault = running.fault;
  SimulatedProcess* process = nullptr;
  switch (fault.kind) {
    case FaultKind::task_manager_death:
      process = task_managers_[static_cast<std::size_t>(fault.victim)].get();
      break;
    case FaultKind::job_manager_death: process = job_manager_.get(); break;
    default: process = client_.get(); break;
  }
  run_steps(fault.steps_later, simulation_.now() + milliseconds(200));
  if (!process->alive()) return;
  running.process = process;
  if (process == job_manager_.get()) {
    losses_ += job_manager_->actor()->counts().task_managers_lost;
    history_.job_manager_died();
  } else if (fault.kind == FaultKind::task_manager_death) {
    history_.cut_off(process->node().name(), simulation_.now() + heartbeat_timeout + loss_slack);
  }
  process->kill(random_.chance(0.5));
  ++report_.faults[fault.kind];
}

void ClusterSimulation::revive(Running& running) {
  SimulatedProcess& process = *running.process;
  if (&process == job_manager_.get()) ++job_managers_;
  if (running.fault.kind == FaultKind::task_manager_death) {
    history_.reachable_again(process.node().name());
  }
  if (Status status = process.restart(); !status.ok()) {
    history_.violation("a process does not start again",
                       process.node().name() + ": " + status.to_string());
  }
  if (&process != client_.get()) return;
  for (Submission& one : submissions_) {
    if (!one.done) client_->client().pursue(one);
  }
}

void ClusterSimulation::begin(Running& running) {
  Fault& fault = running.fault;
  running.begun = true;
  running.before = effect(fault.kind);
  log(fmt::format("---- {} (victim tm{})", to_string(fault.kind), fault.victim + 1));
  simulation_.trace("fault", static_cast<std::uint64_t>(fault.kind));
  switch (fault.kind) {
    case FaultKind::message_loss: ++weather_.losing; break;
    case FaultKind::message_repetition: ++weather_.repeating; break;
    case FaultKind::message_delay: ++weather_.delaying; break;
    case FaultKind::connection_death: ++dying_connections_; break;
    case FaultKind::slow_network: ++slow_; break;
    case FaultKind::partition: {
      const int other = (fault.victim + 1) % task_manager_count;
      const int third = (fault.victim + 2) % task_manager_count;
      switch (fault.cut) {
        case Cut::task_manager_from_job_manager:
          running.cuts = {{fault.victim, job_manager_place}};
          break;
        case Cut::task_manager_from_task_manager: running.cuts = {{fault.victim, other}}; break;
        case Cut::task_manager_from_all:
          running.cuts = {
              {fault.victim, job_manager_place}, {fault.victim, other}, {fault.victim, third}};
          break;
        case Cut::client_from_job_manager:
          running.cuts = {{client_place, job_manager_place}};
          break;
      }
      for (const auto& [a, b] : running.cuts) cut(a, b);
      break;
    }
    case FaultKind::one_way_cut: cut_one_way(fault, true); break;
    case FaultKind::corruption: corrupt(fault.victim, corruption_rate); break;
    case FaultKind::clock_step:
      place(fault.clock_of_job_manager ? job_manager_place : fault.victim)
          .step_wall_clock(fault.clock_step_ms);
      break;
    case FaultKind::task_manager_stall: {
      fault.duration += heartbeat_timeout;
      SimulatedPlatform& victim = place(fault.victim);
      victim.pause_until(std::min(simulation_.now() + fault.duration, faults_end));
      if (!victim.alive() || fault.duration <= heartbeat_timeout + loss_slack) break;
      if (simulation_.now() + fault.duration > faults_end) break;
      history_.cut_off(victim.name(), simulation_.now() + heartbeat_timeout + loss_slack);
      break;
    }
    case FaultKind::task_manager_death:
    case FaultKind::job_manager_death:
    case FaultKind::client_death: kill(running); break;
  }
  running.next = simulation_.now() + fault.duration;
}

// A TaskManager and the JobManager, or two TaskManagers.
void ClusterSimulation::cut_one_way(const Fault& fault, bool begins) {
  SimulatedPlatform& victim = place(fault.victim);
  const bool between = fault.cut == Cut::task_manager_from_task_manager;
  SimulatedPlatform& other =
      place(between ? (fault.victim + 1) % task_manager_count : job_manager_place);
  const bool unheard = fault.cut != Cut::client_from_job_manager;
  if (begins) {
    simulation_.cut(unheard ? victim : other, unheard ? other : victim);
  } else {
    simulation_.heal(victim, other);
    const int number = between ? (fault.victim + 1) % task_manager_count : job_manager_place;
    if (cuts_[std::minmax(fault.victim, number)] > 0) simulation_.partition(victim, other);
  }
}

// All links of a TaskManager to the other servers.
void ClusterSimulation::corrupt(int victim, double rate) {
  for (int other = 0; other <= job_manager_place; ++other) {
    if (other != victim) simulation_.corrupt(place(victim), place(other), rate);
  }
}

bool ClusterSimulation::end(Running& running) {
  Fault& fault = running.fault;
  if (is_death(fault.kind)) {
    fault.happened = running.process != nullptr;  // else it was dead already
    if (fault.happened) revive(running);
  } else if (effect(fault.kind) > running.before) {
    fault.happened = true;
  } else if (simulation_.now() < faults_end) {
    running.next = std::min(faults_end, simulation_.now() + milliseconds(500));
    return false;
  }
  log(fmt::format("---- end of {}{}", to_string(fault.kind),
                  fault.happened ? "" : ", which did not happen"));
  switch (fault.kind) {
    case FaultKind::message_loss: --weather_.losing; break;
    case FaultKind::message_repetition: --weather_.repeating; break;
    case FaultKind::message_delay: --weather_.delaying; break;
    case FaultKind::connection_death:
      --dying_connections_;
      report_.faults[fault.kind] = simulation_.counts().connection_deaths;
      break;
    case FaultKind::slow_network:
      --slow_;
      report_.faults[fault.kind] += fault.happened ? 1 : 0;
      break;
    case FaultKind::partition:
      for (const auto& [a, b] : running.cuts) join(a, b);
      report_.faults[fault.kind] += fault.happened ? 1 : 0;
      break;
    case FaultKind::one_way_cut:
      cut_one_way(fault, false);
      report_.faults[fault.kind] += fault.happened ? 1 : 0;
      break;
    case FaultKind::corruption:
      corrupt(fault.victim, 0);
      report_.faults[fault.kind] += fault.happened ? 1 : 0;
      break;
    case FaultKind::task_manager_stall:
      if (place(fault.victim).alive()) history_.reachable_again(place(fault.victim).name());
      report_.faults[fault.kind] += fault.happened ? 1 : 0;
      break;
    case FaultKind::clock_step: report_.faults[fault.kind] += fault.happened ? 1 : 0; break;
    default: break;
  }
  return true;
}

void ClusterSimulation::play_schedule() {
  std::vector<Nanoseconds> busy;
  for (const Submission& one : submissions_) busy.push_back(one.at);
  std::vector<Running> schedule;
  for (const Fault& fault : draw_faults(random_, busy)) {
    schedule.push_back({.fault = fault, .next = fault.begin, .cuts = {}});
  }
  const SimulationOptions calm = simulation_.options();
  while (!schedule.empty()) {
    const auto next =
        std::min_element(schedule.begin(), schedule.end(),
                         [](const Running& a, const Running& b) { return a.next < b.next; });
    run_until(std::min(next->next, faults_end));
    if (!next->begun) {
      begin(*next);
    } else if (end(*next)) {
      report_.faults_happened += next->fault.happened ? 1 : 0;
      schedule.erase(next);
    }
    SimulationOptions& options = simulation_.options();
    options.connection_death_rate = dying_connections_ > 0 ? 0.02 : 0;
    options.latency_minimum_ns = slow_ > 0 ? milliseconds(20) : calm.latency_minimum_ns;
    options.latency_maximum_ns = slow_ > 0 ? milliseconds(300) : calm.latency_maximum_ns;
    options.delay_rate = slow_ > 0 ? 0.01 : 0;
    // Of those that were drawn too few may have found anything to strike.
    if (schedule.empty() && report_.faults_happened < faults_minimum) {
      const Fault death = draw_death(random_, simulation_.now() + milliseconds(500));
      schedule.push_back({.fault = death, .next = death.begin, .cuts = {}});
    }
  }
  simulation_.trace("faults end");
}

bool ClusterSimulation::is_stable() {
  for (const Submission& one : submissions_) {
    if (!one.done) return false;
  }
  for (const auto& one : task_managers_) {
    if (!one->actor()->registered() || one->actor()->attempts() > 0) return false;
  }
  const SimulatedClient& seen = observer_->client();
  for (const wire::JobStatus& job : seen.jobs().jobs()) {
    if (!has_ended(job.state())) return false;
  }
  return true;
}

void ClusterSimulation::run_until_stable() {
  run_until(run_at_least);
  while (!is_stable() && simulation_.now() < run_at_most) {
    run_until(std::min(simulation_.now() + seconds(1), run_at_most));
  }
  // What was stable must stay so, and the lists must tell it.
  const std::uint64_t lost = job_manager_->actor()->counts().task_managers_lost;
  run_until(simulation_.now() + heartbeat_timeout + seconds(2));
  history_.set_now(simulation_.now());
  if (job_manager_->actor()->counts().task_managers_lost != lost) {
    history_.violation("a healthy TaskManager was lost", "long after the last fault");
  }
  losses_ += lost;
}

void ClusterSimulation::check_submission(Submission& submission) {
  if (!submission.done) {
    history_.violation("a client's job never ended", submission.name());
    return;
  }
  const wire::JobStatus& last = submission.last;
  // One that is stopped while it waits for slots is cancelled.
  const bool may_be_cancelled =
      submission.desired_state == wire::DESIRED_CANCEL ||
      (submission.desired_state == wire::DESIRED_STOP && last.started_ms() == 0);
  if (last.state() == wire::JOB_CANCELLED && !(may_be_cancelled && submission.request_sent)) {
    history_.violation("cancelled though nobody asked", submission.name());
  }
  if (last.state() == wire::JOB_FAILED) {
    const auto code = static_cast<ErrorCode>(last.failure().code());
    const bool mistaken = code == ErrorCode::user_function_failed;
    if (mistaken && (submission.kind != JobKind::mistake ||
                     last.failure().message().find(mistake_text) == std::string::npos)) {
      history_.violation("a user function failed that is right",
                         submission.name() + ": " + last.failure().message());
    }
    FaultTotals& faults = report_.faults;
    if (code == ErrorCode::protocol_error && faults[FaultKind::corruption] == 0) {
      history_.violation("failed by damage that nobody did",
                         submission.name() + ": " + last.failure().message());
    }
    const bool slots = last.failure().message().find("slot") != std::string::npos;
    if (!mistaken && !slots && losses_ == 0 && faults[FaultKind::connection_death] == 0 &&
        faults[FaultKind::partition] == 0 && faults[FaultKind::slow_network] == 0 &&
        faults[FaultKind::one_way_cut] == 0 && faults[FaultKind::corruption] == 0) {
      history_.violation("failed though nothing was lost",
                         submission.name() + ": " + last.failure().message());
    }
  }
  std::vector<SimulatedPlatform*> nodes;
  for (const auto& one : task_managers_) nodes.push_back(&one->node());
  const Result<JobOutput> output = read_output(nodes, submission.tag());
  if (!output.ok()) {
    history_.violation("unreadable output", output.status().to_string());
    return;
  }
  if (last.state() == wire::JOB_FINISHED) {
    const int subtasks =
        last.vertices_size() > 0 ? static_cast<int>(last.vertices(0).parallelism()) : 1;
    const bool stopped = submission.desired_state == wire::DESIRED_STOP && submission.request_sent;
    const std::string wrong =
        check_output(submission.kind, submission.records, stopped, subtasks, *output);
    if (!wrong.empty()) {
      history_.violation("a finished job's result is wrong", submission.name() + ": " + wrong);
    }
  }
  // One JobManager and no recovery: every subtask runs once.
  if (submission.first_job_manager != submission.last_job_manager || last.restarts() > 0) return;
  for (const auto& [sink, ones] : *output) {
    std::set<int> subtasks;
    for (const SinkOutput& one : ones) {
      if (subtasks.insert(one.subtask).second) continue;
      history_.violation("a subtask ran twice",
                         fmt::format("{}: {}[{}]", submission.name(), sink, one.subtask));
    }
  }
}

void ClusterSimulation::check_end() {
  // The first may have been asked for before.
  const int enough = observer_->client().listings() + 2;
  const Nanoseconds patience = simulation_.now() + seconds(5);
  while (observer_->client().listings() < enough && simulation_.now() < patience) {
    run_until(simulation_.now() + milliseconds(100));
  }
  history_.set_now(simulation_.now());
  if (observer_->client().listings() < enough) {
    history_.violation("the JobManager does not answer at the end", "to the observer's lists");
  }
  history_.check_end(observer_->client().jobs(), observer_->client().task_managers(),
                     task_manager_count);
  for (const auto& one : task_managers_) {
    if (!one->actor()->registered()) {
      history_.violation("not registered at the end", one->node().name());
    }
    if (one->actor()->attempts() > 0 || !one->actor()->held().empty()) {
      history_.violation("an attempt was left",
                         fmt::format("{} on {}", one->actor()->attempts(), one->node().name()));
    }
  }
  for (Submission& one : submissions_) check_submission(one);
}

void ClusterSimulation::stop_everything() {
  if (random_.chance(0.5)) return;  // then everybody is killed
  for (const auto& one : task_managers_) one->stop();
  job_manager_->stop();
}

Report ClusterSimulation::run() {
  if (Status status = start(); !status.ok()) {
    history_.violation("the cluster does not start", status.to_string());
  } else {
    play_schedule();
    run_until_stable();
    check_end();
    stop_everything();
  }
  report_.virtual_ns = simulation_.now();
  report_.steps = simulation_.steps();
  report_.trace_hash = simulation_.trace_hash();
  report_.violations = history_.violations();
  report_.jobs = history_.ended_jobs();
  return report_;
}

}  // namespace

Report simulate_cluster(RunOptions options) {
  ClusterSimulation cluster(options);
  return cluster.run();
}

}  // namespace hummer::cluster_simulation
