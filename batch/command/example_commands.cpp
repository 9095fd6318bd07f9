#include "example_commands.hpp"

#include <utility>

#include <fmt/format.h>

#include "job_command.hpp"
#include "job_options.hpp"
#include "output_directory.hpp"
#include "text_grep.hpp"
#include "text_join.hpp"
#include "word_count.hpp"

namespace hummer {
namespace {

// The last of the words is the output, those before it are inputs.
Status take_paths(std::vector<std::string> paths, batch::Job& job) {
  if (paths.size() < 2) {
    return Status(ErrorCode::invalid_argument, "name an input and, as the last word, the output");
  }
  job.output = std::move(paths.back());
  paths.pop_back();
  job.inputs = std::move(paths);
  return Status();
}

// The directory between the two jobs of a grep. Of "found/" it is beside "found", not in it.
std::string counts_beside(std::string output) {
  while (output.size() > 1 && output.back() == '/') output.pop_back();
  return output + "._counts";
}

constexpr const char* text_inputs =
    "texts: files, directories or patterns, plain or compressed by gzip or zstd; the last word is "
    "the output, a directory that does not exist";

}  // namespace

int run_word_count(const Invocation& invocation) {
  CommandLine line(
      "Counts words: lines of word, TAB and count, sorted by the words' bytes within each file of "
      "the output. A word is a run of bytes above 0x20.");
  std::vector<std::string> paths;
  bool unsorted = false;
  line.arguments("PATH", paths, text_inputs);
  line.flag("--unsorted", unsorted, "does not sort the words: in no order, and faster");
  JobOptions options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  batch::Job job;
  job.name = "wordcount";
  job.mapper = batch::factory_of<batch::WordMapper>();
  job.folder = batch::factory_of<batch::SumFolder>();
  if (!unsorted) job.reducer = batch::factory_of<batch::SumReducer>();
  Status status = take_paths(std::move(paths), job);
  if (status.ok()) status = options.apply_with_reducers(job, "count");
  if (!status.ok()) return report_usage(invocation.platform, status);
  return run_job_command(invocation.platform, job, options.json());
}

int run_grep(const Invocation& invocation) {
  CommandLine line(
      "Counts the texts that a pattern matches: lines of count, TAB and text, the most frequent "
      "first, in one file.");
  std::string pattern;
  std::vector<std::string> paths;
  std::uint64_t group = 0;
  line.argument("PATTERN", pattern, "a regular expression of RE2");
  line.arguments("PATH", paths, text_inputs);
  line.option("--group", group, "which group of the pattern counts; 0: all of the match [0]");
  JobOptions options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  batch::Job count;
  count.name = "grep";
  count.mapper = &batch::make_grep_mapper;
  count.combiner = batch::factory_of<batch::SumCombiner>();
  count.reducer = batch::factory_of<batch::SumReducer>();
  count.parameters = {{"pattern", pattern}, {"group", std::to_string(group)}};
  Status status = take_paths(std::move(paths), count);
  if (status.ok()) status = options.apply_with_reducers(count, "count");
  if (status.ok()) status = batch::check_pattern(pattern, group);
  if (!status.ok()) return report_usage(platform, status);

  batch::Job sort = count;
  sort.inputs = {counts_beside(sort.output)};
  sort.mapper = batch::factory_of<batch::CountFirstMapper>();
  sort.combiner = nullptr;
  sort.reducer = batch::factory_of<batch::CountFirstReducer>();
  sort.reducers = 1;
  count.output = sort.inputs.front();
  if (platform.files().stat(sort.output).ok()) {
    return report_usage(platform,
                        Status(ErrorCode::invalid_argument,
                               fmt::format("the output directory '{}' exists: name another one, or "
                                           "remove it",
                                           sort.output)));
  }
  WatchedJob watched(platform);
  const auto counted = batch::run_job(platform, count, watched.control(count.name));
  if (!counted.ok()) return watched.report(counted.status());
  auto sorted = batch::run_job(platform, sort, watched.control(sort.name));
  batch::remove_output(platform.files(), count.output);
  if (!sorted.ok()) return watched.report(sorted.status());
  sorted->map_tasks += counted->map_tasks;
  sorted->reduce_tasks += counted->reduce_tasks;
  sorted->seconds += counted->seconds;
  sorted->counters.add(counted->counters);
  (void)platform.write_standard(
      1, options.json() ? report_json(sort, *sorted) : report_text(sort, *sorted));
  return 0;
}

int run_join(const Invocation& invocation) {
  CommandLine line(
      "Joins two texts by their first field, which ends at a TAB: for each two lines with the same "
      "one a line with the field, the rest of the first and the rest of the second.");
  std::string first, second, output;
  line.argument("FIRST", first,
                "a text: a file, a directory or a pattern; the one with fewer "
                "lines of each field, since these are kept in memory");
  line.argument("SECOND", second, "another one");
  line.argument("OUT", output, "the output, a directory that does not exist");
  JobOptions options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  batch::Job job;
  job.name = "join";
  job.inputs = {first, second};
  job.output = output;
  job.mapper = batch::factory_of<batch::JoinMapper>();
  job.partitioner = batch::factory_of<batch::JoinPartitioner>();
  job.reducer = batch::factory_of<batch::JoinReducer>();
  job.sort_order = batch::join_sort_order();
  job.group_order = batch::join_group_order();
  job.has_group_order = true;
  const Status status = options.apply_with_reducers(job, "join");
  if (!status.ok()) return report_usage(invocation.platform, status);
  return run_job_command(invocation.platform, job, options.json());
}

}  // namespace hummer
