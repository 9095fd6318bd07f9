#include <hummer/detail/operators/hash_partitioner.hpp>

#include <gtest/gtest.h>

#include <random>
#include <stdexcept>
#include <utility>
#include <vector>

#include <hummer/identity.hpp>

namespace hummer::hash_partitioner_test {
namespace {

Batch numbers(const std::vector<int>& values, const std::vector<Timestamp>& times) {
  Batch batch(type_of<int>(), static_cast<std::uint32_t>(values.size()));
  std::copy(values.begin(), values.end(), batch.mutable_values<int>());
  batch.set_size(values.size());
  batch.timestamps() = times;
  return batch;
}

TEST(HashPartitioner, EachKeyGoesToTheOwnerOfItsGroup) {
  HashPartitioner<int, Identity> partitioner(identity, 3, default_key_groups);
  std::vector<Batch> targets;
  for (int i = 0; i < 3; ++i) targets.emplace_back(type_of<int>(), 1000);
  std::vector<int> values(1000);
  for (int i = 0; i < 1000; ++i) values[static_cast<std::size_t>(i)] = i;
  Batch in = numbers(values, {});
  EXPECT_EQ(partitioner.scatter(in, targets, 1000), OperatorResult::done);
  std::size_t all = 0;
  for (std::uint32_t target = 0; target < 3; ++target) {
    all += targets[target].size();
    EXPECT_GT(targets[target].size(), 200u);
    for (const int value : targets[target].values<int>()) {
      EXPECT_EQ(group_owner(key_group(key_hash(value), default_key_groups), 3, default_key_groups),
                target);
    }
  }
  EXPECT_EQ(all, 1000u);
}

TEST(HashPartitioner, GoesOnWhereATargetWasFull) {
  HashPartitioner<int, Identity> partitioner(identity, 1, default_key_groups);
  std::vector<Batch> targets;
  targets.emplace_back(type_of<int>(), 2);
  Batch in = numbers({1, 2, 3}, {10, 20, 30});
  EXPECT_EQ(partitioner.scatter(in, targets, 2), OperatorResult::more);
  EXPECT_EQ(in.position(), 2u);
  EXPECT_EQ(targets[0].size(), 2u);
  targets[0].clear();
  EXPECT_EQ(partitioner.scatter(in, targets, 2), OperatorResult::done);
  ASSERT_EQ(targets[0].size(), 1u);
  EXPECT_EQ(targets[0].values<int>()[0], 3);
  EXPECT_EQ(targets[0].timestamps(), std::vector<Timestamp>{30});
}

// A target gathers several inputs, of which some may have no time.
TEST(HashPartitioner, EveryRecordOfATimedTargetHasATimestamp) {
  HashPartitioner<int, Identity> partitioner(identity, 1, default_key_groups);
  std::vector<Batch> targets;
  targets.emplace_back(type_of<int>(), 10);
  Batch untimed = numbers({1, 2}, {});
  Batch timed = numbers({3}, {30});
  Batch untimed_again = numbers({4}, {});
  for (Batch* in : {&untimed, &timed, &untimed_again}) {
    EXPECT_EQ(partitioner.scatter(*in, targets, 10), OperatorResult::done);
  }
  EXPECT_EQ(targets[0].size(), 4u);
  EXPECT_EQ(targets[0].timestamps(),
            (std::vector<Timestamp>{no_timestamp, no_timestamp, 30, no_timestamp}));
}

// Against the same by one record: all targets, limits, inputs and exceptions that a block may meet.
TEST(HashPartitioner, BlocksEqualRecordByRecord) {
  const auto key_of = [](int value) {
    if (value % 1000 == 7) throw std::runtime_error("unlucky");
    return value;
  };
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    const std::uint32_t target_count = 1 + random() % 10;
    const std::uint32_t limit = 1 + random() % 300;
    HashPartitioner<int, decltype(key_of)> partitioner(key_of, target_count, default_key_groups);
    std::vector<Batch> targets;
    std::vector<std::vector<std::pair<int, Timestamp>>> got(target_count);
    std::vector<std::vector<std::pair<int, Timestamp>>> expected(target_count);
    for (std::uint32_t i = 0; i < target_count; ++i) targets.emplace_back(type_of<int>(), limit);
    const auto take = [&](std::uint32_t target) {
      const auto values = targets[target].values<int>();
      const auto& times = targets[target].timestamps();
      ASSERT_TRUE(times.empty() || times.size() == values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        got[target].emplace_back(values[i], times.empty() ? no_timestamp : times[i]);
      }
      targets[target].clear();
    };
    for (int inputs = 0; inputs < 4; ++inputs) {
      std::vector<int> values(random() % 700);
      std::vector<Timestamp> times(random() % 2 == 0 ? values.size() : 0);
      for (int& value : values) value = static_cast<int>(random() % 100000);
      for (Timestamp& time : times) time = random() % 1000;
      Batch in = numbers(values, times);
      for (;;) {
        const std::size_t before = in.position();
        bool threw = false;
        OperatorResult answer = OperatorResult::more;
        try {
          answer = partitioner.scatter(in, targets, limit);
        } catch (const std::runtime_error&) {
          threw = true;
        }
        for (std::size_t i = before; i < in.position(); ++i) {
          const std::uint32_t target = group_owner(
              key_group(key_hash(values[i]), default_key_groups), target_count, default_key_groups);
          expected[target].emplace_back(values[i], times.empty() ? no_timestamp : times[i]);
        }
        if (threw) {
          ASSERT_EQ(values[in.position()] % 1000, 7);
          in.advance_to(in.position() + 1);
        }
        bool some_full = false;
        for (std::uint32_t target = 0; target < target_count; ++target) {
          ASSERT_LE(targets[target].size(), limit);
          if (targets[target].size() < limit) continue;
          some_full = true;
          take(target);
        }
        if (threw && !in.finished()) continue;
        if (threw || answer == OperatorResult::done) break;
        ASSERT_TRUE(some_full);
      }
      ASSERT_EQ(in.position(), values.size());
    }
    for (std::uint32_t target = 0; target < target_count; ++target) take(target);
    ASSERT_EQ(got, expected) << "round " << round;
  }
}

TEST(HashPartitioner, AThrowingKeyFunctionLeavesTheInputAtItsRecord) {
  const auto key_of = [](int value) {
    if (value == 13) throw std::runtime_error("unlucky");
    return value;
  };
  HashPartitioner<int, decltype(key_of)> partitioner(key_of, 1, default_key_groups);
  std::vector<Batch> targets;
  targets.emplace_back(type_of<int>(), 10);
  Batch in = numbers({1, 2, 13, 4}, {});
  EXPECT_THROW((void)partitioner.scatter(in, targets, 10), std::runtime_error);
  EXPECT_EQ(in.position(), 2u);
  EXPECT_EQ(targets[0].size(), 2u);
}

TEST(HashPartitioner, OwningValuesMoveOrAreCopied) {
  using Texts = HashPartitioner<std::string, Identity>;
  Texts partitioner(identity, 1, default_key_groups);
  const std::string text = "a text longer than a short string";
  for (const bool shared : {false, true}) {
    Batch in(type_of<std::string>(), 1);
    new (in.mutable_values<std::string>()) std::string(text);
    in.set_size(1);
    const Batch other = shared ? in.share() : Batch();
    std::vector<Batch> targets;
    targets.emplace_back(type_of<std::string>(), 1);
    EXPECT_EQ(partitioner.scatter(in, targets, 1), OperatorResult::done);
    EXPECT_EQ(targets[0].values<std::string>()[0], text);
    if (shared) {
      EXPECT_EQ(other.values<std::string>()[0], text);
    }
  }
}

}  // namespace
}  // namespace hummer::hash_partitioner_test
