// What net_bench has measured of a form, a size of records and one of buffers, and how it prints
// that: as a row for people, or as a line of JSON for scripts.
//
// Thread: one at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <vector>

namespace hummer::net_bench {

inline double quantile(std::vector<double> values, double share) {
  std::sort(values.begin(), values.end());
  const auto at = static_cast<std::size_t>(share * static_cast<double>(values.size()));
  return values[std::min(at, values.size() - 1)];
}
inline double median(const std::vector<double>& values) { return quantile(values, 0.5); }

struct Program {
  std::vector<double> records_per_second, nanoseconds_per_record;  // of the processor
  std::vector<double> one_us, full_us;                             // one way
};

struct Measured {
  Program plain, hummer;
  std::vector<double> ratios;
  std::uint64_t records = 0;
};

inline void print_heads(bool with_trips) {
  std::printf("%-10s %8s %14s %14s %7s %7s %11s %12s %6s", "form", "buffer", "plain rec/s",
              "hummer rec/s", "GB/s", "ratio", "plain ns/r", "hummer ns/r", "bytes");
  if (with_trips) std::printf("  %s", "p50/p99 us: one record, full buffer; plain in ()");
  std::printf("\n");
}

inline void print_row(const char* form, std::size_t record_bytes, std::size_t kib,
                      const Measured& measured) {
  const auto& [plain, hummer, ratios, records] = measured;
  const double rate = median(hummer.records_per_second);
  std::printf("%-10s %4zu KiB %14.0f %14.0f %7.2f %6.0f%% %11.2f %12.2f %6zu", form, kib,
              median(plain.records_per_second), rate,
              rate * static_cast<double>(record_bytes) / 1e9, 100 * median(ratios),
              median(plain.nanoseconds_per_record), median(hummer.nanoseconds_per_record),
              record_bytes);
  const auto print_trips = [](const std::vector<double>& of_plain,
                              const std::vector<double>& of_hummer) {
    if (of_hummer.empty()) return;
    std::printf("  %.1f/%.1f (%.1f/%.1f)", quantile(of_hummer, 0.5), quantile(of_hummer, 0.99),
                quantile(of_plain, 0.5), quantile(of_plain, 0.99));
  };
  print_trips(plain.one_us, hummer.one_us);
  print_trips(plain.full_us, hummer.full_us);
  std::printf("\n");
}

inline void print_object(const char* form, std::size_t record_bytes, std::size_t kib,
                         const Measured& measured) {
  std::printf(
      "{\"form\": \"%s\", \"record_bytes\": %zu, \"buffer_kib\": %zu, \"records\": %llu, "
      "\"ratio\": %.4f, \"ratios\": [",
      form, record_bytes, kib, static_cast<unsigned long long>(measured.records),
      median(measured.ratios));
  for (std::size_t i = 0; i < measured.ratios.size(); ++i) {
    std::printf("%s%.4f", i == 0 ? "" : ", ", measured.ratios[i]);
  }
  std::printf("]");
  for (const bool is_hummer : {false, true}) {
    const Program& program = is_hummer ? measured.hummer : measured.plain;
    std::printf(", \"%s\": {\"records_per_s\": %.0f, \"processor_ns_per_record\": %.3f",
                is_hummer ? "hummer" : "plain", median(program.records_per_second),
                median(program.nanoseconds_per_record));
    const auto print_trips = [](const char* what, const std::vector<double>& one_way) {
      if (one_way.empty()) return;
      std::printf(", \"%s_us\": {\"p50\": %.2f, \"p99\": %.2f}", what, quantile(one_way, 0.5),
                  quantile(one_way, 0.99));
    };
    print_trips("one_record", program.one_us);
    print_trips("full_buffer", program.full_us);
    std::printf("}");
  }
  std::printf("}\n");
}

}  // namespace hummer::net_bench
