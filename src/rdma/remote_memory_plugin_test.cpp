// The library as the program has it: this test has nothing of libfabric inside.
#include "platform/remote_memory_plugin.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <vector>

#include "platform/plugins.hpp"
#include "support/test_paths.hpp"

namespace hummer::remote_memory_plugin_test {
namespace {

constexpr std::size_t memory_bytes = 65536;

// Of all signals: what happens when they come.
std::vector<void (*)(int, siginfo_t*, void*)> signal_handlers() {
  std::vector<void (*)(int, siginfo_t*, void*)> handlers;
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction action{};
    if (::sigaction(signal, nullptr, &action) != 0) action.sa_sigaction = nullptr;
    handlers.push_back(action.sa_sigaction);
  }
  return handlers;
}

Result<const RemoteMemoryPlugin*> plugin() {
  ::setenv("HUMMER_PLUGIN_PATH", test_path("plugins").c_str(), 1);
  return load_plugin<RemoteMemoryPlugin>("rdma", "the transport rdma");
}

class RemoteMemoryLibrary : public testing::TestWithParam<const char*> {};

TEST_P(RemoteMemoryLibrary, AWriteArrives) {
  ::signal(SIGTERM, [](int) {});
  const auto before = signal_handlers();
  const auto found = plugin();
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  ASSERT_NE(*found, nullptr);
  EXPECT_EQ(signal_handlers(), before);

  const auto device = (*found)->make_remote_memory_device({.provider = GetParam()});
  if (!device.ok()) GTEST_SKIP() << device.status().to_string();
  auto made = (*device)->create(memory_bytes, memory_bytes, "127.0.0.1");
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  auto opened = (*device)->open(made->place, memory_bytes, memory_bytes);
  ASSERT_TRUE(opened.ok()) << opened.status().to_string();
  RemoteMemory& receiver = *made->end;
  RemoteMemory& sender = **opened;
  ASSERT_TRUE(receiver.answered(sender.answer()).ok());
  sender.bytes()[5] = 'x';
  bool written = false;
  std::vector<std::uint32_t> told;
  std::vector<std::uint32_t> none;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (told.empty() && std::chrono::steady_clock::now() < end) {
    ASSERT_TRUE(sender.progress(none).ok());
    ASSERT_TRUE(receiver.progress(told).ok());
    if (sender.ready() && !written) written = sender.write({5, 9, 1}, 77);
  }
  EXPECT_EQ(told, std::vector<std::uint32_t>{77});
  EXPECT_EQ(receiver.bytes()[9], 'x');
  EXPECT_EQ(signal_handlers(), before);
}

INSTANTIATE_TEST_SUITE_P(Providers, RemoteMemoryLibrary, testing::Values("tcp", "shm"),
                         [](const auto& information) { return std::string(information.param); });

}  // namespace
}  // namespace hummer::remote_memory_plugin_test
