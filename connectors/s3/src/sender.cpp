#include "sender.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

namespace hummer::s3 {
namespace {

constexpr double first_pause_s = 0.1;
constexpr double longest_pause_s = 5;
constexpr std::int64_t most_clock_off_s = 86'400;

double steady_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::int64_t wall_ms() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

void sleep_s(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
}

std::uint64_t seed() {
  std::random_device device;
  return std::uint64_t{device()} << 32 ^ device();
}

// Which may be another answer next time.
bool passes_by(const Sender::Outcome& outcome) {
  const int status = outcome.response.status;
  const std::string& code = outcome.error.code;
  return status >= 500 || status == 429 || status == 408 || code == "SlowDown" ||
         code == "RequestTimeout" || code == "OperationAborted" || code == "InternalError" ||
         code == "ConditionalRequestConflict" || code == "ServiceUnavailable";
}

bool expired(const ErrorAnswer& error) {
  return error.code == "ExpiredToken" || error.code == "InvalidToken" ||
         error.code == "TokenRefreshRequired";
}

bool passes_by(const Status& status) {
  switch (status.code()) {
    case ErrorCode::connection_refused:
    case ErrorCode::connection_lost:
    case ErrorCode::name_not_resolved:
    case ErrorCode::timed_out: return true;
    default: return false;
  }
}

}  // namespace

double TokenBucket::take(double now_s) {
  if (per_second_ == 0) return 0;
  const std::lock_guard lock(mutex_);
  tokens_ = std::min(burst(), tokens_ + (now_s - std::exchange(filled_s_, now_s)) * per_second_);
  tokens_ -= 1;  // below 0: those that wait
  return tokens_ >= 0 ? 0 : -tokens_ / per_second_;
}

Sender::Sender(const Settings& settings)
    : settings_(settings),
      http_({.ca_file = settings.ca_file,
             .connect_timeout_ms = settings.connect_timeout_ms,
             .stall_timeout_ms = settings.stall_timeout_ms}),
      credentials_(settings),
      bucket_(settings.requests_per_second),
      random_(seed()) {}

std::string Sender::draw_token() {
  const std::lock_guard lock(random_mutex_);
  std::uint64_t number = random_();
  std::string text;
  for (int i = 0; i < 16; ++i, number >>= 4) text.push_back("0123456789abcdef"[number & 15]);
  return text;
}

void Sender::address(Request& request, const std::string& bucket, const std::string& key) const {
  const std::size_t host = settings_.endpoint.find("://") + 3;
  request.scheme = settings_.endpoint.substr(0, host - 3);
  request.host = settings_.endpoint.substr(host);
  if (settings_.addressing == Addressing::virtual_host) {
    request.host = bucket + "." + request.host;
    request.path = "/" + key;
  } else {
    request.path = "/" + bucket + (key.empty() ? "" : "/" + key);
  }
}

// What the store asked for, or a draw from a stretch that doubles.
double Sender::pause_s(int tries, const HttpResponse* response) {
  if (response != nullptr) {
    const std::string after = response->header("retry-after");
    int seconds = 0;
    const auto read = std::from_chars(after.data(), after.data() + after.size(), seconds);
    if (!after.empty() && read.ec == std::errc() && seconds > 0) {
      return std::min<double>(seconds, longest_pause_s * 2);
    }
  }
  const double most = std::min(longest_pause_s, first_pause_s * (1 << std::min(tries, 10)));
  const std::lock_guard lock(random_mutex_);
  return std::uniform_real_distribution<double>(0, most)(random_);
}

Result<Sender::Outcome> Sender::send(Request request, const std::string& what,
                                     std::size_t max_body_bytes) {
  const double until_s = steady_s() + static_cast<double>(settings_.retry_ms) / 1000;
  const std::map<std::string, std::string> headers = request.headers;
  bool uncertain = false;
  bool renew = false;
  bool clock_set = false;
  for (int tries = 1;; ++tries) {
    sleep_s(bucket_.take(steady_s()));
    Result<Credentials> credentials = credentials_.get(wall_ms(), renew);
    if (!credentials.ok()) return credentials.status();
    request.headers = headers;
    sign(request, *credentials, settings_.region, wall_ms() / 1000 + clock_off_s_);
    requests_.fetch_add(1, std::memory_order_relaxed);
    Result<HttpResponse> response = http_.send(request, max_body_bytes);
    const auto tried = [&] {
      return " (tried " + std::to_string(tries) + (tries == 1 ? " time)" : " times)");
    };
    if (!response.ok()) {
      const Status& why = response.status();
      // Whoever was not reached has done nothing.
      uncertain |= why.code() == ErrorCode::connection_lost || why.code() == ErrorCode::timed_out;
      const double pause = pause_s(tries, nullptr);
      if (!passes_by(why) || steady_s() + pause > until_s) {
        const char* const advice =
            why.code() == ErrorCode::tls_failed ? "; AWS_CA_BUNDLE names a file of CAs" : "";
        return Status(why.code(), what + ": " + settings_.endpoint +
                                      " does not answer: " + why.message() + tried() + advice);
      }
      sleep_s(pause);
      continue;
    }
    Outcome outcome;
    outcome.response = std::move(*response);
    outcome.tries = tries;
    outcome.uncertain = uncertain;
    // Of an upload that is completed a failure may come behind a success.
    if (outcome.response.status >= 300 || request.method == "POST") {
      outcome.error = read_error(outcome.response.body);
    }
    if (expired(outcome.error) && !renew) {
      renew = true;
      continue;
    }
    if (outcome.error.code == "RequestTimeTooSkewed" && !clock_set) {
      clock_set = true;
      const std::int64_t theirs = parse_time_ms(outcome.response.header("date"));
      const std::int64_t off = (theirs - wall_ms()) / 1000;
      if (theirs != 0 && std::abs(off) < most_clock_off_s) {
        clock_off_s_ = off;
        continue;
      }
    }
    const double pause = pause_s(tries, &outcome.response);
    if (!passes_by(outcome) || steady_s() + pause > until_s) return outcome;
    uncertain |= outcome.response.status >= 500;
    sleep_s(pause);
  }
}

Status Sender::failure(const Outcome& outcome, const std::string& what) {
  const HttpResponse& response = outcome.response;
  const std::string& code = outcome.error.code;
  std::string text = what + ": the store answers " + std::to_string(response.status);
  if (!code.empty()) text += ", " + code;
  if (!outcome.error.message.empty()) text += ": " + outcome.error.message;
  if (outcome.tries > 1) text += " (tried " + std::to_string(outcome.tries) + " times)";
  if (code == "NoSuchBucket") {
    return {ErrorCode::invalid_configuration, text + "; make the bucket, or name another one"};
  }
  if (response.status == 301 || response.status == 307 || code == "AuthorizationHeaderMalformed") {
    const std::string region = response.header("x-amz-bucket-region");
    return {ErrorCode::invalid_configuration, text + "; set the region of the bucket" +
                                                  (region.empty() ? "" : ", " + region) +
                                                  " (AWS_REGION), or its endpoint"};
  }
  switch (response.status) {
    case 401:
    case 403:
      return {ErrorCode::permission_denied,
              text +
                  "; look at the credentials (AWS_ACCESS_KEY_ID, ~/.aws/credentials), and what "
                  "they may do"};
    case 404: return {ErrorCode::not_found, text};
    case 412: return {ErrorCode::file_changed, text};
    case 507: return {ErrorCode::disk_full, text};
    default: return {ErrorCode::io_error, text};
  }
}

}  // namespace hummer::s3
