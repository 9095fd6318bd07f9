#include "job_manager/client_requests.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "protocol/graph_messages.hpp"

namespace hummer {
namespace {

constexpr std::uint32_t longest_wait_ms = 60'000;

void fail(wire::ClientAnswer& answer, const Status& why) {
  to_message(why, *answer.mutable_failure());
}

Job* find_job(ClusterState& cluster, std::uint64_t id, wire::ClientAnswer& answer) {
  Job* job = cluster.jobs().find(id);
  if (job == nullptr) {
    fail(answer, Status(ErrorCode::not_found,
                        fmt::format("there is no job {} (any more); see the list of jobs", id)));
  }
  return job;
}

// Whoever was told of a change may rely on it: it is in the journal.
bool wait_for_journal(const JobRecording& recording, bool time_is_over,
                      wire::ClientAnswer& answer) {
  if (time_is_over) {
    const std::string& trouble = recording.trouble;
    fail(answer, Status(ErrorCode::timed_out,
                        fmt::format("the JobManager's journal has not taken it yet, and may; ask "
                                    "again, or see the list of jobs{}{}",
                                    trouble.empty() ? "" : ": ", trouble)));
  }
  return time_is_over;
}

bool submit(ClusterState& cluster, const wire::SubmitJob& request, bool time_is_over, Moment at,
            wire::ClientAnswer& answer) {
  LibraryStore& libraries = cluster.libraries();
  const bool known = cluster.jobs().find_submission(request.submission_id()) != nullptr;
  if (!known && request.library_bytes() > 0 && !libraries.complete(request.library_hash())) {
    if (request.library_bytes() > libraries.max_library_bytes()) {
      fail(answer, Status(ErrorCode::limit_exceeded,
                          fmt::format("the job library has {} bytes; the most is {}",
                                      request.library_bytes(), libraries.max_library_bytes())));
      return true;
    }
    answer.mutable_submitted()->set_library_offset(libraries.uploaded(request.library_hash()));
    return true;
  }
  const Result<std::uint64_t> job = cluster.submit(request, at);
  if (!job.ok()) {
    fail(answer, job.status());
    return true;
  }
  const JobRecording& recording = cluster.jobs().find(*job)->recording;
  if (!recording.taken()) return wait_for_journal(recording, time_is_over, answer);
  answer.mutable_submitted()->set_job(*job);
  return true;
}

void upload(ClusterState& cluster, const wire::LibraryPiece& piece, wire::ClientAnswer& answer) {
  const Result<std::uint64_t> offset = cluster.libraries().upload(piece);
  if (!offset.ok()) {
    fail(answer, offset.status());
    return;
  }
  answer.mutable_uploaded()->set_offset(*offset);
}

void describe_job(ClusterState& cluster, const Job& job, bool with_vertices, bool with_graph,
                  wire::JobStatus& into) {
  describe(job, with_vertices, with_graph, into);
  into.set_reason(cluster.waiting_reason(job));
  if (job.disk_hangs.empty()) return;
  into.add_stuck(
      fmt::format("JobManager: {} for {} s", job.disk_hangs, job.disk_hangs_for / seconds(1)));
}

bool query(ClusterState& cluster, const wire::JobQuery& request, bool time_is_over,
           wire::ClientAnswer& answer) {
  const Job* job = find_job(cluster, request.job(), answer);
  if (job == nullptr) return true;
  if (!time_is_over && !job->told_ended() && job->version == request.version_seen()) return false;
  describe_job(cluster, *job, true, request.with_graph(), *answer.mutable_job());
  return true;
}

void list(ClusterState& cluster, wire::ClientAnswer& answer) {
  wire::JobList& jobs = *answer.mutable_list();
  const auto& all = cluster.jobs().all();
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    describe_job(cluster, *at->second, false, false, *jobs.add_jobs());
  }
}

bool end(ClusterState& cluster, const wire::EndJob& request, bool time_is_over, Moment at,
         wire::ClientAnswer& answer) {
  const Status status = cluster.end(request.job(), request.desired_state(), at);
  if (!status.ok()) {
    fail(answer, status);
    return true;
  }
  const Job* job = find_job(cluster, request.job(), answer);
  if (job == nullptr) return true;
  if (!job->recording.complete()) return wait_for_journal(job->recording, time_is_over, answer);
  describe_job(cluster, *job, false, false, *answer.mutable_job());
  return true;
}

bool take_savepoint(ClusterState& cluster, const wire::TakeSavepoint& request, bool time_is_over,
                    Moment at, wire::ClientAnswer& answer) {
  Job* job = find_job(cluster, request.job(), answer);
  if (job == nullptr) return true;
  const std::optional<Result<std::string>> path = cluster.savepoint(*job, request, at);
  if (!path && !time_is_over) return false;
  if (path && !path->ok()) {
    fail(answer, path->status());
  } else {
    answer.mutable_savepoint()->set_path(path ? **path : std::string());
  }
  return true;
}

bool read_log(ClusterState& cluster, const wire::ReadLog& request, bool time_is_over,
              wire::ClientAnswer& answer) {
  const Job* job = find_job(cluster, request.job(), answer);
  if (job == nullptr) return true;
  if (!time_is_over && !job->told_ended() && request.from_line() >= job->log.end()) return false;
  wire::LogPage& page = *answer.mutable_log();
  job->log.page(request.from_line(), page);
  const std::uint64_t next = page.first_line() + static_cast<std::uint64_t>(page.lines_size());
  page.set_ended(job->told_ended() && next == job->log.end());
  return true;
}

// Where others reach what listens at `listens`: for one that listens everywhere, the host that its
// control connection came from.
std::string reachable(const std::string& listens, const std::string& seen_from) {
  const bool everywhere = listens.starts_with("0.0.0.0:") || listens.starts_with("[::]:");
  if (!everywhere) return listens;
  return seen_from.substr(0, seen_from.rfind(':')) + listens.substr(listens.rfind(':'));
}

void list_task_managers(ClusterState& cluster, Moment at, wire::ClientAnswer& answer) {
  wire::TaskManagerList& all = *answer.mutable_task_managers();
  const auto age_ms = [&](Nanoseconds heard) {
    return static_cast<std::uint32_t>(
        std::clamp<Nanoseconds>((at.now - heard) / milliseconds(1), 0, UINT32_MAX));
  };
  for (const auto& [session, worker] : cluster.workers().live()) {
    wire::TaskManagerStatus& out = *all.add_task_managers();
    out.set_id(worker->id());
    out.set_address(worker->address);
    out.set_slots(worker->registration.slots());
    out.set_slots_free(worker->free_slots);
    out.set_heartbeat_age_ms(age_ms(worker->last_heard));
    *out.mutable_data_addresses() = worker->registration.data_addresses();
    out.set_rest_address(reachable(worker->registration.rest_address(), worker->address));
    for (const Worker::Held& each : worker->held) out.add_jobs(each.job);
    for (const std::string& text : worker->stuck) out.add_stuck(text);
  }
  for (const LostWorker& worker : cluster.workers().lost()) {
    wire::TaskManagerStatus& out = *all.add_task_managers();
    out.set_id(worker.id);
    out.set_address(worker.address);
    out.set_slots(worker.slots);
    out.set_heartbeat_age_ms(age_ms(worker.last_heard));
    out.set_lost(true);
    out.set_reason(worker.reason);
  }
}

}  // namespace

bool answer_request(ClusterState& cluster, const wire::ClientRequest& request, bool time_is_over,
                    Moment at, wire::ClientAnswer& answer) {
  answer.Clear();
  answer.set_id(request.id());
  switch (request.body_case()) {
    case wire::ClientRequest::kSubmit:
      return submit(cluster, request.submit(), time_is_over, at, answer);
    case wire::ClientRequest::kUpload: upload(cluster, request.upload(), answer); break;
    case wire::ClientRequest::kJob: return query(cluster, request.job(), time_is_over, answer);
    case wire::ClientRequest::kList: list(cluster, answer); break;
    case wire::ClientRequest::kEnd: return end(cluster, request.end(), time_is_over, at, answer);
    case wire::ClientRequest::kLog: return read_log(cluster, request.log(), time_is_over, answer);
    case wire::ClientRequest::kSavepoint:
      return take_savepoint(cluster, request.savepoint(), time_is_over, at, answer);
    case wire::ClientRequest::kTaskManagers: list_task_managers(cluster, at, answer); break;
    case wire::ClientRequest::kProcessLog:
      fail(answer, {ErrorCode::invalid_argument, "the process's log is read over HTTP: /v1/logs"});
      break;
    case wire::ClientRequest::BODY_NOT_SET:
      fail(answer, Status(ErrorCode::protocol_error, "the JobManager does not know this request"));
      break;
  }
  return true;
}

Nanoseconds patience(const wire::ClientRequest& request) {
  if (request.has_submit() || request.has_end()) return milliseconds(longest_wait_ms);
  std::uint32_t wait_ms = 0;
  if (request.has_job()) wait_ms = request.job().wait_ms();
  if (request.has_log()) wait_ms = request.log().wait_ms();
  if (request.has_savepoint()) wait_ms = request.savepoint().wait_ms();
  return milliseconds(std::min(wait_ms, longest_wait_ms));
}

}  // namespace hummer
