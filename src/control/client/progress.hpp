// Progress: what a person sees of a running job on standard error.
//
// On a terminal one line that is rewritten twice a second; else a plain line
// every ten seconds. Bytes, records per second, share done, estimated rest; with
// `per_vertex` a line per vertex. Stuck slots are named once per ten seconds.
//
// Thread: the one that waits for the job.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "control/task_manager/deployment.hpp"
#include "platform/platform.hpp"

namespace hummer {

// What a line of progress is made of.
struct ProgressFigures {
  double seconds = 0;  // since the job began
  std::uint64_t bytes_read = 0;
  std::uint64_t bytes_expected = 0;  // 0: unknown
  std::uint64_t records = 0;         // handled, by all operators
  std::vector<VertexResult> vertices;
};
ProgressFigures progress_figures(const Deployment& deployment, double seconds);
ProgressFigures progress_figures(const JobResult& so_far);

class Progress {
 public:
  Progress(Platform& platform, bool quiet, bool per_vertex);

  // Called a few times a second; asks for figures only when a line is due.
  template <typename Figures>
  void tick(const Figures& figures) {
    if (due()) show(figures());
  }
  // A line of its own that is not progress, such as a stuck slot.
  void note(const std::string& text);
  // After the end: wipes the line and prints the summary.
  void summarize(const JobResult& result);

 private:
  bool due();
  void show(const ProgressFigures& figures);
  std::string line(const ProgressFigures& figures) const;

  Platform& platform_;
  const bool quiet_;
  const bool per_vertex_;
  const bool terminal_;
  Nanoseconds last_line_ = 0;
  bool line_open_ = false;
};

// Tasks that stand still, as texts: those that have the turn of their slot but whose calls stand
// still (the whole slot does), and those of which an operator answers `blocked` all the time.
// Thread: any; JobHandle::stuck() may be asked while another thread waits for the job.
class StuckWatch {
 public:
  explicit StuckWatch(Nanoseconds patience) : patience_(patience) {}
  std::vector<std::string> look(const Deployment& deployment, Nanoseconds now);

 private:
  struct Seen {
    std::uint64_t calls = 0;
    Nanoseconds since = 0;
    std::uint64_t handled = 0;
    Nanoseconds blocked_since = 0;
  };
  void look_at_call(const StreamTask& task, Seen& seen, Nanoseconds now,
                    std::vector<std::string>& stuck) const;
  void look_at_block(const StreamTask& task, Seen& seen, Nanoseconds now,
                     std::vector<std::string>& stuck) const;

  const Nanoseconds patience_;
  std::mutex mutex_;
  std::map<const StreamTask*, Seen> seen_;
};

std::string format_bytes(double bytes);
std::string format_count(double count);

}  // namespace hummer
