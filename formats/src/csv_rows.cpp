#include "csv_rows.hpp"

#include <cstdint>
#include <utility>

#include <hummer/formats/look.hpp>

#include "csv_index.hpp"
#include "csv_text.hpp"

namespace hummer::formats {
namespace {

constexpr char quote_looked_for = '"';

bool is_empty_row(const CsvRow& row) {
  return row.size() == 1 && row[0].text.empty() && !row[0].quoted;
}

std::string text_of(const CsvField& field) {
  const std::size_t size = unquoted_size(field.text, quote_looked_for);
  if (!field.quoted || size == std::string_view::npos) return std::string(field.text);
  std::string text(size, ' ');
  unquote(field.text, quote_looked_for, text.data());
  return text;
}

}  // namespace

std::vector<CsvRow> rows_of(std::string_view text, bool whole, char separator) {
  std::vector<std::uint32_t> positions(text.size() + 128);
  std::vector<std::uint64_t> quotes(text.size() / 64 + 1);
  CsvIndex index{.positions = positions.data(), .quotes = quotes.data()};
  const CsvMarks marks{.separator = separator, .quote = quote_looked_for, .one_line = false};
  csv_indexer()(text.data(), text.size(), marks, index);
  positions[index.count] = static_cast<std::uint32_t>(text.size());
  if (whole) ++index.count;
  std::vector<CsvRow> rows;
  CsvRow row;
  std::size_t from = 0;
  for (std::size_t i = 0; i < index.count; ++i) {
    const std::size_t at = positions[i];
    std::string_view field = text.substr(from, at - from);
    from = at + 1;
    const bool ends_row = at == text.size() || text[at] == '\n';
    if (ends_row && field.ends_with('\r')) field.remove_suffix(1);
    const bool quoted = field.size() >= 2 && field.starts_with(quote_looked_for) &&
                        field.ends_with(quote_looked_for);
    row.push_back({quoted ? field.substr(1, field.size() - 2) : field, quoted});
    if (!ends_row) continue;
    if (!is_empty_row(row)) rows.push_back(std::move(row));
    row.clear();
  }
  return rows;
}

Result<CsvLook> CsvLook::at(std::string_view first_bytes) {
  // The last line may be cut, unless it is the only one.
  const bool has_end = first_bytes.find('\n') != std::string_view::npos;
  const Result<InferredCsv> found = infer_csv(first_bytes, !has_end);
  if (!found.ok()) return found.status();
  CsvLook look;
  look.separator_ = found->options.separator;
  look.has_header_ = found->options.header;
  for (const InferredColumn& column : found->columns) {
    look.columns_.push_back(look.has_header_ ? column.column : column.field);
  }
  return look;
}

Result<std::vector<std::string>> CsvLook::cells(std::string_view line) const {
  const std::vector<CsvRow> rows = rows_of(line, true, separator_);
  const std::size_t count = rows.empty() ? 0 : rows[0].size();
  if (rows.size() != 1 || count != columns_.size()) {
    return Status(ErrorCode::invalid_argument, std::to_string(count) + " fields, and there are " +
                                                   std::to_string(columns_.size()) + " columns");
  }
  std::vector<std::string> cells;
  for (const CsvField& field : rows[0]) cells.push_back(text_of(field));
  return cells;
}

}  // namespace hummer::formats
