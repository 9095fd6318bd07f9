#include "pattern_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "csv_text.hpp"
#include "field_text.hpp"
#include "record_run.hpp"

namespace hummer::formats {
namespace {

bool is_empty_line(std::string_view line) { return line.empty() || line == "\r"; }

std::size_t end_of_line(std::string_view text, std::size_t at) {
  const void* const found = std::memchr(text.data() + at, '\n', text.size() - at);
  return found == nullptr ? text.size()
                          : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace

PatternDecoder::PatternDecoder(const RecordShape& shape, std::shared_ptr<const re2::RE2> expression,
                               const PatternOptions& options, std::vector<PatternField> fields)
    : shape_(shape),
      expression_(std::move(expression)),
      null_text_(options.null_text),
      times_(shape, options.times),
      fields_(std::move(fields)) {
  groups_.resize(fields_.empty() ? 1 : static_cast<std::size_t>(fields_.back().group) + 1);
}

Status PatternDecoder::begin(const TextBlock&, std::size_t&) { return {}; }

Decoder::Outcome PatternDecoder::decode(std::string_view text, std::size_t& at, Batch& batch,
                                        std::size_t limit) {
  text_begin_ = text.data();
  RecordRun run(shape_, batch, limit);
  while (at < text.size()) {
    const std::size_t end = end_of_line(text, at);
    std::string_view line = text.substr(at, end - at);
    if (!is_empty_line(line)) {
      if (run.full()) return Outcome::full;
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (!put_line(line, run.next())) return Outcome::bad_record;
      run.keep();
    }
    at = std::min(end + 1, text.size());
  }
  return Outcome::done;
}

std::size_t PatternDecoder::end_of_record(std::string_view text, std::size_t at) const {
  bool empty = true;
  while (empty && at < text.size()) {
    const std::size_t end = end_of_line(text, at);
    empty = is_empty_line(text.substr(at, end - at));
    at = std::min(end + 1, text.size());
  }
  return at;
}

bool PatternDecoder::put_line(std::string_view line, char* record) {
  const re2::StringPiece piece(line.data(), line.size());
  if (!expression_->Match(piece, 0, line.size(), re2::RE2::ANCHOR_BOTH, groups_.data(),
                          static_cast<int>(groups_.size()))) {
    why_ = shown(line) + " does not match the pattern";
    return false;
  }
  for (const PatternField& field : fields_) {
    const re2::StringPiece& group = groups_[static_cast<std::size_t>(field.group)];
    const std::string_view text(group.data(), group.size());
    void* to = record + field.offset;
    if (field.optional) {
      if (text.empty() || text == null_text_) continue;
      to = field.value->add(to);
    } else if (group.data() == nullptr) {
      why_ = "the group '" + std::string(field.name) +
             "' takes no part in the match (a field that may be missing is a std::optional)";
      return false;
    }
    if (!put(field, text, to)) return false;
  }
  return true;
}

inline bool PatternDecoder::put(const PatternField& field, std::string_view text, void* to) {
  if (const TimeForm* const form = times_.of(field.number); form != nullptr) {
    if (form->parse(text, *static_cast<std::int64_t*>(to))) return true;
    why_ = "the group '" + std::string(field.name) + "': " + shown(text) +
           " is not a time of the form in `times`";
    return false;
  }
  const auto readable = static_cast<std::size_t>(text.data() + text.size() - text_begin_);
  if (put_scalar(field.kind, text.data(), text.size(), readable, to)) return true;
  why_ = "the group '" + std::string(field.name) + "': " + shown(text) + " is not " +
         std::string(describe(field.kind)) + " that it can hold";
  return false;
}

Result<std::vector<PatternField>> bind_groups(const RecordShape& shape,
                                              const re2::RE2& expression) {
  const auto& groups = expression.NamedCapturingGroups();
  std::vector<PatternField> fields;
  for (std::size_t i = 0; i < shape.fields.size(); ++i) {
    const FieldShape& field = shape.fields[i];
    const bool optional = field.value.kind == ValueKind::optional;
    const ValueKind kind = optional ? field.value.element->kind : field.value.kind;
    if (kind >= ValueKind::optional) {
      return Status(ErrorCode::invalid_argument,
                    "the field '" + std::string(field.name) + "' is " +
                        std::string(describe(kind)) +
                        ", which a group can't hold: use numbers, bool, text and optionals");
    }
    const auto group = groups.find(std::string(field.name));
    if (group == groups.end()) {
      if (optional) continue;
      std::string names;
      for (const auto& [name, number] : groups) names += (names.empty() ? "" : ", ") + name;
      return Status(ErrorCode::invalid_argument,
                    "the pattern has no group '" + std::string(field.name) +
                        "', which the record needs; there are: " +
                        (names.empty() ? "none, write them as (?P<name>…)" : names));
    }
    fields.push_back({.group = group->second,
                      .kind = kind,
                      .optional = optional,
                      .offset = field.offset,
                      .value = &field.value,
                      .number = i,
                      .name = field.name});
  }
  std::sort(fields.begin(), fields.end(),
            [](const PatternField& a, const PatternField& b) { return a.group < b.group; });
  return fields;
}

}  // namespace hummer::formats
