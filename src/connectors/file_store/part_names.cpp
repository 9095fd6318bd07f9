#include "connectors/file_store/part_names.hpp"

#include <cstdio>

#include <hummer/files.hpp>

#include "connectors/file/name_fields.hpp"

namespace hummer {
namespace {

constexpr std::string_view part_prefix = "part-";
constexpr std::string_view note_prefix = "sink-";
constexpr std::size_t longest_name = 255;
constexpr std::size_t longest_path = 1024;

// As Hive does, what is no plain character of a name.
bool is_escaped(char c) {
  constexpr std::string_view escaped = "\"#%'*/:=?\\{[]^";
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f ||
         escaped.find(c) != std::string_view::npos;
}

void append_escaped(std::string_view text, std::string& to) {
  constexpr char digits[] = "0123456789ABCDEF";
  for (const char c : text) {
    if (!is_escaped(c)) {
      to.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    to.push_back('%');
    to.push_back(digits[byte >> 4]);
    to.push_back(digits[byte & 15]);
  }
}

// Days since 1970 to year, month and day (proleptic Gregorian): of eras of 400 years that begin on
// the first of March.
struct CivilDate {
  std::int64_t year;
  int month;
  int day;
};
CivilDate civil_date(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * day_of_year + 2) / 153;  // from March
  return {year_of_era + era * 400 + (month >= 10 ? 1 : 0),
          static_cast<int>(month < 10 ? month + 3 : month - 9),
          static_cast<int>(day_of_year - (153 * month + 2) / 5 + 1)};
}

constexpr std::string_view missing_value = "__HIVE_DEFAULT_PARTITION__";
constexpr std::int64_t day_ms = 86'400'000;

}  // namespace

std::string to_text(const PartName& name, std::string_view suffix) {
  char text[128];
  std::snprintf(text, sizeof text, "part-%05d-%010llu-%05llu-%u-%016llx", name.subtask,
                static_cast<unsigned long long>(name.epoch),
                static_cast<unsigned long long>(name.number), name.attempt,
                static_cast<unsigned long long>(name.sink));
  return text + std::string(suffix);
}

std::optional<PartName> parse_part(std::string_view name) {
  NameFields fields(name);
  PartName parsed;
  const bool valid = fields.take(part_prefix) && fields.take_number(parsed.subtask) &&
                     fields.take("-") && fields.take_number(parsed.epoch) && fields.take("-") &&
                     fields.take_number(parsed.number) && fields.take("-") &&
                     fields.take_number(parsed.attempt) && fields.take("-") &&
                     fields.take_number(parsed.sink, 16) && parsed.subtask >= 0 &&
                     (fields.left().empty() || fields.left().starts_with('.'));
  return valid ? std::optional(parsed) : std::nullopt;
}

std::string to_text(const NoteName& name) {
  char text[64];
  std::snprintf(text, sizeof text, "sink-%016llx-%05d", static_cast<unsigned long long>(name.sink),
                name.subtask);
  return text;
}

std::optional<NoteName> parse_note_name(std::string_view name) {
  NameFields fields(name);
  NoteName parsed;
  const bool valid = fields.take(note_prefix) && fields.take_number(parsed.sink, 16) &&
                     fields.take("-") && fields.take_number(parsed.subtask) &&
                     fields.left().empty() && parsed.subtask >= 0;
  return valid ? std::optional(parsed) : std::nullopt;
}

std::string to_text(const SinkNote& note, std::string_view about) {
  std::string text = "hummer: " + std::string(about) + "\ncommitted " +
                     std::to_string(note.committed) + "\nresumed " + std::to_string(note.resumed) +
                     "\nwatermark " + std::to_string(note.watermark) + "\n";
  for (const auto& [path, ends_at] : note.partitions) {
    text += "partition " + std::to_string(ends_at) + " " + path + "\n";
  }
  return text;
}

SinkNote parse_note(std::string_view text) {
  SinkNote note;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) break;  // cut off
    NameFields line(text.substr(0, end));
    text.remove_prefix(end + 1);
    Timestamp time = 0;
    std::uint64_t epoch = 0;
    if (line.take("committed ")) {
      if (line.take_number(epoch) && line.left().empty()) note.committed = epoch;
    } else if (line.take("resumed ")) {
      if (line.take_number(epoch) && line.left().empty()) note.resumed = epoch;
    } else if (line.take("watermark ")) {
      if (line.take_number(time) && line.left().empty()) note.watermark = time;
    } else if (line.take("partition ") && line.take_number(time) && line.take(" ")) {
      if (check_partition_path(line.left()).ok()) {
        note.partitions.emplace(std::string(line.left()), time);
      }
    }
  }
  return note;
}

Status check_partition_path(std::string_view path) {
  const auto refuse = [whole = path](const std::string& why) -> Status {
    return {ErrorCode::invalid_argument, "'" + std::string(whole.substr(0, longest_path)) +
                                             "' can't be the directory of a partition: " + why +
                                             " (partition_path escapes what a value holds)"};
  };
  if (path.size() > longest_path) {
    return refuse("it is longer than " + std::to_string(longest_path) + " bytes");
  }
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view name = path.substr(0, slash);
    if (name.empty()) return refuse("a name in it is empty");
    if (name.starts_with('.') || name.starts_with('_')) {
      return refuse("readers leave out names that begin with '.' or '_'");
    }
    if (name.size() > longest_name) return refuse("a name in it is longer than 255 bytes");
    for (const char c : name) {
      if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
        return refuse("it has a control character");
      }
    }
    if (slash == std::string_view::npos) return {};
    path.remove_prefix(slash + 1);
    if (path.empty()) return refuse("it ends with '/'");
  }
  return {};
}

std::string partition_path(std::initializer_list<PartitionField> fields) {
  std::string path;
  for (const auto& [name, value] : fields) {
    if (!path.empty()) path.push_back('/');
    append_escaped(name, path);
    path.push_back('=');
    value.empty() ? void(path.append(missing_value)) : append_escaped(value, path);
  }
  return path;
}

namespace detail {

Partition calendar_partition(Timestamp begin, std::int64_t width_ms) {
  const std::int64_t rest = begin % day_ms;
  const std::int64_t in_day = rest < 0 ? rest + day_ms : rest;
  const CivilDate date = civil_date((begin - in_day) / day_ms);
  char text[64];
  if (date.year < 0 || date.year > 9999) {
    std::snprintf(text, sizeof text, "dt=%s", missing_value.data());
    return {text, end_of_time};
  }
  std::snprintf(text, sizeof text, "dt=%04d-%02d-%02d", static_cast<int>(date.year), date.month,
                date.day);
  std::string path = text;
  if (width_ms < day_ms) {
    std::snprintf(text, sizeof text, "/hour=%02d", static_cast<int>(in_day / width_ms));
    path += text;
  }
  return {path, begin + width_ms};
}

}  // namespace detail

}  // namespace hummer
