// Regions that read each other's files, as the JobManager decides on them.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>
#include <string>

#include "graph/graph_builder_for_test.hpp"
#include "job_manager/cluster_state_fixture_for_test.hpp"
#include "protocol/graph_messages.hpp"

namespace hummer::blocking_edges_test {
namespace {

// source ⇒ map ⇒ sink, each in a region of its own; with `inner`, map and sink are one, which a
// pipelined exchange is in.
wire::SubmitJob three_steps(bool inner) {
  GraphBuilder b;
  b.graph.job_name = "steps";
  b.source("source").output_type = "i64";
  b.op("map").output_type = "i64";
  b.sink("sink");
  b.edge(1, 2, Routing::hash).network.exchange = ExchangeMode::blocking;
  b.edge(2, 3, Routing::hash).network.exchange =
      inner ? ExchangeMode::pipelined : ExchangeMode::blocking;
  const Result<JobGraph> graph = fuse(b.graph);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  wire::SubmitJob request;
  request.set_submission_id(0xabc);
  to_message(*graph, *request.mutable_graph());
  request.mutable_options()->set_parallelism(2);
  to_message(RestartStrategy::fixed_delay(100, 50),
             *request.mutable_options()->mutable_restarting());
  return request;
}

using Attempts = std::map<std::uint32_t, std::uint32_t>;  // by region

class BlockingEdges : public ClusterStateTest {
 protected:
  void SetUp() override {
    options.slot_timeout_ns = seconds(40);
    a = add_worker("a");
    b = add_worker("b");
  }
  Job& submit(bool inner = false) { return ClusterStateTest::submit(three_steps(inner)); }
  void lose(std::uint64_t session) {
    cluster.connection_ended(session, Status(ErrorCode::connection_lost, "killed"), at);
    cluster.advance(at);
  }
  // Those that have begun have got their deployments.
  static void deploy(Job& job) {
    for (JobPart& part : job.placed()->parts) part.deployed = part.begun;
  }
  // a's part of the region fails, and b's, where it runs, is cancelled; until it may begin again.
  void strike(const Job& job, std::uint32_t region, bool b_runs = true,
              const std::optional<wire::ShuffleSource>& lost = {}) {
    wire::AttemptReport failed = report(job, region, wire::ATTEMPT_FAILED);
    to_message(Status(ErrorCode::user_function_failed, "no"), *failed.mutable_failure());
    if (lost) *failed.add_lost_files() = *lost;
    send(a, failed);
    if (b_runs) say(b, job, region, wire::ATTEMPT_CANCELLED);
    EXPECT_EQ(assigned(a), Attempts()) << "not before the strategy's delay";
    pass(milliseconds(50));
  }
  // Of the first region, on b.
  static wire::ShuffleSource files_of_b(std::uint32_t attempt) {
    wire::ShuffleSource source;
    source.set_region(0);
    source.set_task_manager(1);
    source.set_attempt(attempt);
    return source;
  }
  // On both TaskManagers.
  void finish(const Job& job, std::uint32_t region) {
    say(a, job, region, wire::ATTEMPT_FINISHED);
    say(b, job, region, wire::ATTEMPT_FINISHED);
  }
  wire::JobManagerState told(std::uint64_t session) {
    wire::JobManagerState state;
    cluster.state_for(session, state);
    return state;
  }
  // What runs on it.
  Attempts assigned(std::uint64_t session) {
    Attempts all;
    const wire::JobManagerState state = told(session);
    for (const wire::Assignment& each : state.assignments()) {
      all[each.region()] = each.attempt();
    }
    return all;
  }
  Attempts kept(std::uint64_t session) {
    Attempts all;
    const wire::JobManagerState state = told(session);
    for (const wire::AttemptKey& each : state.kept()) all[each.region()] = each.attempt();
    return all;
  }
  // Where the region's part reads: by TaskManager, the attempt.
  Attempts sources(std::uint64_t session, const Job& job, std::uint32_t region) {
    wire::TaskManagerState message;
    wire::AttemptKey& wanted = *message.add_wanted();
    wanted.set_job(job.id);
    wanted.set_region(region);
    wanted.set_attempt(job.placed()->regions[region].attempt);
    message.set_session(session);
    message.set_sequence(++sequence);
    EXPECT_TRUE(cluster.take_state(session, message, at));
    Attempts all;
    const wire::JobManagerState state = told(session);
    for (const wire::Assignment& each : state.assignments()) {
      if (each.region() != region) continue;
      for (const wire::ShuffleSource& source : each.deployment().shuffle_sources()) {
        EXPECT_EQ(source.region() + 1, region);
        all[source.task_manager()] = source.attempt();
      }
    }
    return all;
  }

  // The job may have fewer subtasks where it reads less than this.
  Job& submit_with(std::uint64_t bytes_per_subtask, wire::SubmitJob request = three_steps(false)) {
    request.mutable_options()->set_bytes_per_subtask(bytes_per_subtask);
    return ClusterStateTest::submit(request);
  }
  // On both TaskManagers, each of which leaves as many bytes on that edge.
  void finish(const Job& job, std::uint32_t region, std::uint32_t edge, std::uint64_t bytes) {
    for (const std::uint64_t session : {a, b}) {
      wire::AttemptReport finished = report(job, region, wire::ATTEMPT_FINISHED);
      wire::WrittenBytes& written = *finished.add_written();
      written.set_edge(edge);
      written.set_bytes(bytes);
      send(session, finished);
    }
  }

  static std::vector<std::uint32_t> starts(const Job& job) { return job.starts; }
  using Starts = std::vector<std::uint32_t>;

  std::uint64_t a = 0;
  std::uint64_t b = 0;
};

TEST_F(BlockingEdges, ARegionBeginsWhenAllOfWhatItReadsHasFinished) {
  Job& job = submit();
  EXPECT_EQ(assigned(a), (Attempts{{0, 1}}));
  say(a, job, 0, wire::ATTEMPT_RUNNING);
  say(b, job, 0, wire::ATTEMPT_RUNNING);
  EXPECT_EQ(job.state(), wire::JOB_RUNNING);
  say(a, job, 0, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(assigned(a), Attempts());
  say(b, job, 0, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(assigned(a), (Attempts{{1, 1}}));
  EXPECT_EQ(assigned(b), (Attempts{{1, 1}}));
  EXPECT_EQ(sources(a, job, 1), (Attempts{{0, 1}, {1, 1}}));
  finish(job, 1);
  EXPECT_EQ(assigned(a), (Attempts{{2, 1}}));
  EXPECT_EQ(starts(job), (Starts{1, 1, 1, 1, 1, 1}));
  finish(job, 2);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST_F(BlockingEdges, FilesAreKeptAsLongAsTheJobLastsAndSoAreItsSlots) {
  Job& job = submit();
  EXPECT_EQ(kept(a), Attempts());
  finish(job, 0);
  EXPECT_EQ(kept(a), (Attempts{{0, 1}}));
  finish(job, 1);
  EXPECT_EQ(kept(a), (Attempts{{0, 1}, {1, 1}}));
  say(a, job, 2, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(kept(a), (Attempts{{0, 1}, {1, 1}})) << "nobody reads the last one's";
  EXPECT_EQ(cluster.workers().find(a)->free_slots, 0u);
  for (const std::uint64_t session : cluster.take_states_due()) (void)told(session);
  say(b, job, 2, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(cluster.workers().find(a)->free_slots, 1u);
  EXPECT_EQ(kept(a), Attempts());
  const std::vector<std::uint64_t> due = cluster.take_states_due();
  EXPECT_EQ(std::set<std::uint64_t>(due.begin(), due.end()), (std::set<std::uint64_t>{a, b}));
}

TEST_F(BlockingEdges, CancellingTellsThatFilesAreNotReadAnyMore) {
  Job& job = submit();
  finish(job, 0);
  ASSERT_TRUE(cluster.end(job.id, wire::DESIRED_CANCEL, at).ok());
  EXPECT_EQ(job.state(), wire::JOB_CANCELLED) << "nothing of the second region was deployed";
  EXPECT_EQ(kept(a), Attempts());
  EXPECT_EQ(cluster.workers().find(a)->free_slots, 1u);
}

TEST_F(BlockingEdges, AFailureOfTheSecondRegionLeavesTheFirstAlone) {
  Job& job = submit();
  finish(job, 0);
  deploy(job);
  strike(job, 1);
  EXPECT_EQ(assigned(a), (Attempts{{1, 2}}));
  EXPECT_EQ(assigned(b), (Attempts{{1, 2}}));
  EXPECT_EQ(sources(b, job, 1), (Attempts{{0, 1}, {1, 1}}));
  EXPECT_EQ(starts(job), (Starts{1, 1, 2, 2, 0, 0}));
}

TEST_F(BlockingEdges, WhatHasFinishedOfAStruckRegionStays) {
  Job& job = submit();
  finish(job, 0);
  deploy(job);
  say(b, job, 1, wire::ATTEMPT_FINISHED);
  strike(job, 1, false);
  EXPECT_EQ(assigned(a), (Attempts{{1, 2}}));
  EXPECT_EQ(assigned(b), Attempts());
  say(a, job, 1, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(sources(a, job, 2), (Attempts{{0, 2}, {1, 1}}));
  EXPECT_EQ(kept(b), (Attempts{{0, 1}, {1, 1}}));
}

TEST_F(BlockingEdges, OnlyWhatWentWithATaskManagerBeginsAgain) {
  Job& job = submit();
  finish(job, 0);
  deploy(job);
  lose(a);
  say(b, job, 1, wire::ATTEMPT_CANCELLED);
  pass(milliseconds(50));
  EXPECT_EQ(assigned(b), Attempts()) << "nobody is there for the other part";
  a = add_worker("a");
  EXPECT_EQ(assigned(a), (Attempts{{0, 2}}));
  EXPECT_EQ(assigned(b), Attempts());
  EXPECT_EQ(kept(b), (Attempts{{0, 1}}));
  EXPECT_EQ(starts(job), (Starts{2, 1, 1, 1, 0, 0}));
  say(a, job, 0, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(assigned(a), (Attempts{{1, 3}}));
  EXPECT_EQ(sources(b, job, 1), (Attempts{{0, 2}, {1, 1}}));
  EXPECT_EQ(starts(job), (Starts{2, 1, 2, 2, 0, 0}));
}

TEST_F(BlockingEdges, WhatHasReadFilesThatAreMadeAgainBeginsAgainAsAWhole) {
  Job& job = submit();
  finish(job, 0);
  finish(job, 1);
  deploy(job);
  lose(a);
  say(b, job, 2, wire::ATTEMPT_CANCELLED);
  pass(milliseconds(50));
  a = add_worker("a");
  EXPECT_EQ(assigned(a), (Attempts{{0, 2}}));
  say(a, job, 0, wire::ATTEMPT_FINISHED);
  // b's part of the second region has read what a's of the first had left before.
  EXPECT_EQ(assigned(a).count(1), 1u);
  EXPECT_EQ(assigned(b).count(1), 1u);
  EXPECT_EQ(starts(job), (Starts{2, 1, 2, 2, 1, 1}));
  finish(job, 1);
  EXPECT_EQ(assigned(a).count(2), 1u);
  EXPECT_EQ(assigned(b).count(2), 1u);
}

TEST_F(BlockingEdges, FilesThatAReaderMissesAreMadeAgain) {
  Job& job = submit();
  finish(job, 0);
  deploy(job);
  strike(job, 1, true, files_of_b(1));
  EXPECT_EQ(assigned(a), Attempts());
  EXPECT_EQ(assigned(b), (Attempts{{0, 2}}));
  EXPECT_EQ(starts(job), (Starts{1, 2, 1, 1, 0, 0}));
  say(b, job, 0, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(sources(a, job, 1), (Attempts{{0, 1}, {1, 2}}));
}

TEST_F(BlockingEdges, WordsOfAnEarlierAttemptAreNoLoss) {
  Job& job = submit();
  finish(job, 0);
  deploy(job);
  strike(job, 1, true, files_of_b(7));
  EXPECT_EQ(assigned(b), (Attempts{{1, 2}}));
}

TEST_F(BlockingEdges, ARegionThatHandsRecordsOnWithinBeginsAgainAsAWhole) {
  Job& job = submit(true);
  ASSERT_EQ(job.placed()->regions.size(), 2u);
  finish(job, 0);
  deploy(job);
  say(b, job, 1, wire::ATTEMPT_FINISHED);
  strike(job, 1, false);
  EXPECT_EQ(assigned(a), (Attempts{{1, 2}}));
  EXPECT_EQ(assigned(b), (Attempts{{1, 2}}));
}

TEST_F(BlockingEdges, WithoutASuccessorTheJobWaitsAndThenBeginsAgainAsAWhole) {
  Job& job = submit();
  finish(job, 0);
  deploy(job);
  lose(a);
  say(b, job, 1, wire::ATTEMPT_CANCELLED);
  pass(milliseconds(50));
  pass(seconds(39));
  EXPECT_EQ(job.state(), wire::JOB_RUNNING);
  pass(seconds(2));
  EXPECT_NE(job.state(), wire::JOB_RUNNING);
  EXPECT_EQ(kept(b), Attempts());
  a = add_worker("another");
  pass(seconds(1));
  EXPECT_EQ(assigned(a).count(0), 1u);
  EXPECT_EQ(assigned(b).count(0), 1u);
}

TEST_F(BlockingEdges, ARegionThatReadsLittleHasFewerSubtasks) {
  Job& job = submit_with(1000);
  finish(job, 0, 0, 501);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 2, 2})) << "1,002 bytes are for two";
  EXPECT_EQ(assigned(a), (Attempts{{1, 2}})) << "each region has a number of its own";
  finish(job, 1, 1, 500);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 2, 1}));
  EXPECT_EQ(assigned(a), (Attempts{{2, 3}}));
  EXPECT_EQ(assigned(b), (Attempts{{2, 3}})) << "a part without a task";
  EXPECT_EQ(sources(a, job, 2), (Attempts{{0, 2}, {1, 2}})) << "of both, all the same";
  EXPECT_EQ(starts(job), (Starts{1, 1, 1, 1, 1, 0}));
  wire::JobStatus status;
  describe(job, true, true, status);
  EXPECT_EQ(status.vertices(1).planned_parallelism(), 0u);
  EXPECT_EQ(status.vertices(2).parallelism(), 1u);
  EXPECT_EQ(status.vertices(2).planned_parallelism(), 2u);
  EXPECT_EQ(status.vertices(2).shuffle_bytes(), 1000u);
  EXPECT_EQ(status.vertices(2).subtask_starts_size(), 1);
  EXPECT_NE(status.explanation().find("(x1 of 2, as it reads 1000 bytes of shuffle files)"),
            std::string::npos)
      << status.explanation();
  finish(job, 2);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST_F(BlockingEdges, ANarrowedRegionBeginsAgainAsItWas) {
  Job& job = submit_with(1000);
  finish(job, 0, 0, 10);
  finish(job, 1, 1, 501);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 1, 2}));
  EXPECT_EQ(starts(job), (Starts{1, 1, 1, 0, 1, 1}));
  deploy(job);
  strike(job, 2);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 1, 2}));
  EXPECT_EQ(starts(job), (Starts{1, 1, 1, 0, 2, 2}));
  // What the narrowed one leaves another time may be less; its reader has begun before.
  deploy(job);
  lose(a);
  say(b, job, 2, wire::ATTEMPT_CANCELLED);
  pass(milliseconds(50));
  a = add_worker("a");
  say(a, job, 0, wire::ATTEMPT_FINISHED);
  finish(job, 1, 1, 1);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 1, 2}));
  EXPECT_EQ(assigned(a).count(2), 1u);
  EXPECT_EQ(starts(job), (Starts{2, 1, 2, 0, 3, 3}));
}

TEST_F(BlockingEdges, AJobThatBeginsAgainAsAWholeIsAsWideAsPlanned) {
  Job& job = submit_with(1000);
  finish(job, 0, 0, 10);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 1, 2}));
  deploy(job);
  lose(a);
  say(b, job, 1, wire::ATTEMPT_CANCELLED);
  pass(milliseconds(50));
  pass(seconds(41));
  a = add_worker("another");
  pass(seconds(1));
  EXPECT_EQ(assigned(a).count(0), 1u);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 2, 2}));
  EXPECT_EQ(starts(job), (Starts{2, 2, 1, 0, 0, 0})) << "what has begun is not forgotten";
  finish(job, 0, 0, 501);
  EXPECT_EQ(starts(job), (Starts{2, 2, 2, 1, 0, 0}));
}

// All slots that it was dealt stay its own, also on who takes another's place.
TEST_F(BlockingEdges, ASuccessorHoldsTheSlotsThatANarrowedVertexLeavesUnused) {
  lose(a);
  lose(b);
  a = add_worker("a", 2);
  b = add_worker("b", 2);
  wire::SubmitJob request = three_steps(false);
  request.mutable_graph()->mutable_vertices(2)->set_resource_group("apart");
  Job& job = submit_with(1000, request);
  EXPECT_EQ(job.slots, 4u);
  finish(job, 0, 0, 1000);
  finish(job, 1, 1, 10);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 2, 1}));
  deploy(job);
  for (int i = 0; i < 2; ++i) {
    lose(b);
    say(a, job, 2, wire::ATTEMPT_CANCELLED);
    pass(milliseconds(50));
    b = add_worker("b", 2);
    EXPECT_EQ(cluster.workers().find(b)->free_slots, 0u) << i;
    say(b, job, 0, wire::ATTEMPT_FINISHED);
    finish(job, 1, 1, 10);
    deploy(job);
    EXPECT_EQ(assigned(a).count(2), 1u) << i;
  }
}

// Two sources, each with a sink behind a blocking edge: regions 0 and 1, 2 and 3.
wire::SubmitJob two_ways() {
  GraphBuilder b;
  b.graph.job_name = "ways";
  for (int way = 0; way < 2; ++way) {
    b.source("source").output_type = "i64";
    b.sink("sink");
    b.edge(2 * way + 1, 2 * way + 2, Routing::hash).network.exchange = ExchangeMode::blocking;
  }
  const Result<JobGraph> graph = fuse(b.graph);
  EXPECT_TRUE(graph.ok()) << graph.status().to_string();
  wire::SubmitJob request = three_steps(false);
  to_message(*graph, *request.mutable_graph());
  return request;
}

TEST_F(BlockingEdges, NothingIsNarrowedWhileAnotherRegionHasHalfOfItsDeployments) {
  Job& job = submit_with(1000, two_ways());
  ASSERT_EQ(job.placed()->regions.size(), 4u);
  ASSERT_EQ(job.placed()->regions[1].links.reads, std::vector<int>{0});
  ASSERT_EQ(job.placed()->regions[3].links.reads, std::vector<int>{2});
  // The states of several regions in one message, or those that it doesn't name would be gone.
  const auto tell = [&](std::uint64_t session, std::map<std::uint32_t, wire::AttemptState> states) {
    wire::TaskManagerState message;
    for (const auto& [region, state] : states) {
      wire::AttemptReport& each = *message.add_attempts();
      each = report(job, region, state);
      if (state != wire::ATTEMPT_FINISHED || region % 2 != 0) continue;
      wire::WrittenBytes& written = *each.add_written();
      written.set_edge(region / 2);
      written.set_bytes(region == 0 ? 10 : 1000);
    }
    message.set_session(session);
    message.set_sequence(++sequence);
    EXPECT_TRUE(cluster.take_state(session, message, at));
    cluster.advance(at);
  };
  tell(a, {{0, wire::ATTEMPT_FINISHED}, {2, wire::ATTEMPT_RUNNING}});
  tell(b, {{0, wire::ATTEMPT_FINISHED}});
  EXPECT_EQ(assigned(a).count(1), 0u);
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 2, 2, 2}));
  tell(b, {{2, wire::ATTEMPT_PREPARING}});
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 1, 2, 2}));
  EXPECT_EQ(assigned(a), (Attempts{{1, 2}, {2, 1}}));
  tell(a, {{1, wire::ATTEMPT_RUNNING}, {2, wire::ATTEMPT_FINISHED}});
  tell(b, {{1, wire::ATTEMPT_RUNNING}, {2, wire::ATTEMPT_FINISHED}});
  EXPECT_EQ(assigned(a), (Attempts{{1, 2}, {3, 3}}));
  EXPECT_EQ(job.parallelism, (std::vector<int>{2, 1, 2, 2}));
  EXPECT_EQ(starts(job), (Starts{1, 1, 1, 0, 1, 1, 1, 1}));
  for (const std::uint64_t session : {a, b}) {
    tell(session, {{1, wire::ATTEMPT_FINISHED}, {3, wire::ATTEMPT_FINISHED}});
  }
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST_F(BlockingEdges, CheckpointsAndBlockingEdgesExcludeEachOther) {
  wire::SubmitJob request = three_steps(false);
  CheckpointOptions checkpoints;
  checkpoints.directory = "/d";
  checkpoints.interval_ms = 100;
  to_message(checkpoints, *request.mutable_options()->mutable_checkpointing());
  const Result<std::uint64_t> id = cluster.submit(request, at);
  EXPECT_EQ(id.status().code(), ErrorCode::invalid_configuration);
}

TEST_F(BlockingEdges, AJobThatIsStoppedGoesOnBehindAFailure) {
  Job& job = submit();
  finish(job, 0);
  deploy(job);
  ASSERT_TRUE(cluster.end(job.id, wire::DESIRED_STOP, at).ok());
  strike(job, 1);
  EXPECT_EQ(assigned(b), (Attempts{{1, 2}}));
  finish(job, 1);
  finish(job, 2);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

TEST_F(BlockingEdges, AJobThatIsStoppedBeforeItRanIsCancelled) {
  Job& job = submit();
  deploy(job);
  ASSERT_TRUE(cluster.end(job.id, wire::DESIRED_STOP, at).ok());
  say(a, job, 0, wire::ATTEMPT_CANCELLED);
  say(b, job, 0, wire::ATTEMPT_FINISHED);
  EXPECT_EQ(job.state(), wire::JOB_CANCELLED);
}

TEST_F(BlockingEdges, StoppingLetsTheRegionsThatFollowRun) {
  Job& job = submit();
  say(a, job, 0, wire::ATTEMPT_RUNNING);
  say(b, job, 0, wire::ATTEMPT_RUNNING);
  ASSERT_TRUE(cluster.end(job.id, wire::DESIRED_STOP, at).ok());
  finish(job, 0);
  EXPECT_EQ(assigned(a), (Attempts{{1, 1}}));
  finish(job, 1);
  finish(job, 2);
  EXPECT_EQ(job.state(), wire::JOB_FINISHED);
}

}  // namespace
}  // namespace hummer::blocking_edges_test
