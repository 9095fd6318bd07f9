// A submission that the journal can't take, as the JobManager decides on it: no disk, no stream.
#include <gtest/gtest.h>

#include <optional>

#include "graph/graph_builder_for_test.hpp"
#include "job_manager/cluster_state.hpp"
#include "protocol/graph_messages.hpp"

namespace hummer::refused_submission_test {
namespace {

class SubmissionsThatAreNotRecorded : public testing::Test {
 protected:
  static JobManagerOptions with_state_directory() {
    JobManagerOptions options;
    options.state_directory = "/state";
    return options;
  }
  static wire::SubmitJob submission() {
    wire::SubmitJob request;
    request.set_submission_id(0xabc);
    const Result<JobGraph> graph = fuse(word_count().graph);
    to_message(*graph, *request.mutable_graph());
    request.mutable_options()->set_parallelism(1);
    return request;
  }
  Job& submit() {
    const Result<std::uint64_t> id = cluster.submit(submission(), at);
    EXPECT_TRUE(id.ok()) << id.status().to_string();
    cluster.advance(at);
    return *cluster.jobs().find(*id);
  }
  void pass(Nanoseconds time) {
    at.now += time;
    cluster.advance(at);
  }
  JournalEntry next_entry() {
    std::vector<JournalEntry> entries = cluster.take_entries_due();
    EXPECT_EQ(entries.size(), 1u);
    return entries.empty() ? JournalEntry() : std::move(entries.front());
  }
  void fails(const JournalEntry& entry, bool in_doubt) {
    const Status full(ErrorCode::disk_full, "no space");
    cluster.recorded({entry.record.job, entry.change, full, in_doubt}, at);
  }
  void is_there(const JournalEntry& entry) {
    cluster.recorded({entry.record.job, entry.change}, at);
  }
  // What whoever submits it again is told: the job, or why there is none; nothing: it waits.
  std::optional<Result<std::uint64_t>> told() {
    Result<std::uint64_t> id = cluster.submit(submission(), at);
    if (id.ok() && !cluster.jobs().find(*id)->recording.taken()) return std::nullopt;
    return id;
  }

  const JobManagerOptions options = with_state_directory();
  ClusterState cluster{options};
  Moment at{seconds(1), 1};
};

TEST_F(SubmissionsThatAreNotRecorded, AreRefusedAtOnceWhereTheJournalCantHaveThem) {
  const Job& job = submit();
  fails(next_entry(), false);
  const auto answer = told();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status().code(), ErrorCode::disk_full);
  EXPECT_EQ(job.state(), wire::JOB_FAILED);
  pass(seconds(2));
  for (const JournalEntry& entry : cluster.take_entries_due()) {
    EXPECT_TRUE(entry.record.request.empty()) << "it would be added";
  }
}

// Else the next JobManager ran it, beside the one that was submitted in its place.
TEST_F(SubmissionsThatAreNotRecorded, AreRefusedWithTheirEndWhereItMayHaveThem) {
  const Job& job = submit();
  fails(next_entry(), true);
  EXPECT_FALSE(told().has_value());
  for (int i = 0; i < 3; ++i) {
    const JournalEntry end = next_entry();
    EXPECT_EQ(end.record.state, wire::JOB_FAILED);
    EXPECT_FALSE(end.record.request.empty()) << "it may be there or not: the whole record";
    fails(end, i == 1);
    EXPECT_FALSE(told().has_value());
    EXPECT_NE(cluster.waiting_reason(job).find("no space"), std::string::npos);
    EXPECT_TRUE(cluster.take_entries_due().empty()) << "the next try is in a second";
    pass(seconds(1));
  }
  is_there(next_entry());
  const auto answer = told();
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->status().code(), ErrorCode::disk_full);
  EXPECT_NE(answer->status().message().find("the job was not taken"), std::string::npos);
}

// What is on its way is written although the first try failed.
TEST_F(SubmissionsThatAreNotRecorded, AreInDoubtWhileAnotherEntryIsUnderWay) {
  Job& job = submit();
  const JournalEntry first = next_entry();
  wire::Registration registration;
  registration.set_id("worker");
  registration.set_slots(1);
  ClusterState::Refused refused;
  EXPECT_NE(cluster.register_worker(registration, "10.0.0.9:1", at, refused), 0u);
  cluster.advance(at);  // an attempt may begin
  const JournalEntry second = next_entry();
  fails(first, false);
  EXPECT_EQ(job.state(), wire::JOB_FAILED);
  is_there(second);
  EXPECT_FALSE(told().has_value()) << "the journal has a job that waits";
  const JournalEntry end = next_entry();
  EXPECT_EQ(end.record.state, wire::JOB_FAILED);
  is_there(end);
  ASSERT_TRUE(told().has_value());
  EXPECT_FALSE(told()->ok());
}

}  // namespace
}  // namespace hummer::refused_submission_test
