// The options of the processes of a cluster, and of the commands that ask one.
#include "api/options/option_programs.hpp"
#include "api/options/shared_rows.hpp"

namespace hummer {
namespace {

constexpr Option slots_row{.name = "slots",
                           .value = "N",
                           .unit = "slots",
                           .least = 1,
                           .most = 4096,
                           .otherwise = "one per processor",
                           .description = "parts of jobs that run at once"};

using Manager = JobManagerSettings;

// Of a JobManager, but for those of credential_rows; `path` leads to its settings, if they are part
// of others.
template <auto... path>
constexpr auto manager_rows() {
  return std::array{
      field<path..., &Manager::listen>(
          {.name = "listen",
           .value = "ADDRESS",
           .type = OptionType::address,
           .description = "host:port where workers and clients reach it; port 0: any"}),
      field<path..., &Manager::rest_listen>(
          {.name = "rest-listen",
           .value = "ADDRESS",
           .type = OptionType::address,
           .choices = no_address,
           .otherwise = "127.0.0.1:8081, where it is free",
           .description = "host:port of its own for the HTTP interface, which --listen answers "
                          "too: REST, /metrics, /healthz; none: without it"}),
      field<path..., &Manager::state_directory>(
          {.name = "state-dir",
           .value = "DIR",
           .otherwise = "none",
           .description = "directory of its own where it keeps jobs, so that they outlive it"}),
      field<path..., &Manager::slot_timeout_s>(
          {.name = "slot-timeout",
           .value = "SECONDS",
           .unit = "s",
           .least = 0,
           .most = 1e6,
           .description = "how long a job waits for its slots"}),
      field<path..., &Manager::heartbeat_interval_s>(
          {.name = "heartbeat-interval",
           .value = "SECONDS",
           .unit = "s",
           .least = 0.01,
           .most = 3600,
           .description = "time between a worker's states"}),
      field<path..., &Manager::heartbeat_timeout_s>(
          {.name = "heartbeat-timeout",
           .value = "SECONDS",
           .unit = "s",
           .least = 0.02,
           .most = 36000,
           .description = "silence after which a worker counts as lost; at least twice the "
                          "interval"}),
      field<path..., &Manager::insecure>(insecure_row),
      field<path..., &Manager::log, &LogSettings::level>(log_level_row),
      field<path..., &Manager::log, &LogSettings::format>(log_format_row),
  };
}

template <auto... path>
constexpr auto verify_peer_rows() {
  return std::array{
      field<path..., &Manager::credentials, &CredentialSettings::tls, &TlsOptions::verify_peer>(
          {.name = "tls-verify-peer",
           .description = "TLS: let in only who has a certificate of the CA, clients too"}),
  };
}

constexpr auto job_manager_rows =
    options_of(manager_rows<>(), credential_rows<&Manager::credentials>(), verify_peer_rows<>());

using Worker = TaskManagerSettings;

constexpr auto task_manager_rows = options_of(
    std::array{
        field<&Worker::job_manager>(job_manager_row),
        field<&Worker::slots>(slots_row),
        field<&Worker::id>({.name = "id",
                            .value = "NAME",
                            .otherwise = "drawn",
                            .description = "name in the cluster, of one live worker at a time"}),
        field<&Worker::host>({.name = "host",
                              .value = "NAME",
                              .otherwise = "the machine's",
                              .description = "name of the machine: workers with the same one share "
                                             "it"}),
        field<&Worker::data_addresses>(
            {.name = "data-address",
             .value = "ADDRESS",
             .type = OptionType::address,
             .otherwise = "127.0.0.1:0",
             .description = "[INTERFACE=]HOST:PORT where other workers send data; once per "
                            "interface; port 0: any"}),
        field<&Worker::data_interfaces>(
            {.name = "data-interface",
             .value = "NAME",
             .description = "the address of this network interface likewise"}),
        field<&Worker::memory_limit_bytes>(memory_limit_row),
        field<&Worker::spill_directory>(spill_directory_row),
        field<&Worker::rdma_provider>(rdma_provider_row),
        field<&Worker::rest_listen>(
            {.name = "rest-listen",
             .value = "ADDRESS",
             .type = OptionType::address,
             .choices = no_address,
             .description = "host:port of the HTTP interface: /metrics, /healthz, /v1/logs; port "
                            "0: any; none: without it"}),
        field<&Worker::insecure>(insecure_row),
        field<&Worker::log, &LogSettings::level>(log_level_row),
        field<&Worker::log, &LogSettings::format>(log_format_row),
    },
    credential_rows<&Worker::credentials>());

using Local = LocalSettings;

constexpr Option slots_of_each_row = [] {
  Option row = slots_row;
  row.description = "parts of jobs that run at once in each worker";
  return row;
}();

constexpr Option memory_limit_of_all_row = [] {
  Option row = memory_limit_row;
  row.description =
      "what jobs may hold in memory, in all workers together, such as 4G; each has an equal part, "
      "and state beyond it goes to disk; 0: no limit (docs/memory.md)";
  return row;
}();

constexpr auto local_rows =
    options_of(std::array{field<&Local::workers>({.name = "workers",
                                                  .value = "N",
                                                  .unit = "workers",
                                                  .least = 1,
                                                  .most = 64,
                                                  .description = "how many workers there are"}),
                          field<&Local::slots>(slots_of_each_row),
                          field<&Local::memory_limit_bytes>(memory_limit_of_all_row),
                          field<&Local::spill_directory>(spill_directory_row),
                          field<&Local::rdma_provider>(rdma_provider_row)},
               manager_rows<&Local::job_manager>(),
               credential_rows<&Local::job_manager, &Manager::credentials>(),
               verify_peer_rows<&Local::job_manager>());

constexpr auto client_rows =
    options_of(std::array{field<&ClientSettings::job_manager>(job_manager_row)},
               credential_rows<&ClientSettings::credentials>());

}  // namespace

template <>
const OptionProgram& program_of<JobManagerSettings>() {
  static const JobManagerSettings defaults;
  static const OptionProgram program{"jobmanager", "`hummer jobmanager`", job_manager_rows,
                                     &defaults};
  return program;
}

template <>
const OptionProgram& program_of<TaskManagerSettings>() {
  static const TaskManagerSettings defaults;
  static const OptionProgram program{"taskmanager", "`hummer taskmanager`", task_manager_rows,
                                     &defaults};
  return program;
}

template <>
const OptionProgram& program_of<LocalSettings>() {
  static const LocalSettings defaults;
  static const OptionProgram program{"local", "`hummer local`", local_rows, &defaults};
  return program;
}

template <>
const OptionProgram& program_of<ClientSettings>() {
  static const ClientSettings defaults;
  static const OptionProgram program{
      "client", "the commands that ask a cluster: `hummer submit`, `list`, `status` and the like",
      client_rows, &defaults};
  return program;
}

}  // namespace hummer
