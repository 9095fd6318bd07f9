#include <hummer/evolving.hpp>

#include <charconv>

namespace hummer {
namespace {

// A type's name, read from front to back.
class Name {
 public:
  explicit Name(std::string_view text) : text_(text) {}
  bool ended() const { return at_ == text_.size(); }
  char next() const { return ended() ? '\0' : text_[at_]; }
  bool begins_evolving() const { return next() == '{' && at_ > 0 && text_[at_ - 1] == '+'; }
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

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

bool can_read_type(std::string_view saved, std::string_view own) {
  Name theirs(saved);
  Name ours(own);
  std::vector<bool> open;  // braces: whether of an evolving type
  while (!theirs.ended() || !ours.ended()) {
    if (theirs.next() == '}' && ours.next() == ',' && !open.empty() && open.back()) {
      ours.skip_fields();
    }
    if (theirs.ended() || ours.ended() || theirs.next() != ours.next()) return false;
    const char common = ours.next();
    if (common == '{') open.push_back(ours.begins_evolving());
    if (common == '}' && !open.empty()) open.pop_back();
    theirs.skip();
    ours.skip();
    if (common == '@' && theirs.version() > ours.version()) return false;
  }
  return true;
}

Status check_states(const std::vector<StateDescription>& saved,
                    const std::vector<StateDescription>& own) {
  for (const StateDescription& before : saved) {
    for (const StateDescription& now : own) {
      if (now.name != before.name || can_read_type(before.type, now.type)) continue;
      return {ErrorCode::invalid_argument,
              "state '" + now.name + "' is " + before.type + " in the snapshot and " + now.type +
                  " in the job, which can't read that: see docs/writing_a_job.md, types that "
                  "change"};
    }
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
