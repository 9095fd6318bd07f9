#include "platform/name_client.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "platform/name_server_for_test.hpp"
#include "platform/platform.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::name_client_test {
namespace {

using Names = std::vector<std::string>;

// A client and its server on executors of their own, in simulation and over loopback sockets.
class NameClientTest : public testing::TestWithParam<bool> {
 protected:
  NameClientTest() {
    if (GetParam()) {
      platform_ = make_simulated_platform({.seed = 11});
      root_ = "/etc";
      EXPECT_TRUE(platform_->files().create_directories(root_).ok());
    } else {
      platform_ = make_linux_platform();
      root_ = folder_.path();
    }
    client_ = platform_->make_executor({.name = "client"});
    server_ = std::make_unique<NameServerForTest>(platform_->network());
    // On the client's thread: between two look-ups the test may change what the server does.
    server_->start(*client_);
    write("hosts", "127.0.0.1 localhost\n");
    write("resolv.conf", "nameserver 127.0.0.1\n");
    names_ = std::make_unique<NameClient>(
        platform_->network(), platform_->files(), platform_->random(),
        NameClientOptions{root_ + "/hosts", root_ + "/resolv.conf", server_->address().port});
  }
  ~NameClientTest() override {
    client_->stop();
    server_.reset();
  }

  void write(const std::string& name, const std::string& text) {
    auto file = platform_->files().open_for_writing(root_ + "/" + name, WriteMode::truncate);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_TRUE((*file)->append(text).ok());
    ASSERT_TRUE((*file)->close().ok());
  }
  // The address, or the failure.
  std::string look_up(const std::string& text) {
    const auto found = run_task(*platform_, *client_, names_->look_up(text));
    if (!found) return "no end";
    return found->ok() ? (*found)->to_string() : found->status().to_string();
  }

  const TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
  std::string root_;
  std::unique_ptr<Executor> client_;
  std::unique_ptr<NameServerForTest> server_;
  std::unique_ptr<NameClient> names_;
};
INSTANTIATE_TEST_SUITE_P(Forms, NameClientTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Simulated" : "Linux"; });

TEST_P(NameClientTest, NumbersLocalhostAndTheHostsFileAskNobody) {
  write("hosts", "# comment\n10.0.0.9 db1.internal DB1 # and more\n::2 six\nfe80::1%eth0 zone\n");
  EXPECT_EQ(look_up("10.1.2.3:80"), "10.1.2.3:80");
  EXPECT_EQ(look_up("[::1]:80"), "[::1]:80");
  EXPECT_EQ(look_up("*:80"), "0.0.0.0:80");
  EXPECT_EQ(look_up("localhost:7"), "127.0.0.1:7");
  EXPECT_EQ(look_up("LocalHost.:7"), "127.0.0.1:7");
  EXPECT_EQ(look_up("worker.localhost:7"), "127.0.0.1:7");
  EXPECT_EQ(look_up("db1:5"), "10.0.0.9:5");
  EXPECT_EQ(look_up("DB1.Internal.:5"), "10.0.0.9:5");
  EXPECT_EQ(look_up("six:5"), "[::2]:5");
  EXPECT_EQ(look_up("300.1.1.1:5").substr(0, 5), "E1000");
  EXPECT_EQ(server_->told(), Names());
}

TEST_P(NameClientTest, AsksForIpv4FirstAndForIpv6WhereThereIsNone) {
  server_->add_address("both.test", "10.0.0.1");
  server_->add_address("both.test", "2001:db8::1");
  server_->add_address("six.test", "2001:db8::2");
  EXPECT_EQ(look_up("both.test:80"), "10.0.0.1:80");
  EXPECT_EQ(look_up("Six.Test:80"), "[2001:db8::2]:80");
  EXPECT_EQ(server_->told(), (Names{"both.test 1", "six.test 1", "six.test 28"}));
}

TEST_P(NameClientTest, FollowsAliasesHereAndThere) {
  server_->add_alias("www.test", "front.test");
  server_->add_alias("front.test", "host.test");
  server_->add_address("host.test", "10.0.0.3");
  EXPECT_EQ(look_up("www.test:80"), "10.0.0.3:80");
  EXPECT_EQ(server_->told(), Names{"www.test 1"});
  server_->manners.leaves_aliases = true;
  server_->add_alias("other.test", "front.test");
  EXPECT_EQ(look_up("other.test:80"), "10.0.0.3:80");
  EXPECT_EQ(server_->told(), (Names{"other.test 1", "front.test 1", "host.test 1"}));
}

TEST_P(NameClientTest, AliasesThatLeadRoundInACircleEnd) {
  server_->add_alias("a.test", "b.test");
  server_->add_alias("b.test", "a.test");
  EXPECT_NE(look_up("a.test:80").find("can't be read"), std::string::npos);
  server_->manners.leaves_aliases = true;
  EXPECT_NE(look_up("a.test:80").find("more than 8 aliases"), std::string::npos);
}

TEST_P(NameClientTest, WhatWasCutShortComesOverAStream) {
  server_->add_address("www.test", "10.0.0.4");
  server_->manners.truncates = true;
  EXPECT_EQ(look_up("www.test:80"), "10.0.0.4:80");
  EXPECT_EQ(server_->told(), (Names{"www.test 1", "tcp www.test 1"}));
  write("resolv.conf", "nameserver 127.0.0.1\noptions use-vc\n");
  server_->add_address("next.test", "10.0.0.5");
  EXPECT_EQ(look_up("next.test:80"), "10.0.0.5:80");
  EXPECT_EQ(server_->told(), Names{"tcp next.test 1"});
}

TEST_P(NameClientTest, SearchesTheDomainsAsResolvConfSays) {
  server_->add_address("db.two.test", "10.0.0.6");
  server_->add_address("a.b", "10.0.0.7");
  server_->add_address("a.b.one.test", "10.0.0.8");
  write("resolv.conf",
        "domain zero.test\n;comment\nsearch one.test two.test\nnameserver 127.0.0.1\n");
  EXPECT_EQ(look_up("db:80"), "10.0.0.6:80");
  EXPECT_EQ(server_->told(), (Names{"db.one.test 1", "db.one.test 28", "db.two.test 1"}));
  EXPECT_EQ(look_up("a.b:80"), "10.0.0.7:80");
  EXPECT_EQ(look_up("db.:80").substr(0, 5), "E5003");
  server_->told();
  write("resolv.conf", "search one.test\nnameserver 127.0.0.1\noptions ndots:2 no-aaaa\n");
  EXPECT_EQ(look_up("a.b:80"), "10.0.0.8:80");
  EXPECT_EQ(server_->told(), Names{"a.b.one.test 1"});
}

TEST_P(NameClientTest, OnlyTheAnswerToTheQuestionCounts) {
  server_->add_address("www.test", "10.0.0.9");
  auto stranger =
      platform_->network().open_datagrams(*parse_socket_address("127.0.0.1:0"), nullptr);
  ASSERT_TRUE(stranger.ok());
  server_->manners.stranger = stranger->get();
  server_->manners.answers_other_numbers = true;
  server_->manners.answers_other_questions = true;
  EXPECT_EQ(look_up("www.test:80"), "10.0.0.9:80");
}

TEST_P(NameClientTest, WhatIsNotThereIsSaidWithWhoWasAsked) {
  const std::string port = std::to_string(server_->address().port);
  EXPECT_EQ(look_up("nobody.test:80"),
            "E5003: 'nobody.test' is unknown: it is not in " + root_ +
                "/hosts, and no address of nobody.test is known to 127.0.0.1:" + port + " (" +
                root_ + "/resolv.conf)");
  server_->manners.code = 2;
  EXPECT_EQ(look_up("broken.test:80"),
            "E5003: cannot look up 'broken.test' (not in " + root_ +
                "/hosts): asked 2 times for broken.test at 127.0.0.1:" + port + " (" + root_ +
                "/resolv.conf): 127.0.0.1:" + port + " answers server failure");
  EXPECT_EQ(
      look_up("under the.bridge:80"),
      "E5003: 'under the.bridge' is no name of a host: parts of up to 63 letters, digits, '-' "
      "and '_', with '.' between them");
}

TEST_P(NameClientTest, AServerThatIsNotThereIsPassedOver) {
  server_->add_address("www.test", "10.0.0.10");
  write("resolv.conf", "nameserver 127.0.0.2\nnameserver 127.0.0.1\noptions timeout:1\n");
  EXPECT_EQ(look_up("www.test:80"), "10.0.0.10:80");
}

TEST_P(NameClientTest, ADamagedAnswerIsNone) {
  server_->add_address("www.test", "10.0.0.11");
  server_->manners.damages = true;
  EXPECT_NE(look_up("www.test:80").find("the answer can't be read"), std::string::npos);
}

// Time, loss and partitions, in simulation: a client, two servers.
class SimulatedNames : public testing::Test {
 protected:
  SimulatedNames() {
    for (int i = 0; i < 2; ++i) {
      SimulatedPlatform& node = simulation_.add_node("ns" + std::to_string(i));
      executors_.push_back(node.make_executor({.name = "server"}));
      servers_.push_back(std::make_unique<NameServerForTest>(node.network(), "*:53"));
      servers_.back()->add_address("www.test", "10.9.9." + std::to_string(i), 60);
      servers_.back()->start(*executors_.back());
      nodes_.push_back(&node);
    }
    client_ = &simulation_.add_node("client");
    executors_.push_back(client_->make_executor({.name = "client"}));
    configure("");
  }
  ~SimulatedNames() override {
    for (auto& executor : executors_) executor->stop();
    servers_.clear();
  }
  void configure(const std::string& options) {
    EXPECT_TRUE(client_->files().create_directories("/etc").ok());
    auto file = client_->files().open_for_writing("/etc/resolv.conf", WriteMode::truncate);
    ASSERT_TRUE(
        (*file)
            ->append("nameserver " + number_of(0) + "\nnameserver " + number_of(1) + "\n" + options)
            .ok());
    ASSERT_TRUE((*file)->close().ok());
  }
  std::string number_of(int server) {
    const std::string text = nodes_[static_cast<std::size_t>(server)]->address().to_string();
    return text.substr(0, text.rfind(':'));
  }
  std::string look_up(const std::string& text) {
    const auto found = run_task(*client_, *executors_.back(), client_->network().look_up(text));
    if (!found) return "no end";
    return found->ok() ? (*found)->to_string() : found->status().to_string();
  }

  static Task<bool> sleep(Nanoseconds time) {
    co_await sleep_for(time);
    co_return true;
  }
  void pass(Nanoseconds time) {
    EXPECT_TRUE(run_task(*client_, *executors_.back(), sleep(time)).has_value());
  }

  Simulation simulation_{{.seed = 5}};
  std::vector<SimulatedPlatform*> nodes_;
  std::vector<std::unique_ptr<Executor>> executors_;
  std::vector<std::unique_ptr<NameServerForTest>> servers_;
  SimulatedPlatform* client_ = nullptr;
};

TEST_F(SimulatedNames, NodesGoBeforeServers) {
  EXPECT_EQ(look_up("ns1:80"), nodes_[1]->address().to_string().substr(0, 8) + ":80");
  EXPECT_EQ(look_up("www.test:80"), "10.9.9.0:80");
}

TEST_F(SimulatedNames, AfterATimeoutTheNextServerIsAsked) {
  configure("options timeout:3\n");
  simulation_.partition(*nodes_[0], *client_);
  const Nanoseconds before = simulation_.now();
  EXPECT_EQ(look_up("www.test:80"), "10.9.9.1:80");
  EXPECT_GE(simulation_.now() - before, seconds(3));
  EXPECT_LT(simulation_.now() - before, seconds(4));
}

TEST_F(SimulatedNames, WhoIsNeverHeardIsNamed) {
  configure("options timeout:1 attempts:3\n");
  simulation_.partition(*nodes_[0], *client_);
  simulation_.partition(*nodes_[1], *client_);
  const Nanoseconds before = simulation_.now();
  const std::string failure = look_up("www.test:80");
  EXPECT_EQ(failure.find("E5003: cannot look up 'www.test' (not in /etc/hosts): asked 3 times for "
                         "www.test at " +
                         number_of(0) + ":53, " + number_of(1) + ":53 (/etc/resolv.conf): "),
            0u)
      << failure;
  EXPECT_GE(simulation_.now() - before, seconds(6));
  EXPECT_LT(simulation_.now() - before, seconds(13));  // both kinds of address
}

TEST_F(SimulatedNames, LostDatagramsAreSentAgain) {
  simulation_.options().datagram_loss_rate = 0.3;
  configure("options timeout:1 attempts:5\n");
  int found = 0;
  for (int i = 0; i < 30; ++i) {
    const std::string name = "host" + std::to_string(i) + ".test";
    for (auto& server : servers_) server->add_address(name, "10.7.7.7");
    found += look_up(name + ":1") == "10.7.7.7:1" ? 1 : 0;
  }
  EXPECT_GE(found, 29);
  EXPECT_GT(simulation_.counts().lost_datagrams, 5u);
}

TEST_F(SimulatedNames, AnswersAreKeptAsLongAsTheyMayBe) {
  EXPECT_EQ(look_up("www.test:80"), "10.9.9.0:80");
  EXPECT_EQ(look_up("WWW.test:81"), "10.9.9.0:81");
  EXPECT_EQ(servers_[0]->told(), Names{"www.test 1"});
  pass(seconds(61));
  EXPECT_EQ(look_up("www.test:80"), "10.9.9.0:80");
  EXPECT_EQ(servers_[0]->told(), Names{"www.test 1"});
}

TEST_F(SimulatedNames, ThatANameIsNotThereIsKeptAsItsZoneSays) {
  servers_[0]->manners.nothing_kept_s = 20;
  EXPECT_EQ(look_up("new.test:80").substr(0, 5), "E5003");
  EXPECT_EQ(servers_[0]->told(), (Names{"new.test 1", "new.test 28"}));
  servers_[0]->add_address("new.test", "10.0.0.12");
  EXPECT_EQ(look_up("new.test:80").substr(0, 5), "E5003");
  EXPECT_EQ(servers_[0]->told(), Names());
  pass(seconds(21));
  EXPECT_EQ(look_up("new.test:80"), "10.0.0.12:80");
}

TEST_F(SimulatedNames, NoMoreThanAThousandNamesAreKept) {
  servers_[0]->add_address("short.test", "10.0.0.13", 30);
  EXPECT_EQ(look_up("short.test:1"), "10.0.0.13:1");
  for (int i = 0; i < 1000; ++i) {
    const std::string name = "host" + std::to_string(i) + ".test";
    servers_[0]->add_address(name, "10.7.7.7", 3600);
    ASSERT_EQ(look_up(name + ":1"), "10.7.7.7:1");
  }
  servers_[0]->told();
  EXPECT_EQ(look_up("host7.test:1"), "10.7.7.7:1");
  EXPECT_EQ(servers_[0]->told(), Names());
  EXPECT_EQ(look_up("short.test:1"), "10.0.0.13:1");  // the first to go
  EXPECT_EQ(servers_[0]->told(), Names{"short.test 1"});
}

}  // namespace
}  // namespace hummer::name_client_test
