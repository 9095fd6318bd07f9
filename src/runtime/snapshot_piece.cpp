#include "runtime/snapshot_piece.hpp"

#include <hummer/bytes.hpp>

namespace hummer {

bool is_watermark(const StateDescription& state) {
  return state.type == "i64" && (state.name == "watermark" || state.name == "late_before");
}

std::vector<std::string> states_held(std::string_view bytes) {
  ByteReader in(bytes);
  std::vector<StateDescription> states;
  if (!decode_states(in, states)) return states_held({}, true);
  return states_held(states, in.left() != 0);
}

std::vector<std::string> states_held(const std::vector<StateDescription>& states, bool has_more) {
  std::vector<std::string> names;
  if (!has_more) return names;
  if (states.empty()) names.push_back("undeclared");
  for (const StateDescription& state : states) {
    if (!is_watermark(state)) names.push_back(state.name);
  }
  return names;
}

}  // namespace hummer
