// ParkedRequests: clients' requests that wait for a change (long polls).
//
// They are looked at when a job changed its state, and otherwise at most ten times a second:
// metrics change with every heartbeat, and nobody reads faster. Thread: the JobManager's executor.
#pragma once

#include <list>
#include <memory>

#include "job_manager/client_requests.hpp"
#include "protocol/message_stream.hpp"

namespace hummer {

// What a client's connection and its waiting requests share.
struct ClientConnection {
  MessageStream* stream = nullptr;  // null: closed
  int parked = 0;
};

// Sends the answer, or why it is too long to be sent. Closes a connection that does not read.
void send_answer(ClientConnection& client, const wire::ClientAnswer& answer);

class ParkedRequests {
 public:
  static constexpr Nanoseconds look_interval_ns = milliseconds(100);

  // False: this client has too many.
  bool add(std::shared_ptr<ClientConnection> client, wire::ClientRequest request, Moment at);
  // Answers those that can be. With `changed` at once, else when it is time.
  void look(ClusterState& cluster, bool changed, Moment at);
  Nanoseconds next_look() const { return parked_.empty() ? never : next_look_; }

 private:
  struct Parked {
    std::shared_ptr<ClientConnection> client;
    wire::ClientRequest request;
    Nanoseconds deadline;
  };
  std::list<Parked> parked_;
  Nanoseconds next_look_ = 0;
};

}  // namespace hummer
