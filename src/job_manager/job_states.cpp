// Which state of a job, or of a region of it, follows on which event. What has no row is forbidden.
#include <utility>

#include "job_manager/job.hpp"

namespace hummer {
namespace {

template <class... Rows>
struct TransitionTable : Rows... {
  using Rows::operator()...;
};
template <class... Rows>
TransitionTable(Rows...) -> TransitionTable<Rows...>;

template <class State, class Table>
void follow(State& state, JobEvent& event, const Table& table) {
  state = std::visit(
      [&](auto& from, auto& what) -> State {
        if constexpr (std::is_invocable_v<const Table&, decltype(from), decltype(what)>) {
          return table(from, what);
        } else {
          assertion_failed("this event has no place in this state", __FILE__, __LINE__);
        }
      },
      state, event);
}

Job::Ended end(Job& job, Moment at) {
  constexpr std::size_t ended_log_lines = 2000;
  constexpr std::size_t ended_log_bytes = 256 * 1024;
  HUMMER_ASSERT(job.placed() == nullptr || job.placed()->open_parts == 0);
  ++job.version;
  job.user_metrics = user_metrics_of(job);
  // What only running it takes.
  job.search.reset();
  job.arguments.clear();
  job.log.shrink(ended_log_lines, ended_log_bytes);
  return {job.state(), at.wall_ms};
}

Job::Failed fail(Job& job, const Failures& why, Moment at) {
  remember_failure(job, job.attempt, why, at.wall_ms);
  return {end(job, at), {}, why.reason()};
}

Job::Waiting wait_again(Job& job, Moment at) {
  HUMMER_ASSERT(job.placed()->open_parts == 0);
  ++job.attempt;
  ++job.version;
  job.slots = 0;
  job.parallelism.clear();
  job.metrics.clear();
  return {{}, at.now};
}

}  // namespace

void transition(Job& job, JobEvent event, Moment at) {
  using namespace job_event;
  using Next = Job::State;
  const auto finished = [&] { return Job::Finished{end(job, at), {}}; };
  const auto cancelled = [&] { return Job::Cancelled{end(job, at), {}}; };
  const TransitionTable table{
      [&](Job::Waiting&, GotSlots& got) -> Next {
        Job::Going placed{{std::move(got.attempt)}};
        if (job.asked == wire::DESIRED_STOP) return Job::Stopping{std::move(placed), {}};
        return Job::Deploying{std::move(placed), {}};
      },
      [&](Job::Waiting&, Cancels&) -> Next { return cancelled(); },
      [&](Job::Waiting&, Fails& failed) -> Next { return fail(job, failed.why, at); },
      [&](Job::Waiting&, Finishes&) -> Next { return finished(); },  // it had, as was recorded
      [](Job::Deploying& from, AllRan&) -> Next { return Job::Running{std::move(from), {}}; },
      [](Job::Going& from, Stops&) -> Next { return Job::Stopping{std::move(from), {}}; },
      [](Job::Going& from, Cancels&) -> Next { return Job::Cancelling{{std::move(from)}, {}}; },
      [](Job::Going& from, Fails& failed) -> Next {
        return Job::Failing{{std::move(from)}, std::move(failed.why), {}};
      },
      [](Job::Going& from, Restart& restart) -> Next {
        return Job::Restarting{{std::move(from)}, {}, std::move(restart), {}};
      },
      [&](Job::Going& from, AllCommitted&) -> Next {
        return Job::Committed{{std::move(from)}, job.state()};
      },
      [&](Job::Going&, Finishes&) -> Next { return finished(); },
      [&](Job::Stopping&, AllEnded&) -> Next { return cancelled(); },
      [](Job::Committed& from, Stops&) -> Next {
        return Job::Committed{std::move(from), wire::JOB_STOPPING};
      },
      [](Job::Committed& from, Cancels&) -> Next {
        return Job::Committed{std::move(from), wire::JOB_CANCELLING};
      },
      [&](Job::Committed&, Finishes&) -> Next { return finished(); },
      [&](Job::Cancelling&, Finishes&) -> Next { return finished(); },
      [&](Job::Cancelling&, AllEnded&) -> Next { return cancelled(); },
      [](Job::Failing& from, Restart& restart) -> Next {
        Failures why = std::move(from);
        return Job::Restarting{std::move(from), std::move(why), std::move(restart), {}};
      },
      [&](Job::Failing&, Finishes&) -> Next { return finished(); },
      [&](Job::Failing& from, AllEnded&) -> Next { return fail(job, from, at); },
      [](Job::Restarting& from, Cancels&) -> Next { return Job::Cancelling{std::move(from), {}}; },
      [](Job::Restarting& from, Fails& failed) -> Next {
        return Job::Failing{std::move(from), std::move(failed.why), {}};
      },
      [&](Job::Restarting&, BeginsAgain&) -> Next { return wait_again(job, at); },
  };
  follow(job.state_, event, table);
}

void transition(JobRegion& region, JobEvent event, Moment at) {
  using namespace job_event;
  using Next = JobRegion::State;
  const TransitionTable table{
      [](JobRegion::Runs&, Fails& failed) -> Next { return JobRegion::Failed{failed.why}; },
      [&](JobRegion::Runs&, Restart& restart) -> Next {
        return JobRegion::Waiting{std::move(restart), at.now, false};
      },
      [](JobRegion::Failed& from, Restart& restart) -> Next {
        return JobRegion::Ending{std::move(from), std::move(restart)};
      },
      [&](JobRegion::Ending& from, AllEnded&) -> Next {
        return JobRegion::Waiting{std::move(from), at.now, false};
      },
      [](JobRegion::Waiting&, BeginsAgain&) -> Next { return JobRegion::Runs{}; },
  };
  follow(region.state_, event, table);
}

}  // namespace hummer
