// Tables of aggregates that leave memory: on disks that fail meanwhile, and within the limit.
#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include <hummer/detail/operators/count_window.hpp>

#include "operators/spilling_test_rig.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::spilling_test {
namespace {

struct DiskFaults {
  double read = 0;
  double write = 0;
};

// Sums of random records, with snapshots that the next operator goes on from. Ok, or the failure
// that the operator ended with.
template <typename In>
Status sum_on_a_disk_that_fails(std::uint64_t seed, const OperatorFactory& factory, bool at_end,
                                DiskFaults faults) {
  const auto node = make_simulated_platform({.seed = seed});
  node->simulation().options().read_fault_rate = faults.read;
  node->simulation().options().write_fault_rate = faults.write;
  Random random(seed);
  std::map<std::uint32_t, std::int64_t> model;
  const auto start = [&] {
    const std::size_t limit = std::size_t{1} << random.between(10, 17);
    return std::make_unique<OperatorRun<In, Total>>(factory, *node, limit);
  };
  auto run = start();
  HUMMER_TRY(run->open());
  const auto wrong = [&](const std::vector<Total>& seen) {
    return std::any_of(seen.begin(), seen.end(),
                       [&](const Total& total) { return model[total.key] != total.value; });
  };
  const Status differs(ErrorCode::internal, "totals differ from the map's");
  const auto process_some = [&]() -> Status {
    give_background_a_turn(*node, random);
    std::map<std::uint32_t, std::int64_t> records;  // a key once, so that its total is the last one
    for (std::uint64_t i = 0, count = 1 + random.below(300); i < count; ++i) {
      records[static_cast<std::uint32_t>(random.below(3000))] = random.between(-5, 5);
    }
    for (const auto& [key, value] : records) model[key] += value;
    std::vector<In> batch;
    for (const auto& [key, value] : records) batch.push_back(In{key, value});
    const Result<std::vector<Total>> seen = run->process(batch);
    if (!seen.ok()) return seen.status();
    return seen->size() != (at_end ? 0 : batch.size()) || wrong(*seen) ? differs : Status();
  };
  for (int round = 0; round < 60; ++round) {
    HUMMER_TRY(process_some());
    if (!random.chance(0.2)) continue;
    const auto model_then = model;
    HUMMER_TRY(run->begin_snapshot());
    std::optional<std::string> bytes;
    while (!bytes) {
      Result<std::optional<std::string>> step = run->step_snapshot();
      if (!step.ok()) return step.status();
      bytes = std::move(*step);
      if (!bytes && random.chance(0.3)) HUMMER_TRY(process_some());
    }
    if (!random.chance(0.5)) continue;
    model = model_then;
    run = start();
    HUMMER_TRY(run->restore({*bytes}));
    HUMMER_TRY(run->open());
  }
  if (!at_end) return {};
  const Result<std::vector<Total>> seen = run->end();
  if (!seen.ok()) return seen.status();
  return seen->size() != model.size() || wrong(*seen) ? differs : Status();
}

TEST(LeavingTables, ADiskThatFailsFailsTheOperatorAndNothingElse) {
  const auto running = running_sum();
  const auto merged = merged_sum();
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= drawn_cases(24); ++seed) {
    const DiskFaults faults = seed % 2 == 0 ? DiskFaults{.read = 0.002} : DiskFaults{.write = 0.02};
    for (const Status& status : {sum_on_a_disk_that_fails<Number>(seed, *running, false, faults),
                                 sum_on_a_disk_that_fails<Total>(seed, *merged, true, faults)}) {
      if (status.ok()) continue;
      ++failures;
      EXPECT_EQ(status.code(), ErrorCode::io_error) << status.to_string() << ", seed " << seed;
      EXPECT_NE(status.message().find("the state of operator 'sum' on disk"), std::string::npos)
          << status.message();
    }
  }
  EXPECT_GT(failures, 0);
}

// When that is full nothing is on disk yet of what was in memory at the barrier.
TEST(LeavingTables, ADiskThatIsFullBehindABarrierFailsItsSnapshot) {
  constexpr std::size_t largest_table = 256 << 10;  // of three quarters of the share
  const auto node = make_simulated_platform({.seed = 1});
  OperatorRun<Total, Total> run(*merged_sum(), *node, 500'000);
  ASSERT_TRUE(run.open().ok());
  const MemoryAccount& account = *run.context().memory();
  std::vector<Total> records(100);
  for (std::uint32_t next = 0; account.used_bytes() <= largest_table;) {
    for (Total& record : records) record = {next++, 1};
    ASSERT_TRUE(run.process(records).ok());
  }
  ASSERT_EQ(account.disk_bytes(), 0u) << "it has left, and the background had no turn";
  ASSERT_TRUE(run.begin_snapshot().ok());
  node->simulation().options().disk_capacity_bytes = 1000;
  Result<std::optional<std::string>> step = run.step_snapshot();
  while (step.ok() && !step->has_value()) step = run.step_snapshot();
  EXPECT_EQ(step.status().code(), ErrorCode::disk_full);
  EXPECT_NE(step.status().message().find("'sum'"), std::string::npos) << step.status().message();
}

struct TotalOfWindow {
  using Output = Total;
  template <typename Collector>
  void operator()(std::uint32_t key, const TimeWindow&, std::int64_t total,
                  Collector& collector) const {
    collector(Total{key, total});
  }
};

// What leaves counts until it is on disk, and what its accumulators hold beside themselves, too.
TEST(LeavingTables, WhatIsHeldCountsAndKeepsWithinTheLimit) {
  using LastOfMany =
      CountWindowOperator<Number, std::uint32_t, decltype(key_of_number), Sum, TotalOfWindow>;
  constexpr std::size_t limit = 4 << 20;
  const auto windows = make_operator_factory([] {
    return std::make_unique<LastOfMany>(key_of_number, CountWindows{.size = 64, .slide = 1},
                                        Sum{value_of_number}, TotalOfWindow{});
  });
  for (const auto& factory : {running_sum(), std::shared_ptr<const OperatorFactory>(windows)}) {
    const auto node = make_simulated_platform({.seed = 1});
    OperatorRun<Number, Total> run(*factory, *node, limit);
    ASSERT_TRUE(run.open().ok());
    Random random(1);
    std::size_t most = 0;
    for (int round = 0; round < 500; ++round) {
      give_background_a_turn(*node, random);
      std::vector<Number> records(500);
      for (auto& [key, value] : records) {
        key = static_cast<std::uint32_t>(random.below(200'000));
        value = 1;
      }
      ASSERT_TRUE(run.process(records).ok());
      most = std::max(most, run.context().memory()->used_bytes());
    }
    EXPECT_GT(run.context().memory()->disk_bytes(), 0u);
    EXPECT_GT(most, limit / 2);
    EXPECT_LE(most, limit);
  }
}

}  // namespace
}  // namespace hummer::spilling_test
