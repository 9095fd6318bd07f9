// TimeField: how an input writes the times of a field that is a number.
//
//   struct Trade { std::int64_t time = 0; double price = 0; };      // milliseconds since 1970, UTC
//   from_csv<Trade>(env, path, {.times = {{"time", "rfc3339"}}});         // 2026-11-26T11:20:05.5Z
//   from_json<Trade>(env, path, {.times = {{"time", "%d.%m.%Y %H:%M"}}}); // 26.11.2026 11:20
//
// The field is a std::int64_t or a std::optional of it, of the record itself and not of one in it;
// a field of text keeps what is written there. What is not of the form is a bad record.
//
// A form is "rfc3339" (RFC 3339, with "T", "t" or a blank; ISO 8601's common part), "rfc3164"
// (RFC 3164, "Nov 26 11:20:05"), or made of
//
//   %Y  year, 4 digits        %H %M %S  hour, minute, second (60: a leap second)   %%  a %
//   %m  month, 2 digits       %f  a dot or comma and digits, or nothing; thousandths count
//   %b  Jan, Feb, …           %z  +hhmm, +hh:mm, or Z
//   %d  day, 2 digits; %e: the first may be a blank
//
// and of characters that stand for themselves. A form without %z is of `utc_offset_minutes`, one
// without %Y, such as RFC 3164's, of the year that is given: which year it was is not in the input,
// and one that a clock would say would be another one after a restart.
//
// Written, a time is of the same form, in UTC where it has %z, with three digits of %f. Years of
// more than four digits are written, and not read.
//
// Errors: execute() refuses a form that can't be read, and one without month and day, with what to
// change. Cost: some ten nanoseconds per time.
#pragma once

#include <string>
#include <vector>

namespace hummer::formats {

struct TimeField {
  std::string field;
  std::string form;
  int year = 0;                // of a form without %Y
  int utc_offset_minutes = 0;  // of a form without %z: +60 is one hour east
};

using TimeFields = std::vector<TimeField>;

}  // namespace hummer::formats
