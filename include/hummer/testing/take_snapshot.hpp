// take_snapshot: all that an operator writes for a snapshot, at one go.
#pragma once

#include <string>

#include <hummer/operator.hpp>

namespace hummer {

inline Result<std::string> take_snapshot(Operator& op) {
  std::string bytes;
  ByteWriter out(bytes);
  HUMMER_TRY(op.snapshot(out));
  for (;;) {
    switch (op.snapshot_rest(out)) {
      case Answer::done: return std::string(out.view());
      case Answer::more: break;
      case Answer::blocked:
        return Status(ErrorCode::operator_failed, "snapshot_rest answered blocked");
      case Answer::failed: return op.context().failure();
    }
  }
}

}  // namespace hummer
