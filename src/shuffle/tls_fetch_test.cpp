// Shuffle files over TLS: who gets them, and who does not.
#include "platform/tls_certificates_for_test.hpp"
#include "shuffle/shuffle_exchange_for_test.hpp"

namespace hummer::tls_fetch_test {
namespace {

using namespace shuffle_exchange;

class TlsFetch : public ShuffleExchange {
 protected:
  std::shared_ptr<TlsContext> member(SimulatedPlatform& node, const TestCertificate& signer) {
    const TestCertificateOptions names{.name = node.name(), .alternatives = "DNS:here,DNS:there"};
    TlsOptions files = write_test_files(node, "member" + std::to_string(++made_),
                                        make_test_certificate(names, &signer), authority_);
    files.verify_peer = true;
    return *TlsContext::make(node, files, TlsRole::both);
  }

  const TestCertificate authority_ = make_test_authority();
  int made_ = 0;
};
INSTANTIATE_TEST_SUITE_P(Seeds, TlsFetch, testing::Range(std::uint64_t{1}, std::uint64_t{13}),
                         testing::PrintToStringParamName());

TEST_P(TlsFetch, MembersWithTheTokenGetFilesAndNobodyElse) {
  const std::shared_ptr<TlsContext> own = member(here_, authority_);
  Process here(here_, "here", own), there(there_, "there", member(there_, authority_));
  const Texts records = records_of(0, 2000);
  there.write(0, 1, records);
  const Outcome outcome = read(here, {&there}, 1, 0, "secret", own);
  EXPECT_TRUE(outcome.failure.ok()) << outcome.failure.to_string();
  EXPECT_EQ(outcome.records == records, true);

  const Outcome without = read(here, {&there}, 1, 0, "wrong", own);
  EXPECT_EQ(without.failure.code(), ErrorCode::permission_denied) << without.failure.to_string();
  const TestCertificate other = make_test_authority("someone else");
  const Outcome foreign = read(here, {&there}, 1, 0, "secret", member(here_, other));
  EXPECT_EQ(foreign.failure.code(), ErrorCode::tls_failed) << foreign.failure.to_string();
  EXPECT_TRUE(foreign.lost.empty()) << "its files are there";
  const Outcome plain = read(here, {&there}, 1, 0);
  EXPECT_FALSE(plain.failure.ok());
  for (const Outcome* const each : {&without, &foreign, &plain}) {
    EXPECT_TRUE(each->records.empty());
  }
}

}  // namespace
}  // namespace hummer::tls_fetch_test
