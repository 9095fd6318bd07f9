// JsonDecoder: lines to records, on the contract of hummer/formats/format.hpp; made by json().
//
// Two ways to the same records. Of a block many lines are read at once (json_lines.hpp). A line
// that this way does not take, whatever it is, goes the other way: by itself, through simdjson's
// iterators, where what one line has can't change what the next one means. Where quotes or bytes of
// a text are such that it can't be taken apart into lines at all, its lines go that way for a
// while.
//
// simdjson reads up to 64 bytes behind what it is given. A block has them (hummer/text.hpp); a
// message may not, and neither has a line of it: what ends nearer to the end is copied to where
// there is room, and views into the copy are turned into views into the message.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <simdjson.h>

#include <hummer/formats/json.hpp>

#include "json_lines.hpp"
#include "record_run.hpp"
#include "time_form.hpp"

namespace hummer::formats {

class JsonDecoder final : public Decoder {
 public:
  static constexpr std::size_t largest_record_fields = 256;

  JsonDecoder(const RecordShape& shape, const JsonOptions& options);

  Status begin(const TextBlock&, std::size_t&) override {
    is_block_ = true;
    return {};
  }
  Outcome decode(std::string_view text, std::size_t& at, Batch& batch, std::size_t limit) override;
  std::size_t end_of_record(std::string_view text, std::size_t at) const override;

 private:
  using Value = simdjson::ondemand::value;

  // Many lines, from `at` on, which moves; false: to one that is a bad record.
  bool put_lines(std::string_view text, std::size_t& at, RecordRun& run);
  bool put_line(std::string_view line, std::size_t readable, char* record);
  bool put_object(const RecordShape& shape, simdjson::ondemand::object& object, char* record);
  bool put(const FieldShape& field, const ValueShape& shape, Value& value, void* to);
  bool put_text(const FieldShape& field, const ValueShape& shape, Value& value, void* to);
  // Plain digits, by their length; false: for simdjson to say what it is. The value is passed over.
  template <typename Number>
  bool put_digits(Value& value, void* to) const;
  template <typename Integer>
  bool put_integer(const FieldShape& field, const ValueShape& shape, Value& value, void* to);
  bool put_list(const FieldShape& field, const ValueShape& shape, Value& value, void* to);
  bool put_time(const FieldShape& field, const TimeForm& form, Value& value, void* to);
  bool missing(const RecordShape& shape, const std::uint64_t* seen);
  bool bad(const FieldShape& field, const ValueShape& shape, simdjson::error_code error);
  bool bad_line(simdjson::error_code error);

  const RecordShape& shape_;
  const JsonOptions options_;
  const BoundTimes times_;  // of the record itself
  JsonLines lines_;
  simdjson::ondemand::parser parser_;
  std::string padded_;        // the copy of a line
  std::ptrdiff_t moved_ = 0;  // from the line at hand to where it stands in the buffer
  Batch* batch_ = nullptr;
  const char* text_begin_ = nullptr;  // from here on may be read what is before a token
  bool is_block_ = false;             // read_slack_bytes behind the text may be read
  std::size_t lines_by_line_ = 0;     // still to be read that way
  std::size_t record_bytes_ = 256;    // about, of late
};

}  // namespace hummer::formats
