// What many TaskManagers cost one JobManager: resident memory per connection, and the share of a
// core that their heartbeats take. The TaskManagers are scripted, in a process of their own.
//
//   hummer_job_manager_job_manager_bench [TaskManagers] [seconds]
//
// Needs a descriptor per TaskManager in each process (ulimit -n). With HUMMER_SHORT=1: 200 for a
// second, as a test that it works.
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "job_manager/job_manager.hpp"
#include "platform/platform.hpp"
#include "platform/task.hpp"
#include "protocol/protocol_version.hpp"

namespace hummer {
namespace {

double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto in_seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
}

Task<void> task_manager(Platform& platform, SocketAddress address, int number) {
  co_await sleep_for(microseconds(300) * number);  // they don't all start at once
  ConnectOptions connecting;
  Result<std::unique_ptr<ByteStream>> connection =
      co_await platform.network().connect(address, connecting);
  if (!connection.ok()) {
    std::fprintf(stderr, "%s\n", connection.status().to_string().c_str());
    co_return;
  }
  Executor& executor = co_await current_executor();
  MessageStream::Options options;
  options.limit_bytes = max_message_bytes;
  MessageStream stream(executor, std::move(*connection), options);
  wire::Envelope hello;
  hello.mutable_hello()->set_protocol_version(control_protocol_version);
  wire::Registration& registration = *hello.mutable_hello()->mutable_registration();
  registration.set_id("taskmanager-" + std::to_string(number));
  registration.set_slots(4);
  registration.add_data_addresses()->set_address("10.0.0.1:7000");
  if (!stream.send(hello).ok()) co_return;
  const Result<wire::Envelope> welcome = co_await stream.receive();
  if (!welcome.ok() || !welcome->has_welcome()) co_return;
  wire::Envelope heartbeat;
  heartbeat.mutable_task_manager_state()->set_session(welcome->welcome().session());
  for (std::uint64_t sequence = 1;; ++sequence) {
    heartbeat.mutable_task_manager_state()->set_sequence(sequence);
    if (!stream.send(heartbeat).ok()) co_return;
    const Result<wire::Envelope> answer = co_await stream.receive();
    if (!answer.ok()) co_return;
    co_await sleep_for(seconds(1));
  }
}

// Never returns: the parent ends it.
[[noreturn]] void run_task_managers(int count, int port_pipe) {
  std::uint16_t port = 0;
  if (::read(port_pipe, &port, sizeof port) != sizeof port) ::_exit(1);
  auto platform = make_linux_platform();
  (void)platform->raise_descriptor_limit(200'000);
  auto executor = platform->make_executor({.name = "peers"});
  const Result<SocketAddress> address = parse_socket_address("127.0.0.1:" + std::to_string(port));
  for (int i = 0; i < count; ++i) executor->spawn(task_manager(*platform, *address, i));
  while (true) ::pause();
}

int measure(int count, int seconds_to_run, int port_pipe) {
  auto platform = make_linux_platform();
  JobManagerOptions options;
  options.listen_address = "127.0.0.1:0";
  JobManager job_manager(*platform, options);
  if (const Status started = job_manager.start(); !started.ok()) {
    std::fprintf(stderr, "%s\n", started.to_string().c_str());
    return 1;
  }
  const std::size_t resident_before = platform->resident_bytes();
  const std::uint16_t port = job_manager.address().port;
  if (::write(port_pipe, &port, sizeof port) != sizeof port) return 1;
  const auto all = static_cast<std::uint64_t>(count);
  const auto joined = [&] { return job_manager.counts().task_managers == all; };
  const Nanoseconds patience = platform->now() + seconds(60);
  while (!joined() && platform->now() < patience) {
    (void)platform->run_until([] { return false; }, platform->now() + milliseconds(50));
  }
  if (!joined()) {
    std::fprintf(stderr, "only %llu TaskManagers registered\n",
                 static_cast<unsigned long long>(job_manager.counts().task_managers));
    return 1;
  }
  const std::uint64_t heartbeats_before = job_manager.counts().heartbeats;
  const double processor_before = processor_seconds();
  const Nanoseconds began = platform->now();
  (void)platform->run_until([] { return false; }, began + seconds(seconds_to_run));
  const double wall = static_cast<double>(platform->now() - began) / 1e9;
  const double share = (processor_seconds() - processor_before) / wall;
  const JobManagerCounts counts = job_manager.counts();
  const double per_second = static_cast<double>(counts.heartbeats - heartbeats_before) / wall;
  const double kib = static_cast<double>(platform->resident_bytes() - resident_before) / 1024;
  std::printf(
      "TaskManagers %d, heartbeats/s %.0f, of one core %.1f %%, us per heartbeat %.2f, "
      "KiB per connection %.1f, lost %llu\n",
      count, per_second, 100 * share, 1e6 * share / per_second, kib / count,
      static_cast<unsigned long long>(counts.task_managers_lost));
  return counts.task_managers_lost == 0 ? 0 : 1;
}

}  // namespace
}  // namespace hummer

int main(int argc, char** argv) {
  const bool is_short = std::getenv("HUMMER_SHORT") != nullptr;
  const int count = argc > 1 ? std::atoi(argv[1]) : is_short ? 200 : 10'000;
  const int seconds_to_run = argc > 2 ? std::atoi(argv[2]) : is_short ? 1 : 10;
  int ports[2];
  if (::pipe(ports) != 0) return 1;
  const pid_t peers = ::fork();
  if (peers < 0) return 1;
  if (peers == 0) hummer::run_task_managers(count, ports[0]);
  const int code = hummer::measure(count, seconds_to_run, ports[1]);
  ::kill(peers, SIGKILL);
  ::waitpid(peers, nullptr, 0);
  return code;
}
