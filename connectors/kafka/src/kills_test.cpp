// A job that is killed at drawn moments, and brokers that are: what a reader of committed records
// sees is what it would have seen without.
//
// HUMMER_KAFKA_KILLS=N HUMMER_KAFKA_SEED=S repeat it longer, or elsewhere.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <thread>

#include "support/test_paths.hpp"
#include "testing/brokers.hpp"

namespace hummer::kafka {
namespace {

constexpr int keys = 13;

int number_from(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

class KafkaKills : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "kafka-kills-" + std::to_string(::getpid());
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  void TearDown() override {
    if (!HasFailure()) std::filesystem::remove_all(directory_);
  }

  pid_t start(const Brokers& brokers, const std::vector<std::string>& more) {
    std::vector<std::string> words{test_path("numbering"),
                                   "--brokers",
                                   brokers.addresses(),
                                   "--from",
                                   from_,
                                   "--to",
                                   to_,
                                   "--guarantee",
                                   guarantee_,
                                   "--checkpoint-dir",
                                   directory_ + "/checkpoints",
                                   "--checkpoint-interval-ms",
                                   "100",
                                   "--restore",
                                   "latest",
                                   "--keep-checkpoints",
                                   "--spill-dir",
                                   directory_ + "/spill",
                                   "--restart-strategy",
                                   "fixed-delay",
                                   "--restart-attempts",
                                   "1000"};
    words.insert(words.end(), more.begin(), more.end());
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    pointers.push_back(nullptr);
    const pid_t process = ::fork();
    if (process == 0) {
      const int log = ::open((directory_ + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
      ::dup2(log, STDOUT_FILENO);
      ::dup2(log, STDERR_FILENO);
      ::execv(pointers[0], pointers.data());
      ::_exit(127);
    }
    return process;
  }
  static int wait(pid_t process) {
    int status = 0;
    ::waitpid(process, &status, 0);
    return status;
  }
  std::string log() const {
    std::ifstream file(directory_ + "/log");
    return {std::istreambuf_iterator<char>(file), {}};
  }
  // What was written so far, by key.
  void write(Brokers& brokers, std::mt19937_64& random, int count) {
    std::vector<Written> records;
    for (int i = 0; i < count; ++i) {
      const std::string key = "key " + std::to_string(random() % keys);
      records.push_back({.key = key, .value = ""});
      ++written_[key];
    }
    brokers.write(from_, records);
  }
  void expect_each_once_in_order(Brokers& brokers) {
    std::map<std::string, std::uint64_t> seen;
    int wrong = 0;
    for (const Written& record : brokers.read(to_)) {
      const std::uint64_t expected = ++seen[record.key];
      if (*record.value != std::to_string(expected) && ++wrong < 10) {
        ADD_FAILURE() << record.key << ": " << *record.value << " instead of " << expected;
      }
    }
    EXPECT_EQ(seen, written_);
  }

  void kill_the_job(const std::string& guarantee, int kills);

  std::string directory_, from_, to_, guarantee_ = "exactly_once";
  std::map<std::string, std::uint64_t> written_;
};

void KafkaKills::kill_the_job(const std::string& guarantee, int kills) {
  Brokers* const brokers = Brokers::shared();
  if (brokers == nullptr) GTEST_SKIP() << Brokers::why_not();
  guarantee_ = guarantee;
  kills = number_from("HUMMER_KAFKA_KILLS", kills);
  const int seed = number_from("HUMMER_KAFKA_SEED", 1);
  SCOPED_TRACE("HUMMER_KAFKA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  from_ = brokers->make_topic("killed-in", 3);
  to_ = brokers->make_topic("killed-out", 2);

  std::atomic<bool> stop{false};
  std::thread writer([&, own = std::mt19937_64(random())]() mutable {
    while (!stop) {
      write(*brokers, own, 200);
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
  for (int kill = 0; kill < kills; ++kill) {
    // Between a start that has not yet opened its sink and one that has committed some epochs; at
    // another parallelism each time.
    const pid_t job = start(*brokers, {"--follow", "--parallelism", std::to_string(1 + kill % 3)});
    std::this_thread::sleep_for(std::chrono::milliseconds(100 + random() % 1'500));
    ::kill(job, SIGKILL);
    const int status = wait(job);
    ASSERT_TRUE(WIFSIGNALED(status)) << "kill " << kill << ": the job had ended\n" << log();
  }
  stop = true;
  writer.join();
  const int status = wait(start(*brokers, {"--parallelism", "2"}));
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << log();
  expect_each_once_in_order(*brokers);
}

TEST_F(KafkaKills, OfTheJobAreNotSeen) { kill_the_job("exactly_once", 8); }
TEST_F(KafkaKills, OfTheJobAreNotSeenWithOpenTransactions) {
  kill_the_job("exactly_once_open", 10);
}

// The job lives on, through the death of whoever leads its partitions and its transactions.
TEST_F(KafkaKills, OfBrokersAreNotSeen) {
  const std::unique_ptr<Brokers> brokers = Brokers::start(3);
  if (brokers == nullptr) GTEST_SKIP() << Brokers::why_not();
  const int seed = number_from("HUMMER_KAFKA_SEED", 1);
  SCOPED_TRACE("HUMMER_KAFKA_SEED=" + std::to_string(seed));
  std::mt19937_64 random(static_cast<std::uint64_t>(seed));
  from_ = brokers->make_topic("brokers-in", 3);
  to_ = brokers->make_topic("brokers-out", 3);
  std::atomic<bool> stop{false};
  std::thread writer([&, own = std::mt19937_64(random())]() mutable {
    while (!stop) {
      write(*brokers, own, 100);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  });
  const pid_t job = start(*brokers, {"--follow", "--parallelism", "2"});
  for (const int broker : {1, 2, 3}) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2'000 + random() % 1'000));
    brokers->tell((random() % 2 == 0 ? "kill " : "stop ") + std::to_string(broker));
    std::this_thread::sleep_for(std::chrono::milliseconds(1'000 + random() % 4'000));
    brokers->tell("start " + std::to_string(broker));
  }
  std::this_thread::sleep_for(std::chrono::seconds(2));
  stop = true;
  writer.join();
  int status = 0;
  EXPECT_EQ(::waitpid(job, &status, WNOHANG), 0) << "the job has ended\n" << log();
  ::kill(job, SIGKILL);
  (void)wait(job);
  status = wait(start(*brokers, {"--parallelism", "2"}));
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << log();
  expect_each_once_in_order(*brokers);
}

}  // namespace
}  // namespace hummer::kafka
