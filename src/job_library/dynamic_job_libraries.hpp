// DynamicJobLibraries: job libraries that were built by hummer_add_job, loaded into this process.
//
// Before any code of a library runs, its bytes must have the hash by which they were asked for, and
// its ELF note must hold this engine's ABI text. Only then is it loaded, privately (RTLD_LOCAL):
// two versions of one job run side by side, each with its own code. What was loaded stays until the
// process ends, since a job may leave anything behind that points into it.
//
// Thread: any; a load keeps other calls waiting.
// Errors: corrupt_file (another hash, no shared library, cut short), invalid_argument (no job
// library, built for another engine, no function that is a job), each with what to do.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "job_library/job_libraries.hpp"
#include "platform/dynamic_library.hpp"

namespace hummer {

class DynamicJobLibraries final : public JobLibraries {
 public:
  DynamicJobLibraries() = default;
  ~DynamicJobLibraries() override;
  DynamicJobLibraries(const DynamicJobLibraries&) = delete;
  DynamicJobLibraries& operator=(const DynamicJobLibraries&) = delete;

  JobFunction find(std::uint64_t hash) override;
  Result<JobFunction> load(std::uint64_t hash, std::string_view bytes) override;

 private:
  struct Loaded {
    std::unique_ptr<DynamicLibrary> library;
    JobFunction function = nullptr;
  };
  std::mutex mutex_;
  std::map<std::uint64_t, Loaded> loaded_;
};

// Whether these are the bytes of a job library for this engine. Runs nothing of it; a client asks
// before it sends a library anywhere.
Status check_job_library(std::string_view bytes);

}  // namespace hummer
