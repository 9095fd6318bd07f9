// Patterns: records out of lines of any look, by a regular expression; web servers' and system logs
// among them.
//
//   struct Line { std::string_view level; std::int64_t took = 0; };
//   auto lines =
//       from_pattern<Line>(env, "app.log", pattern(R"((?P<level>\w+) .* (?P<took>\d+) ms)"));
//
//   struct Hit { std::string_view host; std::int64_t time = 0; std::string_view path;
//                std::optional<std::int64_t> size; };
//   auto hits = from_pattern<Hit>(env, "/var/log/nginx/access.log*", combined_log());
//
// A line is a record when the whole of it matches; else it is a bad record. Groups with a name
// (`(?P<name>…)`, of RE2's syntax) go to the fields of that name, converted as CSV's fields are;
// groups that no field has are passed over. A std::optional is empty where its group took no part,
// or is empty, or is `null_text`; any other field must have a group. "\r" ahead of the line's end
// is no part of it. Empty lines are passed over.
//
// Lines of bytes: unless `utf8` is set, a character is a byte, and any byte is one.
//
// Logs, with the groups that they have; fields of these names take them, as text or as numbers:
//
//   common_log       host ident user time method path protocol status size (and request, the three
//                    before it at once); "-" is nothing; time is milliseconds in a std::int64_t
//   combined_log     the same, and referer agent
//   syslog_rfc3164   priority time host tag pid message; without a priority too, as in files. Its
//                    times have no year: it must be said where the field `time` is a number
//   syslog_rfc5424   priority version time host app pid id data message; `data` is the structured
//                    data as it stands there
//
// Patterns are read, not written. Needs RE2 (libre2-dev), with which the library is built where
// that is installed: else the first call of pattern() does not link, and CMake says so.
//
// Errors: execute() refuses an expression that RE2 refuses, or that has no group for a field.
// Cost: RE2's own match with groups, linear in the line whatever the expression; with few groups,
// and where at each character one way alone is open ("one-pass"), several times less than else.
// Nothing is allocated per record but by long std::strings, and by RE2 where it is not one-pass.
#pragma once

#include <memory>
#include <string>

#include <hummer/environment.hpp>
#include <hummer/formats/format.hpp>
#include <hummer/formats/streams.hpp>
#include <hummer/formats/times.hpp>

namespace hummer::formats {

struct PatternOptions {
  std::string null_text = {};  // of an empty std::optional
  bool utf8 = false;
  TimeFields times = {};  // how they are written (hummer/formats/times.hpp)
};

std::shared_ptr<const Format> pattern(std::string expression, PatternOptions options = {});

std::shared_ptr<const Format> common_log();
std::shared_ptr<const Format> combined_log();
std::shared_ptr<const Format> syslog_rfc3164(int year = 0, int utc_offset_minutes = 0);
std::shared_ptr<const Format> syslog_rfc5424();

template <typename T>
DataStream<T> from_pattern(StreamExecutionEnvironment& env, const std::string& path,
                           std::shared_ptr<const Format> pattern,
                           const FileSourceOptions& file = {}) {
  return decode<T>(env.from_file(path, file), std::move(pattern));
}

}  // namespace hummer::formats
