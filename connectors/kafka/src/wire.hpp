// Kafka's protocol, as far as the end of a transaction needs it: requests to bytes, and answers
// from bytes.
//
//   const std::string request =
//       request_of(Api::end_transaction, 7, end_transaction(id, producer, true));
//   …
//   std::int16_t error = 0;
//   if (!parse_end_transaction(answer, error)) …          // the broker speaks something else
//
// librdkafka commits only what one of its own producers has open. A transaction that another
// process has prepared is ended by its transactional id, producer id and producer epoch, which
// anyone may send who has the right to write as this id.
//
// Each request has one version, which brokers from 3.0 on take. Answers come from outside: lengths
// are held against what is there, and nothing is allocated that the bytes do not hold.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace hummer::kafka {

enum class Api : std::int16_t {
  find_coordinator = 10,
  sasl_handshake = 17,
  api_versions = 18,
  init_producer_id = 22,
  end_transaction = 26,
  sasl_authenticate = 36,
  describe_transactions = 65,
};

std::int16_t version_of(Api api);

// Who writes: the brokers take records and the end of a transaction from the newest epoch alone.
struct ProducerIdentity {
  std::int64_t id = -1;
  std::int16_t epoch = -1;

  friend bool operator==(const ProducerIdentity&, const ProducerIdentity&) = default;
};

// The whole request, from its length on.
std::string request_of(Api api, std::int32_t correlation, std::string_view body);

std::string find_coordinator(std::string_view transactional_id);
std::string sasl_handshake(std::string_view mechanism);
std::string sasl_authenticate(std::string_view bytes);
std::string init_producer_id(std::string_view transactional_id, std::int32_t timeout_ms);
std::string end_transaction(std::string_view transactional_id, const ProducerIdentity& producer,
                            bool commits);
std::string describe_transaction(std::string_view transactional_id);

// What a broker answers, `error` as Kafka numbers them.
struct ApiRange {
  std::int16_t api = 0;
  std::int16_t lowest = 0;
  std::int16_t highest = 0;
};
struct FoundCoordinator {
  std::int16_t error = 0;
  std::string message;
  std::string host;
  std::int32_t port = 0;
};
struct InitializedProducer {
  std::int16_t error = 0;
  ProducerIdentity producer;
};
struct SaslAnswer {
  std::int16_t error = 0;
  std::string message;
  std::string bytes;
};
struct DescribedTransaction {
  std::int16_t error = 0;
  std::string state;
  std::int32_t timeout_ms = 0;
  std::int64_t start_ms = -1;
  ProducerIdentity producer;
  std::vector<std::pair<std::string, std::vector<std::int32_t>>> partitions;  // by topic
};

// Of an answer behind its length. False: it is none of this request.
bool parse_head(Api api, std::string_view& answer, std::int32_t& correlation);
// Of what follows the head.
bool parse_api_versions(std::string_view body, std::int16_t& error, std::vector<ApiRange>& ranges);
bool parse_find_coordinator(std::string_view body, FoundCoordinator& found);
bool parse_sasl_handshake(std::string_view body, std::int16_t& error,
                          std::vector<std::string>& mechanisms);
bool parse_sasl_authenticate(std::string_view body, SaslAnswer& answer);
bool parse_init_producer_id(std::string_view body, InitializedProducer& initialized);
bool parse_end_transaction(std::string_view body, std::int16_t& error);
// Of the one that was asked for.
bool parse_describe_transaction(std::string_view body, DescribedTransaction& described);

}  // namespace hummer::kafka
