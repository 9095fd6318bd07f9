// Client: requests to an S3-compatible object store.
//
//   auto client = hummer::s3::Client::make({.endpoint = "http://localhost:8333"});
//   if (!client.ok()) …
//   (void)(*client)->put({"bucket", "folder/name"}, "bytes", {.only_new = true});
//   char into[100];
//   Result<std::size_t> got = (*client)->get({"bucket", "folder/name"}, 0, into);
//
// Every call blocks until the store has answered. What may pass by (5xx, 429, SlowDown, a lost
// connection, no answer) is tried again for Settings::retry_ms, with pauses that grow and are
// drawn, or that the store asked for; requests are the same then, and calls mean the same whether
// the store has seen one of them or two: who wrote an object, or made an upload, is noted in its
// metadata, so that a condition which fails because the first try had worked is not taken for a
// failure.
//
// Errors: not_found (object, upload), invalid_argument (only_new: it is there), file_changed
// (if_match), permission_denied, invalid_configuration (no such bucket), connection_…, timed_out,
// protocol_error, io_error for the rest, each with the object, what the store said, and how often
// it was asked.
//
// Lifecycle: outlives nothing; no threads. Thread: any, all calls at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/s3/settings.hpp>
#include <hummer/status.hpp>

namespace hummer::s3 {

struct Place {
  std::string bucket;
  std::string key;

  // "s3://bucket/key"
  std::string text() const { return "s3://" + bucket + "/" + key; }
};

struct Object {
  std::string key;
  std::uint64_t size_bytes = 0;
  std::int64_t modified_ms = 0;  // since 1970; with the store's precision
  std::string etag;              // with its quotes
};

// At most one is set.
struct Condition {
  bool only_new = false;      // nothing has the key
  std::string if_match = {};  // what has it has this ETag
};

struct Listing {
  std::vector<Object> objects;
  std::vector<std::string> prefixes;  // up to the delimiter, and with it
  std::string next;                   // for the next page; empty: this was the last
};

struct Upload {
  Place place;
  std::string id;
  std::string token;  // by which the object that it becomes is known again
  std::int64_t begun_ms = 0;
};

struct Part {
  int number = 0;  // from 1 to 10,000
  std::string etag;
  std::uint64_t size_bytes = 0;
};

class Client {
 public:
  // `settings` are completed from the environment.
  static Result<std::unique_ptr<Client>> make(Settings settings);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  const Settings& settings() const;

  Result<Object> head(const Place& place);
  // Fills `into` as far as the object goes: 0 at or behind its end.
  Result<std::size_t> get(const Place& place, std::uint64_t offset, std::span<char> into,
                          const std::string& if_match = {});
  // The ETag.
  Result<std::string> put(const Place& place, std::string_view bytes,
                          const Condition& condition = {});
  // Within the store; what is at `to` is replaced. At most 5 GiB.
  Status copy(const Place& from, const Place& to);
  // No failure when there is none.
  Status remove(const Place& place);
  // At most 1,000 a request, as many requests as it takes.
  Status remove(const std::string& bucket, std::span<const std::string> keys);
  // A page: at most 1,000. `from`: Listing::next.
  Result<Listing> list(const std::string& bucket, const std::string& prefix,
                       const std::string& delimiter = {}, const std::string& from = {},
                       int most = 1000);

  // ---- uploads in parts ----
  Result<Upload> begin_upload(const Place& place);
  Result<Part> put_part(const Upload& upload, int number, std::string_view bytes);
  // Once more does nothing, as long as the object is there; not_found: neither upload nor object.
  Status complete(const Upload& upload, std::span<const Part> parts,
                  const Condition& condition = {});
  // No failure when there is none.
  Status abort(const Upload& upload);
  // Those that are neither complete nor aborted, of all keys with this prefix. Their tokens are
  // not known.
  Result<std::vector<Upload>> uploads(const std::string& bucket, const std::string& prefix);
  Result<std::vector<Part>> parts(const Upload& upload);
  // Whether the object at its place is what it has become. not_found: there is none.
  Result<bool> has_become(const Upload& upload);

  // How many requests have been sent, those that were tried again included.
  std::uint64_t requests() const;

 private:
  class State;
  explicit Client(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// Takes "s3://bucket/key" apart; the key may be empty. invalid_argument.
Result<Place> parse_place(const std::string& text);

}  // namespace hummer::s3
