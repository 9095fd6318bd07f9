// State that an earlier version of the engine has written is restored by this one: for each job of
// stateful_jobs.hpp the disk of that version is kept in tests/data/kept/VERSION/, from a savepoint
// that stopped the job, from its checkpoints when it was cancelled, and from a cluster whose
// processes were all killed. The lines before and after are those of a run that nothing has
// stopped.
//
// Before a release, once, this version's own are added; those that are there never change:
//
//   build/release/tests/hummer_simulated_tests --gtest_also_run_disabled_tests
//       --gtest_filter='*KeptState.DISABLED_IsKept*'
#include <gtest/gtest.h>
#include <zstd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "checkpoints/simulated_cluster.hpp"
#include "checkpoints/stateful_jobs.hpp"
#include "job_library/engine_abi.hpp"
#include "support/test_paths.hpp"

namespace hummer::kept_state_test {
namespace {

namespace fs = std::filesystem;
using stateful_jobs::StatefulJob;

const fs::path kept = fs::path(test_path("data")) / "kept";
constexpr int parallelism = 3;

// ---- disks as files ----

// All files of a disk: path, time and contents, one after the other, then compressed.
std::string packed(SimulatedPlatform& node) {
  std::string all;
  ByteWriter out(all);
  for (const auto& [path, contents] : node.files_below("")) {
    out.put_text(path);
    out.put_value(node.files().stat("/" + std::string(path))->modified_ms);
    out.put_text(contents);
  }
  all.resize(out.view().size());
  EXPECT_GT(all.size(), 1'000u) << "an empty disk";
  std::string small(ZSTD_compressBound(all.size()), ' ');
  small.resize(ZSTD_compress(small.data(), small.size(), all.data(), all.size(), 19));
  return small;
}

void unpack(const std::string& small, SimulatedPlatform& node) {
  Files& files = node.files();
  std::string all(ZSTD_getFrameContentSize(small.data(), small.size()), ' ');
  ASSERT_EQ(ZSTD_decompress(all.data(), all.size(), small.data(), small.size()), all.size());
  ByteReader in(all);
  while (in.left() > 0) {
    std::string_view path, contents;
    std::int64_t modified_ms = 0;
    ASSERT_TRUE(in.get_text(path) && in.get_value(modified_ms) && in.get_text(contents));
    const std::string absolute = "/" + std::string(path);
    ASSERT_TRUE(files.create_directories(fs::path(absolute).parent_path()).ok()) << absolute;
    auto file = files.open_for_writing(absolute, WriteMode::create_new);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_TRUE((*file)->append(contents).ok());
    ASSERT_TRUE((*file)->close().ok());
    node.set_modified(absolute, modified_ms);
  }
}

std::string read(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}

// ---- jobs ----

EnvironmentOptions options(int at_parallelism) {
  EnvironmentOptions options;
  options.parallelism = at_parallelism;
  options.batch_records = 16;
  options.channel_credits = 2;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 20;
  return options;
}

std::unique_ptr<SimulatedPlatform> new_node(std::uint64_t seed) {
  return make_simulated_platform({.seed = seed});
}

JobResult run(SimulatedPlatform& node, EnvironmentOptions options, std::string_view job) {
  options.platform = &node;
  StreamExecutionEnvironment env(options);
  return stateful_jobs::run_stateful_job(env, job);
}

std::vector<std::string> undisturbed(std::string_view job) {
  const auto node = new_node(1);
  stateful_jobs::write_input(node->files());
  const JobResult result = run(*node, options(2), job);
  EXPECT_TRUE(result.ok()) << result.status.to_string();
  return visible_lines(node->files(), "/out");
}

// ---- from an earlier version ----

struct Kept {
  std::string version;
  StatefulJob job;
};

std::vector<Kept> all_kept() {
  std::vector<Kept> all;
  for (const auto& version : fs::directory_iterator(kept)) {
    for (const StatefulJob& job : stateful_jobs::all) {
      // A version has those that there were at its time.
      if (fs::exists(version.path() / (std::string(job.name) + ".savepoint"))) {
        all.push_back({version.path().filename(), job});
      }
    }
  }
  return all;
}

// The jobs leave their uids to be generated, of names of types too. What is kept was written by
// programs that GCC had compiled; here those of any compiler restore it.
class RestoredFrom : public testing::TestWithParam<Kept> {
 protected:
  void SetUp() override { stateful_jobs::planned.every = 0; }
  std::string disk(const std::string& kind) const {
    return read(kept / GetParam().version / (GetParam().job.name + ("." + kind)));
  }
};
INSTANTIATE_TEST_SUITE_P(Versions, RestoredFrom, testing::ValuesIn(all_kept()),
                         [](const auto& each) {
                           std::string name = each.param.version + "_" + each.param.job.name;
                           std::replace(name.begin(), name.end(), '.', '_');
                           return name;
                         });

TEST_P(RestoredFrom, ASavepointIsAtAnyParallelism) {
  const auto lines = undisturbed(GetParam().job.name);
  for (const int now : {1, 2, 4}) {
    const auto node = new_node(10);
    unpack(disk("savepoint"), *node);
    EnvironmentOptions next = options(now);
    next.checkpoints.restore =
        "/savepoints/" + node->files().list_directory("/savepoints")->front();
    const JobResult result = run(*node, next, GetParam().job.name);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(visible_lines(node->files(), "/out"), lines);
  }
}

TEST_P(RestoredFrom, TheLatestCheckpointIsAndWhatWasPreparedIsCommitted) {
  const auto lines = undisturbed(GetParam().job.name);
  for (const int now : {parallelism, 2}) {
    const auto node = new_node(11);
    unpack(disk("checkpoint"), *node);
    EnvironmentOptions next = options(now);
    next.checkpoints.restore = "latest";
    const JobResult result = run(*node, next, GetParam().job.name);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(visible_lines(node->files(), "/out"), lines);
  }
}

TEST_P(RestoredFrom, AClusterGoesOnWithItsJournal) {
  const auto lines = undisturbed(GetParam().job.name);
  SimulatedCluster cluster(12, 2, 2, &stateful_jobs::run_named_job, SimulatedCluster::Disks::shared,
                           [this](SimulatedPlatform& store) { unpack(disk("cluster"), store); });
  const wire::JobStatus end = cluster.end_of(1);
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), lines);
}

// ---- of this version ----

class KeptState : public testing::TestWithParam<StatefulJob> {
 protected:
  void SetUp() override { stateful_jobs::planned.every = 0; }
  const char* name() const { return GetParam().name; }
  void keep(SimulatedPlatform& node, const std::string& kind) const {
    const fs::path folder = kept / engine_version();
    fs::create_directories(folder);
    const fs::path path = folder / (name() + ("." + kind));
    ASSERT_FALSE(fs::exists(path)) << path << " is kept as it is";
    std::ofstream(path, std::ios::binary) << packed(node);
  }
};
INSTANTIATE_TEST_SUITE_P(All, KeptState, testing::ValuesIn(stateful_jobs::all),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(KeptState, DISABLED_IsKept) {
  for (const bool by_savepoint : {true, false}) {
    const auto node = new_node(2);
    stateful_jobs::write_input(node->files());
    EnvironmentOptions first = options(parallelism);
    first.platform = node.get();
    StreamExecutionEnvironment env(first);
    for (const StatefulJob& job : stateful_jobs::all) {
      if (job.name == std::string_view(name())) job.build(env);
    }
    JobHandle job = env.execute_async(name());
    (void)node->run_until([] { return false; }, node->now() + milliseconds(150));
    if (by_savepoint) {
      const Result<std::string> path = job.stop_with_savepoint("/savepoints");
      ASSERT_TRUE(path.ok()) << path.status().to_string();
      ASSERT_TRUE(job.wait().ok());
      keep(*node, "savepoint");
    } else {
      job.cancel();
      ASSERT_EQ(job.wait().status.code(), ErrorCode::cancelled);
      keep(*node, "checkpoint");
    }
  }
  SimulatedCluster cluster(3, 2, 2, &stateful_jobs::run_named_job);
  stateful_jobs::write_input(cluster.store.files());
  const std::uint64_t job = cluster.submit(options(parallelism), {std::string("--case=") + name()});
  ASSERT_EQ(job, 1u);
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 3; }));
  for (SimulatedCluster::Worker& worker : cluster.workers) cluster.kill(worker);
  cluster.job_manager_node->kill();
  keep(cluster.store, "cluster");
}

}  // namespace
}  // namespace hummer::kept_state_test
