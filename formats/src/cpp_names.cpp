#include "cpp_names.hpp"

namespace hummer::formats {
namespace {

bool is_keyword(std::string_view name) {
  static constexpr std::string_view words =
      " alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl "
      "concept const continue default delete do double else enum explicit export extern false "
      "float for friend goto if inline int long mutable namespace new not not_eq operator or or_eq "
      "private protected public register requires return short signed sizeof static struct switch "
      "template this throw true try typedef typeid typename union unsigned using virtual void "
      "volatile while xor xor_eq ";
  return words.find(" " + std::string(name) + " ") != std::string_view::npos;
}

}  // namespace

std::string cpp_name(std::string_view of, const std::string& otherwise,
                     std::set<std::string>& taken) {
  std::string name;
  for (const char c : of) {
    const bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool is_digit = c >= '0' && c <= '9';
    const bool fits = is_letter || is_digit;
    if (!fits && (name.empty() || name.ends_with('_'))) continue;
    name += fits ? c : '_';
  }
  while (name.ends_with('_')) name.pop_back();
  if (name.empty()) name = otherwise;
  if (name[0] >= '0' && name[0] <= '9') name.insert(0, "column_");
  if (is_keyword(name)) name += '_';
  const std::string first = name;
  for (int i = 2; !taken.insert(name).second; ++i) name = first + "_" + std::to_string(i);
  return name;
}

std::string camel_case(std::string_view name) {
  std::string text;
  bool upper = true;
  for (char c : name) {
    const bool lower = c >= 'a' && c <= 'z';
    const bool letter = lower || (c >= 'A' && c <= 'Z');
    if (letter || (c >= '0' && c <= '9')) {
      text += upper && lower ? static_cast<char>(c - 'a' + 'A') : c;
    }
    upper = !letter;
  }
  return text;
}

std::string quoted_in_cpp(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : text) {
    switch (c) {
      case '"': quoted += "\\\""; break;
      case '\\': quoted += "\\\\"; break;
      case '\n': quoted += "\\n"; break;
      case '\r': quoted += "\\r"; break;
      case '\t': quoted += "\\t"; break;
      default: quoted += c;
    }
  }
  return quoted + '"';
}

std::string_view cpp_type_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::boolean: return "bool";
    case ValueKind::i64: return "std::int64_t";
    case ValueKind::u64: return "std::uint64_t";
    case ValueKind::f64: return "double";
    default: return "std::string";
  }
}

std::string cpp_struct(std::string_view name, const std::vector<CppField>& fields) {
  std::string text = "struct " + std::string(name) + " {\n";
  bool renamed = false;
  for (const CppField& field : fields) {
    text += "  " + field.type + " " + field.name;
    if (!field.value.empty()) text += " = " + field.value;
    text += ";\n";
    renamed = renamed || field.named != field.name;
  }
  text += "};\n";
  if (!renamed) return text;
  text += "template <>\ninline constexpr auto hummer::formats::field_names<" + std::string(name) +
          "> = hummer::formats::named(\n    ";
  for (const CppField& field : fields) {
    if (&field != &fields.front()) text += ", ";
    text += quoted_in_cpp(field.named);
  }
  return text + ");\n";
}

}  // namespace hummer::formats
