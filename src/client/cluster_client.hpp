// ClusterClient: requests to a JobManager, one at a time, by REST or by the control protocol
// (job_manager_link.hpp).
//
// Each call connects when there is no connection, asks, and repeats itself over a new
// connection when the old one broke or no answer came, until `patience` has passed: all
// requests are idempotent. Status failures: those of the network (naming the address), of
// the handshake (token, version), and what the JobManager answered.
//
// Thread: coroutines on one executor. Lifecycle: close() ends a waiting call with cancelled.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "platform/platform.hpp"
#include "platform/tls.hpp"
#include "protocol/message_stream.hpp"

namespace hummer {

struct ClusterClientOptions {
  std::string job_manager = "127.0.0.1:6123";
  std::string token;
  std::shared_ptr<TlsContext> tls;  // null: plain
  bool over_rest = false;           // by the REST API; else by the control protocol
  Nanoseconds patience_ns = seconds(10);
  Nanoseconds answer_timeout_ns = seconds(3);  // beyond what the request itself waits for
  // Who numbered the jobs that are asked for (ClusterClient::numbered_by); 0: whoever answers.
  std::uint64_t numbered_by = 0;
  MessageFaults* faults = nullptr;  // tests
};

class ClusterClient {
 public:
  ClusterClient(Platform& platform, Executor& executor, ClusterClientOptions options);
  ~ClusterClient();
  ClusterClient(const ClusterClient&) = delete;
  ClusterClient& operator=(const ClusterClient&) = delete;

  // Any request; its id is set here. A failure inside the answer comes back as Status.
  Task<Result<wire::ClientAnswer>> ask(wire::ClientRequest request);
  // The job's number. Sends the library's bytes only when the JobManager lacks them.
  Task<Result<std::uint64_t>> submit(wire::SubmitJob job, std::string library);
  // Waits until the job has ended; `on_change` sees each new status.
  Task<Result<wire::JobStatus>> watch(std::uint64_t job,
                                      void (*on_change)(void*, const wire::JobStatus&),
                                      void* context);
  // Whose number the last submission got; 0: none. A JobManager that was started again without a
  // journal counts its jobs from 1: asked for a job of its predecessor it would answer about
  // another, so the client does not ask it, and answers not_found.
  std::uint64_t numbered_by() const;
  void close();

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace hummer
