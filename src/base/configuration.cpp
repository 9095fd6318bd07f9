#include "base/configuration.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <stdexcept>
#include <utility>

// Some malformed files run into assertions of toml++ 3.3, which must not take the process down.
#define TOML_EXCEPTIONS 1
#define TOML_ASSERT(condition) \
  (static_cast<bool>(condition) ? void() : throw std::logic_error(#condition))
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wterminate"  // in its functions that are noexcept
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace hummer {
namespace {

Status fault(const std::string& file, std::uint32_t line, std::string what) {
  return {ErrorCode::invalid_configuration, fmt::format("{}:{}: {}", file, line, std::move(what))};
}

// Bytes that TOML has nowhere; toml++ 3.3 asserts on some of them.
Status check_bytes(std::string_view text, const std::string& file) {
  std::uint32_t line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool ends_line = byte == '\n' || (byte == '\r' && text.substr(i + 1).starts_with('\n'));
    if ((byte < 0x20 && byte != '\t' && !ends_line) || byte == 0x7f) {
      return fault(file, line, fmt::format("the byte {:#04x} may stand nowhere in TOML", byte));
    }
    if (byte == '\n') ++line;
  }
  return {};
}

// A value as an option takes it; false: of a type that none takes.
bool to_text(const toml::node& node, std::string& text) {
  if (const auto* value = node.as_string()) {
    text = value->get();
  } else if (const auto* number = node.as_integer()) {
    text = std::to_string(number->get());
  } else if (const auto* real = node.as_floating_point()) {
    text = fmt::format("{}", real->get());
  } else if (const auto* flag = node.as_boolean()) {
    text = flag->get() ? "true" : "false";
  } else {
    return false;
  }
  return true;
}

// Levenshtein distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substitute = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, substitute}));
    }
  }
  return row[b.size()];
}

}  // namespace

std::string Configuration::place(const ConfigurationEntry& entry) const {
  return fmt::format("{}:{}", file, entry.line);
}

Result<Configuration> parse_configuration(std::string_view text, std::string file) {
  if (text.size() > max_configuration_bytes) {
    return Status(ErrorCode::invalid_configuration,
                  fmt::format("{}: {} bytes are no configuration; the most is {}", file,
                              text.size(), max_configuration_bytes));
  }
  HUMMER_TRY(check_bytes(text, file));
  toml::table parsed;
  try {
    parsed = toml::parse(text);
  } catch (const toml::parse_error& error) {
    return fault(file, error.source().begin.line, std::string(error.description()));
  } catch (const std::logic_error&) {
    return Status(ErrorCode::invalid_configuration,
                  fmt::format("{}: this is no TOML: a table or a key in it is malformed", file));
  }
  Configuration configuration;
  for (const auto& [table_name, table_node] : parsed) {
    const toml::table* const table = table_node.as_table();
    if (table == nullptr) {
      return fault(file, table_node.source().begin.line,
                   fmt::format("'{}' stands in no table; write [job] above it", table_name.str()));
    }
    for (const auto& [key, node] : *table) {
      ConfigurationEntry entry;
      entry.table = table_name.str();
      entry.key = key.str();
      entry.line = static_cast<int>(node.source().begin.line);
      entry.is_switch = node.is_boolean();
      bool known = true;
      if (const toml::array* const list = node.as_array()) {
        for (const toml::node& element : *list) {
          known = known && !element.is_boolean() && to_text(element, entry.values.emplace_back());
        }
      } else {
        known = to_text(node, entry.values.emplace_back());
      }
      if (!known) {
        return fault(file, node.source().begin.line,
                     fmt::format("'{}' must be a text, a number, a boolean, or a list of texts or "
                                 "numbers",
                                 entry.key));
      }
      configuration.entries.push_back(std::move(entry));
    }
  }
  std::stable_sort(configuration.entries.begin(), configuration.entries.end(),
                   [](const auto& a, const auto& b) { return a.line < b.line; });
  configuration.file = std::move(file);
  return configuration;
}

Status check_tables(const Configuration& configuration, std::span<const std::string_view> tables) {
  for (const ConfigurationEntry& entry : configuration.entries) {
    if (std::find(tables.begin(), tables.end(), entry.table) != tables.end()) continue;
    const std::vector<std::string> names(tables.begin(), tables.end());
    const std::string nearest = nearest_name(entry.table, names);
    return {
        ErrorCode::invalid_configuration,
        fmt::format("{}: nothing reads the table [{}]{}", configuration.place(entry), entry.table,
                    nearest.empty()
                        ? "; there are [" + fmt::format("{}", fmt::join(names, "], [")) + "]"
                        : ", did you mean [" + nearest + "]?")};
  }
  return {};
}

std::string nearest_name(std::string_view name, std::span<const std::string> candidates) {
  constexpr std::size_t too_far = 4;
  std::string nearest;
  std::size_t least = too_far;
  for (const std::string& candidate : candidates) {
    if (const std::size_t d = distance(name, candidate); d < least) {
      least = d;
      nearest = candidate;
    }
  }
  return nearest;
}

}  // namespace hummer
