// What tests and fuzz targets of decoders share: all records of a text, and where bad ones were.
//
// Fields: three texts, so that every row of three fields is a record. What a decoder has made is
// compared with what a plain reading of the same text has, byte by byte.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/csv.hpp>

namespace hummer::formats {

struct ThreeTexts {
  std::string_view a;
  std::string_view b;
  std::string c;
};

struct DecodedText {
  std::vector<std::string> records;  // "a|b|c"
  std::vector<std::size_t> bad;      // where they begin
  bool failed = false;               // at the end of it

  friend bool operator==(const DecodedText&, const DecodedText&) = default;
};

// `as_block`: else as a message.
template <typename T, typename Show>
DecodedText decode_all(Decoder& decoder, const std::string& text, std::size_t limit, bool as_block,
                       const Show& show) {
  // With what may be read behind a block, and no byte more.
  const auto copy = std::make_unique<char[]>(text.size() + (as_block ? read_slack_bytes : 0));
  std::copy(text.begin(), text.end(), copy.get());
  const TextBlock block{copy.get(), text.size(), 0, nullptr};
  DecodedText all;
  std::size_t at = 0;
  if (as_block && !decoder.begin(block, at).ok()) {
    all.failed = true;
    return all;
  }
  Batch batch(type_of<T>(), static_cast<std::uint32_t>(limit));
  while (true) {
    batch.clear();
    const std::size_t before = at;
    const Decoder::Outcome outcome = decoder.decode(block.view(), at, batch, limit);
    for (const T& record : batch.values<T>()) all.records.push_back(show(record));
    if (at < before || at > text.size() || batch.size() > limit) std::abort();
    if (outcome == Decoder::Outcome::done) {
      if (at != text.size()) std::abort();
      return all;
    }
    if (outcome == Decoder::Outcome::failed) {
      all.failed = true;
      return all;
    }
    if (outcome == Decoder::Outcome::bad_record) {
      if (decoder.why().empty()) std::abort();
      all.bad.push_back(at);
      if (text.empty()) return all;  // a message of nothing, which may be a bad one
      const std::size_t bad_at = at;
      (void)decoder.skip_record(block.view(), at);
      // One of several in a part of a file may be passed over inside of it.
      if (decoder.has_lines() ? at <= bad_at : at < bad_at) std::abort();
      if (at > text.size()) std::abort();
    } else if (batch.size() != limit) {
      std::abort();
    }
  }
}

inline std::string show_texts(const ThreeTexts& record) {
  return std::string(record.a) + "|" + std::string(record.b) + "|" + record.c;
}

// The same by the rules alone: a byte at a time. For options without header and columns.
inline DecodedText read_plainly(const std::string& text, const CsvOptions& options) {
  DecodedText all;
  const char quote = options.quote;
  const bool one_line = options.line_breaks != CsvOptions::LineBreaks::quoted;
  for (std::size_t at = text.starts_with("\xef\xbb\xbf") ? 3 : 0; at < text.size();) {
    const std::size_t begin = at;
    std::vector<std::string> fields(1);
    bool inside = false;
    bool ended = false;
    while (at < text.size() && !ended) {
      const char c = text[at++];
      if (quote != 0 && c == quote) inside = !inside;
      if (c == '\n' && (!inside || one_line)) {
        ended = true;
      } else if (c == options.separator && !inside) {
        fields.emplace_back();
      } else {
        fields.back() += c;
      }
    }
    if (inside) {
      all.bad.push_back(begin);
      if (options.line_breaks == CsvOptions::LineBreaks::refused) {
        all.failed = true;
        all.bad.pop_back();
        return all;
      }
      continue;
    }
    if (fields.back().ends_with('\r')) fields.back().pop_back();
    if (fields.size() == 1 && fields[0].empty()) continue;
    bool good = fields.size() == 3;
    for (std::string& field : fields) {
      if (quote == 0 || field.find(quote) == std::string::npos) continue;
      if (field.size() < 2 || field.front() != quote || field.back() != quote) {
        good = false;
        continue;
      }
      std::string plain;
      for (std::size_t i = 1; i + 1 < field.size(); ++i) {
        if (field[i] == quote && (++i + 1 >= field.size() || field[i] != quote)) {
          good = false;
          break;
        }
        plain += field[i];
      }
      field = plain;
    }
    if (good) {
      all.records.push_back(fields[0] + "|" + fields[1] + "|" + fields[2]);
    } else {
      all.bad.push_back(begin);
    }
  }
  return all;
}

// Options and text out of one string: what a fuzz target is given.
inline CsvOptions csv_options_of(std::uint8_t drawn) {
  using LineBreaks = CsvOptions::LineBreaks;
  CsvOptions options{.header = false};
  if ((drawn & 1) != 0) options.separator = ';';
  if ((drawn & 2) != 0) options.quote = '\'';
  if ((drawn & 4) != 0) options.quote = 0;
  options.line_breaks = (drawn & 8) != 0    ? LineBreaks::quoted
                        : (drawn & 16) != 0 ? LineBreaks::never
                                            : LineBreaks::refused;
  return options;
}

}  // namespace hummer::formats
