// late_merge_bare --workload ysb|cm|ro [--records N] [--keys N] [--seed N] [--check-rows]
//
// A workload without an engine, in one thread: the same rows, made whole, the same results, the
// best loop that we know. --check-rows hashes all bytes of all rows. One line of JSON.
#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>

#include "late_merge_rows.hpp"
#include "stateful/bare_table.hpp"
#include "stateful/rows.hpp"

namespace late_merge {
namespace {

using stateful::AdEvent;
using stateful::Checksum;
using stateful::Scale;
using stateful::TaskEvent;

constexpr std::size_t rows_at_once = 256;

// What is made of an index before the compiler may cut it down to what is used of it.
template <typename T>
void materialise(const T& value) {
  asm volatile("" : : "m"(value));
}

struct Totals {
  std::uint64_t rows_hash = 0;
  Checksum results;
};

struct Ysb {
  using Record = AdEvent;
  using Value = std::uint64_t;
  static constexpr bool is_windowed = true;
  static bool counts(const AdEvent& event) { return event.kind == stateful::AdEventKind::view; }
  static std::uint64_t key(const AdEvent& event) { return event.ad; }
  static void fold(Value& count, const AdEvent&) { ++count; }
  static std::uint64_t result(const Value& count) { return count; }
  static auto maker(DrawnKey key, const Scale& scale, std::uint64_t salt) {
    return stateful::AdEventOfKey<DrawnKey>{key, stateful::TimeOfIndex(scale), salt};
  }
};
struct Cm {
  struct Value {
    std::uint64_t sum;
    std::uint64_t count;
  };
  using Record = TaskEvent;
  static constexpr bool is_windowed = true;
  static bool counts(const TaskEvent&) { return true; }
  static std::uint64_t key(const TaskEvent& event) { return event.job; }
  static void fold(Value& usage, const TaskEvent& event) {
    usage.sum += event.cpu;
    ++usage.count;
  }
  static std::uint64_t result(const Value& usage) { return usage.sum / usage.count; }
  static auto maker(DrawnKey key, const Scale& scale, std::uint64_t salt) {
    return stateful::TaskEventOfKey<DrawnKey>{key, stateful::TimeOfIndex(scale), salt};
  }
};
struct Ro {
  using Record = KeyedRow;
  using Value = std::uint64_t;
  static constexpr bool is_windowed = false;
  static bool counts(const KeyedRow&) { return true; }
  static std::uint64_t key(const KeyedRow& row) { return row.key; }
  static void fold(Value& count, const KeyedRow&) { ++count; }
  static std::uint64_t result(const Value& count) { return count; }
  static auto maker(DrawnKey key, const Scale&, std::uint64_t salt) {
    return KeyedRowOfIndex{key, salt};
  }
};

template <typename Workload>
Totals run(const Scale& scale, DrawnKey key, std::uint64_t salt, bool check_rows) {
  using Record = typename Workload::Record;
  Totals totals;
  const auto make = Workload::maker(key, scale, salt);
  stateful::Table<typename Workload::Value> table;
  const auto rows = std::make_unique<Record[]>(rows_at_once);
  const std::uint64_t per_window = Workload::is_windowed ? scale.records_per_window : scale.records;
  for (std::uint64_t window = 0; window * per_window < scale.records; ++window) {
    const std::uint64_t end = std::min((window + 1) * per_window, scale.records);
    for (std::uint64_t index = window * per_window; index < end;) {
      const std::size_t made = std::min<std::uint64_t>(rows_at_once, end - index);
      for (std::size_t i = 0; i < made; ++i) rows[i] = make(index++);
      materialise(*rows.get());
      if (check_rows) {
        for (std::size_t i = 0; i < made; ++i) totals.rows_hash += hash_of_bytes(rows[i]);
      }
      std::size_t used = 0;
      for (std::size_t i = 0; i < made; ++i) {
        if (Workload::counts(rows[i])) rows[used++] = rows[i];
      }
      table.each(rows.get(), used, &Workload::key,
                 [](const Record& row, auto& value, bool) { Workload::fold(value, row); });
    }
    const std::int64_t start_ms = static_cast<std::int64_t>(window) * scale.window_ms;
    table.drain([&](std::uint64_t each, const auto& value) {
      if constexpr (Workload::is_windowed) {
        totals.results.add(each, start_ms, Workload::result(value));
      } else {
        totals.results.add(each, Workload::result(value));
      }
    });
  }
  return totals;
}

int main_with(std::map<std::string, std::string>& words) {
  const std::string name = words["--workload"];
  if (name != "ysb" && name != "cm" && name != "ro") {
    throw std::invalid_argument("--workload takes ysb, cm or ro");
  }
  const stateful::Row row = stateful::row_of(name == "ro" ? "count" : name, words["--records"],
                                             words["--keys"], "", "uniform");
  const std::string seed = words["--seed"];
  const std::uint64_t salt = stateful::mixed(seed.empty() ? 0 : std::stoull(seed));
  const bool check_rows = !words["--check-rows"].empty();
  const KeyDraws draws{.keys = row.scale.keys, .salt = salt};
  const auto begin = std::chrono::steady_clock::now();
  const auto run_it = name == "ysb" ? &run<Ysb> : name == "cm" ? &run<Cm> : &run<Ro>;
  const Totals totals = run_it(row.scale, {&draws}, salt, check_rows);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("{\"workload\": \"%s\", \"records\": %" PRIu64 ", \"keys\": %" PRIu64
              ", \"seconds\": %.6f, \"rows_hash\": \"%016" PRIx64 "\", \"results\": %" PRIu64
              ", \"hash\": \"%016" PRIx64 "\"}\n",
              name.c_str(), row.scale.records, row.scale.keys, took.count(), totals.rows_hash,
              totals.results.results, totals.results.sum);
  return 0;
}

}  // namespace
}  // namespace late_merge

int main(int argc, char** argv) {
  std::map<std::string, std::string> words;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    words[name] = name == "--check-rows" ? "yes" : i + 1 < argc ? argv[++i] : "";
  }
  try {
    return late_merge::main_with(words);
  } catch (const std::logic_error& wrong) {
    std::fprintf(stderr, "late_merge_bare: %s\n", wrong.what());
    return 2;
  }
}
