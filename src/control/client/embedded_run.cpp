#include "control/client/embedded_run.hpp"

#include "control/client/drain.hpp"
#include "control/client/poll_intervals.hpp"

namespace hummer {

EmbeddedRun::EmbeddedRun(JobSurroundings surroundings, std::unique_ptr<Deployment> deployment)
    : surroundings_(std::move(surroundings)),
      deployment_(std::move(deployment)),
      watch_(stuck_patience_ns),
      began_(surroundings_.platform->now()) {}

EmbeddedRun::~EmbeddedRun() {
  if (!complete_) {
    deployment_->cancel();
    (void)surroundings_.platform->run_until([&] { return deployment_->finished(); }, never);
    *surroundings_.last_result =
        surroundings_.failed({ErrorCode::cancelled, "nobody waited for the job"});
  }
}

Status EmbeddedRun::start() {
  Status status = deployment_->start();
  complete_ = !status.ok();  // nothing runs
  return status;
}

std::vector<std::string> EmbeddedRun::stuck() {
  if (complete_) return {};
  return watch_.look(*deployment_, surroundings_.platform->now());
}

JobResult EmbeddedRun::wait() {
  if (complete_) return result_;
  Platform& platform = *surroundings_.platform;
  const auto seconds_so_far = [&] { return static_cast<double>(platform.now() - began_) / 1e9; };
  Progress progress(platform, surroundings_.options.quiet,
                    surroundings_.options.progress_per_vertex);
  if (const std::string pinning = deployment_->describe_pinning(); !pinning.empty()) {
    progress.note("hummer: " + pinning);
  }
  Drain drain(surroundings_);
  Nanoseconds last_stuck_report = 0;
  while (true) {
    const RunEnd end = platform.run_until([&] { return deployment_->finished() || drain.due(); },
                                          platform.now() + tick_ns);
    if (deployment_->finished()) break;
    if (drain.due()) {
      deployment_->stop();
      progress.note(drain.begin());
    }
    if (end == RunEnd::deadlock) {
      complete_ = true;
      result_ = surroundings_.failed({ErrorCode::internal, "the job can never go on"});
      surroundings_.keep_and_report(result_);
      return result_;
    }
    progress.tick([&] { return progress_figures(*deployment_, seconds_so_far()); });
    const Nanoseconds now = platform.now();
    const std::vector<std::string> stuck = watch_.look(*deployment_, now);
    if (!stuck.empty() && now - last_stuck_report > stuck_report_ns) {
      last_stuck_report = now;
      for (const std::string& text : stuck) progress.note("hummer: " + text);
    }
  }
  Status status = deployment_->finish();
  result_ = deployment_->figures();
  result_.status = std::move(status);
  // As SupervisedRun: to the job's end, whenever it is waited for.
  result_.seconds = static_cast<double>(deployment_->ended_at() - began_) / 1e9;
  complete_ = true;
  progress.summarize(result_);
  if (const std::string early = drain.end(result_); !early.empty()) progress.note(early);
  surroundings_.keep_and_report(result_);
  return result_;
}

}  // namespace hummer
