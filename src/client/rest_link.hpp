// RestLink: a JobManagerLink by the REST API (docs/rest.md), over HTTP/1.1, or HTTPS with a
// TlsContext. The JobManager answers it at the control port and at that of --rest-listen alike.
//
// One connection, kept open between requests. The host is named by number, as the JobManager asks
// of those without a token. rest_questions.hpp says which request is which.
#pragma once

#include <memory>
#include <string>

#include "client/cluster_client.hpp"
#include "client/job_manager_link.hpp"
#include "http/http_answer.hpp"
#include "platform/wake_event.hpp"

namespace hummer {

class RestLink final : public JobManagerLink {
 public:
  RestLink(Platform& platform, Executor& executor, const ClusterClientOptions& options)
      : JobManagerLink(platform, executor, options) {}
  ~RestLink() override { disconnect(); }

  bool connected() const override { return stream_ != nullptr; }
  Task<Status> connect(Nanoseconds give_up) override;
  Task<Result<wire::ClientAnswer>> exchange(wire::ClientRequest& request, std::uint64_t numbered_by,
                                            Nanoseconds give_up) override;
  void disconnect() override;
  void close() override;

 private:
  Task<Status> write(std::string text, Nanoseconds deadline);
  Task<Result<HttpAnswer>> read(Nanoseconds deadline);
  // As try_read, into the reader. No coroutine: the buffer would lie in its frame.
  Result<bool> read_now(HttpAnswerReader& reader, bool& blocked);

  std::unique_ptr<ByteStream> stream_;  // null: not connected
  std::string host_;
  WakeEvent event_;
};

}  // namespace hummer
