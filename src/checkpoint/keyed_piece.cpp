#include "checkpoint/keyed_piece.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "checkpoint/saved_keys.hpp"

namespace hummer {
namespace {

// What hummer/detail/operators/store_snapshot.hpp, keyed_store.hpp and accumulator_table.hpp write.
constexpr std::uint8_t version_of_store = 2;
constexpr std::uint8_t version_of_table = 2;
constexpr std::uint8_t mark_of_end = 0;
constexpr std::uint8_t mark_of_entry = 1;
constexpr std::uint8_t mark_of_gone = 2;
constexpr std::uint8_t mark_of_section = 3;

Status piece_cut_short() { return {ErrorCode::corrupt_record, "keyed state is cut short"}; }

const StateDescription* find_described(const std::vector<StateDescription>& states,
                                       std::string_view head) {
  for (const StateDescription& state : states) {
    if (state.type.starts_with(head)) return &state;
  }
  return nullptr;
}

}  // namespace

Status KeyedPiece::open() {
  std::uint8_t kind = 0;
  if (!in_.get_value(kind) || !decode_states(in_, described_)) return piece_cut_short();
  const bool of_function =
      std::any_of(described_.begin(), described_.end(), [](const StateDescription& state) {
        return state.type.starts_with("value<") || state.type.starts_with("list<") ||
               state.type.starts_with("map<") || state.type.starts_with("aggregate<") ||
               state.type.starts_with("broadcast<");
      });
  const bool of_table = find_described(described_, "table<") != nullptr;
  if (!of_function && !of_table) {
    refusal_ = described_.empty() ? "it has no state by key"
                                  : "its state '" + described_.front().name + "' (" +
                                        described_.front().type + ") is not by key";
    return {};
  }
  std::uint8_t version = 0;
  std::uint8_t delta = 0;
  if (!in_.get_value(version)) return piece_cut_short();
  if (version != (of_function ? version_of_store : version_of_table)) {
    refusal_ = "its state has a form that only the operator reads (version " +
               std::to_string(version) + ")";
    return {};
  }
  if (!in_.get_value(delta)) return piece_cut_short();
  return of_function ? open_store() : open_table();
}

bool KeyedPiece::parse(std::string text, std::string& kept, ParsedType& type) {
  kept = std::move(text);
  std::optional<ParsedType> parsed = parse_type(kept);
  if (parsed) type = std::move(*parsed);
  return parsed.has_value();
}

// Ahead of it, version and delta were read.
Status KeyedPiece::open_store() {
  Timestamp watermark = 0;
  if (!in_.get_value(watermark)) return piece_cut_short();
  HUMMER_TRY(pass_over_broadcast());
  return open_entries();
}

Status KeyedPiece::open_entries() {
  std::string_view key, name, type;
  std::uint8_t count = 0;
  if (!in_.get_text(key) || !in_.get_value(count)) return piece_cut_short();
  if (!parse(std::string(key), key_text_, key_type_) || !can_pass_over(key_type_)) {
    refusal_ = "its keys are of type " + std::string(key) + ", which only its own codec reads";
    return {};
  }
  // The types look at the texts, which must not move.
  states_.resize(count);
  for (State& state : states_) {
    if (!in_.get_text(name) || !in_.get_text(type)) return piece_cut_short();
    state.name = name;
    if (!parse(std::string(type), state.text, state.type)) state.type.text = state.text;
  }
  return {};
}

// Each with its name, type and bytes.
Status KeyedPiece::pass_over_broadcast() {
  std::uint8_t count = 0;
  if (!in_.get_value(count)) return piece_cut_short();
  std::string_view text;
  for (int i = 0; i < 3 * count; ++i) {
    if (!in_.get_text(text)) return piece_cut_short();
  }
  return {};
}

// A window operator describes a store and a table in the same way; a store goes on with a
// watermark, the type of the keys, and its one state.
void KeyedPiece::open_windows(std::string_view key_type) {
  refusal_ = "windows whose records are folded by slice or count are read by the operator alone";
  Timestamp watermark = 0;
  std::uint8_t count = 0;
  std::string_view key, name, type;
  if (!in_.get_value(watermark) || !in_.get_text(key) || key != key_type || !in_.get_value(count) ||
      count != 1 || !in_.get_text(name) || name != "windows" || !in_.get_text(type) ||
      !type.starts_with("windows<")) {
    return;
  }
  refusal_.clear();
  states_.resize(1);
  states_.front().name = name;
  if (!parse(std::string(type), states_.front().text, states_.front().type)) {
    states_.front().type.text = states_.front().text;
  }
}

Status KeyedPiece::open_table() {
  const StateDescription& described = *find_described(described_, "table<");
  ParsedType table;
  if (!parse(described.type, key_text_, table) || table.parts.size() != 2) {
    refusal_ = "its state is of type " + described.type + ", which makes no sense";
    return {};
  }
  key_type_ = table.parts[0];
  const bool windows = described.name == "windows";
  for (const ParsedType* part : {&table.parts[0], &table.parts[1]}) {
    if (can_pass_over(*part) || (windows && part == &table.parts[1])) continue;
    refusal_ = "a " + std::string(part->text) + " is read by its own codec alone";
    return {};
  }
  if (windows) {
    open_windows(key_type_.text);
    return {};
  }
  State& state = states_.emplace_back();
  state.name = described.name;
  state.type = std::move(table);
  table_ = true;
  return {};
}

Result<bool> KeyedPiece::next(SavedKey& key) {
  in_.let_go();
  key.states.clear();
  key.timers.clear();
  std::uint8_t mark = 0;
  for (;;) {
    if (!in_.get_value(mark) || mark > (table_ ? mark_of_entry : mark_of_section)) {
      return piece_cut_short();
    }
    if (mark != mark_of_section) break;
    ++section_;
  }
  if (mark == mark_of_end) return false;
  gone_ = mark == mark_of_gone;
  key_.clear();
  if (!pass_over(key_type_, in_, &key_)) return piece_cut_short();
  key.key_type = &key_type_;
  key.key = key_;
  if (gone_) return true;
  return table_ ? next_of_table(key) : next_of_store(key);
}

Result<bool> KeyedPiece::next_of_table(SavedKey& key) {
  value_.clear();
  const State& state = states_.front();
  if (!pass_over(state.type.parts[1], in_, &value_)) return piece_cut_short();
  key.states.push_back({state.name, &state.type.parts[1], true, value_});
  return true;
}

Result<bool> KeyedPiece::next_of_store(SavedKey& key) {
  std::uint64_t present = 0;
  if (!in_.get_value(present)) return piece_cut_short();
  for (; present != 0; present &= present - 1) {
    const auto number = static_cast<std::size_t>(std::countr_zero(present));
    std::string_view bytes;
    if (number >= states_.size() || !in_.get_text(bytes)) return piece_cut_short();
    key.states.push_back({states_[number].name, &states_[number].type, false, bytes});
  }
  std::uint32_t timers = 0;
  if (!in_.get_value(timers)) return piece_cut_short();
  for (std::uint32_t i = 0; i < timers; ++i) {
    SavedKey::Timer timer;
    if (!in_.get_value(timer.kind) || timer.kind > TimerKind::processing ||
        !in_.get_value(timer.time)) {
      return piece_cut_short();
    }
    key.timers.push_back(timer);
  }
  return true;
}

}  // namespace hummer
