// The states of a job: which event leads where, and that no other does.
#include <gtest/gtest.h>

#include "job_manager/job.hpp"

namespace hummer::job_states_test {
namespace {

using namespace job_event;

const Moment at{seconds(1), 1'700'000'000'000};

void place(Job& job) { transition(job, GotSlots{std::make_unique<PlacedAttempt>()}, at); }

TEST(JobStates, TheWayOfMostJobs) {
  Job job;
  EXPECT_EQ(job.state(), wire::JOB_WAITING);
  EXPECT_EQ(job.placed(), nullptr);
  place(job);
  EXPECT_EQ(job.state(), wire::JOB_DEPLOYING);
  const PlacedAttempt* const placed = job.placed();
  transition(job, AllRan{}, at);
  EXPECT_EQ(job.state(), wire::JOB_RUNNING);
  EXPECT_EQ(job.placed(), placed);
  transition(job, Finishes{}, at);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
  EXPECT_EQ(job.placed(), nullptr);
  EXPECT_EQ(job.as<Job::Ended>()->wall_ms, at.wall_ms);
}

TEST(JobStates, ARestartKeepsTheFailuresUntilTheNextAttemptWaits) {
  Job job;
  place(job);
  transition(job, Fails{Failures({ErrorCode::peer_gone, "gone"})}, at);
  EXPECT_EQ(job.failure().message(), "gone");
  transition(job, Restart{at.now, "because"}, at);
  EXPECT_TRUE(job.failure().ok()) << "nobody is told of one that is made good";
  EXPECT_EQ(job.as<Failures>()->first().message(), "gone");
  EXPECT_EQ(job.as<Restart>()->reason, "because");
  transition(job, BeginsAgain{}, at);
  EXPECT_EQ(job.as<Job::Waiting>()->since, at.now);
  EXPECT_EQ(job.as<Failures>(), nullptr);
  EXPECT_EQ(job.attempt, 2u);
}

TEST(JobStates, OneWhoseSinksHaveCommittedFinishesWhateverIsAskedThen) {
  Job job;
  place(job);
  transition(job, Stops{}, at);
  transition(job, AllCommitted{}, at);
  EXPECT_EQ(job.state(), wire::JOB_STOPPING);
  transition(job, Cancels{}, at);
  EXPECT_EQ(job.state(), wire::JOB_CANCELLING);
  transition(job, Finishes{}, at);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST(JobStates, WhatTheDiagramLacksIsRefused) {
  constexpr auto refused = "this event has no place in this state";
  Job job;
  EXPECT_DEATH(transition(job, AllRan{}, at), refused);
  place(job);
  EXPECT_DEATH(place(job), refused);
  EXPECT_DEATH(transition(job, AllEnded{}, at), refused) << "it has not failed";
  EXPECT_DEATH(transition(job, BeginsAgain{}, at), refused);
  transition(job, Restart{}, at);
  EXPECT_DEATH(transition(job, Finishes{}, at), refused);
  transition(job, Cancels{}, at);
  EXPECT_DEATH(transition(job, Fails{}, at), refused);
  transition(job, AllEnded{}, at);
  EXPECT_EQ(job.state(), wire::JOB_CANCELLED);
  EXPECT_DEATH(transition(job, Stops{}, at), refused);
  JobRegion region;
  EXPECT_DEATH(transition(region, BeginsAgain{}, at), refused);
  EXPECT_DEATH(transition(region, AllEnded{}, at), refused);
}

}  // namespace
}  // namespace hummer::job_states_test
