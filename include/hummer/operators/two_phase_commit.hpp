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

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <hummer/operator.hpp>
#include <hummer/two_phase_store.hpp>

namespace hummer {

class TwoPhaseCommit {
 public:
  explicit TwoPhaseCommit(TwoPhaseStore& store) : store_(store) {}

  // The pieces of all earlier subtasks come in turn: those that fall to this one are kept to
  // commit.
  Status restore(ByteReader& in) {
    std::uint8_t version = 0;
    std::uint64_t count = 0;
    if (!in.get_value(version) || version != 1 || !in.get_value(count)) return damaged();
    for (std::uint64_t i = 0; i < count; ++i) {
      Prepared prepared;
      std::string_view handle;
      if (!in.get_value(prepared.epoch) || !in.get_text(handle)) return damaged();
      prepared.handle = handle;
      prepared_.push_back(std::move(prepared));
    }
    std::sort(prepared_.begin(), prepared_.end(),
              [](const Prepared& a, const Prepared& b) { return a.epoch < b.epoch; });
    return {};
  }

  Status open(OperatorContext& context) {
    last_barrier_ = context.epoch();
    HUMMER_TRY(store_.open(context));
    std::vector<std::string> handles;
    for (const Prepared& each : prepared_) handles.push_back(each.handle);
    return store_.abort_all_but(handles);
  }

  // What came before a barrier belongs to its epoch. An input that has become inactive is no
  // barrier: what it left belongs to the next one.
  Answer flush(OperatorContext& context) {
    if (context.epoch() == last_barrier_) return Answer::done;
    const Answer answer = prepare(context, context.epoch());
    if (answer == Answer::done) last_barrier_ = context.epoch();
    return answer;
  }

  // Whatever checkpoint comes next holds the end. Its epoch is not that of anything visible, also
  // when nothing was written since the restart.
  Answer end(OperatorContext& context) { return prepare(context, context.epoch() + 1); }

  static std::vector<StateDescription> states() {
    return {{"prepared", "vector<tuple<u64,string>>"}};
  }
  void snapshot(ByteWriter& out) const {
    out.put_value(std::uint8_t{1});  // version
    out.put_value(static_cast<std::uint64_t>(prepared_.size()));
    for (const Prepared& each : prepared_) {
      out.put_value(each.epoch);
      out.put_text(each.handle);
    }
  }

  Status commit(std::uint64_t epoch) {
    std::size_t done = 0;
    for (; done < prepared_.size() && prepared_[done].epoch <= epoch; ++done) {
      HUMMER_TRY(store_.commit(prepared_[done].handle));
    }
    prepared_.erase(prepared_.begin(), prepared_.begin() + static_cast<std::ptrdiff_t>(done));
    return {};
  }

 private:
  struct Prepared {
    std::uint64_t epoch = 0;
    std::string handle;
  };

  static Status damaged() {
    return {ErrorCode::corrupt_record, "the state of a two-phase sink cannot be decoded"};
  }

  Answer prepare(OperatorContext& context, std::uint64_t epoch) {
    Result<std::string> handle = store_.prepare(epoch);
    if (!handle.ok()) return context.fail(handle.status());
    if (!handle->empty()) prepared_.push_back({epoch, std::move(*handle)});
    return Answer::done;
  }

  TwoPhaseStore& store_;
  std::vector<Prepared> prepared_;  // by epoch
  std::uint64_t last_barrier_ = 0;  // its epoch; of the restored checkpoint before the first
};

}  // namespace hummer
