// JobLibraries: where a process finds the functions that build jobs.
//
// A job library is known by its hash: XXH3-64 of the file's bytes, or of the running executable in
// application mode, whose job is built in. A process loads each hash once and keeps it loaded until
// it ends (user code may have left anything behind); two versions of one library are two hashes and
// live side by side.
//
// Forms: job_library/dynamic_job_libraries.hpp loads shared libraries; this file's
// BuiltInJobLibraries is a table, for application mode and simulations.
//
// Thread: any; calls may block for a file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include <hummer/job.hpp>
#include <hummer/status.hpp>

namespace hummer {

class JobLibraries {
 public:
  virtual ~JobLibraries() = default;
  // Null when the bytes are needed first.
  virtual JobFunction find(std::uint64_t hash) = 0;
  // Takes the bytes of a library. Refused before any of its code runs, with the reason, when it is
  // no job library, is damaged (hash) or was built for another engine.
  virtual Result<JobFunction> load(std::uint64_t hash, std::string_view bytes) = 0;
};

class BuiltInJobLibraries final : public JobLibraries {
 public:
  void add(std::uint64_t hash, JobFunction function) { functions_[hash] = function; }
  JobFunction find(std::uint64_t hash) override {
    const auto found = functions_.find(hash);
    return found == functions_.end() ? nullptr : found->second;
  }
  Result<JobFunction> load(std::uint64_t hash, std::string_view bytes) override;

 private:
  std::map<std::uint64_t, JobFunction> functions_;
};

}  // namespace hummer
