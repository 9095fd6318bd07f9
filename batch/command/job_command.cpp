#include "job_command.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/json_writer.hpp"
#include "cli/table.hpp"

namespace hummer {

batch::JobControl WatchedJob::control(const std::string& name) {
  batch::JobControl control;
  control.stop_asked = [this] { return signals_->received() != 0; };
  if (!platform_.is_terminal(2)) return control;
  control.progress = [this, name](const batch::JobProgress& progress) {
    (void)platform_.write_standard(
        2, fmt::format("hummer: {}: map {} of {}, reduce {} of {}\n", name, progress.map_done,
                       progress.map_tasks, progress.reduce_done, progress.reduce_tasks));
  };
  return control;
}

int WatchedJob::report(const Status& failure) const {
  const int code = hummer::report(platform_, failure);
  return failure.code() == ErrorCode::cancelled && signals_->received() != 0 ? signals_->exit_code()
                                                                             : code;
}

std::string report_text(const batch::Job& job, const batch::JobReport& report) {
  std::string text =
      fmt::format("{}: {} map and {} reduce tasks in {}, to '{}'\n", job.name, report.map_tasks,
                  report.reduce_tasks, format_duration(report.seconds), job.output);
  for (const auto& [group, counters] : report.counters.groups()) {
    text += fmt::format("  {}\n", group);
    std::size_t width = 0;
    for (const auto& [name, counter] : counters) width = std::max(width, name.size());
    for (const auto& [name, counter] : counters) {
      text += fmt::format("    {:<{}}  {}\n", name, width, counter.value());
    }
  }
  return text;
}

std::string report_json(const batch::Job& job, const batch::JobReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("job", job.name);
  json.field("output", job.output);
  json.field("map_tasks", report.map_tasks);
  json.field("reduce_tasks", report.reduce_tasks);
  json.field("failed_attempts", report.failed_attempts);
  json.field("seconds", report.seconds);
  json.begin_array("files");
  for (const std::string& file : report.files) json.element(file);
  json.end_array();
  json.begin_object("counters");
  for (const auto& [group, counters] : report.counters.groups()) {
    json.begin_object(group);
    for (const auto& [name, counter] : counters) json.field(name, counter.value());
    json.end_object();
  }
  json.end_object();
  json.end_object();
  return std::move(json).finish() + "\n";
}

int run_job_command(Platform& platform, const batch::Job& job, bool json) {
  WatchedJob watched(platform);
  const auto report = batch::run_job(platform, job, watched.control(job.name));
  if (!report.ok()) return watched.report(report.status());
  (void)platform.write_standard(1, json ? report_json(job, *report) : report_text(job, *report));
  return 0;
}

}  // namespace hummer
