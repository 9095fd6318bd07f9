#include "job_options.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "base/option.hpp"

namespace hummer {
namespace {

constexpr Option size_option = {.name = "size", .type = OptionType::size, .least = 1};

Result<std::uint64_t> bytes_in(const std::string& name, const std::string& text) {
  const auto value = parse_option(size_option, std::span(&text, 1));
  if (!value.ok()) return value.status().with_context(name);
  return static_cast<std::uint64_t>(value->integer);
}

std::uint32_t limited(std::uint64_t number) {
  // What is too much for the job is said by the job.
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(number, std::numeric_limits<std::uint32_t>::max() - 1));
}

}  // namespace

JobOptions::JobOptions(CommandLine& line) {
  line.option("--reducers", reducers_,
              "reduce tasks, and files of the output; 0: what mappers emit is the output [as many "
              "as threads]");
  line.option("--threads", threads_, "tasks that run at once [one per processor]");
  line.option("--memory", memory_, "for all of them together, such as 512MiB [512MiB]");
  line.option("--split-size", split_size_,
              "of a map task's input, such as 64MiB [by the size of all, 1 to 128 MiB]");
  line.option("--codec", codec_, "of what is spilled to disks [none]",
              {"none", "snappy", "lz4", "gzip", "zstd"});
  line.option("--spill-directory", spill_directory_,
              "for what has no room in memory [in the output, while it is made]");
  line.option("--max-attempts", max_attempts_,
              "of a task, before the job fails; above 1 each map task writes a file [1]");
  line.flag("--json", json_, "one JSON object with the counters, instead of text");
}

Status JobOptions::apply(batch::Job& job) const {
  if (!reducers_.empty()) {
    std::uint32_t reducers = 0;
    const auto [end, error] =
        std::from_chars(reducers_.data(), reducers_.data() + reducers_.size(), reducers);
    if (error != std::errc() || end != reducers_.data() + reducers_.size()) {
      return Status(ErrorCode::invalid_argument,
                    "--reducers: expected a whole number, not '" + reducers_ + "'");
    }
    job.reducers = reducers;
  }
  job.threads = limited(threads_);
  job.max_attempts = limited(max_attempts_);
  if (!memory_.empty()) {
    const auto bytes = bytes_in("--memory", memory_);
    if (!bytes.ok()) return bytes.status();
    job.memory_bytes = static_cast<std::size_t>(*bytes);
  }
  if (!split_size_.empty()) {
    const auto bytes = bytes_in("--split-size", split_size_);
    if (!bytes.ok()) return bytes.status();
    job.split_bytes = *bytes;
  }
  job.codec = codec_;
  job.spill_directory = spill_directory_;
  return Status();
}

Status JobOptions::apply_with_reducers(batch::Job& job, std::string_view job_is) const {
  HUMMER_TRY(apply(job));
  if (job.reducers > 0) return Status();
  return Status(ErrorCode::invalid_argument,
                fmt::format("--reducers: a {} needs one or more", job_is));
}

int report_usage(Platform& platform, const Status& status) {
  (void)platform.write_standard(2, "hummer: " + status.to_string() + "\n");
  return 2;
}

}  // namespace hummer
