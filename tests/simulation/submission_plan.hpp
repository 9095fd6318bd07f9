// Submission: one thing that the person at the simulated client wants done, and how far it is.
//
// It outlives the client's process: after a crash the person starts the client again and asks for
// the same. Drawn from the seed.
//
// Thread: that of the simulation.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "platform/random.hpp"
#include "protocol/message_stream.hpp"
#include "simulation/simulated_jobs.hpp"

namespace hummer::cluster_simulation {

struct Submission {
  // Drawn.
  int number = 0;
  JobKind kind = JobKind::count;
  Nanoseconds at = 0;
  std::uint64_t records = 0;
  std::uint32_t rate = 0;  // records per second; 0: no limit
  std::uint32_t parallelism = 1;
  std::uint32_t batch_records = 64;
  wire::DesiredState desired_state = wire::DESIRED_RUN;  // what the person asks for later
  Nanoseconds request_after = 0;
  bool submit_twice = false;
  // Of its edges, where its sources end: then it begins again, region by region, when it fails.
  ExchangeMode exchange = ExchangeMode::pipelined;
  std::uint64_t bytes_per_subtask = 0;  // behind blocking edges

  // How it goes.
  std::uint64_t id = 0;        // submission_id
  int round = 0;               // counted up when a JobManager forgot the job
  int first_job_manager = -1;  // which one (they are counted) ran when this round began
  int last_job_manager = -1;   // which one ended it
  bool request_sent = false;   // perhaps it came through
  // Which JobManager process has answered it; another one, which got the same submission, has not
  // heard of it.
  std::uint64_t requested_of = 0;
  bool done = false;  // ended, or refused
  wire::JobStatus last;

  // "job3" or, after the first round, "job3-2"
  std::string tag() const;
  std::string name() const { return job_name(kind, tag()); }
  // The next round: the same job, as a new one.
  void renew(Random& random);
};

std::vector<Submission> draw_submissions(Random& random);

// Built as a client does it.
Result<wire::SubmitJob> make_submission(Platform& platform, const Submission& submission);

}  // namespace hummer::cluster_simulation
