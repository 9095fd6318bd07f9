#include "platform/name_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace hummer {
namespace {

constexpr std::size_t most_file_bytes = std::size_t{1} << 20;
constexpr std::size_t most_kept = 1000;
constexpr std::uint32_t longest_kept_s = 86'400;
constexpr std::uint32_t longest_kept_without_s = 300;
constexpr std::size_t datagram_bytes = 4096;
constexpr int most_pending_handshakes = 64;  // datagrams for one question that are no answer to it
constexpr int most_aliases = 8;              // beyond those that an answer follows itself

struct HostAndPort {
  std::string_view host;
  std::uint16_t port = 0;
};

// REQUIRES: parse_socket_address has found no more than an unknown name to complain of.
HostAndPort taken_apart(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  HostAndPort parts{text.substr(0, colon), 0};
  std::from_chars(text.data() + colon + 1, text.data() + text.size(), parts.port);
  return parts;
}

bool is_local(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  std::string small(host);
  for (char& c : small) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return small == "localhost" || small.ends_with(".localhost");
}

std::string list_of(const std::vector<SocketAddress>& servers) {
  std::string text;
  for (const SocketAddress& server : servers) {
    text += (text.empty() ? "" : ", ") + server.to_string();
  }
  return text;
}

// As a server's failure; RFC 1035 names the first five.
Status server_failure(const SocketAddress& server, std::uint8_t code) {
  constexpr const char* words[] = {"", "bad question",    "server failure",
                                   "", "not implemented", "refused"};
  const bool known = code < std::size(words);
  return {ErrorCode::name_not_resolved,
          fmt::format("{} answers {}", server.to_string(),
                      known ? words[code] : fmt::format("failure {}", code))};
}

// All of `into`, by `deadline`.
Task<Status> read_by(ByteStream& stream, WakeEvent& event, std::span<char> into,
                     Nanoseconds deadline) {
  while (!into.empty()) {
    const Result<std::size_t> got = stream.try_read(into);
    if (!got.ok()) co_return got.status();
    if (*got == 0) co_return Status(ErrorCode::connection_lost, "the connection ended early");
    if (*got != would_block) {
      into = into.subspan(*got);
      continue;
    }
    event.prepare_wait();
    const bool notified = co_await event.wait_until(deadline);
    if (!notified) co_return Status(ErrorCode::timed_out, "no answer");
  }
  co_return Status();
}

Task<Status> write_by(ByteStream& stream, WakeEvent& event, std::string_view bytes,
                      Nanoseconds deadline) {
  while (!bytes.empty()) {
    const Result<std::size_t> put = stream.try_write(bytes);
    if (!put.ok()) co_return put.status();
    if (*put != would_block) {
      bytes.remove_prefix(*put);
      continue;
    }
    event.prepare_wait();
    const bool notified = co_await event.wait_until(deadline);
    if (!notified) co_return Status(ErrorCode::timed_out, "the question is not taken");
  }
  co_return Status();
}

// A question and its answer, each behind its length.
Task<Status> exchange_by_stream(ByteStream& stream, WakeEvent& event, const NameQuestion& question,
                                Nanoseconds deadline, NameAnswer& answer) {
  const std::string encoded = encode_question(question);
  std::string bytes{static_cast<char>(encoded.size() >> 8), static_cast<char>(encoded.size())};
  bytes += encoded;
  const Status sent = co_await write_by(stream, event, bytes, deadline);
  if (!sent.ok()) co_return sent;
  char length[2];
  const Status begun = co_await read_by(stream, event, length, deadline);
  if (!begun.ok()) co_return begun;
  std::string message(static_cast<std::size_t>(static_cast<unsigned char>(length[0]) << 8 |
                                               static_cast<unsigned char>(length[1])),
                      '\0');
  const Status read = co_await read_by(stream, event, message, deadline);
  if (!read.ok()) co_return read;
  const AnswerReading reading = read_answer(message, question, answer);
  if (reading != AnswerReading::read || answer.truncated) {
    co_return Status(ErrorCode::corrupt_record, "the answer can't be read");
  }
  co_return Status();
}

}  // namespace

NameClient::NameClient(Network& network, Files& files, Random& random, NameClientOptions options)
    : network_(network), files_(files), random_(random), options_(std::move(options)) {}

std::string NameClient::read(const std::string& path) {
  const auto file = files_.open_for_reading(path);
  if (!file.ok()) return {};
  std::string text(
      static_cast<std::size_t>(std::min<std::uint64_t>((*file)->size_bytes(), most_file_bytes)),
      '\0');
  const Result<std::size_t> got = (*file)->read_at(0, text);
  text.resize(got.ok() ? *got : 0);
  return text;
}

Result<SocketAddress> NameClient::find_here(std::string_view text) {
  Result<SocketAddress> parsed = parse_socket_address(text);
  if (parsed.ok() || parsed.status().code() != ErrorCode::name_not_resolved) return parsed;
  const HostAndPort parts = taken_apart(text);
  SocketAddress address;
  if (is_local(parts.host)) {
    address.bytes = {127, 0, 0, 1};
  } else if (const auto found = find_in_hosts(read(options_.hosts_file), parts.host)) {
    address = *found;
  } else {
    return Status(ErrorCode::name_not_resolved,
                  fmt::format("'{}' is not in {}", parts.host, options_.hosts_file));
  }
  address.port = parts.port;
  return address;
}

Task<Result<SocketAddress>> NameClient::look_up(std::string text) {
  Result<SocketAddress> here = find_here(text);
  if (here.ok() || here.status().code() != ErrorCode::name_not_resolved) co_return here;
  const HostAndPort parts = taken_apart(text);
  const NameConfiguration configuration =
      parse_name_configuration(read(options_.configuration_file), options_.port);
  const std::vector<std::string> candidates = configuration.candidates(parts.host);
  if (candidates.empty()) {
    co_return Status(ErrorCode::name_not_resolved,
                     fmt::format("'{}' is no name of a host: parts of up to 63 letters, digits, "
                                 "'-' and '_', with '.' between them",
                                 parts.host));
  }
  std::string asked;
  std::string why;
  for (const std::string& labels : candidates) {
    Found found = co_await addresses_of(labels, configuration);
    if (found.outcome == Outcome::found) {
      SocketAddress address = found.addresses.front();
      address.port = parts.port;
      co_return address;
    }
    if (found.outcome == Outcome::failed) why = std::move(found.why);
    asked += (asked.empty() ? "" : ", ") + name_of(labels);
  }
  const std::string servers = list_of(configuration.servers);
  if (!why.empty()) {
    co_return Status(
        ErrorCode::name_not_resolved,
        fmt::format("cannot look up '{}' (not in {}): asked {} times for {} at {} ({}): {}",
                    parts.host, options_.hosts_file, configuration.attempts, asked, servers,
                    options_.configuration_file, why));
  }
  co_return Status(
      ErrorCode::name_not_resolved,
      fmt::format("'{}' is unknown: it is not in {}, and no address of {} is known to {} ({})",
                  parts.host, options_.hosts_file, asked, servers, options_.configuration_file));
}

Task<NameClient::Found> NameClient::addresses_of(const std::string& labels,
                                                 const NameConfiguration& configuration) {
  Found found = co_await addresses_of_type(labels, NameType::ipv4, configuration);
  if (found.outcome == Outcome::found || configuration.ipv4_only) co_return found;
  Found other = co_await addresses_of_type(labels, NameType::ipv6, configuration);
  // That there is none of one kind says nothing where the other could not be asked for.
  if (other.outcome == Outcome::none && found.outcome == Outcome::failed) co_return found;
  co_return other;
}

Task<NameClient::Found> NameClient::addresses_of_type(std::string labels, NameType type,
                                                      const NameConfiguration& configuration) {
  Executor& executor = co_await current_executor();
  Found found;
  for (int aliases = 0; aliases <= most_aliases; ++aliases) {
    if (auto remembered = kept(labels, type, executor.now())) co_return std::move(*remembered);
    NameAnswer answer;
    const Status asked = co_await ask_servers(labels, type, configuration, answer);
    if (!asked.ok()) {
      found.why = asked.message();
      co_return found;
    }
    if (answer.alias.empty() || answer.code == no_such_name) {
      keep(labels, type, answer, executor.now());
      found.outcome = answer.addresses.empty() ? Outcome::none : Outcome::found;
      found.addresses = std::move(answer.addresses);
      co_return found;
    }
    labels = std::move(answer.alias);
  }
  found.why = fmt::format("more than {} aliases, the last of {}", most_aliases, name_of(labels));
  co_return found;
}

Task<Status> NameClient::ask_servers(const std::string& labels, NameType type,
                                     const NameConfiguration& configuration, NameAnswer& answer) {
  const std::size_t servers = configuration.servers.size();
  const std::size_t first = configuration.rotate ? random_.below(servers) : 0;
  Status last;
  for (int attempt = 0; attempt < configuration.attempts; ++attempt) {
    for (std::size_t i = 0; i < servers; ++i) {
      const SocketAddress& server = configuration.servers[(first + i) % servers];
      NameQuestion question;
      char number[2];
      random_.fill(number);
      question.id = static_cast<std::uint16_t>(static_cast<unsigned char>(number[0]) << 8 |
                                               static_cast<unsigned char>(number[1]));
      question.labels = labels;
      question.type = type;
      last = co_await ask(server, question, configuration, answer);
      if (!last.ok()) {
        last = last.with_context(server.to_string());
      } else if (answer.code == 0 || answer.code == no_such_name) {
        co_return Status();
      } else {
        last = server_failure(server, answer.code);
      }
    }
  }
  co_return last;
}

Task<Status> NameClient::ask(const SocketAddress& server, const NameQuestion& question,
                             const NameConfiguration& configuration, NameAnswer& answer) {
  Executor& executor = co_await current_executor();
  if (!configuration.by_stream) {
    const Nanoseconds deadline = executor.now() + configuration.timeout_ns;
    const Status asked = co_await ask_by_datagram(server, question, deadline, answer);
    if (!asked.ok() || !answer.truncated) co_return asked;
  }
  const Nanoseconds deadline = executor.now() + configuration.timeout_ns;
  co_return co_await ask_by_stream(server, question, deadline, answer);
}

Task<Status> NameClient::ask_by_datagram(const SocketAddress& server, const NameQuestion& question,
                                         Nanoseconds deadline, NameAnswer& answer) {
  SocketAddress any;
  any.is_ipv6 = server.is_ipv6;
  Result<std::unique_ptr<DatagramSocket>> opened = network_.open_datagrams(any, &server);
  if (!opened.ok()) co_return opened.status();
  DatagramSocket& socket = **opened;
  const std::string encoded = encode_question(question);
  const Status sent = socket.send(encoded, server);
  if (!sent.ok()) co_return sent;
  std::string buffer(datagram_bytes, '\0');
  for (int strangers = 0; strangers < most_pending_handshakes; ++strangers) {
    const Result<DatagramSocket::Received> got = co_await socket.receive(buffer, deadline);
    if (!got.ok()) co_return got.status();
    if (got->from != server) continue;
    const std::string_view message(buffer.data(), got->bytes);
    const AnswerReading reading = read_answer(message, question, answer);
    if (reading == AnswerReading::read) co_return Status();
    if (reading == AnswerReading::damaged) {
      co_return Status(ErrorCode::corrupt_record, "the answer can't be read");
    }
  }
  co_return Status(ErrorCode::corrupt_record, "nothing but answers to other questions");
}

Task<Status> NameClient::ask_by_stream(const SocketAddress& server, const NameQuestion& question,
                                       Nanoseconds deadline, NameAnswer& answer) {
  Executor& executor = co_await current_executor();
  ConnectOptions options;
  options.timeout_ns = std::max<Nanoseconds>(deadline - executor.now(), 1);
  Result<std::unique_ptr<ByteStream>> stream = co_await network_.connect(server, options);
  if (!stream.ok()) co_return stream.status();
  WakeEvent event;
  (*stream)->set_wake_events(executor, &event, &event);
  const Status done = co_await exchange_by_stream(**stream, event, question, deadline, answer);
  (*stream)->set_wake_events(executor, nullptr, nullptr);
  (*stream)->close();
  co_return done;
}

std::optional<NameClient::Found> NameClient::kept(const std::string& labels, NameType type,
                                                  Nanoseconds now) {
  const std::lock_guard lock(mutex_);
  const auto found = kept_.find({labels, type});
  if (found == kept_.end() || found->second.until <= now) return std::nullopt;
  Found answer;
  answer.addresses = found->second.addresses;
  answer.outcome = answer.addresses.empty() ? Outcome::none : Outcome::found;
  return answer;
}

void NameClient::keep(const std::string& labels, NameType type, const NameAnswer& answer,
                      Nanoseconds now) {
  const std::uint32_t most = answer.addresses.empty() ? longest_kept_without_s : longest_kept_s;
  const std::uint32_t kept_s = std::min(answer.kept_s, most);
  if (kept_s == 0) return;
  const std::lock_guard lock(mutex_);
  if (kept_.size() >= most_kept) {
    std::erase_if(kept_, [now](const auto& each) { return each.second.until <= now; });
  }
  if (kept_.size() >= most_kept) {
    kept_.erase(std::min_element(kept_.begin(), kept_.end(), [](const auto& a, const auto& b) {
      return a.second.until < b.second.until;
    }));
  }
  kept_[{labels, type}] = {answer.addresses, now + seconds(kept_s)};
}

}  // namespace hummer
