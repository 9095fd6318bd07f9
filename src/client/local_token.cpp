#include "client/local_token.hpp"

#include <array>
#include <utility>

#include <fmt/format.h>

#include "client/credentials.hpp"
#include "platform/loopback.hpp"
#include "platform/user_directory.hpp"

namespace hummer {
namespace {

constexpr std::size_t token_bytes = 32;

std::string draw_token(Platform& platform) {
  std::array<char, token_bytes> bytes{};
  platform.random().fill(bytes);
  std::string text;
  for (const char byte : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

Result<std::string> published_path(Platform& platform, const SocketAddress& address) {
  const Result<std::string> directory = user_directory(platform);
  if (!directory.ok()) return directory.status();
  return *directory + "/" + address.to_string() + ".token";
}

// Empty: no file.
Result<std::string> read_if_there(Files& files, const std::string& path) {
  Result<std::string> token = read_token_file(files, path);
  if (!token.ok() && token.status().code() == ErrorCode::not_found) return std::string();
  return token;
}

Result<std::string> token_at(Platform& platform, const SocketAddress& address) {
  const Result<std::string> path = published_path(platform, address);
  if (!path.ok()) return path.status();
  return read_if_there(platform.files(), *path);
}

}  // namespace

Result<LocalToken> make_local_token(Platform& platform, const std::string& listen_address,
                                    const std::string& state_directory) {
  Files& files = platform.files();
  LocalToken made;
  if (!state_directory.empty()) {
    HUMMER_TRY(files.create_directories(state_directory));
    made.path = state_directory + "/token";
    Result<std::string> there = read_if_there(files, made.path);
    if (!there.ok()) return there.status();
    made.token = std::move(*there);
    if (!made.token.empty()) return made;
  }
  const Result<SocketAddress> address = platform.network().resolve(listen_address);
  if (!address.ok()) return address.status();
  if (address->port != 0) {
    Result<std::string> before = token_at(platform, *address);
    if (!before.ok()) return before.status();
    made.token = std::move(*before);
  }
  if (made.token.empty()) made.token = draw_token(platform);
  if (made.path.empty()) return made;
  const Status written = write_private_file(platform, made.path, made.token + "\n");
  if (written.code() == ErrorCode::invalid_argument) {
    // Another one was faster; one of the two will not get the directory.
    Result<std::string> there = read_token_file(files, made.path);
    if (!there.ok()) return there.status();
    made.token = std::move(*there);
    return made;
  }
  if (!written.ok()) return written;
  HUMMER_TRY(files.sync_directory(state_directory));
  return made;
}

Result<std::string> publish_local_token(Platform& platform, const SocketAddress& address,
                                        const std::string& token) {
  Result<std::string> path = published_path(platform, address);
  if (!path.ok()) return path;
  const std::string fresh = fmt::format("{}.{:016x}", *path, platform.random().next());
  Status written = write_private_file(platform, fresh, token + "\n");
  if (written.ok()) written = platform.files().rename(fresh, *path);
  if (!written.ok()) {
    (void)platform.files().remove(fresh);
    return written;
  }
  return path;
}

void withdraw_local_token(Platform& platform, const SocketAddress& address) {
  const Result<std::string> path = published_path(platform, address);
  if (path.ok()) (void)platform.files().remove(*path);
}

std::string find_local_token(Platform& platform, const std::string& job_manager) {
  const Result<SocketAddress> address = platform.network().resolve(job_manager);
  if (!address.ok() || !is_loopback(*address)) return {};
  Result<std::string> token = token_at(platform, *address);
  return token.ok() ? std::move(*token) : std::string();
}

}  // namespace hummer
