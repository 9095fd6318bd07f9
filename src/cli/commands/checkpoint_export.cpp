#include "cli/commands/checkpoint_export.hpp"

#include <fmt/format.h>

#include "base/value_json.hpp"
#include "checkpoint/saved_keys.hpp"

namespace hummer {
namespace {

constexpr std::size_t written_at_once_bytes = std::size_t{64} << 10;

Status no_value(std::string_view what) {
  return {ErrorCode::corrupt_record, std::string(what) + " is no value of its type"};
}

// A text may be named without its quotes.
bool is_wanted(const SavedKey& key, const std::string& json, const std::string& wanted) {
  if (wanted.empty() || json == wanted) return true;
  if (key.key_type->kind != ParsedType::Kind::text) return false;
  ByteReader in(key.key);
  std::string_view text;
  return in.get_text(text) && text == wanted;
}

Status append_state(const SavedKey::State& state, std::string& line) {
  append_json_text(state.name, line);
  line += ':';
  bool valid = false;
  if (state.accumulator) {
    ByteReader in(state.bytes);
    valid = append_json_value(*state.type, in, line);
  } else {
    valid = append_json_cell(*state.type, state.bytes, line);
  }
  return valid ? Status() : no_value("state '" + std::string(state.name) + "' of a key");
}

// Appends the key's line, if it is wanted.
Status append_line(const SavedKey& key, const CheckpointExport& wanted, std::string& lines) {
  std::string key_json;
  ByteReader in(key.key);
  if (!append_json_value(*key.key_type, in, key_json)) return no_value("a key");
  if (!is_wanted(key, key_json, wanted.key)) return {};
  std::string states;
  for (const SavedKey::State& state : key.states) {
    if (!wanted.state.empty() && state.name != wanted.state) continue;
    if (!states.empty()) states += ',';
    HUMMER_TRY(append_state(state, states));
  }
  if (!wanted.state.empty() && states.empty()) return {};
  lines += "{\"operator\":";
  append_json_text(key.from->uid, lines);
  lines += ",\"name\":";
  append_json_text(key.from->name, lines);
  lines += fmt::format(",\"subtask\":{},\"key\":{},\"states\":{{{}}},\"timers\":[", key.subtask,
                       key_json, states);
  for (const SavedKey::Timer& timer : key.timers) {
    lines += fmt::format("{}{{\"kind\":\"{}\",\"time_ms\":{}}}", lines.back() == '[' ? "" : ",",
                         timer.kind == TimerKind::event ? "event" : "processing", timer.time);
  }
  lines += "]}\n";
  return {};
}

}  // namespace

int export_checkpoint(Platform& platform, const std::string& path, const CheckpointExport& wanted) {
  std::string lines;
  bool found = false;
  const auto write = [&] {
    const Status written = platform.write_standard(1, lines);
    found |= !lines.empty();
    lines.clear();
    return written;
  };
  const auto skipped = visit_saved_keys(
      platform.files(), path, {.of_operator = wanted.of_operator}, [&](const SavedKey& key) {
        HUMMER_TRY(append_line(key, wanted, lines));
        return lines.size() < written_at_once_bytes ? Status() : write();
      });
  const Status written = write();
  if (!skipped.ok()) return report(platform, skipped.status());
  if (!written.ok()) return report(platform, written);
  // Who looked for a key or a state, and has it, does not care where it is not.
  const bool looked_for = !wanted.key.empty() || !wanted.state.empty();
  for (const SkippedOperator& one : *skipped) {
    if (looked_for && found) break;
    (void)platform.write_standard(
        2, fmt::format("hummer: operator '{}' is left out: {}\n", one.uid, one.why));
  }
  // Who asks for one operator wants its state.
  return wanted.of_operator.empty() || skipped->empty() ? 0 : 1;
}

}  // namespace hummer
