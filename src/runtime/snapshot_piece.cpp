#include "runtime/snapshot_piece.hpp"

#include <hummer/bytes.hpp>

namespace hummer {

bool is_watermark(const StateDescription& state) {
  return state.type == "i64" && (state.name == "watermark" || state.name == "late_before");
}

std::vector<std::string> states_held(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<StateDescription> states;
  std::vector<std::string> names;
  const bool readable = decode_states(in, states);
  if (readable && in.left() == 0) return names;
  if (!readable || states.empty()) names.push_back("undeclared");
  for (StateDescription& state : states) {
    if (!is_watermark(state)) names.push_back(std::move(state.name));
  }
  return names;
}

}  // namespace hummer
