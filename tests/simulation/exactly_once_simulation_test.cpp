// Stateful jobs under simulated faults: a few seeds for every build
// (bench/acceptance/exactly-once/04-simulation runs ten thousand), and what the checker must see.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "simulation/committed_output.hpp"
#include "simulation/embedded_simulation.hpp"
#include "simulation/stateful_cluster.hpp"
#include "support/drawn_cases.hpp"
#include "support/test_paths.hpp"

namespace hummer::cluster_simulation::exactly_once_simulation_test {
namespace {

void expect_rules_kept(const SeedReport& report) {
  for (const std::string& text : report.violations) {
    ADD_FAILURE() << text << "\nto see it: exactly_once_simulator --verbose " << report.seed;
  }
}

// And that there was something to see.
void expect_an_eventful_run(const SeedReport& report) {
  expect_rules_kept(report);
  EXPECT_GE(report.virtual_ns, seconds(60));
  EXPECT_GE(report.least.at("fewest checkpoints"), 5u);
  EXPECT_GE(report.least.at("fewest restores after a kill"), 1u);
  EXPECT_GE(report.least.at("fewest records checked"), 10'000u);
}

class ExactlyOnce : public testing::TestWithParam<std::uint64_t> {};

TEST_P(ExactlyOnce, InOneProcess) {
  expect_an_eventful_run(simulate_embedded({.seed = GetParam()}));
}
TEST_P(ExactlyOnce, OnACluster) {
  expect_an_eventful_run(simulate_stateful_cluster({.seed = GetParam()}));
}
INSTANTIATE_TEST_SUITE_P(Seeds, ExactlyOnce, testing::Range<std::uint64_t>(1, drawn_cases(20) + 1));

std::vector<std::uint64_t> past_seeds() {
  std::ifstream file(test_path("past_exactly_once_seeds"));
  std::vector<std::uint64_t> seeds;
  for (std::string line; std::getline(file, line);) {
    std::uint64_t seed = 0;
    if (std::istringstream(line) >> seed) seeds.push_back(seed);
  }
  seeds.resize(drawn_cases(seeds.size()));
  return seeds;
}
// What a seed draws changes with the simulation, so a past one need not be eventful any more.
class PastExactlyOnce : public ExactlyOnce {};
TEST_P(PastExactlyOnce, InOneProcess) {
  expect_rules_kept(simulate_embedded({.seed = GetParam()}));
}
TEST_P(PastExactlyOnce, OnACluster) {
  expect_rules_kept(simulate_stateful_cluster({.seed = GetParam()}));
}
INSTANTIATE_TEST_SUITE_P(Past, PastExactlyOnce, testing::ValuesIn(past_seeds()));

// What a sink would have written, on a disk without any job.
class CommittedFiles : public testing::Test {
 protected:
  CommittedFiles() : node_(make_simulated_platform({.seed = 1})) {
    workload_.records_per_split = 20;
    workload_.timer_ms = 100;
    workload_.gap_ms = 80;
    workload_.pair_ms = 100;
    workload_.groups = 1;
    const ExpectedOutput expected = expected_output(workload_);
    std::map<std::int64_t, std::string> timers;
    for (const auto& [key, account] : expected.accounts) {
      for (std::size_t i = 0; i < account.sums.size(); ++i) {
        accounts_ += line(key, account_record, i, account.sums[i]);
      }
      for (const auto& [end, count] : account.timers) {
        timers[end] += line(key, account_timer, static_cast<std::uint64_t>(end), count);
      }
    }
    for (const auto& one : timers) accounts_ += one.second;
    windows_ = lines(expected.windows);
    sessions_ = lines(expected.sessions);
    groups_ = lines(expected.groups);
    pairs_ = lines(expected.pairs);
  }

  static std::string lines(const std::map<ExpectedOutput::Window, std::uint64_t>& windows) {
    std::string text;
    for (const auto& [window, sum] : windows) {
      text += std::to_string(std::get<0>(window)) + "\t" + std::to_string(std::get<1>(window)) +
              "\t" + std::to_string(std::get<2>(window)) + "\t" + std::to_string(sum) + "\n";
    }
    return text;
  }

  static std::string line(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t d) {
    return std::to_string(a) + "\t" + std::to_string(b) + "\t" + std::to_string(c) + "\t" +
           std::to_string(d) + "\n";
  }
  void write(const std::string& path, const std::string& text) {
    Files& files = node_->files();
    ASSERT_TRUE(files.create_directories(path.substr(0, path.rfind('/'))).ok());
    auto file = files.open_for_writing(path, WriteMode::truncate);
    ASSERT_TRUE((*file)->append(text).ok());
  }
  std::string look() { return output_.look(*node_, "/out", CommittedOutput::Look::bytes); }
  std::vector<std::string> end() { return output_.check_end(*node_, "/out", workload_); }

  std::unique_ptr<SimulatedPlatform> node_;
  Workload workload_;
  std::string accounts_;
  std::string windows_;
  std::string sessions_;
  std::string groups_;
  std::string pairs_;
  CommittedOutput output_;
};

TEST_F(CommittedFiles, ThatAreRightAreTakenInAnyCut) {
  const std::size_t cut = accounts_.find('\n', accounts_.size() / 2) + 1;
  write("/out/accounts/part-00001-0000000009", accounts_.substr(0, cut));
  write("/out/accounts/part-00000-0000000010", accounts_.substr(cut));
  write("/out/windows/part-00000-0000000001", windows_);
  write("/out/sessions/part-00000-0000000001", sessions_);
  write("/out/groups/part-00000-0000000001", groups_);
  write("/out/pairs/part-00000-0000000001", pairs_);
  write("/out/windows/.part-00000-1.0.pending", "whatever\n");
  EXPECT_EQ(look(), "");
  EXPECT_TRUE(end().empty());
  EXPECT_EQ(output_.records_checked(), workload_.records());
}

TEST_F(CommittedFiles, LossDoublesAndOrderAreSeen) {
  write("/out/windows/part-00000-0000000001", windows_);
  write("/out/sessions/part-00000-0000000001", sessions_);
  write("/out/groups/part-00000-0000000001", groups_);
  write("/out/pairs/part-00000-0000000001", pairs_);
  const std::size_t first = accounts_.find('\n') + 1;
  const std::size_t second = accounts_.find('\n', first) + 1;
  const std::string one = accounts_.substr(0, first);
  const std::string two = accounts_.substr(first, second - first);
  const std::string rest = accounts_.substr(second);
  const std::string path = "/out/accounts/part-00000-0000000001";
  write(path, one + rest);
  EXPECT_FALSE(end().empty());
  write(path, one + two + two + rest);
  EXPECT_FALSE(end().empty());
  write(path, two + one + rest);
  EXPECT_FALSE(end().empty());
  write(path, one + two + rest.substr(0, rest.size() - 1));
  EXPECT_FALSE(end().empty());
  // The last timer of the first stretch behind one of the next, which is another key's.
  const std::size_t border = accounts_.find("\t1\t200\t");
  const std::size_t next = accounts_.rfind('\n', border) + 1;
  const std::size_t last = accounts_.rfind('\n', next - 2) + 1;
  const std::size_t behind = accounts_.find('\n', next) + 1;
  write(path, accounts_.substr(0, last) + accounts_.substr(next, behind - next) +
                  accounts_.substr(last, next - last) + accounts_.substr(behind));
  EXPECT_FALSE(end().empty());
  write(path, one + two + rest);
  EXPECT_TRUE(end().empty());
  const std::map<std::string, std::string> others = {{"/out/windows/", windows_},
                                                     {"/out/sessions/", sessions_},
                                                     {"/out/groups/", groups_},
                                                     {"/out/pairs/", pairs_}};
  for (const auto& [directory, text] : others) {
    ASSERT_FALSE(text.empty());
    const std::string again = directory + "part-00000-0000000002";
    write(again, text.substr(0, text.find('\n') + 1));
    EXPECT_FALSE(end().empty());
    ASSERT_TRUE(node_->files().remove(again).ok());
    write(directory + "part-00000-0000000001", text.substr(text.find('\n') + 1));
    EXPECT_FALSE(end().empty());
    write(directory + "part-00000-0000000001", text);
    EXPECT_TRUE(end().empty());
  }
}

TEST_F(CommittedFiles, WhatWasVisibleStays) {
  const std::string path = "/out/accounts/part-00000-0000000001";
  write(path, accounts_);
  EXPECT_EQ(look(), "");
  write(path, accounts_ + "1");
  EXPECT_NE(look(), "");
  write(path, accounts_);
  EXPECT_EQ(look(), "");
  ASSERT_TRUE(node_->files().remove(path).ok());
  EXPECT_NE(look(), "");
}

TEST(ExactlyOnceTrace, OneSeedOneTrace) {
  EXPECT_EQ(simulate_embedded({.seed = 7}).trace_hash, simulate_embedded({.seed = 7}).trace_hash);
  EXPECT_EQ(simulate_stateful_cluster({.seed = 7}).trace_hash,
            simulate_stateful_cluster({.seed = 7}).trace_hash);
}

}  // namespace
}  // namespace hummer::cluster_simulation::exactly_once_simulation_test
