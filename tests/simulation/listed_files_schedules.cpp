// What a job reads is decided once: workers that see different files, files that change while they
// are read, files that appear between attempts. The job is refused by name, or its result is that
// of the files as they were when it began; it is never something else.
#include <gtest/gtest.h>
#include <hummer/hummer.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "simulation/drawn_schedules.hpp"

namespace hummer {
namespace {

using FilesByName = std::map<std::string, std::string>;

JobResult lines_counted(StreamExecutionEnvironment& env) {
  env.from_file("/in", {.split_size_bytes = 64, .block_size_bytes = 32})
      .flat_map([](std::string_view line, Collector<std::string_view>& out) { out.emit(line); })
      .key_by(identity)
      .count()
      .write_file("/out");
  return env.execute("lines counted");
}

void put(SimulatedPlatform& node, const std::string& path, const std::string& text,
         WriteMode mode = WriteMode::truncate) {
  ASSERT_TRUE(node.files().create_directories("/in").ok());
  auto file = node.files().open_for_writing(path, mode);
  ASSERT_TRUE(file.ok() && (*file)->append(text).ok());
}

// Every line once, all different.
FilesByName draw_files(Random& random) {
  FilesByName files;
  const std::uint64_t count = 1 + random.below(6);
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string name = std::string(1, static_cast<char>('b' + i)) + ".txt";
    std::string& text = files[name];
    const std::uint64_t lines = 1 + random.below(120);
    for (std::uint64_t line = 0; line < lines; ++line) {
      text += name + " " + std::to_string(line) + std::string(random.below(20), '.') + "\n";
    }
  }
  return files;
}

// "<line>\t1" of all of them.
std::vector<std::string> counts_of(const FilesByName& files) {
  std::vector<std::string> lines;
  for (const auto& [name, text] : files) {
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line + "\t1");
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::vector<std::string> lines_of_file(SimulatedPlatform& node, const std::string& path) {
  std::vector<std::string> lines;
  for (const auto& [name, text] : node.files_below("")) {
    if (name != path) continue;
    std::istringstream stream{std::string(text)};
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::map<std::string, int> ends;  // what became of the schedules

void expect_refused_by_name(const wire::JobStatus& end) {
  const auto code = static_cast<ErrorCode>(end.failure().code());
  EXPECT_TRUE(code == ErrorCode::file_changed || code == ErrorCode::not_found)
      << end.failure().message();
  EXPECT_NE(end.failure().message().find("'/in/"), std::string::npos) << end.failure().message();
  ++ends["refused by name"];
}

// Two workers with disks of their own.
void see_different_files(std::uint64_t seed) {
  Random random(seed);
  SimulatedCluster cluster(seed, 2, 2, &lines_counted, SimulatedCluster::Disks::own);
  FilesByName seen[2];
  seen[0] = draw_files(random);
  seen[1] = seen[0];
  const std::string name =
      std::next(seen[1].begin(), static_cast<std::ptrdiff_t>(random.below(seen[1].size())))->first;
  std::string& text = seen[1].at(name);
  const std::uint64_t how = random.below(6);
  switch (how) {
    case 0: break;  // the same on both
    case 1: text[random.below(text.size() - 1)] = 'X'; break;
    case 2: text += "one more\n"; break;
    case 3: text = text.substr(0, text.find('\n') + 1); break;
    case 4: seen[1].erase(name); break;
    default: seen[1]["a.txt"] = "in front of all others\n"; break;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    ASSERT_TRUE(cluster.workers[i].node->files().create_directories("/in").ok());
    for (const auto& [file, content] : seen[i])
      put(*cluster.workers[i].node, "/in/" + file, content);
  }
  EnvironmentOptions options;
  options.parallelism = 4;
  const wire::JobStatus end = cluster.end_of(cluster.submit(options));
  if (end.state() == wire::JOB_FAILED &&
      end.failure().message().find("'/in'") == std::string::npos) {
    return expect_refused_by_name(end);
  }
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  std::vector<std::string> lines = lines_of_file(*cluster.workers[0].node, "out");
  if (lines.empty()) lines = lines_of_file(*cluster.workers[1].node, "out");
  EXPECT_TRUE(lines == counts_of(seen[0]) || lines == counts_of(seen[1]))
      << lines.size() << " lines instead of " << counts_of(seen[0]).size() << ", kind " << how;
  ++ends["finished with what one of them sees"];
}

// One disk, on which something happens while the job runs, and workers die.
void change_while_they_are_read(std::uint64_t seed) {
  Random random(seed);
  SimulatedCluster cluster(seed, 2, 2, &lines_counted);
  const FilesByName before = draw_files(random);
  ASSERT_TRUE(cluster.store.files().create_directories("/in").ok());
  for (const auto& [file, content] : before) put(cluster.store, "/in/" + file, content);
  EnvironmentOptions options;
  options.parallelism = 4;
  options.batch_records = 16;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 5;
  options.restart = RestartStrategy::fixed_delay(20, 5);
  const std::uint64_t job = cluster.submit(options);
  const std::uint64_t changes = 1 + random.below(3);
  FilesByName after = before;
  bool old_files_change = false;
  for (std::uint64_t i = 0; i < changes; ++i) {
    cluster.let_pass(random.between(0, milliseconds(12)));
    if (random.chance(0.5)) {
      SimulatedCluster::Worker& victim = cluster.workers[random.below(2)];
      cluster.kill(victim);
      cluster.restart(victim);
    }
    const std::string name =
        std::next(before.begin(), static_cast<std::ptrdiff_t>(random.below(before.size())))->first;
    if (random.chance(0.5)) {
      // In front of all others, and between two listings.
      after["a" + std::to_string(i)] = "which came later " + std::to_string(i) + "\n";
      put(cluster.store, "/in/a" + std::to_string(i), after["a" + std::to_string(i)]);
    } else {
      old_files_change = true;
      put(cluster.store, "/in/" + name, "appended " + std::to_string(i) + "\n", WriteMode::append);
      after[name] += "appended " + std::to_string(i) + "\n";
    }
  }
  const wire::JobStatus end = cluster.end_of(job);
  if (end.state() == wire::JOB_FAILED) {
    EXPECT_TRUE(old_files_change) << end.failure().message();
    return expect_refused_by_name(end);
  }
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  // Lines that came before the listing are there, those behind it are not: nothing is there in
  // part.
  const std::vector<std::string> lines = visible_lines(cluster.store.files(), "/out");
  const std::vector<std::string> least = counts_of(before), most = counts_of(after);
  EXPECT_TRUE(std::includes(lines.begin(), lines.end(), least.begin(), least.end()))
      << lines.size() << " lines of " << least.size();
  EXPECT_TRUE(std::includes(most.begin(), most.end(), lines.begin(), lines.end()))
      << lines.size() << " lines of " << most.size();
  ++ends["finished with the files as they were"];
}

TEST(ListedFiles, WorkersThatSeeDifferentFilesAreFoundOut) {
  for_each_seed(8, [](std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    see_different_files(seed);
  });
}

TEST(ListedFiles, FilesThatChangeOrAppearWhileAJobReadsAreNeverReadInPart) {
  for_each_seed(8, [](std::uint64_t seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    change_while_they_are_read(seed);
  });
  for (const auto& [what, count] : ends) {
    testing::Test::RecordProperty(what, count);
    std::printf("%s: %d\n", what.c_str(), count);
  }
}

}  // namespace
}  // namespace hummer
