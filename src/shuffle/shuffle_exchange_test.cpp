// What an emitter has written, read by others: here and over a simulated network that breaks.
#include "shuffle/shuffle_exchange_for_test.hpp"

namespace hummer::shuffle_exchange_test {
namespace {

using namespace shuffle_exchange;

INSTANTIATE_TEST_SUITE_P(Seeds, ShuffleExchange,
                         testing::Range(std::uint64_t{1}, std::uint64_t{13}),
                         testing::PrintToStringParamName());

TEST_P(ShuffleExchange, EachPartitionHasItsRecordsInOrder) {
  constexpr std::uint32_t partitions = 3, subtasks = 4;
  Process here(here_, "here"), there(there_, "there");
  const std::vector<Process*> holders = {&here, &there};
  std::vector<Texts> expected(partitions);
  for (std::uint32_t i = 0; i < subtasks; ++i) {
    const Texts records = records_of(i, 600 * static_cast<int>(i));  // the first has none
    holders[i % 2]->write(i, partitions, records);
    for (const std::string& record : records) {
      expected[ByLength::owner_of(record, partitions)].push_back(record);
    }
  }
  for (std::uint32_t partition = 0; partition < partitions; ++partition) {
    const Outcome outcome = read(here, holders, subtasks, partition);
    EXPECT_TRUE(outcome.failure.ok()) << outcome.failure.to_string();
    EXPECT_EQ(outcome.records == expected[partition], true) << partition;
    EXPECT_TRUE(outcome.lost.empty());
  }
}

TEST_P(ShuffleExchange, WhatIsDamagedOnItsWayIsAskedForAgain) {
  Process here(here_, "here"), there(there_, "there");
  const Texts records = records_of(0, 2000);
  there.write(0, 1, records);
  simulation_.corrupt(here_, there_, 0.02);
  const Outcome outcome = read(here, {&there}, 1, 0);
  EXPECT_TRUE(outcome.failure.ok()) << outcome.failure.to_string();
  EXPECT_EQ(outcome.records == records, true);
}

TEST_P(ShuffleExchange, AFileThatIsNotThereIsLostAndNotEmpty) {
  Process here(here_, "here"), there(there_, "there");
  there.write(1, 1, records_of(1, 10));
  const Outcome outcome = read(here, {&here, &there}, 2, 0);
  EXPECT_EQ(outcome.failure.code(), ErrorCode::not_found) << outcome.failure.to_string();
  EXPECT_EQ(outcome.lost, std::vector<ShuffleKey>{key_of(0)});
  const Outcome elsewhere = read(here, {&there}, 1, 0);
  EXPECT_EQ(elsewhere.failure.code(), ErrorCode::not_found) << elsewhere.failure.to_string();
  EXPECT_EQ(elsewhere.lost, std::vector<ShuffleKey>{key_of(0)});
}

TEST_P(ShuffleExchange, ADamagedFileIsLost) {
  for (const bool is_local : {true, false}) {
    Process here(here_, "here"), there(there_, "there");
    Process& holder = is_local ? here : there;
    holder.write(0, 1, records_of(0, 2000));
    const std::string path = only_file(holder.platform);
    auto file = holder.platform.files().open_for_updating(path, false);
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE((*file)->write_at(400'000, "damage").ok());
    const Outcome outcome = read(here, {&holder}, 1, 0);
    EXPECT_EQ(outcome.failure.code(), ErrorCode::not_found) << outcome.failure.to_string();
    EXPECT_NE(outcome.failure.message().find(path), std::string::npos);
    EXPECT_EQ(outcome.lost.size(), 1u);
  }
}

TEST_P(ShuffleExchange, AHolderThatIsGoneIsLost) {
  Process here(here_, "here");
  Process there(there_, "there");
  there.write(0, 1, records_of(0, 10));
  there_.kill();
  const Outcome outcome = read(here, {&there}, 1, 0);
  EXPECT_EQ(outcome.lost.size(), 1u);
  EXPECT_EQ(outcome.failure.code(), ErrorCode::not_found) << outcome.failure.to_string();
}

TEST_P(ShuffleExchange, WithoutTheTokenNothingIsHandedOut) {
  Process here(here_, "here"), there(there_, "there");
  there.write(0, 1, records_of(0, 10));
  const Outcome outcome = read(here, {&there}, 1, 0, "wrong");
  EXPECT_EQ(outcome.failure.code(), ErrorCode::permission_denied) << outcome.failure.to_string();
  EXPECT_TRUE(outcome.records.empty());
  EXPECT_TRUE(outcome.lost.empty());
}

}  // namespace
}  // namespace hummer::shuffle_exchange_test
