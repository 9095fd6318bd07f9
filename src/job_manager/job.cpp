#include "job_manager/job.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "protocol/graph_messages.hpp"

namespace hummer {
namespace {

constexpr std::size_t max_failure_bytes = 16 * 1024;
constexpr int max_stuck_lines = 32;
constexpr std::size_t max_stuck_bytes = 1024;

std::size_t metrics_per_vertex(const JobVertex& vertex) { return 4 + 6 * vertex.chain.size(); }

std::size_t metric_count(const JobGraph& graph) {
  std::size_t count = 0;
  for (const JobVertex& vertex : graph.vertices) count += metrics_per_vertex(vertex);
  return count;
}

// Index of the vertex's first metric; npos for one that isn't there.
std::size_t metrics_of(const JobGraph& graph, std::uint32_t vertex) {
  std::size_t at = 0;
  for (std::uint32_t v = 0; v < vertex; ++v) at += metrics_per_vertex(graph.vertices[v]);
  return at;
}

// Replaces the part's metrics and keeps the job's sums.
bool take_metrics(Job& job, JobPart& part, const wire::AttemptReport& report) {
  if (report.metrics_size() == 0) return false;
  const std::size_t count = metric_count(job.graph);
  if (part.metrics.empty()) part.metrics.resize(count);
  if (job.metrics.empty()) job.metrics.resize(count);
  bool changed = false;
  const auto set = [&](std::size_t at, std::uint64_t value) {
    if (part.metrics[at] == value) return;
    job.metrics[at] += value - part.metrics[at];
    part.metrics[at] = value;
    changed = true;
  };
  for (const wire::VertexMetrics& vertex : report.metrics()) {
    if (vertex.vertex() >= job.graph.vertices.size()) continue;
    std::size_t at = metrics_of(job.graph, vertex.vertex());
    set(at++, vertex.tasks_running());
    set(at++, vertex.tasks_finished());
    set(at++, vertex.busy_percent());
    set(at++, vertex.back_pressured_percent());
    const int operators = static_cast<int>(job.graph.vertices[vertex.vertex()].chain.size());
    for (int i = 0; i < std::min(operators, vertex.operators_size()); ++i) {
      const wire::OperatorMetrics& op = vertex.operators(i);
      set(at++, op.records_in());
      set(at++, op.records_out());
      set(at++, op.bytes());
      set(at++, op.records_late());
      set(at++, op.records_skipped());
      set(at++, op.bytes_expected());
    }
  }
  return changed;
}

bool take_stuck(JobPart& part, const wire::AttemptReport& report) {
  const bool equal =
      std::equal(part.stuck.begin(), part.stuck.end(), report.stuck().begin(),
                 report.stuck().begin() + std::min(report.stuck_size(), max_stuck_lines));
  if (equal) return false;
  part.stuck.clear();
  for (int i = 0; i < std::min(report.stuck_size(), max_stuck_lines); ++i) {
    part.stuck.push_back(report.stuck(i).substr(0, max_stuck_bytes));
  }
  return true;
}

bool take_log(Job& job, JobPart& part, const wire::AttemptReport& report) {
  bool changed = false;
  std::uint64_t number = report.first_log_line();
  for (const wire::LogLine& line : report.log_lines()) {
    if (number++ < part.log_lines_seen) continue;
    job.log.add(line.wall_time_ms(), line.text());
    part.log_lines_seen = number;
    changed = true;
  }
  return changed;
}

}  // namespace

void Failures::add(Status failure, bool follows, const std::string& task_manager) {
  std::optional<Status>& place = follows ? consequence : root_failure;
  // Of consequences, who lost a connection saw it first-hand and names the peer; "it gave up" names
  // nobody.
  const bool closer = place && place->code() != ErrorCode::connection_lost &&
                      failure.code() == ErrorCode::connection_lost && &place == &consequence;
  if (place && !closer) return;
  // A root failure is told before any consequence.
  if (&place == &root_failure || !root_failure) failed_on = task_manager;
  place = std::move(failure);
}

Status Failures::first() const {
  if (root_failure) return *root_failure;
  return consequence.value_or(Status());
}

Status Failures::reason() const {
  if (Status status = first(); !status.ok()) return status;
  return {ErrorCode::internal, "the job failed without a reason"};
}

bool PlacedAttempt::has_region_out() const {
  return std::any_of(regions.begin(), regions.end(),
                     [](const JobRegion& region) { return !region.is<JobRegion::Runs>(); });
}

bool PlacedAttempt::all_run() const {
  const auto begun =
      std::count_if(parts.begin(), parts.end(), [](const JobPart& part) { return part.begun; });
  return running_parts == static_cast<std::size_t>(begun);
}

wire::JobState Job::state() const {
  return std::visit([](const auto& now) { return now.shown; }, state_);
}

wire::JobState Job::told_state() const {
  return ended() && !told_ended() ? as<Ended>()->before : state();
}

PlacedAttempt* Job::placed() const {
  const Placed* now = as<Placed>();
  return now != nullptr ? now->attempt.get() : nullptr;
}

JobPart* Job::open_part(std::size_t index, std::uint64_t session) {
  PlacedAttempt* now = placed();
  if (now == nullptr || index >= now->parts.size()) return nullptr;
  JobPart& part = now->parts[index];
  return part.ended() || part.session != session ? nullptr : &part;
}

wire::DesiredState Job::desired_state(const JobPart& part) const {
  if (is<Unwinding>() || placed()->regions[part.region].is<JobRegion::Ending>()) {
    return wire::DESIRED_CANCEL;
  }
  // One that a savepoint stops goes on to its barrier.
  return is<Stopping>() && asked == wire::DESIRED_STOP ? wire::DESIRED_STOP : wire::DESIRED_RUN;
}

Status Job::failure() const {
  if (const Failing* failing = as<Failing>()) return failing->reason();
  const Failed* failed = as<Failed>();
  return failed != nullptr ? failed->failure : Status();
}

std::size_t planned_number(const Job& job, std::uint32_t chain) {
  std::size_t first = 0;
  auto subtask = static_cast<int>(chain);
  std::size_t v = 0;
  while (subtask >= job.parallelism[v]) {
    subtask -= job.parallelism[v];
    first += static_cast<std::size_t>(job.planned[v++]);
  }
  return first + static_cast<std::size_t>(subtask);
}

void end_part(Job& job, JobPart& part, wire::AttemptState state) {
  HUMMER_ASSERT(!part.ended() && job.placed()->open_parts > 0);
  part.state = state;
  part.wanted = false;
  part.stuck.clear();
  --job.placed()->open_parts;
  ++job.version;
}

bool report_part(Job& job, JobPart& part, const wire::AttemptReport& report, Moment at) {
  HUMMER_ASSERT(!part.ended());
  PlacedAttempt& placed = *job.placed();
  part.wanted = false;
  part.committed = std::max(part.committed, report.committed());
  bool metrics = take_metrics(job, part, report);
  metrics |= take_user_metrics(job.graph, report, part.user_metrics);
  metrics |= take_stuck(part, report);
  metrics |= take_log(job, part, report);
  if (metrics) ++job.version;
  const bool runs = part.state == wire::ATTEMPT_RUNNING;
  switch (report.state()) {
    case wire::ATTEMPT_PREPARING:
      if (!runs) part.state = wire::ATTEMPT_PREPARING;
      return false;
    case wire::ATTEMPT_RUNNING: part.state = wire::ATTEMPT_RUNNING; break;
    case wire::ATTEMPT_FINISHED:
      end_part(job, part, wire::ATTEMPT_FINISHED);
      ++placed.finished_parts;
      for (const wire::WrittenBytes& each : report.written()) {
        if (each.edge() < job.graph.edges.size()) part.written[each.edge()] = each.bytes();
      }
      break;
    case wire::ATTEMPT_FAILED: {
      Status failure = status_from(report.failure());
      std::string text = failure.message().substr(0, max_failure_bytes);
      const ErrorCode code = failure.ok() ? ErrorCode::internal : failure.code();
      fail_part(job, part, Status(code, std::move(text)), report.consequence(), at);
      break;
    }
    case wire::ATTEMPT_CANCELLED:
      if (job.desired_state(part) == wire::DESIRED_CANCEL || job.is<Job::Stopping>()) {
        end_part(job, part, wire::ATTEMPT_CANCELLED);
      } else {
        fail_part(job, part,
                  Status(ErrorCode::cancelled,
                         fmt::format("TaskManager '{}' cancelled its part", part.task_manager)),
                  true, at);
      }
      break;
    default: return false;  // a state that this engine doesn't know
  }
  if (!runs && (part.state == wire::ATTEMPT_RUNNING || part.state == wire::ATTEMPT_FINISHED)) {
    part.ran = true;
    ++placed.running_parts;
    ++job.version;
    if (placed.all_run()) {
      if (job.started_ms == 0) job.started_ms = at.wall_ms;
      if (job.is<Job::Deploying>()) transition(job, job_event::AllRan{}, at);
    }
  }
  return part.ended() || !runs;
}

void fail_part(Job& job, JobPart& part, Status failure, bool consequence, Moment at) {
  end_part(job, part, wire::ATTEMPT_FAILED);
  Failures* failures = job.as<Failures>();
  if (!job.is<Job::Unwinding>()) {
    JobRegion& region = job.placed()->regions[part.region];
    if (region.is<JobRegion::Runs>()) transition(region, job_event::Fails{}, at);
    failures = region.as<Failures>();
  }
  if (failures != nullptr) failures->add(std::move(failure), consequence, part.task_manager);
}

void replace_part(Job& job, JobPart& part, std::uint64_t session, std::string task_manager) {
  HUMMER_ASSERT(part.ended());
  PlacedAttempt& placed = *job.placed();
  for (std::size_t i = 0; i < part.metrics.size(); ++i) job.metrics[i] -= part.metrics[i];
  if (part.ran) --placed.running_parts;
  if (part.state == wire::ATTEMPT_FINISHED) --placed.finished_parts;
  JobPart next;
  next.region = part.region;
  next.host = part.host;
  next.session = session;
  next.task_manager = std::move(task_manager);
  part = std::move(next);
  ++placed.open_parts;
  ++job.version;
}

bool may_restart(const Failures& failures) {
  return !failures.root_failure || may_restart_after(*failures.root_failure);
}

void remember_failure(Job& job, std::uint32_t attempt, const Failures& why, std::int64_t wall_ms) {
  constexpr std::size_t remembered = 16;
  if (job.failures.size() == remembered) job.failures.erase(job.failures.begin());
  job.failures.push_back({attempt, wall_ms, why.failed_on, why.reason()});
}

}  // namespace hummer
