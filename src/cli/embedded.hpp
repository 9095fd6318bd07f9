// run_embedded: a job function, run in this process.
//
// The words are the job's command line, as an environment of a main() of its own reads it: engine
// options, the job's arguments, --help, --explain. Failures and the summary are on standard error.
//
// Thread: the main thread. Errors: the exit code, 0 success, 1 the job failed, 2 wrong usage, 130
// cancelled; a function that throws or never calls execute() fails by that name.
#pragma once

#include <string>
#include <vector>

#include <hummer/job.hpp>

namespace hummer {

int run_embedded(Platform& platform, JobFunction job, const std::string& program,
                 const std::vector<std::string>& words);

}  // namespace hummer
