// Operators whose state outgrows memory: under every schedule with no memory at all, in long
// random runs against a map, and on disks that fail.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/identity.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "operators/slot_of_pair_for_test.hpp"
#include "operators/spilling_test_rig.hpp"
#include "support/drawn_cases.hpp"
#include "support/expect_ok.hpp"

namespace hummer::spilling_test {
namespace {

using KeyedRun = OperatorRun<Number, Number>;

// So little memory that everything goes to disk after every batch.
void without_memory(HarnessOptions& options, Platform& platform) {
  options.place.platform = &platform;
  options.place.memory_limit_bytes = 1;
}

template <typename T>
auto sorted_by_key(std::vector<T> values) {
  std::sort(values.begin(), values.end(), [](const T& a, const T& b) { return a.key < b.key; });
  return values;
}

TEST(SpillingPartialAggregate, HandsACommonTableOnThatHasOutgrownItsRoom) {
  constexpr std::size_t limit = 40'000;
  SlotOfPair<std::uint32_t, std::int64_t> slot({.memory_limit_bytes = limit});
  PartialAggregateOperator<Number, std::uint32_t, decltype(key_of_number), Sum> partial(
      key_of_number, Sum{value_of_number}, {.pair_name = "count"});
  partial.set_context(slot);
  Output out;
  partial.declare(out);
  ASSERT_TRUE(partial.open().ok());
  constexpr std::uint32_t records = 64;
  std::size_t handed_on = 0;
  std::size_t most = 0;
  for (std::uint32_t first = 0; first < 4096; first += records) {
    Batch in(type_of<Number>(), records);
    for (std::uint32_t i = 0; i < records; ++i) in.mutable_values<Number>()[i] = {first + i, 1};
    in.set_size(records);
    OperatorResult answer = OperatorResult::more;
    while (answer == OperatorResult::more) {
      answer = partial.process(in, out);
      handed_on += out.batch().size();
      out.batch().clear();
    }
    ASSERT_EQ(answer, OperatorResult::done);
    most = std::max(most, slot.pair->table.memory_bytes());
  }
  EXPECT_TRUE(slot.pair->outgrown);
  EXPECT_GT(handed_on, 0u);
  EXPECT_LT(most, limit);
}

TEST(SpillingMergeAggregate, TotalsOfTextKeysAtTheEnd) {
  using Delta = KeyValue<std::string_view, std::int64_t>;
  const auto node = make_simulated_platform({.seed = 1});
  OperatorHarness<Delta> harness(make_operator_factory([] {
    return std::make_unique<MergeAggregateOperator<std::string_view, Sum>>(Sum{value_of_number},
                                                                           false);
  }));
  without_memory(harness.options(), *node);
  harness.record({"to", 1}).record({"be", 2}).record({"", 3}).watermark(1).record({"to", 5});
  harness.record({"a text that is longer than sixteen bytes", 7}).idle().record({"be", 8});
  harness.output<Delta>()
      .normalise(sorted_by_key<Delta>)
      .records({{"", 3}, {"a text that is longer than sixteen bytes", 7}, {"be", 10}, {"to", 6}});
  expect_ok(harness.run());
}

TEST(SpillingMergeAggregate, TotalsOfEveryEpoch) {
  using Delta = KeyValue<std::uint64_t, std::int64_t>;
  const auto last_of_each = [](std::vector<Delta> seen) {
    std::map<std::uint64_t, std::int64_t> last;
    for (const Delta& one : seen) last[one.key] = one.value;
    std::vector<Delta> result;
    for (const auto& [key, value] : last) result.push_back({key, value});
    return result;
  };
  const auto node = make_simulated_platform({.seed = 1});
  OperatorHarness<Delta> harness(make_operator_factory([] {
    return std::make_unique<MergeAggregateOperator<std::uint64_t, Sum>>(Sum{value_of_number}, true,
                                                                        std::string(), 1);
  }));
  without_memory(harness.options(), *node);
  harness.options().state_only_by_flush = true;
  harness.record({1, 1}).record({2, 2}).idle().record({0, 3}).record({1, 5}).watermark(7);
  harness.record({1, 7}).record({0, 8});
  harness.output<Delta>().normalise(last_of_each).records({{0, 11}, {1, 13}, {2, 2}});
  expect_ok(harness.run());
}

TEST(SpillingRunningAggregate, EveryTotalIsRight) {
  const auto node = make_simulated_platform({.seed = 1});
  OperatorHarness<Number> harness(running_sum());
  without_memory(harness.options(), *node);
  harness.records({{1, 1}, {2, 2}, {1, 3}, {0, 4}, {2, 5}, {1, 6}});
  harness.output<Total>()
      .normalise(sorted_by_key<Total>)
      .records({{0, 4}, {1, 1}, {1, 4}, {1, 10}, {2, 2}, {2, 7}});
  expect_ok(harness.run());
}

// Random records; snapshots, each a whole one or a delta on those before it; and operators that go
// on from them, with more or less memory. What they emit against a map.
template <typename In>
class DeltasOfRuns {
 public:
  using Run = OperatorRun<In, Total>;

  DeltasOfRuns(std::uint64_t seed, std::shared_ptr<const OperatorFactory> factory)
      : random_(seed),
        node_(make_simulated_platform({.seed = seed})),
        factory_(std::move(factory)) {
    start();
  }

  // `running`: a total after every record, else all of them at the end.
  void compare(bool running) {
    ASSERT_TRUE(run_->open().ok());
    for (int round = 0; round < 200; ++round) {
      process_some(running);
      if (random_.chance(0.2)) take_snapshot(running);
      if (!pieces_.empty() && random_.chance(0.04)) {
        start();
        ASSERT_TRUE(run_->restore(pieces_).ok());
        ASSERT_TRUE(run_->open().ok());
        model_ = model_then_;
        may_be_delta_ = false;
      }
    }
    if (running) return;
    const Result<std::vector<Total>> seen = run_->end();
    ASSERT_TRUE(seen.ok()) << seen.status().to_string();
    std::map<std::uint32_t, std::int64_t> totals;
    for (const Total& total : *seen) EXPECT_TRUE(totals.emplace(total.key, total.value).second);
    EXPECT_EQ(totals, model_);
  }
  int deltas() const { return deltas_; }
  int whole() const { return whole_; }

 private:
  void start() {
    const std::size_t limit = std::size_t{1} << random_.between(0, 17);
    run_ = std::make_unique<Run>(*factory_, *node_, limit);
  }
  void process_some(bool running) {
    give_background_a_turn(*node_, random_);
    std::vector<In> records;
    std::vector<Total> expected;
    for (std::uint64_t i = 0, count = 1 + random_.below(300); i < count; ++i) {
      const auto key = static_cast<std::uint32_t>(random_.below(random_.chance(0.3) ? 20 : 3000));
      const std::int64_t value = random_.between(-5, 5);
      records.push_back(In{key, value});
      model_[key] += value;
      if (running) expected.push_back({key, model_[key]});
    }
    Result<std::vector<Total>> seen = run_->process(records);
    ASSERT_TRUE(seen.ok()) << seen.status().to_string();
    const auto by_key = [](const Total& a, const Total& b) { return a.key < b.key; };
    std::stable_sort(seen->begin(), seen->end(), by_key);
    std::stable_sort(expected.begin(), expected.end(), by_key);
    const auto same = [](const Total& a, const Total& b) {
      return a.key == b.key && a.value == b.value;
    };
    ASSERT_TRUE(std::equal(seen->begin(), seen->end(), expected.begin(), expected.end(), same));
  }
  // Records go on while it is written.
  void take_snapshot(bool running) {
    const auto model_now = model_;
    ASSERT_TRUE(run_->begin_snapshot(may_be_delta_).ok());
    for (;;) {
      Result<std::optional<std::string>> step = run_->step_snapshot();
      ASSERT_TRUE(step.ok()) << step.status().to_string();
      if (step->has_value()) {
        const bool delta = run_->context().has_written_delta();
        (delta ? deltas_ : whole_) += 1;
        if (!delta) pieces_.clear();
        pieces_.push_back(std::move(**step));
        break;
      }
      // One that is given up is followed by a whole one.
      if (random_.chance(0.02)) {
        may_be_delta_ = false;
        return;
      }
      if (random_.chance(0.3)) process_some(running);
    }
    model_then_ = model_now;
    may_be_delta_ = pieces_.size() < 10;
  }

  Random random_;
  std::unique_ptr<SimulatedPlatform> node_;
  std::shared_ptr<const OperatorFactory> factory_;
  std::unique_ptr<Run> run_;
  std::map<std::uint32_t, std::int64_t> model_;
  std::map<std::uint32_t, std::int64_t> model_then_;  // at the newest snapshot
  std::vector<std::string> pieces_;                   // the newest whole one, and the deltas on it
  bool may_be_delta_ = false;
  int deltas_ = 0;
  int whole_ = 0;
};

TEST(SpillingAggregates, DeltasOfRunsHoldWhatAMapHolds) {
  const auto merging = merged_sum();
  int deltas = 0;
  int whole = 0;
  for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) {
    SCOPED_TRACE(seed);
    DeltasOfRuns<Number> values(seed, running_sum());
    values.compare(true);
    DeltasOfRuns<Total> folded(seed, merging);
    folded.compare(false);
    deltas += values.deltas() + folded.deltas();
    whole += values.whole() + folded.whole();
  }
  EXPECT_GT(deltas, whole / 4);
  EXPECT_GT(whole, 0);
}

// Each snapshot has a table of some entries above runs; now and then these entries have gone to
// disk since the snapshot before, which holds them as its table's still.
TEST(SpillingAggregates, WhatATableHeldCountsOnceWhenItHasGoneToDisk) {
  constexpr std::uint32_t keys = 20'000;
  const auto merging = merged_sum();
  for (std::uint64_t seed = 1; seed <= drawn_cases(3); ++seed) {
    SCOPED_TRACE(seed);
    const auto node = make_simulated_platform({.seed = seed});
    OperatorRun<Total, Total> run(*merging, *node, 300'000);
    ASSERT_TRUE(run.open().ok());
    Random random(seed);
    std::map<std::uint32_t, std::int64_t> model;
    const auto add = [&](std::uint32_t first, std::uint32_t count) {
      std::vector<Total> records;
      for (std::uint32_t i = 0; i < count; ++i) {
        records.push_back({(first + i) % keys, random.between(1, 9)});
        model[records.back().key] += records.back().value;
      }
      ASSERT_TRUE(run.process(records).ok());
    };
    for (std::uint32_t first = 0; first < keys; first += 500) add(first, 500);
    std::vector<std::string> pieces;
    int tables_anew = 0;
    for (int round = 0; round < 12; ++round) {
      ASSERT_TRUE(run.begin_snapshot(!pieces.empty()).ok());
      Result<std::optional<std::string>> step = run.step_snapshot();
      for (; step.ok() && !step->has_value(); step = run.step_snapshot()) continue;
      ASSERT_TRUE(step.ok()) << step.status().to_string();
      const bool delta = run.context().has_written_delta();
      if (!delta) pieces.clear();
      pieces.push_back(std::move(**step));
      tables_anew += delta && pieces.back()[2] == 0;  // version, delta, whether the table's is one

      OperatorRun<Total, Total> restored(*merging, *node, 300'000);
      ASSERT_TRUE(restored.restore(pieces).ok());
      ASSERT_TRUE(restored.open().ok());
      const Result<std::vector<Total>> seen = restored.end();
      ASSERT_TRUE(seen.ok()) << seen.status().to_string();
      std::map<std::uint32_t, std::int64_t> totals;
      for (const Total& total : *seen) totals[total.key] += total.value;
      ASSERT_EQ(totals, model) << "round " << round;
      const auto some = static_cast<std::uint32_t>(random.below(4));
      for (std::uint32_t i = 0; i < some; ++i) {
        add(static_cast<std::uint32_t>(random.below(keys)), 500);
      }
    }
    EXPECT_GT(tables_anew, 0);
  }
}

// Keeps all values of a key in every kind of state; a value of 0 clears them, one below 0 sets a
// timer.
struct Everything {
  using Row = std::vector<std::int64_t>;
  ValueState<std::int64_t> last{"last"};
  ListState<std::string> texts{"texts"};
  MapState<std::int64_t, int> counts{"counts"};

  void process(const Number& number, KeyedOutput<Row>& out) {
    if (number.second < 0) return out.set_event_timer(-number.second);
    Row row{number.first, last.get_or(-1)};
    last.set(number.second);
    texts.add(std::to_string(number.second) + " in a text that has memory of its own");
    counts.update(number.second, 0, [](int& count) { ++count; });
    for (const std::string& text : texts.get()) row.push_back(std::stoi(text));
    counts.for_each([&](std::int64_t, int count) { row.push_back(count); });
    out.emit(row);
    if (number.second != 0) return;
    last.clear();
    texts.clear();
    counts.clear();
  }
  void on_timer(Timestamp time, KeyedOutput<Row>& out) { out.emit(Row{time, last.get_or(-1)}); }
};

template <typename User>
auto keyed_factory(User user) {
  using Input = KeyedInput<Number, decltype(key_of_number)>;
  return make_operator_factory([=] {
    return std::make_unique<KeyedProcessOperator<std::uint32_t, OutputOfKeyed<User>, User, Input>>(
        user, Input{key_of_number});
  });
}

TEST(SpillingKeyedState, EveryKindOfStateComesBackFromDisk) {
  const auto node = make_simulated_platform({.seed = 1});
  OperatorHarness<Number> harness(keyed_factory(Everything{}));
  without_memory(harness.options(), *node);
  harness.records({{1, 5}, {2, 7}, {1, 3}, {1, 5}, {1, 0}, {1, 9}, {2, 7}});
  harness.output<Everything::Row>().records({{1, -1, 5, 1},
                                             {2, -1, 7, 1},
                                             {1, 5, 5, 3, 1, 1},
                                             {1, 3, 5, 3, 5, 1, 2},
                                             {1, 5, 5, 3, 5, 0, 1, 1, 2},
                                             {1, -1, 9, 1},
                                             {2, 7, 7, 7, 2}});
  expect_ok(harness.run());
}

// Sums per key that live for 1000 ms after they were written last.
struct FadingSum {
  ValueState<std::int64_t> sum{"sum", {.ttl_ms = 1000}};
  void process(const Number& number, KeyedOutput<Number>& out) {
    if (number.second == 0) return sum.clear();
    out.emit(Number{number.first, sum.update(0, [&](std::int64_t& s) { s += number.second; })});
  }
};

struct Faults {
  double read = 0;
  double write = 0;
};

// Random records, time that passes, and snapshots that another operator goes on from, against a
// map. Ok, or the failure that the operator ended with.
Status compare_with_map(std::uint64_t seed, Faults faults) {
  const auto factory = keyed_factory(FadingSum{});
  const auto node = make_simulated_platform({.seed = seed});
  Random random(seed);
  const auto draw_limit = [&] { return std::size_t{1} << random.between(0, 17); };
  struct Expected {
    std::int64_t sum = 0;
    std::int64_t expires_ms = 0;
  };
  std::map<std::uint32_t, Expected> model;
  auto run = std::make_unique<KeyedRun>(*factory, *node, draw_limit());
  HUMMER_TRY(run->open());
  node->simulation().options().read_fault_rate = faults.read;
  node->simulation().options().write_fault_rate = faults.write;
  std::int64_t now_ns = run->context().now();
  // Records whose results must be those of the map.
  const auto process_some = [&]() -> Status {
    give_background_a_turn(*node, random);
    now_ns += random.between(0, 400) * 1'000'000;
    run->context().set_now(now_ns);
    const std::int64_t now_ms = now_ns / 1'000'000;
    std::vector<Number> numbers, expected;
    for (std::uint64_t i = 0, count = 1 + random.below(300); i < count; ++i) {
      // Some keys come often.
      const std::uint64_t among = random.chance(0.3) ? 20 : 3000;
      const Number number{random.below(among), random.between(-5, 5)};
      numbers.push_back(number);
      Expected& entry = model[number.first];
      if (entry.expires_ms <= now_ms) entry.sum = 0;
      entry.sum = number.second == 0 ? 0 : entry.sum + number.second;
      entry.expires_ms = now_ms + 1000;
      if (number.second != 0) expected.push_back({number.first, entry.sum});
    }
    const Result<std::vector<Number>> seen = run->process(numbers);
    if (!seen.ok()) return seen.status();
    if (*seen == expected) return {};
    return {ErrorCode::internal, "results differ from the map's, seed " + std::to_string(seed)};
  };
  for (int round = 0; round < 120; ++round) {
    HUMMER_TRY(process_some());
    if (!random.chance(0.1)) continue;
    // Records go on while the snapshot is written; then all begins again where it was taken.
    const auto model_then = model;
    HUMMER_TRY(run->begin_snapshot());
    std::optional<std::string> bytes;
    for (;;) {
      Result<std::optional<std::string>> step = run->step_snapshot();
      if (!step.ok()) return step.status();
      bytes = std::move(*step);
      if (bytes) break;
      if (random.chance(0.5)) HUMMER_TRY(process_some());
    }
    model = model_then;
    run = std::make_unique<KeyedRun>(*factory, *node, draw_limit());
    run->context().set_now(now_ns);
    HUMMER_TRY(run->restore({*bytes}));
    HUMMER_TRY(run->open());
  }
  return {};
}

// With a limit: some keys before the snapshot, and more than there is room for while it is written.
template <typename Run>
void expect_hurries_while_it_is_written(Run& run, bool has_limit) {
  std::uint32_t next = 0;
  const auto process_new_keys = [&](std::uint32_t count) {
    std::vector<Number> numbers;
    for (std::uint32_t i = 0; i < count; ++i) numbers.emplace_back(next++, 1);
    ASSERT_TRUE(run.process(numbers).ok());
  };
  ASSERT_TRUE(run.open().ok());
  process_new_keys(300);
  ASSERT_TRUE(run.begin_snapshot().ok());
  EXPECT_EQ(run.context().hurries(), 0);
  for (int i = 0; i < 20; ++i) process_new_keys(300);
  EXPECT_EQ(run.context().hurries() > 0, has_limit);
  for (;;) {
    const Result<std::optional<std::string>> step = run.step_snapshot();
    ASSERT_TRUE(step.ok());
    if (*step) break;
  }
  const int before = run.context().hurries();
  for (int i = 0; i < 20; ++i) process_new_keys(300);
  EXPECT_EQ(run.context().hurries(), before) << "nobody waits for a snapshot that is written";
}

TEST(SpillingKeyedState, HurriesTheSnapshotThatHoldsWhatShouldGo) {
  const auto factory = keyed_factory(FadingSum{});
  const auto platform = make_simulated_platform({.seed = 1});
  for (const std::size_t limit_bytes : {std::size_t{200'000}, std::size_t{1} << 30}) {
    KeyedRun run(*factory, *platform, limit_bytes);
    expect_hurries_while_it_is_written(run, limit_bytes < 1'000'000);
  }
}

TEST(SpillingKeyedState, LongRunsAreThoseOfAMap) {
  for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) {
    const Status status = compare_with_map(seed, {});
    EXPECT_TRUE(status.ok()) << status.to_string();
  }
}

TEST(SpillingKeyedState, ADiskThatFailsFailsTheOperatorAndNothingElse) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    const bool reads = seed % 2 == 0;
    const Status status =
        compare_with_map(seed, {.read = reads ? 0.0005 : 0, .write = reads ? 0 : 0.02});
    if (status.ok()) continue;
    ++failures;
    EXPECT_EQ(status.code(), ErrorCode::io_error) << status.to_string();
    EXPECT_NE(status.message().find("the state of operator 'sum' on disk"), std::string::npos)
        << status.message();
  }
  EXPECT_GT(failures, 0);
}

TEST(SpillingKeyedState, AFullDiskFailsTheOperatorByName) {
  const auto factory = keyed_factory(FadingSum{});
  const auto node = make_simulated_platform({.seed = 1, .disk_capacity_bytes = 100});
  KeyedRun run(*factory, *node, 1);
  ASSERT_TRUE(run.open().ok());
  std::vector<Number> numbers(100);
  for (std::uint32_t i = 0; i < numbers.size(); ++i) numbers[i] = {i, 1};
  const Result<std::vector<Number>> seen = run.process(numbers);
  EXPECT_EQ(seen.status().code(), ErrorCode::disk_full);
  EXPECT_NE(seen.status().message().find("'sum'"), std::string::npos) << seen.status().message();
}

}  // namespace
}  // namespace hummer::spilling_test
