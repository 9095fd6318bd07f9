// take_snapshot: all that an operator under test writes for a snapshot, at one go. REQUIRES: its
// context is a FakeOperatorContext.
#pragma once

#include <string>

#include <hummer/detail/testing/fake_operator_context.hpp>

namespace hummer {

inline Result<std::string> take_snapshot(Operator& op) {
  std::string all;
  std::string part;  // each step is handed on, as a task does: an operator stops at a full one
  {
    ByteWriter out(part);
    HUMMER_TRY(op.snapshot(out));
    all.append(out.view());
  }
  for (;;) {
    ByteWriter out(part);
    const OperatorResult answer = op.snapshot_rest(out);
    all.append(out.view());
    switch (answer) {
      case OperatorResult::done: return all;
      case OperatorResult::more: break;
      case OperatorResult::blocked:
        return Status(ErrorCode::operator_failed, "snapshot_rest answered blocked");
      case OperatorResult::failed: return static_cast<FakeOperatorContext&>(op.context()).failure();
    }
  }
}

}  // namespace hummer
