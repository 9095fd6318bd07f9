#include "job_runner.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

#include <fmt/format.h>

#include "input_splits.hpp"
#include "job_run.hpp"
#include "map_results.hpp"
#include "task_threads.hpp"
#include "tasks.hpp"

namespace hummer::batch {
namespace {

constexpr Nanoseconds progress_interval = seconds(1);
constexpr std::uint32_t most_threads = 1024;
constexpr std::uint32_t most_reducers = 65536;
constexpr std::size_t least_thread_bytes = std::size_t{128} << 10;

Status check_job(const Job& job, std::uint32_t threads) {
  const auto wrong = [](std::string message) {
    return Status(ErrorCode::invalid_argument, std::move(message));
  };
  if (job.mapper == nullptr || job.partitioner == nullptr ||
      job.input_format.make_reader == nullptr || job.output_format.make_writer == nullptr) {
    return wrong("a job has a mapper, a partitioner, and formats");
  }
  if (job.inputs.empty() && job.input_format.has_files) return wrong("a job needs an input");
  if (threads > most_threads) {
    return wrong(fmt::format("{} threads are too many: up to {}", threads, most_threads));
  }
  if (job.max_attempts == 0) return wrong("a task has one attempt or more");
  if (job.reducers != Job::per_thread && job.reducers > most_reducers) {
    return wrong(fmt::format("{} reducers are too many: up to {}", job.reducers, most_reducers));
  }
  if (job.memory_bytes / threads < least_thread_bytes) {
    return wrong(fmt::format("{} bytes of memory are too few for {} threads: {} or more",
                             job.memory_bytes, threads, threads * least_thread_bytes));
  }
  return Status();
}

class JobRunner {
 public:
  JobRunner(JobRun& run, const JobControl& control) : run_(run), control_(control), results_(run) {}

  Status run_all(std::vector<InputSplit> splits);
  JobReport& report() { return report_; }

 private:
  void map_on_thread(std::uint32_t thread);
  void reduce_on_thread();
  // Tries it until it succeeds, or has had all its attempts.
  template <typename Attempt>
  Status run_task(TaskContext::Kind kind, std::uint32_t number, Attempt attempt);
  Status map_with_own_file(const InputSplit& split, TaskContext& context);
  void run_phase(std::uint32_t tasks, const std::function<void(std::size_t)>& work);
  void fail(const Status& status);
  void look();

  JobRun& run_;
  const JobControl& control_;
  std::vector<InputSplit> splits_;
  MapResults results_;
  JobReport report_;
  std::atomic<std::uint32_t> next_task_{0};
  std::atomic<std::uint32_t> maps_done_{0};
  std::atomic<std::uint32_t> reduces_done_{0};
  std::mutex mutex_;  // of the report and of what follows
  Status failure_;
};

void JobRunner::fail(const Status& status) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_.ok() || failure_.code() == ErrorCode::cancelled) failure_ = status;
  }
  run_.is_stopping.store(true, std::memory_order_relaxed);
  run_.platform.notify_main();
}

void JobRunner::look() {
  if (control_.stop_asked && !run_.is_stopping.load(std::memory_order_relaxed) &&
      control_.stop_asked()) {
    fail(Status(ErrorCode::cancelled, "the job was stopped"));
  }
}

template <typename Attempt>
Status JobRunner::run_task(TaskContext::Kind kind, std::uint32_t number, Attempt attempt) {
  Status status;
  for (std::uint32_t count = 1; count <= run_.job.max_attempts; ++count) {
    TaskContext context(kind, number, count, run_.job.parameters, run_.is_stopping);
    status = attempt(context);
    const std::lock_guard lock(mutex_);
    if (status.ok()) {
      report_.counters.add(context.counters());
      return status;
    }
    if (status.code() == ErrorCode::cancelled) return status;
    ++report_.failed_attempts;
  }
  if (run_.job.max_attempts == 1) return status;
  return status.with_context(fmt::format("after {} attempts", run_.job.max_attempts));
}

Status JobRunner::map_with_own_file(const InputSplit& split, TaskContext& context) {
  auto collection = MapCollection::create(run_, context.number());
  if (!collection.ok()) return collection.status();
  HUMMER_TRY(run_map_task(run_, split, context, collection->get()));
  const std::string path = fmt::format("{}/map-{:05}.{}.out", run_.output.temporary_path(),
                                       context.number(), context.attempt());
  HUMMER_TRY(named_by_task(context, (*collection)->end_to_file(path)));
  (*collection)->count(context.counters());
  return results_.add_file(path, (*collection)->collector().metrics().largest_record_bytes);
}

void JobRunner::map_on_thread(std::uint32_t thread) {
  std::unique_ptr<MapCollection> shared;
  for (;;) {
    const std::uint32_t number = next_task_.fetch_add(1, std::memory_order_relaxed);
    if (number >= splits_.size() || run_.is_stopping.load(std::memory_order_relaxed)) break;
    if (run_.reducers > 0 && run_.shares_memory() && shared == nullptr) {
      auto made = MapCollection::create(run_, thread);
      if (!made.ok()) return fail(made.status());
      shared = std::move(*made);
    }
    const InputSplit& split = splits_[number];
    const Status status =
        run_task(TaskContext::Kind::map, number, [&](TaskContext& context) -> Status {
          if (run_.reducers > 0 && !run_.shares_memory()) return map_with_own_file(split, context);
          HUMMER_TRY(run_map_task(run_, split, context, shared.get()));
          if (run_.reducers == 0 && run_.writes_files()) run_.output.keep_part(context);
          return Status();
        });
    if (!status.ok()) return fail(status);
    maps_done_.fetch_add(1, std::memory_order_relaxed);
  }
  if (shared == nullptr || run_.is_stopping.load(std::memory_order_relaxed)) return;
  if (const Status status = shared->end(); !status.ok()) return fail(status);
  results_.add_collection(std::move(shared));
}

void JobRunner::reduce_on_thread() {
  for (;;) {
    const std::uint32_t number = next_task_.fetch_add(1, std::memory_order_relaxed);
    if (number >= run_.reducers || run_.is_stopping.load(std::memory_order_relaxed)) return;
    const Status status =
        run_task(TaskContext::Kind::reduce, number, [&](TaskContext& context) -> Status {
          auto streams = results_.streams(number);
          if (!streams.ok()) return streams.status();
          HUMMER_TRY(run_reduce_task(run_, context, std::move(*streams)));
          if (run_.writes_files()) run_.output.keep_part(context);
          return Status();
        });
    if (!status.ok()) return fail(status);
    reduces_done_.fetch_add(1, std::memory_order_relaxed);
  }
}

void JobRunner::run_phase(std::uint32_t tasks, const std::function<void(std::size_t)>& work) {
  next_task_.store(0, std::memory_order_relaxed);
  Nanoseconds said = run_.platform.now();
  run_on_threads(
      run_.platform, std::min(tasks, run_.threads), work,
      [&] {
        look();
        const Nanoseconds now = run_.platform.now();
        if (!control_.progress || now - said < progress_interval) return;
        said = now;
        control_.progress({report_.map_tasks, maps_done_.load(std::memory_order_relaxed),
                           report_.reduce_tasks, reduces_done_.load(std::memory_order_relaxed)});
      },
      progress_interval);
}

Status JobRunner::run_all(std::vector<InputSplit> splits) {
  splits_ = std::move(splits);
  report_.map_tasks = static_cast<std::uint32_t>(splits_.size());
  report_.reduce_tasks = run_.reducers;
  run_phase(report_.map_tasks,
            [this](std::size_t thread) { map_on_thread(static_cast<std::uint32_t>(thread)); });
  HUMMER_TRY(Status(failure_));
  HUMMER_TRY(results_.end_maps());
  run_phase(run_.reducers, [this](std::size_t) { reduce_on_thread(); });
  HUMMER_TRY(Status(failure_));
  results_.count(report_.counters);
  return Status();
}

}  // namespace

Result<JobReport> run_job(Platform& platform, const Job& job, const JobControl& control) {
  const Nanoseconds begin = platform.now();
  const std::uint32_t threads =
      job.threads > 0 ? job.threads : static_cast<std::uint32_t>(platform.processors());
  HUMMER_TRY(check_job(job, threads));
  const auto codec = codec_of(job.codec);
  if (!codec.has_value()) {
    return Status(
        ErrorCode::invalid_argument,
        fmt::format("no codec is called '{}': none, snappy, lz4, gzip or zstd", job.codec));
  }
  auto splits =
      plan_splits(platform.files(), job.inputs, job.input_format, job.split_bytes, threads);
  if (!splits.ok()) return splits.status();
  // Also where the format has no files: then it says that the job has succeeded.
  auto output = OutputDirectory::create(platform.files(), job.output);
  if (!output.ok()) return output.status();
  JobRun run{.platform = platform,
             .job = job,
             .codec = *codec,
             .threads = threads,
             .reducers = job.reducers == Job::per_thread ? threads : job.reducers,
             .spill_directory = job.spill_directory.empty()
                                    ? (*output)->temporary_path() + "/spills"
                                    : job.spill_directory,
             .output = **output};
  if (const std::size_t bytes = threads * run.collector_bytes();
      run.reducers > 0 && run.shares_memory() && bytes <= RecordArena::most_bytes) {
    run.collected_pages = std::make_shared<ZeroedPages>(bytes);
  }
  JobReport report;
  {
    JobRunner runner(run, control);
    HUMMER_TRY(runner.run_all(std::move(*splits)));
    report = std::move(runner.report());
  }
  auto files = (*output)->publish();
  if (!files.ok()) return files.status();
  report.files = std::move(*files);
  report.seconds = static_cast<double>(platform.now() - begin) * 1e-9;
  return report;
}

Result<JobReport> run_job(const Job& job) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  return run_job(*platform, job);
}

}  // namespace hummer::batch
