#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include <simdjson.h>

#include <hummer/formats/infer.hpp>
#include <hummer/formats/look.hpp>

#include "cpp_names.hpp"

namespace hummer::formats {
namespace {

namespace dom = simdjson::dom;

constexpr std::size_t deepest = 64;

struct Seen;
struct Member {
  std::string name;
  std::unique_ptr<Seen> value;
};

// What stood in one place of all records.
struct Seen {
  std::size_t values = 0;
  std::size_t nulls = 0;
  std::size_t booleans = 0;
  std::size_t integers = 0;
  std::size_t large_integers = 0;  // above those of std::int64_t
  std::size_t negatives = 0;
  std::size_t reals = 0;
  std::size_t texts = 0;
  std::size_t arrays = 0;
  std::unique_ptr<Seen> element;
  std::size_t objects = 0;
  std::vector<Member> members;  // in the order in which they came
  std::map<std::string, std::size_t, std::less<>> numbers;

  std::size_t count_numbers() const { return integers + large_integers + reals; }

  Seen& member(std::string_view name) {
    auto found = numbers.find(name);
    if (found == numbers.end()) {
      found = numbers.emplace(std::string(name), members.size()).first;
      members.push_back({std::string(name), std::make_unique<Seen>()});
    }
    return *members[found->second].value;
  }
};

// False: it is nested too deep to be looked at.
bool look_at(dom::element value, Seen& seen, std::size_t depth) {
  if (depth > deepest) return false;
  ++seen.values;
  switch (value.type()) {
    case dom::element_type::NULL_VALUE: ++seen.nulls; return true;
    case dom::element_type::BOOL: ++seen.booleans; return true;
    case dom::element_type::INT64:
      ++seen.integers;
      seen.negatives += value.get_int64().value_unsafe() < 0 ? 1 : 0;
      return true;
    case dom::element_type::UINT64: ++seen.large_integers; return true;
    case dom::element_type::DOUBLE: ++seen.reals; return true;
    case dom::element_type::STRING: ++seen.texts; return true;
    case dom::element_type::ARRAY: {
      ++seen.arrays;
      dom::array array;
      if (value.get(array) != simdjson::SUCCESS) return false;
      for (const dom::element each : array) {
        if (seen.element == nullptr) seen.element = std::make_unique<Seen>();
        if (!look_at(each, *seen.element, depth + 1)) return false;
      }
      return true;
    }
    case dom::element_type::OBJECT: {
      ++seen.objects;
      dom::object object;
      if (value.get(object) != simdjson::SUCCESS) return false;
      for (const dom::key_value_pair each : object) {
        if (!look_at(each.value, seen.member(each.key), depth + 1)) return false;
      }
      return true;
    }
  }
  return false;
}

// Structs for what was seen, those of members ahead of the ones that hold them.
class Writer {
 public:
  std::string structs(const Seen& seen, const std::string& name) {
    taken_.insert(name);
    take_names(seen);
    write_struct(seen, name, "");
    return text_;
  }
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  // No struct is called as a member: in the struct that has both that would be an error.
  void take_names(const Seen& seen) {
    for (const Member& member : seen.members) {
      taken_.insert(member.name);
      take_names(*member.value);
    }
    if (seen.element != nullptr) take_names(*seen.element);
  }

  // False, where the members of a member are all left out.
  bool write_struct(const Seen& seen, const std::string& name, const std::string& path) {
    std::vector<CppField> fields;
    std::set<std::string> names;
    for (const Member& member : seen.members) {
      const Seen& value = *member.value;
      const std::string place = path + member.name;
      const std::string wanted = camel_case(member.name);
      std::string type = type_of(value, wanted, place);
      if (type.empty()) continue;
      const bool optional = value.nulls > 0 || value.values < seen.objects;
      const bool number = value.count_numbers() > 0;
      const std::string first = optional ? "" : value.booleans > 0 ? "false" : number ? "0" : "";
      std::string field =
          cpp_name(member.name, "member" + std::to_string(fields.size() + 1), names);
      fields.push_back({optional ? "std::optional<" + type + ">" : std::move(type),
                        std::move(field), first, member.name});
    }
    if (fields.empty() && !path.empty()) return false;
    text_ += cpp_struct(name, fields);
    return true;
  }

  // Empty, and a line more in unknown(), where none fits.
  std::string type_of(const Seen& seen, const std::string& wanted, const std::string& place) {
    const std::size_t kinds = (seen.booleans > 0 ? 1 : 0) + (seen.count_numbers() > 0 ? 1 : 0) +
                              (seen.texts > 0 ? 1 : 0) + (seen.arrays > 0 ? 1 : 0) +
                              (seen.objects > 0 ? 1 : 0);
    if (kinds == 0) return cannot_know(place, "it was always null");
    if (kinds > 1) return cannot_know(place, "it was of several kinds: " + kinds_of(seen));
    if (seen.booleans > 0) return "bool";
    if (seen.texts > 0) return "std::string";
    if (seen.count_numbers() > 0) return std::string(cpp_type_of(kind_of_number(seen)));
    if (seen.arrays > 0) {
      if (seen.element == nullptr) return cannot_know(place, "its arrays were all empty");
      std::string element = type_of(*seen.element, wanted, place + "[]");
      if (element.empty()) return {};
      if (element == "bool") return cannot_know(place, "a std::vector of bool is none of records");
      if (seen.element->nulls > 0) element = "std::optional<" + element + ">";
      return "std::vector<" + element + ">";
    }
    const bool empty = std::none_of(seen.members.begin(), seen.members.end(), [](const Member& m) {
      return m.value->values > m.value->nulls;
    });
    if (empty) return cannot_know(place, "its objects had no members with a value");
    const std::string name = cpp_name(wanted, "Part", taken_);
    return write_struct(seen, name, place + ".") ? name : std::string();
  }

  static ValueKind kind_of_number(const Seen& seen) {
    if (seen.reals > 0 || (seen.large_integers > 0 && seen.negatives > 0)) return ValueKind::f64;
    return seen.large_integers > 0 ? ValueKind::u64 : ValueKind::i64;
  }

  static std::string kinds_of(const Seen& seen) {
    std::string text;
    const auto add = [&](std::size_t count, std::string_view what) {
      if (count == 0) return;
      text += (text.empty() ? "" : ", ") + std::string(what) + " (" + std::to_string(count) + ")";
    };
    add(seen.booleans, "bool");
    add(seen.count_numbers(), "number");
    add(seen.texts, "text");
    add(seen.arrays, "array");
    add(seen.objects, "object");
    return text;
  }

  std::string cannot_know(const std::string& place, const std::string& why) {
    unknown_.push_back(quoted_in_cpp(place) + " is left out: " + why);
    return {};
  }

  std::string text_;
  std::set<std::string> taken_;
  std::vector<std::string> unknown_;
};

}  // namespace

std::string why_no_json_object(std::string_view line) {
  dom::parser parser;
  dom::element object;
  const simdjson::error_code error = parser.parse(line.data(), line.size()).get(object);
  if (error != simdjson::SUCCESS) return simdjson::error_message(error);
  return object.is_object() ? "" : "it is no object";
}

Result<std::string> infer_json(std::string_view text, bool whole, std::string_view record,
                               std::string_view path) {
  Seen seen;
  std::size_t bad = 0;
  std::size_t records = 0;
  dom::parser parser;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    if (end == text.size() && !whole) break;
    const std::string_view line = text.substr(at, end - at);
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    dom::element object;
    const bool good = parser.parse(line.data(), line.size()).get(object) == simdjson::SUCCESS &&
                      object.is_object() && look_at(object, seen, 0);
    ++(good ? records : bad);
  }
  if (records == 0) {
    return Status(ErrorCode::invalid_argument,
                  "there is no whole object to infer a record from (each line is one; "
                  "`jq -c .` makes lines of a document)");
  }
  const auto lines = [](std::size_t count, const std::string& what) {
    return std::to_string(count) + what + (count == 1 ? "" : "s");
  };
  Writer writer;
  const std::string structs = writer.structs(seen, std::string(record));
  std::string result = "// Of " + lines(records, " object") + " of " + std::string(path);
  if (bad > 0) result += "; " + lines(bad, " line") + " that can't be read are bad records";
  result += ".\n";
  for (const std::string& unknown : writer.unknown()) result += "// " + unknown + ".\n";
  return result + structs + "// hummer::formats::from_json<" + std::string(record) + ">(env, " +
         quoted_in_cpp(path) + ");\n";
}

}  // namespace hummer::formats
