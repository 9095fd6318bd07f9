// JobOptions: what all jobs of `hummer batch` can be told.
//
//   JobOptions options(line);                 // --reducers, --threads, --memory ...
//   if (const auto code = line.read(...)) return *code;
//   if (Status status = options.apply(job); !status.ok()) return report_usage(platform, status);
//
// Lifecycle: made before line.read; lives as long as the line. Thread: the main thread. Errors:
// invalid_argument, a value that can't be.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <hummer/batch/job.hpp>
#include <hummer/status.hpp>

#include "cli/command_line.hpp"

namespace hummer {

class JobOptions {
 public:
  explicit JobOptions(CommandLine& line);

  Status apply(batch::Job& job) const;
  // Of jobs whose mappers emit no result: refused without reducers, by what the job is.
  Status apply_with_reducers(batch::Job& job, std::string_view job_is) const;
  bool json() const { return json_; }

 private:
  std::string reducers_;
  std::uint64_t threads_ = 0;
  std::uint64_t max_attempts_ = 1;
  std::string memory_;
  std::string split_size_;
  std::string codec_ = "none";
  std::string spill_directory_;
  bool json_ = false;
};

// Says on standard error what is wrong with the words; 2.
int report_usage(Platform& platform, const Status& status);

}  // namespace hummer
