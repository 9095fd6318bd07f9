#include "csv_decoder.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "csv_text.hpp"
#include "field_text.hpp"

namespace hummer::formats {
namespace {

constexpr std::size_t usual_chunk_bytes = 16 << 10;
constexpr std::size_t largest_text_bytes = UINT32_MAX - 64;
// The border before the first field: the field begins behind it, at 0.
constexpr std::uint32_t before_first = UINT32_MAX;
constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

CsvMarks marks_of(const CsvOptions& options) {
  return {.separator = options.separator,
          .quote = options.quote == 0 ? '\n' : options.quote,
          .one_line = options.line_breaks != CsvOptions::LineBreaks::quoted};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// put(text, size, field) of each row's field; false, as soon as it is.
template <typename Put>
bool for_each_field(const CsvFields& column, const Put& put) {
  const std::uint32_t* border = column.border;
  char* field = column.field;
  for (std::size_t row = 0; row < column.rows; ++row) {
    const std::uint32_t begin = border[-1] + 1;
    std::uint32_t end = *border;
    if (column.is_last && end > begin && column.text[end - 1] == '\r') --end;
    if (!put(column.text + begin, end - begin, field)) [[unlikely]]
      return false;
    border += column.step;
    field += column.stride;
  }
  return true;
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::size_t most = 60;
  std::string safe = "'";
  for (const char c : text.substr(0, most)) {
    safe += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? '?' : c;
  }
  return safe + (text.size() > most ? "'…" : "'");
}

CsvDecoder::CsvDecoder(const RecordShape& shape, const CsvOptions& options)
    : shape_(shape),
      options_(options),
      times_(shape, options.times),
      marks_(marks_of(options)),
      index_(csv_indexer()),
      numbers_(csv_number_readers()) {
  reserve(usual_chunk_bytes);
  if (options_.header) return;
  bound_ = true;
  if (!options_.columns.empty()) {
    (void)bind(options_.columns, "");  // checked as the job was made
    return;
  }
  for (std::size_t i = 0; i < shape.fields.size(); ++i) columns_.push_back(column_of(i));
}

void CsvDecoder::reserve(std::size_t chunk_bytes) {
  room_ = chunk_bytes;
  positions_ = std::make_unique<std::uint32_t[]>(chunk_bytes + 129);
  quotes_ = std::make_unique<std::uint64_t[]>(chunk_bytes / 64 + 1);
  positions_[0] = before_first;
  found_.positions = positions_.get() + 1;
  found_.quotes = quotes_.get();
}

// ---- the head ----

CsvDecoder::Column CsvDecoder::column_of(std::size_t field) const {
  const FieldShape& shape = shape_.fields[field];
  const bool optional = shape.value.kind == ValueKind::optional;
  const TimeForm* const form = times_.of(field);
  const ValueKind kind = optional ? shape.value.element->kind : shape.value.kind;
  return {.kind = form != nullptr ? Column::time : kind,
          .optional = optional,
          .offset = static_cast<std::uint32_t>(shape.offset),
          .value = &shape.value,
          .form = form,
          .name = shape.name};
}

Status CsvDecoder::bind(const std::vector<std::string>& names, const std::string& origin) {
  const std::string where = origin.empty() ? "csv: " : "'" + origin + "': ";
  columns_.assign(names.size(), Column());
  std::vector<bool> found(shape_.fields.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::size_t field = shape_.find(names[i]);
    if (field == shape_.fields.size()) {
      if (!options_.refuse_unknown_columns) continue;
      return {ErrorCode::invalid_argument, where + "column " + shown(names[i]) +
                                               " is no field of " + std::string(shape_.name) +
                                               ": add it, or unset refuse_unknown_columns"};
    }
    if (found[field]) {
      return {ErrorCode::invalid_argument,
              where + "column " + shown(names[i]) + " comes twice: name each once"};
    }
    found[field] = true;
    columns_[i] = column_of(field);
  }
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] || shape_.fields[i].value.may_be_missing()) continue;
    return {ErrorCode::invalid_argument,
            where + "no column '" + std::string(shape_.fields[i].name) + "', which " +
                std::string(shape_.name) + " needs; there are: " + joined(names) +
                " (a field that may be missing is a std::optional; hummer/formats/field_names.hpp "
                "says how columns of other names are bound)"};
  }
  return {};
}

Status CsvDecoder::begin(const TextBlock& block, std::size_t& at) {
  if (block.size > largest_text_bytes) {
    return {ErrorCode::limit_exceeded, "csv: a block of " + std::to_string(block.size) +
                                           " bytes: make block_size_bytes less than 4 GiB"};
  }
  const std::string origin = block.origin != nullptr ? *block.origin : "";
  if (block.offset != 0) {
    if (!options_.header || (bound_ && origin == origin_)) return {};
    return {ErrorCode::invalid_argument,
            "'" + origin +
                "': the header of this part of the file was not seen here: read it by from_csv, or "
                "with csv_file(options), and leave the decoder the parallelism of its source"};
  }
  if (block.view().starts_with(byte_order_mark)) at += byte_order_mark.size();
  if (!options_.header || at == block.size) return {};
  std::string_view line = block.view().substr(at, block.view().find('\n', at) - at);
  at = std::min(at + line.size() + 1, block.size);
  if (line.ends_with('\r')) line.remove_suffix(1);
  std::vector<std::string> names;
  std::vector<std::uint32_t> borders(line.size() + 64);
  std::vector<std::uint64_t> quotes(line.size() / 64 + 1);
  CsvIndex found{.positions = borders.data(), .quotes = quotes.data()};
  index_(line.data(), line.size(), marks_, found);
  if (found.open) {
    return {ErrorCode::invalid_argument,
            "'" + origin +
                "': a quote of the header is open at the end of the first line, which "
                "must have all of it: is the option quote right?"};
  }
  borders[found.count] = static_cast<std::uint32_t>(line.size());
  std::size_t from = 0;
  for (std::size_t i = 0; i <= found.count; ++i) {
    const std::string_view field = line.substr(from, borders[i] - from);
    from = borders[i] + 1;
    if (options_.quote == 0 || !field.starts_with(options_.quote)) {
      names.emplace_back(field);
      continue;
    }
    const std::string_view inner = field.substr(1, field.size() - 2);
    const std::size_t size = field.size() < 2 || !field.ends_with(options_.quote)
                                 ? std::string_view::npos
                                 : unquoted_size(inner, options_.quote);
    if (size == std::string_view::npos) {
      return {ErrorCode::invalid_argument,
              "'" + origin + "': the header's " + shown(field) + " is no field in quotes"};
    }
    std::string name(size, ' ');
    unquote(inner, options_.quote, name.data());
    names.push_back(std::move(name));
  }
  HUMMER_TRY(bind(names, origin));
  bound_ = true;
  origin_ = origin;
  return {};
}

// ---- rows ----

Decoder::Outcome CsvDecoder::decode(std::string_view text, std::size_t& at, Batch& batch,
                                    std::size_t limit) {
  batch.reserve(static_cast<std::uint32_t>(limit));
  const std::size_t stride = shape_.size_bytes;
  while (at < text.size()) {
    std::size_t made = batch.size();
    if (made >= limit) return Outcome::full;
    const std::size_t size = std::min(text.size() - at, room_);
    const bool is_last = at + size == text.size();
    index_(text.data() + at, size, marks_, found_);
    const std::uint32_t* last_border = nullptr;  // which is the end of the text, and no line end
    bool unclosed = found_.broken;
    if (is_last && !found_.broken && text.back() != '\n') {
      last_border = found_.positions + found_.count;
      found_.positions[found_.count++] = static_cast<std::uint32_t>(size);
      ++found_.rows;
      unclosed = found_.open;
    } else if (is_last && found_.open) {
      last_border = found_.positions + found_.count;
      found_.positions[found_.count++] = static_cast<std::uint32_t>(size);
      ++found_.rows;
      unclosed = true;
    }
    if (found_.rows == 0) {
      reserve(std::min(room_ * 2, largest_text_bytes));
      continue;
    }
    const std::size_t rows = std::min(found_.rows, limit - made);
    char* const records = static_cast<char*>(batch.raw_mutable_values());
    const std::size_t constructed = made + rows;
    shape_.construct(records + made * stride, rows);
    // All rows but one that ends where it should not.
    const std::size_t sound = found_.rows - (unclosed ? 1 : 0);
    const Chunk chunk{text.data() + at, at, batch};
    const std::uint32_t* border = found_.positions;
    std::uint32_t begin = 0;
    bool good = true;
    std::size_t row = 0;
    if (!unclosed && last_border == nullptr && by_columns_ && has_plain_rows(chunk)) {
      by_columns_ = put_columns(chunk, records + made * stride, rows);
      if (by_columns_) {
        row = rows;
        made += rows;
        border += rows * columns_.size();
        begin = border[-1] + 1;
      }
    } else {
      by_columns_ = true;
    }
    for (; row < std::min(sound, rows); ++row) {
      const char first = chunk.text[begin];
      if (first == '\n' || (first == '\r' && begin + 1 == *border &&
                            (border == last_border || chunk.text[*border] == '\n'))) [[unlikely]] {
        begin = *border + 1;  // an empty line
        ++border;
        continue;
      }
      good = put_row(chunk, records + made * stride, begin, border, last_border);
      if (!good) break;
      ++made;
      // Behind the row: its borders are as many as it has columns.
      border += columns_.size();
      begin = border[-1] + 1;
    }
    shape_.destroy(records + made * stride, constructed - made);
    batch.set_size(made);
    at += std::min<std::size_t>(begin, size);
    if (!good) return Outcome::bad_record;
    if (unclosed && rows == found_.rows) {
      why_ = options_.line_breaks == CsvOptions::LineBreaks::quoted
                 ? "a quote is open at the end of the input"
                 : "a quote is open at the end of the line";
      if (options_.line_breaks != CsvOptions::LineBreaks::refused) return Outcome::bad_record;
      why_ +=
          ": where texts have line ends, set CsvOptions::line_breaks to quoted; where they have "
          "none, to never, and the line is a bad record";
      return Outcome::failed;
    }
  }
  // A huge row must not hold its memory for good.
  if (room_ > 64 * usual_chunk_bytes) reserve(usual_chunk_bytes);
  return Outcome::done;
}

// Whether each row has as many borders as there are columns, and no field a quote.
bool CsvDecoder::has_plain_rows(const Chunk& chunk) const {
  const std::size_t count = columns_.size();
  // A row of one column may be an empty line, which is none.
  if (count < 2 || found_.has_quotes || found_.count < found_.rows * count) return false;
  // There are as many line ends as rows, so where each row's last border is one, no other is.
  // Behind them are borders of a row that the chunk has only the beginning of.
  const std::uint32_t* const end = found_.positions + found_.rows * count;
  for (const std::uint32_t* last = found_.positions + count - 1; last < end; last += count) {
    if (chunk.text[*last] != '\n') return false;
  }
  return true;
}

bool CsvDecoder::put_columns(const Chunk& chunk, char* records, std::size_t rows) {
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    if (!put_column(chunk, i, records, rows)) return false;
  }
  return true;
}

bool CsvDecoder::put_column(const Chunk& chunk, std::size_t index, char* records,
                            std::size_t rows) {
  const Column& column = columns_[index];
  if (column.kind == Column::skipped) return true;
  const CsvFields fields{.text = chunk.text,
                         .border = found_.positions + index,
                         .step = columns_.size(),
                         .rows = rows,
                         .field = records + column.offset,
                         .stride = shape_.size_bytes,
                         .is_last = index + 1 == columns_.size()};
  if (!column.optional) {
    switch (column.kind) {
      case ValueKind::f64: return put_numbers<ValueKind::f64>(chunk, fields, numbers_.f64);
      case ValueKind::i64: return put_numbers<ValueKind::i64>(chunk, fields, numbers_.i64);
      case ValueKind::i32: return put_numbers<ValueKind::i32>(chunk, fields, numbers_.i32);
      case ValueKind::u64: return put_numbers<ValueKind::u64>(chunk, fields, numbers_.u64);
      case ValueKind::u32: return put_numbers<ValueKind::u32>(chunk, fields, numbers_.u32);
      case ValueKind::view:
        return for_each_field(fields, [](const char* text, std::size_t size, char* field) {
          const std::string_view view(text, size);
          std::memcpy(field, &view, sizeof view);
          return true;
        });
      default: break;
    }
  }
  return for_each_field(fields, [&](const char* text, std::size_t size, char* field) {
    const auto begin = static_cast<std::uint32_t>(text - chunk.text);
    return put(chunk, column, field - column.offset, begin,
               begin + static_cast<std::uint32_t>(size));
  });
}

template <ValueKind kind>
bool CsvDecoder::put_numbers(const Chunk& chunk, CsvFields column, CsvNumberReader read) const {
  const auto go_on_behind = [&](std::size_t rows) {
    column.border += rows * column.step;
    column.field += rows * column.stride;
    column.rows -= rows;
  };
  const auto put_first = [&](std::size_t rows) {
    CsvFields first = column;
    first.rows = rows;
    go_on_behind(rows);
    return for_each_field(first, [&](const char* text, std::size_t size, char* field) {
      const auto end = static_cast<std::size_t>(text - chunk.text) + size;
      return put_scalar(kind, text, size, chunk.readable + end, field);
    });
  };
  while (column.rows > 0 && chunk.readable + *column.border < number_bytes) {
    if (!put_first(1)) return false;
  }
  // Eight at once; where they are of another form than it reads, one after the other.
  for (int in_vain = 0; read != nullptr && column.rows >= csv_numbers_at_once && in_vain < 2;) {
    const std::size_t done = read(column);
    in_vain = done == 0 ? in_vain + 1 : 0;
    go_on_behind(done);
    if (column.rows >= csv_numbers_at_once && !put_first(csv_numbers_at_once)) return false;
  }
  return put_first(column.rows);
}

inline bool CsvDecoder::put_row(const Chunk& chunk, char* record, std::uint32_t begin,
                                const std::uint32_t* border, const std::uint32_t* last_border) {
  const std::size_t count = columns_.size();
  const Column* const columns = columns_.data();
  const auto ends_row = [&](const std::uint32_t* at) {
    return at == last_border || chunk.text[*at] == '\n';
  };
  for (std::size_t i = 0; i + 1 < count; ++i, ++border) {
    const std::uint32_t end = *border;
    if (ends_row(border)) [[unlikely]]
      return wrong_count(i + 1);
    if (!put(chunk, columns[i], record, begin, end)) [[unlikely]]
      return false;
    begin = end + 1;
  }
  if (!ends_row(border)) [[unlikely]] {
    std::size_t more = count;
    while (!ends_row(border)) ++border, ++more;
    return wrong_count(more);
  }
  std::uint32_t end = *border;
  if (end > begin && chunk.text[end - 1] == '\r') --end;
  return put(chunk, columns[count - 1], record, begin, end);
}

inline bool CsvDecoder::put(const Chunk& chunk, const Column& column, char* record,
                            std::uint32_t begin, std::uint32_t end) {
  if (column.kind == Column::skipped) return true;
  char* field = record + column.offset;
  if (found_.has_quotes && any_quote(begin, end)) [[unlikely]] {
    return put_quoted(chunk, column, field, begin, end);
  }
  if (!column.optional) [[likely]] {
    return put_plain(chunk, column, column.kind, field, begin, end);
  }
  const std::string_view text(chunk.text + begin, end - begin);
  if (text.empty() || text == options_.null_text) return true;
  return put_plain(chunk, column, column.kind, column.value->add(field), begin, end);
}

[[gnu::always_inline]] inline bool CsvDecoder::put_plain(const Chunk& chunk, const Column& column,
                                                         ValueKind kind, void* field,
                                                         std::uint32_t begin, std::uint32_t end) {
  const char* const text = chunk.text + begin;
  const std::size_t size = end - begin;
  const std::size_t readable = chunk.readable + end;
  if (put_scalar(kind, text, size, readable, field)) [[likely]]
    return true;
  if (kind == Column::time &&
      column.form->parse({text, size}, *static_cast<std::int64_t*>(field))) {
    return true;
  }
  return not_a_value(column, {text, size});
}

bool CsvDecoder::any_quote(std::uint32_t begin, std::uint32_t end) const {
  if (begin == end) return false;
  const std::uint32_t first = begin / 64;
  const std::uint32_t last = (end - 1) / 64;
  const std::uint64_t from = ~std::uint64_t{0} << (begin % 64);
  const std::uint64_t to = ~std::uint64_t{0} >> (63 - (end - 1) % 64);
  if (first == last) return (quotes_[first] & from & to) != 0;
  bool any = (quotes_[first] & from) != 0 || (quotes_[last] & to) != 0;
  for (std::uint32_t i = first + 1; i < last && !any; ++i) any = quotes_[i] != 0;
  return any;
}

bool CsvDecoder::put_quoted(const Chunk& chunk, const Column& column, char* field,
                            std::uint32_t begin, std::uint32_t end) {
  const char quote = options_.quote;
  const std::string_view text(chunk.text + begin, end - begin);
  if (text.front() != quote) {
    why_ = "column '" + std::string(column.name) + "': " + shown(text) +
           " has a quote and does not begin with one: quote the field and double the quote in it";
    return false;
  }
  const std::string_view inner = text.substr(1, text.size() - 2);
  const bool closed = text.size() >= 2 && text.back() == quote;
  const std::size_t size = closed ? unquoted_size(inner, quote) : std::string_view::npos;
  if (size == std::string_view::npos) {
    why_ = "column '" + std::string(column.name) + "': " + shown(text) +
           " goes on behind its closing quote: double the quotes in it";
    return false;
  }
  void* const target = column.optional ? column.value->add(field) : field;
  if (size == inner.size()) {
    return put_plain(chunk, column, column.kind, target, begin + 1, end - 1);
  }
  if (column.kind == ValueKind::string) {
    auto& owned = *static_cast<std::string*>(target);
    owned.resize(size);
    unquote(inner, quote, owned.data());
    return true;
  }
  if (column.kind != ValueKind::view) return not_a_value(column, text);
  char* const made = chunk.batch.allocate_text(size);
  unquote(inner, quote, made);
  *static_cast<std::string_view*>(target) = {made, size};
  return true;
}

bool CsvDecoder::not_a_value(const Column& column, std::string_view text) {
  const std::string_view kind =
      column.kind == Column::time ? "a time of the form in `times`" : describe(column.kind);
  why_ = "column '" + std::string(column.name) + "': ";
  if (text.empty()) {
    why_ += "it is empty, and not " + std::string(kind) +
            " (a field that may be empty is a std::optional)";
  } else {
    why_ += shown(text) + " is not " + std::string(kind) +
            (column.kind == Column::time ? "" : " that it can hold");
  }
  return false;
}

bool CsvDecoder::wrong_count(std::size_t fields) {
  why_ = std::to_string(fields) + (fields == 1 ? " field" : " fields") + ", and the " +
         (options_.header ? "header" : "record") + " has " + std::to_string(columns_.size());
  return false;
}

std::size_t CsvDecoder::end_of_record(std::string_view text, std::size_t at) const {
  const auto behind = [&](std::size_t end) {
    return end == std::string_view::npos ? text.size() : end + 1;
  };
  // Empty lines are no record.
  while (at < text.size() && (text[at] == '\n' || text.substr(at, 2) == "\r\n")) {
    at = behind(text.find('\n', at));
  }
  if (marks_.one_line || options_.quote == 0) return behind(text.find('\n', at));
  bool inside = false;
  for (; at < text.size(); ++at) {
    if (text[at] == options_.quote) inside = !inside;
    if (text[at] == '\n' && !inside) break;
  }
  return std::min(at + 1, text.size());
}

}  // namespace hummer::formats
