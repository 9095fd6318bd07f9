// SnapshotPiece and TaskSnapshot: what a task saves. Values.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

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
};

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
