// What TeraSort's programs share: their words, files, clock, and the line that they end with.
//
// For programs without the engine, too. Failures end the program.
#pragma once

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>

namespace terasort {

[[noreturn]] inline void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

[[noreturn]] inline void fail_file(const std::string& path) {
  fail(path + ": " + std::strerror(errno));
}

// --name value, and flags.
class Words {
 public:
  Words(int argc, char** argv, const std::string& usage) {
    for (int i = 1; i < argc; ++i) {
      const std::string name = argv[i];
      if (name == "--help" || name.substr(0, 2) != "--") fail("usage: " + usage);
      const bool is_flag = i + 1 == argc || std::strncmp(argv[i + 1], "--", 2) == 0;
      words_[name.substr(2)] = is_flag ? "" : argv[++i];
    }
  }
  bool has(const std::string& name) const { return words_.count(name) != 0; }
  std::string text(const std::string& name) const {
    const auto found = words_.find(name);
    if (found == words_.end()) fail("--" + name + " is missing");
    return found->second;
  }
  std::uint64_t number(const std::string& name, std::uint64_t otherwise) const {
    const auto found = words_.find(name);
    return found == words_.end() ? otherwise : std::strtoull(found->second.c_str(), nullptr, 10);
  }

 private:
  std::map<std::string, std::string> words_;
};

class File {
 public:
  File(std::string path, int flags) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0644);
    if (descriptor_ < 0) fail_file(path_);
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::uint64_t size_bytes() const {
    struct stat found;
    if (::fstat(descriptor_, &found) != 0) fail_file(path_);
    return static_cast<std::uint64_t>(found.st_size);
  }
  void read_at(std::uint64_t offset, char* into, std::size_t bytes) const {
    while (bytes > 0) {
      const ssize_t read = ::pread(descriptor_, into, bytes, static_cast<off_t>(offset));
      if (read <= 0) fail_file(path_);
      into += read;
      offset += static_cast<std::uint64_t>(read);
      bytes -= static_cast<std::size_t>(read);
    }
  }
  void write_at(std::uint64_t offset, const char* from, std::size_t bytes) const {
    while (bytes > 0) {
      const ssize_t written = ::pwrite(descriptor_, from, bytes, static_cast<off_t>(offset));
      if (written <= 0) fail_file(path_);
      from += written;
      offset += static_cast<std::uint64_t>(written);
      bytes -= static_cast<std::size_t>(written);
    }
  }

 private:
  const std::string path_;
  int descriptor_ = -1;
};

inline std::string part_path(const std::string& directory, std::uint64_t part) {
  char name[32];
  std::snprintf(name, sizeof name, "/part-r-%05u", static_cast<unsigned>(part));
  return directory + name;
}

// Makes it; parts of an earlier run go.
inline void make_output(const std::string& directory) {
  if (::mkdir(directory.c_str(), 0755) != 0 && errno != EEXIST) fail_file(directory);
  for (std::uint64_t part = 0; ::unlink(part_path(directory, part).c_str()) == 0; ++part) {
  }
}

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline double peak_resident_mib() {
  struct rusage used;
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1024;
}

// Of processors, by all threads: what others do on the machine hardly changes it.
inline double processor_seconds() {
  struct rusage used;
  ::getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

inline void report(const Words& words, const char* program, std::uint64_t records, double seconds,
                   const std::string& more_json, const std::string& more_text) {
  const double rate = static_cast<double>(records) / seconds;
  if (words.has("json")) {
    std::printf(
        "{\"program\": \"%s\", \"records\": %llu, \"seconds\": %.3f, \"records_per_second\": "
        "%.0f, \"processor_seconds\": %.3f, \"peak_resident_mib\": %.0f%s}\n",
        program, static_cast<unsigned long long>(records), seconds, rate, processor_seconds(),
        peak_resident_mib(), more_json.c_str());
  } else {
    std::printf(
        "%s: %llu records in %.3f s, %.2f M records/s, %.3f s of processors, %.0f MiB resident at "
        "most%s\n",
        program, static_cast<unsigned long long>(records), seconds, rate / 1e6, processor_seconds(),
        peak_resident_mib(), more_text.c_str());
  }
}

}  // namespace terasort
