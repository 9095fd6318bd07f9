// TwoPhaseCommit: which transactions of a sink are prepared, and when they become visible. The part
// that all operators with a TwoPhaseStore have in common; what is written, and how, is theirs.
//
//   between barriers   records go into the store's open transaction
//   at a barrier       the transaction is prepared: durable, invisible, known by a handle that the
//                      snapshot holds; the next one begins
//   commit(epoch)      the checkpoint is complete: handles up to its epoch become visible
//   after a restart    handles of the restored checkpoint are committed (again: commit is
//                      idempotent), everything else that earlier attempts left is aborted
//
// So output equals that of a run without failure, also when a process dies between the phases.
// Records become visible a checkpoint later than they were written.
//
// At the end of the stream the rest is prepared; the final checkpoint commits it.
//
// State: the handles that are prepared and not committed. Errors: those of the store. Thread: that
// of the operator, which calls the function of the same name here from its own. The store and the
// context are the operator's and outlive this object.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <hummer/operator.hpp>
#include <hummer/two_phase_store.hpp>

namespace hummer {

class TwoPhaseCommit {
 public:
  explicit TwoPhaseCommit(TwoPhaseStore& store) : store_(store) {}

  // The pieces of all earlier subtasks come in turn: those that fall to this one are kept to
  // commit.
  Status restore(ByteReader& in);
  Status open(OperatorContext& context);

  // What came before a barrier belongs to its epoch. An input that has become inactive is no
  // barrier: what it left belongs to the next one.
  OperatorResult flush(OperatorContext& context);
  // Whatever checkpoint comes next holds the end. Its epoch is not that of anything visible, also
  // when nothing was written since the restart.
  OperatorResult end(OperatorContext& context);

  static std::vector<StateDescription> states();
  void snapshot(ByteWriter& out) const;

  Status commit(std::uint64_t epoch);

 private:
  struct Prepared {
    std::uint64_t epoch = 0;
    std::string handle;
  };

  OperatorResult prepare(OperatorContext& context, std::uint64_t epoch);

  TwoPhaseStore& store_;
  std::vector<Prepared> prepared_;  // by epoch
  std::uint64_t last_barrier_ = 0;  // its epoch; of the restored checkpoint before the first
};

}  // namespace hummer
