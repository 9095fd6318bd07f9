#include "credentials.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace hummer::s3 {
namespace {

constexpr std::int64_t renewed_after_ms = 60'000;
constexpr std::size_t max_file_bytes = 1 << 20;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

std::string in_home(const char* path) {
  const std::string home = variable("HOME");
  return home.empty() ? std::string() : home + "/.aws/" + path;
}

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Empty: it is not there.
std::string small_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(max_file_bytes, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(std::max<std::streamsize>(file.gcount(), 0)));
  return text;
}

void fill(std::string& setting, std::string value) {
  if (setting.empty()) setting = std::move(value);
}

Status not_a_number(const std::string& name, const std::string& value) {
  return {ErrorCode::invalid_configuration,
          "the variable " + name + " is '" + value + "', and should be a number from 0 on"};
}

template <typename Number>
Status fill_number(const char* name, Number& setting) {
  const std::string value = variable(name);
  if (value.empty()) return {};
  Number number{};
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !(number >= 0)) {
    return not_a_number(name, value);
  }
  setting = number;
  return {};
}

}  // namespace

Result<Settings> Settings::from_environment(Settings settings) {
  fill(settings.profile, variable("AWS_PROFILE"));
  fill(settings.profile, "default");
  fill(settings.credentials_file, variable("AWS_SHARED_CREDENTIALS_FILE"));
  fill(settings.credentials_file, in_home("credentials"));
  std::string config = variable("AWS_CONFIG_FILE");
  fill(config, in_home("config"));
  auto profile = profile_values(small_file(config), settings.profile);

  fill(settings.endpoint, variable("AWS_ENDPOINT_URL_S3"));
  fill(settings.endpoint, variable("AWS_ENDPOINT_URL"));
  fill(settings.endpoint, profile["endpoint_url"]);
  fill(settings.region, variable("AWS_REGION"));
  fill(settings.region, variable("AWS_DEFAULT_REGION"));
  fill(settings.region, profile["region"]);
  fill(settings.region, "us-east-1");
  fill(settings.ca_file, variable("AWS_CA_BUNDLE"));
  if (settings.access_key_id.empty()) {
    settings.access_key_id = variable("AWS_ACCESS_KEY_ID");
    settings.secret_access_key = variable("AWS_SECRET_ACCESS_KEY");
    settings.session_token = variable("AWS_SESSION_TOKEN");
  }
  if (settings.access_key_id.empty() != settings.secret_access_key.empty()) {
    return Status(ErrorCode::invalid_configuration,
                  "an access key of an object store has an id and a secret: give both, or neither "
                  "(AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY)");
  }
  const std::string addressing = variable("HUMMER_S3_ADDRESSING");
  if (settings.addressing == Addressing::automatic && !addressing.empty()) {
    if (addressing != "path" && addressing != "virtual_host") {
      return Status(ErrorCode::invalid_configuration, "the variable HUMMER_S3_ADDRESSING is '" +
                                                          addressing +
                                                          "', and should be path or virtual_host");
    }
    settings.addressing = addressing == "path" ? Addressing::path : Addressing::virtual_host;
  }
  HUMMER_TRY(fill_number("HUMMER_S3_REQUESTS_PER_SECOND", settings.requests_per_second));
  HUMMER_TRY(fill_number("HUMMER_S3_RETRY_MS", settings.retry_ms));

  const bool amazon = settings.endpoint.empty();
  fill(settings.endpoint, "https://s3." + settings.region + ".amazonaws.com");
  while (settings.endpoint.ends_with('/')) settings.endpoint.pop_back();
  const std::string& endpoint = settings.endpoint;
  const std::size_t host = endpoint.starts_with("https://")  ? 8
                           : endpoint.starts_with("http://") ? 7
                                                             : 0;
  if (host == 0 || endpoint.size() == host ||
      endpoint.find_first_of("/?#@ ", host) != std::string::npos) {
    return Status(ErrorCode::invalid_configuration,
                  "the endpoint of an object store is '" + endpoint +
                      "', and should be http:// or https://, a host, and maybe a port");
  }
  if (settings.addressing == Addressing::automatic) {
    settings.addressing = amazon || endpoint.ends_with(".amazonaws.com") ? Addressing::virtual_host
                                                                         : Addressing::path;
  }
  return settings;
}

std::map<std::string, std::string> profile_values(std::string_view file, std::string_view profile) {
  std::map<std::string, std::string> values;
  bool inside = false;
  while (!file.empty()) {
    const std::size_t end = std::min(file.find('\n'), file.size());
    const std::string_view line = trimmed(file.substr(0, end));
    file.remove_prefix(std::min(end + 1, file.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      std::string_view name = trimmed(line.substr(1, line.find(']') - 1));
      if (name.starts_with("profile ")) name = trimmed(name.substr(8));
      inside = name == profile;
      continue;
    }
    const std::size_t sign = line.find('=');
    if (!inside || sign == std::string_view::npos) continue;
    std::string key(trimmed(line.substr(0, sign)));
    for (char& c : key) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    values[key] = trimmed(line.substr(sign + 1));
  }
  return values;
}

Result<Credentials> CredentialSource::get(std::int64_t now_ms, bool renew) {
  if (!settings_.access_key_id.empty()) {
    return Credentials{settings_.access_key_id, settings_.secret_access_key,
                       settings_.session_token};
  }
  const std::lock_guard lock(mutex_);
  if (read_ms_ >= 0 && !renew && now_ms - read_ms_ < renewed_after_ms) return known_;
  auto values = profile_values(small_file(settings_.credentials_file), settings_.profile);
  Credentials found{values["aws_access_key_id"], values["aws_secret_access_key"],
                    values["aws_session_token"]};
  if (found.access_key_id.empty() != found.secret_access_key.empty()) {
    return Status(ErrorCode::invalid_configuration,
                  "'" + settings_.credentials_file + "': the profile '" + settings_.profile +
                      "' has only one of aws_access_key_id and aws_secret_access_key");
  }
  // One that is being written anew may be empty for a moment.
  if (!found.access_key_id.empty() || read_ms_ < 0) known_ = std::move(found);
  read_ms_ = now_ms;
  return known_;
}

}  // namespace hummer::s3
