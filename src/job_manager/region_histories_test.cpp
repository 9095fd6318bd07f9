// Whatever happens to jobs with two regions, in whatever order: the books add up.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "job_manager/cluster_state.hpp"
#include "job_manager/two_pipelines_for_test.hpp"
#include "platform/random.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::region_histories_test {
namespace {

// Parts are where the TaskManagers are told of them, slots are held by jobs that run, and attempts
// are numbered upwards.
void check(ClusterState& cluster, std::map<std::uint64_t, std::vector<std::uint32_t>>& attempts) {
  for (const auto& [session, worker] : cluster.workers().live()) {
    for (const Worker::Held& each : worker->held) {
      Job* job = cluster.jobs().find(each.job);
      ASSERT_NE(job, nullptr);
      ASSERT_NE(job->open_part(each.part, session), nullptr);
    }
    for (const std::uint64_t holder : worker->slots) {
      if (holder == 0) continue;
      const Job* job = cluster.jobs().find(holder);
      ASSERT_NE(job, nullptr);
      ASSERT_FALSE(job->ended());
      ASSERT_NE(job->state(), wire::JOB_WAITING);
    }
  }
  for (const auto& [id, job] : cluster.jobs().all()) {
    PlacedAttempt* const placed = job->placed();
    if (placed == nullptr) continue;
    std::size_t open = 0, ran = 0, finished = 0;
    for (const JobPart& part : placed->parts) {
      open += part.ended() ? 0 : 1;
      ran += part.ran ? 1 : 0;
      finished += part.state == wire::ATTEMPT_FINISHED ? 1 : 0;
    }
    ASSERT_EQ(placed->open_parts, open);
    ASSERT_EQ(placed->running_parts, ran);
    ASSERT_EQ(placed->finished_parts, finished);
    ASSERT_TRUE(!job->is<Job::Going>() || open > 0 || placed->has_region_out())
        << "nothing would ever end it";
    std::vector<std::uint32_t>& seen = attempts[id];
    seen.resize(placed->regions.size());
    for (std::size_t i = 0; i < placed->regions.size(); ++i) {
      const JobRegion& region = placed->regions[i];
      ASSERT_LE(region.attempt, job->attempt);
      if (!region.is<JobRegion::Runs>() || seen[i] == region.attempt) continue;
      ASSERT_GT(region.attempt, seen[i]);
      seen[i] = region.attempt;
    }
  }
}

TEST(RegionHistories, RandomOnesKeepTheBooks) {
  const JobManagerOptions options;
  std::uint64_t sequence = 0;
  std::size_t alone = 0, together = 0;
  for (std::uint64_t seed = 1; seed <= drawn_cases(60); ++seed) {
    Random random(seed);
    ClusterState state(options);
    Moment now{seconds(1), 1};
    std::map<std::uint64_t, std::vector<std::uint32_t>> attempts;
    std::map<std::uint64_t, std::uint64_t> committed;  // told, by job
    std::uint64_t number = 0;
    for (int step = 0; step < 500; ++step) {
      now.now += static_cast<Nanoseconds>(random.below(60'000'000));
      std::vector<std::uint64_t> sessions;
      for (const auto& [session, worker] : state.workers().live()) {
        sessions.push_back(session);
        state.workers().heard(*worker, now.now);
      }
      const std::uint64_t what = random.below(40);
      if (what < 3 || sessions.empty()) {
        wire::Registration registration;
        registration.set_id("tm" + std::to_string(random.below(5)));
        registration.set_incarnation(random.below(1000));
        registration.set_slots(1 + static_cast<std::uint32_t>(random.below(3)));
        ClusterState::Refused refused;
        (void)state.register_worker(registration, "", now, refused);
      } else if (what == 3 && number < 4) {
        wire::SubmitJob job = two_pipelines(every_100_ms(), RestartStrategy::fixed_delay(1000, 20));
        job.set_submission_id(++number);
        EXPECT_TRUE(state.submit(std::move(job), now).ok());
      } else if (what == 4 && random.chance(0.05)) {
        (void)state.end(1 + random.below(number + 1),
                        random.chance(0.5) ? wire::DESIRED_STOP : wire::DESIRED_CANCEL, now);
      } else if (what == 5) {
        state.connection_ended(sessions[random.below(sessions.size())],
                               Status(ErrorCode::peer_gone, "gone"), now);
      } else {
        const std::uint64_t session = sessions[random.below(sessions.size())];
        wire::JobManagerState ours;
        state.state_for(session, ours);
        wire::TaskManagerState theirs;
        theirs.set_session(session);
        theirs.set_sequence(++sequence);
        for (const wire::Assignment& each : ours.assignments()) {
          const Job& job = *state.jobs().find(each.job());
          wire::AttemptReport& report = *theirs.add_attempts();
          report.set_job(each.job());
          report.set_region(each.region());
          report.set_attempt(each.attempt());
          report.set_state(wire::ATTEMPT_RUNNING);
          if (each.desired_state() == wire::DESIRED_CANCEL)
            report.set_state(wire::ATTEMPT_CANCELLED);
          if (random.chance(0.05)) report.set_state(wire::ATTEMPT_FAILED);
          if (each.checkpoints().begun() == 0) continue;
          for (const std::uint32_t task : job.placed()->regions[each.region()].tasks) {
            add_saved(report, task, each.checkpoints().begun());
          }
        }
        ASSERT_TRUE(state.take_state(session, theirs, now));
      }
      state.advance(now);
      for (const CheckpointOrder& order : state.take_orders()) {
        CheckpointOutcome outcome;
        outcome.order = order;
        if (order.kind == CheckpointOrder::Kind::find) {
          // The disk has what was completed.
          const Job& job = *state.jobs().find(order.job);
          outcome.found.id = job.newest_checkpoint;
          outcome.path = job.newest_path;
          if (job.newest_checkpoint == 0) outcome.status = {ErrorCode::not_found, "none"};
        }
        state.carried_out(outcome, now);
        state.advance(now);
      }
      (void)state.take_states_due();
      (void)state.take_ended_sessions();
      for (const auto& [id, job] : state.jobs().all()) {
        const PlacedAttempt* const placed = job->placed();
        if (placed == nullptr) continue;
        if (placed->checkpoints) {
          ASSERT_GE(job->newest_checkpoint, committed[id]) << "told, and forgotten";
          committed[id] = std::max(committed[id], placed->checkpoints->to_commit());
        }
        const std::vector<JobRegion>& regions = placed->regions;
        const bool mixed = regions.size() == 2 && regions[0].is<JobRegion::Runs>() &&
                           regions[1].is<JobRegion::Runs>() &&
                           regions[0].attempt != regions[1].attempt;
        if (mixed) ++alone;
        if (job->state() == wire::JOB_RESTARTING) ++together;
      }
      check(state, attempts);
      if (HasFatalFailure()) {
        FAIL() << "seed " << seed << ", step " << step;
      }
    }
  }
  EXPECT_GT(alone, 100u);
  EXPECT_GT(together, 100u);
}

}  // namespace
}  // namespace hummer::region_histories_test
