#include "platform/simulation.hpp"

#include <algorithm>
#include <utility>

#include "platform/simulated_executor.hpp"
#include "platform/simulated_files.hpp"
#include "platform/simulated_network.hpp"
#include "platform/simulated_remote_memory.hpp"
#include "platform/simulated_shared_memory.hpp"

namespace hummer {

SimulatedPlatform::SimulatedPlatform(Simulation& simulation, std::string name, int index,
                                     std::shared_ptr<SimulatedDisk> disk)
    : simulation_(&simulation),
      name_(std::move(name)),
      index_(index),
      machine_(index),
      random_(simulation.random().next()),
      files_(std::make_unique<SimulatedFiles>(*this, std::move(disk))),
      network_(std::make_unique<SimulatedNetwork>(*this)),
      shared_memory_(std::make_unique<SimulatedSharedMemory>(*this)) {
  simulation.everyone_.push_back(this);
}

SimulatedPlatform::~SimulatedPlatform() {
  background_.reset();
  std::erase(simulation_->everyone_, this);
}

std::unique_ptr<Executor> SimulatedPlatform::make_executor(ExecutorOptions options) {
  const std::uint64_t number = simulation_->executors_made_++;
  return std::make_unique<SimulatedExecutor>(std::move(options), *simulation_, *this, number);
}

Executor& SimulatedPlatform::background() {
  if (background_ == nullptr) background_ = make_executor({.name = "background"});
  return *background_;
}

Files& SimulatedPlatform::files() { return *files_; }
Network& SimulatedPlatform::network() { return *network_; }
SharedMemory& SimulatedPlatform::shared_memory() { return *shared_memory_; }
Nanoseconds SimulatedPlatform::now() const { return simulation_->now(); }

std::unique_ptr<SignalWatch> SimulatedPlatform::watch_signals(Hangup /*hangup*/) {
  return std::make_unique<DeafSignalWatch>();
}

std::int64_t SimulatedPlatform::wall_time_ms() const {
  return simulation_->options().start_wall_time_ms + simulation_->now() / 1'000'000 +
         clock_error_ms_;
}

MemoryGiven SimulatedPlatform::memory_given() const {
  return {simulation_->options().memory_bytes, "the simulated machine's memory"};
}
int SimulatedPlatform::processors() const { return simulation_->options().processors; }

Status SimulatedPlatform::write_standard(int stream, std::string_view text) {
  HUMMER_ASSERT(stream == 1 || stream == 2);
  if (!alive_) return {ErrorCode::cancelled, "the process was killed"};
  simulation_->trace("standard", static_cast<std::uint64_t>(stream));
  simulation_->trace(text);
  standard_[stream - 1] += text;
  return {};
}

RunEnd SimulatedPlatform::run_until(const std::function<bool()>& predicate, Nanoseconds deadline) {
  if (!alive_) return predicate() ? RunEnd::satisfied : RunEnd::deadlock;
  return simulation_->run_until(predicate, deadline);
}

SocketAddress SimulatedPlatform::address() const { return simulated_address(index_); }

void SimulatedPlatform::kill() {
  if (!alive_) return;
  alive_ = false;
  simulation_->trace("kill", static_cast<std::uint64_t>(index_));
  network_->node_died();
}

void SimulatedPlatform::pause_until(Nanoseconds time) {
  simulation_->trace("pause", static_cast<std::uint64_t>(index_));
  paused_until_ = std::max(paused_until_, time);
}

void SimulatedPlatform::step_wall_clock(std::int64_t by_ms) {
  simulation_->trace("clock step", static_cast<std::uint64_t>(by_ms));
  clock_error_ms_ += by_ms;
}

bool SimulatedPlatform::begin_disk_operation() {
  if (!alive_) return false;
  ++simulation_->counts_.disk_operations;
  if (operations_left_ > 0 && --operations_left_ == 0) kill();
  return alive_;
}

std::vector<std::pair<std::string_view, std::string_view>> SimulatedPlatform::files_below(
    std::string_view directory) const {
  std::vector<std::pair<std::string_view, std::string_view>> found;
  const SimulatedDisk::Names& names = files_->disk()->names();
  const std::string prefix = std::string(directory) + "/";
  for (auto at = names.lower_bound(prefix); at != names.end(); ++at) {
    std::string_view name = at->first;
    if (!name.starts_with(prefix)) break;
    name.remove_prefix(prefix.size());
    if (at->second.file != nullptr) found.emplace_back(name, at->second.file->content);
  }
  return found;
}

void SimulatedPlatform::crash_disk() { files_->crash(); }

void SimulatedPlatform::truncate_file(const std::string& path, std::uint64_t size_bytes) {
  files_->truncate(path, size_bytes);
}

void SimulatedPlatform::set_modified(const std::string& path, std::int64_t since_1970_ms) {
  files_->disk()->find(path)->file->modified_ms = since_1970_ms;
}

Simulation::Simulation(SimulationOptions options)
    : options_(options),
      random_(mix_bits(options.seed)),
      trace_hash_(mix_bits(options.seed)),
      fabric_(std::make_unique<SimulatedFabric>()),
      segments_(std::make_unique<SimulatedSegments>()),
      remote_memories_(std::make_unique<SimulatedRemoteMemories>()) {}

// Nodes first: what they leave in the fabric must find it.
Simulation::~Simulation() {
  for (const auto& node : nodes_) node->background_.reset();
  HUMMER_ASSERT(executors_.empty());
  nodes_.clear();
}

SimulatedPlatform& Simulation::add_node(std::string name) {
  const int index = nodes_made_++;
  nodes_.push_back(std::unique_ptr<SimulatedPlatform>(new SimulatedPlatform(
      *this, std::move(name), index, std::make_shared<SimulatedDisk>(*this))));
  return *nodes_.back();
}

SimulatedPlatform& Simulation::add_node(std::string name, const SimulatedPlatform& with_its_disk) {
  const int index = nodes_made_++;
  nodes_.push_back(std::unique_ptr<SimulatedPlatform>(
      new SimulatedPlatform(*this, std::move(name), index, with_its_disk.files_->disk())));
  return *nodes_.back();
}

SimulatedPlatform& Simulation::restart_node(SimulatedPlatform& killed) {
  HUMMER_ASSERT(!killed.alive());
  trace("restart", static_cast<std::uint64_t>(killed.index_));
  nodes_.push_back(std::unique_ptr<SimulatedPlatform>(
      new SimulatedPlatform(*this, killed.name_, killed.index_, killed.files_->disk())));
  nodes_.back()->clock_error_ms_ = killed.clock_error_ms_;
  nodes_.back()->machine_ = killed.machine_;
  return *nodes_.back();
}

SimulatedPlatform* Simulation::node_named(std::string_view name) const {
  SimulatedPlatform* found = nullptr;
  for (SimulatedPlatform* node : everyone_) {
    if (node->name_ == name) found = node;  // the last one: after restarts, the living one
  }
  return found;
}

bool Simulation::step() { return step_before(never) != Step::nothing; }

Simulation::Step Simulation::step_before(Nanoseconds deadline) {
  runnable_.clear();
  for (SimulatedExecutor* executor : executors_) {
    if (executor->runnable()) runnable_.push_back(executor);
  }
  if (runnable_.empty()) {
    bool polled = false;
    for (std::size_t i = 0; i < executors_.size(); ++i) polled |= executors_[i]->poll();
    if (polled) {
      charge(options_.step_minimum_ns, options_.step_maximum_ns);
      ++steps_;
      return Step::done;
    }
    return advance(deadline);
  }
  SimulatedExecutor& chosen = *runnable_[random_.below(runnable_.size())];
  trace("step", chosen.number());
  chosen.run_one();
  charge(options_.step_minimum_ns, options_.step_maximum_ns);
  ++steps_;
  fire_due();
  return Step::done;
}

Simulation::Step Simulation::advance(Nanoseconds deadline) {
  Nanoseconds next = events_.next();
  for (const SimulatedExecutor* executor : executors_) {
    next = std::min(next, executor->next_timer());
  }
  if (next == never) return Step::nothing;
  if (next > deadline) return Step::too_late;
  now_ = std::max(now_, next);
  trace("advance", static_cast<std::uint64_t>(now_));
  ++steps_;
  fire_due();
  return Step::done;
}

void Simulation::fire_due() {
  events_.fire(now_);
  // By index: a timer's function may make or stop an executor.
  for (std::size_t i = 0; i < executors_.size(); ++i) executors_[i]->fire_timers(now_);
}

RunEnd Simulation::run_until(const std::function<bool()>& predicate, Nanoseconds deadline) {
  HUMMER_ASSERT(current_ == nullptr);  // not from inside the simulation
  while (true) {
    if (predicate()) return RunEnd::satisfied;
    if (now_ >= deadline) return RunEnd::timed_out;
    switch (step_before(deadline)) {
      case Step::done: break;
      case Step::too_late: now_ = deadline; break;
      case Step::nothing: return RunEnd::deadlock;
    }
  }
}

void Simulation::partition(const SimulatedPlatform& a, const SimulatedPlatform& b) {
  fabric_->cut(*this, a.index_, b.index_);
  fabric_->cut(*this, b.index_, a.index_);
}

void Simulation::cut(const SimulatedPlatform& from, const SimulatedPlatform& to) {
  fabric_->cut(*this, from.index_, to.index_);
}

void Simulation::heal(const SimulatedPlatform& a, const SimulatedPlatform& b) {
  fabric_->join(*this, a.index_, b.index_);
}

void Simulation::corrupt(const SimulatedPlatform& a, const SimulatedPlatform& b, double rate) {
  fabric_->corrupt(*this, a.index_, b.index_, rate);
}

void Simulation::share_memory(SimulatedPlatform& node, const SimulatedPlatform& with) {
  node.machine_ = with.machine_;
}

void Simulation::trace(std::string_view what) {
  std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
  for (const char c : what) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  trace_hash_ = mix_bits(trace_hash_ ^ hash) + static_cast<std::uint64_t>(now_);
}

void Simulation::trace(std::string_view what, std::uint64_t number) {
  trace(what);
  trace_hash_ = mix_bits(trace_hash_ + number);
}

std::unique_ptr<SimulatedPlatform> make_simulated_platform(SimulationOptions options) {
  auto simulation = std::make_unique<Simulation>(options);
  auto disk = std::make_shared<SimulatedDisk>(*simulation);
  auto node = std::unique_ptr<SimulatedPlatform>(
      new SimulatedPlatform(*simulation, "node1", simulation->nodes_made_++, std::move(disk)));
  node->owned_simulation_ = std::move(simulation);
  return node;
}

}  // namespace hummer
