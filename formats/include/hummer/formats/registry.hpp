// registry: a schema registry that is asked over HTTP, by the protocol of Confluent's.
//
//   const auto schemas = hummer::formats::registry({.url = "https://registry.example:8081"});
//   auto trades = hummer::formats::decode<Trade>(messages, hummer::formats::avro(schemas));
//   auto values = hummer::formats::encode_messages(trades,
//       hummer::formats::avro(schemas, {.subject = "trades-value"}));
//
// A message begins with a byte 0 and the number of its schema, four bytes; with Protobuf the place
// of the message in its schema follows. A schema is asked for once, by the first message that has
// its number (the task waits meanwhile), and kept for good; all formats that are made with one
// object share it. What is written is added to the registry under `subject` before the first
// record; the registry says whether it is compatible with what was there, and gives it the number
// that it has already where it is known.
//
// A request that gets no answer, or one of 429 and of 500 and above, is made again, up to
// `attempts` times in all, after 0.1, 0.2, 0.4, … s, each time up to a half more. Then the job
// fails, and a restart begins again: no message is taken for a bad one because a server was away. A
// number that the registry does not know makes a bad record.
//
// Passwords and tokens are no part of what client and workers compare, and stand in no message.
// `token_file` is read anew for each request.
//
// Needs libcurl, with which the library is built where that is installed (libcurl4-openssl-dev):
// else the first call of registry() does not link, and CMake says so.
//
// Thread: any. Errors: not_found, permission_denied, invalid_argument (what is written was
// refused), corrupt_record (a schema of another language), limit_exceeded (an answer that is too
// large), connection_refused (no answer), protocol_error (an answer that makes no sense).
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include <hummer/formats/schema_registry.hpp>

namespace hummer::formats {

struct RegistryOptions {
  std::string url = {};   // without what is behind host and port, unless it lies below a path
  std::string user = {};  // basic authentication
  std::string password = {};
  std::string token_file = {};  // or a bearer's token
  std::string ca_file = {};     // empty: the system's
  int timeout_ms = 10'000;      // of a request
  int attempts = 6;
  std::size_t max_answer_bytes = 1 << 20;
};

std::shared_ptr<SchemaRegistry> registry(RegistryOptions options);

}  // namespace hummer::formats
