// StateMessages: the TaskManager's state as it is sent, without what the JobManager has seen.
//
// The owner fills in a whole report per attempt. Metrics are left out when a state that the
// JobManager has answered held the same; log lines when it has said that it has seen them, and
// beyond a limit per state. What was sent and not answered is sent again: a lost message costs
// nothing. The report of an ended attempt always holds its metrics.
//
// Pure; thread: one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "execution/attempt_table.hpp"
#include "protocol/control.pb.h"

namespace hummer {

inline constexpr int log_lines_per_state = 200;

class StateMessages {
 public:
  void begin_session(std::uint64_t session);

  // The next state, with a sequence of its own.
  wire::TaskManagerState build(std::vector<wire::AttemptReport> reports,
                               const std::vector<AttemptId>& wanted);
  // Of the newest state.
  std::uint64_t sequence() const { return sequence_; }
  // The JobManager has answered the state with this sequence.
  void seen(std::uint64_t sequence);
  void forget(const AttemptId& id) { attempts_.erase(id); }

 private:
  struct Sent {
    std::string metrics;         // as last sent, serialised
    std::uint64_t sequence = 0;  // of the first state that held them
    bool seen = false;
  };
  void leave_out_seen_metrics(wire::AttemptReport& report);

  std::uint64_t session_ = 0;
  std::uint64_t sequence_ = 0;
  std::map<AttemptId, Sent> attempts_;
};

bool has_ended(wire::AttemptState state);

}  // namespace hummer
