#include "connectors/file/sink_names.hpp"

#include <algorithm>
#include <cstdio>

#include <hummer/detail/key_hash.hpp>

#include "connectors/file/name_fields.hpp"

namespace hummer {
namespace {

constexpr std::string_view hidden_prefix = ".part-";
constexpr std::string_view hidden_suffix = ".pending";
constexpr std::string_view visible_prefix = "part-";
constexpr std::string_view entry_prefix = "committed ";
constexpr std::size_t epoch_digits = 10;

std::string hexadecimal(std::uint64_t number) {
  char text[20];
  std::snprintf(text, sizeof text, "%016llx", static_cast<unsigned long long>(number));
  return text;
}

std::string digits(std::uint64_t number, int least) {
  char text[24];
  std::snprintf(text, sizeof text, "%0*llu", least, static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

std::uint64_t sink_id(std::uint64_t run, std::string_view uid) {
  const std::uint64_t parts[] = {run, hash_bytes(uid.data(), uid.size())};
  return std::max<std::uint64_t>(hash_bytes(parts, sizeof parts), 1);
}

std::string hidden_name(const HiddenName& name) {
  return std::string(hidden_prefix) + digits(static_cast<std::uint64_t>(name.subtask), 5) + "-" +
         std::to_string(name.number) + "." + hexadecimal(name.id) + "." +
         std::to_string(name.attempt) + std::string(hidden_suffix);
}

std::optional<HiddenName> parse_hidden(std::string_view name) {
  NameFields fields(name);
  HiddenName parsed;
  const bool valid = fields.take(hidden_prefix) && fields.take_number(parsed.subtask) &&
                     fields.take("-") && fields.take_number(parsed.number) && fields.take(".") &&
                     fields.take_number(parsed.id, 16) && fields.take(".") &&
                     fields.take_number(parsed.attempt) && fields.take(hidden_suffix) &&
                     fields.left().empty() && parsed.subtask >= 0;
  return valid ? std::optional(parsed) : std::nullopt;
}

std::string visible_name(const VisibleName& name) {
  return std::string(visible_prefix) + digits(static_cast<std::uint64_t>(name.subtask), 5) + "-" +
         digits(name.epoch, epoch_digits) + "-" + hexadecimal(name.id);
}

std::optional<VisibleName> parse_visible(std::string_view name) {
  NameFields fields(name);
  VisibleName parsed;
  bool valid = fields.take(visible_prefix) && fields.take_number(parsed.subtask) &&
               fields.take("-") && fields.take_number(parsed.epoch) && parsed.subtask >= 0;
  if (valid && fields.take("-")) valid = fields.take_number(parsed.id, 16);
  return valid && fields.left().empty() ? std::optional(parsed) : std::nullopt;
}

std::string claim_prefix(std::uint64_t id) { return ".sink-" + hexadecimal(id) + "-"; }

std::string claim_name(std::uint64_t id, int subtask) {
  return claim_prefix(id) + digits(static_cast<std::uint64_t>(subtask), 5);
}

std::string to_text(const SinkHandle& handle) {
  return handle.hidden + "/" + handle.visible + "/" + handle.directory;
}

std::optional<SinkHandle> parse_handle(const std::string& text, const std::string& directory) {
  SinkHandle handle;
  const std::size_t first = text.find('/');
  if (first == std::string::npos) return std::nullopt;
  const std::size_t second = text.find('/', first + 1);
  handle.hidden = text.substr(0, first);
  handle.visible =
      text.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  handle.directory = second == std::string::npos ? directory : text.substr(second + 1);
  const std::optional<HiddenName> of = parse_hidden(handle.hidden);
  const bool valid = of && !handle.directory.empty() &&
                     (handle.visible.empty() || parse_visible(handle.visible).has_value());
  if (!valid) return std::nullopt;
  handle.of = *of;
  return handle;
}

std::string claim_text(const std::string& name, const std::string& uid, std::uint64_t run) {
  return "hummer: operator " + name + ", uid " + uid + ", run " + hexadecimal(run) +
         "; keep this file as long as the job may go on\n";
}

std::string committed_text(std::uint64_t epoch) {
  return "\n" + std::string(entry_prefix) + digits(epoch, epoch_digits) + "\n";
}

std::uint64_t newest_committed(std::string_view manifest) {
  std::uint64_t newest = 0;
  while (!manifest.empty()) {
    const std::size_t end = manifest.find('\n');
    if (end == std::string_view::npos) break;  // cut off
    NameFields line(manifest.substr(0, end));
    manifest.remove_prefix(end + 1);
    std::uint64_t epoch = 0;
    if (line.take(entry_prefix) && line.take_number(epoch) && line.left().empty()) {
      newest = std::max(newest, epoch);
    }
  }
  return newest;
}

}  // namespace hummer
