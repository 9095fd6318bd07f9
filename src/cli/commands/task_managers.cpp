#include "cli/commands/task_managers.hpp"

#include <fmt/format.h>

#include "cli/cluster_session.hpp"
#include "rest/job_json.hpp"

namespace hummer {
namespace {

std::string data_address(const wire::DataAddress& address) {
  return address.interface().empty() ? address.address()
                                     : address.interface() + "=" + address.address();
}

std::string print_json(const wire::TaskManagerList& list) {
  JsonWriter json;
  json.begin_object();
  json.begin_array("task_managers");
  for (const wire::TaskManagerStatus& worker : list.task_managers()) {
    json.begin_object();
    write_task_manager(json, worker);
    json.end_object();
  }
  json.end_array();
  json.end_object();
  return std::move(json).finish();
}

}  // namespace

int run_task_managers(const Invocation& invocation) {
  CommandLine line(
      "Lists the workers of a cluster: those alive, and those lost lately with the reason.");
  ClusterSession session(invocation.platform);
  session.add_options(line);
  session.add_output_options(line);
  if (const auto code = line.read(invocation, invocation.words)) return *code;
  if (Status status = session.open(); !status.ok()) return report(invocation.platform, status);

  wire::ClientRequest request;
  request.mutable_task_managers();
  const Result<wire::ClientAnswer> answer = session.ask(std::move(request));
  if (!answer.ok()) return report(invocation.platform, answer.status());
  if (session.json()) {
    session.print(print_json(answer->task_managers()));
    return 0;
  }
  Table table({"id", "state", "address", "slots", "free", "heartbeat", "jobs", "data", "reason"});
  for (const wire::TaskManagerStatus& worker : answer->task_managers().task_managers()) {
    std::string data;
    for (const auto& address : worker.data_addresses()) {
      data += (data.empty() ? "" : ",") + data_address(address);
    }
    std::string jobs;
    for (const std::uint64_t job : worker.jobs()) {
      jobs += (jobs.empty() ? "" : ",") + std::to_string(job);
    }
    std::string reason = worker.reason();
    for (const std::string& text : worker.stuck()) reason += (reason.empty() ? "" : "; ") + text;
    table.add({worker.id(), worker.lost() ? "lost" : "alive", worker.address(),
               std::to_string(worker.slots()), std::to_string(worker.slots_free()),
               fmt::format("{:.1f} s ago", worker.heartbeat_age_ms() / 1e3), jobs, data, reason});
  }
  session.print(table);
  return 0;
}

}  // namespace hummer
