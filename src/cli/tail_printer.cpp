#include "cli/tail_printer.hpp"

#include <fmt/format.h>
#include <utility>

#include "base/json_writer.hpp"

namespace hummer {
namespace {

// Line ends in texts are escaped, so those that there are stand between members.
std::string without_line_ends(const std::string& document) {
  std::string line;
  for (std::size_t at = 0; at < document.size();) {
    const std::size_t end = std::min(document.find('\n', at), document.size());
    const std::size_t begin = std::min(document.find_first_not_of(' ', at), end);
    line.append(document, begin, end - begin);
    at = end + 1;
  }
  return line + "\n";
}

}  // namespace

Status TailPrinter::begin(const std::string& source, std::string_view first_bytes, bool named) {
  flush();
  source_ = source;
  JsonWriter head;
  head.begin_object();
  head.field("source", source_);
  head.end_object();
  record_head_ = without_line_ends(std::move(head).finish());
  record_head_.resize(record_head_.rfind('}'));
  record_head_ += ",\"row\": ";
  if (named && !json_) say(fmt::format("==> {} <==\n", source));
  if (reader_ == nullptr || first_bytes.empty()) return {};
  return reader_->begin(first_bytes);
}

void TailPrinter::line(std::string_view text, bool is_first) {
  if (closed_) return;
  if (text.ends_with('\r')) text.remove_suffix(1);
  if (reader_ == nullptr) {
    json_ ? say_object(text, nullptr) : say(fmt::format("{}\n", text));
    return;
  }
  if (text.empty() || (is_first && reader_->has_header())) return;
  const Result<std::vector<std::string>> cells = reader_->cells(text);
  if (!cells.ok()) {
    ++bad_lines_;
    (void)platform_.write_standard(2, fmt::format("hummer tail: {}: a bad line, {}: {}\n", source_,
                                                  cells.status().message(), text.substr(0, 200)));
    return;
  }
  if (json_) {
    say_object(text, &*cells);
  } else if (reader_->columns().empty()) {
    say(fmt::format("{}\n", text));
  } else {
    if (!table_) table_.emplace(reader_->columns());
    table_->add(*cells);
  }
}

void TailPrinter::record(std::string_view json) {
  if (json_) records_ += record_head_;
  records_ += json;
  records_ += json_ ? "}\n" : "\n";
  constexpr std::size_t said_together = 64 << 10;
  if (records_.size() >= said_together) flush();
}

void TailPrinter::bad(std::string_view why) {
  flush();
  ++bad_lines_;
  (void)platform_.write_standard(2, fmt::format("hummer tail: {}: {}\n", source_, why));
}

void TailPrinter::flush() {
  if (!records_.empty()) say(std::exchange(records_, {}));
  if (!table_) return;
  const std::string text = table_->text(platform_.is_terminal(1));
  table_.reset();
  say(text);
}

void TailPrinter::say(std::string_view text) {
  closed_ = closed_ || !platform_.write_standard(1, text).ok();
}

void TailPrinter::say_object(std::string_view text, const std::vector<std::string>* cells) {
  JsonWriter json;
  json.begin_object();
  json.field("source", source_);
  if (cells == nullptr || reader_->columns().empty()) {
    json.field("line", text);
  } else {
    json.begin_object("row");
    for (std::size_t i = 0; i < cells->size(); ++i) json.field(reader_->columns()[i], (*cells)[i]);
    json.end_object();
  }
  json.end_object();
  say(without_line_ends(std::move(json).finish()));
}

}  // namespace hummer
