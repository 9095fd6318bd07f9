// JsonLines: many lines of plain JSON to records at once; the quick way of JsonDecoder.
//
//   JsonLines lines(shape, options, times);
//   if (lines.index(text, 0, batch)) {              // whole lines of a block
//     while (!run.full() && !lines.at_end()) {
//       if (!lines.next(run.next())) { … lines.line() …; lines.skip_line(); }
//       run.keep();
//     }
//     at += lines.passed();
//   }
//
// simdjson's first stage finds where the tokens of the whole text begin, and checks that it is
// UTF-8 with quotes in pairs and no control characters inside of them. The objects are then read
// token by token, by shape: no value is looked at twice, and no state is kept for those that nobody
// wants. A line is taken only when it has one whole object, in which all is as the shape says, by
// plain means: of anything else (another kind, a member too few, a surrogate pair, a brace too
// many) nothing is said here, and the line is read by itself (JsonDecoder), which knows what is
// wrong, or that nothing is. As quotes are in pairs and none of them is open at a line's end, the
// lines behind it mean the same whatever it is.
//
// Thread: of its decoder. Errors: none; a line that is not taken is not judged.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <simdjson.h>

#include <hummer/batch.hpp>
#include <hummer/formats/json.hpp>

#include "time_form.hpp"

namespace hummer::formats {

class JsonLines {
 public:
  // `times` outlives it.
  JsonLines(const RecordShape& shape, const JsonOptions& options, const BoundTimes& times)
      : shape_(shape), options_(options), times_(times) {}

  // Texts with escapes are put into `batch`. False: the text as a whole is none that this way can
  // read. REQUIRES: as long as records are taken from it, read_slack_bytes behind the text may be
  // read, and `readable` ones before it.
  bool index(std::string_view text, std::size_t readable, Batch& batch);
  // Whether only blank lines are left.
  bool at_end() const { return at_ == end_; }
  // The record of the next line that is not blank; false: the line can't be told here.
  // REQUIRES: !at_end()
  bool next(char* record);
  // After next(): where its line begins, and the line.
  std::size_t line_begin() const;
  std::string_view line() const { return std::string_view(text_, line_end_).substr(line_begin()); }
  void skip_line();
  // The bytes of the lines taken and skipped; all of them at the end.
  std::size_t passed() const { return at_end() ? size_ : passed_; }

 private:
  static constexpr std::size_t largest_record_fields = 256;

  // Where a token is said, and where the next one is answered; null: the line is not taken. They
  // are handed on by value, so that they stay in registers.
  using Token = const std::uint32_t*;

  Token put_object(const RecordShape& shape, char* record, Token at);
  Token put(const ValueShape& shape, void* to, Token at);
  Token put_other(const ValueShape& shape, void* to, Token at);
  Token put_text(const ValueShape& shape, void* to, Token at);
  Token put_time(const TimeForm& form, const ValueShape& shape, void* to, Token at);
  Token put_list(const ValueShape& shape, void* to, Token at);
  bool put_unescaped(const ValueShape& shape, const char* text, void* to);
  template <typename Number>
  Token put_number(void* to, Token at);
  bool is_word(std::string_view word, Token at) const;
  Token skip_value(Token at) const;

  // Tokens behind the last one are at the text's end, which is no place in a line.
  bool in_line(Token at) const { return *at < line_end_; }

  const RecordShape& shape_;
  const JsonOptions options_;
  const BoundTimes& times_;
  std::unique_ptr<simdjson::internal::dom_parser_implementation> stage_;
  Batch* batch_ = nullptr;
  const char* text_ = nullptr;
  const char* readable_from_ = nullptr;
  std::size_t size_ = 0;
  Token at_ = nullptr;   // of the next line
  Token end_ = nullptr;  // of all
  std::size_t line_end_ = 0;
  std::size_t passed_ = 0;
};

}  // namespace hummer::formats
