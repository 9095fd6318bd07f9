#include "cli/server.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include "cli/table.hpp"

namespace hummer {

void ServerLog::line(std::string_view text) {
  (void)platform_.write_standard(
      2, fmt::format("{} {}: {}\n", format_wall_time(platform_.wall_time_ms()), name_, text));
}

void ServerLog::write(void* context, std::string_view text) {
  static_cast<ServerLog*>(context)->line(text);
}

void add_insecure_option(CLI::App& app, bool& insecure) {
  app.add_flag("--insecure", insecure,
               "listen where other machines can reach it, though nobody needs a token");
}

bool is_loopback(const SocketAddress& address) {
  if (!address.is_ipv6) return address.bytes[0] == 127;
  std::array<std::uint8_t, 16> one{};
  one[15] = 1;
  return address.bytes == one;
}

Status check_exposure(Platform& platform, std::string_view option, std::string_view address,
                      std::string_view token, bool insecure) {
  const Result<SocketAddress> resolved = platform.network().resolve(address);
  if (!resolved.ok()) return resolved.status().with_context(fmt::format("{} {}", option, address));
  if (!token.empty() || insecure || is_loopback(*resolved)) return {};
  return {ErrorCode::invalid_argument,
          fmt::format("{} {}: other machines could reach it and make it run their code; give "
                      "--token-file or HUMMER_TOKEN on all members, or say --insecure",
                      option, address)};
}

Status explain_listen_failure(Status failure, std::string_view option) {
  if (failure.code() != ErrorCode::address_in_use) return failure;
  return {failure.code(),
          fmt::format("{}; end what listens there, or choose another port with {}",
                      failure.message(), option)};
}

}  // namespace hummer
