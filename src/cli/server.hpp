// What the commands that run for ever have in common: their log, and care about who can reach them.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include <hummer/status.hpp>

#include "platform/platform.hpp"
#include "platform/tls.hpp"

namespace hummer {

inline constexpr const char* server_exit_codes_text =
    "Exit code: 0 ended by a signal in good order, 1 failure, 2 wrong usage, 130 or 143 ended at "
    "once by a second signal.";

// Lines on standard error: "2026-11-21 08:50:00 jobmanager: ...". Thread: any.
class ServerLog {
 public:
  ServerLog(Platform& platform, std::string name) : platform_(platform), name_(std::move(name)) {}
  void line(std::string_view text);
  // For the options of JobManager and TaskManager; context: the ServerLog.
  static void write(void* context, std::string_view text);

 private:
  Platform& platform_;
  const std::string name_;
};

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
void warn_of_plain_text(ServerLog& log, const SocketAddress& address, bool tls);

// Blocks until over() holds, which is asked five times a second. Meanwhile TLS files that change
// are read again (`tls` may be null).
void serve_until(Platform& platform, const std::function<bool()>& over, TlsContext* tls,
                 ServerLog& log);

bool is_loopback(const SocketAddress& address);

// With what to do about it.
Status explain_listen_failure(Status failure, std::string_view option);

}  // namespace hummer
