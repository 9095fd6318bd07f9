// A whole cluster by one command: a job on it, its workers, and its end; what it refuses.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <thread>

#include <hummer/hummer.hpp>
#include <hummer/testing/mini_cluster.hpp>

#include "cli/cluster_session.hpp"
#include "cli/commands/local.hpp"
#include "cli/commands/submit.hpp"
#include "cli/published_token_for_test.hpp"
#include "client/local_token.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::local_cluster_test {
namespace {

void count_digits(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i % 10; }, {.count = 1000})
      .key_by(identity)
      .count()
      .write_file(env.argument("output"));
  env.execute("count digits");
}

int call(int (*command)(const Invocation&), const char* name,
         const std::vector<std::string>& words) {
  const std::unique_ptr<Platform> platform = make_linux_platform();
  BuiltInJobLibraries none;
  return command({.platform = *platform,
                  .libraries = none,
                  .job = &call_job<&count_digits>,
                  .program = "digits",
                  .command = name,
                  .words = words});
}

class LocalCluster : public testing::Test {
 protected:
  LocalCluster() {
    for (const char* name : {"HUMMER_TOKEN", "HUMMER_TOKEN_FILE", "HUMMER_CONFIG"}) {
      ::unsetenv(name);
    }
    listener_ = std::move(*platform_->network().listen(*parse_socket_address("127.0.0.1:0")));
    address_ = listener_->local_address().to_string();
  }
  ~LocalCluster() override { withdraw_local_token(*platform_, *parse_socket_address(address_)); }

  std::vector<std::string> words(std::vector<std::string> more) const {
    more.insert(more.end(), {"--listen", address_, "--rest-listen", "none"});
    return more;
  }
  // What it refuses, on standard error.
  std::string refusal(const std::vector<std::string>& more, int expected_code) {
    testing::internal::CaptureStderr();
    testing::internal::CaptureStdout();
    EXPECT_EQ(call(&run_local, "local", words(more)), expected_code);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
    return testing::internal::GetCapturedStderr();
  }
  // Runs a cluster while `meanwhile` does: what it says on standard output.
  template <typename Meanwhile>
  std::string run(const std::vector<std::string>& more, const Meanwhile& meanwhile) {
    listener_.reset();
    int code = -1;
    testing::internal::CaptureStdout();
    std::thread thread([&] { code = call(&run_local, "local", words(more)); });
    meanwhile();
    std::raise(SIGTERM);
    thread.join();
    EXPECT_EQ(code, 0);
    return testing::internal::GetCapturedStdout();
  }
  // Waits until somebody answers.
  Result<wire::ClientAnswer> list_workers(const std::string& token) {
    ClusterSession session(*platform_);
    session.open(address_, {.token = token, .tls = nullptr});
    wire::ClientRequest request;
    request.mutable_task_managers();
    return session.ask(std::move(request));
  }

  const TemporaryFolder folder_;
  const std::unique_ptr<Platform> platform_ = make_linux_platform();
  std::unique_ptr<Listener> listener_;  // keeps the port until a cluster has it
  std::string address_;
};

TEST_F(LocalCluster, RunsAJobInTheSlotsOfAllItsWorkersAndSaysHow) {
  const std::string output = folder_ / "digits";
  const std::string said = run({"--workers", "3", "--slots", "2"}, [&] {
    ASSERT_FALSE(await_published_token(*platform_, address_).empty());
    EXPECT_EQ(call(&run_submit, "submit",
                   {"--job-manager", address_, "--parallelism", "6", "--output", output}),
              0);
  });
  EXPECT_EQ(said, "cluster of 3 workers with 2 slots each at " + address_ +
                      "; submit with: digits submit --job-manager " + address_ + "\n");
  std::vector<std::string> expected;
  for (int digit = 0; digit < 10; ++digit) expected.push_back(std::to_string(digit) + "\t100");
  EXPECT_EQ(MiniCluster::lines_of(output), expected);
}

TEST_F(LocalCluster, WorkersHaveTheTokenThatWasGiven) {
  ::setenv("HUMMER_TOKEN", "secret", 1);
  const std::string said = run({"--workers", "1", "--slots", "1"}, [&] {
    EXPECT_EQ(list_workers("guessed").status().code(), ErrorCode::permission_denied);
    while (true) {
      const Result<wire::ClientAnswer> answer = list_workers("secret");
      ASSERT_TRUE(answer.ok()) << answer.status().to_string();
      const wire::TaskManagerList& list = answer->task_managers();
      if (list.task_managers_size() == 0) continue;  // it is about to register
      EXPECT_EQ(list.task_managers(0).id(), "worker1");
      EXPECT_EQ(list.task_managers(0).slots(), 1u);
      break;
    }
  });
  ::unsetenv("HUMMER_TOKEN");
  EXPECT_EQ(find_local_token(*platform_, address_), "");
  EXPECT_TRUE(said.empty() || said.starts_with("cluster of 1 worker with 1 slot each at")) << said;
}

TEST_F(LocalCluster, WhatIsWrongIsRefusedBeforeItStarts) {
  for (const char* workers : {"0", "65", "two"}) {
    EXPECT_NE(refusal({"--workers", workers}, 2).find("a whole number from 1 to 64"),
              std::string::npos);
  }
  EXPECT_NE(refusal({"--wokers", "2"}, 2).find("did you mean --workers?"), std::string::npos);
  // Somebody listens there.
  const std::string in_use = refusal({}, 1);
  EXPECT_NE(in_use.find("E5002"), std::string::npos) << in_use;
  EXPECT_NE(in_use.find("--listen"), std::string::npos) << in_use;
}

}  // namespace
}  // namespace hummer::local_cluster_test
