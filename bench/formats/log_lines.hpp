// The lines of bench/formats: a web server's log in the combined form; from a seed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <random>
#include <string>
#include <string_view>

struct Hit {
  std::string_view host;
  std::string_view time;
  std::string_view method;
  std::string_view path;
  std::uint16_t status = 0;
  std::int64_t size = 0;
  std::string_view agent;
};

inline std::string log_lines(std::size_t lines) {
  std::mt19937_64 random(7);
  static constexpr const char* methods[] = {"GET", "POST", "HEAD"};
  static constexpr const char* agents[] = {
      "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "curl/7.88.1",
      "Mozilla/5.0 (compatible; crawler/2.1; +http://example.org/bot.html)"};
  std::string text;
  for (std::size_t i = 0; i < lines; ++i) {
    const auto draw = [&](std::uint64_t below) { return static_cast<unsigned>(random() % below); };
    char line[512];
    const unsigned host = draw(256);
    const unsigned second = static_cast<unsigned>(i / 100 % 60);
    const char* const method = methods[draw(3)];
    const unsigned page = draw(100'000);
    const unsigned status = draw(10) == 0 ? 404 : 200;
    const unsigned size = draw(1'000'000);
    const char* const agent = agents[draw(3)];
    const int bytes = std::snprintf(line, sizeof line,
                                    "10.0.%u.%u - - [26/Nov/2026:11:20:%02u +0000] \"%s "
                                    "/articles/%u?from=front HTTP/1.1\" %u %u "
                                    "\"https://example.org/\" \"%s\"\n",
                                    host, host, second, method, page, status, size, agent);
    text.append(line, static_cast<std::size_t>(bytes));
  }
  return text;
}

struct HitTotals {
  std::int64_t rows = 0;
  std::int64_t status = 0;
  std::int64_t size = 0;
  std::int64_t text = 0;

  void add(const Hit& hit) {
    ++rows;
    status += hit.status;
    size += hit.size;
    text += static_cast<std::int64_t>(hit.host.size() + hit.time.size() + hit.method.size() +
                                      hit.path.size() + hit.agent.size());
  }
  std::string to_string() const {
    return std::to_string(rows) + ":" + std::to_string(status) + ":" + std::to_string(size) + ":" +
           std::to_string(text);
  }
};
