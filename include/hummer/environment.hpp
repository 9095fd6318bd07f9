// StreamExecutionEnvironment: where a job begins and is executed.
//
//   int main(int argc, char** argv) {
//     hummer::StreamExecutionEnvironment env(argc, argv);
//     env.from_file(env.argument("input"))
//         .flat_map(hummer::split_words)
//         .key_by(hummer::identity)
//         .count()
//         .print();
//     return env.execute("WordCount").exit_code();
//   }
//
// Jobs run embedded in this process by default: JobManager, TaskManager and
// tasks by function call, on `--parallelism` slots. `--help` lists the options
// that every job understands; other `--name value` pairs are the job's arguments.
//
// Lifecycle: build streams, then execute once. Thread: one.
// Errors: mistakes in the graph or the options come back from execute(); nothing
// is opened and no thread started before.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <hummer/checkpointing.hpp>
#include <hummer/detail/connector_factories.hpp>
#include <hummer/detail/graph_nodes.hpp>
#include <hummer/detail/memory_account.hpp>
#include <hummer/detail/operators/generator_source.hpp>
#include <hummer/detail/plan.hpp>
#include <hummer/failure_policy.hpp>
#include <hummer/job_result.hpp>
#include <hummer/network_settings.hpp>
#include <hummer/operator.hpp>
#include <hummer/rebuildable.hpp>
#include <hummer/windows.hpp>

namespace hummer {

class Platform;
template <typename T>
class DataStream;
class TextStream;

// Whether text views that leave user functions are looked at
// (hummer/detail/operators/view_check.hpp), so that one of a local variable fails the job.
// automatic: in jobs that run in this process.
enum class CheckViews : std::uint8_t { automatic, off, on };

struct EnvironmentOptions {
  // Slots of the embedded TaskManager and the default parallelism; 0: one per processor.
  int parallelism = 0;
  std::uint32_t batch_records = default_batch_records;
  // Elements under way per channel.
  int channel_credits = 8;
  // How long an idle slot polls before it parks, in microseconds; -1: never parks.
  std::int64_t spin_us = 20;
  bool pin_slots = false;
  bool chaining = true;
  // Of a job whose sources all end: of each of its edges (network_settings.hpp).
  ExchangeMode exchange = ExchangeMode::pipelined;
  // Behind a blocking edge: so many bytes for each subtask, where parallelism is unset; 0: no
  // matter how many, so as many subtasks as elsewhere.
  std::size_t bytes_per_subtask = 0;
  // Partial aggregates empty their state before it outgrows this (bytes, per subtask).
  std::size_t partial_state_bytes = 64 << 20;
  // What sorts, groups and joins of whole inputs hold in memory, per slot, before they go to disk.
  std::size_t bounded_memory_bytes = std::size_t{128} << 20;
  // What the job may hold in memory in this process, in bytes (see memory_account.hpp); 0: no
  // limit. Unless it is set: half of the cgroup's limit or of the machine's memory
  // (docs/memory.md). State beyond it goes to files in `spill_directory`, which have no name there.
  std::size_t memory_limit_bytes = memory_limit_from_environment;
  std::string spill_directory = default_spill_directory;
  // How records reach windows, where the stream does not say.
  WindowStrategy window_strategy = WindowStrategy::automatic;
  // Small records may pass partial operators by an edge of their own; not in jobs that a JobManager
  // has from before there were such.
  bool bypass = true;
  CheckViews check_views = CheckViews::automatic;
  // Progress on standard error; the final summary too.
  bool quiet = true;
  bool progress_per_vertex = false;
  std::string explain;  // "", "text", "json", "dot"
  CheckpointOptions checkpoints;
  RestartStrategy restart;
  // Where a job that runs in this process answers HTTP while it does (docs/rest.md), host:port;
  // empty or "none": nowhere. Without a token one is made, which commands of the same user find.
  std::string rest_listen;
  // Runs the job on the cluster of this JobManager (host:port); empty: in this process. Needs a
  // program made by HUMMER_JOB (job.hpp), since the workers build the job again.
  std::string job_manager;
  // What the cluster's members know each other by: itself, or the file that holds it.
  std::string token;
  std::string token_file;
  // TLS on the links to the cluster: PEM files. The CA says whom
  // to trust; certificate and key are this side's. `tls_peer_name`: what the others' certificates
  // are for, where that is not their host's name or address.
  std::string tls_ca;
  std::string tls_certificate;
  std::string tls_key;
  std::string tls_peer_name;
  // execute() on a cluster returns once the JobManager has the job.
  bool detached = false;
  // The platform to run on; null: Linux. Tests pass the simulated one.
  Platform* platform = nullptr;
};

// A running job. Thread: any. A job of this process that no handle is left to is cancelled; one on
// a cluster goes on.
class JobHandle {
 public:
  struct Running;
  explicit JobHandle(std::shared_ptr<Running> running) : running_(std::move(running)) {}
  // Sources end their streams; what is under way is finished; the job succeeds.
  void stop();
  // Ends it as soon as every task has noticed; the result is E3001.
  void cancel();
  bool finished() const;
  // Saves the job's state in a new directory below `directory` (empty: where its checkpoints are)
  // and blocks until that is complete; its path, which checkpoints.restore takes. Nothing removes
  // it but you. The job must have checkpoints.directory; an interval is not needed. On the thread
  // that waits for the job.
  Result<std::string> savepoint(const std::string& directory = "");
  // The same, and the job ends with it: nothing behind it is processed or becomes visible, and
  // windows that are open stay in it, unemitted. The job's result is a success.
  Result<std::string> stop_with_savepoint(const std::string& directory = "");
  // Blocks until the job has ended. On a cluster, for a program made of its job: Ctrl-C detaches,
  // the job goes on, and the result is E3001.
  JobResult wait();
  // Tasks that stand still, such as "slot 0: sink[0] inside operator 'slow' for 12 s".
  std::vector<std::string> stuck() const;

 private:
  std::shared_ptr<Running> running_;
};

class StreamExecutionEnvironment {
 public:
  StreamExecutionEnvironment() : StreamExecutionEnvironment(EnvironmentOptions{}) {}
  explicit StreamExecutionEnvironment(EnvironmentOptions options);
  // Reads the engine's options from the command line and HUMMER_* variables. `--help` and a wrong
  // option are answered by execute(), which then runs nothing.
  StreamExecutionEnvironment(int argc, const char* const* argv);
  ~StreamExecutionEnvironment();
  StreamExecutionEnvironment(const StreamExecutionEnvironment&) = delete;
  StreamExecutionEnvironment& operator=(const StreamExecutionEnvironment&) = delete;

  // `--name value` of the command line; without a default a missing one is a usage error.
  std::string argument(const std::string& name, const std::string& description = "");
  std::string argument_or(const std::string& name, const std::string& otherwise,
                          const std::string& description = "");
  bool flag(const std::string& name, const std::string& description = "");

  // ---- sources ----

  // Text of a file, a directory or a glob pattern; plain, gzip or zstd.
  TextStream from_file(const std::string& path, FileSourceOptions options = {});
  // Lines from host:port until the peer closes.
  TextStream from_socket(const std::string& address);
  // In order, from one subtask. Strings become text views.
  // DataStream<T>, of text std::string_view.
  template <typename T>
  auto from_collection(std::vector<T> values);
  // Records made from their index by a pure function(std::uint64_t) → T, spread over the subtasks;
  // how many, how fast and with which event time: hummer/detail/operators/generator_source.hpp.
  template <typename Function, typename TimestampFunction = NoTimestamps>
  auto generate(Function function, GeneratorOptions options, TimestampFunction timestamp = {});
  // A source of your own: make() gives a SourceFunction<T> per subtask; see
  // hummer/source_function.hpp.
  template <typename T, typename Make>
    requires(!std::is_convertible_v<Make, std::shared_ptr<const OperatorFactory>>)
  auto from_source(std::string name, Make make, bool bounded);
  // The same with a SourceOperator per subtask.
  template <typename T>
  auto from_source(std::string name, std::shared_ptr<const OperatorFactory> factory, bool bounded,
                   const CapturedValues& captured = {});

  // ---- running ----

  // Waits for the end. Failures are in the result's status, and on standard error unless quiet.
  JobResult execute(const std::string& job_name);
  JobHandle execute_async(const std::string& job_name);
  // How the last job of this environment ended; a failure when none did.
  JobResult last_result() const;

  // They count as execute() finds them, whether they were set before or after the streams.
  EnvironmentOptions& options() { return options_; }
  const EnvironmentOptions& options() const { return options_; }

  // ---- for DataStream ----

  int add_node(NodeSpecification node);
  void add_edge(int from, int to, const EdgeSpecification& edge);
  // The streams can't be what the author said: execute() runs nothing and answers the first of
  // these, as E2000. `what` names the call, and what to do.
  void refuse(const std::string& what);
  // Only built here, to be compared with another build of the same job.
  bool is_rebuilt() const;
  // `name` and a number that is used once.
  std::string unique_name(const std::string& name) {
    return name + " " + std::to_string(++unique_names_);
  }
  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  EnvironmentOptions options_;
  int unique_names_ = 0;
  std::unique_ptr<Impl> impl_;
};

void apply_settings(StreamExecutionEnvironment& env, int node, const NodeSettings& settings);
bool is_bounded(StreamExecutionEnvironment& env, int node);

}  // namespace hummer
