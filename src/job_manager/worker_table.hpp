// WorkerTable: the TaskManagers that are registered, and those that were.
//
// A registration makes a session, numbered above all earlier ones. The sessions hang in the order
// in which they were last heard of, so that a heartbeat is one splice, and finding the silent ones
// costs only what is found: ten thousand of them need no scan.
//
// Pure: time is given. Thread: a value. Ownership: Workers live until they are forgotten; a
// Worker& is good until its session is lost.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <hummer/status.hpp>

#include "platform/time.hpp"
#include "protocol/control.pb.h"

namespace hummer {

struct Worker {
  std::uint64_t session = 0;
  wire::Registration registration;
  std::string address;  // of its control connection
  Nanoseconds last_heard = 0;
  std::uint64_t sequence_seen = 0;  // of its states
  std::uint64_t sequence_sent = 0;  // of ours
  Nanoseconds answered = 0;         // when its state was last answered
  bool state_due = false;

  // Own slots: the job in each. 0: free; left_over: held by an attempt of a lost session.
  std::vector<std::uint64_t> slots;
  static constexpr std::uint64_t left_over = UINT64_MAX;
  std::map<std::uint32_t, std::uint64_t> extra_slots;  // beyond them: the job in each
  std::uint32_t free_slots = 0;
  std::uint32_t stuck_slots = 0;   // left over
  std::vector<std::string> stuck;  // who holds them, for people
  // The job's parts that it has and that have not ended: job, and index among the job's parts.
  struct Held {
    std::uint64_t job;
    std::uint32_t part;
  };
  std::vector<Held> held;

  const std::string& id() const { return registration.id(); }

 private:
  friend class WorkerTable;
  std::list<Worker*>::iterator place_;
};

struct LostWorker {
  std::string id;
  std::string address;
  std::uint32_t slots = 0;
  Nanoseconds last_heard = 0;
  std::string reason;
};

struct SlotCount {
  std::int64_t free = 0;
  std::int64_t all = 0;    // that can be had some time
  std::int64_t stuck = 0;  // besides: left over by a lost session
};

class WorkerTable {
 public:
  explicit WorkerTable(std::size_t remembered) : remembered_(remembered) {}

  // Sessions are numbered above this one.
  void number_above(std::uint64_t last_session) { last_session_ = last_session; }
  // REQUIRES: no live one with this id.
  Worker& add(wire::Registration registration, std::string address, Nanoseconds now);
  // Null when there is none alive.
  Worker* find(std::uint64_t session);
  Worker* find_id(const std::string& id);
  void heard(Worker& worker, Nanoseconds now);
  // The one heard of longest ago; null when there is none.
  Worker* quietest() { return by_last_heard_.empty() ? nullptr : by_last_heard_.front(); }
  // Ends the session and forgets the Worker but for its memory as a lost one.
  void lose(Worker& worker, std::string reason);

  // REQUIRES: the slot is free.
  void occupy(Worker& worker, std::uint32_t slot, std::uint64_t job);
  void release(Worker& worker, std::uint64_t job);
  // What the TaskManager says is left over now: slots of others than these are free again. True:
  // there are some.
  bool take_left_over(Worker& worker, const wire::TaskManagerState& state);
  // Of those that can run jobs of this program (see usable_by).
  SlotCount slots(std::uint64_t program_hash) const;

  // In the order of registration.
  const std::map<std::uint64_t, std::unique_ptr<Worker>>& live() const { return live_; }
  // Longest lost first.
  const std::list<LostWorker>& lost() const { return lost_; }

 private:
  void forget_lost(std::list<LostWorker>::iterator lost);
  void free_left_over(Worker& worker, std::uint32_t slot);
  SlotCount& count_of(const Worker& worker) { return counts_[worker.registration.program_hash()]; }

  const std::size_t remembered_;
  std::uint64_t last_session_ = 0;
  std::map<std::uint64_t, std::unique_ptr<Worker>> live_;
  std::unordered_map<std::uint64_t, Worker*> by_session_;
  std::unordered_map<std::string, Worker*> by_id_;
  std::list<Worker*> by_last_heard_;
  std::list<LostWorker> lost_;
  std::unordered_map<std::string, std::list<LostWorker>::iterator> lost_by_id_;
  std::map<std::uint64_t, SlotCount> counts_;  // by program_hash
};

// A TaskManager that is a program of its own (application mode) runs only jobs of that program.
inline bool usable_by(const Worker& worker, std::uint64_t library_hash) {
  const std::uint64_t program = worker.registration.program_hash();
  return program == 0 || program == library_hash;
}

}  // namespace hummer
