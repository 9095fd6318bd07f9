// LeavingRuns: those of a spilled store, oldest first, and how fast they are written.
//
// Thread: the operator's.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "state/leaving_run.hpp"

namespace hummer {

class LeavingRuns {
 public:
  bool empty() const { return runs_.empty(); }
  const std::vector<std::shared_ptr<LeavingRun>>& all() const { return runs_; }
  std::size_t memory_bytes() const;

  // `first`: there is nothing on disk.
  void add(std::shared_ptr<LeavingRun> run, bool first);
  void take_all_of(LeavingRuns& other);
  // The oldest, if it is finished; null: it is not.
  std::shared_ptr<LeavingRun> take_finished();
  void finish_here();
  // Nothing of them is needed any more, but by scans and snapshots that began before.
  void let_go();

  // See SpilledStore::keep_pace. True: a step was done, and more may be due.
  bool keep_pace(std::size_t added);

  // The newest that is known of a key.
  LeavingEntries::Held find(std::uint64_t hash, std::string_view key, std::string& value) const;
  // See SpilledStore::visit_leaving.
  bool visit(std::uint64_t hash, std::string_view key,
             const std::function<bool(std::string_view value)>& visit) const;

 private:
  std::vector<std::shared_ptr<LeavingRun>> runs_;
  bool first_ = false;
};

}  // namespace hummer
