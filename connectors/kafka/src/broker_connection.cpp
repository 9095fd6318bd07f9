#include "broker_connection.hpp"

#include <fcntl.h>
#include <librdkafka/rdkafka.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>

namespace hummer::kafka {
namespace {

constexpr std::uint32_t answer_bytes_max = 8 << 20;
constexpr std::size_t length_bytes = sizeof(std::uint32_t);

Status lost(const std::string& broker, const std::string& why) {
  return {ErrorCode::connection_lost, "broker " + broker + ": " + why};
}

Status senseless(const std::string& broker) {
  return {ErrorCode::protocol_error, "broker " + broker +
                                         " answers what is not Kafka's protocol; is it one, and is "
                                         "security.protocol what it speaks?"};
}

std::uint32_t length_of(std::string_view bytes) {
  std::uint32_t length = 0;
  for (const char byte : bytes.substr(0, length_bytes)) {
    length = length << 8 | static_cast<unsigned char>(byte);
  }
  return length;
}

Result<std::string> token_in(const std::string& path) {
  std::ifstream file(path);
  std::string token;
  if (file >> token) return token;
  return Status(ErrorCode::permission_denied,
                "token_file '" + path + "' cannot be read, or is empty");
}

Result<std::string> credentials_of(const BrokerOptions& options) {
  if (options.mechanism == "PLAIN") {
    return std::string(1, '\0') + options.user + std::string(1, '\0') + options.password;
  }
  const Result<std::string> token = token_in(options.token_file);
  if (!token.ok()) return token.status();
  return "n,,\x01"
         "auth=Bearer " +
         *token + "\x01\x01";
}

}  // namespace

Result<std::unique_ptr<BrokerConnection>> BrokerConnection::open(const BrokerOptions& options,
                                                                 const BrokerAddress& address,
                                                                 Deadline until) {
  std::unique_ptr<BrokerConnection> made(new BrokerConnection(address));
  if (Status status = made->connect(until); !status.ok()) return status;
  if (options.has_tls) {
    if (Status status = made->start_tls(options, until); !status.ok()) return status;
  }
  if (Status status = made->check_versions(until); !status.ok()) return status;
  if (!options.mechanism.empty()) {
    if (Status status = made->authenticate(options, until); !status.ok()) return status;
  }
  return made;
}

BrokerConnection::~BrokerConnection() {
  if (socket_ >= 0) ::close(socket_);
}

Status BrokerConnection::connect(Deadline until) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address_.second);
  if (const int error = ::getaddrinfo(address_.first.c_str(), port.c_str(), &hints, &found)) {
    return {ErrorCode::name_not_resolved, "broker " + name() + ": " + ::gai_strerror(error)};
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> all(found, ::freeaddrinfo);
  Status status = lost(name(), "has no address");
  for (const addrinfo* each = found; each != nullptr; each = each->ai_next) {
    if (socket_ >= 0) ::close(socket_);
    socket_ = ::socket(each->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (socket_ < 0) return {ErrorCode::io_error, std::string("a socket: ") + std::strerror(errno)};
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    int error = ::connect(socket_, each->ai_addr, each->ai_addrlen) == 0 ? 0 : errno;
    if (error == EINPROGRESS) {
      status = wait(POLLOUT, until);
      if (!status.ok()) continue;
      socklen_t length = sizeof error;
      ::getsockopt(socket_, SOL_SOCKET, SO_ERROR, &error, &length);
    }
    if (error == 0) return {};
    status = {error == ECONNREFUSED ? ErrorCode::connection_refused : ErrorCode::connection_lost,
              "broker " + name() + ": " + std::strerror(error)};
  }
  return status;
}

Status BrokerConnection::start_tls(const BrokerOptions& options, Deadline until) {
  Result<std::unique_ptr<TlsSession>> made = TlsSession::make(options, address_.first);
  if (!made.ok()) return made.status();
  tls_ = std::move(*made);
  for (bool done = false;;) {
    const Status status = tls_->handshake(done);
    // Also what tells the broker why it is refused.
    if (const std::string output = tls_->take_output(); !output.empty()) {
      const Status sent = send_plain(output, until);
      if (status.ok()) HUMMER_TRY(sent);
    }
    if (!status.ok()) return status.with_context("broker " + name());
    if (done) return {};
    std::string input;
    HUMMER_TRY(receive_plain(input, until));
    tls_->feed(input);
  }
}

Status BrokerConnection::check_versions(Deadline until) {
  const Result<std::string> answer = ask(Api::api_versions, {}, until);
  if (!answer.ok()) return answer.status();
  std::int16_t error = 0;
  std::vector<ApiRange> ranges;
  if (!parse_api_versions(*answer, error, ranges)) return senseless(name());
  for (const Api api : {Api::find_coordinator, Api::init_producer_id, Api::end_transaction,
                        Api::describe_transactions}) {
    const bool known = std::any_of(ranges.begin(), ranges.end(), [&](const ApiRange& range) {
      return range.api == static_cast<std::int16_t>(api) && range.lowest <= version_of(api) &&
             version_of(api) <= range.highest;
    });
    if (known) continue;
    return {ErrorCode::protocol_error,
            "broker " + name() + " does not know request " + std::to_string(static_cast<int>(api)) +
                " in version " + std::to_string(version_of(api)) +
                ", which exactly_once_open needs: brokers of Kafka 3.0 or later do"};
  }
  return {};
}

Status BrokerConnection::authenticate(const BrokerOptions& options, Deadline until) {
  const auto refused = [&](const std::string& why) -> Status {
    return {ErrorCode::permission_denied,
            "broker " + name() + ": authentication by " + options.mechanism + " failed: " + why};
  };
  const Result<std::string> shaken =
      ask(Api::sasl_handshake, sasl_handshake(options.mechanism), until);
  if (!shaken.ok()) return shaken.status();
  std::int16_t error = 0;
  std::vector<std::string> mechanisms;
  if (!parse_sasl_handshake(*shaken, error, mechanisms)) return senseless(name());
  if (error != 0) return refused(rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(error)));
  const Result<std::string> credentials = credentials_of(options);
  if (!credentials.ok()) return credentials.status();
  const Result<std::string> answered =
      ask(Api::sasl_authenticate, sasl_authenticate(*credentials), until);
  if (!answered.ok()) return answered.status();
  SaslAnswer answer;
  if (!parse_sasl_authenticate(*answered, answer)) return senseless(name());
  if (answer.error != 0) return refused(answer.message);
  // OAUTHBEARER says here what is wrong with a token; neither mechanism says anything else.
  return answer.bytes.empty() ? Status() : refused(answer.bytes);
}

Result<std::string> BrokerConnection::ask(Api api, std::string_view body, Deadline until) {
  const std::int32_t asked = ++correlation_;
  if (Status status = send(request_of(api, asked, body), until); !status.ok()) return status;
  while (received_.size() < length_bytes ||
         received_.size() - length_bytes < length_of(received_)) {
    if (received_.size() >= length_bytes && length_of(received_) > answer_bytes_max) {
      return senseless(name());
    }
    if (Status status = receive(received_, until); !status.ok()) return status;
  }
  const std::size_t length = length_of(received_);
  std::string_view answer = std::string_view(received_).substr(length_bytes, length);
  std::int32_t correlation = 0;
  if (!parse_head(api, answer, correlation) || correlation != asked) return senseless(name());
  std::string found(answer);
  received_.erase(0, length_bytes + length);
  return found;
}

Status BrokerConnection::send(std::string_view bytes, Deadline until) {
  if (!tls_) return send_plain(bytes, until);
  HUMMER_TRY(tls_->write(bytes));
  return send_plain(tls_->take_output(), until);
}

Status BrokerConnection::receive(std::string& bytes, Deadline until) {
  if (!tls_) return receive_plain(bytes, until);
  for (const std::size_t before = bytes.size(); bytes.size() == before;) {
    std::string input;
    HUMMER_TRY(receive_plain(input, until));
    tls_->feed(input);
    bool ended = false;
    HUMMER_TRY(tls_->read(bytes, ended));
    HUMMER_TRY(send_plain(tls_->take_output(), until));
    if (ended && bytes.size() == before) return lost(name(), "it has ended the connection");
  }
  return {};
}

Status BrokerConnection::send_plain(std::string_view bytes, Deadline until) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno == EAGAIN) {
      HUMMER_TRY(wait(POLLOUT, until));
    } else if (errno != EINTR) {
      return lost(name(), std::strerror(errno));
    }
  }
  return {};
}

Status BrokerConnection::receive_plain(std::string& bytes, Deadline until) {
  std::array<char, 16 << 10> space;
  for (;;) {
    const ssize_t count = ::recv(socket_, space.data(), space.size(), 0);
    if (count > 0) {
      bytes.append(space.data(), static_cast<std::size_t>(count));
      return {};
    }
    if (count == 0) return lost(name(), "it has ended the connection");
    if (errno == EAGAIN) {
      HUMMER_TRY(wait(POLLIN, until));
    } else if (errno != EINTR) {
      return lost(name(), std::strerror(errno));
    }
  }
}

Status BrokerConnection::wait(short event, Deadline until) {
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return {ErrorCode::timed_out, "broker " + name() + " does not answer in time"};
    }
    pollfd asked{.fd = socket_, .events = event, .revents = 0};
    const int count = ::poll(&asked, 1, static_cast<int>(left.count()));
    if (count > 0) return {};
    if (count < 0 && errno != EINTR) return lost(name(), std::strerror(errno));
  }
}

}  // namespace hummer::kafka
