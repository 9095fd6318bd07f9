#include "observability/log_line.hpp"

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "base/wall_time.hpp"

namespace hummer {
namespace {

// Of a time after 1970.
std::string time_text(std::int64_t wall_time_ms, char separator, std::string_view zone) {
  std::string text = format_wall_time(wall_time_ms);
  if (text.size() > 10) text[10] = separator;
  return fmt::format("{}.{:03}{}", text, wall_time_ms % 1000, zone);
}

// Escapes as in C and JSON; `quoted`: also what ends a JSON string. Bytes that are no UTF-8 become
// U+FFFD.
std::string escaped(std::string_view text, bool quoted) {
  std::string out;
  out.reserve(text.size() + 8);
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte == '\n') {
      out += "\\n";
    } else if (byte == '\t') {
      out += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      out += fmt::format("\\u{:04x}", byte);
    } else if (quoted && (byte == '"' || byte == '\\')) {
      out += '\\';
      out += text[i];
    } else if (byte < 0x80) {
      out += text[i];
    } else {
      // U+0080 to U+009F steer terminals too.
      const std::size_t length = utf8_length(text.substr(i));
      const bool whole =
          length != 0 && !(byte == 0xc2 && static_cast<unsigned char>(text[i + 1]) < 0xa0);
      if (whole) {
        out += text.substr(i, length);
        i += length - 1;
      } else {
        out += "\xef\xbf\xbd";
      }
    }
  }
  return out;
}

}  // namespace

std::optional<LogLevel> find_log_level(std::string_view name) {
  for (const LogLevel level : log_levels) {
    if (to_string(level) == name) return level;
  }
  return std::nullopt;
}

std::optional<LogModule> find_log_module(std::string_view name) {
  for (std::size_t i = 0; i < log_modules; ++i) {
    if (to_string(static_cast<LogModule>(i)) == name) return static_cast<LogModule>(i);
  }
  return std::nullopt;
}

std::string format_log_line(const LogLine& line, std::string_view process, LogFormat format) {
  if (format == LogFormat::text) {
    std::string out = fmt::format("{} {} {} {}", time_text(line.wall_time_ms, ' ', ""),
                                  to_string(line.level), to_string(line.module), process);
    if (line.job != 0) out += fmt::format(" job={}", line.job);
    if (line.attempt) out += fmt::format(" attempt={}", *line.attempt);
    if (!line.task.empty()) out += fmt::format(" task={}", escaped(line.task, false));
    return out + ": " + escaped(line.text, false) + "\n";
  }
  std::string out = fmt::format(R"({{"time":"{}","level":"{}","module":"{}","process":"{}")",
                                time_text(line.wall_time_ms, 'T', "Z"), to_string(line.level),
                                to_string(line.module), escaped(process, true));
  if (line.job != 0) out += fmt::format(R"(,"job":{})", line.job);
  if (line.attempt) out += fmt::format(R"(,"attempt":{})", *line.attempt);
  if (!line.task.empty()) out += fmt::format(R"(,"task":"{}")", escaped(line.task, true));
  return out + fmt::format(R"(,"message":"{}"}})", escaped(line.text, true)) + "\n";
}

}  // namespace hummer
