// AttemptTable: what the JobManager wants to run here against what is held, and what follows.
//
// The rules of docs/design/0002-cluster.md, "Control", as a pure state machine: no clock, no
// coroutine, nothing is started or ended by it. It says what to do, its owner does it and tells
// when an attempt has ended.
//
//   wanted ──deployment──▶ live ──ended()──▶ ended ──not named any more──▶ forgotten
//        (held_back first, while another attempt of the region is live)
//
// A desired state only ever grows: run < stop < cancel. What was assigned but never began ends
// without having run: as never_ran when the JobManager wants it cancelled, else forgotten at once.
//
// Thread: one.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "protocol/control.pb.h"

namespace hummer {

struct AttemptId {
  std::uint64_t job = 0;
  std::uint32_t attempt = 0;
  std::uint32_t region = 0;  // of the job (graph/regions.hpp)
  friend auto operator<=>(const AttemptId&, const AttemptId&) = default;
};
// "job 7, attempt 2"; of a region but the first: "job 7, region 1, attempt 2"
std::string to_string(const AttemptId& id);

class AttemptTable {
 public:
  enum class Phase {
    wanted,     // assigned without its deployment
    held_back,  // with it, but another attempt of the region is live
    live,       // started, has not ended
    ended,
    never_ran,  // cancelled before it was started
  };

  struct Start {
    AttemptId id;
    wire::Deployment deployment;
    bool stop = false;  // right away: its sources produce nothing
  };
  // In the order in which they are to be done.
  struct Actions {
    std::vector<AttemptId> stop;
    std::vector<AttemptId> cancel;
    std::vector<AttemptId> forget;  // has ended
    std::vector<AttemptId> leave;   // live; of no later session, whatever its number
    std::vector<Start> start;
    friend bool operator==(const Actions& a, const Actions& b) {
      return a.stop == b.stop && a.cancel == b.cancel && a.forget == b.forget &&
             a.leave == b.leave && a.start.size() == b.start.size();
    }
  };

  enum class Verdict { applied, foreign, stale };

  // REQUIRES: empty().
  void begin_session(std::uint64_t session);
  // The connection is gone: everything is to end, and the table is empty. What is live is its
  // owner's from here on: a JobManager that begins anew may give the same numbers again. States are
  // foreign until the next session.
  Actions end_session();

  Verdict apply(const wire::JobManagerState& state, Actions& actions);
  // REQUIRES: live.
  Actions ended(const AttemptId& id);

  bool empty() const { return entries_.empty(); }
  bool holds(const AttemptId& id) const { return entries_.contains(id); }
  // Of all, in order.
  std::vector<std::pair<AttemptId, Phase>> entries() const;
  std::uint64_t session() const { return session_; }

 private:
  struct Entry {
    Phase phase = Phase::wanted;
    wire::DesiredState desired_state = wire::DESIRED_RUN;
    bool named = true;            // by the last state
    wire::Deployment deployment;  // of held_back
  };

  bool region_is_live(const AttemptId& of) const;
  void apply_desired_state(const AttemptId& id, Entry& entry, wire::DesiredState desired_state,
                           Actions& actions);
  void drop_unnamed(Actions& actions);
  void start_what_can(Actions& actions);

  std::uint64_t session_ = 0;  // 0: none
  std::uint64_t last_sequence_ = 0;
  std::map<AttemptId, Entry> entries_;
};

}  // namespace hummer
