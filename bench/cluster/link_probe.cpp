// Opens a data channel to a TaskManager as another one would, for a channel that nobody knows, and
// says how that ends: one line on standard output, exit code 0 when it is a refusal.
//
//   link_probe 127.0.0.1:7000
//
// Token and certificates come from the environment: credentials_of_environment.hpp.
#include <atomic>
#include <cstdio>

#include "cluster/credentials_of_environment.hpp"
#include "net/data_plane.hpp"

namespace hummer {
namespace {

Task<void> watch(TransportSender& sender, WakeEvent& event, std::atomic<bool>& refused) {
  Executor& executor = co_await current_executor();
  sender.attach(executor, event);
  while (sender.failure().ok()) co_await sleep_for(milliseconds(10));
  refused = true;
}

int run(const std::string& address) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  const auto executor = platform->make_executor({.name = "probe"});
  Result<Credentials> credentials = credentials_of_environment(*platform);
  if (!credentials.ok()) {
    std::printf("%s\n", credentials.status().to_string().c_str());
    return 2;
  }
  DataPlaneOptions options;
  options.name = "link_probe";
  options.token = credentials->token;
  options.tls = credentials->tls;
  options.connect_timeout_ns = seconds(3);
  DataPlane plane(*platform, *executor, std::move(options));
  auto sender = plane.open_sender(address, {1, 1, 1}, type_of<std::uint64_t>(), {}, address);
  WakeEvent event;
  std::atomic<bool> refused{false};
  executor->spawn(watch(*sender, event, refused));
  const Nanoseconds deadline = platform->now() + seconds(10);
  while (!refused && platform->now() < deadline) {
    (void)platform->run_until([&] { return refused.load(); }, platform->now() + milliseconds(20));
  }
  executor->stop();
  std::printf("%s\n", refused ? sender->failure().to_string().c_str() : "it was let in");
  sender.reset();
  return refused ? 0 : 1;
}

}  // namespace
}  // namespace hummer

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: link_probe HOST:PORT\n", stderr);
    return 2;
  }
  return hummer::run(argv[1]);
}
