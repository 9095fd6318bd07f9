#include "platform/tls.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "platform/platform.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "platform/tls_certificates_for_test.hpp"

namespace hummer::tls_test {
namespace {

using Stream = std::unique_ptr<ByteStream>;
using Context = std::shared_ptr<TlsContext>;

const ConnectOptions defaults;

// Every test runs on both forms, with client and server on executors of their own.
class TlsTest : public testing::TestWithParam<bool> {
 protected:
  TlsTest() {
    if (GetParam()) {
      platform_ = make_simulated_platform({.seed = 11});
    } else {
      platform_ = make_linux_platform();
      folder_.emplace();
    }
    client_ = platform_->make_executor({.name = "client"});
    server_ = platform_->make_executor({.name = "server"});
    SocketAddress any = *parse_socket_address("127.0.0.1:0");
    listener_ = std::move(*platform_->network().listen(any));
    address_ = listener_->local_address();
  }
  ~TlsTest() override {
    client_->stop();
    server_->stop();
    listener_.reset();
  }

  std::string file_name(const std::string& name) const {
    return folder_.has_value() ? *folder_ / name : name;
  }
  TlsOptions files(const std::string& name, const TestCertificate& own, const TestCertificate& ca) {
    return write_test_files(*platform_, file_name(name), own, ca);
  }
  Context context(const TlsOptions& options, TlsRole role = TlsRole::both) {
    Result<Context> made = TlsContext::make(*platform_, options, role);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return made.ok() ? *made : nullptr;
  }
  // Until `executor` has at most `left` of its tasks: what they wrote may be read then.
  void wait_for_tasks(Executor& executor, std::size_t left) {
    const auto over = [&] { return executor.live_tasks() <= left; };
    while (!over()) (void)platform_->run_until(over, platform_->now() + milliseconds(20));
  }
  // A member whose certificate `authority` signed, and who trusts it.
  Context member(const std::string& name, TestCertificateOptions options = {}) {
    return context(files(name, make_test_certificate(options, &authority_), authority_));
  }

  std::unique_ptr<Platform> platform_;
  std::optional<TemporaryFolder> folder_;  // with a disk that is not simulated
  std::unique_ptr<Executor> client_;
  std::unique_ptr<Executor> server_;
  std::unique_ptr<Listener> listener_;
  SocketAddress address_;
  TestCertificate authority_ = make_test_authority();
};
INSTANTIATE_TEST_SUITE_P(Forms, TlsTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Simulated" : "Linux"; });

std::string long_text() {
  std::string text(1'000'000, ' ');
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<char>(i * 7 + i / 251);
  return text;
}

// Echoes until the end; what it saw at it.
Task<void> serve_echo(Listener& listener, Context tls, Status& end) {
  Result<Stream> stream = co_await listener.accept();
  if (tls != nullptr) *stream = tls->accepted(std::move(*stream));
  std::vector<char> buffer(10'000);
  while (true) {
    const Result<std::size_t> got = co_await (*stream)->read_some(buffer);
    if (!got.ok() || *got == 0) {
      end = got.status();
      break;
    }
    const Status sent = co_await (*stream)->write_all(std::span(buffer.data(), *got));
    if (!sent.ok()) {
      end = sent;
      break;
    }
  }
  (*stream)->close();
}

Task<void> send_all(ByteStream& stream, const std::string& text, Status& outcome) {
  outcome = co_await stream.write_all(text);
  if (outcome.ok()) outcome = stream.shutdown_write();
}

// What came back, or the failure.
Task<Result<std::string>> echo(Network& network, SocketAddress address, Context tls,
                               std::string name, const std::string& text) {
  Executor& executor = co_await current_executor();
  Result<Stream> stream = co_await network.connect(address, defaults);
  if (!stream.ok()) co_return stream.status();
  if (tls != nullptr) *stream = tls->connected(std::move(*stream), name);
  Status sent(ErrorCode::internal, "unset");
  const std::size_t others = executor.live_tasks();
  executor.spawn(send_all(**stream, text, sent));
  std::string back;
  Status failure;
  std::vector<char> buffer(7'000);
  while (true) {
    const Result<std::size_t> got = co_await (*stream)->read_some(buffer);
    if (!got.ok()) failure = got.status();
    if (!got.ok() || *got == 0) break;
    back.append(buffer.data(), *got);
  }
  (*stream)->close();
  while (executor.live_tasks() > others) co_await sleep_for(microseconds(100));
  if (!failure.ok()) co_return failure;
  co_return back;
}

class TlsLink : public TlsTest {
 protected:
  // Both ends' view of one connection.
  struct Ends {
    Result<std::string> client = Status(ErrorCode::internal, "unset");
    Status server;
  };
  Ends talk(Context server_tls, Context client_tls, const std::string& text = "a line",
            const std::string& name = "127.0.0.1:1") {
    Ends ends;
    const std::size_t before = server_->live_tasks();
    server_->spawn(serve_echo(*listener_, std::move(server_tls), ends.server));
    auto back = run_task(*platform_, *client_,
                         echo(platform_->network(), address_, std::move(client_tls), name, text));
    EXPECT_TRUE(back.has_value());
    if (back) ends.client = std::move(*back);
    wait_for_tasks(*server_, before);
    return ends;
  }
  void expect_refused(const Ends& ends, const std::string& at_server,
                      const std::string& at_client) {
    EXPECT_EQ(ends.server.code(), ErrorCode::tls_failed) << ends.server.to_string();
    EXPECT_NE(ends.server.message().find(at_server), std::string::npos) << ends.server.message();
    EXPECT_EQ(ends.client.status().code(), ErrorCode::tls_failed)
        << ends.client.status().to_string();
    EXPECT_NE(ends.client.status().message().find(at_client), std::string::npos)
        << ends.client.status().message();
  }
};
INSTANTIATE_TEST_SUITE_P(Forms, TlsLink, testing::Bool(),
                         [](const auto& form) { return form.param ? "Simulated" : "Linux"; });

TEST_P(TlsLink, EchoesAMegabyteAndEndsInGoodOrder) {
  const std::string text = long_text();
  const Ends ends = talk(member("a"), member("b"), text);
  ASSERT_TRUE(ends.client.ok()) << ends.client.status().to_string();
  EXPECT_TRUE(*ends.client == text);
  EXPECT_TRUE(ends.server.ok()) << ends.server.to_string();
}

TEST_P(TlsLink, AClientNeedsNoCertificateUnlessItIsAskedFor) {
  TlsOptions trusting;
  trusting.ca_file = files("a", make_test_certificate({}, &authority_), authority_).ca_file;
  const Context client = context(trusting, TlsRole::client);
  const Context server = member("b");
  EXPECT_EQ(*talk(server, client).client, "a line");

  TlsOptions asking = files("b", make_test_certificate({}, &authority_), authority_);
  asking.verify_peer = true;
  const Context asking_server = context(asking);
  EXPECT_EQ(*talk(asking_server, member("c")).client, "a line");
  expect_refused(talk(asking_server, client), "shows no certificate", "wants a certificate");
}

Task<void> write_and_go(Network& network, SocketAddress address, Context tls, Status& end) {
  Result<Stream> stream = co_await network.connect(address, defaults);
  *stream = tls->connected(std::move(*stream), "127.0.0.1:1");
  const Status sent = co_await (*stream)->write_all(std::string_view("last words"));
  stream->reset();
  end = sent;
}

TEST_P(TlsLink, AStreamThatIsDestroyedSaysGoodbyeToo) {
  Status server(ErrorCode::internal, "unset"), client(ErrorCode::internal, "unset");
  server_->spawn(serve_echo(*listener_, member("a"), server));
  client_->spawn(write_and_go(platform_->network(), address_, member("b"), client));
  wait_for_tasks(*client_, 0);
  wait_for_tasks(*server_, 0);
  EXPECT_TRUE(client.ok()) << client.to_string();
  // Its echo may find nobody, but nothing was cut off.
  EXPECT_NE(server.message(), "the peer ended the connection without a TLS goodbye");
}

TEST_P(TlsLink, PlainTextIsRefused) {
  const Ends ends = talk(member("a"), nullptr, "GET / HTTP/1.1\r\n\r\n");
  EXPECT_EQ(ends.server.code(), ErrorCode::tls_failed);
  EXPECT_NE(ends.server.message().find("plain text came"), std::string::npos);
  // An alert, where the reset behind it did not take it away.
  if (ends.client.ok()) {
    EXPECT_EQ(ends.client->substr(0, 3), "\x15\x03\x03");
  } else {
    EXPECT_EQ(ends.client.status().code(), ErrorCode::connection_lost);
  }
}

TEST_P(TlsLink, APlainServerIsRefused) {
  // It echoes the client's hello.
  const Ends ends = talk(nullptr, member("a"));
  EXPECT_EQ(ends.client.status().code(), ErrorCode::tls_failed);
}

TEST_P(TlsLink, ExpiredCertificatesAreRefused) {
  const Context good = member("good");
  const Context expired = member("expired", {.valid_until = 1'600'000'000});
  expect_refused(talk(expired, good), "it has expired", "certificate has expired");
  TlsOptions asking = files("asking", make_test_certificate({}, &authority_), authority_);
  asking.verify_peer = true;
  expect_refused(talk(context(asking), expired), "certificate has expired", "it has expired");
}

TEST_P(TlsLink, ForeignCertificatesAreRefused) {
  const TestCertificate other = make_test_authority("someone else");
  const Context foreign = context(files("foreign", make_test_certificate({}, &other), authority_));
  expect_refused(talk(foreign, member("good")), "not signed by the peer's CA",
                 "not signed by the CA");
  TlsOptions asking = files("asking", make_test_certificate({}, &authority_), authority_);
  asking.verify_peer = true;
  expect_refused(talk(context(asking), foreign), "not signed by the CA",
                 "not signed by the peer's CA");
}

// Whoever knows the root only is shown the way to it, from whichever file of the other side.
TEST_P(TlsLink, CertificatesBetweenAreShown) {
  const TestCertificate between = make_test_certificate(
      {.name = "between", .alternatives = {}, .is_authority = true}, &authority_);
  const TestCertificate own = make_test_certificate({}, &between);
  const TlsOptions by_ca = files("by_ca", own, authority_);
  write_test_file(*platform_, by_ca.ca_file,
                  certificate_pem(authority_) + certificate_pem(between));
  EXPECT_TRUE(talk(context(by_ca), member("a")).client.ok());
  const TlsOptions by_chain = files("by_chain", own, authority_);
  write_test_file(*platform_, by_chain.certificate_file,
                  certificate_pem(own) + certificate_pem(between));
  EXPECT_TRUE(talk(context(by_chain), member("b")).client.ok());
}

TEST_P(TlsLink, TheNameIsChecked) {
  const Context server = member("a");
  EXPECT_TRUE(talk(server, member("b"), "x", "hummer-test:7000").client.ok());
  expect_refused(talk(server, member("b"), "x", "elsewhere:7000"),
                 "refused this side's certificate", "is not for 'elsewhere'");
  expect_refused(talk(server, member("b"), "x", "127.0.0.2:7000"),
                 "refused this side's certificate", "is not for '127.0.0.2'");
  TlsOptions named = files("named", make_test_certificate({}, &authority_), authority_);
  named.peer_name = "hummer-test";
  EXPECT_TRUE(talk(server, context(named), "x", "elsewhere:7000").client.ok());
}

Task<void> hang_up(Network& network, SocketAddress address, std::string first, Status& end) {
  Result<Stream> stream = co_await network.connect(address, defaults);
  const Status sent = co_await (*stream)->write_all(first);
  (*stream)->close();
  end = sent;
}

TEST_P(TlsLink, AConnectionCutInTheHandshakeIsLost) {
  Status server(ErrorCode::internal, "unset"), client(ErrorCode::internal, "unset");
  server_->spawn(serve_echo(*listener_, member("a"), server));
  // A handshake record that announces 512 bytes.
  client_->spawn(hang_up(platform_->network(), address_,
                         std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9), client));
  wait_for_tasks(*client_, 0);
  wait_for_tasks(*server_, 0);
  EXPECT_EQ(server.code(), ErrorCode::connection_lost) << server.to_string();
}

TEST_P(TlsTest, FilesThatDoNotFitAreNamed) {
  const TlsOptions good = files("good", make_test_certificate({}, &authority_), authority_);
  const TlsOptions other = files("other", make_test_certificate({}, &authority_), authority_);
  const auto failure = [&](TlsOptions options, TlsRole role = TlsRole::both) {
    return TlsContext::make(*platform_, options, role).status();
  };
  TlsOptions mixed = good;
  mixed.key_file = other.key_file;
  EXPECT_EQ(failure(mixed).code(), ErrorCode::invalid_configuration);
  EXPECT_NE(failure(mixed).message().find(other.key_file), std::string::npos);
  TlsOptions swapped = good;
  swapped.certificate_file = good.key_file;
  EXPECT_NE(failure(swapped).message().find("no certificate"), std::string::npos);
  TlsOptions lost = good;
  lost.ca_file = file_name("nothing");
  EXPECT_EQ(failure(lost).code(), ErrorCode::not_found);
  TlsOptions half;
  half.certificate_file = good.certificate_file;
  EXPECT_NE(failure(half).message().find("--tls-key"), std::string::npos);
  TlsOptions trusting;
  trusting.ca_file = good.ca_file;
  EXPECT_TRUE(failure(trusting, TlsRole::client).ok());
  EXPECT_NE(failure(trusting, TlsRole::server).message().find("--tls-certificate"),
            std::string::npos);
  TlsOptions blind = good;
  blind.ca_file.clear();
  EXPECT_TRUE(failure(blind, TlsRole::server).ok());
  blind.verify_peer = true;
  EXPECT_NE(failure(blind, TlsRole::server).message().find("--tls-ca"), std::string::npos);
}

TEST_P(TlsLink, ChangedFilesAreUsedByNewConnections) {
  const TlsOptions paths =
      files("a", make_test_certificate({.valid_until = 1'600'000'000}, &authority_), authority_);
  const Context server = context(paths);
  const Context client = member("b");
  EXPECT_FALSE(talk(server, client).client.ok());
  EXPECT_FALSE(*server->reload());

  // Half of the new pair: the former stays, and that is said once.
  const TestCertificate fresh = make_test_certificate({.name = "renewed"}, &authority_);
  write_test_file(*platform_, paths.certificate_file, certificate_pem(fresh));
  const Result<bool> half = server->reload();
  EXPECT_EQ(half.status().code(), ErrorCode::invalid_configuration);
  EXPECT_NE(half.status().message().find("the former stay in use"), std::string::npos);
  EXPECT_FALSE(*server->reload());
  EXPECT_NE(talk(server, client).client.status().message().find("expired"), std::string::npos);

  write_test_file(*platform_, paths.key_file, key_pem(fresh) + "\n");
  const Result<bool> whole = server->reload();
  ASSERT_TRUE(whole.ok()) << whole.status().to_string();
  EXPECT_TRUE(*whole);
  EXPECT_EQ(*talk(server, client).client, "a line");
}

}  // namespace
}  // namespace hummer::tls_test
