// What the commands that run for ever have in common: their log, and care about who can reach them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "api/options/settings.hpp"
#include "observability/process_log.hpp"
#include "platform/platform.hpp"
#include "platform/tls.hpp"

namespace hummer {

inline constexpr const char* server_exit_codes_text =
    "Exit code: 0 ended by a signal in good order, 1 failure, 2 wrong usage, 130 or 143 ended at "
    "once by a second signal.";

// What was asked for by --log-level and --log-format, or what is wrong with it. `process`:
// "jobmanager".
Result<ProcessLogOptions> process_log_options(const LogSettings& settings, std::string process);

// What it takes to be let in.
struct Admission {
  bool by_token = false;
  bool by_certificate = false;
  bool insecure = false;  // nothing, on purpose
};

// Whether to listen at `address`: a name that does not resolve is a failure, and so is an address
// that others can reach when everybody is let in, unless `insecure`. `option` is named in messages.
Status check_exposure(Platform& platform, std::string_view option, std::string_view address,
                      Admission admission);

// Says so when others can read what goes through `address`.
void warn_of_plain_text(const Logger& log, const SocketAddress& address, bool tls);

// Blocks until a signal asks for the end or over() holds, which is asked five times a second.
// Meanwhile TLS files that change are read again (null in `tls` counts as none): looked at once a
// second, and at once after SIGHUP.
void serve_until(Platform& platform, SignalWatch& signals, const std::function<bool()>& over,
                 std::span<const std::shared_ptr<TlsContext>> tls, const Logger& log);

// With what to do about it.
Status explain_listen_failure(Status failure, std::string_view option);

}  // namespace hummer
