#include "broker_options.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace hummer::kafka {
namespace {

std::string option(const Connection& connection, const std::string& name,
                   const std::string& otherwise = {}) {
  const auto found = connection.options.find(name);
  return found == connection.options.end() ? otherwise : found->second;
}

std::string changed(std::string text, int (*change)(int)) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [change](unsigned char c) { return static_cast<char>(change(c)); });
  return text;
}

const std::set<std::string>& followed_options() {
  static const std::set<std::string> names{"sasl.mechanism",
                                           "sasl.mechanisms",
                                           "sasl.username",
                                           "sasl.password",
                                           "ssl.ca.location",
                                           "ssl.ca.pem",
                                           "ssl.certificate.location",
                                           "ssl.certificate.pem",
                                           "ssl.key.location",
                                           "ssl.key.pem",
                                           "ssl.key.password",
                                           "ssl.cipher.suites",
                                           "ssl.curves.list",
                                           "ssl.sigalgs.list",
                                           "ssl.endpoint.identification.algorithm"};
  return names;
}

Status cannot(const std::string& what) {
  return {ErrorCode::invalid_configuration,
          what +
              " cannot be followed by exactly_once_open, which ends transactions by a connection "
              "of its own; exactly_once and at_least_once know all of librdkafka's options"};
}

}  // namespace

Status check_broker_options(const Connection& connection) {
  for (const auto& [name, value] : connection.options) {
    if ((name.starts_with("ssl.") || name.starts_with("sasl.")) &&
        !followed_options().contains(name)) {
      return cannot("option " + name);
    }
  }
  const std::string& mechanism = broker_options(connection).mechanism;
  if (mechanism.empty() || mechanism == "PLAIN") return {};
  if (mechanism != "OAUTHBEARER") return cannot("sasl.mechanism " + mechanism);
  return connection.token_file.empty()
             ? cannot("sasl.mechanism OAUTHBEARER without connection.token_file")
             : Status();
}

BrokerOptions broker_options(const Connection& connection) {
  const std::string protocol =
      changed(option(connection, "security.protocol", "plaintext"), std::tolower);
  BrokerOptions options;
  options.has_tls = protocol == "ssl" || protocol == "sasl_ssl";
  if (protocol.starts_with("sasl_")) {
    options.mechanism = changed(
        option(connection, "sasl.mechanism", option(connection, "sasl.mechanisms", "GSSAPI")),
        std::toupper);
  }
  options.user = option(connection, "sasl.username");
  options.password = option(connection, "sasl.password");
  options.token_file = connection.token_file;
  options.ca_location = option(connection, "ssl.ca.location");
  options.ca_pem = option(connection, "ssl.ca.pem");
  options.certificate_location = option(connection, "ssl.certificate.location");
  options.certificate_pem = option(connection, "ssl.certificate.pem");
  options.key_location = option(connection, "ssl.key.location");
  options.key_pem = option(connection, "ssl.key.pem");
  options.key_password = option(connection, "ssl.key.password");
  options.ciphers = option(connection, "ssl.cipher.suites");
  options.curves = option(connection, "ssl.curves.list");
  options.signatures = option(connection, "ssl.sigalgs.list");
  options.verifies_certificate =
      changed(option(connection, "enable.ssl.certificate.verification", "true"), std::tolower) !=
      "false";
  options.verifies_name =
      changed(option(connection, "ssl.endpoint.identification.algorithm", "https"), std::tolower) ==
      "https";
  return options;
}

}  // namespace hummer::kafka
