// Questions to name servers and their answers, as bytes (RFC 1035, 2308, 3596).
//
// Names are kept as their labels: each with its length before it, in small letters, the empty one
// last. So a label may hold any byte, and equal names are equal texts.
//
// What a server answers is a stranger's: no length is believed, a compression pointer leads
// backwards only, and an answer to anything but the question asked is `foreign`.
//
// Functions. Thread: any.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "platform/network.hpp"

namespace hummer {

enum class NameType : std::uint16_t { ipv4 = 1, alias = 5, authority = 6, ipv6 = 28 };

struct NameQuestion {
  std::uint16_t id = 0;
  std::string labels;
  NameType type = NameType::ipv4;
};

struct NameAnswer {
  bool truncated = false;  // ask again over a stream
  std::uint8_t code = 0;   // 0: no failure, 3: there is no such name, others: the server's failure
  std::vector<SocketAddress> addresses;  // port 0
  // Where the chain of aliases leaves the answer without an address; empty: it doesn't.
  std::string alias;
  // How long it may be kept: the least of the records used; without an address, what the zone says
  // of names that are not there.
  std::uint32_t kept_s = 0;
};

inline constexpr std::uint8_t no_such_name = 3;

// Of "www.example.org"; empty: no name of a host.
std::string labels_of(std::string_view name);
// For messages: what is no letter, digit, '-' or '_' is a '?'.
std::string name_of(std::string_view labels);

std::string encode_question(const NameQuestion& question);

enum class AnswerReading {
  read,
  foreign,  // not the answer to this question
  damaged,  // it is, but can't be read
};
AnswerReading read_answer(std::string_view message, const NameQuestion& question,
                          NameAnswer& answer);

}  // namespace hummer
