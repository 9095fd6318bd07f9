#include "job_manager/parked_requests.hpp"

#include <algorithm>
#include <utility>

#include "protocol/graph_messages.hpp"

namespace hummer {
namespace {

constexpr int max_parked_per_client = 16;

}  // namespace

void send_answer(ClientConnection& client, const wire::ClientAnswer& answer) {
  if (client.stream == nullptr) return;
  wire::Envelope message;
  *message.mutable_client_answer() = answer;
  if (message.ByteSizeLong() > max_message_bytes) {
    message.mutable_client_answer()->Clear();
    message.mutable_client_answer()->set_id(answer.id());
    to_message(Status(ErrorCode::limit_exceeded, "the answer is too long for one message"),
               *message.mutable_client_answer()->mutable_failure());
  }
  if (!client.stream->send(message).ok()) client.stream->close();
}

bool ParkedRequests::add(std::shared_ptr<ClientConnection> client, wire::ClientRequest request,
                         Moment at) {
  if (client->parked == max_parked_per_client) return false;
  ++client->parked;
  const Nanoseconds deadline = at.now + patience(request);
  next_look_ = std::min(parked_.empty() ? never : next_look_, at.now + look_interval_ns);
  next_look_ = std::min(next_look_, deadline);
  parked_.push_back({std::move(client), std::move(request), deadline});
  return true;
}

void ParkedRequests::look(ClusterState& cluster, bool changed, Moment at) {
  if (parked_.empty() || (!changed && at.now < next_look_)) return;
  next_look_ = at.now + look_interval_ns;
  for (auto each = parked_.begin(); each != parked_.end();) {
    wire::ClientAnswer answer;
    const bool gone = each->client->stream == nullptr;
    if (!gone && !answer_request(cluster, each->request, at.now >= each->deadline, at, answer)) {
      next_look_ = std::min(next_look_, each->deadline);
      ++each;
      continue;
    }
    if (!gone) send_answer(*each->client, answer);
    --each->client->parked;
    each = parked_.erase(each);
  }
}

}  // namespace hummer
