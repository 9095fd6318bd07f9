#include "client/credentials.hpp"

#include <fmt/format.h>
#include <algorithm>

namespace hummer {

Result<std::string> read_token_file(Files& files, const std::string& path) {
  Result<std::unique_ptr<ReadableFile>> file = files.open_for_reading(path);
  if (!file.ok()) return file.status().with_context("the token's file");
  std::string text(2 * max_token_bytes, '\0');
  const Result<std::size_t> length = (*file)->read_at(0, text);
  if (!length.ok()) return length.status().with_context("the token's file");
  text.resize(*length);
  text.resize(std::min(text.find('\n'), text.size()));
  const std::size_t begin = text.find_first_not_of(" \t\r");
  if (begin == text.npos) {
    return Status(ErrorCode::invalid_configuration,
                  path + ": no token in its first line; put one there, or leave out --token-file");
  }
  return text.substr(begin, text.find_last_not_of(" \t\r") + 1 - begin);
}

Result<Credentials> find_credentials(Platform& platform, const std::string& token_file,
                                     const std::string& token, const TlsOptions& tls,
                                     TlsRole role) {
  Credentials found;
  found.token = token;
  if (!token_file.empty()) {
    Result<std::string> read = read_token_file(platform.files(), token_file);
    if (!read.ok()) return read.status();
    found.token = std::move(*read);
  }
  if (found.token.size() > max_token_bytes) {
    return Status(ErrorCode::invalid_configuration,
                  fmt::format("{}: a token has at most {} bytes",
                              token_file.empty() ? "HUMMER_TOKEN" : token_file, max_token_bytes));
  }
  if (tls.enabled()) {
    Result<std::shared_ptr<TlsContext>> context = TlsContext::make(platform, tls, role);
    if (!context.ok()) return context.status();
    found.tls = std::move(*context);
  }
  return found;
}

Result<Credentials> find_credentials(Platform& platform, const CredentialSettings& settings,
                                     TlsRole role) {
  return find_credentials(platform, settings.token_file, settings.token, settings.tls, role);
}

Result<Credentials> find_credentials(Platform& platform, const EnvironmentOptions& options,
                                     TlsRole role) {
  TlsOptions tls;
  tls.certificate_file = options.tls_certificate;
  tls.key_file = options.tls_key;
  tls.ca_file = options.tls_ca;
  tls.peer_name = options.tls_peer_name;
  return find_credentials(platform, options.token_file, options.token, tls, role);
}

}  // namespace hummer
