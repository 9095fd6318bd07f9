// A job with blocking edges on a cluster whose members have certificates and a token: what one
// TaskManager has written, the other one fetches.
#include <hummer/hummer.hpp>

#include "checkpoints/simulated_cluster.hpp"
#include "platform/tls_certificates_for_test.hpp"

namespace hummer::tls_shuffle_test {
namespace {

constexpr std::uint64_t keys = 97;

JobResult count_keys(StreamExecutionEnvironment& env) {
  env.generate([](std::uint64_t i) { return i % keys; }, {.count = 10 * keys})
      .key_by(identity)
      .count()
      .write_file("/counts");
  return env.execute("count keys");
}

class TlsShuffle : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, TlsShuffle, cluster_seeds());

TEST_P(TlsShuffle, FilesComeFromTheOtherTaskManager) {
  const std::unique_ptr<SimulatedPlatform> disk = make_simulated_platform({.seed = 1});
  const TestCertificate authority = make_test_authority();
  TlsOptions files = write_test_files(
      *disk, "member",
      make_test_certificate({.name = "member", .alternatives = "DNS:member"}, &authority),
      authority);
  files.verify_peer = true;
  files.peer_name = "member";
  SimulatedCluster::Access access{"secret", *TlsContext::make(*disk, files, TlsRole::both)};
  SimulatedCluster cluster(GetParam(), 2, 1, &count_keys, SimulatedCluster::Disks::shared, {},
                           access);
  EnvironmentOptions options;
  options.parallelism = 2;
  options.exchange = ExchangeMode::blocking;
  const std::uint64_t job = cluster.submit(options);
  const wire::JobStatus end = cluster.end_of(job);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(end.restarts(), 0u);
  EXPECT_EQ(end.vertices(1).parallelism(), 2u) << "so each has read a file of the other one";
  const auto file = cluster.store.files().open_for_reading("/counts");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  std::string text((*file)->size_bytes(), ' ');
  ASSERT_TRUE((*file)->read_at(0, text).ok());
  std::istringstream stream(text);
  std::vector<std::string> lines, expected;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  for (std::uint64_t key = 0; key < keys; ++key) expected.push_back(std::to_string(key) + "\t10");
  std::sort(lines.begin(), lines.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(lines, expected);
}

}  // namespace
}  // namespace hummer::tls_shuffle_test
