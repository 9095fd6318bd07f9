// A small cluster in one simulation: a JobManager, TaskManagers that can be killed and started
// again, a client, and one disk that all of them see, or but the TaskManagers, which have their
// own.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/job_build.hpp"
#include "client/cluster_client.hpp"
#include "client/submit.hpp"
#include "job_manager/job_manager.hpp"
#include "platform/kept_log_for_test.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"
#include "protocol/graph_messages.hpp"
#include "protocol/job_status.hpp"
#include "support/drawn_cases.hpp"
#include "task_manager/task_manager.hpp"

namespace hummer {

// The seeds of a test with a SimulatedCluster.
inline auto cluster_seeds() { return testing::Range<std::uint64_t>(1, drawn_cases(8) + 1); }

class SimulatedCluster {
 public:
  struct Worker {
    SimulatedPlatform* node = nullptr;
    std::unique_ptr<TaskManager> actor;
  };

  enum class Disks { shared, own };

  // What all members and the client show each other.
  struct Access {
    std::string token;
    std::shared_ptr<TlsContext> tls;  // null: plain
  };

  SimulatedCluster(std::uint64_t seed, int task_managers, int slots, JobFunction function,
                   Disks disks = Disks::shared,
                   const std::function<void(SimulatedPlatform&)>& write_disk = {},
                   Access access = {})
      : simulation({.seed = seed}),
        store(simulation.add_node("store")),
        job_manager_node(&simulation.add_node("jobmanager", store)),
        client_node(simulation.add_node("client", store)),
        function_(function),
        slots_(slots),
        access_(std::move(access)) {
    libraries_.add(library_hash, function);
    if (write_disk) write_disk(store);
    start_job_manager();
    workers.resize(static_cast<std::size_t>(task_managers));
    for (int i = 0; i < task_managers; ++i) {
      Worker& worker = workers[static_cast<std::size_t>(i)];
      const std::string name = "tm" + std::to_string(i);
      worker.node =
          disks == Disks::shared ? &simulation.add_node(name, store) : &simulation.add_node(name);
      start(worker);
    }
    executor_ = client_node.make_executor({.name = "client"});
    ClusterClientOptions client_options;
    client_options.job_manager = "jobmanager:6123";
    client_options.token = access_.token;
    client_options.tls = access_.tls;
    client_ = std::make_unique<ClusterClient>(client_node, *executor_, client_options);
  }
  ~SimulatedCluster() {
    executor_->stop();
    client_.reset();
    for (Worker& worker : workers) {
      worker.node->kill();
      worker.actor.reset();
    }
    job_manager.reset();
  }

  // Also one that has died at its disk.
  void kill(Worker& worker) {
    if (worker.node->alive()) worker.node->kill();
    worker.actor.reset();
  }
  void restart(Worker& worker) {
    worker.node = &simulation.restart_node(*worker.node);
    start(worker);
  }
  // The next one goes on with the journal of the first.
  void restart_job_manager() {
    job_manager_node->kill();
    job_manager.reset();
    job_manager_node = &simulation.restart_node(*job_manager_node);
    start_job_manager();
  }
  void let_pass(Nanoseconds time) {
    (void)simulation.run_until([] { return false; }, simulation.now() + time);
  }

  wire::ClientAnswer ask(wire::ClientRequest request) {
    const auto answer = run_task(client_node, *executor_, client_->ask(std::move(request)));
    EXPECT_TRUE(answer.has_value());
    if (!answer) return {};
    if (!answer->ok()) last_failure = answer->status();
    return answer->ok() ? **answer : wire::ClientAnswer();
  }
  std::uint64_t submit(EnvironmentOptions options, const std::vector<std::string>& arguments = {}) {
    options.platform = &client_node;
    const Result<BuiltJob> built = build_job(function_, arguments, options);
    EXPECT_TRUE(built.ok()) << built.status().to_string();
    const Result<JobGraph> graph = fuse(built->graph, {.exchange = options.exchange});
    EXPECT_TRUE(graph.ok()) << graph.status().to_string();
    wire::SubmitJob job;
    to_message(*graph, *job.mutable_graph());
    job.set_library_hash(library_hash);
    for (const std::string& argument : arguments) job.add_arguments(argument);
    *job.mutable_options() = job_options(options);
    const auto number = run_task(client_node, *executor_, client_->submit(std::move(job), {}));
    EXPECT_TRUE(number && number->ok()) << (number ? number->status().to_string() : "");
    return number && number->ok() ? **number : 0;
  }
  wire::JobStatus status(std::uint64_t job) {
    wire::ClientRequest request;
    request.mutable_job()->set_job(job);
    return ask(std::move(request)).job();
  }
  template <typename Predicate>
  bool until(std::uint64_t job, Predicate predicate, Nanoseconds patience = seconds(60)) {
    const Nanoseconds deadline = simulation.now() + patience;
    while (simulation.now() < deadline) {
      if (predicate(status(job))) return true;
      let_pass(milliseconds(5));
    }
    return false;
  }
  wire::JobStatus end_of(std::uint64_t job) {
    EXPECT_TRUE(until(job, [](const wire::JobStatus& now) { return has_ended(now.state()); }))
        << job_state_name(status(job).state()) << ": " << status(job).reason();
    return status(job);
  }
  // Empty when there is none; last_failure says why.
  std::string savepoint(std::uint64_t job, const std::string& directory, bool stop) {
    wire::ClientRequest request;
    request.mutable_savepoint()->set_job(job);
    request.mutable_savepoint()->set_request_id(++savepoints_requested_);
    request.mutable_savepoint()->set_directory(directory);
    request.mutable_savepoint()->set_stop(stop);
    request.mutable_savepoint()->set_wait_ms(10'000);
    return ask(std::move(request)).savepoint().path();
  }
  bool logged(std::string_view part) const { return log.has(part); }

  static constexpr std::uint64_t library_hash = 77;
  Simulation simulation;
  SimulatedPlatform& store;
  SimulatedPlatform* job_manager_node;
  SimulatedPlatform& client_node;
  KeptLog log;  // of the JobManager, which it outlives
  std::unique_ptr<JobManager> job_manager;
  std::vector<Worker> workers;
  Status last_failure;

 private:
  void start_job_manager() {
    JobManagerOptions options;
    options.listen_address = "jobmanager:6123";
    options.first_job = 1;
    options.state_directory = "/state";
    options.token = access_.token;
    options.tls = access_.tls;
    options.log = Logger(&log, LogModule::cluster);
    job_manager = std::make_unique<JobManager>(*job_manager_node, options);
    const Status started = job_manager->start();
    EXPECT_TRUE(started.ok()) << started.to_string();
  }
  void start(Worker& worker) {
    TaskManagerOptions options;
    options.id = worker.node->name();
    options.host = worker.node->name();
    options.job_manager = "jobmanager:6123";
    options.slots = slots_;
    options.data_addresses = {"*:0"};
    options.token = access_.token;
    options.tls = access_.tls;
    worker.actor = std::make_unique<TaskManager>(*worker.node, libraries_, options);
    const Status started = worker.actor->start();
    EXPECT_TRUE(started.ok()) << started.to_string();
  }

  const JobFunction function_;
  const int slots_;
  const Access access_;
  BuiltInJobLibraries libraries_;
  std::unique_ptr<Executor> executor_;
  std::unique_ptr<ClusterClient> client_;
  std::uint64_t savepoints_requested_ = 0;
};

}  // namespace hummer
