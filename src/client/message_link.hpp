// MessageLink: a JobManagerLink by the control protocol: a hello, then requests and answers as
// messages of one connection.
#pragma once

#include <memory>

#include "client/cluster_client.hpp"
#include "client/job_manager_link.hpp"
#include "protocol/message_stream.hpp"

namespace hummer {

class MessageLink final : public JobManagerLink {
 public:
  MessageLink(Platform& platform, Executor& executor, const ClusterClientOptions& options)
      : JobManagerLink(platform, executor, options) {}

  bool connected() const override { return stream_ != nullptr; }
  Task<Status> connect(Nanoseconds give_up) override;
  Task<Result<wire::ClientAnswer>> exchange(wire::ClientRequest& request, std::uint64_t numbered_by,
                                            Nanoseconds give_up) override;
  void disconnect() override { stream_.reset(); }
  void close() override;

 private:
  Task<Status> greet(Nanoseconds give_up);

  std::unique_ptr<MessageStream> stream_;  // null: not connected
  std::uint64_t last_id_ = 0;
};

}  // namespace hummer
