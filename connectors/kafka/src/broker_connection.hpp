// BrokerConnection: a connection of our own to one broker, for what librdkafka has no call for: by
// TLS and SASL where the settings ask for them. A question waits for its answer.
//
//   auto made = BrokerConnection::open(options, address, until);
//   Result<std::string> answer =
//       (*made)->ask(Api::end_transaction, end_transaction(…), until);
//
// After a failure it is of no use any more: make another one. Thread: one. Errors: brokers that do
// not take the connection, the credentials or the version of a request, that are away, or that do
// not answer in time; an answer of more than 8 MiB is none.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <hummer/status.hpp>

#include "broker_options.hpp"
#include "tls_session.hpp"
#include "wire.hpp"

namespace hummer::kafka {

using Deadline = std::chrono::steady_clock::time_point;
using BrokerAddress = std::pair<std::string, std::int32_t>;  // host, port

class BrokerConnection {
 public:
  static Result<std::unique_ptr<BrokerConnection>> open(const BrokerOptions& options,
                                                        const BrokerAddress& address,
                                                        Deadline until);
  ~BrokerConnection();
  BrokerConnection(const BrokerConnection&) = delete;
  BrokerConnection& operator=(const BrokerConnection&) = delete;

  // What the broker answers, behind the head.
  Result<std::string> ask(Api api, std::string_view body, Deadline until);

 private:
  explicit BrokerConnection(BrokerAddress address) : address_(std::move(address)) {}
  Status connect(Deadline until);
  Status start_tls(const BrokerOptions& options, Deadline until);
  Status check_versions(Deadline until);
  Status authenticate(const BrokerOptions& options, Deadline until);

  Status send(std::string_view bytes, Deadline until);
  // What has come, behind `bytes`: at least one byte.
  Status receive(std::string& bytes, Deadline until);
  Status send_plain(std::string_view bytes, Deadline until);
  Status receive_plain(std::string& bytes, Deadline until);
  Status wait(short event, Deadline until);
  std::string name() const { return address_.first + ":" + std::to_string(address_.second); }

  const BrokerAddress address_;
  int socket_ = -1;
  std::unique_ptr<TlsSession> tls_;
  std::int32_t correlation_ = 0;
  std::string received_;
};

}  // namespace hummer::kafka
