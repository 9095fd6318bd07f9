#include <hummer/detail/state/declared_states.hpp>

namespace hummer {

void snapshot_broadcast(const std::vector<BroadcastStateBase*>& states, ByteWriter& out) {
  out.put_value(static_cast<std::uint8_t>(states.size()));
  std::string space;
  for (const BroadcastStateBase* state : states) {
    out.put_text(state->name());
    out.put_text(state->describe_type());
    ByteWriter one(space);
    state->encode(one);
    out.put_text(one.view());
  }
}

Status restore_broadcast(const std::vector<BroadcastStateBase*>& states, ByteReader& in, bool keep,
                         bool allow_dropped_state) {
  const Status cut_short{ErrorCode::corrupt_record, "broadcast state is cut short"};
  std::uint8_t count = 0;
  if (!in.get_value(count)) return cut_short;
  for (std::uint8_t i = 0; i < count; ++i) {
    std::string_view name, type, bytes;
    if (!in.get_text(name) || !in.get_text(type) || !in.get_text(bytes)) return cut_short;
    if (!keep) continue;
    bool found = false;
    for (BroadcastStateBase* state : states) {
      if (state->name() != name) continue;
      found = true;
      if (!detail::can_read_saved(type, state->describe_type(), in)) {
        return {ErrorCode::invalid_argument, "broadcast state '" + std::string(name) + "' is " +
                                                 std::string(type) + " in the snapshot and " +
                                                 state->describe_type() + " in the job"};
      }
      ByteReader one(bytes, in);
      if (!state->decode(one) || one.left() != 0) {
        return {ErrorCode::corrupt_record,
                "broadcast state '" + std::string(name) + "' cannot be decoded"};
      }
    }
    if (!found && !allow_dropped_state) {
      return {ErrorCode::invalid_argument,
              "the snapshot holds broadcast state '" + std::string(name) +
                  "', which the function does not declare: declare it, or set "
                  "allow_dropped_state"};
    }
  }
  return {};
}

}  // namespace hummer
