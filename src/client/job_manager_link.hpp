// JobManagerLink: how a client's requests reach a JobManager; the transport of ClusterClient.
//
// Two forms: REST (rest_link.hpp), which the command line speaks, and the control protocol
// (message_link.hpp).
//
// Lifecycle: connect() → exchange()*; after a failure, disconnect() and connect() again. close()
// ends a waiting call with cancelled. Thread: coroutines on one executor.
#pragma once

#include <cstdint>
#include <memory>

#include "client/cluster_client.hpp"
#include "platform/network.hpp"
#include "platform/task.hpp"
#include "platform/time.hpp"
#include "protocol/control.pb.h"

namespace hummer {

class JobManagerLink {
 public:
  virtual ~JobManagerLink() = default;
  JobManagerLink(const JobManagerLink&) = delete;
  JobManagerLink& operator=(const JobManagerLink&) = delete;

  virtual bool connected() const = 0;
  virtual Task<Status> connect(Nanoseconds give_up) = 0;
  // `numbered_by`: whose job the request names; 0: none's, or whoever answers. A failure that the
  // JobManager said is inside the answer.
  virtual Task<Result<wire::ClientAnswer>> exchange(wire::ClientRequest& request,
                                                    std::uint64_t numbered_by,
                                                    Nanoseconds give_up) = 0;
  virtual void disconnect() = 0;
  virtual void close() = 0;

  // Who numbers the jobs of the JobManager that was connected or answered last; 0: not known.
  std::uint64_t numbering() const { return numbering_; }
  // After a failure: another attempt would end no better.
  bool refused() const { return refused_; }

 protected:
  // `options` outlive it.
  JobManagerLink(Platform& platform, Executor& executor, const ClusterClientOptions& options)
      : platform_(platform), executor_(executor), options_(options) {}
  // A connection to the JobManager's address, with TLS where it is asked for.
  Task<Result<std::unique_ptr<ByteStream>>> open_stream(Nanoseconds give_up);
  Status refused(Status status) {
    refused_ = true;
    return status;
  }

  Platform& platform_;
  Executor& executor_;
  const ClusterClientOptions& options_;
  std::uint64_t numbering_ = 0;
  bool refused_ = false;
  bool closed_ = false;
};

Status closed_here();
// How long the JobManager may take by what the request itself says.
Nanoseconds wait_of(const wire::ClientRequest& request);

}  // namespace hummer
