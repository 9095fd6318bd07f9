// The settings of each program: what its options (option_programs.hpp) are read into. Those of jobs
// are hummer::EnvironmentOptions.
//
// Values as a user gives them, with the defaults; each command turns its own into what it starts.
// The members' units are in their names, else those of the options.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <hummer/detail/memory_account.hpp>

#include "platform/tls.hpp"

namespace hummer {

inline constexpr const char* default_job_manager = "127.0.0.1:6123";

// How a process shows that it belongs to the cluster, and whom it lets in.
struct CredentialSettings {
  std::string token;
  std::string token_file;
  TlsOptions tls;
};

// What a server logs, and how.
struct LogSettings {
  std::string level = "info";
  std::string format = "text";
};

// `hummer jobmanager`
struct JobManagerSettings {
  std::string listen = default_job_manager;
  std::string rest_listen;  // empty: the default where it is free; "none"
  std::string state_directory;
  double slot_timeout_s = 300;
  double heartbeat_interval_s = 1;
  double heartbeat_timeout_s = 5;
  bool insecure = false;
  LogSettings log;
  CredentialSettings credentials;
};

// `hummer taskmanager`
struct TaskManagerSettings {
  std::string job_manager = default_job_manager;
  int slots = 0;  // 0: one per processor
  std::string id;
  std::string host;
  std::vector<std::string> data_addresses;
  std::vector<std::string> data_interfaces;
  std::size_t memory_limit_bytes = memory_limit_from_environment;
  std::string spill_directory = default_spill_directory;
  std::string rdma_provider = "automatic";
  std::string rest_listen = "127.0.0.1:0";  // or "none"
  bool insecure = false;
  LogSettings log;
  CredentialSettings credentials;
};

// `hummer local`
struct LocalSettings {
  int workers = 2;
  int slots = 0;  // of each worker; 0: one per processor
  std::size_t memory_limit_bytes = memory_limit_from_environment;
  std::string spill_directory = default_spill_directory;
  std::string rdma_provider = "automatic";
  JobManagerSettings job_manager;
};

// The commands that ask a cluster: `hummer submit`, `list`, `status` ...
struct ClientSettings {
  std::string job_manager = default_job_manager;
  CredentialSettings credentials;
};

}  // namespace hummer
