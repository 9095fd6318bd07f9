// A directory that is followed and a sink that rolls its files, while files arrive, workers die at
// drawn moments and the job goes on at another parallelism: every line of every file is in one
// visible file, once.
#include <gtest/gtest.h>
#include <hummer/files.hpp>
#include <hummer/hummer.hpp>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>

#define ZLIB_CONST
#include <zlib.h>

#include "checkpoints/simulated_cluster.hpp"
#include "simulation/drawn_schedules.hpp"

namespace hummer {
namespace {

// What the files of one line are: "<group> <file> <number>".
std::string group_of(std::string_view line) { return "group=" + std::string(line.substr(0, 1)); }

JobResult rolled(StreamExecutionEnvironment& env) {
  const auto number = [&](const char* name, const char* otherwise) {
    return std::stoull(env.argument_or(name, otherwise));
  };
  FollowOptions follow{.order = number("by-name", "0") != 0 ? FileOrder::name : FileOrder::time,
                       .discovery_interval_ms = 5,
                       .settle_ms = 20,
                       .end_marker = "_END"};
  follow.file.split_size_bytes = number("split-bytes", "100");
  follow.file.block_size_bytes = 64;
  RollOptions roll{.roll_bytes = number("roll-bytes", "500"),
                   .roll_records = number("roll-records", "0"),
                   .roll_ms = 100,
                   .idle_ms = 40,
                   .roll_at_checkpoints = number("roll-at-checkpoints", "0") != 0,
                   .max_open_partitions = number("open", "2"),
                   .success_markers = true};
  roll.compression = number("gzip", "0") != 0 ? FileCompression::gzip : FileCompression::none;
  const auto lines = follow_files(env, "/in", follow).lines();
  write_files(lines, "/out", roll, [](std::string_view line) { return group_of(line); });
  return env.execute("rolled");
}

std::string gunzip(std::string_view packed) {
  std::string text(1 << 20, '\0');
  std::size_t used = 0;
  while (!packed.empty()) {
    z_stream stream{};
    EXPECT_EQ(inflateInit2(&stream, 16 + MAX_WBITS), Z_OK);
    stream.next_in = reinterpret_cast<const Bytef*>(packed.data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = reinterpret_cast<Bytef*>(text.data() + used);
    stream.avail_out = static_cast<uInt>(text.size() - used);
    const int answer = inflate(&stream, Z_FINISH);
    EXPECT_EQ(answer, Z_STREAM_END);
    packed.remove_prefix(stream.total_in);
    used += stream.total_out;
    inflateEnd(&stream);
    if (answer != Z_STREAM_END) break;
  }
  text.resize(used);
  return text;
}

bool is_hidden(std::string_view path) {
  return path.starts_with('.') || path.starts_with('_') || path.find("/.") != path.npos ||
         path.find("/_") != path.npos;
}

class Followed {
 public:
  explicit Followed(std::uint64_t seed)
      : random_(seed), seed_(seed), cluster_(seed, 3, 2, &rolled) {}

  void run() {
    EnvironmentOptions options;
    options.batch_records = 16;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = random_.between(10, 60);
    options.checkpoints.unaligned = random_.chance(0.3);
    options.restart = RestartStrategy::fixed_delay(1000, 5);
    const std::vector<std::string> arguments = draw_arguments();
    ASSERT_TRUE(cluster_.store.files().create_directories("/in").ok());
    const std::uint64_t phases = 1 + random_.below(3);
    for (std::uint64_t phase = 1; phase <= phases; ++phase) {
      options.parallelism = 1 + static_cast<int>(random_.below(4));
      const std::uint64_t job = cluster_.submit(options, arguments);
      while (random_.chance(0.85)) happen();
      if (phase < phases) {
        ASSERT_TRUE(stop(job, options.checkpoints.restore)) << cluster_.last_failure.message();
        ++ends["stopped and gone on with"];
        continue;
      }
      finish_files();
      put("/in/_END", "");
      const wire::JobStatus end = cluster_.end_of(job);
      ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
    }
    check();
  }

  static std::map<std::string, int> ends;

 private:
  std::vector<std::string> draw_arguments() {
    const auto drawn = [&](const char* name, std::uint64_t value) {
      return "--" + std::string(name) + "=" + std::to_string(value);
    };
    return {drawn("by-name", random_.below(2)),
            drawn("gzip", random_.below(2)),
            drawn("split-bytes", 20 + random_.below(300)),
            drawn("roll-bytes", 100 + random_.below(2000)),
            drawn("roll-records", random_.below(2) * random_.below(20)),
            drawn("roll-at-checkpoints", random_.below(2)),
            drawn("open", 1 + random_.below(4))};
  }

  // A savepoint may fail while workers die; it is asked for until it does not.
  bool stop(std::uint64_t job, std::string& path) {
    for (int tries = 0; tries < 100; ++tries) {
      path = cluster_.savepoint(job, "/savepoints", true);
      if (!path.empty()) {
        return cluster_.end_of(job).state() == wire::JOB_FINISHED;
      }
      cluster_.let_pass(milliseconds(30));
    }
    return false;
  }

  void happen() {
    cluster_.let_pass(random_.between(0, milliseconds(40)));
    switch (random_.below(5)) {
      case 0: return die();
      case 1: return grow();
      default: return arrive();
    }
  }

  void die() {
    SimulatedCluster::Worker& victim = cluster_.workers[random_.below(3)];
    if (random_.chance(0.8)) {
      victim.node->kill_at_disk_operation(1 + random_.below(40));
      cluster_.let_pass(milliseconds(50));
      victim.node->kill_at_disk_operation(0);
    }
    cluster_.kill(victim);
    cluster_.restart(victim);
    ++ends["workers killed"];
  }

  std::string draw_lines(const std::string& name) {
    std::string text;
    for (std::uint64_t left = random_.below(40); left > 0; --left) {
      const std::string line = std::string(1, static_cast<char>('a' + random_.below(4))) + " " +
                               name + " " + std::to_string(lines_.size());
      lines_.push_back(line);
      text += line + "\n";
    }
    return text;
  }

  // Under its name at once, or renamed to it.
  void arrive() {
    const std::string name = std::to_string(random_.below(1000)) + "-" + std::to_string(++files_);
    const std::string folder = random_.chance(0.3) ? "/in/sub" : "/in";
    ASSERT_TRUE(cluster_.store.files().create_directories(folder).ok());
    const std::string text = draw_lines(name);
    if (random_.chance(0.5)) return put(folder + "/" + name, text);
    put(folder + "/" + name + ".tmp", text);
    ASSERT_TRUE(
        cluster_.store.files().rename(folder + "/" + name + ".tmp", folder + "/" + name).ok());
  }

  // By a writer that takes its time, but never as long as files settle.
  void grow() {
    const std::string name = "grows-" + std::to_string(++files_);
    for (int part = 0; part < 4; ++part) {
      put("/in/" + name, draw_lines(name), WriteMode::append);
      cluster_.let_pass(milliseconds(5));
    }
  }

  void finish_files() { arrive(); }

  void put(const std::string& path, const std::string& text, WriteMode mode = WriteMode::truncate) {
    auto file = cluster_.store.files().open_for_writing(path, mode);
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE((*file)->append(text).ok());
    ASSERT_TRUE((*file)->close().ok());
  }

  void check() {
    std::vector<std::string> found;
    std::map<std::string, bool> marked;  // by partition
    int files = 0;
    for (const auto& [path, bytes] : cluster_.store.files_below("/out")) {
      const std::string folder(path.substr(0, path.find('/')));
      if (path.ends_with("_SUCCESS")) marked[folder] = true;
      if (is_hidden(path)) {
        EXPECT_FALSE(path.ends_with(".pending") || path.ends_with(".whole")) << path;
        continue;
      }
      ++files;
      marked.try_emplace(folder, false);
      std::istringstream text(path.ends_with(".gz") ? gunzip(bytes) : std::string(bytes));
      for (std::string line; std::getline(text, line);) {
        EXPECT_EQ(folder, group_of(line)) << path;
        found.push_back(line);
      }
    }
    std::sort(found.begin(), found.end());
    std::sort(lines_.begin(), lines_.end());
    EXPECT_EQ(found.size(), lines_.size());
    EXPECT_TRUE(found == lines_);
    for (const auto& [folder, is_marked] : marked) EXPECT_TRUE(is_marked) << folder;
    ends["lines"] += static_cast<int>(found.size());
    ends["files rolled"] += files;
  }

  Random random_;
  const std::uint64_t seed_;
  SimulatedCluster cluster_;
  std::vector<std::string> lines_;
  int files_ = 0;
};

std::map<std::string, int> Followed::ends;

TEST(FollowedFiles, EveryLineOfEveryFileIsInOneVisibleFileOnce) {
  for_each_seed(8, [](std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Followed(seed).run();
  });
  for (const auto& [what, count] : Followed::ends) std::printf("%s: %d\n", what.c_str(), count);
}

}  // namespace
}  // namespace hummer
