// Averages, extremes, top k and sketches: what they say of drawn values, and that it is the same
// however the values are dealt out and merged; for sketches within the errors that their header
// states.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <hummer/aggregates.hpp>

#include "support/drawn_cases.hpp"

namespace hummer::more_aggregates_test {
namespace {

struct Trade {
  std::int64_t time = 0;
  std::string who;
  double price = 0;
  auto operator<=>(const Trade&) const = default;
};

std::vector<Trade> drawn_trades(std::uint64_t seed, std::size_t count) {
  std::mt19937_64 random(seed);
  std::vector<Trade> trades;
  for (std::size_t i = 0; i < count; ++i) {
    const auto time = static_cast<std::int64_t>(i * 7919 % count);
    trades.push_back({time, "user" + std::to_string(random() % 1000),
                      static_cast<double>(static_cast<std::int64_t>(random() % 100'000) - 50'000)});
  }
  return trades;
}

// Dealt to `parts` accumulators, which are merged in a drawn order.
template <typename Aggregate, typename Record>
auto folded(const Aggregate& aggregate, const std::vector<Record>& records, std::size_t parts,
            std::uint64_t seed = 1) {
  using Accumulator = typename Aggregate::Accumulator;
  std::mt19937_64 random(seed);
  std::vector<Accumulator> partial(parts);
  std::vector<bool> is_new(parts, true);
  for (const Record& record : records) {
    const std::size_t part = random() % parts;
    aggregate.add(partial[part], is_new[part], record);
    is_new[part] = false;
  }
  std::vector<std::size_t> order;
  for (std::size_t part = 0; part < parts; ++part) {
    if (!is_new[part]) order.push_back(part);
  }
  std::shuffle(order.begin(), order.end(), random);
  Accumulator all{};
  bool none = true;
  for (const std::size_t part : order) {
    aggregate.merge(all, none, partial[part]);
    none = false;
  }
  return aggregate.result(all);
}

TEST(MoreAggregates, AverageIsThatOfAllRecords) {
  const std::vector<Trade> trades = drawn_trades(1, 5000);
  double sum = 0;
  std::int64_t times = 0;
  for (const Trade& trade : trades) {
    sum += trade.price;
    times += trade.time;
  }
  for (const std::size_t parts : {1u, 2u, 7u}) {
    EXPECT_DOUBLE_EQ(folded(average(&Trade::price), trades, parts), sum / 5000);
    EXPECT_DOUBLE_EQ(folded(average(&Trade::time), trades, parts),
                     static_cast<double>(times) / 5000);
    const auto twice = [](const Trade& trade) { return 2 * trade.price; };
    EXPECT_DOUBLE_EQ(folded(average(twice), trades, parts), 2 * sum / 5000);
  }
  // Beyond what a double holds exactly.
  const std::vector<Trade> large = {{(std::int64_t{1} << 60) + 1, "", 0},
                                    {-(std::int64_t{1} << 60), "", 0}};
  EXPECT_EQ(folded(average(&Trade::time), large, 1), 0.5);
}

TEST(MoreAggregates, ExtremesAndTopKAreThoseOfAllRecords) {
  std::vector<Trade> trades = drawn_trades(2, 3000);
  std::vector<Trade> sorted = trades;
  std::sort(sorted.begin(), sorted.end(),
            [](const Trade& a, const Trade& b) { return a.time > b.time; });
  const auto time_of = [](const Trade& trade) { return trade.time; };
  for (const std::size_t parts : {1u, 3u, 20u}) {
    EXPECT_EQ(folded(first_by(&Trade::time), trades, parts), sorted.back());
    EXPECT_EQ(folded(last_by(&Trade::time), trades, parts), sorted.front());
    EXPECT_EQ(folded(last_by<Trade>(time_of), trades, parts), sorted.front());
    EXPECT_EQ(folded(top_k<10>(&Trade::time), trades, parts),
              std::vector<Trade>(sorted.begin(), sorted.begin() + 10));
    EXPECT_EQ(folded(top_k<1>(&Trade::time), trades, parts), std::vector<Trade>{sorted.front()});
    EXPECT_EQ(folded(top_k<5000>(&Trade::time), trades, parts), sorted);
  }
}

TEST(MoreAggregates, DistinctIsExactWhileThereAreFewAndThenWithinItsError) {
  for (const std::uint64_t values : {0u, 1u, 2u, 63u, 64u, 65u, 100u, 1000u, 20'000u, 300'000u}) {
    double worst = 0, square = 0;
    constexpr int rounds = 20;
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::uint64_t> records;
      for (std::uint64_t i = 0; i < values; ++i) {
        const std::uint64_t value = i + static_cast<std::uint64_t>(round) * 1'000'000'000;
        records.push_back(value);
        if (i % 3 == 0) records.push_back(value);
      }
      const auto identity = [](std::uint64_t value) { return value; };
      const std::uint64_t once = folded(distinct(identity), records, 1);
      // The same whatever was merged.
      EXPECT_EQ(folded(distinct(identity), records, 5), once);
      if (values <= 64) {
        EXPECT_EQ(once, values);
        continue;
      }
      const double error = std::abs(static_cast<double>(once) / static_cast<double>(values) - 1);
      worst = std::max(worst, error);
      square += error * error;
    }
    EXPECT_LT(std::sqrt(square / rounds), 0.025) << values;
    EXPECT_LT(worst, 0.07) << values;
  }
}

TEST(MoreAggregates, QuantilesAreWithinTheirError) {
  constexpr std::size_t count = 100'000;
  for (const int kind : {0, 1, 2}) {
    double worst = 0;
    for (std::uint64_t seed = 1; seed <= drawn_cases(20); ++seed) {
      std::mt19937_64 random(seed);
      std::vector<double> values;
      for (std::size_t i = 0; i < count; ++i) {
        const double uniform = static_cast<double>(random() >> 11) * 0x1p-53;
        values.push_back(kind == 0   ? static_cast<double>(i)
                         : kind == 1 ? uniform
                                     : 1 / (1 - uniform));
      }
      const auto identity = [](double value) { return value; };
      const auto wanted = quantiles(identity, 0, 0.01, 0.25, 0.5, 0.9, 0.99, 1);
      std::vector<double> sorted = values;
      std::sort(sorted.begin(), sorted.end());
      for (const std::size_t parts : {1u, 8u}) {
        const auto found = folded(wanted, values, parts, seed);
        EXPECT_EQ(found.front(), sorted.front());
        EXPECT_EQ(found.back(), sorted.back());
        for (std::size_t i = 0; i < found.size(); ++i) {
          const auto at = std::lower_bound(sorted.begin(), sorted.end(), found[i]);
          const double rank = static_cast<double>(at - sorted.begin()) / count;
          worst = std::max(worst, std::abs(rank - wanted.wanted[i]));
        }
      }
    }
    EXPECT_LT(worst, 0.025);
  }
}

TEST(MoreAggregates, QuantilesOfFewValuesAreExactAndOfNoneAreNone) {
  const auto identity = [](double value) { return value; };
  std::vector<double> values;
  for (int i = 0; i < 200; ++i) values.push_back(i * 37 % 200);
  const auto found = folded(quantiles(identity, 0.5, 0.25, -1, 2), values, 1);
  EXPECT_EQ(found[0], 99);
  EXPECT_EQ(found[1], 49);
  EXPECT_EQ(found[2], 0);
  EXPECT_EQ(found[3], 199);
  const auto none = folded(quantiles(identity, 0.5, 1), std::vector<double>{NAN}, 1);
  EXPECT_TRUE(std::isnan(none[0]) && std::isnan(none[1]));
}

// A sketch that comes from outside may say anything.
TEST(MoreAggregates, SketchesOfAnyBytesAreReadWithoutHarm) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    detail::DistinctSketch a, b;
    a.bytes.resize(random() % 3 == 0 ? 4096 : random() % 700);
    for (char& byte : a.bytes) byte = static_cast<char>(random());
    detail::add_hash(a, random());
    detail::merge(b, a);
    (void)detail::estimate(b);
    (void)detail::estimate(a);
  }
}

}  // namespace
}  // namespace hummer::more_aggregates_test
