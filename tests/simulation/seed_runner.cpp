#include "simulation/seed_runner.hpp"

#include <fmt/format.h>

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <optional>
#include <sstream>
#include <vector>

namespace hummer::cluster_simulation {
namespace {

// Of processor time, for one seed: a hundred times what it takes.
constexpr unsigned hang_seconds = 20;
// A run that neither goes on nor computes.
constexpr unsigned blocked_seconds = 300;

struct Seeds {
  std::uint64_t first = 1;
  std::uint64_t last = 100;
};

struct Totals {
  std::uint64_t seeds = 0;
  std::uint64_t failed = 0;
  Nanoseconds virtual_ns = 0;
  Nanoseconds shortest_ns = never;
  std::uint64_t steps = 0;
  std::map<std::string, std::uint64_t> added;
  std::map<std::string, std::uint64_t> least;
};

// A child's lines: "begin SEED", "violation SEED TEXT", "total SEED COUNT NAME", "least SEED COUNT
// NAME", and when a seed is through "end SEED VIRTUAL_NS STEPS".
std::string result_lines(const SeedReport& report) {
  std::string lines;
  for (const auto& [name, count] : report.totals) {
    lines += fmt::format("total {} {} {}\n", report.seed, count, name);
  }
  for (const auto& [name, count] : report.least) {
    lines += fmt::format("least {} {} {}\n", report.seed, count, name);
  }
  return lines + fmt::format("end {} {} {}\n", report.seed, report.virtual_ns, report.steps);
}

void say(int pipe, const std::string& line) {
  std::size_t done = 0;
  while (done < line.size()) {
    const ssize_t put = write(pipe, line.data() + done, line.size() - done);
    if (put <= 0) _exit(3);
    done += static_cast<std::size_t>(put);
  }
}

// Ends this process by a signal when a seed takes too long.
void watch(bool on) {
  itimerval time{};
  time.it_value.tv_sec = on ? hang_seconds : 0;
  setitimer(ITIMER_PROF, &time, nullptr);
  alarm(on ? blocked_seconds : 0);
}

[[noreturn]] void run_child(Simulate simulate, int pipe, std::uint64_t seed, std::uint64_t last,
                            std::uint64_t step) {
  for (; seed <= last; seed += step) {
    say(pipe, fmt::format("begin {}\n", seed));
    watch(true);
    const SeedReport report = simulate({.seed = seed});
    watch(false);
    for (const std::string& text : report.violations) {
      std::string one_line = text;
      std::replace(one_line.begin(), one_line.end(), '\n', ' ');
      say(pipe, fmt::format("violation {} {}\n", seed, one_line));
    }
    say(pipe, result_lines(report));
  }
  _exit(0);
}

class Runner {
 public:
  Runner(const Simulator& simulator, Seeds seeds, std::uint64_t jobs, bool until_failure)
      : simulator_(simulator), seeds_(seeds), jobs_(jobs), until_failure_(until_failure) {}

  int run() {
    for (std::uint64_t i = 0; i < jobs_; ++i) start(seeds_.first + i);
    while (!children_.empty()) {
      std::vector<pollfd> waits;
      for (const Child& child : children_) waits.push_back({child.pipe, POLLIN, 0});
      if (poll(waits.data(), waits.size(), -1) < 0) break;
      for (std::size_t i = waits.size(); i-- > 0;) {
        if (waits[i].revents != 0) read_from(i);
      }
      if (until_failure_ && totals_.failed > 0) break;
    }
    for (const Child& child : children_) kill(child.process, SIGKILL);
    print();
    return totals_.failed == 0 ? 0 : 1;
  }

 private:
  struct Child {
    pid_t process;
    int pipe;
    std::uint64_t seed = 0;  // under way; 0: none
    bool violated = false;
    std::string text = {};
  };

  void start(std::uint64_t seed) {
    if (seed > seeds_.last) return;
    int ends[2];
    if (pipe(ends) != 0) std::abort();
    const pid_t process = fork();
    if (process == 0) {
      close(ends[0]);
      run_child(simulator_.simulate, ends[1], seed, seeds_.last, jobs_);
    }
    close(ends[1]);
    children_.push_back({.process = process, .pipe = ends[0]});
  }

  void read_from(std::size_t index) {
    Child& child = children_[index];
    char bytes[4096];
    const ssize_t got = read(child.pipe, bytes, sizeof(bytes));
    if (got > 0) {
      child.text.append(bytes, static_cast<std::size_t>(got));
      for (std::size_t end; (end = child.text.find('\n')) != std::string::npos;) {
        const std::string line = child.text.substr(0, end);
        child.text.erase(0, end + 1);
        handle(child, line);
      }
      return;
    }
    close(child.pipe);
    int status = 0;
    waitpid(child.process, &status, 0);
    const std::uint64_t seed = child.seed;
    children_.erase(children_.begin() + static_cast<std::ptrdiff_t>(index));
    if (seed == 0) return;
    // It died under way: the others of its seeds go to a new one.
    const bool hung =
        WIFSIGNALED(status) && (WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGPROF);
    fail(seed, hung ? std::string("it hangs")
                    : fmt::format("it crashed ({})",
                                  WIFSIGNALED(status) ? strsignal(WTERMSIG(status)) : "exit"));
    ++totals_.failed;
    ++totals_.seeds;
    start(seed + jobs_);
  }

  void fail(std::uint64_t seed, const std::string& text) {
    fmt::print("seed {}: {}\n", seed, text);
    std::fflush(stdout);
  }

  void handle(Child& child, const std::string& line) {
    std::istringstream in(line);
    std::string word;
    std::uint64_t seed = 0;
    in >> word >> seed;
    if (word == "begin") {
      child.seed = seed;
      child.violated = false;
    } else if (word == "violation") {
      std::string text;
      std::getline(in, text);
      fail(seed, text);
      child.violated = true;
    } else if (word == "end") {
      end(child, in);
    } else {
      std::uint64_t count = 0;
      std::string name;
      in >> count >> std::ws;
      std::getline(in, name);
      if (word == "total") {
        totals_.added[name] += count;
      } else {
        std::uint64_t& least = totals_.least.try_emplace(name, UINT64_MAX).first->second;
        least = std::min(least, count);
      }
    }
  }

  void end(Child& child, std::istringstream& in) {
    std::uint64_t steps = 0;
    Nanoseconds virtual_ns = 0;
    in >> virtual_ns >> steps;
    totals_.virtual_ns += virtual_ns;
    totals_.shortest_ns = std::min(totals_.shortest_ns, virtual_ns);
    totals_.steps += steps;
    ++totals_.seeds;
    totals_.failed += child.violated ? 1 : 0;
    child.seed = 0;
  }

  void print() const {
    for (const auto& [name, count] : totals_.added) fmt::print("{}: {}\n", name, count);
    for (const auto& [name, count] : totals_.least) fmt::print("{}: {}\n", name, count);
    rusage used{};
    getrusage(RUSAGE_CHILDREN, &used);
    const double cpu = static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
    const bool any = totals_.shortest_ns != never;
    fmt::print("seeds: {} ({}..{})\nshortest run: {:.1f} s\n", totals_.seeds, seeds_.first,
               seeds_.last, any ? static_cast<double>(totals_.shortest_ns) / 1e9 : 0.0);
    fmt::print("virtual hours: {:.1f}\nsteps: {}\nprocessor seconds per seed: {:.3f}\nfailed: {}\n",
               static_cast<double>(totals_.virtual_ns) / 3600e9, totals_.steps,
               totals_.seeds == 0 ? 0 : cpu / static_cast<double>(totals_.seeds), totals_.failed);
    if (totals_.failed > 0) fmt::print("to see one: {} --verbose SEED\n", simulator_.name);
  }

  const Simulator& simulator_;
  const Seeds seeds_;
  const std::uint64_t jobs_;
  const bool until_failure_;
  std::vector<Child> children_;
  Totals totals_;
};

std::optional<Seeds> parse_seeds(const std::string& text) {
  try {
    const std::size_t dots = text.find("..");
    const std::uint64_t first = std::stoull(text.substr(0, dots));
    const std::uint64_t last = dots == text.npos ? first : std::stoull(text.substr(dots + 2));
    if (first == 0 || last < first) return std::nullopt;
    return Seeds{first, last};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

int usage(const std::string& name) {
  fmt::print(stderr,
             "usage: {0} --seeds FIRST..LAST [--jobs N] [--until-failure]\n"
             "       {0} --verbose SEED\n"
             "       {0} --trace-hash FIRST..LAST\n",
             name);
  return 2;
}

int run_verbose(const Simulator& simulator, std::uint64_t seed) {
  const SeedReport report = simulator.simulate({.seed = seed, .verbose = true});
  for (const auto& [name, count] : report.totals) fmt::print("{}: {}\n", name, count);
  fmt::print("seed {}: {:.1f} virtual seconds, {} steps, trace {:016x}\n", seed,
             static_cast<double>(report.virtual_ns) / 1e9, report.steps, report.trace_hash);
  for (const std::string& text : report.violations) fmt::print("VIOLATION {}\n", text);
  return report.violations.empty() ? 0 : 1;
}

}  // namespace

int run_simulator(int argc, char** argv, const Simulator& simulator) {
  std::optional<Seeds> seeds, hashes, verbose;
  std::uint64_t jobs = 1;
  bool until_failure = false;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option == "--until-failure") {
      until_failure = true;
      continue;
    }
    if (i + 1 >= argc) return usage(simulator.name);
    const std::optional<Seeds> value = parse_seeds(argv[++i]);
    if (!value) return usage(simulator.name);
    if (option == "--seeds") {
      seeds = value;
    } else if (option == "--jobs") {
      jobs = value->first;
    } else if (option == "--verbose") {
      verbose = value;
    } else if (option == "--trace-hash") {
      hashes = value;
    } else {
      return usage(simulator.name);
    }
  }
  if (verbose) return run_verbose(simulator, verbose->first);
  if (hashes) {
    for (std::uint64_t seed = hashes->first; seed <= hashes->last; ++seed) {
      fmt::print("{} {:016x}\n", seed, simulator.simulate({.seed = seed}).trace_hash);
    }
    return 0;
  }
  if (!seeds) return usage(simulator.name);
  return Runner(simulator, *seeds, jobs, until_failure).run();
}

}  // namespace hummer::cluster_simulation
