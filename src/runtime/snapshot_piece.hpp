// SnapshotPiece and TaskSnapshot: what a task saves. Values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/detail/key_groups.hpp>
#include <hummer/evolving.hpp>

#include "runtime/snapshot_buffers.hpp"

namespace hummer {

// What one operator wrote at the end of an epoch, or behind the end of its stream; or a part of it.
struct SnapshotPiece {
  std::string uid;
  std::string bytes;     // encode_states(its states), then what its snapshot() wrote
  bool ended = false;    // written behind the operator's end
  bool delta = false;    // on the operator's piece in the newest complete checkpoint
  bool goes_on = false;  // the next piece that comes is its next part
  // Records on their way to the operator, not its state: see in_flight.hpp.
  bool in_flight = false;
  std::vector<KeyGroupBlock> blocks = {};  // of `bytes`
};

// Nothing that can be lost: the records bring it again.
bool is_watermark(const StateDescription& state);

// What is lost with an operator's piece, by its bytes: the names of its states but watermarks, or
// "undeclared" where it named none and wrote something all the same.
std::vector<std::string> states_held(std::string_view bytes);
// The same by the states that it named, and whether it wrote something behind them.
std::vector<std::string> states_held(const std::vector<StateDescription>& states, bool has_more);

// What the author of a job can do where such state has no operator.
inline constexpr const char* state_remedies =
    "give the operator that goes on with it that uid, with .uid(\"...\"), or drop it with "
    "--allow-dropped-state (in code: checkpoints.allow_dropped_state)";

// What a task's operators wrote; or, where it is not complete, a part of it: the next ones follow,
// until one is, or one of another epoch shows that this one never will be.
struct TaskSnapshot {
  std::uint64_t epoch = 0;  // 0: the task's last, at the end of its stream
  std::vector<SnapshotPiece> pieces;
  bool complete = true;
  // Kept by whoever keeps the pieces: so a task knows how much is not written yet.
  std::shared_ptr<SnapshotBuffers> room = {};

  // The pieces are written: their memory goes back.
  void give_back() {
    if (room == nullptr) return;
    for (SnapshotPiece& piece : pieces) room->give_back(std::move(piece.bytes));
    pieces.clear();
  }
};

}  // namespace hummer
