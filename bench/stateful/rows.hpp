// The rows of bench/stateful/run: what each is called and how large it is, for the jobs and the
// bare loops. What a row computes stands with its job, in hummer_*.cpp.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

#include "workload.hpp"

namespace stateful {

struct Row {
  std::string_view name;
  Scale scale;
  Distribution distribution = Distribution::uniform;
};

inline constexpr std::int64_t minute_ms = 60'000;
inline constexpr std::int64_t hour_ms = 60 * minute_ms;

inline constexpr Row rows[] = {
    {"count", {.records = 60'000'000, .keys = 1'000'000}, Distribution::rounds},
    {"function", {.records = 60'000'000, .keys = 1'000'000}, Distribution::rounds},
    {"nexmark8",
     {.records = 8'000'000, .records_per_window = 1'000'000, .window_ms = 12 * hour_ms}},
    {"nexmark11", {.records = 11'000'000, .records_per_window = 5'000, .window_ms = 5'000}},
    {"ysb",
     {.records = 60'000'000,
      .keys = 10'000'000,
      .records_per_window = 30'000'000,
      .window_ms = 10 * minute_ms}},
    {"nexmark7",
     {.records = 100'000'000,
      .keys = 1'000'000,
      .records_per_window = 10'000'000,
      .window_ms = minute_ms},
     Distribution::zipf},
    {"cm",
     {.records = 100'000'000, .keys = 10'000, .records_per_window = 2'000'000, .window_ms = 2'000}},
    {"async_map", {.records = 5'000'000, .keys = 1'000'000}},
    {"interval_join", {.records = 11'000'000, .records_per_window = 20'000, .window_ms = 20'000}},
    {"co_group",
     {.records = 4'000'000, .records_per_window = 1'000'000, .window_ms = 12 * hour_ms}},
    {"sessions", {.records = 20'000'000, .records_per_window = 5'000, .window_ms = 5'000}},
    {"top_n",
     {.records = 20'000'000, .keys = 10'000, .records_per_window = 1'000'000, .window_ms = 10'000}},
    {"deduplicate", {.records = 20'000'000, .keys = 1'000'000}},
    {"count_window", {.records = 20'000'000, .keys = 100'000}},
    {"trigger",
     {.records = 20'000'000,
      .keys = 10'000,
      .records_per_window = 5'000'000,
      .window_ms = minute_ms}},
    {"broadcast", {.records = 20'000'000, .keys = 1'000'000}, Distribution::rounds},
};

// With what the command line says instead; an empty text says nothing. Rows of rounds get whole
// ones: at least four, and as many as the row's records make.
inline Row row_of(std::string_view name, const std::string& records, const std::string& keys,
                  const std::string& records_per_window, const std::string& distribution) {
  for (Row row : rows) {
    if (row.name != name) continue;
    const auto set = [](std::uint64_t& value, const std::string& text) {
      if (!text.empty()) value = std::stoull(text);
    };
    set(row.scale.keys, keys);
    set(row.scale.records, records);
    set(row.scale.records_per_window, records_per_window);
    if (!distribution.empty()) row.distribution = distribution_of(distribution);
    if (row.distribution == Distribution::rounds) {
      std::uint64_t& made = row.scale.records;
      const std::uint64_t rounds = made / row.scale.keys;
      made =
          (records.empty() && rounds < 4 ? 4 : std::max<std::uint64_t>(rounds, 1)) * row.scale.keys;
    }
    return row;
  }
  std::string known;
  for (const Row& row : rows) known.append(" ").append(row.name);
  throw std::invalid_argument("--row takes one of:" + known);
}

// One line of JSON. Of the records `warm_records` took `warm_seconds`; 0: not measured.
inline void report(const char* name, const Row& row, double seconds, std::uint64_t warm_records,
                   double warm_seconds, const SharedChecksum& sum) {
  const Scale& scale = row.scale;
  std::printf("{\"name\": \"%s\", \"row\": \"%.*s\", \"records\": %" PRIu64 ", \"keys\": %" PRIu64
              ", \"records_per_window\": %" PRIu64 ", \"window_ms\": %" PRId64
              ", \"seconds\": %.6f, \"warm_records\": %" PRIu64
              ", \"warm_seconds\": %.6f, \"results\": %" PRIu64 ", \"hash\": \"%016" PRIx64 "\"}\n",
              name, static_cast<int>(row.name.size()), row.name.data(), scale.records, scale.keys,
              scale.records_per_window, scale.window_ms, seconds, warm_records, warm_seconds,
              sum.results.load(), sum.sum.load());
}

}  // namespace stateful
