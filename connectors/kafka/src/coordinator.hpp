// Coordinator: asks whoever keeps a transactional id what has become of its transaction, and ends
// it.
//
//   Coordinator coordinator(settings.connection);
//   Result<DescribedTransaction> now = coordinator.describe("totals-0-2");
//   Result<rd_kafka_resp_err_t> answer = coordinator.commit("totals-0-2", now->producer);
//
// A broker that is away, or no longer keeps the id, is answered by asking again who does, for a
// minute. What that may repeat is harmless: a transaction that is committed already is committed
// once, and fencing twice fences.
//
// Thread: one; all calls wait for the brokers. Errors: those of the connections; what the brokers
// say of the transaction itself is the answer.
#pragma once

#include <librdkafka/rdkafka.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "broker_connection.hpp"

namespace hummer::kafka {

class Coordinator {
 public:
  explicit Coordinator(const Connection& connection);

  // .error 105 (transactional id not found): nobody has written as this id, or not for long.
  Result<DescribedTransaction> describe(const std::string& id);
  Result<rd_kafka_resp_err_t> commit(const std::string& id, const ProducerIdentity& producer);
  // Ends what the id has open, and takes from those that write as it the right to do so.
  Status fence(const std::string& id, int transaction_timeout_ms);

 private:
  // Of an answer: false: it makes no sense. Sets what the broker says.
  using Parse = std::function<bool(std::string_view, rd_kafka_resp_err_t&)>;

  Status ask(const std::string& id, Api api, const std::string& body, const Parse& parse);
  Status try_once(const std::string& id, Api api, const std::string& body, const Parse& parse,
                  rd_kafka_resp_err_t& answer, Deadline until);
  Result<BrokerConnection*> connection_to(const BrokerAddress& address, Deadline until);
  Result<BrokerAddress> find(const std::string& id, Deadline until);
  Result<BrokerAddress> find_by(const BrokerAddress& asked, const std::string& id, Deadline until);

  const BrokerOptions options_;
  const std::vector<BrokerAddress> first_asked_;  // those of the settings
  const std::chrono::milliseconds timeout_;
  std::map<BrokerAddress, std::unique_ptr<BrokerConnection>> connections_;
  std::map<std::string, BrokerAddress> keepers_;  // by transactional id
};

// host:port of each; [::1]:9092, and a protocol in front, too.
std::vector<BrokerAddress> parse_brokers(const std::string& brokers);

inline constexpr auto transactional_id_not_found = static_cast<rd_kafka_resp_err_t>(105);

}  // namespace hummer::kafka
