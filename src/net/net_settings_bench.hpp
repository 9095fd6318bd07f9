// What net_bench is asked for; see there.
//
// Thread: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <hummer/batch.hpp>
#include <hummer/network_settings.hpp>

namespace hummer::net_bench {

struct Settings {
  std::vector<std::string> forms{"threads", "tcp", "ring"};
  std::vector<std::size_t> record_bytes{100};
  std::vector<std::size_t> buffer_kib{NetworkSettings{}.buffer_size_bytes / 1024};
  int rounds = 3;
  std::uint64_t megabytes = 2000;
  std::uint64_t milliseconds = 0;
  std::uint32_t trips = 0;
  std::size_t batch_records = default_batch_records;
  bool json = false;
};

inline std::vector<std::string> split(const std::string& words) {
  std::vector<std::string> found;
  for (std::size_t from = 0; from <= words.size();) {
    const std::size_t to = std::min(words.find(',', from), words.size());
    if (to > from) found.push_back(words.substr(from, to - from));
    from = to + 1;
  }
  return found;
}

inline std::vector<std::size_t> split_numbers(const std::string& words) {
  std::vector<std::size_t> found;
  for (const std::string& word : split(words)) {
    found.push_back(std::strtoull(word.c_str(), nullptr, 10));
  }
  return found;
}

// False: one is unknown, or makes no sense.
inline bool read_settings(int argument_count, char** arguments, Settings& settings) {
  for (int i = 1; i < argument_count; ++i) {
    const std::string name = arguments[i];
    if (name == "--json") {
      settings.json = true;
      continue;
    }
    if (i + 1 == argument_count) return false;
    const std::string value = arguments[++i];
    const std::uint64_t number = std::strtoull(value.c_str(), nullptr, 10);
    if (name == "--forms") {
      settings.forms = split(value);
    } else if (name == "--records") {
      settings.record_bytes = split_numbers(value);
    } else if (name == "--sizes") {
      settings.buffer_kib = split_numbers(value);
    } else if (name == "--rounds") {
      settings.rounds = static_cast<int>(number);
    } else if (name == "--megabytes") {
      settings.megabytes = number;
    } else if (name == "--milliseconds") {
      settings.milliseconds = number;
    } else if (name == "--latency") {
      settings.trips = static_cast<std::uint32_t>(number);
    } else if (name == "--batch") {
      settings.batch_records = number;
    } else {
      return false;
    }
  }
  const auto& bytes = settings.record_bytes;
  return settings.rounds > 0 && settings.batch_records > 0 &&
         std::all_of(bytes.begin(), bytes.end(),
                     [](auto each) { return each == 16 || each == 100; });
}

}  // namespace hummer::net_bench
