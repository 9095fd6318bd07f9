// The JobManager's port under TLS: who gets in, and what the others are told.
#include <string>

#include "client/cluster_client.hpp"
#include "job_manager/job_manager_test_rig.hpp"
#include "platform/tls_certificates_for_test.hpp"
#include "task_manager/registration.hpp"

namespace hummer::tls_registration_test {
namespace {

const TestCertificateOptions for_job_manager{.name = "jm", .alternatives = "DNS:jobmanager"};

TlsOptions files_of(Platform& node, const std::string& name, const TestCertificate& own,
                    const TestCertificate& ca) {
  return write_test_files(node, name, own, ca);
}

class TlsRegistration : public testing::TestWithParam<std::uint64_t> {
 protected:
  // A JobManager that asks everybody for a certificate.
  void start(TestCertificateOptions certificate = for_job_manager) {
    // The rig makes the node, whose disk the files lie on: so the context comes from a node of its
    // own.
    disk_ = make_simulated_platform({.seed = 1});
    TlsOptions files =
        files_of(*disk_, "jm", make_test_certificate(certificate, &authority_), authority_);
    files.verify_peer = true;
    JobManagerOptions options;
    options.tls = *TlsContext::make(*disk_, files, TlsRole::server);
    rig_ = std::make_unique<JobManagerRig>(GetParam(), options);
  }
  std::shared_ptr<TlsContext> member(const TestCertificate& signer, const TestCertificate& ca,
                                     TestCertificateOptions options = {}) {
    const TlsOptions files = files_of(*disk_, "member" + std::to_string(++made_),
                                      make_test_certificate(options, &signer), ca);
    return *TlsContext::make(*disk_, files, TlsRole::both);
  }
  static Task<void> list(TlsRegistration& test, std::shared_ptr<TlsContext> tls, Status& outcome) {
    ClusterClientOptions options;
    options.job_manager = "jobmanager:6123";
    options.token = "secret";
    options.tls = std::move(tls);
    ClusterClient client(test.rig_->peers_node, *test.rig_->executor, options);
    wire::ClientRequest request;
    request.mutable_list();
    const Result<wire::ClientAnswer> answer = co_await client.ask(std::move(request));
    outcome = answer.status();
  }
  Status list(std::shared_ptr<TlsContext> tls) {
    Status outcome(ErrorCode::internal, "unset");
    rig_->run(list(*this, std::move(tls), outcome));
    return outcome;
  }
  void expect_refused(std::shared_ptr<TlsContext> tls, ErrorCode code, const std::string& text,
                      const std::string& log) {
    const Nanoseconds began = rig_->now();
    const Status refused = list(std::move(tls));
    EXPECT_EQ(refused.code(), code) << refused.to_string();
    EXPECT_NE(refused.message().find(text), std::string::npos) << refused.to_string();
    // At once, not after all patience.
    EXPECT_LT(rig_->now() - began, seconds(2));
    // The JobManager hears of it a little later.
    (void)rig_->simulation.run_until([&] { return rig_->logged(log); }, rig_->now() + seconds(2));
    EXPECT_TRUE(rig_->logged(log)) << log;
  }

  const TestCertificate authority_ = make_test_authority();
  std::unique_ptr<SimulatedPlatform> disk_;
  std::unique_ptr<JobManagerRig> rig_;
  int made_ = 0;
};

Task<void> register_over(JobManagerRig& rig, std::shared_ptr<TlsContext> tls, Status& outcome) {
  RegistrationRequest request;
  request.job_manager = "jobmanager:6123";
  request.tls = std::move(tls);
  request.data_addresses = {{"", "0.0.0.0:7000"}};
  request.hello = hello_of();
  request.hello.mutable_registration()->set_id("tm1");
  request.hello.mutable_registration()->set_slots(1);
  request.hello.mutable_registration()->set_incarnation(1);
  const Registered registered = co_await register_once(rig.peers_node, std::move(request));
  outcome = registered.status;
  EXPECT_EQ(rig.job_manager->counts().task_managers, registered.status.ok() ? 1u : 0u);
}

TEST_P(TlsRegistration, MembersGetIn) {
  start();
  EXPECT_TRUE(list(member(authority_, authority_)).ok());
  Status registered(ErrorCode::internal, "unset");
  rig_->run(register_over(*rig_, member(authority_, authority_), registered));
  EXPECT_TRUE(registered.ok()) << registered.to_string();
  EXPECT_EQ(rig_->job_manager->counts().garbage, 0u);
}

TEST_P(TlsRegistration, StrangersAreToldWhyAndNamedInTheLog) {
  start();
  expect_refused(nullptr, ErrorCode::protocol_error, "speaks TLS", "plain text came");
  const TestCertificate other = make_test_authority("someone else");
  expect_refused(member(other, authority_), ErrorCode::tls_failed, "not signed by the peer's CA",
                 "not signed by the CA");
  expect_refused(member(authority_, other), ErrorCode::tls_failed, "not signed by the CA",
                 "not signed by the peer's CA");
  expect_refused(member(authority_, authority_, {.valid_until = 1'600'000'000}),
                 ErrorCode::tls_failed, "it has expired", "certificate has expired");
  EXPECT_EQ(rig_->job_manager->counts().connections, 0u);
}

TEST_P(TlsRegistration, AServerOfAnotherNameIsNotTrusted) {
  start({.name = "jm", .alternatives = "DNS:elsewhere"});
  expect_refused(member(authority_, authority_), ErrorCode::tls_failed, "is not for 'jobmanager'",
                 "connection from");
}

TEST_P(TlsRegistration, AWorkerWithTlsFindsAPlainJobManager) {
  start();
  rig_ = nullptr;
  rig_ = std::make_unique<JobManagerRig>(GetParam());
  // It may be one that dies, so it is asked again.
  const Status lost = list(member(authority_, authority_));
  EXPECT_EQ(lost.code(), ErrorCode::connection_lost);
  EXPECT_NE(lost.message().find("does it speak TLS?"), std::string::npos) << lost.to_string();
  EXPECT_TRUE(rig_->logged("the peer speaks TLS, this side does not"));
}

INSTANTIATE_TEST_SUITE_P(Seeds, TlsRegistration, testing::Values(1, 2, 3));

}  // namespace
}  // namespace hummer::tls_registration_test
