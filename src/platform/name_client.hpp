// NameClient: addresses of host names, from /etc/hosts and from name servers.
//
//   const Result<SocketAddress> address = co_await names.look_up("jobmanager.internal:6123");
//
// In this order: numbers, localhost and *.localhost, which ask nobody; the hosts file; the servers
// of resolv.conf (name_configuration.hpp), over UDP and, where an answer was cut short, over TCP.
// Both files are read at each look-up. A (IPv4) is asked first, AAAA (IPv6) where there is none;
// aliases (CNAME) are followed. Of several addresses it is the first. There is no other source: no
// NIS, no mDNS, no library of the system, which a static program could not load.
//
// A server that does not answer within `timeout`, refuses or can't make sense of the question is
// passed over, and all are asked `attempts` times. What comes from another address, has another
// number or answers another question is no answer. Numbers are drawn, and so is the port of each
// question.
//
// Answers are kept as long as their zone says (a day at most; that a name is not there, five
// minutes at most), of a thousand names at most. Failures are not kept.
//
// Thread: any; a look-up runs on the executor that awaits it. Errors: name_not_resolved, which
// names the host, whom it asked and what came of it; invalid_argument for what is no address at
// all.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "platform/files.hpp"
#include "platform/name_configuration.hpp"
#include "platform/name_message.hpp"
#include "platform/network.hpp"
#include "platform/random.hpp"

namespace hummer {

struct NameClientOptions {
  std::string hosts_file = "/etc/hosts";
  std::string configuration_file = "/etc/resolv.conf";
  std::uint16_t port = 53;  // of the servers
};

class NameClient {
 public:
  // All of them outlive it.
  NameClient(Network& network, Files& files, Random& random, NameClientOptions options = {});

  // "host:port". Without asking anybody: name_not_resolved where a server would have to be.
  Result<SocketAddress> find_here(std::string_view text);
  Task<Result<SocketAddress>> look_up(std::string text);

 private:
  enum class Outcome { found, none, failed };
  struct Found {
    Outcome outcome = Outcome::failed;
    std::vector<SocketAddress> addresses;
    std::string why;  // failed
  };
  struct Kept {
    std::vector<SocketAddress> addresses;  // none: there are none
    Nanoseconds until = 0;
  };

  Task<Found> addresses_of(const std::string& labels, const NameConfiguration& configuration);
  Task<Found> addresses_of_type(std::string labels, NameType type,
                                const NameConfiguration& configuration);
  // Of the first server that has an answer.
  Task<Status> ask_servers(const std::string& labels, NameType type,
                           const NameConfiguration& configuration, NameAnswer& answer);
  Task<Status> ask(const SocketAddress& server, const NameQuestion& question,
                   const NameConfiguration& configuration, NameAnswer& answer);
  Task<Status> ask_by_datagram(const SocketAddress& server, const NameQuestion& question,
                               Nanoseconds deadline, NameAnswer& answer);
  Task<Status> ask_by_stream(const SocketAddress& server, const NameQuestion& question,
                             Nanoseconds deadline, NameAnswer& answer);
  std::optional<Found> kept(const std::string& labels, NameType type, Nanoseconds now);
  void keep(const std::string& labels, NameType type, const NameAnswer& answer, Nanoseconds now);
  // Empty when it is not there.
  std::string read(const std::string& path);

  Network& network_;
  Files& files_;
  Random& random_;
  const NameClientOptions options_;
  std::mutex mutex_;
  std::map<std::pair<std::string, NameType>, Kept> kept_;
};

}  // namespace hummer
