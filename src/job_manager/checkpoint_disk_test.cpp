// Disks that do not answer: a named pipe in the place of a file that is to be written blocks its
// writer until somebody reads, as a dead network mount does.
#include "job_manager/checkpoint_disk.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "platform/descriptor.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::checkpoint_disk_test {
namespace {

using Kind = CheckpointOrder::Kind;

class HungDisk : public testing::Test {
 protected:
  ~HungDisk() override {
    for (const std::string& pipe : pipes_) answer(pipe);
  }

  std::string directory_of(std::uint64_t job) { return folder_.path() + "/" + std::to_string(job); }
  // Completing a checkpoint of the job blocks.
  CheckpointOrder hanging(std::uint64_t job) {
    CheckpointOrder order = order_of(job, Kind::complete);
    order.checkpoint = order.metadata.id = 1;
    order.path = CheckpointStore::path_in(order.directory, 1);
    EXPECT_TRUE(platform_->files().create_directories(order.path).ok());
    pipes_.push_back(order.path + "/_metadata.unfinished");
    EXPECT_EQ(::mkfifo(pipes_.back().c_str(), 0600), 0);
    return order;
  }
  CheckpointOrder order_of(std::uint64_t job, Kind kind) {
    CheckpointOrder order;
    order.kind = kind;
    order.job = job;
    order.directory = directory_of(job);
    order.latest_in = folder_.path();
    if (kind == Kind::begin) order.path = CheckpointStore::path_in(order.directory, 2);
    return order;
  }
  void answer(const std::string& pipe) {
    readers_.emplace_back(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  }
  // The jobs whose orders have outcomes, once `count` have come.
  std::vector<std::uint64_t> outcomes(std::size_t count) {
    std::vector<std::uint64_t> jobs;
    const auto take = [&] {
      (void)disk_.look();
      for (const CheckpointOutcome& each : disk_.take_outcomes()) jobs.push_back(each.order.job);
      return jobs.size() >= count;
    };
    while (platform_->run_until(take, platform_->now() + milliseconds(10)) != RunEnd::satisfied &&
           platform_->now() < give_up_) {
    }
    return jobs;
  }

  TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_ = make_linux_platform();
  const Nanoseconds give_up_ = platform_->now() + seconds(20);
  std::vector<std::string> pipes_;
  std::vector<Descriptor> readers_;
  CheckpointDisk disk_{*platform_, [this] { platform_->notify_main(); }, {.lane = 0, .naming = 0}};
};

TEST_F(HungDisk, OfOneJobKeepsNoOther) {
  disk_.give({hanging(1)});
  disk_.give({order_of(1, Kind::find), order_of(2, Kind::begin), order_of(3, Kind::find)});
  std::vector<std::uint64_t> first = outcomes(2);
  std::sort(first.begin(), first.end());
  EXPECT_EQ(first, (std::vector<std::uint64_t>{2, 3}));
  const std::vector<HungOrder> hung = disk_.look();
  ASSERT_EQ(hung.size(), 1u);
  EXPECT_EQ(hung[0].job, 1u);
  EXPECT_EQ(hung[0].path, CheckpointStore::path_in(directory_of(1), 1));
  EXPECT_EQ(hung[0].doing, "completing a checkpoint");
  EXPECT_NE(disk_.next_look(), never);
  // The job's own orders keep their order.
  answer(pipes_[0]);
  EXPECT_EQ(outcomes(2), (std::vector<std::uint64_t>{1, 1}));
  EXPECT_TRUE(disk_.look().empty());
  EXPECT_EQ(disk_.next_look(), never);
}

TEST_F(HungDisk, ManyOfThemNeither) {
  for (std::uint64_t job = 1; job <= 20; ++job) disk_.give({hanging(job)});
  disk_.give({order_of(50, Kind::find)});
  EXPECT_EQ(outcomes(1), (std::vector<std::uint64_t>{50}));
}

TEST_F(HungDisk, WhoLooksForTheLatestWaitsForWhatIsBeingCleared) {
  CheckpointOrder clear = order_of(1, Kind::clear);
  CheckpointOrder latest = order_of(2, Kind::find);
  latest.restore = "latest";
  disk_.give({hanging(1)});
  disk_.give({clear, latest, order_of(3, Kind::find)});
  EXPECT_EQ(outcomes(1), (std::vector<std::uint64_t>{3}));
  answer(pipes_[0]);
  EXPECT_EQ(outcomes(3), (std::vector<std::uint64_t>{1, 1, 2}));
}

}  // namespace
}  // namespace hummer::checkpoint_disk_test
