// Registration: from no connection to a session with the JobManager, one try at a time.
//
// connect → Hello with who this is → Welcome, or a refusal that says whether to try again.
// Backoff gives the pauses between tries: 0.1 s growing to 5 s, each shortened by a random part, so
// that the TaskManagers of a JobManager that came back do not all call at once.
//
// Thread: a coroutine on the caller's executor.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/data_address.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "platform/tls.hpp"
#include "protocol/control.pb.h"
#include "protocol/message_stream.hpp"

namespace hummer {

struct RegistrationRequest {
  std::string job_manager;  // host:port
  wire::Hello hello;        // without data addresses
  // Those on any address ("0.0.0.0:7000") are told as the address that this host has towards the
  // JobManager.
  std::vector<DataAddress> data_addresses;
  std::shared_ptr<TlsContext> tls;  // null: plain
  MessageFaults* faults = nullptr;
};

struct Registered {
  std::unique_ptr<MessageStream> stream;  // null: status says why
  wire::Welcome welcome;
  Status status;
  bool for_good = false;  // trying again is of no use
};

Task<Registered> register_once(Platform& platform, RegistrationRequest request);

class Backoff {
 public:
  explicit Backoff(Random& random) : random_(random) {}
  Nanoseconds next();
  void reset() { pause_ns_ = first_ns; }

  static constexpr Nanoseconds first_ns = milliseconds(100);
  static constexpr Nanoseconds longest_ns = seconds(5);

 private:
  Random& random_;
  Nanoseconds pause_ns_ = first_ns;
};

}  // namespace hummer
