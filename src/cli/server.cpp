#include "cli/server.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "platform/look_up_now.hpp"
#include "platform/loopback.hpp"

namespace hummer {
namespace {

constexpr Nanoseconds look_interval_ns = milliseconds(200);
constexpr Nanoseconds reload_interval_ns = seconds(1);

void reload(std::span<const std::shared_ptr<TlsContext>> tls, bool asked, const Logger& log) {
  bool changed = false, failed = false;
  for (const std::shared_ptr<TlsContext>& each : tls) {
    if (each == nullptr) continue;
    const Result<bool> reloaded = each->reload();
    // Several are of the same files.
    if (!reloaded.ok() && !std::exchange(failed, true)) log.error(reloaded.status().to_string());
    if (reloaded.ok() && *reloaded) changed = true;
  }
  if (failed) return;
  if (changed) log.info("the TLS files have changed, the new ones are in use");
  if (!changed && asked) log.info("SIGHUP: the TLS files have not changed");
}

}  // namespace

Result<ProcessLogOptions> process_log_options(const LogSettings& settings, std::string process) {
  Result<LogLevels> levels = LogLevels::parse(settings.level);
  if (!levels.ok()) return levels.status().with_context("--log-level " + settings.level);
  ProcessLogOptions options;
  options.process = std::move(process);
  options.levels = *levels;
  options.format = settings.format == "json" ? LogFormat::json : LogFormat::text;
  return options;
}

Status check_exposure(Platform& platform, std::string_view option, std::string_view address,
                      Admission admission) {
  const Result<SocketAddress> resolved = look_up_now(platform, address);
  if (!resolved.ok()) return resolved.status().with_context(fmt::format("{} {}", option, address));
  const bool asks = admission.by_token || admission.by_certificate;
  if (asks || admission.insecure || is_loopback(*resolved)) return {};
  return {ErrorCode::invalid_argument,
          fmt::format(
              "{} {}: other machines could reach it and make it run their code; give "
              "--token-file or HUMMER_TOKEN on all members, or TLS with --tls-verify-peer, or say "
              "--insecure",
              option, address)};
}

void warn_of_plain_text(const Logger& log, const SocketAddress& address, bool tls) {
  if (tls || is_loopback(address)) return;
  log.warning(
      fmt::format("{}: token and data travel in plain text; give --tls-certificate, --tls-key "
                  "and --tls-ca where others could listen",
                  address.to_string()));
}

void serve_until(Platform& platform, SignalWatch& signals, const std::function<bool()>& over,
                 std::span<const std::shared_ptr<TlsContext>> tls, const Logger& log) {
  const bool any = std::any_of(tls.begin(), tls.end(), [](const auto& each) { return each; });
  Nanoseconds next_reload = platform.now() + reload_interval_ns;
  const auto ends = [&] { return signals.received() != 0 || over(); };
  while (!ends()) {
    (void)platform.run_until(ends, platform.now() + look_interval_ns);
    const bool asked = signals.take_hangup();
    if (asked && !any) log.info("SIGHUP: there are no TLS files to read again");
    if (!any || (!asked && platform.now() < next_reload)) continue;
    next_reload = platform.now() + reload_interval_ns;
    reload(tls, asked, log);
  }
}

Status explain_listen_failure(Status failure, std::string_view option) {
  if (failure.code() != ErrorCode::address_in_use) return failure;
  return {failure.code(), fmt::format("{}; end what listens there, or choose another port with {}",
                                      failure.message(), option)};
}

}  // namespace hummer
