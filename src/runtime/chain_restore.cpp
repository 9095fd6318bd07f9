// ChainDriver: how its operators take over the state of an earlier run.
#include <algorithm>
#include <string>
#include <vector>

#include <hummer/detail/saved_layouts.hpp>

#include "runtime/chain_context.hpp"
#include "runtime/chain_driver.hpp"

namespace hummer {
namespace {

// Whether an operator has nothing but watermarks, such as a process function without snapshot().
bool has_only_watermarks(const std::vector<StateDescription>& states) {
  return !states.empty() && std::all_of(states.begin(), states.end(), is_watermark);
}

// The piece holds state of which its operator takes over nothing.
Status not_taken_over(const std::string& uid, const std::string& state) {
  return {ErrorCode::invalid_graph, "it has the uid '" + uid + "' of an operator with state ('" +
                                        state +
                                        "'), and takes over none of that: " + state_remedies};
}

}  // namespace

void ChainDriver::begin_restore(std::size_t index, bool ended) {
  look_at_clocks(platform_.now());
  Stage& stage = *stages_[index];
  stage.context->set_restored();
  stage.has_ended = ended;
}

Status ChainDriver::restore(std::size_t index, ByteReader& in, bool delta_follows,
                            bool allow_dropped, RestoredKeys* keys) {
  Stage& stage = *stages_[index];
  stage.context->set_delta_follows(delta_follows);
  stage.context->set_restored_keys(keys);
  const OperatorResult answer = guarded(stage, [&] {
    std::vector<StateDescription> saved;
    const std::vector<StateDescription> own = stage.op->states();
    Status status = decode_states(in, saved)
                        ? check_states(saved, own)
                        : Status(ErrorCode::corrupt_record, "its piece says not what it holds");
    if (status.ok()) {
      const std::vector<std::string> held = states_held(saved, in.left() != 0);
      const std::size_t unread = in.left();
      const bool takes_none = has_only_watermarks(own) && !held.empty();
      if (!takes_none) {
        const detail::SavedLayouts layouts(saved, own);
        if (!layouts.empty()) in.set_layouts(&layouts);
        status = stage.op->restore(in);
        in.set_layouts(nullptr);
      }
      const bool lost = takes_none || (status.ok() && in.left() == unread);
      if (lost && !held.empty() && !allow_dropped) {
        status = not_taken_over(stage.uid, held.front());
      }
    }
    return status.ok() ? OperatorResult::done
                       : stage.context->fail(status.with_context("restoring operator '" +
                                                                 stage.context->name() + "'"));
  });
  stage.context->set_restored_keys(nullptr);
  return answer == OperatorResult::failed ? failure_ : Status();
}

}  // namespace hummer
