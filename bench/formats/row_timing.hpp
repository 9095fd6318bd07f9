// What the programs of bench/formats share: their words, the clocks, and the line that they print.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "formats/trade_rows.hpp"

struct Settings {
  std::size_t rows = 1'000'000;
  int runs = 5;
  std::vector<std::string> words;
};

inline double seconds(const auto& function) {
  const auto begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Of this thread: what others do on the machine is not counted.
inline double processor_seconds(const auto& function) {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
  };
  const double begin = now();
  function();
  return now() - begin;
}

inline void report(const std::string& what, std::size_t bytes, std::vector<double> times,
                   std::int64_t rows, const std::string& result) {
  std::sort(times.begin(), times.end());
  const double median = times[times.size() / 2];
  std::printf(
      "{\"what\": \"%s\", \"bytes\": %zu, \"rows\": %ld, \"seconds\": %.6f, \"gb_per_s\": %.3f, "
      "\"ns_per_row\": %.1f, \"result\": \"%s\"}\n",
      what.c_str(), bytes, static_cast<long>(rows), median,
      static_cast<double>(bytes) / median / 1e9,
      median * 1e9 / static_cast<double>(std::max<std::int64_t>(rows, 1)), result.c_str());
}
inline void report(const std::string& what, std::size_t bytes, std::vector<double> times,
                   const Totals& totals) {
  report(what, bytes, std::move(times), totals.rows, totals.to_string());
}

inline Settings read_settings(int argc, char** argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--rows" && i + 1 < argc) {
      settings.rows = std::stoul(argv[++i]);
    } else if (word == "--runs" && i + 1 < argc) {
      settings.runs = std::stoi(argv[++i]);
    } else {
      settings.words.push_back(word);
    }
  }
  return settings;
}
