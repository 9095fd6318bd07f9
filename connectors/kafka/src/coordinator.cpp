#include "coordinator.hpp"

#include <algorithm>
#include <charconv>
#include <thread>

namespace hummer::kafka {
namespace {

constexpr std::chrono::seconds asked_again{60};
constexpr std::chrono::milliseconds between_questions{100};
constexpr std::int32_t default_port = 9092;

bool is_passing(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS:
    case RD_KAFKA_RESP_ERR_COORDINATOR_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_COORDINATOR:
    case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION: return true;
    default: return false;
  }
}

bool is_passing(const Status& status) {
  switch (status.code()) {
    case ErrorCode::connection_lost:
    case ErrorCode::connection_refused:
    case ErrorCode::name_not_resolved:
    case ErrorCode::timed_out: return true;
    default: return false;
  }
}

Status says(rd_kafka_resp_err_t error, const std::string& what) {
  const bool rights = error == RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED;
  return {rights ? ErrorCode::permission_denied : ErrorCode::io_error,
          what + ": " + rd_kafka_err2str(error)};
}

}  // namespace

std::vector<BrokerAddress> parse_brokers(const std::string& brokers) {
  std::vector<BrokerAddress> found;
  std::string_view rest = brokers;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (const std::size_t protocol = one.find("://"); protocol != std::string_view::npos) {
      one.remove_prefix(protocol + 3);
    }
    const std::size_t first = one.find_first_not_of(' ');
    if (first == std::string_view::npos) continue;
    one = one.substr(first, one.find_last_not_of(' ') - first + 1);
    std::int32_t port = default_port;
    const std::size_t bracket = one.find(']');
    const std::size_t colon = one.rfind(':');
    const bool has_port =
        colon != std::string_view::npos &&
        (bracket == std::string_view::npos ? one.find(':') == colon : colon > bracket);
    if (has_port) {
      (void)std::from_chars(one.data() + colon + 1, one.data() + one.size(), port);
      one = one.substr(0, colon);
    }
    if (one.starts_with('[') && one.ends_with(']')) one = one.substr(1, one.size() - 2);
    found.emplace_back(one, port);
  }
  return found;
}

Coordinator::Coordinator(const Connection& connection)
    : options_(broker_options(connection)),
      first_asked_(parse_brokers(connection.brokers)),
      timeout_(connection.timeout_ms) {}

Result<BrokerConnection*> Coordinator::connection_to(const BrokerAddress& address, Deadline until) {
  const auto known = connections_.find(address);
  if (known != connections_.end()) return known->second.get();
  Result<std::unique_ptr<BrokerConnection>> made = BrokerConnection::open(options_, address, until);
  if (!made.ok()) return made.status();
  return (connections_[address] = std::move(*made)).get();
}

Result<BrokerAddress> Coordinator::find_by(const BrokerAddress& asked, const std::string& id,
                                           Deadline until) {
  const Result<BrokerConnection*> connection = connection_to(asked, until);
  if (!connection.ok()) return connection.status();
  const Result<std::string> answer =
      (*connection)->ask(Api::find_coordinator, find_coordinator(id), until);
  FoundCoordinator found;
  if (!answer.ok() || !parse_find_coordinator(*answer, found)) {
    connections_.erase(asked);
    return answer.ok() ? Status(ErrorCode::protocol_error,
                                "broker " + asked.first + " does not say who keeps '" + id + "'")
                       : answer.status();
  }
  const auto error = static_cast<rd_kafka_resp_err_t>(found.error);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return BrokerAddress(found.host, found.port);
  const std::string what = "who keeps the transactional id '" + id + "'";
  if (is_passing(error)) return Status(ErrorCode::timed_out, what + ": " + rd_kafka_err2str(error));
  return says(error, what);
}

Result<BrokerAddress> Coordinator::find(const std::string& id, Deadline until) {
  const auto known = keepers_.find(id);
  if (known != keepers_.end()) return known->second;
  std::vector<BrokerAddress> asked;
  for (const auto& [address, connection] : connections_) asked.push_back(address);
  asked.insert(asked.end(), first_asked_.begin(), first_asked_.end());
  Status status(ErrorCode::invalid_configuration, "no brokers are named (connection.brokers)");
  for (const BrokerAddress& each : asked) {
    Result<BrokerAddress> found = find_by(each, id, until);
    if (found.ok()) return keepers_[id] = *found;
    status = found.status();
    if (!is_passing(status)) break;
  }
  return status;
}

Status Coordinator::try_once(const std::string& id, Api api, const std::string& body,
                             const Parse& parse, rd_kafka_resp_err_t& answer, Deadline until) {
  const Result<BrokerAddress> keeper = find(id, until);
  if (!keeper.ok()) return keeper.status();
  const Result<BrokerConnection*> connection = connection_to(*keeper, until);
  if (!connection.ok()) return connection.status();
  const Result<std::string> bytes = (*connection)->ask(api, body, until);
  if (bytes.ok() && parse(*bytes, answer)) return {};
  connections_.erase(*keeper);
  return bytes.ok() ? Status(ErrorCode::protocol_error,
                             "broker " + keeper->first + " answers what is not Kafka's protocol")
                    : bytes.status();
}

// A connection that was lost says nothing of what was asked by it.
Status Coordinator::ask(const std::string& id, Api api, const std::string& body,
                        const Parse& parse) {
  const Deadline end = std::chrono::steady_clock::now() + asked_again;
  for (;;) {
    const Deadline now = std::chrono::steady_clock::now();
    rd_kafka_resp_err_t answer = RD_KAFKA_RESP_ERR_NO_ERROR;
    Status status = try_once(id, api, body, parse, answer, std::min(now + timeout_, end));
    if (status.ok() && !is_passing(answer)) return {};
    if (!status.ok() && !is_passing(status)) return status;
    if (now > end) {
      if (!status.ok()) return status;
      return {ErrorCode::timed_out, "transactional id '" + id + "': " + rd_kafka_err2str(answer)};
    }
    // A transaction that is about to end has the keeper that it had.
    if (!status.ok() || answer != RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS) keepers_.erase(id);
    std::this_thread::sleep_for(between_questions);
  }
}

Result<DescribedTransaction> Coordinator::describe(const std::string& id) {
  DescribedTransaction described;
  Status status = ask(id, Api::describe_transactions, describe_transaction(id),
                      [&](std::string_view bytes, rd_kafka_resp_err_t& answer) {
                        described = {};
                        const bool valid = parse_describe_transaction(bytes, described);
                        answer = static_cast<rd_kafka_resp_err_t>(described.error);
                        return valid;
                      });
  if (!status.ok()) return status;
  const auto error = static_cast<rd_kafka_resp_err_t>(described.error);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != transactional_id_not_found) {
    return says(error, "the state of transactional id '" + id + "'");
  }
  return described;
}

Result<rd_kafka_resp_err_t> Coordinator::commit(const std::string& id,
                                                const ProducerIdentity& producer) {
  auto answered = RD_KAFKA_RESP_ERR_NO_ERROR;
  Status status = ask(id, Api::end_transaction, end_transaction(id, producer, true),
                      [&](std::string_view bytes, rd_kafka_resp_err_t& answer) {
                        std::int16_t error = 0;
                        const bool valid = parse_end_transaction(bytes, error);
                        answered = answer = static_cast<rd_kafka_resp_err_t>(error);
                        return valid;
                      });
  if (!status.ok()) return status;
  return answered;
}

Status Coordinator::fence(const std::string& id, int transaction_timeout_ms) {
  InitializedProducer initialized;
  HUMMER_TRY(ask(id, Api::init_producer_id, init_producer_id(id, transaction_timeout_ms),
                 [&](std::string_view bytes, rd_kafka_resp_err_t& answer) {
                   initialized = {};
                   const bool valid = parse_init_producer_id(bytes, initialized);
                   answer = static_cast<rd_kafka_resp_err_t>(initialized.error);
                   return valid;
                 }));
  const auto error = static_cast<rd_kafka_resp_err_t>(initialized.error);
  return error == RD_KAFKA_RESP_ERR_NO_ERROR
             ? Status()
             : says(error, "fencing the producers of transactional id '" + id + "'");
}

}  // namespace hummer::kafka
