#include <hummer/evolving.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <utility>

#include "base/number_widening.hpp"
#include "base/type_grammar.hpp"

namespace hummer {
namespace {

// A type's name, read from front to back.
class Name {
 public:
  explicit Name(std::string_view text) : text_(text) {}
  bool ended() const { return at_ == text_.size(); }
  char next() const { return ended() ? '\0' : text_[at_]; }
  bool begins_evolving() const { return begins('+'); }
  bool begins_named() const { return begins('#'); }
  void skip() { ++at_; }
  // Behind '@'; 0: there is no number.
  unsigned version() {
    unsigned number = 0;
    const char* const from = text_.data() + at_;
    at_ += static_cast<std::size_t>(std::from_chars(from, text_.data() + text_.size(), number).ptr -
                                    from);
    return number;
  }
  // To the brace that closes the one that is open.
  void skip_fields() {
    for (int depth = 0; !ended() && (depth > 0 || next() != '}'); skip()) {
      depth += next() == '{' ? 1 : next() == '}' ? -1 : 0;
    }
  }
  // Ahead of the mark and brace.
  std::string_view name_before() const {
    const std::string_view before = text_.substr(0, at_ - 1);
    const std::size_t other = before.find_last_of(",:{}<>()");
    return other == before.npos ? before : before.substr(other + 1);
  }
  // What is between the braces; behind them.
  std::string_view take_fields() {
    skip();
    const std::size_t from = at_;
    skip_fields();
    const std::string_view inside = text_.substr(from, at_ - from);
    if (!ended()) skip();
    return inside;
  }

 private:
  bool begins(char mark) const { return next() == '{' && at_ > 0 && text_[at_ - 1] == mark; }

  std::string_view text_;
  std::size_t at_ = 0;
};

// What stands in the way, from the type that is innermost.
bool refuse(std::string* why, std::string reason) {
  if (why != nullptr && why->empty()) *why = std::move(reason);
  return false;
}

struct NamedField {
  std::string_view name;
  std::string_view type;
};

// Of the text between the braces; nothing: it makes no sense.
std::optional<std::vector<NamedField>> fields_in(std::string_view inside) {
  std::vector<NamedField> fields;
  while (!inside.empty()) {
    const std::string_view name = take_field_name(inside);
    const std::string_view type = take_type(inside);
    if (name.empty() || type.empty()) return std::nullopt;
    fields.push_back({name, type});
    if (inside.empty()) break;
    if (inside.front() != ',' || inside.size() == 1) return std::nullopt;
    inside.remove_prefix(1);
  }
  return fields;
}

// `name`: of the type that has them.
bool can_read_fields(std::string_view name, std::string_view saved, std::string_view own,
                     std::string* why) {
  const auto before = fields_in(saved);
  const auto now = fields_in(own);
  const std::string whole = "saved#{" + std::string(saved) + "}";
  if (!before || !now || !parse_type(whole)) {
    return refuse(why, "the fields of " + std::string(name) + " can't be told from its name");
  }
  for (const NamedField& field : *before) {
    const std::string of = "field '" + std::string(field.name) + "' of " + std::string(name);
    const auto kept = std::find_if(now->begin(), now->end(),
                                   [&](const NamedField& each) { return each.name == field.name; });
    if (kept == now->end()) {
      const std::optional<ParsedType> type = parse_type(field.type);
      if (type && can_pass_over(*type)) continue;
      return refuse(why, of + " is gone, and a " + std::string(field.type) +
                             " has a codec of its own, so that nobody can pass over it");
    }
    if (detail::is_widening(field.type, kept->type)) continue;
    if (!can_read_type(field.type, kept->type, why)) {
      return refuse(why,
                    of + " was " + std::string(field.type) + " and is " + std::string(kept->type));
    }
  }
  return true;
}

bool layouts_differ(std::string_view saved, std::string_view own) {
  return detail::named_types_in(saved) != detail::named_types_in(own);
}

// Where the codecs of the values are handed what another program has named: all but what is read
// later, by the program's own layout.
bool carries_layouts(std::string_view type) {
  constexpr std::array<std::string_view, 7> heads = {
      "value<", "list<", "map<", "aggregate<", "table<", "windows<", "broadcast<"};
  return std::any_of(heads.begin(), heads.end(),
                     [&](std::string_view head) { return type.starts_with(head); });
}
bool has_keys(std::string_view type) {
  return type.starts_with("map<") || type.starts_with("table<") || type.starts_with("broadcast<");
}
std::string_view key_in(std::string_view type) {
  std::string_view rest = type.substr(type.find('<') + 1);
  return take_type(rest);
}

// Empty: nothing is in the way.
std::string why_not_read(std::string_view saved, std::string_view own) {
  std::string why;
  if (!can_read_type(saved, own, &why)) {
    return why.empty() ? "which can't read that" : "which can't read that: " + why;
  }
  if (!layouts_differ(saved, own)) return {};
  if (!carries_layouts(own)) {
    return "whose fields may not change there: they are read only when the job runs";
  }
  if (has_keys(own) && layouts_differ(key_in(saved), key_in(own))) {
    return "whose fields may not change in a key: keys decide where state is";
  }
  return {};
}

// Two layouts of one name: nothing, or that name.
std::string_view name_with_two_layouts(const std::vector<StateDescription>& states) {
  std::map<std::string_view, std::string_view> layouts;
  for (const StateDescription& state : states) {
    for (const std::string_view type : detail::named_types_in(state.type)) {
      const auto known = layouts.emplace(detail::name_of_named_type(type), type).first;
      if (known->second != type) return known->first;
    }
  }
  return {};
}

}  // namespace

bool can_read_type(std::string_view saved, std::string_view own, std::string* why) {
  Name theirs(saved);
  Name ours(own);
  std::vector<bool> open;  // braces: whether of an evolving type
  while (!theirs.ended() || !ours.ended()) {
    if (theirs.next() == '}' && ours.next() == ',' && !open.empty() && open.back()) {
      ours.skip_fields();
    }
    if (theirs.ended() || ours.ended() || theirs.next() != ours.next()) return false;
    const char common = ours.next();
    if (ours.begins_named() && theirs.begins_named()) {
      const std::string_view type = ours.name_before();
      const std::string_view before = theirs.take_fields();
      const std::string_view now = ours.take_fields();
      if (before != now && !can_read_fields(type, before, now, why)) return false;
      continue;
    }
    if (common == '{') open.push_back(ours.begins_evolving());
    if (common == '}' && !open.empty()) open.pop_back();
    theirs.skip();
    ours.skip();
    if (common == '@' && theirs.version() > ours.version()) return false;
  }
  return true;
}

bool can_read_key_type(std::string_view saved, std::string_view own) {
  return can_read_type(saved, own) && !layouts_differ(saved, own);
}

Status check_states(const std::vector<StateDescription>& saved,
                    const std::vector<StateDescription>& own) {
  bool changed = false;
  for (const StateDescription& before : saved) {
    for (const StateDescription& now : own) {
      if (now.name != before.name) continue;
      const std::string why = why_not_read(before.type, now.type);
      if (!why.empty()) {
        return {ErrorCode::invalid_argument,
                "state '" + now.name + "' is " + before.type + " in the snapshot and " + now.type +
                    " in the job, " + why + " (see docs/writing_a_job.md, types that change)"};
      }
      changed = changed || layouts_differ(before.type, now.type);
    }
  }
  if (!changed) return {};
  for (const auto* states : {&saved, &own}) {
    const std::string_view name = name_with_two_layouts(*states);
    if (name.empty()) continue;
    return {ErrorCode::invalid_argument,
            "two types of an operator's states are called '" + std::string(name) +
                "' and have different fields, so that neither can change: give each a name of its "
                "own"};
  }
  return {};
}

void encode_states(const std::vector<StateDescription>& states, ByteWriter& out) {
  out.put_value(static_cast<std::uint16_t>(states.size()));
  for (const StateDescription& state : states) {
    out.put_text(state.name);
    out.put_text(state.type);
  }
}

bool decode_states(ByteReader& in, std::vector<StateDescription>& states) {
  states.clear();
  std::uint16_t count = 0;
  if (!in.get_value(count)) return false;
  for (std::uint16_t i = 0; i < count; ++i) {
    std::string_view name, type;
    if (!in.get_text(name) || !in.get_text(type)) return false;
    states.push_back({std::string(name), std::string(type)});
  }
  return true;
}

}  // namespace hummer
