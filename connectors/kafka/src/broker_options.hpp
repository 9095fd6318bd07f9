// Which of librdkafka's options a connection of our own (broker_connection.hpp) has to follow, and
// whether it can.
//
//   if (Status status = check_broker_options(connection); !status.ok()) …   // names the option
//   const BrokerOptions options = broker_options(connection);
#pragma once

#include <string>

#include <hummer/kafka/settings.hpp>

namespace hummer::kafka {

struct BrokerOptions {
  bool has_tls = false;
  std::string mechanism;  // of SASL, in capitals; empty: none
  std::string user;
  std::string password;
  std::string token_file;
  std::string ca_location, ca_pem, certificate_location, certificate_pem, key_location, key_pem,
      key_password, ciphers, curves, signatures;
  bool verifies_certificate = true;
  bool verifies_name = true;
};

// What cannot be done is refused: Kerberos, SCRAM, and what librdkafka knows of TLS beyond PEM.
Status check_broker_options(const Connection& connection);
BrokerOptions broker_options(const Connection& connection);

}  // namespace hummer::kafka
