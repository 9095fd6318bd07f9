// When FoldingChoice folds and when it passes records on, and that the sums are the same where an
// operator changes from one to the other in the middle of its input.
#include <hummer/detail/operators/folding_choice.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include <hummer/detail/operators/partial_aggregate.hpp>
#include <hummer/detail/operators/partial_window.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>

#include "base/metric_sample.hpp"
#include "operators/slot_of_pair_for_test.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::folding_choice_test {
namespace {

using Choice = FoldingChoice;

// Folds an epoch with so many parts per record.
void fold_epoch(Choice& choice, std::uint64_t records, double parts_per_record) {
  choice.fold(records);
  choice.end_epoch(static_cast<std::uint64_t>(static_cast<double>(records) * parts_per_record));
}

TEST(FoldingChoice, FoldsWhereKeysRepeatAndPassesWhereTheyDoNot) {
  Choice repeats;
  fold_epoch(repeats, 100'000, 0.49);
  EXPECT_TRUE(repeats.folds());
  Choice differs;
  fold_epoch(differs, 100'000, 0.51);
  EXPECT_FALSE(differs.folds());
}

TEST(FoldingChoice, PassesSoonerWhereTheExchangeIsCheap) {
  for (const bool is_cheap : {false, true}) {
    const auto home = std::make_shared<detail::UserMetrics>();
    const detail::MetricsScope scope(home.get());
    Choice choice;
    choice.open(is_cheap, false);
    fold_epoch(choice, 100'000, (Choice::pass_above + Choice::pass_above_if_cheap) / 2);
    EXPECT_EQ(choice.folds(), !is_cheap);
  }
}

TEST(FoldingChoice, FewRecordsSayNothing) {
  Choice choice;
  fold_epoch(choice, Choice::judged_records - 1, 1);
  EXPECT_TRUE(choice.folds());
  fold_epoch(choice, 1, 1);  // together they do
  EXPECT_FALSE(choice.folds());
}

TEST(FoldingChoice, WhatIsForcedStays) {
  Choice always(Folding::always);
  fold_epoch(always, 10'000'000, 1);
  EXPECT_TRUE(always.folds());
  EXPECT_FALSE(always.is_due());
  Choice off(Folding::off);
  off.pass(1'000'000'000);
  EXPECT_FALSE(off.folds());
}

TEST(FoldingChoice, AnEpochWithHardlyARepeatedKeyEndsEarly) {
  Choice choice;
  choice.fold(Choice::early_look_records - 1);
  EXPECT_FALSE(choice.is_due());
  choice.fold(1);
  ASSERT_TRUE(choice.is_due());
  EXPECT_TRUE(choice.ends_epoch(Choice::early_look_records * 99 / 100));
  Choice later;
  later.fold(Choice::early_look_records);
  EXPECT_FALSE(later.ends_epoch(Choice::early_look_records * 95 / 100));
  EXPECT_FALSE(later.is_due());
  later.fold(Choice::look_records - Choice::early_look_records);
  ASSERT_TRUE(later.is_due());
  EXPECT_TRUE(later.ends_epoch(Choice::look_records * 9 / 10));
  Choice other;
  other.fold(Choice::look_records);
  EXPECT_FALSE(other.ends_epoch(Choice::look_records / 2));
  EXPECT_FALSE(other.is_due());
}

TEST(FoldingChoice, ALongEpochEndsWhereKeysStopToRepeat) {
  struct Case {
    bool is_cheap;
    bool epochs_last;
    double share;  // from then on
    bool ends;
  };
  for (const Case& each : {Case{false, false, 0.8, false}, Case{false, false, 0.9, true},
                           Case{true, false, 0.45, false}, Case{true, false, 0.55, true},
                           Case{true, true, 0.8, false}, Case{true, true, 0.9, true}}) {
    const auto home = std::make_shared<detail::UserMetrics>();
    const detail::MetricsScope scope(home.get());
    Choice choice;
    choice.open(each.is_cheap, each.epochs_last);
    double parts = 0;
    const auto look = [&](double share) {
      choice.fold(Choice::look_records);
      parts += share * static_cast<double>(Choice::look_records);
      EXPECT_TRUE(choice.is_due());
      return choice.ends_epoch(static_cast<std::uint64_t>(parts));
    };
    for (int i = 0; i < 3; ++i) EXPECT_FALSE(look(0.05));
    EXPECT_EQ(look(each.share), each.ends) << each.share;
  }
}

// The first window of two goes out: what is held then is less than at the last look.
TEST(FoldingChoice, WhatWentOutMeanwhileIsNoSignOfRepeatedKeys) {
  Choice choice;
  choice.fold(2 * Choice::look_records);
  EXPECT_FALSE(choice.ends_epoch(Choice::look_records / 10));
  choice.hand_on(Choice::look_records, Choice::look_records / 20);
  choice.fold(Choice::early_look_records);
  ASSERT_TRUE(choice.is_due());
  EXPECT_FALSE(choice.ends_epoch(Choice::look_records / 20 + Choice::early_look_records));
}

// Shares at the three looks as streams have them that are named beside.
TEST(FoldingChoice, ByACheapExchangeAnEpochEndsThatWouldNotSaveMostRecords) {
  struct Case {
    const char* keys;
    std::array<double, 3> shares;
    std::size_t ends_at;  // 3: not
    bool epochs_last = false;
  };
  for (const Case& each : {Case{"100 k uniform ones", {0.851, 0.557, 0.190}, 3},
                           Case{"300 k uniform ones", {0.945, 0.810, 0.473}, 3},
                           Case{"620 k uniform ones", {0.974, 0.901, 0.675}, 2},
                           Case{"1 M uniform ones", {0.984, 0.937, 0.778}, 0},
                           Case{"1 M by a Zipf law", {0.459, 0.355, 0.261}, 3},
                           Case{"10 M by a Zipf law", {0.538, 0.454, 0.371}, 2},
                           Case{"620 k uniform ones", {0.974, 0.901, 0.675}, 3, true},
                           Case{"10 M by a Zipf law", {0.538, 0.454, 0.371}, 2, true},
                           Case{"3 M uniform ones", {0.974, 0.972, 0.919}, 2, true}}) {
    const auto home = std::make_shared<detail::UserMetrics>();
    const detail::MetricsScope scope(home.get());
    Choice choice;
    choice.open(true, each.epochs_last);
    std::uint64_t held = 0, until = Choice::early_look_records_if_cheap;
    for (std::size_t look = 0; look < 3; ++look) {
      choice.fold(until - held - 1);
      EXPECT_FALSE(choice.is_due()) << each.keys << ", look " << look;
      choice.fold(1);
      ASSERT_TRUE(choice.is_due()) << each.keys << ", look " << look;
      held = until;
      until *= Choice::look_factor;
      const auto parts = static_cast<std::uint64_t>(static_cast<double>(held) * each.shares[look]);
      EXPECT_EQ(choice.ends_epoch(parts), look == each.ends_at) << each.keys << ", look " << look;
      if (look == each.ends_at) break;
    }
  }
}

TEST(FoldingChoice, AProbeFindsThatKeysRepeatAgain) {
  Choice choice;
  fold_epoch(choice, 100'000, 1);
  ASSERT_FALSE(choice.folds());
  choice.pass(Choice::first_interval);
  ASSERT_TRUE(choice.folds());
  choice.fold(Choice::probe_records);
  ASSERT_TRUE(choice.is_due());
  ASSERT_TRUE(choice.ends_epoch(100));
  choice.end_epoch(100);
  EXPECT_TRUE(choice.folds());
  fold_epoch(choice, 10'000'000, 0.01);
  EXPECT_TRUE(choice.folds());
}

// Of a stream whose keys never repeat, behind the first intervals.
TEST(FoldingChoice, ProbesFoldFewRecords) {
  Choice choice;
  std::uint64_t folded = 0, passed = 0, held = 0;
  constexpr std::uint64_t batch = 1'024;
  for (std::uint64_t i = 0; i < 1'000'000; ++i) {
    if (!choice.folds()) {
      choice.pass(batch);
      passed += batch;
      continue;
    }
    choice.fold(batch);
    folded += batch;
    held += batch;
    if (choice.is_due() && choice.ends_epoch(held)) {
      choice.end_epoch(held);
      held = 0;
    }
  }
  EXPECT_LT(folded * 50, passed) << folded << " folded, " << passed << " passed";
  EXPECT_GT(folded, 0u);
}

std::uint64_t counted(const detail::UserMetrics& metrics, const detail::EngineMetric& metric) {
  return metrics.sample(metric.name, metric.kind).count;
}
double gauge(const detail::UserMetrics& metrics, const detail::EngineMetric& metric) {
  return metrics.sample(metric.name, metric.kind).sum;
}

TEST(FoldingChoice, ItsMetricsSayWhatIsChosenAndWhy) {
  const auto home = std::make_shared<detail::UserMetrics>();
  const detail::MetricsScope scope(home.get());
  Choice choice;
  choice.open(false, false);
  EXPECT_EQ(home->sample().size(), detail::engine_metrics.size());
  EXPECT_EQ(gauge(*home, detail::folds_now), 1);
  fold_epoch(choice, 100'000, 0.01);
  EXPECT_EQ(gauge(*home, detail::folds_now), 1);
  EXPECT_EQ(gauge(*home, detail::parts_per_record), 0.01);
  fold_epoch(choice, 100'000, 0.75);  // keys repeat no more
  EXPECT_EQ(gauge(*home, detail::folds_now), 0);
  EXPECT_EQ(gauge(*home, detail::parts_per_record), 0.75);
  EXPECT_EQ(counted(*home, detail::epochs_folded), 2u);
  choice.pass(Choice::first_interval - 1);
  EXPECT_EQ(counted(*home, detail::epochs_passed), 0u);
  choice.pass(1);
  EXPECT_EQ(counted(*home, detail::epochs_passed), 1u);
  EXPECT_EQ(gauge(*home, detail::folds_now), 0) << "a probe decides nothing before it ends";
  fold_epoch(choice, 64'000, 0.125);
  EXPECT_EQ(gauge(*home, detail::folds_now), 1);
  EXPECT_EQ(gauge(*home, detail::parts_per_record), 0.125);
  EXPECT_EQ(counted(*home, detail::epochs_folded), 2u);
  EXPECT_EQ(counted(*home, detail::epochs_probed), 1u);
  EXPECT_EQ(counted(*home, detail::records_folded), 264'000u);
  EXPECT_EQ(counted(*home, detail::records_passed), Choice::first_interval);
  EXPECT_EQ(counted(*home, detail::parts_handed_on), 1'000u + 75'000u + 8'000u);
  EXPECT_FALSE(home->refused());
}

TEST(FoldingChoice, ItsMetricsSayWhatIsForced) {
  for (const auto& [rule, folds] : {std::pair{Folding::always, 1}, std::pair{Folding::off, 0}}) {
    const auto home = std::make_shared<detail::UserMetrics>();
    const detail::MetricsScope scope(home.get());
    Choice choice(rule);
    choice.open(false, false);
    EXPECT_EQ(gauge(*home, detail::folds_now), folds);
    EXPECT_EQ(gauge(*home, detail::parts_per_record), 0) << "nothing is measured";
  }
}

// ---- operators whose choice changes under way ----

using Part = KeyValue<std::uint64_t, std::uint64_t>;
using Counts = std::vector<std::uint32_t>;  // by key
constexpr int batches = 3'000;
constexpr std::uint32_t most_in_batch = 2'000;
constexpr std::uint64_t first_fresh_key = 1'000;
constexpr std::uint64_t most_keys = first_fresh_key + batches * std::uint64_t{most_in_batch};

using Slot = SlotOfPair<std::uint64_t, std::uint64_t>;

struct NothingElse {
  void come(std::uint64_t /*record*/, Counts& /*expected*/) const {}
  bool merges(std::uint64_t /*record*/) const { return false; }
  void add_to(Counts& /*seen*/) const {}
};

// What the common table has, into which the merge half adds what comes from others, and own records
// that have passed.
struct CommonTable {
  Slot& slot;

  void come(std::uint64_t key, Counts& expected) const {
    ASSERT_FALSE(slot.pair->handing_on);
    if (merges(key)) ++expected[key];
  }
  bool owns(std::uint64_t key) const { return slot.pair->owned_hashes(slot).has(key_hash(key)); }
  // False: it is the table of another, or that must not grow now.
  bool merges(std::uint64_t key) const {
    if (!owns(key) || slot.pair->outgrown || slot.pair->handing_on) return false;
    ++*slot.pair->table.find_or_add(key).first;
    return true;
  }
  void add_to(Counts& seen) const {
    slot.pair->table.scan(0, [&](std::uint64_t key, std::uint64_t count) {
      EXPECT_TRUE(owns(key) || slot.pair->partial_ended) << key;
      if (owns(key)) seen.at(key) += static_cast<std::uint32_t>(count);
      return true;
    });
  }
};

// Keys repeat in some stretches, and in others not; with each batch the output may have room for
// any number of records, and now and then an epoch ends.
template <typename Op, typename KeyOfPart, typename Beside = NothingElse>
void expect_all_counted(Op& op, std::uint64_t seed, KeyOfPart key_of_part, bool timed,
                        FakeOperatorContext& context, Beside beside = {}) {
  std::mt19937_64 random(seed);
  const detail::UserMetrics& metrics = context.user_metrics();
  const detail::MetricsScope scope(&context.user_metrics());
  std::uint64_t records = 0, emitted = 0;
  Output out;
  op.set_context(context);
  op.declare(out);
  ASSERT_TRUE(op.open().ok());
  Counts expected(most_keys), seen(most_keys);
  using Emitted = std::remove_cvref_t<decltype(key_of_part.part)>;
  const auto take = [&] {
    for (const Emitted& part : out.batch().template values<Emitted>()) {
      seen.at(part.key) += static_cast<std::uint32_t>(part.value);
      ++emitted;
    }
    out.batch().clear();
    if (out.port_count() == 1) return;  // no bypass
    for (const std::uint64_t key : out.batch(1).template values<std::uint64_t>()) {
      if (!beside.merges(key)) ++seen.at(key);
      ++emitted;
    }
    out.batch(1).clear();
  };
  const auto complete = [&](auto call) {
    OperatorResult answer = OperatorResult::more;
    while (answer == OperatorResult::more) {
      out.set_soft_limit(1 + static_cast<std::uint32_t>(random() % 2'000));
      answer = call();
      take();
    }
    ASSERT_EQ(answer, OperatorResult::done);
  };
  Timestamp now = 0;
  std::uint64_t fresh = first_fresh_key, keys = 0;
  for (int batch = 0; batch < batches; ++batch) {
    if (batch % 700 == 0) keys = random() % 2 == 0 ? 0 : 1 + random() % (first_fresh_key - 1);
    const auto size = static_cast<std::uint32_t>(1 + random() % most_in_batch);
    Batch in(type_of<std::uint64_t>(), size);
    for (std::uint32_t i = 0; i < size; ++i) {
      const std::uint64_t key = keys == 0 ? fresh++ : random() % keys;
      in.mutable_values<std::uint64_t>()[i] = key;
      if (timed) in.timestamps().push_back(now + static_cast<Timestamp>(i) / 100);
      ++expected[key];
    }
    in.set_size(size);
    records += size;
    complete([&] { return op.process(in, out); });
    for (int i = 0; i < 3; ++i) beside.come(random() % first_fresh_key, expected);
    now += size / 100;
    if (random() % 8 == 0) complete([&] { return op.watermark(now, out); });
    if (random() % 200 == 0) {
      complete([&] { return op.flush(out); });
      Counts all = seen;
      beside.add_to(all);
      ASSERT_TRUE(all == expected) << "behind a barrier, seed " << seed;
    }
  }
  complete([&] { return op.end(out); });
  beside.add_to(seen);
  EXPECT_TRUE(seen == expected) << "seed " << seed;
  const std::uint64_t folded = counted(metrics, detail::records_folded);
  const std::uint64_t passed = counted(metrics, detail::records_passed);
  EXPECT_EQ(folded + passed, records);
  EXPECT_GT(folded, 0u);
  EXPECT_GT(passed, 0u) << "the choice never changed";
  EXPECT_EQ(counted(metrics, detail::parts_handed_on) + passed, emitted);
  EXPECT_GT(counted(metrics, detail::epochs_folded), 0u);
}

template <typename P>
struct EmittedAs {
  P part{};
};

TEST(PartialAggregateOperator, CountsAllWhereTheChoiceChanges) {
  for (std::uint64_t seed = 0; seed < drawn_cases(3); ++seed) {
    PartialAggregateOperator<std::uint64_t, std::uint64_t, Identity, CountAggregate> op(
        identity, CountAggregate(),
        PartialAggregateOptions{.limit_bytes = 1 << 20, .pair_name = {}});
    FakeOperatorContext context;
    expect_all_counted(op, seed, EmittedAs<Part>{}, false, context);
  }
}

TEST(PartialAggregateOperator, CountsAllBesideACommonTableWhereTheChoiceChanges) {
  for (std::uint64_t seed = 0; seed < drawn_cases(6); ++seed) {
    // It is divided since it is large, or since keys hardly repeat.
    const std::size_t limit = seed % 2 == 0 ? std::size_t{64} << 20 : std::size_t{1} << 20;
    PartialAggregateOperator<std::uint64_t, std::uint64_t, Identity, CountAggregate> op(
        identity, CountAggregate(),
        {.limit_bytes = limit, .bypass = seed < 3, .pair_name = "count"});
    // With this limit it outgrows its room later.
    const std::size_t memory_bytes = seed % 3 == 2 ? std::size_t{48} << 20 : 0;
    Slot slot({.subtask = static_cast<int>(seed % 3),
               .parallelism = 3,
               .memory_limit_bytes = memory_bytes});
    expect_all_counted(op, seed, EmittedAs<Part>{}, false, slot, CommonTable{slot});
    EXPECT_EQ(slot.pair->outgrown, memory_bytes > 0) << seed;
  }
}

// What passes comes to the merge half, which puts it there.
TEST(PartialAggregateOperator, ACommonTableEndsThatGrowsWhileRecordsPass) {
  PartialAggregateOperator<std::uint64_t, std::uint64_t, Identity, CountAggregate> op(
      identity, CountAggregate(), {.pair_name = "count"});
  Slot slot({.subtask = 0, .parallelism = 2, .memory_limit_bytes = std::size_t{48} << 20});
  const detail::MetricsScope scope(&slot.user_metrics());
  Output out;
  op.set_context(slot);
  op.declare(out);
  ASSERT_TRUE(op.open().ok());
  std::uint64_t fresh = 1;
  const auto process = [&] {
    constexpr std::uint32_t records = 1024;
    Batch in(type_of<std::uint64_t>(), records);
    for (std::uint32_t i = 0; i < records; ++i) in.mutable_values<std::uint64_t>()[i] = fresh++;
    in.set_size(records);
    bool passed = false;
    for (OperatorResult answer = OperatorResult::more; answer == OperatorResult::more;) {
      answer = op.process(in, out);
      passed |= !out.batch(1).empty();
      out.batch().clear();
      out.batch(1).clear();
    }
    return passed;
  };
  while (!process()) ASSERT_LT(fresh, 1'000'000u);
  EXPECT_FALSE(slot.pair->outgrown);
  for (std::uint64_t key = 1'000'000; key < 2'000'000; ++key) {
    if (slot.pair->owned_hashes(slot).has(key_hash(key))) (void)slot.pair->table.find_or_add(key);
  }
  EXPECT_TRUE(process());
  EXPECT_TRUE(slot.pair->outgrown);
}

TEST(PartialWindowOperator, CountsAllWhereTheChoiceChanges) {
  for (std::uint64_t seed = 0; seed < drawn_cases(3); ++seed) {
    // Where there is room it is watermarks that end epochs, while later slices are held.
    const std::size_t limit = seed % 2 == 0 ? std::size_t{64} << 20 : std::size_t{1} << 20;
    PartialWindowOperator<std::uint64_t, std::uint64_t, Identity, CountAggregate> op(
        identity, TumblingWindows::of(1'000), CountAggregate(), limit);
    FakeOperatorContext context;
    expect_all_counted(op, seed, EmittedAs<SlicePartial<std::uint64_t, std::uint64_t>>{}, true,
                       context);
  }
}

}  // namespace
}  // namespace hummer::folding_choice_test
