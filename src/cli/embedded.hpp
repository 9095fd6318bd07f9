// run_embedded: a job function, run in this process, or sent to a cluster when the words say
// --job-manager.
//
// The words are the job's command line, as an environment of a main() of its own reads it: engine
// options, the job's arguments, --help, --explain. Failures and the summary are on standard error.
//
// Thread: the main thread. Errors: the exit code, 0 success, 1 the job failed, 2 wrong usage, 130
// cancelled; a function that throws or never calls execute() fails by that name.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <hummer/job.hpp>

#include "api/environment_impl.hpp"
#include "cli/job_file.hpp"

namespace hummer {

// Where the workers of a cluster find the job; asked only when it goes to one.
using FindOrigin = std::function<Result<JobOrigin>()>;
// This executable. `program` is how it was called.
FindOrigin own_origin(Platform& platform, std::string program);
FindOrigin library_origin(JobFile file, std::string path, std::string program);

int run_embedded(Platform& platform, JobFunction job, const std::string& program,
                 const std::vector<std::string>& words, const FindOrigin& find_origin);

}  // namespace hummer
