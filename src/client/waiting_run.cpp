#include "client/waiting_run.hpp"

#include <utility>

#include "client/poll_intervals.hpp"

namespace hummer {

JobResult WaitingRun::keep(JobResult result) {
  waited_ = true;
  result_ = std::move(result);
  return result_;
}

JobResult WaitingRun::wait() {
  if (waited_) return result_;
  Platform& platform = *context_.platform;
  Progress progress(platform, context_.options.quiet, context_.options.progress_per_vertex);
  std::unique_ptr<SignalWatch> signals;
  if (context_.from_command_line) signals = platform.watch_signals();
  bool told = false;
  const auto signalled = [&] { return !told && signals != nullptr && signals->received() != 0; };
  for (;;) {
    const RunEnd end =
        platform.run_until([&] { return finished() || signalled(); }, platform.now() + tick_ns);
    for (const std::string& note : take_notes()) progress.note(note);
    if (finished()) break;
    if (signalled()) {
      told = true;
      if (std::optional<JobResult> left = asked_to_end(signals->received(), progress)) {
        *context_.last_result = *left;
        return keep(std::move(*left));
      }
    }
    if (end == RunEnd::deadlock) {
      JobResult result = context_.failed({ErrorCode::internal, "the job can never go on"});
      context_.keep_and_report(result);
      return keep(std::move(result));
    }
    show(progress);
  }
  JobResult ended = result();
  progress.summarize(ended);
  if (const std::string text = farewell(ended); !text.empty()) progress.note(text);
  context_.keep_and_report(ended);
  return keep(std::move(ended));
}

void WaitingRun::show(Progress& progress) {
  const Nanoseconds now = context_.platform->now();
  const wire::JobStatus status = look();
  if (status.started_ms() == 0) return;
  progress.tick([&] { return progress_metrics(so_far(status)); });
  if (status.stuck_size() == 0 || now - last_stuck_report_ <= stuck_report_ns) return;
  last_stuck_report_ = now;
  for (const std::string& text : stuck_in(status)) progress.note("hummer: " + text);
}

}  // namespace hummer
