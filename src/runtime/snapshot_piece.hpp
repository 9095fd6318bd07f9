// SnapshotPiece: what a task saves under one operator's uid. A value.
#pragma once

#include <string>

namespace hummer {

struct SnapshotPiece {
  std::string uid;
  std::string bytes;
  bool ended = false;  // written behind the operator's end
  // Records on their way to the operator, not its state: see in_flight.hpp.
  bool in_flight = false;
};

}  // namespace hummer
