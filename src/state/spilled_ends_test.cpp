#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <optional>

#include "state/spilled_store_test_rig.hpp"
#include "support/drawn_cases.hpp"

// What a spilled store does with values that have an end.
namespace hummer::spilled_ends_test {
namespace {

constexpr std::int64_t never = INT64_MAX;

// Begins with when it is over.
std::string value_of(std::int64_t end, std::string_view text) {
  return std::string(reinterpret_cast<const char*>(&end), sizeof end).append(text);
}
std::int64_t end_of(std::string_view value) {
  std::int64_t end = 0;
  std::memcpy(&end, value.data(), sizeof end);
  return end;
}
std::uint64_t hash_of(const std::string& key) { return hash_bytes(key.data(), key.size()); }

using Entries = SpilledEntriesModel;
using Values = std::map<std::string, std::string>;

class SpilledEnds : public ::testing::Test {
 protected:
  void begin(std::uint64_t seed) {
    node_ = make_simulated_platform({.seed = seed});
    context_ = std::make_unique<FakeOperatorContext>(
        FakeOperatorContext::Place{.name = "count", .platform = node_.get()});
    store_ = make();
    now_ = 0;
  }
  std::unique_ptr<SpilledStore> make() {
    return make_spilled_store(*context_,
                              {.combine = {}, .end_of = end_of, .now = [this] { return now_; }});
  }
  static void add(Entries& run, const std::string& key, std::optional<std::string> value) {
    run[{hash_of(key), key}] = std::move(value);
  }
  // Keys from..to, of values of about 100 bytes.
  static Entries keys(int from, int to, std::int64_t end) {
    Entries run;
    for (int key = from; key < to; ++key) {
      add(run, std::to_string(key), value_of(end, std::string(100, 'x')));
    }
    return run;
  }
  void merge_all() {
    for (int level = 0; level < 10; ++level) {
      (void)node_->run_until([] { return false; }, hummer::never);
      ASSERT_TRUE(store_->advance().ok());
    }
  }
  bool finds(const std::string& key) {
    std::string value;
    const Result<bool> found = store_->find(hash_of(key), key, value);
    EXPECT_TRUE(found.ok());
    return found.ok() && *found;
  }
  static Values all_of(SpilledScan& scan) {
    Values all;
    for (;;) {
      const Result<bool> found = scan.next();
      EXPECT_TRUE(found.ok()) << found.status().to_string();
      if (!found.ok() || !*found) return all;
      all[std::string(scan.entry().key)] = scan.entry().value;
    }
  }

  std::unique_ptr<SimulatedPlatform> node_;
  std::unique_ptr<FakeOperatorContext> context_;
  std::unique_ptr<SpilledStore> store_;
  std::int64_t now_ = 0;
};

TEST_F(SpilledEnds, ARunGoesWithTheLastOfItsEntries) {
  begin(1);
  Entries run = keys(0, 100, 5000);
  add(run, "longer", value_of(9000, "x"));
  ASSERT_TRUE(put_run(*store_, run).ok());
  now_ = 8999;
  ASSERT_TRUE(store_->advance().ok());
  EXPECT_FALSE(store_->empty());
  now_ = 10'000;  // it looks once per second
  ASSERT_TRUE(store_->advance().ok());
  EXPECT_TRUE(store_->empty());
  EXPECT_EQ(store_->disk_bytes(), 0u);
}

TEST_F(SpilledEnds, WhatIsOverHidesWhatIsOlder) {
  begin(1);
  ASSERT_TRUE(put_run(*store_, keys(0, 1, never)).ok());
  ASSERT_TRUE(put_run(*store_, keys(0, 1, 2000)).ok());
  now_ = 5000;
  ASSERT_TRUE(store_->advance().ok());
  EXPECT_TRUE(all_of(*store_->scan()).empty());
}

// One that goes as a whole is still part of the next snapshot that builds on another.
TEST_F(SpilledEnds, ADeltaTellsOfWhatHasGoneSince) {
  begin(1);
  ASSERT_TRUE(put_run(*store_, keys(0, 10, never)).ok());
  EXPECT_EQ(all_of(*store_->freeze_entries(true).scan).size(), 10u);
  // They take the first one's place, and are over soon.
  for (int run = 0; run < 3; ++run) ASSERT_TRUE(put_run(*store_, keys(0, 10, 2000)).ok());
  merge_all();
  now_ = 5000;
  ASSERT_TRUE(store_->advance().ok());
  EXPECT_TRUE(store_->empty());
  const SpilledStore::FrozenEntries frozen = store_->freeze_entries(true);
  ASSERT_TRUE(frozen.delta);
  int removed = 0;
  for (;;) {
    const Result<bool> found = frozen.scan->next();
    ASSERT_TRUE(found.ok());
    if (!*found) break;
    removed += frozen.scan->entry().removed ? 1 : 0;
  }
  EXPECT_EQ(removed, 10);
}

// Much of a large run that never ends as a whole.
TEST_F(SpilledEnds, WhatIsLeftOfARunIsMergedWhereAThirdIsOver) {
  begin(1);
  Entries run = keys(0, 2000, never);
  run.merge(keys(2000, 3200, 5000));
  ASSERT_TRUE(put_run(*store_, run).ok());
  const std::uint64_t before = store_->disk_bytes();
  now_ = 4000;
  merge_all();
  EXPECT_EQ(store_->disk_bytes(), before);
  now_ = 6000;
  merge_all();
  EXPECT_LT(store_->disk_bytes(), before * 2 / 3);
  EXPECT_EQ(all_of(*store_->scan()).size(), 2000u);
}

TEST_F(SpilledEnds, LittleIsLeftAsItIs) {
  begin(1);
  Entries run = keys(0, 3000, never);
  run.merge(keys(3000, 4000, 5000));
  ASSERT_TRUE(put_run(*store_, run).ok());
  const std::uint64_t before = store_->disk_bytes();
  now_ = 10'000;
  merge_all();
  EXPECT_EQ(store_->disk_bytes(), before);
}

// A newer run's keys that are over are not in the older ones: nothing is left of them at all.
TEST_F(SpilledEnds, WhatHidesNothingGoesWithoutAMark) {
  begin(1);
  ASSERT_TRUE(put_run(*store_, keys(0, 100'000, never)).ok());
  const std::uint64_t older = store_->disk_bytes();
  // Half as much as all, so that it is merged, by itself.
  Entries run = keys(100'000, 199'000, 5000);
  run.merge(keys(199'000, 199'100, never));
  run.merge(keys(0, 10, 5000));
  ASSERT_TRUE(put_run(*store_, run).ok());
  now_ = 10'000;
  merge_all();
  EXPECT_LT(store_->disk_bytes(), older + older / 50);
  EXPECT_EQ(all_of(*store_->scan()).size(), 100'090u);
  EXPECT_FALSE(finds("5"));
  EXPECT_FALSE(finds("150000"));
  EXPECT_TRUE(finds("50"));
}

// Runs of the same keys: as many of them as there are at first, and one that has all.
TEST_F(SpilledEnds, WhatIsReplacedGoesBeforeLong) {
  begin(1);
  std::uint64_t of_one = 0;
  for (int round = 0; round < 60; ++round) {
    ASSERT_TRUE(put_run(*store_, keys(0, 1000, never)).ok());
    merge_all();
    if (round == 0) of_one = store_->disk_bytes();
    EXPECT_LE(store_->disk_bytes(), 4 * of_one) << "round " << round;
  }
}

TEST_F(SpilledEnds, SmallRunsShareAFile) {
  begin(1);
  const std::uint64_t before = node_->simulation().counts().nameless_files;
  for (int run = 0; run < 300; ++run) {
    ASSERT_TRUE(put_run(*store_, keys(run, run + 1, never)).ok());
    if (run % 50 == 0) (void)store_->freeze_entries(true);
  }
  // One for the runs; others by merging, if it was done so soon.
  EXPECT_LT(node_->simulation().counts().nameless_files - before, 150u);
}

// Values with and without ends come and go, are merged whenever the simulation has it so, and are
// read by scans and snapshots meanwhile; some times the store is restored from those. None that has
// been replaced comes back, none that lives is lost.
class Against : public SpilledEnds {
 protected:
  std::optional<Random> random_;
  Entries model_;
  Values saved_;
  bool saved_is_there_ = false;

  Values living() const {
    Values all;
    for (const auto& [key, value] : model_) {
      if (value && end_of(*value) > now_) all[key.second] = *value;
    }
    return all;
  }
  Values living(const Values& of) const {
    Values all;
    for (const auto& [key, value] : of) {
      if (end_of(value) > now_) all[key] = value;
    }
    return all;
  }
  std::int64_t draw_end() {
    if (random_->chance(keeps_)) return never;
    return now_ + random_->between(1, 1 + static_cast<std::int64_t>(random_->below(lives_)));
  }
  Entries draw_run() {
    Entries run;
    const std::uint64_t entries = 1 + random_->below(random_->chance(0.1) ? 400 : 40);
    for (std::uint64_t i = 0; i < entries; ++i) {
      const std::string key = "key " + std::to_string(first_ + random_->below(600));
      if (random_->chance(0.1)) {
        add(run, key, std::nullopt);
      } else {
        add(run, key,
            value_of(draw_end(), std::string(random_->below(400), 'a') + std::to_string(++count_)));
      }
    }
    return run;
  }
  void check_snapshot() {
    const SpilledStore::FrozenEntries frozen =
        store_->freeze_entries(saved_is_there_ && random_->chance(0.9));
    const Values expected = living();
    if (!frozen.delta) saved_.clear();
    deltas_ += frozen.delta ? 1 : 0;
    saved_is_there_ = true;
    // It goes on over what there was.

    const std::int64_t then = now_;
    if (random_->chance(0.5)) step();
    for (;;) {
      const Result<bool> found = frozen.scan->next();
      ASSERT_TRUE(found.ok());
      if (!*found) break;
      const SpilledEntry& entry = frozen.scan->entry();
      if (entry.removed) {
        saved_.erase(std::string(entry.key));
      } else {
        saved_[std::string(entry.key)] = entry.value;
      }
    }
    const std::int64_t now = std::exchange(now_, then);
    ASSERT_TRUE(living(saved_) == expected);
    now_ = now;
  }
  void restore() {
    Entries run;
    for (const auto& [key, value] : saved_) add(run, key, value);
    store_ = make();
    model_ = run;
    saved_is_there_ = false;
    if (run.empty()) return;
    ASSERT_TRUE(put_run(*store_, run).ok());
  }
  void step() {
    const Entries run = draw_run();
    ASSERT_TRUE(put_run(*store_, run).ok());
    for (const auto& [key, value] : run) model_[key] = value;
    now_ += random_->between(0, 2) * random_->between(0, 700);
    if (random_->chance(0.3)) first_ += random_->below(100);  // others from now on
    (void)node_->run_until([] { return false; },
                           node_->now() + random_->between(0, 3) * random_->between(0, 400'000));
    if (random_->chance(0.5)) {
      ASSERT_TRUE(store_->advance().ok());
    }
  }
  void check_finds() {
    for (int i = 0; i < 20; ++i) {
      const std::string key = "key " + std::to_string(first_ + random_->below(600));
      std::string value;
      const Result<bool> found = store_->find(hash_of(key), key, value);
      ASSERT_TRUE(found.ok());
      const auto at = model_.find({hash_of(key), key});
      const bool is_there = at != model_.end() && at->second.has_value();
      ASSERT_TRUE(*found || !is_there || end_of(*at->second) <= now_) << key;
      // What is over may still be found, nothing else.
      ASSERT_TRUE(!*found || (is_there && value == *at->second)) << key;
    }
  }

  std::uint64_t first_ = 0;
  std::uint64_t count_ = 0;
  std::uint64_t lives_ = 0;
  double keeps_ = 0;
  int deltas_ = 0;
};

TEST_F(Against, AModelNothingComesBackAndNothingIsLost) {
  int deltas = 0;
  for (std::uint64_t seed = 1; seed <= drawn_cases(40); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    begin(seed);
    random_.emplace(seed);
    model_.clear();
    saved_.clear();
    saved_is_there_ = false;
    first_ = count_ = 0;
    deltas_ = 0;
    lives_ = random_->chance(0.5) ? 3000 : 20'000;
    keeps_ = std::array{0.0, 0.05, 0.3, 0.7}[random_->below(4)];
    std::vector<std::pair<std::unique_ptr<SpilledScan>, Values>> held;
    for (int step_number = 0; step_number < 120; ++step_number) {
      step();
      if (random_->chance(0.1)) held.emplace_back(store_->scan(), living());
      if (random_->chance(0.15)) check_snapshot();
      if (saved_is_there_ && random_->chance(0.02)) restore();
      if (!held.empty() && random_->chance(0.1)) {
        ASSERT_TRUE(all_of(*held.back().first) == held.back().second);
        held.pop_back();
      }
      check_finds();
      ASSERT_TRUE(all_of(*store_->scan()) == living()) << "step " << step_number;
      if (HasFatalFailure()) return;
    }
    deltas += deltas_;
    for (auto& [scan, expected] : held) ASSERT_TRUE(all_of(*scan) == expected);
    held.clear();
    // What has an end is over: nothing of it stays, but for what is not worth a file.
    now_ += 1'000'000;
    merge_all();
    std::uint64_t needed = 0;
    for (const auto& [key, value] : living()) needed += key.size() + value.size() + 16;
    EXPECT_LE(store_->disk_bytes(), needed * 8 + (300u << 10));
    EXPECT_TRUE(keeps_ > 0 || store_->empty());
  }
  EXPECT_GT(deltas, under_sanitizers ? 0 : 100);
}

}  // namespace
}  // namespace hummer::spilled_ends_test
