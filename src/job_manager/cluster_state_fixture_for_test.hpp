// ClusterStateTest: a fixture of tests of what the JobManager decides: a ClusterState in memory,
// what its TaskManagers say, and the time.
//
//   class Regions : public ClusterStateTest { ... };
//   const std::uint64_t left = add_worker("a");
//   say(left, job, 0, wire::ATTEMPT_RUNNING);
//
// Thread: one.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "job_manager/cluster_state.hpp"

namespace hummer {

class ClusterStateTest : public testing::Test {
 protected:
  std::uint64_t add_worker(const std::string& id, std::uint32_t slots = 1) {
    wire::Registration registration;
    registration.set_id(id);
    registration.set_slots(slots);
    registration.set_incarnation(++incarnation);
    ClusterState::Refused refused;
    const std::uint64_t session = cluster.register_worker(registration, "10.0.0.9:1", at, refused);
    cluster.advance(at);
    return session;
  }
  Job& submit(const wire::SubmitJob& request) {
    const Result<std::uint64_t> id = cluster.submit(request, at);
    EXPECT_TRUE(id.ok()) << id.status().to_string();
    cluster.advance(at);
    return *cluster.jobs().find(*id);
  }
  void pass(Nanoseconds time) {
    at.now += time;
    for (const auto& [session, worker] : cluster.workers().live()) {
      cluster.workers().heard(*worker, at.now);
    }
    cluster.advance(at);
  }

  static wire::AttemptReport report(const Job& job, std::uint32_t region,
                                    wire::AttemptState state) {
    wire::AttemptReport report;
    report.set_job(job.id);
    report.set_region(region);
    report.set_attempt(job.placed()->regions[region].attempt);
    report.set_state(state);
    return report;
  }
  void send(std::uint64_t session, const wire::AttemptReport& report) {
    wire::TaskManagerState message;
    *message.add_attempts() = report;
    message.set_session(session);
    message.set_sequence(++sequence);
    EXPECT_TRUE(cluster.take_state(session, message, at));
    cluster.advance(at);
  }
  void say(std::uint64_t session, const Job& job, std::uint32_t region, wire::AttemptState state) {
    send(session, report(job, region, state));
  }

  JobManagerOptions options;
  ClusterState cluster{options};
  Moment at{seconds(1), 1'700'000'000'000};
  std::uint64_t sequence = 0;
  std::uint64_t incarnation = 0;
};

}  // namespace hummer
