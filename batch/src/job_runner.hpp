// run_job with a platform of the caller's, and a say while it runs.
//
//   JobControl control;
//   control.stop_asked = [&] { return signals->received() != 0; };
//   control.progress = [&](const JobProgress& progress) { ... };
//   auto report = run_job(platform, job, control);
//
// A job that is asked to stop ends with `cancelled`, and leaves nothing behind.
//
// Thread: the main thread, which both functions are called on.
#pragma once

#include <cstdint>
#include <functional>

#include <hummer/batch/job.hpp>
#include <hummer/status.hpp>

#include "platform/platform.hpp"

namespace hummer::batch {

struct JobProgress {
  std::uint32_t map_tasks = 0;
  std::uint32_t map_done = 0;
  std::uint32_t reduce_tasks = 0;
  std::uint32_t reduce_done = 0;
};

struct JobControl {
  std::function<bool()> stop_asked;                  // none: nobody asks
  std::function<void(const JobProgress&)> progress;  // about every second
};

Result<JobReport> run_job(Platform& platform, const Job& job, const JobControl& control = {});

}  // namespace hummer::batch
