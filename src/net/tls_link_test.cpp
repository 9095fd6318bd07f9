// Channels over TLS, and who is kept out, on Linux and simulated.
#include <cstring>
#include <optional>

#include "net/handshake.hpp"
#include "net/net_test_rig.hpp"
#include "platform/kept_log_for_test.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "platform/tls_certificates_for_test.hpp"

namespace hummer::tls_link_test {
namespace {

const TypeDescriptor& numbers() { return type_of<std::uint64_t>(); }

class TlsLinkTest : public testing::TestWithParam<RigOptions> {};

// Planes on one platform, each with what it trusts; what they log.
class TlsRig : public Rig {
 public:
  explicit TlsRig(RigOptions options) : Rig(options) {
    if (options.form == Form::tcp) folder_.emplace();
  }

  std::shared_ptr<TlsContext> context(TestCertificateOptions options = {}) {
    return context(options, authority, authority);
  }
  std::shared_ptr<TlsContext> context(const TestCertificateOptions& options,
                                      const TestCertificate& signer, const TestCertificate& ca) {
    TlsOptions files = write_test_files(platform(), file_name(std::to_string(++made_)),
                                        make_test_certificate(options, &signer), ca);
    files.verify_peer = true;
    Result<std::shared_ptr<TlsContext>> made = TlsContext::make(platform(), files, TlsRole::both);
    EXPECT_TRUE(made.ok()) << made.status().to_string();
    return *made;
  }
  std::unique_ptr<DataPlane> make_plane(std::shared_ptr<TlsContext> tls,
                                        std::size_t max_handshakes = 100) {
    DataPlaneOptions options;
    options.token = "secret";
    options.tls = std::move(tls);
    options.max_handshakes = max_handshakes;
    options.handshake_timeout_ns = milliseconds(200);
    options.connect_timeout_ns = seconds(1);
    options.log = Logger(&log, LogModule::net);
    auto made = std::make_unique<DataPlane>(platform(), executor(), options);
    EXPECT_TRUE(made->start().ok());
    return made;
  }

  const TestCertificate authority = make_test_authority();
  KeptLog log;

 private:
  std::string file_name(const std::string& name) const {
    return folder_.has_value() ? *folder_ / name : name;
  }

  std::optional<TemporaryFolder> folder_;  // with a disk that is not simulated
  int made_ = 0;
};

std::string local(const DataPlane& plane) {
  return "127.0.0.1:" + std::to_string(plane.address().port);
}

constexpr std::size_t message_bytes = 8 * transport_alignment;
constexpr std::uint64_t message_count = 3000;

// Messages whose every word is their number.
Task<void> send_messages(TransportSender& sender, WakeEvent& event, bool& done) {
  for (std::uint64_t i = 0; i < message_count;) {
    event.prepare_wait();
    const std::span<char> room = sender.acquire(message_bytes);
    if (room.empty()) {
      EXPECT_TRUE(sender.failure().ok()) << sender.failure().to_string();
      if (!sender.failure().ok()) co_return event.cancel_wait();
      co_await event.wait();
      continue;
    }
    event.cancel_wait();
    for (std::size_t at = 0; at < message_bytes; at += sizeof i) {
      std::memcpy(room.data() + at, &i, sizeof i);
    }
    sender.publish(message_bytes, false);
    if (++i % 10 == 0) co_await yield();
  }
  done = true;
  while (!sender.finished() && sender.failure().ok()) co_await sleep_for(milliseconds(1));
}

Task<void> stream_script(TlsRig& rig, Transport transport) {
  const auto receiving = rig.make_plane(rig.context());
  const auto sending = rig.make_plane(rig.context());
  NetworkSettings settings;
  settings.buffer_size_bytes = 128 << 10;
  settings.transport = transport;
  WakeEvent event;
  auto receiver = receiving->open_receiver({1, 1, 1}, numbers(), settings, "source");
  receiver->attach(rig.executor(), event);
  WakeEvent sender_event;
  auto sender = sending->open_sender(local(*receiving), {1, 1, 1}, numbers(), settings, "target");
  sender->attach(rig.executor(), sender_event);
  bool sent = false;
  rig.executor().spawn(send_messages(*sender, sender_event, sent));
  std::uint64_t words = 0;
  const std::uint64_t words_per_message = message_bytes / sizeof(std::uint64_t);
  while (words < message_count * words_per_message) {
    event.prepare_wait();
    Received received;
    const Poll polled = receiver->poll(received);
    if (polled == Poll::nothing) {
      co_await event.wait();
      continue;
    }
    event.cancel_wait();
    EXPECT_EQ(polled, Poll::bytes) << receiver->failure().to_string();
    if (polled != Poll::bytes) break;
    for (std::size_t at = 0; at < received.bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, received.bytes.data() + at, sizeof word);
      EXPECT_EQ(word, words / words_per_message);
      ++words;
    }
    received = {};
    receiver->release();
    (void)receiver->flush();
  }
  const bool all_sent = co_await eventually([&] { return sent; });
  EXPECT_TRUE(all_sent);
  EXPECT_EQ(receiving->counts().handed_over, 1u);
  EXPECT_EQ(receiving->counts().rings, transport == Transport::shm ? 1u : 0u);
  sender->abandon({ErrorCode::cancelled, "enough"});
  const bool told = co_await eventually([&] {
    Received received;
    return receiver->poll(received) == Poll::failed;
  });
  EXPECT_TRUE(told);
  EXPECT_NE(receiver->failure().message().find("enough"), std::string::npos)
      << receiver->failure().to_string();
  co_await let_pass();
}

TEST_P(TlsLinkTest, AStreamComesAsItWasSent) {
  for (const Transport transport : {Transport::tcp, Transport::shm}) {
    TlsRig rig(GetParam());
    rig.run(stream_script(rig, transport));
  }
}

Task<void> expect_kept_out(TlsRig& rig, DataPlane& from, DataPlane& to, std::string at_sender,
                           std::string in_log) {
  const std::size_t before = rig.log.texts().size();
  WakeEvent event;
  auto sender = from.open_sender(local(to), {2, 1, 1}, numbers(), {}, "target");
  sender->attach(rig.executor(), event);
  const bool failed = co_await eventually([&] { return !sender->failure().ok(); });
  EXPECT_TRUE(failed);
  EXPECT_NE(sender->failure().message().find(at_sender), std::string::npos)
      << sender->failure().to_string();
  const bool logged = co_await eventually([&] { return rig.log.texts().size() > before; });
  EXPECT_TRUE(logged);
  EXPECT_TRUE(rig.log.has(in_log)) << rig.log.texts().back();
}

Task<void> kept_out_script(TlsRig& rig) {
  const auto good = rig.make_plane(rig.context());
  const auto plain = rig.make_plane(nullptr);
  co_await expect_kept_out(rig, *plain, *good, "closed", "plain text came");
  const TestCertificateOptions past{.valid_until = 1'500'000'000};
  const auto expired = rig.make_plane(rig.context(past));
  co_await expect_kept_out(rig, *expired, *good, "it has expired", "certificate has expired");
  const TestCertificate other = make_test_authority("someone else");
  const auto foreign = rig.make_plane(rig.context({}, other, rig.authority));
  co_await expect_kept_out(rig, *foreign, *good, "not signed by the peer's CA",
                           "not signed by the CA");
  // The other way round it is the sender who refuses.
  co_await expect_kept_out(rig, *good, *foreign, "not signed by the CA",
                           "not signed by the peer's CA");
  EXPECT_EQ(good->counts().handed_over, 0u);
}

TEST_P(TlsLinkTest, StrangersAreKeptOutAndNamed) {
  TlsRig rig(GetParam());
  rig.run(kept_out_script(rig));
}

Task<std::unique_ptr<ByteStream>> connect_raw(TlsRig& rig, std::string to) {
  const Result<SocketAddress> address = rig.platform().network().resolve(to);
  const ConnectOptions options;
  Result<std::unique_ptr<ByteStream>> stream =
      co_await rig.platform().network().connect(*address, options);
  EXPECT_TRUE(stream.ok()) << stream.status().to_string();
  co_return std::move(*stream);
}

Task<void> half_open_script(TlsRig& rig) {
  const auto plane = rig.make_plane(rig.context(), 3);
  std::vector<std::unique_ptr<ByteStream>> strangers;
  for (int i = 0; i < 10; ++i) strangers.push_back(co_await connect_raw(rig, local(*plane)));
  const bool crowded = co_await eventually([&] { return plane->counts().accepted == 10; });
  EXPECT_TRUE(crowded);
  EXPECT_GE(plane->counts().turned_away, 6u);
  // Who is turned away goes when his turn comes.
  const bool room = co_await eventually([&] { return plane->counts().in_progress <= 4; });
  EXPECT_TRUE(room);
  // A friend gets in beside them.
  WakeEvent event, receiver_event;
  auto receiver = plane->open_receiver({3, 1, 1}, numbers(), {}, "source");
  receiver->attach(rig.executor(), receiver_event);
  auto sender = plane->open_sender(local(*plane), {3, 1, 1}, numbers(), {}, "target");
  sender->attach(rig.executor(), event);
  const bool let_in = co_await eventually([&] { return plane->counts().handed_over == 1; });
  EXPECT_TRUE(let_in);
  // Half a handshake is dropped in time, too.
  const std::string half("\x16\x03\x01\x02\x00\x01\x00\x01\xfc", 9);
  std::unique_ptr<ByteStream> slow = co_await connect_raw(rig, local(*plane));
  const Status written = co_await slow->write_all(half);
  EXPECT_TRUE(written.ok());
  const bool gone = co_await eventually([&] { return plane->counts().in_progress == 0; });
  EXPECT_TRUE(gone);
  EXPECT_GE(plane->counts().timed_out, 1u);
}

TEST_P(TlsLinkTest, TheOldestStrangersMakeRoom) {
  TlsRig rig(GetParam());
  rig.run(half_open_script(rig));
}

INSTANTIATE_TEST_SUITE_P(Forms, TlsLinkTest,
                         testing::Values(RigOptions{Form::tcp}, RigOptions{Form::simulated_tcp, 1},
                                         RigOptions{Form::simulated_tcp, 2},
                                         RigOptions{Form::simulated_tcp, 3}),
                         rig_name);

}  // namespace
}  // namespace hummer::tls_link_test
