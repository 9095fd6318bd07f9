// Sender: a request until it has been answered: signed, kept to the rate, tried again.
//
//   Result<Sender::Outcome> outcome = sender.send(request, max_body_bytes);
//
// An outcome is any answer that is final: also 404 or 412. `uncertain` says that an earlier try of
// the same request may have been carried out.
//
// Thread: any; blocks.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <random>
#include <string>

#include <hummer/s3/settings.hpp>
#include <hummer/status.hpp>

#include "answers.hpp"
#include "credentials.hpp"
#include "http.hpp"

namespace hummer::s3 {

// So many requests a second, and as many at once as a second has.
class TokenBucket {
 public:
  explicit TokenBucket(double per_second) : per_second_(per_second), tokens_(burst()) {}
  // How long to wait before the request that asks; it has its token then.
  double take(double now_s);

 private:
  double burst() const { return per_second_ > 1 ? per_second_ : 1; }
  const double per_second_;  // 0: no limit
  std::mutex mutex_;
  double tokens_;
  double filled_s_ = 0;
};

class Sender {
 public:
  struct Outcome {
    HttpResponse response;
    ErrorAnswer error;  // of a response that is none of success
    int tries = 1;
    bool uncertain = false;
  };
  explicit Sender(const Settings& settings);

  // `what` is done to which object, for messages. The request's host is made of the bucket.
  Result<Outcome> send(Request request, const std::string& what, std::size_t max_body_bytes);
  // As a failure; see connectors/s3/include/hummer/s3/client.hpp.
  static Status failure(const Outcome& outcome, const std::string& what);

  const Settings& settings() const { return settings_; }
  std::uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }
  // 16 letters that nobody else draws.
  std::string draw_token();
  // Host and path of a bucket's object.
  void address(Request& request, const std::string& bucket, const std::string& key) const;

 private:
  double pause_s(int tries, const HttpResponse* response);

  const Settings settings_;
  HttpClient http_;
  CredentialSource credentials_;
  TokenBucket bucket_;
  std::atomic<std::uint64_t> requests_{0};
  std::atomic<std::int64_t> clock_off_s_{0};  // of the store's clock ahead of ours
  std::mutex random_mutex_;
  std::mt19937_64 random_;
};

}  // namespace hummer::s3
