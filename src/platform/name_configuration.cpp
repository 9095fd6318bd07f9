#include "platform/name_configuration.hpp"

#include <algorithm>
#include <charconv>

#include "platform/name_message.hpp"

namespace hummer {
namespace {

constexpr std::size_t most_servers = 3;
constexpr std::size_t most_search = 16;

// Up to `end`, without it.
std::string_view take_until(std::string_view& text, std::string_view end) {
  const std::size_t at = std::min(text.find_first_of(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(text.size(), at + 1));
  return taken;
}

std::string_view take_word(std::string_view& line) {
  while (!line.empty()) {
    const std::string_view word = take_until(line, " \t\r\f\v");
    if (!word.empty()) return word;
  }
  return {};
}

std::optional<SocketAddress> parse_number(std::string_view text) {
  const bool ipv6 = text.find(':') != text.npos;
  const std::string full = ipv6 ? "[" + std::string(text) + "]:0" : std::string(text) + ":0";
  if (!ipv6 && text.find_first_not_of("0123456789.") != text.npos) return std::nullopt;
  const Result<SocketAddress> address = parse_socket_address(full);
  if (text.empty() || !address.ok()) return std::nullopt;
  return *address;
}

bool equal_names(std::string_view a, std::string_view b) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return small(x) == small(y); });
}

// "ndots:2": the number of an option, kept within limits; false: it is another one.
bool number_option(std::string_view option, std::string_view name, int least, int most,
                   int& value) {
  if (!option.starts_with(name)) return false;
  option.remove_prefix(name.size());
  int number = 0;
  const auto [end, error] = std::from_chars(option.data(), option.data() + option.size(), number);
  if (error == std::errc() && end == option.data() + option.size()) {
    value = std::clamp(number, least, most);
  }
  return true;
}

}  // namespace

NameConfiguration parse_name_configuration(std::string_view text, std::uint16_t port) {
  NameConfiguration found;
  while (!text.empty()) {
    std::string_view line = take_until(text, "\n");
    if (line.starts_with('#') || line.starts_with(';')) continue;
    const std::string_view key = take_word(line);
    if (key == "nameserver" && found.servers.size() < most_servers) {
      if (auto address = parse_number(take_word(line))) {
        address->port = port;
        found.servers.push_back(*address);
      }
    } else if (key == "search" || key == "domain") {
      found.search.clear();
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        if (found.search.size() < most_search) found.search.emplace_back(word);
        if (key == "domain") break;
      }
    } else if (key == "options") {
      for (std::string_view word = take_word(line); !word.empty(); word = take_word(line)) {
        int number = -1;  // what is no number changes nothing
        if (number_option(word, "ndots:", 0, 15, number)) {
          if (number >= 0) found.dots = static_cast<std::size_t>(number);
        } else if (number_option(word, "timeout:", 1, 30, number)) {
          if (number > 0) found.timeout_ns = seconds(number);
        } else if (number_option(word, "attempts:", 1, 5, number)) {
          if (number > 0) found.attempts = number;
        }
        found.rotate |= word == "rotate";
        found.by_stream |= word == "use-vc" || word == "usevc";
        found.ipv4_only |= word == "no-aaaa";
      }
    }
  }
  if (found.servers.empty()) {
    SocketAddress own;
    own.bytes = {127, 0, 0, 1};
    own.port = port;
    found.servers.push_back(own);
  }
  return found;
}

std::vector<std::string> NameConfiguration::candidates(std::string_view name) const {
  std::vector<std::string> all;
  const auto add = [&](const std::string& full) {
    std::string labels = labels_of(full);
    const bool is_new = std::find(all.begin(), all.end(), labels) == all.end();
    if (!labels.empty() && is_new) all.push_back(std::move(labels));
  };
  const std::string plain(name);
  if (name.ends_with('.')) {
    add(plain);
    return all;
  }
  const bool plain_first =
      static_cast<std::size_t>(std::count(name.begin(), name.end(), '.')) >= dots;
  if (plain_first) add(plain);
  for (const std::string& domain : search) add(plain + "." + domain);
  add(plain);
  return all;
}

std::optional<SocketAddress> find_in_hosts(std::string_view text, std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  while (!text.empty()) {
    std::string_view line = take_until(text, "\n");
    line = line.substr(0, line.find('#'));
    const std::string_view number = take_word(line);
    for (std::string_view alias = take_word(line); !alias.empty(); alias = take_word(line)) {
      if (!equal_names(alias, name)) continue;
      if (const auto address = parse_number(number)) return address;
    }
  }
  return std::nullopt;
}

}  // namespace hummer
