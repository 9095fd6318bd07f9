// Checkpoints and savepoints in a real object store, by jobs that run in processes of their own.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <thread>

#include "platform/object_files.hpp"
#include "platform/platform.hpp"
#include "state/checkpoint_store.hpp"
#include "support/test_paths.hpp"
#include "testing/store_for_test.hpp"

namespace hummer::s3::checkpoints_test {
namespace {

constexpr int keys = 500;

class S3Checkpoints : public testing::Test {
 protected:
  void SetUp() override {
    store = StoreForTest::shared();
    if (store == nullptr) GTEST_SKIP() << StoreForTest::why_not();
    store->faults("{}");
    store->reset_counts();
    output = testing::TempDir() + "s3-checkpoints-" + std::to_string(::getpid());
    std::filesystem::remove_all(output);
    checkpoints = "s3://tests/" + store->make_folder("checkpoints");
    ::setenv("AWS_ENDPOINT_URL", store->endpoint().c_str(), 1);
    ::setenv("AWS_ACCESS_KEY_ID", "key", 1);
    ::setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
    ::setenv("HUMMER_PLUGIN_PATH", test_path("plugins").c_str(), 1);
    platform = make_linux_platform();
  }
  void TearDown() override {
    if (store != nullptr) store->faults("{}");
    if (!output.empty()) std::filesystem::remove_all(output);
  }

  pid_t begin(std::vector<std::string> more) {
    std::vector<std::string> words{test_path("counting"),
                                   "--output",
                                   output,
                                   "--keys",
                                   std::to_string(keys),
                                   "--checkpoint-dir",
                                   checkpoints,
                                   "--checkpoint-interval-ms",
                                   "200"};
    words.insert(words.end(), more.begin(), more.end());
    const pid_t process = ::fork();
    if (process == 0) {
      std::vector<char*> arguments;
      for (std::string& word : words) arguments.push_back(word.data());
      arguments.push_back(nullptr);
      std::freopen((output + ".log").c_str(), "a", stderr);
      ::execv(words[0].c_str(), arguments.data());
      ::_exit(127);
    }
    return process;
  }
  int end_of(pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  std::string log() {
    std::ifstream file(output + ".log");
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }
  // Waits until so many checkpoints are complete, by their numbers.
  void await(std::uint64_t number) {
    const CheckpointStore of(platform->files(), checkpoints);
    for (int i = 0; i < 2'000; ++i) {
      const auto ids = of.ids();
      ASSERT_TRUE(ids.ok()) << ids.status().to_string();
      for (const std::uint64_t id : *ids) {
        if (id >= number && of.read(id).ok()) return;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    FAIL() << "no checkpoint " << number << " came: " << log();
  }
  std::uint64_t last_complete() {
    std::vector<SkippedCheckpoint> skipped;
    const auto newest = CheckpointStore(platform->files(), checkpoints).newest(skipped);
    EXPECT_TRUE(newest.ok()) << newest.status().to_string();
    return newest.ok() ? newest->id : 0;
  }
  // Of each key the numbers from 1 on, each once.
  void expect_exactly(std::uint64_t numbers) {
    std::map<std::uint64_t, std::vector<bool>> seen;
    std::uint64_t lines = 0;
    for (const auto& entry : std::filesystem::directory_iterator(output)) {
      if (entry.path().filename().string().starts_with(".")) continue;
      std::ifstream file(entry.path());
      std::uint64_t key = 0, count = 0;
      while (file >> key >> count) {
        ++lines;
        ASSERT_LE(count, numbers / keys);
        auto& of = seen[key];
        of.resize(numbers / keys + 1);
        ASSERT_FALSE(of[count]) << "twice: " << key << " " << count;
        of[count] = true;
      }
    }
    EXPECT_EQ(lines, numbers);
  }

  StoreForTest* store = nullptr;
  std::string output;
  std::string checkpoints;
  std::unique_ptr<Platform> platform;
};

TEST_F(S3Checkpoints, AJobThatIsKilledGoesOn) {
  // So slow that it does not end before it is killed, however long the store takes.
  const pid_t killed = begin({"--numbers", "60000", "--rate", "200", "--parallelism", "2"});
  await(3);
  ::kill(killed, SIGKILL);
  (void)end_of(killed);
  const std::string behind_last = CheckpointStore::path_in(checkpoints, last_complete() + 1);
  EXPECT_EQ(end_of(begin({"--numbers", "60000", "--rate", "60000", "--parallelism", "3",
                          "--restore", "latest"})),
            0)
      << log();
  EXPECT_NE(log().find("goes on from checkpoint"), std::string::npos) << log();
  expect_exactly(60000);
  // Nothing is left of a job that has finished, but a segment of the checkpoint that was under way
  // at the kill: nobody knows whose it is, so it goes when it is a day old.
  const auto left = store->client().list("tests", checkpoints.substr(11));
  ASSERT_TRUE(left.ok());
  for (const auto& object : left->objects) {
    const std::string path = "s3://tests/" + object.key;
    EXPECT_TRUE(path.starts_with(behind_last + "/") && path.ends_with(".segment")) << path;
  }
}

TEST_F(S3Checkpoints, OneObjectForAllTasksAndOneForTheMetadata) {
  const pid_t killed = begin({"--numbers", "40000", "--rate", "200", "--parallelism", "4",
                              "--checkpoints-retained", "100"});
  await(4);
  ::kill(killed, SIGKILL);
  (void)end_of(killed);
  const CheckpointStore of(platform->files(), checkpoints);
  const auto ids = of.ids();
  ASSERT_TRUE(ids.ok()) << ids.status().to_string();
  ASSERT_GE(ids->size(), 3u);
  EXPECT_LE(store->count("PUT"), static_cast<int>(2 * ids->size()));
  for (const std::uint64_t id : *ids) {
    const auto metadata = of.read(id);
    if (metadata.status().code() == ErrorCode::not_found) continue;  // it was under way
    ASSERT_TRUE(metadata.ok()) << metadata.status().to_string();
    std::size_t own = 0;
    for (const CheckpointFile& file : metadata->files) own += file.checkpoint == 0 ? 1 : 0;
    EXPECT_GE(own, 4u) << "one of each task";
    EXPECT_TRUE(of.verify(*metadata).ok());
    const auto names = platform->files().list_directory(of.path_of(id));
    ASSERT_TRUE(names.ok());
    EXPECT_EQ(names->size(), 2u);
  }
}

TEST_F(S3Checkpoints, WhoIsLateDoesNotOverwrite) {
  CheckpointMetadata metadata;
  metadata.id = 7;
  metadata.job_name = "first";
  const std::string path = CheckpointStore::path_in(checkpoints, 7);
  ASSERT_TRUE(CheckpointStore::complete_at(platform->files(), path, metadata).ok());
  CheckpointMetadata late = metadata;
  late.job_name = "late";
  EXPECT_EQ(CheckpointStore::complete_at(platform->files(), path, late).code(),
            ErrorCode::io_error);
  EXPECT_EQ(CheckpointStore::read_at(platform->files(), path)->job_name, "first");
}

TEST_F(S3Checkpoints, FaultsOfTheStoreLoseNothing) {
  store->faults(
      R"({"503": [0.1], "drop": [0.05], "lose": [0.05], "cut": [0.05], "slow": [0.05], "slow_s": 0.3,
          "seed": 3})");
  EXPECT_EQ(end_of(begin({"--numbers", "30000", "--rate", "15000", "--parallelism", "2"})), 0)
      << log();
  EXPECT_GT(store->failed("503") + store->failed("lose") + store->failed("drop"), 3);
  expect_exactly(30000);
}

TEST_F(S3Checkpoints, AStoreThatIsAwayForAWhileComesBack) {
  const pid_t job = begin({"--numbers", "40000", "--rate", "20000", "--parallelism", "2"});
  await(2);
  store->faults(R"({"drop": [1]})");
  std::this_thread::sleep_for(std::chrono::seconds(1));
  store->faults("{}");
  EXPECT_EQ(end_of(job), 0) << log();
  EXPECT_GT(store->failed("drop"), 0);
  expect_exactly(40000);
}

TEST_F(S3Checkpoints, PathsAreThoseOfADisk) {
  const std::string directory = checkpoints + "-of-mine/";
  const Status missing = platform->files().stat(directory + "none").status();
  EXPECT_EQ(missing.code(), ErrorCode::not_found) << missing.to_string();
  CheckpointMetadata metadata;
  metadata.id = 1;
  metadata.savepoint = true;
  ASSERT_TRUE(CheckpointStore::complete_at(platform->files(), directory + "/s", metadata).ok());
  EXPECT_TRUE(CheckpointStore::read_at(platform->files(), directory + "s").ok()) << "// is /";
}

// Buckets and the empty objects that some tools make for directories are no files.
TEST_F(S3Checkpoints, DirectoriesAreWhatIsInThem) {
  const std::string folder = store->make_folder("marked");
  ASSERT_TRUE(store->client().put({"tests", folder + "/in/"}, "").ok());
  ASSERT_TRUE(store->client().put({"tests", folder + "/in/x"}, "text").ok());
  const std::string path = "s3://tests/" + folder + "/in";
  for (const std::string& directory : {path, path + "/", std::string("s3://tests")}) {
    const auto there = platform->files().stat(directory);
    ASSERT_TRUE(there.ok()) << there.status().to_string();
    EXPECT_TRUE(there->is_directory) << directory;
  }
  EXPECT_EQ(*platform->files().list_directory(path + "/"), std::vector<std::string>{"x"});
  EXPECT_EQ(*platform->files().glob(path + "/*"), std::vector<std::string>{path + "/x"});
}

TEST_F(S3Checkpoints, WithoutItsLibraryTheErrorSaysWhatToInstall) {
  ::setenv("HUMMER_PLUGIN_PATH", "/nowhere", 1);
  EXPECT_NE(end_of(begin({"--numbers", "1000"})), 0);
  EXPECT_NE(log().find("hummer-s3"), std::string::npos) << log();
}

}  // namespace
}  // namespace hummer::s3::checkpoints_test
