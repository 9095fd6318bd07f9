#include "time_form.hpp"

#include <array>
#include <cstddef>

#include "calendar.hpp"

namespace hummer::formats {
namespace {

constexpr std::array<std::string_view, 12> month_names{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
constexpr std::string_view directives = "YmbdeHMSfz%";

bool is_digit_of_time(char c) { return c >= '0' && c <= '9'; }

bool take_digits(const char*& at, const char* end, int count, int& number) {
  if (end - at < count) return false;
  number = 0;
  for (int i = 0; i < count; ++i, ++at) {
    if (!is_digit_of_time(*at)) return false;
    number = number * 10 + (*at - '0');
  }
  return true;
}

int days_of_month(std::int64_t year, int month) {
  constexpr std::array<int, 12> days{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return days[static_cast<std::size_t>(month - 1)] + (month == 2 && leap ? 1 : 0);
}

}  // namespace

struct TimeForm::Fields {
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int milliseconds = 0;
  int offset_minutes = 0;
};

Result<TimeForm> TimeForm::of(const TimeField& field) {
  std::string form = field.form;
  TimeForm made;
  if (form == "rfc3339") {
    form = "%Y-%m-%dT%H:%M:%S%f%z";
    made.blank_for_t_ = true;
  } else if (form == "rfc3164") {
    form = "%b %e %H:%M:%S";
  }
  const auto refused = [&](const std::string& why) {
    return Status(ErrorCode::invalid_argument,
                  "the form '" + field.form + "' of times of '" + field.field + "' " + why);
  };
  std::string given;
  for (std::size_t i = 0; i < form.size(); ++i) {
    if (form[i] != '%') {
      made.parts_.push_back({0, form[i]});
      continue;
    }
    const char directive = ++i < form.size() ? form[i] : ' ';
    if (directives.find(directive) == std::string_view::npos) {
      return refused("has '%" + std::string(1, directive) +
                     "': use %Y %m %b %d %e %H %M %S %f %z %%, \"rfc3339\" or \"rfc3164\"");
    }
    const char kind = directive == 'b' ? 'm' : directive == 'e' ? 'd' : directive;
    if (kind == '%') {
      made.parts_.push_back({0, '%'});
      continue;
    }
    if (given.find(kind) != std::string::npos) {
      return refused("has '%" + std::string(1, directive) + "' twice");
    }
    given += kind;
    made.parts_.push_back({directive, 0});
  }
  const auto has = [&](char kind) { return given.find(kind) != std::string::npos; };
  if (!has('m') || !has('d')) return refused("says no month or no day");
  if (has('Y') == (field.year != 0)) {
    return refused(has('Y') ? "has a year: leave out `year`"
                            : "has no year: say which one, as `year`");
  }
  if (field.year < 0 || field.year > 9999) return refused("is of a year that is none of 1 to 9999");
  if (has('z') && field.utc_offset_minutes != 0) {
    return refused("has an offset: leave out `utc_offset_minutes`");
  }
  if (field.utc_offset_minutes < -1439 || field.utc_offset_minutes > 1439) {
    return refused("is of an offset of a day or more");
  }
  made.year_ = field.year;
  made.utc_offset_minutes_ = field.utc_offset_minutes;
  return made;
}

bool TimeForm::parse(std::string_view text, std::int64_t& milliseconds) const {
  Fields fields{.year = year_, .offset_minutes = utc_offset_minutes_};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (const Part part : parts_) {
    if (!parse_part(part, at, end, fields)) return false;
  }
  if (at != end || fields.month < 1 || fields.month > 12 || fields.hour > 23 ||
      fields.minute > 59 || fields.second > 60) {
    return false;
  }
  if (fields.day < 1 || fields.day > days_of_month(fields.year, fields.month)) return false;
  const std::int64_t minutes =
      (days_from_date(fields.year, fields.month, fields.day) * 24 + fields.hour) * 60 +
      fields.minute - fields.offset_minutes;
  milliseconds = (minutes * 60 + fields.second) * 1000 + fields.milliseconds;
  return true;
}

bool TimeForm::parse_part(Part part, const char*& at, const char* end, Fields& fields) const {
  switch (part.directive) {
    case 'Y': return take_digits(at, end, 4, fields.year);
    case 'm': return take_digits(at, end, 2, fields.month);
    case 'd': return take_digits(at, end, 2, fields.day);
    case 'H': return take_digits(at, end, 2, fields.hour);
    case 'M': return take_digits(at, end, 2, fields.minute);
    case 'S': return take_digits(at, end, 2, fields.second);
    case 'e':
      if (at != end && *at == ' ') return take_digits(++at, end, 1, fields.day);
      return take_digits(at, end, 2, fields.day);
    case 'b': {
      if (end - at < 3) return false;
      const std::string_view name(at, 3);
      std::size_t month = 0;
      while (month < month_names.size() && month_names[month] != name) ++month;
      fields.month = static_cast<int>(month) + 1;
      at += 3;
      return month < month_names.size();
    }
    case 'f': {
      if (at == end || (*at != '.' && *at != ',')) return true;
      const char* const first = ++at;
      int unit = 100;
      for (; at != end && is_digit_of_time(*at); ++at, unit /= 10) {
        fields.milliseconds += (*at - '0') * unit;
      }
      return at != first;
    }
    case 'z': {
      if (at == end) return false;
      const char sign = *at++;
      if (sign == 'Z' || sign == 'z') return true;
      int hours = 0;
      int minutes = 0;
      if ((sign != '+' && sign != '-') || !take_digits(at, end, 2, hours)) return false;
      if (at != end && *at == ':') ++at;
      if (!take_digits(at, end, 2, minutes) || hours > 23 || minutes > 59) return false;
      fields.offset_minutes = (hours * 60 + minutes) * (sign == '-' ? -1 : 1);
      return true;
    }
    default:
      if (at == end) return false;
      if (*at != part.character &&
          !(blank_for_t_ && part.character == 'T' && (*at == 't' || *at == ' '))) {
        return false;
      }
      ++at;
      return true;
  }
}

void TimeForm::append(std::int64_t milliseconds, std::string& text) const {
  constexpr std::int64_t day_ms = 86'400'000;
  milliseconds += std::int64_t{utc_offset_minutes_} * 60'000;
  const std::int64_t days = milliseconds / day_ms - (milliseconds % day_ms < 0 ? 1 : 0);
  const std::int64_t of_day = milliseconds - days * day_ms;
  const Date date = date_from_days(days);
  for (const Part part : parts_) {
    switch (part.directive) {
      case 'Y': append_padded(date.year, 4, text); break;
      case 'm': append_padded(date.month, 2, text); break;
      case 'b': text += month_names[static_cast<std::size_t>(date.month - 1)]; break;
      case 'd': append_padded(date.day, 2, text); break;
      case 'e': append_padded(date.day, 2, text, ' '); break;
      case 'H': append_padded(of_day / 3'600'000, 2, text); break;
      case 'M': append_padded(of_day / 60'000 % 60, 2, text); break;
      case 'S': append_padded(of_day / 1000 % 60, 2, text); break;
      case 'f':
        text += '.';
        append_padded(of_day % 1000, 3, text);
        break;
      case 'z': text += blank_for_t_ ? "Z" : "+0000"; break;
      default: text += part.character;
    }
  }
}

Status BoundTimes::check(const RecordShape& shape, const TimeFields& times) {
  for (const TimeField& time : times) {
    const Result<TimeForm> form = TimeForm::of(time);
    if (!form.ok()) return form.status();
    const std::size_t field = shape.find(time.field);
    const auto refused = [&](const std::string& why) {
      return Status(ErrorCode::invalid_argument,
                    "`times` names '" + time.field + "', which " + why);
    };
    if (field == shape.fields.size()) return refused("is no field of the record");
    const ValueShape& value = shape.fields[field].value;
    const ValueKind kind = value.kind == ValueKind::optional ? value.element->kind : value.kind;
    if (kind != ValueKind::i64 && kind != ValueKind::view && kind != ValueKind::string) {
      return refused("is no std::int64_t (of milliseconds) and no text");
    }
  }
  return {};
}

BoundTimes::BoundTimes(const RecordShape& shape, const TimeFields& times) {
  if (times.empty()) return;
  forms_.resize(shape.fields.size());
  for (const TimeField& time : times) {
    const std::size_t field = shape.find(time.field);
    if (field == shape.fields.size()) continue;
    const ValueShape& value = shape.fields[field].value;
    const ValueKind kind = value.kind == ValueKind::optional ? value.element->kind : value.kind;
    if (kind != ValueKind::i64) continue;
    if (Result<TimeForm> form = TimeForm::of(time); form.ok()) forms_[field] = std::move(*form);
  }
}

}  // namespace hummer::formats
