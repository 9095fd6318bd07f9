#include <hummer/formats/infer.hpp>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "cpp_names.hpp"
#include "csv_rows.hpp"
#include "csv_text.hpp"
#include "number_text.hpp"

namespace hummer::formats {
namespace {

constexpr char quote = '"';
constexpr std::size_t largest_sample_bytes = std::size_t{1} << 30;

std::size_t odd_rows(const std::vector<CsvRow>& rows) {
  return static_cast<std::size_t>(std::count_if(
      rows.begin(), rows.end(), [&](const CsvRow& row) { return row.size() != rows[0].size(); }));
}

template <typename Number>
bool is_number(std::string_view text) {
  Number number{};
  return !text.empty() && parse_by_library(text.data(), text.size(), number);
}

bool is_bool(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = static_cast<char>(c | 0x20);
  return lower == "true" || lower == "false";
}

bool is_header(const CsvRow& row) {
  std::set<std::string_view> names;
  for (const CsvField& field : row) {
    if (field.text.empty() || is_number<double>(field.text)) return false;
    if (!names.insert(field.text).second) return false;
  }
  return true;
}

// The narrowest kind of all that a column has.
class ColumnKind {
 public:
  void add(const CsvField& field) {
    if (field.text.empty() && !field.quoted) {
      optional_ = true;
      return;
    }
    any_ = true;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      possible_[i] = possible_[i] && fits(kinds[i], field.text);
    }
  }
  ValueKind kind() const {
    std::size_t i = 0;
    while (any_ && !possible_[i]) ++i;
    return any_ ? kinds[i] : ValueKind::string;
  }
  bool optional() const { return optional_; }

 private:
  static constexpr std::array kinds{ValueKind::boolean, ValueKind::i64, ValueKind::u64,
                                    ValueKind::f64, ValueKind::string};
  static bool fits(ValueKind kind, std::string_view text) {
    switch (kind) {
      case ValueKind::boolean: return is_bool(text);
      case ValueKind::i64: return is_number<std::int64_t>(text);
      case ValueKind::u64: return is_number<std::uint64_t>(text);
      case ValueKind::f64: return is_number<double>(text);
      default: return true;
    }
  }

  std::array<bool, kinds.size()> possible_{true, true, true, true, true};
  bool any_ = false;
  bool optional_ = false;
};

std::string cpp_type(const InferredColumn& column) {
  const std::string type(cpp_type_of(column.kind));
  return column.optional ? "std::optional<" + type + ">" : type;
}

}  // namespace

Result<InferredCsv> infer_csv(std::string_view text, bool whole) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (text.size() > largest_sample_bytes) {
    text = text.substr(0, largest_sample_bytes);
    whole = false;
  }
  InferredCsv found;
  std::vector<CsvRow> rows;
  double best = -1;
  for (const char separator : {',', ';', '\t', '|'}) {
    std::vector<CsvRow> by_this = rows_of(text, whole, separator);
    if (by_this.empty()) continue;
    const double even =
        1 - static_cast<double>(odd_rows(by_this)) / static_cast<double>(by_this.size());
    // One column is what every wrong separator finds.
    const double score = by_this[0].size() > 1 ? 1 + even : even;
    if (score <= best) continue;
    best = score;
    rows = std::move(by_this);
    found.options.separator = separator;
  }
  if (rows.empty()) {
    return Status(ErrorCode::invalid_argument, "there is no whole row to infer a record from");
  }
  found.odd_rows = odd_rows(rows);
  found.options.header = is_header(rows[0]);
  const std::size_t first = found.options.header ? 1 : 0;
  found.rows = rows.size() - first;
  std::vector<ColumnKind> kinds(rows[0].size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const CsvField& field : rows[i]) {
      if (!field.quoted || field.text.find('\n') == std::string_view::npos) continue;
      found.options.line_breaks = CsvOptions::LineBreaks::quoted;
    }
    if (i < first || rows[i].size() != kinds.size()) continue;
    for (std::size_t column = 0; column < kinds.size(); ++column)
      kinds[column].add(rows[i][column]);
  }
  std::set<std::string> taken;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    std::string name;
    if (found.options.header) {
      const std::size_t size = unquoted_size(rows[0][i].text, quote);
      name = rows[0][i].text;
      if (rows[0][i].quoted && size != std::string_view::npos) {
        name.assign(size, ' ');
        unquote(rows[0][i].text, quote, name.data());
      }
    }
    std::string field = cpp_name(name, "column" + std::to_string(i + 1), taken);
    found.columns.push_back(
        {std::move(name), std::move(field), kinds[i].kind(), kinds[i].optional()});
  }
  return found;
}

std::string to_cpp(const InferredCsv& found, std::string_view record, std::string_view path) {
  const auto rows = [](std::size_t count) {
    return std::to_string(count) + (count == 1 ? " row" : " rows");
  };
  std::string text = "// Of " + rows(found.rows) + " of " + std::string(path);
  if (found.odd_rows > 0) {
    text += "; " + rows(found.odd_rows) + " of another number of fields are bad records";
  }
  text += ".\n";
  std::vector<CppField> fields;
  for (const InferredColumn& column : found.columns) {
    const bool has_value = !column.optional && column.kind != ValueKind::string;
    const char* const value = column.kind == ValueKind::boolean ? "false" : "0";
    fields.push_back({cpp_type(column), column.field, has_value ? value : "",
                      found.options.header ? column.column : column.field});
  }
  text += cpp_struct(record, fields);
  std::vector<std::string> options;
  if (!found.options.header) options.emplace_back(".header = false");
  if (found.options.separator != ',') {
    options.push_back(std::string(".separator = ") +
                      (found.options.separator == '\t'
                           ? "'\\t'"
                           : std::string("'") + found.options.separator + "'"));
  }
  if (found.options.line_breaks == CsvOptions::LineBreaks::quoted) {
    options.emplace_back(".line_breaks = hummer::formats::CsvOptions::LineBreaks::quoted");
  }
  text += "// hummer::formats::from_csv<" + std::string(record) + ">(env, " + quoted_in_cpp(path);
  for (const std::string& option : options) {
    text += (&option == &options.front() ? ", {" : ", ") + option;
  }
  return text + (options.empty() ? ");\n" : "});\n");
}

}  // namespace hummer::formats
