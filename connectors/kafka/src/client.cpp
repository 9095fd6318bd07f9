#include "client.hpp"

#include <chrono>
#include <fstream>
#include <string_view>

namespace hummer::kafka {
namespace {

constexpr std::size_t message_bytes = 512;

Status set(rd_kafka_conf_t* conf, const std::string& name, const std::string& value) {
  char message[message_bytes];
  if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), message, sizeof message) ==
      RD_KAFKA_CONF_OK) {
    return {};
  }
  return {ErrorCode::invalid_configuration,
          "option " + name + ": " + message +
              " (options of the Kafka connector are those of librdkafka " + rd_kafka_version_str() +
              ")"};
}

// Called by librdkafka's threads, while a question to the brokers waits, too: error events would
// wait for somebody to poll.
void log_line(const rd_kafka_t* client, int level, const char* facility, const char* text) {
  constexpr int syslog_error = 3;
  if (level <= syslog_error && client != nullptr) {
    // Behind "[thrd:…]: ", which says nothing to others.
    const std::string_view line = text;
    const std::size_t end = line.find("]: ");
    static_cast<ClientEvents*>(rd_kafka_opaque(client))
        ->set_last_error(std::string(end == std::string_view::npos ? line : line.substr(end + 3)));
  }
  rd_kafka_log_print(client, level, facility, text);
}

// Called by librdkafka's background thread. The token is the broker's to judge; only how long it is
// kept is said here.
void read_token(rd_kafka_t* client, const char*, void* opaque) {
  constexpr std::chrono::minutes kept{5};
  const std::string& path = static_cast<ClientEvents*>(opaque)->token_file;
  std::ifstream file(path);
  std::string token;
  if (!(file >> token)) {
    rd_kafka_oauthbearer_set_token_failure(
        client, ("token_file '" + path + "' cannot be read, or is empty").c_str());
    return;
  }
  const auto until = std::chrono::system_clock::now() + kept;
  char message[message_bytes];
  const auto error = rd_kafka_oauthbearer_set_token(
      client, token.c_str(),
      std::chrono::duration_cast<std::chrono::milliseconds>(until.time_since_epoch()).count(),
      "hummer", nullptr, 0, message, sizeof message);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    rd_kafka_oauthbearer_set_token_failure(client, message);
  }
}

void remember_undelivered(rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
  // What a transaction has given up is its own doing.
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR ||
      message->err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
      message->err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
    return;
  }
  static_cast<ClientEvents*>(opaque)->set_undelivered(
      failure(message->err, std::string("a record of topic '") + rd_kafka_topic_name(message->rkt) +
                                "' could not be delivered"));
}

ErrorCode code_of(rd_kafka_resp_err_t error) {
  switch (error) {
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN: return ErrorCode::connection_lost;
    case RD_KAFKA_RESP_ERR__RESOLVE: return ErrorCode::name_not_resolved;
    case RD_KAFKA_RESP_ERR__SSL: return ErrorCode::tls_failed;
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT: return ErrorCode::timed_out;
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
      return ErrorCode::permission_denied;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION: return ErrorCode::not_found;
    default: return ErrorCode::io_error;
  }
}

}  // namespace

Result<Client> make_client(rd_kafka_type_t type, const Connection& connection, const Options& own,
                           const Options& fixed) {
  ConfigurationHandle conf(rd_kafka_conf_new());
  HUMMER_TRY(set(conf.get(), "client.id", "hummer"));
  for (const auto& [name, value] : own) HUMMER_TRY(set(conf.get(), name, value));
  HUMMER_TRY(set(conf.get(), "bootstrap.servers", connection.brokers));
  for (const auto& [name, value] : connection.options) HUMMER_TRY(set(conf.get(), name, value));
  for (const auto& [name, value] : fixed) HUMMER_TRY(set(conf.get(), name, value));

  Client client{std::make_unique<ClientEvents>(connection.token_file), nullptr};
  rd_kafka_conf_set_log_cb(conf.get(), log_line);
  rd_kafka_conf_set_opaque(conf.get(), client.events.get());
  if (type == RD_KAFKA_PRODUCER) rd_kafka_conf_set_dr_msg_cb(conf.get(), remember_undelivered);
  const bool has_token = !connection.token_file.empty();
  if (has_token) {
    rd_kafka_conf_set_oauthbearer_token_refresh_cb(conf.get(), read_token);
    rd_kafka_conf_enable_sasl_queue(conf.get(), 1);
  }
  char message[message_bytes];
  client.handle.reset(rd_kafka_new(type, conf.get(), message, sizeof message));
  if (!client.handle) {
    return Status(ErrorCode::invalid_configuration, std::string("the Kafka client: ") + message);
  }
  (void)conf.release();  // is the client's now
  if (has_token) {
    // Nobody polls while a question to the brokers waits.
    if (const ErrorHandle error(rd_kafka_sasl_background_callbacks_enable(client.get())); error) {
      return failure(error.get(), "token_file");
    }
  }
  return client;
}

Status check_options(const Connection& connection, const Options& fixed) {
  if (connection.brokers.empty()) {
    return {ErrorCode::invalid_configuration, "no brokers are named (connection.brokers)"};
  }
  const ConfigurationHandle conf(rd_kafka_conf_new());
  for (const auto& [name, value] : connection.options) {
    if (name == "bootstrap.servers" || name == "metadata.broker.list") {
      return {ErrorCode::invalid_configuration, "option " + name + ": is connection.brokers"};
    }
    if (fixed.contains(name)) {
      return {ErrorCode::invalid_configuration,
              "option " + name + ": the connector's guarantees need it to be " + fixed.at(name)};
    }
    HUMMER_TRY(set(conf.get(), name, value));
  }
  return {};
}

Status failure(rd_kafka_resp_err_t error, const std::string& what, const std::string& more) {
  std::string text = what + ": " + rd_kafka_err2str(error);
  if (!more.empty()) text += " (" + more + ")";
  return {code_of(error), std::move(text)};
}

Status failure(const rd_kafka_error_t* error, const std::string& what) {
  return {code_of(rd_kafka_error_code(error)), what + ": " + rd_kafka_error_string(error)};
}

}  // namespace hummer::kafka
