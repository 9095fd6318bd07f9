// AttemptHost: the attempts that this process holds, made to follow the AttemptTable.
//
// It does what the table says (start, stop, cancel, forget), tells it what has ended, and gets
// libraries for the attempts that wait for one. Its owner moves the messages.
//
// What has not ended when its session does is left over: cancelled, so that whatever returns into
// it changes nothing (see StreamTask::cancel), in no report, and in the way of nothing but of the
// slots that it holds, which are not offered until it has ended.
//
// Lifecycle: begin_session → apply, look, … → end_session, look, … → begin_session …
// Destroying it ends what is left, waiting for user code that runs.
// Thread: the control executor; after that has stopped, the one that destroys it. live(): any.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "execution/attempt.hpp"
#include "execution/attempt_table.hpp"
#include "execution/library_fetch.hpp"

namespace hummer {

class AttemptHost {
 public:
  explicit AttemptHost(AttemptContext context) : context_(context) {}

  void begin_session(std::uint64_t session, std::uint64_t job_manager);
  // All that is live is cancelled, and left over; nothing of it is reported any more.
  void end_session();
  // Cancels all that is live, in this session.
  void cancel_all();

  // Whether what is held has changed, so that the JobManager should hear of it soon.
  bool apply(const wire::JobManagerState& state);
  // What attempts have done by themselves: ended, asked for a library.
  bool look();

  bool take_piece(const wire::LibraryPiece& piece) { return libraries_.take(piece); }
  std::vector<wire::LibraryRequest> library_requests(Nanoseconds now) {
    return libraries_.requests(now);
  }
  Nanoseconds next_library_request() const { return libraries_.next_request(); }

  std::vector<wire::AttemptReport> reports(Nanoseconds now);
  std::vector<AttemptId> wanted() const;
  // Of lost sessions, and the slots that they hold. As of the last look().
  std::vector<wire::LeftOver> left_over(Nanoseconds now) const;
  std::vector<int> slots_left_over() const;
  // "job 7, attempt 1 (WordCount): cancelling, stuck: inside the job function for 12 s"
  std::vector<std::string> stuck(Nanoseconds now);

  // Of those that run, in order.
  struct Sampled {
    AttemptId id;
    std::string job_name;
    TaskSamples samples;
  };
  std::vector<Sampled> samples(Nanoseconds now) const;

  // Attempts whose code may run now, and their slots. Only where one thread runs everything.
  std::vector<std::pair<AttemptId, std::vector<int>>> held() const;

  bool empty() const { return table_.empty() && left_over_.empty(); }
  // When the last task of an attempt that has ended did; 0: none has.
  Nanoseconds tasks_ended_at() const { return tasks_ended_at_; }
  std::size_t live() const { return live_.load(std::memory_order_acquire); }

 private:
  struct LeftOver {
    std::unique_ptr<Attempt> attempt;
    std::vector<int> slots;  // that it holds
  };

  void execute(AttemptTable::Actions actions);
  void keep_files(const wire::JobManagerState& state);
  bool look_at_left_over();

  AttemptContext context_;
  AttemptTable table_;
  LibraryFetch libraries_;
  std::map<AttemptId, std::unique_ptr<Attempt>> attempts_;
  std::vector<LeftOver> left_over_;
  std::atomic<std::size_t> live_{0};
  Nanoseconds tasks_ended_at_ = 0;
  bool refusing_ = false;  // cancel_all(): what would start is cancelled
};

}  // namespace hummer
