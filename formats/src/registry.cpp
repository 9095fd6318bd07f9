#include <hummer/formats/registry.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <mutex>
#include <random>
#include <thread>
#include <utility>

#include <curl/curl.h>

#include "schema_text.hpp"

namespace hummer::formats {
namespace {

constexpr std::string_view content_type = "application/vnd.schemaregistry.v1+json";

std::string_view language_name(SchemaRegistry::Language language) {
  switch (language) {
    case SchemaRegistry::Language::avro: return "AVRO";
    case SchemaRegistry::Language::protobuf: return "PROTOBUF";
    case SchemaRegistry::Language::json: return "JSON";
  }
  return "";
}

struct RegistryAnswer {
  long status = 0;
  std::string body = {};
  bool too_large = false;
  std::size_t most = 0;
};

std::size_t take_answer(char* data, std::size_t, std::size_t size, void* to) {
  auto& answer = *static_cast<RegistryAnswer*>(to);
  answer.too_large = size > answer.most - answer.body.size();
  if (answer.too_large) return 0;
  answer.body.append(data, size);
  return size;
}

// What libcurl makes is given back whichever way it ends.
struct CurlDeleter {
  void operator()(CURL* handle) const { curl_easy_cleanup(handle); }
  void operator()(curl_slist* list) const { curl_slist_free_all(list); }
  void operator()(char* text) const { curl_free(text); }
};
using CurlHandle = std::unique_ptr<CURL, CurlDeleter>;

class HttpRegistry final : public SchemaRegistry {
 public:
  explicit HttpRegistry(RegistryOptions options) : options_(std::move(options)) {
    static std::once_flag once;
    std::call_once(once, [] { curl_global_init(CURL_GLOBAL_DEFAULT); });
    while (options_.url.ends_with('/')) options_.url.pop_back();
  }

  Result<std::string> schema(std::uint32_t id, Language language) override {
    // The first one asks, and the others wait for its answer.
    const std::lock_guard lock(mutex_);
    if (const auto known = schemas_.find(id); known != schemas_.end()) {
      return in_language(known->second, language);
    }
    Schema schema;
    const std::string path = "/schemas/ids/" + std::to_string(id);
    Result<SchemaValue> answer = ask(path, {});
    if (!answer.ok()) return answer.status();
    const std::string_view type = answer->text_of("schemaType");
    schema.language = type.empty() ? "AVRO" : type;
    const SchemaValue* const references = answer->find("references");
    if (schema.language == "PROTOBUF") {
      answer = ask(path + "?format=serialized", {});
    } else if (references != nullptr && !references->items.empty()) {
      answer = ask(path + "?format=resolved", {});
    }
    if (!answer.ok()) return answer.status();
    schema.text = answer->text_of("schema");
    if (schema.text.empty()) return nonsense(path);
    return in_language(schemas_.emplace(id, std::move(schema)).first->second, language);
  }

  Result<std::uint32_t> add(std::string_view subject, Language language,
                            std::string_view schema) override {
    const std::lock_guard lock(mutex_);
    const auto key = std::make_pair(std::string(subject), std::string(schema));
    if (const auto known = numbers_.find(key); known != numbers_.end()) return known->second;
    std::string body =
        "{\"schemaType\":\"" + std::string(language_name(language)) + "\",\"schema\":";
    append_quoted(schema, body);
    body += '}';
    const std::unique_ptr<char, CurlDeleter> escaped(
        curl_easy_escape(nullptr, subject.data(), static_cast<int>(subject.size())));
    const std::string path = "/subjects/" + std::string(escaped.get()) + "/versions";
    const Result<SchemaValue> answer = ask(path, body);
    if (!answer.ok()) return answer.status();
    const SchemaValue* const id = answer->find("id");
    if (id == nullptr || !id->is(SchemaValue::Kind::number) || id->text.size() > 10) {
      return nonsense(path);
    }
    const std::uint64_t number = std::stoull(id->text);
    if (number > UINT32_MAX) return nonsense(path);
    return numbers_.emplace(key, static_cast<std::uint32_t>(number)).first->second;
  }

  std::string captured() const override { return options_.url; }

 private:
  struct Schema {
    std::string language;
    std::string text;
  };

  static Result<std::string> in_language(const Schema& schema, Language language) {
    if (schema.language == language_name(language)) return schema.text;
    return Status(ErrorCode::corrupt_record, "it is of the language " + schema.language +
                                                 ", and not " +
                                                 std::string(language_name(language)));
  }

  Status nonsense(const std::string& path) const {
    return {ErrorCode::protocol_error, options_.url + path + ": the answer makes no sense"};
  }

  // An empty body: a GET.
  Result<SchemaValue> ask(const std::string& path, const std::string& body) {
    std::string why;
    for (int attempt = 0; attempt < std::max(options_.attempts, 1); ++attempt) {
      if (attempt > 0) wait(attempt);
      RegistryAnswer answer{.most = options_.max_answer_bytes};
      const CURLcode code = request(path, body, answer);
      if (answer.too_large) {
        return Status(ErrorCode::limit_exceeded,
                      options_.url + path + ": the answer has more than " +
                          std::to_string(answer.most) + " bytes (the option max_answer_bytes)");
      }
      if (code != CURLE_OK) {
        why = curl_easy_strerror(code);
        if (is_lasting(code)) break;
        continue;
      }
      if (answer.status == 429 || answer.status >= 500) {
        why = "status " + std::to_string(answer.status);
        continue;
      }
      return judge(path, answer);
    }
    return Status(ErrorCode::connection_refused, options_.url + path + ": " + why);
  }

  static bool is_lasting(CURLcode code) {
    return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT ||
           code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE;
  }

  Result<SchemaValue> judge(const std::string& path, const RegistryAnswer& answer) const {
    Result<SchemaValue> value = parse_schema_text(answer.body);
    if (answer.status == 200) {
      if (value.ok() && value->is(SchemaValue::Kind::object)) return value;
      return nonsense(path);
    }
    std::string why = options_.url + path + ": status " + std::to_string(answer.status);
    if (value.ok()) {
      const std::string said(value->text_of("message").substr(0, 300));
      if (!said.empty()) why += ": " + said;
    }
    switch (answer.status) {
      case 404: return Status(ErrorCode::not_found, why);
      case 401:
      case 403: return Status(ErrorCode::permission_denied, why);
      case 409:
      case 422: return Status(ErrorCode::invalid_argument, why);
      default: return Status(ErrorCode::protocol_error, why);
    }
  }

  void wait(int attempt) {
    constexpr int first_ms = 100;
    constexpr int longest_ms = 10'000;
    const int usual = std::min(first_ms << std::min(attempt - 1, 10), longest_ms);
    const int more = std::uniform_int_distribution<int>(0, usual / 2)(random_);
    std::this_thread::sleep_for(std::chrono::milliseconds(usual + more));
  }

  CURLcode request(const std::string& path, const std::string& body, RegistryAnswer& answer) {
    const CurlHandle handle(curl_easy_init());
    CURL* const curl = handle.get();
    const std::string url = options_.url + path;
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, static_cast<long>(options_.timeout_ms));
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &take_answer);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    if (!options_.ca_file.empty()) {
      curl_easy_setopt(curl, CURLOPT_CAINFO, options_.ca_file.c_str());
    }
    if (!options_.user.empty()) {
      curl_easy_setopt(curl, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BASIC));
      curl_easy_setopt(curl, CURLOPT_USERNAME, options_.user.c_str());
      curl_easy_setopt(curl, CURLOPT_PASSWORD, options_.password.c_str());
    }
    std::unique_ptr<curl_slist, CurlDeleter> headers;
    const auto add_header = [&](const std::string& line) {
      headers.reset(curl_slist_append(headers.release(), line.c_str()));
    };
    add_header("Accept: " + std::string(content_type) + ", application/json");
    if (!options_.token_file.empty()) {
      std::ifstream file(options_.token_file);
      std::string token;
      if (!std::getline(file, token)) return CURLE_LOGIN_DENIED;
      add_header("Authorization: Bearer " + token);
    }
    if (!body.empty()) {
      add_header("Content-Type: " + std::string(content_type));
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.c_str());
      curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE, static_cast<long>(body.size()));
    }
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers.get());
    const CURLcode code = curl_easy_perform(curl);
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.status);
    return code;
  }

  RegistryOptions options_;
  std::mutex mutex_;
  std::map<std::uint32_t, Schema> schemas_;
  std::map<std::pair<std::string, std::string>, std::uint32_t> numbers_;
  std::minstd_rand random_{std::random_device()()};
};

}  // namespace

std::shared_ptr<SchemaRegistry> registry(RegistryOptions options) {
  return std::make_shared<HttpRegistry>(std::move(options));
}

}  // namespace hummer::formats
