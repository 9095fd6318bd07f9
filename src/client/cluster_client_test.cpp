#include "client/cluster_client.hpp"

#include <gtest/gtest.h>

#include "client/answering_job_manager_for_test.hpp"
#include "platform/run_task.hpp"
#include "platform/simulation.hpp"
#include "protocol/job_status.hpp"

namespace hummer::cluster_client_test {
namespace {

using Deed = AnsweringJobManager::Deed;

class ClusterClientTest : public testing::Test {
 protected:
  ClusterClientTest()
      : master_(simulation_.add_node("master")),
        client_node_(simulation_.add_node("client")),
        executor_(client_node_.make_executor({.name = "client"})) {}
  ~ClusterClientTest() override { executor_->stop(); }

  ClusterClient make_client(std::string token = {}) {
    ClusterClientOptions options;
    options.job_manager = "master:6123";
    options.token = std::move(token);
    return {client_node_, *executor_, options};
  }
  template <typename T>
  Result<T> run(Task<Result<T>> task) {
    std::optional<Result<T>> outcome =
        run_task(client_node_, *executor_, std::move(task), seconds(60));
    if (!outcome) return Status(ErrorCode::internal, "it never ended");
    return std::move(*outcome);
  }
  static wire::ClientRequest list() {
    wire::ClientRequest request;
    request.mutable_list();
    return request;
  }

  Simulation simulation_{{.seed = 7}};
  SimulatedPlatform& master_;
  SimulatedPlatform& client_node_;
  std::unique_ptr<Executor> executor_;
};

Deed answer_empty_list(const wire::ClientRequest&, wire::ClientAnswer& answer) {
  answer.mutable_list();
  return Deed::answer;
}

TEST_F(ClusterClientTest, UsesOneConnectionForAllQuestions) {
  AnsweringJobManager job_manager(master_, 6123, &answer_empty_list);
  ClusterClient client = make_client();
  for (int i = 0; i < 3; ++i) {
    const Result<wire::ClientAnswer> answer = run(client.ask(list()));
    ASSERT_TRUE(answer.ok()) << answer.status().to_string();
    EXPECT_TRUE(answer->has_list());
  }
  EXPECT_EQ(job_manager.connections, 1);
}

TEST_F(ClusterClientTest, AsksAgainOverANewConnectionWhenTheOldOneBreaks) {
  int questions = 0;
  AnsweringJobManager job_manager(master_, 6123,
                                  [&](const wire::ClientRequest&, wire::ClientAnswer& answer) {
                                    answer.mutable_list();
                                    return ++questions < 3 ? Deed::hang_up : Deed::answer;
                                  });
  ClusterClient client = make_client();
  EXPECT_TRUE(run(client.ask(list())).ok());
  EXPECT_EQ(questions, 3);
  EXPECT_EQ(job_manager.connections, 3);
}

TEST_F(ClusterClientTest, GivesUpOnASilentJobManagerWithItsAddress) {
  AnsweringJobManager job_manager(
      master_, 6123,
      [](const wire::ClientRequest&, wire::ClientAnswer&) { return Deed::keep_silent; });
  ClusterClient client = make_client();
  const Nanoseconds began = client_node_.now();
  const Result<wire::ClientAnswer> answer = run(client.ask(list()));
  EXPECT_EQ(answer.status().code(), ErrorCode::timed_out);
  EXPECT_NE(answer.status().message().find("master:6123"), std::string::npos)
      << answer.status().to_string();
  EXPECT_LE(client_node_.now() - began, seconds(10) + milliseconds(100)) << "its patience";
  EXPECT_GT(job_manager.requests.size(), 1u) << "it asks again";
}

TEST_F(ClusterClientTest, WaitsForAJobManagerThatStartsLater) {
  ClusterClient client = make_client();
  auto outcome = std::make_shared<TaskOutcome<Result<wire::ClientAnswer>>>();
  executor_->spawn(store_outcome(client_node_, client.ask(list()), outcome));
  simulation_.run_until([] { return false; }, seconds(3));
  ASSERT_FALSE(outcome->done);
  AnsweringJobManager job_manager(master_, 6123, &answer_empty_list);
  simulation_.run_until([&] { return outcome->done.load(); }, seconds(20));
  ASSERT_TRUE(outcome->done);
  EXPECT_TRUE((*outcome->value).ok()) << (*outcome->value).status().to_string();
}

TEST_F(ClusterClientTest, ARefusedHandshakeIsFinal) {
  AnsweringJobManager job_manager(master_, 6123, &answer_empty_list);
  job_manager.token = "secret";
  ClusterClient stranger = make_client("guess");
  const Result<wire::ClientAnswer> answer = run(stranger.ask(list()));
  EXPECT_EQ(answer.status().code(), ErrorCode::permission_denied);
  EXPECT_EQ(job_manager.connections, 1) << "it must not try again";
  ClusterClient member = make_client("secret");
  EXPECT_TRUE(run(member.ask(list())).ok());
}

TEST_F(ClusterClientTest, ANameThatDoesNotResolveIsFinal) {
  ClusterClientOptions options;
  options.job_manager = "nowhere:6123";
  ClusterClient client(client_node_, *executor_, options);
  const Nanoseconds began = client_node_.now();
  EXPECT_EQ(run(client.ask(list())).status().code(), ErrorCode::name_not_resolved);
  EXPECT_LT(client_node_.now() - began, seconds(1));
}

TEST_F(ClusterClientTest, WhatTheJobManagerAnswersIsNotAskedAgain) {
  AnsweringJobManager job_manager(
      master_, 6123, [](const wire::ClientRequest&, wire::ClientAnswer& answer) {
        to_message(Status(ErrorCode::not_found, "no job 9"), *answer.mutable_failure());
        return Deed::answer;
      });
  ClusterClient client = make_client();
  const Result<wire::ClientAnswer> answer = run(client.ask(list()));
  EXPECT_EQ(answer.status().to_string(), "E4000: no job 9");
  EXPECT_EQ(job_manager.requests.size(), 1u);
}

TEST_F(ClusterClientTest, SendsALibraryOnlyWhenItIsAskedFor) {
  const std::string library(3'000'000, 'x');
  std::string there;
  AnsweringJobManager job_manager(
      master_, 6123, [&](const wire::ClientRequest& request, wire::ClientAnswer& answer) {
        if (request.has_submit()) {
          const bool complete = there.size() == request.submit().library_bytes();
          answer.mutable_submitted()->set_job(complete ? 5 : 0);
          answer.mutable_submitted()->set_library_offset(there.size());
        } else {
          // Breaks the connection once after taking a piece: it is sent again, and taken once.
          if (request.upload().offset() == there.size()) there += request.upload().bytes();
          answer.mutable_uploaded()->set_offset(there.size());
          if (job_manager.connections == 1) return Deed::hang_up;
        }
        return Deed::answer;
      });
  ClusterClient client = make_client();
  for (int i = 0; i < 2; ++i) {
    wire::SubmitJob job;
    job.set_library_hash(42);
    job.set_library_bytes(library.size());
    const Result<std::uint64_t> number = run(client.submit(job, library));
    ASSERT_TRUE(number.ok()) << number.status().to_string();
    EXPECT_EQ(*number, 5u);
    EXPECT_EQ(there, library);
    if (i == 0) job_manager.requests.clear();
  }
  EXPECT_EQ(job_manager.requests.size(), 1u) << "the second time it has the library";
  EXPECT_NE(job_manager.requests[0].submit().submission_id(), 0u);
}

TEST_F(ClusterClientTest, AJobManagerThatNeverHasTheLibraryIsAFailure) {
  AnsweringJobManager job_manager(
      master_, 6123, [](const wire::ClientRequest& request, wire::ClientAnswer& answer) {
        if (request.has_submit()) {
          answer.mutable_submitted();
        } else {
          answer.mutable_uploaded();
        }
        return Deed::answer;
      });
  ClusterClient client = make_client();
  wire::SubmitJob job;
  job.set_library_bytes(7);
  EXPECT_EQ(run(client.submit(job, "library")).status().code(), ErrorCode::protocol_error);
}

TEST_F(ClusterClientTest, WatchesAJobToItsEnd) {
  std::uint64_t version = 0;
  AnsweringJobManager job_manager(
      master_, 6123, [&](const wire::ClientRequest& request, wire::ClientAnswer& answer) {
        EXPECT_EQ(request.job().version_seen(), version);
        wire::JobStatus& status = *answer.mutable_job();
        status.set_version(++version);
        status.set_state(version == 4 ? wire::JOB_FINISHED : wire::JOB_RUNNING);
        return version == 2 && job_manager.connections == 1 ? (--version, Deed::hang_up)
                                                            : Deed::answer;
      });
  ClusterClient client = make_client();
  std::vector<std::uint64_t> seen;
  const Result<wire::JobStatus> end = run(client.watch(
      7,
      [](void* context, const wire::JobStatus& status) {
        static_cast<std::vector<std::uint64_t>*>(context)->push_back(status.version());
      },
      &seen));
  ASSERT_TRUE(end.ok()) << end.status().to_string();
  EXPECT_TRUE(has_ended(end->state()));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3, 4}));
}

TEST_F(ClusterClientTest, ANewJobManagerIsNotAskedForJobsOfTheOldOne) {
  AnsweringJobManager job_manager(
      master_, 6123, [](const wire::ClientRequest& request, wire::ClientAnswer& answer) {
        if (request.has_submit()) answer.mutable_submitted()->set_job(1);
        if (request.has_end()) ADD_FAILURE() << "another job was ended";
        return Deed::answer;
      });
  ClusterClient client = make_client();
  ASSERT_TRUE(run(client.submit({}, {})).ok());
  EXPECT_EQ(client.numbered_by(), 1u);
  // It starts again: its job 1 is somebody else's.
  job_manager.incarnation = 2;
  ClusterClientOptions options;
  options.job_manager = "master:6123";
  options.numbered_by = client.numbered_by();
  ClusterClient other(client_node_, *executor_, options);
  wire::ClientRequest cancel;
  cancel.mutable_end()->set_job(1);
  const Result<wire::ClientAnswer> answer = run(other.ask(std::move(cancel)));
  EXPECT_EQ(answer.status().code(), ErrorCode::not_found);
  // What names no job may be asked, and a submission makes its numbers the client's.
  EXPECT_TRUE(run(other.ask(list())).ok());
  ASSERT_TRUE(run(other.submit({}, {})).ok());
  EXPECT_EQ(other.numbered_by(), 2u);
}

TEST_F(ClusterClientTest, CloseEndsAWaitingCall) {
  AnsweringJobManager job_manager(
      master_, 6123,
      [](const wire::ClientRequest&, wire::ClientAnswer&) { return Deed::keep_silent; });
  for (const Nanoseconds when : {milliseconds(100), milliseconds(3020)}) {
    ClusterClient client = make_client();
    auto outcome = std::make_shared<TaskOutcome<Result<wire::ClientAnswer>>>();
    executor_->spawn(store_outcome(client_node_, client.ask(list()), outcome));
    simulation_.run_until([] { return false; }, simulation_.now() + when);
    ASSERT_FALSE(outcome->done);
    client.close();
    simulation_.run_until([&] { return outcome->done.load(); },
                          simulation_.now() + milliseconds(10));
    ASSERT_TRUE(outcome->done);
    EXPECT_EQ((*outcome->value).status().code(), ErrorCode::cancelled);
  }
}

}  // namespace
}  // namespace hummer::cluster_client_test
