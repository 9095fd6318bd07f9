// JobManagerServer: the JobManager of a server command, as its options say, and who is let in: what
// `hummer jobmanager` and `hummer local` have in common.
//
//   auto server = JobManagerServer::make(platform, settings);
//   if (!server.ok()) return report(platform, server.status());
//   (*server)->start();                                     // listens, and logs where
//   serve_until(..., [&] { return !(*server)->look().ok(); }, ...);
//   (*server)->stop();
//
// Without token and certificates it makes a token (client/local_token.hpp), unless the
// settings say `insecure`: who may submit code is never decided by an omission.
//
// Lifecycle: make, start, stop; the platform outlives it. Thread: one that may call run_until.
// Errors: make: invalid_argument of options that don't fit, or with which others could submit code;
// those of credentials and files. start: address_in_use, with what to do; those of
// JobManager::start.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <hummer/status.hpp>

#include "api/options/settings.hpp"
#include "cli/server.hpp"
#include "client/credentials.hpp"
#include "client/local_token.hpp"
#include "job_manager/job_manager.hpp"
#include "observability/process_log.hpp"
#include "platform/platform.hpp"

namespace hummer {

class JobManagerServer {
 public:
  // Nothing listens yet.
  static Result<std::unique_ptr<JobManagerServer>> make(Platform& platform,
                                                        const JobManagerSettings& settings);

  Status start();
  // Why it leads no more; ok(): it does. To be asked once in a while: it keeps the token findable.
  Status look();
  void stop();

  // Of the process, of the module cli.
  const Logger& log() const { return log_; }
  // With what it lets others in; token empty: none, and tls null: plain.
  const Credentials& credentials() const { return credentials_; }
  // With the real port. REQUIRES: started.
  SocketAddress address() const { return job_manager_->address(); }

 private:
  JobManagerServer(Platform& platform, ProcessLogOptions log, Credentials credentials,
                   std::optional<LocalToken> made);
  // Makes the token findable that was made, or says that there is none: the path of the first file.
  Result<std::string> publish();

  Platform& platform_;
  ProcessLog process_log_;
  const Logger log_;
  const Credentials credentials_;
  const std::optional<LocalToken> made_;
  bool open_to_all_ = false;
  std::unique_ptr<JobManager> job_manager_;
  std::vector<SocketAddress> addresses_;  // that the token is for
  Nanoseconds next_publication_ns_ = 0;
};

}  // namespace hummer
