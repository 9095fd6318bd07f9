// Many TaskManagers in one process, as far as the JobManager can tell: each registers with a token
// and sends its state as heartbeat at the interval that it is told, over a connection of its own.
// None ever gets work: they claim to be another program, which has no jobs.
//
//   heartbeat_swarm --job-manager 127.0.0.1:6123 --count 5000 --seconds 60
//
// Each second a line on standard output: seconds, alive, lost, answers (of the JobManager, so far),
// tab-separated. SIGTERM ends all connections at the same moment: by `--death close` in good order,
// with what is queued thrown away; by `--death reset` with a reset (RST) and not a word more, as
// when a host loses them. For a death without a sign, stop the process. Exit code 0 when no
// connection was lost before.
//
// Token and certificates come from the environment: credentials_of_environment.hpp.
#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <string>
#include <unordered_set>

#include "cluster/credentials_of_environment.hpp"
#include "job_library/engine_abi.hpp"
#include "platform/platform.hpp"
#include "protocol/message_stream.hpp"
#include "protocol/protocol_version.hpp"
#include "task_manager/registration.hpp"

namespace hummer {
namespace {

// For close_notify to go out, where there is TLS.
constexpr Nanoseconds farewell_ns = seconds(2);

struct Options {
  std::string job_manager = "127.0.0.1:6123";
  std::string prefix = "swarm";
  int count = 1000;
  int seconds = 60;
  bool reset = false;
  double ramp = 5;  // seconds over which the registrations are spread
};

struct Counts {
  std::atomic<int> alive{0};
  std::atomic<int> lost{0};
  std::atomic<std::uint64_t> answers{0};
};

// Of the executor's thread.
struct Streams {
  std::unordered_set<MessageStream*> open;
  bool dying = false;
};

struct Member {
  Platform* platform;
  const Credentials* credentials;
  const Options* options;
  Counts* counts;
  Streams* streams;
  int number;
};

RegistrationRequest registration_of(const Member& member) {
  RegistrationRequest request;
  request.job_manager = member.options->job_manager;
  request.tls = member.credentials->tls;
  request.hello.set_protocol_version(control_protocol_version);
  request.hello.set_token(member.credentials->token);
  request.hello.set_engine_version(std::string(engine_version()));
  wire::Registration& registration = *request.hello.mutable_registration();
  registration.set_id(fmt::format("{}-{}", member.options->prefix, member.number));
  registration.set_incarnation(member.platform->random().next());
  registration.set_slots(1);
  registration.set_host(member.options->prefix);
  registration.set_program_hash(1);
  registration.set_abi(std::string(engine_abi()));
  request.data_addresses = {{.interface = {}, .address = "127.0.0.1:1"}};
  return request;
}

// Until the connection ends.
Task<Status> beat(const Member& member, MessageStream& stream, const wire::Welcome& welcome) {
  const Nanoseconds interval = milliseconds(welcome.heartbeat_interval_ms());
  Executor& executor = co_await current_executor();
  wire::Envelope envelope;
  wire::TaskManagerState& state = *envelope.mutable_task_manager_state();
  state.set_session(welcome.session());
  std::uint64_t sequence = 0;
  Nanoseconds next = executor.now();
  while (true) {
    state.set_sequence(++sequence);
    if (Status sent = stream.send(envelope); !sent.ok()) co_return sent;
    next += interval;
    while (true) {
      const Result<wire::Envelope> answer = co_await stream.receive(next);
      if (!answer.ok() && answer.status().code() == ErrorCode::timed_out) break;
      if (!answer.ok()) co_return answer.status();
      member.counts->answers.fetch_add(1, std::memory_order_relaxed);
    }
  }
}

Task<void> live(Member member, Nanoseconds delay) {
  co_await sleep_for(delay);
  Backoff backoff(member.platform->random());
  Registered registered;
  while (registered.stream == nullptr) {
    RegistrationRequest request = registration_of(member);
    registered = co_await register_once(*member.platform, std::move(request));
    if (registered.for_good) {
      (void)member.platform->write_standard(2, registered.status.to_string() + "\n");
      ++member.counts->lost;
      co_return;
    }
    if (registered.stream == nullptr) co_await sleep_for(backoff.next());
  }
  registered.stream->set_limit(max_message_bytes);
  member.streams->open.insert(registered.stream.get());
  ++member.counts->alive;
  const Status end = co_await beat(member, *registered.stream, registered.welcome);
  --member.counts->alive;
  member.streams->open.erase(registered.stream.get());
  if (!member.streams->dying) {
    ++member.counts->lost;
    (void)member.platform->write_standard(
        2, fmt::format("{}-{}: {}\n", member.options->prefix, member.number, end.to_string()));
  }
  registered.stream->close();
}

Task<void> close_all(Streams& streams) {
  streams.dying = true;
  for (MessageStream* stream : streams.open) stream->close();
  co_return;
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view name = argv[i];
    const std::string value = argv[i + 1];
    if (name == "--job-manager") {
      options.job_manager = value;
    } else if (name == "--prefix") {
      options.prefix = value;
    } else if (name == "--count") {
      options.count = std::atoi(value.c_str());
    } else if (name == "--seconds") {
      options.seconds = std::atoi(value.c_str());
    } else if (name == "--death" && (value == "close" || value == "reset")) {
      options.reset = value == "reset";
    } else if (name == "--ramp") {
      options.ramp = std::atof(value.c_str());
    } else {
      return false;
    }
  }
  return argc % 2 == 1 && options.count > 0;
}

// The system closes what is open, and nothing is said in good order.
[[noreturn]] void end_by_reset(int descriptors, int code) {
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  for (int number = 0; number < descriptors; ++number) {
    (void)::setsockopt(number, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  }
  ::_exit(code);
}

int run(const Options& options) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  const auto wanted = static_cast<std::uint64_t>(options.count) + 64;
  const Result<std::uint64_t> descriptors = platform->raise_descriptor_limit(wanted);
  if (!descriptors.ok() || *descriptors < wanted) {
    (void)platform->write_standard(
        2, fmt::format("heartbeat_swarm: {} connections need {} open files (ulimit -n {})\n",
                       options.count, wanted, wanted));
    return 77;
  }
  const Result<Credentials> credentials = credentials_of_environment(*platform);
  if (!credentials.ok()) {
    (void)platform->write_standard(2, credentials.status().to_string() + "\n");
    return 2;
  }
  const std::unique_ptr<SignalWatch> signals = platform->watch_signals();
  const auto asked = [&] { return signals->received() != 0; };
  Counts counts;
  Streams streams;
  const std::unique_ptr<Executor> executor = platform->make_executor({.name = "swarm"});
  for (int i = 0; i < options.count; ++i) {
    const Member member{platform.get(), &*credentials, &options, &counts, &streams, i};
    const auto delay = static_cast<Nanoseconds>(options.ramp * 1e9 * i / options.count);
    executor->spawn(live(member, delay));
  }
  const Nanoseconds began = platform->now();
  (void)platform->write_standard(1, "seconds\talive\tlost\tanswers\n");
  for (int second = 1; second <= options.seconds && !asked(); ++second) {
    (void)platform->run_until(asked, began + seconds(second));
    (void)platform->write_standard(1, fmt::format("{}\t{}\t{}\t{}\n", second, counts.alive.load(),
                                                  counts.lost.load(), counts.answers.load()));
  }
  const bool whole = counts.alive == options.count && counts.lost == 0;
  if (asked() && options.reset) end_by_reset(static_cast<int>(wanted), whole ? 0 : 1);
  executor->spawn(close_all(streams));
  const Nanoseconds patience = platform->now() + farewell_ns;
  while (counts.alive > 0 && platform->now() < patience) {
    (void)platform->run_until([] { return false; }, platform->now() + milliseconds(10));
  }
  executor->stop();
  return whole ? 0 : 1;
}

}  // namespace
}  // namespace hummer

int main(int argc, char** argv) {
  hummer::Options options;
  if (!hummer::parse(argc, argv, options)) {
    std::fputs(
        "usage: heartbeat_swarm [--job-manager ADDRESS] [--prefix NAME] [--count N] [--seconds S]\n"
        "       [--ramp S] [--death close|reset];\n"
        "       token and TLS: HUMMER_TOKEN, HUMMER_TLS_*\n",
        stderr);
    return 2;
  }
  return hummer::run(options);
}
