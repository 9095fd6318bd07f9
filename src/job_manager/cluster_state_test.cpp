// The tables and their rules without streams or coroutines.
#include "job_manager/cluster_state.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "graph/graph_builder_for_test.hpp"
#include "platform/random.hpp"
#include "protocol/graph_messages.hpp"
#include "support/drawn_cases.hpp"

#include <hummer/detail/key_hash.hpp>

namespace hummer::cluster_state_test {
namespace {

wire::SubmitJob job_of(std::uint64_t submission, std::uint32_t parallelism) {
  wire::SubmitJob job;
  job.set_submission_id(submission);
  const Result<JobGraph> graph = fuse(word_count().graph);
  to_message(*graph, *job.mutable_graph());
  job.mutable_options()->set_parallelism(parallelism);
  return job;
}

class ClusterStateTest : public testing::Test {
 protected:
  std::uint64_t add_worker(const std::string& id, std::uint32_t slots) {
    wire::Registration registration;
    registration.set_id(id);
    registration.set_slots(slots);
    ClusterState::Refused refused;
    return cluster.register_worker(registration, "10.0.0.9:1", at, refused);
  }
  std::uint64_t submit(std::uint32_t parallelism) {
    const Result<std::uint64_t> job = cluster.submit(job_of(++submissions, parallelism), at);
    EXPECT_TRUE(job.ok()) << job.status().to_string();
    cluster.advance(at);
    return *job;
  }
  wire::JobState state(std::uint64_t job) { return cluster.jobs().find(job)->state(); }
  void pass(Nanoseconds time) {
    at.now += time;
    for (const auto& [session, worker] : cluster.workers().live()) {
      cluster.workers().heard(*worker, at.now);
    }
    cluster.advance(at);
  }
  // The TaskManager says this of the one job that it has.
  void report(std::uint64_t session, std::uint64_t job, wire::AttemptState what) {
    wire::TaskManagerState message;
    message.set_session(session);
    message.set_sequence(++sequence);
    wire::AttemptReport& attempt = *message.add_attempts();
    attempt.set_job(job);
    attempt.set_attempt(1);
    attempt.set_state(what);
    EXPECT_TRUE(cluster.take_state(session, message, at));
    cluster.advance(at);
  }

  JobManagerOptions options;
  ClusterState cluster{options};
  Moment at{seconds(1), 1'700'000'000'000};
  std::uint64_t submissions = 0;
  std::uint64_t sequence = 0;
};

TEST_F(ClusterStateTest, SmallJobsPassAWideOneForAWhileOnly) {
  const std::uint64_t worker = add_worker("tm1", 4);
  const std::uint64_t running = submit(2);
  const std::uint64_t wide = submit(4);
  const std::uint64_t early = submit(1);
  EXPECT_EQ(state(running), wire::JOB_DEPLOYING);
  EXPECT_EQ(state(wide), wire::JOB_WAITING);
  EXPECT_EQ(state(early), wire::JOB_DEPLOYING);
  pass(options.slot_timeout_ns / 4);
  const std::uint64_t late = submit(1);
  EXPECT_EQ(state(late), wire::JOB_WAITING);
  EXPECT_TRUE(cluster.end(running, wire::DESIRED_CANCEL, at).ok());
  EXPECT_TRUE(cluster.end(early, wire::DESIRED_CANCEL, at).ok());
  cluster.advance(at);
  EXPECT_EQ(state(wide), wire::JOB_DEPLOYING);
  EXPECT_EQ(state(late), wire::JOB_WAITING);
  EXPECT_EQ(cluster.workers().find(worker)->free_slots, 0u);
  pass(options.slot_timeout_ns * 3 / 4);
  EXPECT_EQ(state(late), wire::JOB_WAITING);
  pass(options.slot_timeout_ns / 4);
  EXPECT_EQ(state(late), wire::JOB_FAILED);
}

TEST_F(ClusterStateTest, ABlockingJobThatGivesUpLetsTheOthersGo) {
  add_worker("tm1", 4);
  submit(2);
  const std::uint64_t wide = submit(4);
  pass(options.slot_timeout_ns / 2);
  const std::uint64_t late = submit(1);
  EXPECT_EQ(state(late), wire::JOB_WAITING);
  EXPECT_EQ(cluster.next_deadline(),
            std::min(at.now + options.heartbeat_timeout_ns, seconds(1) + options.slot_timeout_ns));
  pass(options.slot_timeout_ns / 2);
  EXPECT_EQ(state(wide), wire::JOB_FAILED);
  cluster.advance(at);
  EXPECT_EQ(state(late), wire::JOB_DEPLOYING);
}

// Only who reports it knows: a lost TaskManager is a cause, though a task calls a lost connection a
// consequence.
TEST(Failures, WhetherOneFollowsIsSaidByWhoSawIt) {
  Failures failures;
  failures.add({ErrorCode::connection_lost, "a peer is gone"}, true, "tm1");
  failures.add({ErrorCode::peer_gone, "given up"}, false, "tm2");
  ASSERT_TRUE(failures.root_failure.has_value());
  EXPECT_EQ(failures.first().message(), "given up");
  EXPECT_EQ(failures.failed_on, "tm2");
}

// Of a TaskManager that has nothing, as often as it must know that the JobManager is there.
TEST_F(ClusterStateTest, HeartbeatsThatSayNothingAreNotAllAnswered) {
  const std::uint64_t worker = add_worker("tm1", 1);
  wire::TaskManagerState heartbeat;
  heartbeat.set_session(worker);
  const auto is_answered = [&] {
    heartbeat.set_sequence(++sequence);
    EXPECT_TRUE(cluster.take_state(worker, heartbeat, at));
    const std::vector<std::uint64_t> due = cluster.take_states_due();
    wire::JobManagerState answer;
    for (const std::uint64_t session : due) {
      cluster.state_for(session, answer);
      EXPECT_EQ(answer.state_seen(), sequence);
    }
    return !due.empty();
  };
  (void)cluster.take_states_due();
  Nanoseconds answered = at.now;
  for (int beat = 0; beat < 20; ++beat) {
    pass(options.heartbeat_interval_ns);
    if (is_answered()) answered = at.now;
    EXPECT_LE(at.now - answered, options.heartbeat_timeout_ns / 2);
  }
  pass(options.heartbeat_timeout_ns / 2);
  EXPECT_TRUE(is_answered());
  EXPECT_FALSE(is_answered());
  heartbeat.set_wants_answer(true);
  EXPECT_TRUE(is_answered());
  heartbeat.set_wants_answer(false);
  EXPECT_FALSE(is_answered());
  submit(1);
  EXPECT_TRUE(is_answered());
  EXPECT_TRUE(is_answered());
}

TEST_F(ClusterStateTest, SlotsThatALostSessionHoldsAreNotOffered) {
  wire::Registration registration;
  registration.set_id("tm1");
  registration.set_slots(2);
  registration.add_slots_held(0);
  ClusterState::Refused refused;
  const std::uint64_t session = cluster.register_worker(registration, "10.0.0.9:1", at, refused);
  EXPECT_EQ(cluster.workers().slots(0).all, 1);
  const std::uint64_t runs = submit(1);
  EXPECT_EQ(state(runs), wire::JOB_DEPLOYING);
  EXPECT_EQ(cluster.jobs().find(runs)->placed()->hosts[0].slots, std::vector<std::uint32_t>{1});
  const std::uint64_t waits = submit(1);
  EXPECT_EQ(cluster.waiting_reason(*cluster.jobs().find(waits)),
            "waits for 1 slot, 0 are free of 1 in all, and 1 more is stuck in functions that do "
            "not return");

  wire::TaskManagerState message;
  message.set_session(session);
  message.set_sequence(++sequence);
  wire::AttemptReport& attempt = *message.add_attempts();
  attempt.set_job(runs);
  attempt.set_attempt(1);
  attempt.set_state(wire::ATTEMPT_RUNNING);
  wire::LeftOver& left = *message.add_left_over();
  left.set_name("job 9, attempt 1 (old)");
  left.add_slots(0);
  left.add_stuck("inside operator 'map'");
  EXPECT_TRUE(cluster.take_state(session, message, at));
  cluster.advance(at);
  EXPECT_EQ(state(waits), wire::JOB_WAITING);
  EXPECT_EQ(cluster.workers().find(session)->stuck,
            std::vector<std::string>{"job 9, attempt 1 (old) of a lost session has not given back "
                                     "slot 0; inside operator 'map'"});

  message.clear_left_over();
  message.set_sequence(++sequence);
  EXPECT_TRUE(cluster.take_state(session, message, at));
  cluster.advance(at);
  EXPECT_EQ(state(waits), wire::JOB_DEPLOYING);
  EXPECT_TRUE(cluster.workers().find(session)->stuck.empty());
}

TEST_F(ClusterStateTest, SlotsThatWereHeldAreForgottenWithTheirTaskManager) {
  wire::Registration registration;
  registration.set_id("tm1");
  registration.set_slots(2);
  registration.add_slots_held(1);
  ClusterState::Refused refused;
  const std::uint64_t session = cluster.register_worker(registration, "10.0.0.9:1", at, refused);
  cluster.connection_ended(session, {ErrorCode::connection_lost, "gone"}, at);
  const SlotCount count = cluster.workers().slots(0);
  EXPECT_EQ(count.free, 0);
  EXPECT_EQ(count.all, 0);
  EXPECT_EQ(count.stuck, 0);
  registration.clear_slots_held();
  (void)cluster.register_worker(registration, "10.0.0.9:1", at, refused);
  EXPECT_EQ(cluster.workers().slots(0).free, 2);
}

TEST_F(ClusterStateTest, WithoutParallelismAJobTakesAShareOfWhatIsFree) {
  add_worker("tm1", 4);
  add_worker("tm2", 3);
  submit(2);
  const std::uint64_t rest = submit(0);
  EXPECT_EQ(cluster.jobs().find(rest)->slots, 5u);
  EXPECT_EQ(cluster.workers().slots(0).free, 0);
}

TEST_F(ClusterStateTest, ATaskManagerWithAProgramRunsThatOnly) {
  wire::Registration registration;
  registration.set_id("app");
  registration.set_slots(1);
  registration.set_program_hash(5);
  ClusterState::Refused refused;
  EXPECT_NE(cluster.register_worker(registration, "", at, refused), 0u);
  const std::uint64_t foreign = submit(1);
  EXPECT_EQ(state(foreign), wire::JOB_WAITING);
  EXPECT_EQ(cluster.waiting_reason(*cluster.jobs().find(foreign)),
            "waits for 1 slot, 0 are free of 0 in all");
  wire::SubmitJob own = job_of(99, 1);
  own.set_library_hash(5);
  const Result<std::uint64_t> job = cluster.submit(own, at);
  cluster.advance(at);
  EXPECT_EQ(state(*job), wire::JOB_DEPLOYING);
}

TEST_F(ClusterStateTest, EndedJobsAreForgottenOldestFirst) {
  options.remembered_jobs = 3;
  ClusterState small(options);
  for (std::uint64_t i = 1; i <= 10; ++i) {
    const Result<std::uint64_t> job = small.submit(job_of(i, 1), at);
    EXPECT_EQ(*job, i);
    EXPECT_TRUE(small.end(*job, wire::DESIRED_CANCEL, at).ok());
  }
  EXPECT_EQ(small.jobs().all().size(), 3u);
  EXPECT_EQ(small.jobs().all().begin()->first, 8u);
  EXPECT_EQ(small.jobs().find_submission(1), nullptr);
}

TEST_F(ClusterStateTest, StatesAreDueOnceHoweverOftenSomethingChanges) {
  const std::uint64_t worker = add_worker("tm1", 4);
  submit(1);
  submit(1);
  submit(1);
  EXPECT_EQ(cluster.take_states_due(), std::vector<std::uint64_t>{worker});
  wire::JobManagerState message;
  cluster.state_for(worker, message);
  EXPECT_EQ(message.assignments_size(), 3);
  EXPECT_TRUE(cluster.take_states_due().empty());
}

TEST_F(ClusterStateTest, RepeatedReportsOfOneAttemptChangeNothing) {
  const std::uint64_t worker = add_worker("tm1", 1);
  const std::uint64_t job = submit(1);
  report(worker, job, wire::ATTEMPT_RUNNING);
  EXPECT_EQ(state(job), wire::JOB_RUNNING);
  const std::uint64_t version = cluster.jobs().find(job)->version;
  report(worker, job, wire::ATTEMPT_RUNNING);
  EXPECT_EQ(cluster.jobs().find(job)->version, version);
  report(worker, job, wire::ATTEMPT_FINISHED);
  report(worker, job, wire::ATTEMPT_FINISHED);
  report(worker, job, wire::ATTEMPT_RUNNING);  // too late
  EXPECT_EQ(state(job), wire::JOB_FINISHED);
  EXPECT_EQ(cluster.workers().slots(0).free, 1);
}

// Whatever happens in whatever order: slots add up, and no live job is left without an open part.
void check(ClusterState& cluster) {
  std::int64_t free = 0, all = 0;
  for (const auto& [session, worker] : cluster.workers().live()) {
    std::set<std::uint64_t> held;
    for (const Worker::Held& each : worker->held) {
      held.insert(each.job);
      const Job* job = cluster.jobs().find(each.job);
      ASSERT_NE(job, nullptr);
      ASSERT_FALSE(job->placed()->parts.at(each.part).ended());
    }
    for (const std::uint64_t job : worker->slots) {
      ++all;
      if (job == 0) {
        ++free;
      } else {
        ASSERT_TRUE(held.contains(job));
      }
    }
  }
  ASSERT_EQ(cluster.workers().slots(0).free, free);
  ASSERT_EQ(cluster.workers().slots(0).all, all);
  for (const auto& [id, job] : cluster.jobs().all()) {
    ASSERT_TRUE(job->placed() == nullptr || job->placed()->open_parts > 0) << id;
    ASSERT_EQ(cluster.jobs().waiting().contains(id), job->is<Job::Waiting>());
  }
}

TEST_F(ClusterStateTest, RandomHistoriesKeepTheBooks) {
  for (std::uint64_t seed = 1; seed <= drawn_cases(30); ++seed) {
    Random random(seed);
    ClusterState state(options);
    Moment now{seconds(1), 1};
    std::vector<std::uint64_t> sessions;
    std::uint64_t number = 0;
    for (int step = 0; step < 400; ++step) {
      now.now += static_cast<Nanoseconds>(random.below(400'000'000));
      switch (random.below(7)) {
        case 0: {
          wire::Registration registration;
          registration.set_id("tm" + std::to_string(random.below(5)));
          registration.set_incarnation(random.below(2));
          registration.set_slots(1 + static_cast<std::uint32_t>(random.below(4)));
          ClusterState::Refused refused;
          const std::uint64_t session = state.register_worker(registration, "", now, refused);
          if (session != 0) sessions.push_back(session);
          break;
        }
        case 1: {
          const auto width = static_cast<std::uint32_t>(random.below(7));
          (void)state.submit(job_of(++number, width), now);
          break;
        }
        case 2:
          (void)state.end(1 + random.below(number + 1),
                          random.chance(0.5) ? wire::DESIRED_STOP : wire::DESIRED_CANCEL, now);
          break;
        case 3:
          if (!sessions.empty() && random.chance(0.3)) {
            state.connection_ended(sessions[random.below(sessions.size())],
                                   Status(ErrorCode::peer_gone, "gone"), now);
          }
          break;
        default:
          if (sessions.empty()) break;
          const std::uint64_t session = sessions[random.below(sessions.size())];
          Worker* worker = state.workers().find(session);
          if (worker == nullptr) break;
          wire::JobManagerState ours;
          state.state_for(session, ours);
          wire::TaskManagerState theirs;
          theirs.set_session(session);
          theirs.set_sequence(++sequence);
          for (const wire::Assignment& each : ours.assignments()) {
            if (random.chance(0.3)) {
              wire::AttemptKey& key = *theirs.add_wanted();
              key.set_job(each.job());
              key.set_attempt(each.attempt());
              continue;
            }
            if (random.chance(0.1)) continue;
            wire::AttemptReport& attempt = *theirs.add_attempts();
            attempt.set_job(each.job());
            attempt.set_attempt(each.attempt());
            attempt.set_state(static_cast<wire::AttemptState>(random.below(6)));
            attempt.set_consequence(random.chance(0.5));
            if (random.chance(0.2)) *theirs.add_attempts() = attempt;
          }
          (void)state.take_state(session, theirs, now);
      }
      state.advance(now);
      (void)state.take_states_due();
      (void)state.take_ended_sessions();
      check(state);
      if (HasFatalFailure()) {
        FAIL() << "seed " << seed << ", step " << step;
      }
    }
  }
}

wire::LibraryPiece piece(const std::string& library) {
  wire::LibraryPiece out;
  out.set_hash(hash_bytes(library.data(), library.size()));
  out.set_total_bytes(library.size());
  out.set_bytes(library);
  return out;
}

TEST(LibraryStoreTest, TheLongestUnusedGoFirstAndHeldOnesStay) {
  LibraryStore store(1000, 2500);
  std::vector<wire::LibraryPiece> pieces;
  for (const char c : {'a', 'b', 'c', 'd'}) pieces.push_back(piece(std::string(1000, c)));
  EXPECT_TRUE(store.upload(pieces[0]).ok());
  store.hold(pieces[0].hash());
  EXPECT_EQ(store.unused_bytes(), 0u);
  EXPECT_TRUE(store.upload(pieces[1]).ok());
  EXPECT_TRUE(store.upload(pieces[2]).ok());
  EXPECT_TRUE(store.upload(pieces[3]).ok());
  EXPECT_TRUE(store.complete(pieces[0].hash()));
  EXPECT_FALSE(store.complete(pieces[1].hash()));
  EXPECT_TRUE(store.complete(pieces[2].hash()) && store.complete(pieces[3].hash()));
  store.release(pieces[0].hash());
  EXPECT_LE(store.unused_bytes(), 2500u);
  EXPECT_TRUE(store.complete(pieces[0].hash()));
  EXPECT_FALSE(store.complete(pieces[2].hash()));
}

TEST(LibraryStoreTest, AnnouncementsAloneTakeNothing) {
  LibraryStore store(1000, 2500);
  for (std::uint64_t i = 0; i < 100; ++i) {
    wire::LibraryPiece empty;
    empty.set_hash(i);
    empty.set_total_bytes(1000);
    EXPECT_TRUE(store.upload(empty).ok());
  }
  EXPECT_EQ(store.unused_bytes(), 0u);
  wire::LibraryPiece beyond = piece(std::string(500, 'x'));
  beyond.set_total_bytes(499);
  EXPECT_FALSE(store.upload(beyond).ok());
}

}  // namespace
}  // namespace hummer::cluster_state_test
