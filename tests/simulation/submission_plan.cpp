#include "simulation/submission_plan.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/job_build.hpp"
#include "graph/job_graph.hpp"
#include "protocol/graph_messages.hpp"
#include "simulation/fault_schedule.hpp"

namespace hummer::cluster_simulation {
namespace {

JobKind draw_kind(Random& random) {
  const std::uint64_t drawn = random.below(10);
  if (drawn < 4) return JobKind::count;
  if (drawn < 7) return JobKind::branches;
  return drawn < 9 ? JobKind::endless : JobKind::mistake;
}

}  // namespace

std::string Submission::tag() const {
  return round == 0 ? fmt::format("job{}", number) : fmt::format("job{}-{}", number, round + 1);
}

void Submission::renew(Random& random) {
  ++round;
  id = random.next() | 1;
  first_job_manager = -1;
  request_sent = false;
  requested_of = 0;
  last.Clear();
}

std::vector<Submission> draw_submissions(Random& random) {
  std::vector<Submission> plan(3 + random.below(4));
  for (std::size_t i = 0; i < plan.size(); ++i) {
    Submission& one = plan[i];
    one.number = static_cast<int>(i) + 1;
    one.kind = draw_kind(random);
    one.at = random.between(milliseconds(500), faults_end - seconds(4));
    one.records = 300 + random.below(2500);
    // Some are over at once, others run for seconds, so that faults find them at work.
    const auto lasts_s = static_cast<std::uint64_t>(random.between(1, 8));
    one.rate = random.chance(0.3) ? 0 : static_cast<std::uint32_t>(one.records / lasts_s);
    one.parallelism = static_cast<std::uint32_t>(1 + random.below(5));
    one.batch_records = random.chance(0.2) ? 7 : 128;
    one.submit_twice = random.chance(0.3);
    one.id = random.next() | 1;
    // Of a number that is drawn anyway.
    if (one.id % 5 < 2) one.exchange = ExchangeMode::blocking;
    if (one.id % 3 < 2) one.bytes_per_subtask = std::uint64_t{256} << (one.id % 8);
    if (one.kind == JobKind::endless) {
      one.rate = static_cast<std::uint32_t>(random.between(20, 100));
      one.desired_state = random.chance(0.5) ? wire::DESIRED_STOP : wire::DESIRED_CANCEL;
      one.request_after = random.between(milliseconds(1), seconds(12));
    } else if (random.chance(0.25)) {
      one.desired_state = random.chance(0.5) ? wire::DESIRED_STOP : wire::DESIRED_CANCEL;
      one.request_after = random.between(milliseconds(1), seconds(4));
    }
  }
  std::sort(plan.begin(), plan.end(),
            [](const Submission& a, const Submission& b) { return a.at < b.at; });
  return plan;
}

Result<wire::SubmitJob> make_submission(Platform& platform, const Submission& submission) {
  wire::SubmitJob job;
  job.set_submission_id(submission.id);
  job.set_library_hash(library_hash(submission.kind));
  job.set_library_name("built in");
  std::vector<std::string> arguments = {"--tag=" + submission.tag(),
                                        fmt::format("--records={}", submission.records),
                                        fmt::format("--rate={}", submission.rate)};
  for (const std::string& argument : arguments) job.add_arguments(argument);
  wire::JobOptions& options = *job.mutable_options();
  options.set_parallelism(submission.parallelism);
  options.set_batch_records(submission.batch_records);
  options.set_channel_credits(4);
  options.set_chaining(true);
  options.set_bypass(true);
  options.set_exchange(static_cast<std::uint32_t>(submission.exchange));
  options.set_bytes_per_subtask(submission.bytes_per_subtask);
  options.set_partial_state_bytes(std::uint64_t{1} << 20);

  EnvironmentOptions environment;
  environment.parallelism = static_cast<int>(submission.parallelism);
  environment.batch_records = submission.batch_records;
  environment.channel_credits = 4;
  environment.partial_state_bytes = std::size_t{1} << 20;
  environment.platform = &platform;
  Result<BuiltJob> built = build_job(job_function(submission.kind), arguments, environment);
  if (!built.ok()) return built.status();
  Result<JobGraph> graph = fuse(built->graph, {.exchange = submission.exchange});
  if (!graph.ok()) return graph.status();
  to_message(*graph, *job.mutable_graph());
  return job;
}

}  // namespace hummer::cluster_simulation
