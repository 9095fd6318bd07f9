#include "base/option.hpp"

#include <fmt/format.h>
#include <algorithm>
#include <charconv>
#include <cmath>

namespace hummer {
namespace {

constexpr double most_bytes = static_cast<double>(std::int64_t{1} << 50);
constexpr std::string_view size_units = "KMGT";

template <typename Number>
bool read_whole(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty();
}

// "64M", "2GiB", "1048576": bytes.
bool read_size(std::string_view text, std::int64_t& bytes) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  std::string_view unit = text.substr(digits);
  if (unit.size() == 3 && unit.ends_with("iB")) unit.remove_suffix(2);
  const std::size_t power = unit.empty() ? 0 : size_units.find(unit) + 1;
  std::int64_t number = 0;
  if (unit.size() > 1 || (unit.size() == 1 && power == 0) ||
      !read_whole(text.substr(0, digits), number) ||
      number > (std::int64_t{1} << 50) >> (10 * power)) {
    return false;
  }
  bytes = number << (10 * power);
  return true;
}

bool read_on_off(std::string_view text, bool& on) {
  on = text == "true" || text == "1" || text == "on" || text == "yes";
  return on || text == "false" || text == "0" || text == "off" || text == "no";
}

bool read_address(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  std::uint16_t port = 0;
  return colon != text.npos && colon > 0 && read_whole(text.substr(colon + 1), port);
}

bool is_one_of(std::string_view text, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

bool within(const Option& option, double number) {
  if (option.type == OptionType::size && option.most == 0) {
    return number >= option.least && number <= most_bytes;
  }
  return (option.least == 0 && option.most == 0) ||
         (number >= option.least && number <= option.most);
}

// One text into `value`; false: it is none.
bool read_text(const Option& option, const std::string& text, OptionValue& value) {
  switch (option.type) {
    case OptionType::on_off: return read_on_off(text, value.on);
    case OptionType::integer:
      return read_whole(text, value.integer) && within(option, static_cast<double>(value.integer));
    case OptionType::decimal:
      return read_whole(text, value.decimal) && std::isfinite(value.decimal) &&
             within(option, value.decimal);
    case OptionType::size:
      return read_size(text, value.integer) && within(option, static_cast<double>(value.integer));
    case OptionType::choice:
      if (!is_one_of(text, option.choices)) return false;
      break;
    case OptionType::address:
      if (!is_one_of(text, option.choices) && !read_address(text)) return false;
      break;
    case OptionType::text:
    case OptionType::of_member: break;
  }
  if (!option.many) value.texts.clear();
  value.texts.push_back(text);
  return true;
}

Status unexpected(const Option& option, std::string_view text) {
  return {ErrorCode::invalid_argument,
          fmt::format("expected {}, not '{}'", expectation(option), text)};
}

// "a, b or c"
std::string alternatives(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string expected_number(const Option& option, std::string_view kind) {
  std::string text(kind);
  if (option.least != 0 || option.most != 0) {
    text += fmt::format(" from {} to {}", option.least, option.most);
  }
  return option.unit.empty() ? text : fmt::format("{} ({})", text, option.unit);
}

std::string expected_size(const Option& option) {
  std::string text = "a size such as 512M, 4GiB or a number of bytes";
  OptionValue limit;
  limit.integer = static_cast<std::int64_t>(option.least);
  if (option.least != 0) text += ", at least " + option_text(option, limit);
  limit.integer = static_cast<std::int64_t>(option.most == 0 ? most_bytes : option.most);
  return text + ", at most " + option_text(option, limit);
}

}  // namespace

std::string variable_of(const Option& option) {
  std::string variable = "HUMMER_" + std::string(option.name);
  for (char& c : variable) {
    if (c == '-') c = '_';
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return variable;
}

std::string expectation(const Option& option) {
  switch (option.type) {
    case OptionType::on_off: return "true or false";
    case OptionType::integer: return expected_number(option, "a whole number");
    case OptionType::decimal: return expected_number(option, "a number");
    case OptionType::size: return expected_size(option);
    case OptionType::choice: return alternatives(option.choices);
    case OptionType::address:
      return option.choices.empty() ? "HOST:PORT" : "HOST:PORT or " + alternatives(option.choices);
    case OptionType::text:
    case OptionType::of_member: break;
  }
  return option.many ? "texts" : "a text";
}

Result<OptionValue> parse_option(const Option& option, std::span<const std::string> texts) {
  HUMMER_ASSERT(!texts.empty());
  OptionValue value;
  for (const std::string& text : texts) {
    std::size_t begin = 0;
    while (option.many && text.find(',', begin) != text.npos) {
      const std::size_t comma = text.find(',', begin);
      const std::string part = text.substr(begin, comma - begin);
      if (!read_text(option, part, value)) return unexpected(option, part);
      begin = comma + 1;
    }
    const std::string rest = text.substr(begin);
    if (option.many && rest.empty()) continue;
    if (!read_text(option, rest, value)) return unexpected(option, rest);
  }
  return value;
}

Result<OptionValue> parse_option(const Option& option, const ConfigurationEntry& entry) {
  using Type = ConfigurationValue::Type;
  if (entry.is_list && !option.many) {
    return Status(ErrorCode::invalid_argument,
                  fmt::format("expected {}, not a list", expectation(option)));
  }
  std::vector<std::string> texts;
  for (const ConfigurationValue& value : entry.values) {
    bool fits = value.type == Type::text;
    if (option.type == OptionType::on_off) fits = value.type == Type::on_off;
    if (option.type == OptionType::integer) fits = value.type == Type::integer;
    if (option.type == OptionType::size) fits |= value.type == Type::integer;
    if (option.type == OptionType::decimal) {
      fits = value.type == Type::integer || value.type == Type::decimal;
    }
    if (!fits && value.type == Type::text) {
      return Status(ErrorCode::invalid_argument,
                    fmt::format("expected {}, not a text in quotes", expectation(option)));
    }
    if (!fits) return unexpected(option, value.text);
    texts.push_back(value.text);
  }
  if (texts.empty()) return OptionValue{};
  return parse_option(option, texts);
}

std::string option_text(const Option& option, const OptionValue& value) {
  switch (option.type) {
    case OptionType::on_off: return value.on ? "true" : "false";
    case OptionType::integer: return std::to_string(value.integer);
    case OptionType::decimal: return fmt::format("{}", value.decimal);
    case OptionType::size: {
      std::int64_t number = value.integer;
      std::size_t power = 0;
      while (number != 0 && number % 1024 == 0 && power < size_units.size()) {
        number /= 1024;
        ++power;
      }
      return power == 0 ? std::to_string(number)
                        : fmt::format("{}{}iB", number, size_units[power - 1]);
    }
    default: return fmt::format("{}", fmt::join(value.texts, ","));
  }
}

}  // namespace hummer
