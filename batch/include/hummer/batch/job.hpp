// Job: a MapReduce job, and run_job, which runs it in this process.
//
//   Job job;
//   job.name = "WordCount";
//   job.inputs = {"texts/"};
//   job.output = "counts";
//   job.mapper = factory_of<WordMapper>();
//   job.combiner = factory_of<SumCombiner>();
//   job.reducer = factory_of<SumReducer>();
//   Result<JobReport> report = run_job(job);
//
// Inputs are files, directories or patterns; they are cut into splits, and each split is a map
// task. The output is a directory that must not exist: files part-m-00000 … of a job without
// reducers, part-r-00000 …, one for each reducer, and _SUCCESS when all are whole. Until then they
// are below its folder _temporary, and whatever fails, or stops the job, removes what it has made;
// so nobody takes a half for a whole.
//
// `threads` tasks run at once. The memory is shared out between them; map tasks that run one after
// another on a thread collect into the same memory, so what fits never comes to a disk. But where
// a task may be tried again (`max_attempts` above 1) what it has collected must be its own, and
// each map task ends with a file. By default there is one attempt: in one process, on one machine,
// a task that failed once most often fails again in the same way, and the file of each task would
// be what costs most.
//
// Failures name the task and, of mappers, the record at which it was. Counters have the names of
// Hadoop's; those of attempts that failed do not count.
//
// Thread: run_job blocks the one that calls it; factories are called from several.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/batch/combiner.hpp>
#include <hummer/batch/counters.hpp>
#include <hummer/batch/folder.hpp>
#include <hummer/batch/mapper.hpp>
#include <hummer/batch/partitioner.hpp>
#include <hummer/batch/record_reader.hpp>
#include <hummer/batch/record_writer.hpp>
#include <hummer/batch/reducer.hpp>
#include <hummer/batch/task_context.hpp>
#include <hummer/status.hpp>

namespace hummer::batch {

template <typename Base>
using Factory = std::function<std::unique_ptr<Base>()>;

// Makes objects of a class; converts to the factory of what it derives from.
template <typename Class>
auto factory_of() {
  return [] { return std::make_unique<Class>(); };
}

struct Job {
  std::string name = "Job";
  std::vector<std::string> inputs;
  std::string output;

  Factory<Mapper> mapper = factory_of<IdentityMapper>();
  Factory<Combiner> combiner;  // none: records stay as they are
  Factory<Reducer> reducer;    // none: IdentityReducer, or the folder where there is one
  Factory<Folder> folder;      // of what mappers emit, instead of a combiner
  Factory<Partitioner> partitioner = factory_of<HashPartitioner>();
  InputFormat input_format = text_input();
  OutputFormat output_format = text_output();

  KeyOrder sort_order;   // of keys on their way to a reducer
  KeyOrder group_order;  // what is one group; agrees with the other, and may be coarser
  bool has_group_order = false;

  static constexpr std::uint32_t per_thread = ~std::uint32_t{0};
  std::uint32_t reducers = per_thread;  // 0: none, what mappers emit is the output
  std::uint32_t threads = 0;            // 0: one per processor
  std::size_t memory_bytes = std::size_t{512} << 20;
  std::uint64_t split_bytes = 0;  // 0: so that each thread gets several, of 1 to 128 MiB
  std::uint32_t max_attempts = 1;
  std::string codec = "none";   // of what is spilled
  std::string spill_directory;  // empty: in the output's folder _temporary
  Parameters parameters;
};

struct JobReport {
  std::uint32_t map_tasks = 0;
  std::uint32_t reduce_tasks = 0;
  std::uint64_t failed_attempts = 0;
  double seconds = 0;
  std::vector<std::string> files;  // of the output, without _SUCCESS
  Counters counters;
};

// On this machine's platform. Errors: invalid_argument, what can't be asked for, such as an output
// that exists; not_found, an input; user_function_failed; those of disks.
Result<JobReport> run_job(const Job& job);

// Names of groups of counters.
inline constexpr std::string_view framework_counters = "Map-Reduce Framework";
inline constexpr std::string_view input_counters = "File Input Format Counters";
inline constexpr std::string_view output_counters = "File Output Format Counters";

}  // namespace hummer::batch
