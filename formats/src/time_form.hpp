// TimeForm: a form of hummer/formats/times.hpp, ready to be read and written.
//
//   Result<TimeForm> form = TimeForm::of({"time", "rfc3339"});
//   form->parse("2026-11-26T11:20:05Z", ms)
//
// bound_times says which fields of a record have one: what CSV, JSON and patterns ask per field.
//
// Thread: immutable. Errors: invalid_argument, for check(). Cost: a step per part of the form; no
// allocation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <hummer/formats/record_shape.hpp>
#include <hummer/formats/times.hpp>
#include <hummer/status.hpp>

namespace hummer::formats {

class TimeForm {
 public:
  static Result<TimeForm> of(const TimeField& field);

  bool parse(std::string_view text, std::int64_t& milliseconds) const;
  void append(std::int64_t milliseconds, std::string& text) const;

 private:
  struct Part {
    char directive = 0;  // 0: the character itself
    char character = 0;
  };
  struct Fields;

  bool parse_part(Part part, const char*& at, const char* end, Fields& fields) const;

  std::vector<Part> parts_;
  int year_ = 0;
  int utc_offset_minutes_ = 0;
  bool blank_for_t_ = false;  // RFC 3339
};

// Of each field of the record, in their order: null where it is no time. Of a field that is text
// too.
class BoundTimes {
 public:
  static Status check(const RecordShape& shape, const TimeFields& times);
  // REQUIRES: check() was ok.
  BoundTimes(const RecordShape& shape, const TimeFields& times);

  bool any() const { return !forms_.empty(); }
  const TimeForm* of(std::size_t field) const {
    return any() && forms_[field].has_value() ? &*forms_[field] : nullptr;
  }

 private:
  std::vector<std::optional<TimeForm>> forms_;
};

}  // namespace hummer::formats
