// The jobs of the TaskManager's tests, and how a test deploys them.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

#include <hummer/hummer.hpp>
#include <hummer/job.hpp>

#include "api/job_build.hpp"
#include "graph/fingerprint.hpp"
#include "graph/job_graph.hpp"
#include "platform/simulation.hpp"
#include "protocol/placement.hpp"

namespace hummer {

// Where the sinks of test jobs put their records: job functions capture nothing.
class TestSink {
 public:
  static TestSink& instance() {
    static TestSink sink;
    return sink;
  }
  void clear() {
    const std::lock_guard lock(mutex_);
    records_.clear();
  }
  void add(std::uint64_t record) {
    const std::lock_guard lock(mutex_);
    records_.push_back(record);
  }
  std::vector<std::uint64_t> sorted() const {
    const std::lock_guard lock(mutex_);
    std::vector<std::uint64_t> records = records_;
    std::sort(records.begin(), records.end());
    return records;
  }
  std::size_t size() const {
    const std::lock_guard lock(mutex_);
    return records_.size();
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::uint64_t> records_;
};

constexpr std::uint64_t spread_count = 5000;

// Records cross from every subtask to every other: a network edge between two TaskManagers.
inline JobResult spread_job(StreamExecutionEnvironment& env) {
  NetworkSettings network;
  network.interface_or_address = env.argument_or("interface", "");
  env.generate([](std::uint64_t i) { return i; }, {.count = spread_count})
      .rebalance()
      .network(network)
      .map([](std::uint64_t i) { return 2 * i; })
      .for_each([](const std::uint64_t& i) { TestSink::instance().add(i); });
  return env.execute("spread");
}

// Its inputs are to stay together.
inline JobResult aligned_job(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i; }, {.count = spread_count})
      .assign_timestamps([](std::uint64_t i) { return i; },
                         WatermarkStrategy::ascending().aligned(WatermarkAlignment(), 1'000'000))
      .for_each([](const std::uint64_t& i) { TestSink::instance().add(2 * i); });
  return env.execute("aligned");
}

// Does not end by itself.
inline JobResult endless_job(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i; }, {.records_per_second = 10'000})
      .rebalance()
      .for_each([seen = Counter("seen")](const std::uint64_t& i) {
        seen.add();
        TestSink::instance().add(i);
      });
  return env.execute("endless");
}

// Does neither; all comes from one subtask, so that only one TaskManager has a source.
inline JobResult one_source_job(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i; }, {.records_per_second = 1000})
      .parallelism(1)
      .key_by([](std::uint64_t i) { return i % 100; })
      .count()
      .for_each([](const auto&) {});
  return env.execute("one source");
}

inline JobResult failing_job(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i; }, {.count = 1000})
      .map([](std::uint64_t i) {
        if (i == 400) throw std::runtime_error("the boiler is on fire");
        return i;
      })
      .for_each([](const std::uint64_t&) {});
  return env.execute("failing");
}

inline JobResult throwing_job(StreamExecutionEnvironment&) {
  throw std::runtime_error("no graph today");
}

// Where a hanging job's function waits.
class TestGate {
 public:
  static TestGate& instance() {
    static TestGate gate;
    return gate;
  }
  void wait() {
    inside.store(true);
    inside.notify_all();
    open.wait(false);
  }
  void release() {
    open.store(true);
    open.notify_all();
  }
  void reset() {
    inside = false;
    open = false;
  }
  std::atomic<bool> inside{false};
  std::atomic<bool> open{false};
};

// The same graph as spread_job's, when it returns.
inline JobResult hanging_job(StreamExecutionEnvironment& env) {
  TestGate::instance().wait();
  return spread_job(env);
}

inline JobResult hanging_map_job(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i; }, {.records_per_second = 10'000})
      .map([](std::uint64_t i) {
        if (i == 10) TestGate::instance().wait();
        return i;
      })
      .for_each([](const std::uint64_t&) {});
  return env.execute("hanging");
}

// Hangs in the first attempt only, with records of the same batch still to come. All in one chain.
inline JobResult once_hanging_job(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i; }, {.count = 50})
      .map([](std::uint64_t i) {
        if (i == 10 && !TestGate::instance().inside) TestGate::instance().wait();
        return i;
      })
      .for_each([](const std::uint64_t& i) { TestSink::instance().add(i); });
  return env.execute("once hanging");
}

// A deployment for each of the workers.
inline std::vector<wire::Deployment> make_deployments(
    JobFunction function, std::uint64_t library_hash,
    const std::vector<wire::Registration>& workers, int parallelism,
    const std::vector<std::string>& arguments = {}) {
  wire::Deployment deployment;
  deployment.set_library_hash(library_hash);
  for (const std::string& argument : arguments) deployment.add_arguments(argument);
  wire::JobOptions& options = *deployment.mutable_options();
  options.set_parallelism(static_cast<std::uint32_t>(parallelism));
  options.set_batch_records(64);
  options.set_channel_credits(4);
  options.set_chaining(true);
  options.set_bypass(true);
  for (const wire::Registration& registration : workers) {
    wire::PlacedWorker& worker = *deployment.add_task_managers();
    worker.set_id(registration.id());
    worker.set_host(registration.host());
    worker.set_slots(registration.slots());
    *worker.mutable_occupied() = registration.slots_held();
    *worker.mutable_data_addresses() = registration.data_addresses();
  }
  const auto platform = make_simulated_platform({});
  EnvironmentOptions defaults;
  defaults.platform = platform.get();
  const Result<BuiltJob> built = build_job(function, arguments, defaults);
  EXPECT_TRUE(built.ok()) << built.status().to_string();
  const Result<JobGraph> job = fuse(built->graph);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  const Result<ExecutionGraph> placed =
      place_on_cluster(*job, deployment.task_managers(), deployment.options());
  EXPECT_TRUE(placed.ok()) << placed.status().to_string();
  deployment.set_job_name(job->job_name);
  deployment.set_fingerprint(job->fingerprint);
  deployment.set_execution_hash(execution_hash(*placed));
  std::vector<wire::Deployment> all;
  for (std::size_t i = 0; i < workers.size(); ++i) {
    deployment.set_task_manager(static_cast<std::uint32_t>(i));
    all.push_back(deployment);
  }
  return all;
}

}  // namespace hummer
