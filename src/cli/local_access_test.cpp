// Who may submit code to a JobManager that was given no token: the command itself, asked by REST.
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "cli/cluster_session.hpp"
#include "cli/commands/job_manager.hpp"
#include "cli/published_token_for_test.hpp"
#include "client/local_token.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::local_access_test {
namespace {

class LocalAccess : public testing::Test {
 protected:
  LocalAccess() {
    ::unsetenv("HUMMER_TOKEN");
    ::unsetenv("HUMMER_TOKEN_FILE");
    ::unsetenv("HUMMER_CONFIG");
    const auto listener = platform_->network().listen(*parse_socket_address("127.0.0.1:0"));
    EXPECT_TRUE(listener.ok());
    address_ = (*listener)->local_address().to_string();
  }
  ~LocalAccess() override {
    std::raise(SIGTERM);
    thread_.join();
    EXPECT_EQ(code_, 0);
    withdraw_local_token(*platform_, *parse_socket_address(address_));
  }

  void start_job_manager(std::vector<std::string> options) {
    options.insert(options.end(), {"--listen", address_, "--rest-listen", "none"});
    thread_ = std::thread([this, options] {
      const std::unique_ptr<Platform> platform = make_linux_platform();
      BuiltInJobLibraries none;
      code_ = run_job_manager({.platform = *platform,
                               .libraries = none,
                               .program = "hummer",
                               .command = "jobmanager",
                               .words = options});
    });
  }
  // Waits until somebody answers.
  Status list_jobs(const std::string& token) {
    ClusterSession session(*platform_);
    session.open(address_, {.token = token, .tls = nullptr});
    wire::ClientRequest request;
    request.mutable_list();
    return session.ask(std::move(request)).status();
  }

  TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_ = make_linux_platform();
  std::string address_;
  std::thread thread_;
  int code_ = -1;
};

TEST_F(LocalAccess, ATokenIsMadeWhereNoneIsGivenAndItsUserFindsIt) {
  const std::string state = folder_.path() + "/state";
  start_job_manager({"--state-dir", state});
  EXPECT_EQ(list_jobs("").code(), ErrorCode::permission_denied);
  const std::string token = await_published_token(*platform_, address_);
  EXPECT_EQ(token.size(), 64u);
  const Status with_it = list_jobs(token);
  EXPECT_TRUE(with_it.ok()) << with_it.to_string();
  EXPECT_EQ(std::filesystem::status(state + "/token").permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(LocalAccess, EverybodyIsLetInWhereThatIsAskedFor) {
  start_job_manager({"--insecure"});
  const Status without = list_jobs("");
  EXPECT_TRUE(without.ok()) << without.to_string();
  EXPECT_EQ(find_local_token(*platform_, address_), "");
}

}  // namespace
}  // namespace hummer::local_access_test
