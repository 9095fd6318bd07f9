// StuckWatch: which tasks of a deployment stand still, as texts for people.
//
// Those that have the turn of their slot but whose calls stand still (the whole slot does), those
// of which an operator answers `blocked` all the time, and those whose source does so without a
// timer, and without ever having woken its task. Ask it about once a second.
//
// Thread: any; JobHandle::stuck() may be asked while another thread waits for the job.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "execution/deployment.hpp"

namespace hummer {

class StuckWatch {
 public:
  explicit StuckWatch(Nanoseconds patience) : patience_(patience) {}
  // Nothing before the deployment has started.
  std::vector<std::string> look(const Deployment& deployment, Nanoseconds now);

 private:
  struct Seen {
    std::uint64_t calls = 0;
    Nanoseconds since = 0;
    std::uint64_t handled = 0;
    Nanoseconds blocked_since = 0;
    std::uint64_t given = 0;
    Nanoseconds source_waits_since = 0;
  };
  void look_at_call(const StreamTask& task, Seen& seen, Nanoseconds now,
                    std::vector<std::string>& stuck) const;
  void look_at_block(const StreamTask& task, Seen& seen, Nanoseconds now,
                     std::vector<std::string>& stuck) const;
  void look_at_source(const StreamTask& task, Seen& seen, Nanoseconds now,
                      std::vector<std::string>& stuck) const;

  const Nanoseconds patience_;
  std::mutex mutex_;
  std::map<const StreamTask*, Seen> seen_;
};

}  // namespace hummer
