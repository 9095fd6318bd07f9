// Report: what a program of this folder says at its end, one line of JSON that `run` reads.
//
// Metrics are of the process's own clock and processor time; `instructions` are not available on
// every machine and are left to the profiler.
#pragma once

#include <sys/resource.h>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>

namespace micro {

class Stopwatch {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
  }

 private:
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

// User and system time of this process so far.
inline double processor_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

inline void report(const char* name, std::uint64_t records, double seconds, std::uint64_t hash,
                   std::uint64_t watermarks = 0, std::FILE* file = stdout) {
  std::fprintf(file,
               "{\"name\": \"%s\", \"records\": %" PRIu64
               ", \"seconds\": %.6f, "
               "\"processor_seconds\": %.6f, \"hash\": \"%016" PRIx64 "\", \"watermarks\": %" PRIu64
               "}\n",
               name, records, seconds, processor_seconds(), hash, watermarks);
  std::fflush(file);
}

}  // namespace micro
