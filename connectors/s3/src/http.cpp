#include "http.hpp"

#include <curl/curl.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace hummer::s3 {
namespace {

constexpr std::size_t max_headers = 100;
constexpr std::size_t max_header_bytes = 16 * 1024;

struct Receiver {
  HttpResponse response;
  std::size_t max_body_bytes = 0;
  bool too_large = false;
};

std::size_t receive_body(char* bytes, std::size_t size, std::size_t count, void* receiver) {
  auto& self = *static_cast<Receiver*>(receiver);
  const std::size_t length = size * count;
  if (length > self.max_body_bytes - self.response.body.size()) {
    self.too_large = true;
    return 0;
  }
  self.response.body.append(bytes, length);
  return length;
}

std::size_t receive_header(char* bytes, std::size_t size, std::size_t count, void* receiver) {
  auto& headers = static_cast<Receiver*>(receiver)->response.headers;
  const std::size_t length = size * count;
  std::string_view line(bytes, length);
  // Those of an answer "100 Continue" are not those of the answer.
  if (line.starts_with("HTTP/")) headers.clear();
  const std::size_t colon = line.find(':');
  if (colon == std::string_view::npos) return length;
  if (headers.size() == max_headers || length > max_header_bytes) return 0;
  std::string name(line.substr(0, colon));
  for (char& c : name) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  std::string_view value = line.substr(colon + 1);
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!value.empty() && is_space(value.front())) value.remove_prefix(1);
  while (!value.empty() && is_space(value.back())) value.remove_suffix(1);
  headers[std::move(name)] = value;
  return length;
}

ErrorCode code_of(CURLcode code) {
  switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST: return ErrorCode::name_not_resolved;
    case CURLE_COULDNT_CONNECT: return ErrorCode::connection_refused;
    case CURLE_OPERATION_TIMEDOUT: return ErrorCode::timed_out;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER: return ErrorCode::tls_failed;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT: return ErrorCode::invalid_configuration;
    default: return ErrorCode::connection_lost;
  }
}

// Frees the list of headers, which libcurl reads until the request is over.
struct HeaderList {
  curl_slist* first = nullptr;
  ~HeaderList() { curl_slist_free_all(first); }
  void add(const std::string& line) { first = curl_slist_append(first, line.c_str()); }
};

}  // namespace

HttpClient::HttpClient(Options options) : options_(std::move(options)) {
  static const CURLcode initialized = curl_global_init(CURL_GLOBAL_DEFAULT);
  HUMMER_ASSERT(initialized == CURLE_OK);
}

HttpClient::~HttpClient() {
  for (void* handle : idle_) curl_easy_cleanup(handle);
}

Result<HttpResponse> HttpClient::send(const Request& request, std::size_t max_body_bytes) {
  void* curl = nullptr;
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      curl = idle_.back();
      idle_.pop_back();
    }
  }
  if (curl == nullptr) curl = curl_easy_init();
  if (curl == nullptr) return Status(ErrorCode::io_error, "libcurl has no memory");

  Receiver receiver;
  receiver.max_body_bytes = max_body_bytes;
  HeaderList headers;
  for (const auto& [name, value] : request.headers) headers.add(name + ": " + value);
  // What libcurl would add by itself.
  for (const char* none : {"Accept:", "Expect:", "Content-Type:"}) headers.add(none);
  char why[CURL_ERROR_SIZE] = "";
  const std::string url = request.url();
  curl_easy_reset(curl);  // connections stay
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
  curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_1_1));
  curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
  curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(options_.connect_timeout_ms));
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 64L);
  curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME,
                   static_cast<long>(std::max<std::int64_t>(1, options_.stall_timeout_ms / 1000)));
  if (!options_.ca_file.empty()) {
    curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_file.c_str());
  }
  curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.first);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &receive_body);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &receiver);
  curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &receive_header);
  curl_easy_setopt(curl, CURLOPT_HEADERDATA, &receiver);
  if (request.method == "HEAD") {
    curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
  } else if (request.method == "PUT" || request.method == "POST") {
    curl_easy_setopt(curl, CURLOPT_POST, 1L);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE,
                     static_cast<curl_off_t>(request.body.size()));
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request.body.empty() ? "" : request.body.data());
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  } else {
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request.method.c_str());
  }
  const CURLcode code = curl_easy_perform(curl);
  long status = 0;
  curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
  receiver.response.status = static_cast<int>(status);
  {
    const std::lock_guard lock(mutex_);
    idle_.push_back(curl);
  }
  if (code == CURLE_OK) return std::move(receiver.response);
  if (receiver.too_large) {
    return Status(ErrorCode::protocol_error,
                  "an answer of more than " + std::to_string(max_body_bytes) + " bytes");
  }
  return Status(code_of(code), why[0] != '\0' ? why : curl_easy_strerror(code));
}

}  // namespace hummer::s3
