#include "tera_commands.hpp"

#include <algorithm>
#include <charconv>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "job_command.hpp"
#include "job_options.hpp"
#include "key_sample.hpp"
#include "tera_rows.hpp"
#include "tera_validation.hpp"

namespace hummer {
namespace {

constexpr std::size_t sampled_keys = 100'000;

std::uint32_t threads_of(const Platform& platform, std::uint64_t asked) {
  return asked > 0 ? static_cast<std::uint32_t>(std::min<std::uint64_t>(asked, 1024))
                   : static_cast<std::uint32_t>(platform.processors());
}

}  // namespace

int run_tera_generate(const Invocation& invocation) {
  CommandLine line(
      "Makes rows as TeraGen of Hadoop does: 100 bytes, of which the first 10 are a random key. "
      "The "
      "same number of rows is the same output.");
  std::string rows_text, output;
  line.argument("ROWS", rows_text, "how many; 10000000 are a gigabyte");
  line.argument("OUT", output, "the output, a directory that does not exist");
  JobOptions options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  batch::Job job;
  job.name = "teragen";
  job.output = output;
  Status status = options.apply(job);
  std::uint64_t rows = 0;
  const auto [end, error] =
      std::from_chars(rows_text.data(), rows_text.data() + rows_text.size(), rows);
  if (status.ok() && (error != std::errc() || end != rows_text.data() + rows_text.size())) {
    status = Status(ErrorCode::invalid_argument,
                    fmt::format("ROWS: expected a whole number, not '{}'", rows_text));
  }
  if (!status.ok()) return report_usage(invocation.platform, status);
  job.input_format = batch::tera_rows_input(rows);
  job.output_format = batch::raw_output();
  job.reducers = 0;
  return run_job_command(invocation.platform, job, options.json());
}

int run_tera_sort(const Invocation& invocation) {
  CommandLine line(
      "Sorts records of 100 bytes by their first 10: the files of the output, one behind the "
      "other, "
      "are sorted as a whole.");
  std::vector<std::string> paths;
  line.arguments("PATH", paths,
                 "of records; the last word is the output, a directory that does not exist");
  JobOptions options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  batch::Job job;
  job.name = "terasort";
  Status status = options.apply_with_reducers(job, "sort");
  if (status.ok() && paths.size() < 2) {
    status = Status(ErrorCode::invalid_argument, "name an input and, as the last word, the output");
  }
  if (!status.ok()) return report_usage(platform, status);
  job.output = std::move(paths.back());
  paths.pop_back();
  job.inputs = std::move(paths);
  job.input_format = batch::fixed_input(batch::tera_key_bytes, batch::tera_value_bytes);
  job.output_format = batch::raw_output();
  job.threads = threads_of(platform, job.threads);
  if (job.reducers == batch::Job::per_thread) job.reducers = job.threads;
  auto sample = batch::sample_keys(platform, job, sampled_keys);
  if (!sample.ok()) return report(platform, sample.status());
  const auto cut_points = std::make_shared<const batch::CutPoints>(
      batch::cut_points_of(std::move(*sample), job.sort_order, job.reducers));
  job.partitioner = [cut_points] {
    return std::make_unique<batch::TotalOrderPartitioner>(cut_points);
  };
  return run_job_command(platform, job, options.json());
}

int run_tera_validate(const Invocation& invocation) {
  CommandLine line(
      "Checks that records of 100 bytes are sorted by their first 10, within and across files, in "
      "the order of their names; and adds up their checksums, which are those of the input when "
      "none was lost or changed.");
  std::vector<std::string> paths;
  std::uint64_t threads = 0;
  bool json = false;
  line.arguments("PATH", paths, "an output of terasort, or an input");
  line.option("--threads", threads, "that read at once [one per processor]");
  line.flag("--json", json, "one JSON object");
  line.footer("Exit code: 0 sorted, 1 not sorted, or failure, 2 wrong usage.");
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  Platform& platform = invocation.platform;
  WatchedJob watched(platform);
  const auto found = batch::validate_tera(platform, paths, threads_of(platform, threads),
                                          watched.control("teravalidate"));
  if (!found.ok()) return watched.report(found.status());
  std::string text;
  if (json) {
    JsonWriter writer;
    writer.begin_object();
    writer.field("files", found->files);
    writer.field("records", found->records);
    writer.field("checksum", fmt::format("{:x}", found->checksum));
    writer.field("out_of_order", found->out_of_order);
    writer.end_object();
    text = std::move(writer).finish() + "\n";
  } else {
    text = fmt::format("files\t{}\nrecords\t{}\nchecksum\t{:x}\nout of order\t{}\n", found->files,
                       found->records, found->checksum, found->out_of_order);
  }
  (void)platform.write_standard(1, text);
  if (found->out_of_order == 0) return 0;
  (void)platform.write_standard(
      2, fmt::format("hummer: not sorted: {} is in front of the record before it\n",
                     found->first_out_of_order));
  return 1;
}

}  // namespace hummer
