#include <gtest/gtest.h>

#include "state/spilled_store_test_rig.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::spilled_store_test {
namespace {

using SpilledStoreTest = SpilledStoreTestRig;

TEST_F(SpilledStoreTest, TheNewestValueOfEachKeyCounts) {
  Random random(7);
  const auto store = make_spilled_store(context_, {});
  Model model;
  for (int round = 0; round < 25; ++round) {
    const Model run = draw_run(random, 1 + random.below(400), true);
    ASSERT_TRUE(put(*store, run).ok());
    for (const auto& [key, value] : run) model[key] = value;
    EXPECT_EQ(all_of(*store->scan()), all_of(model)) << "round " << round;
    std::string value;
    for (int key = 0; key < 3100; key += 7) {
      const std::string name = "key " + std::to_string(key);
      const Result<bool> found = store->find(hash_of(name), name, value);
      ASSERT_TRUE(found.ok());
      const auto expected = model.find({hash_of(name), name});
      const bool is_there = expected != model.end() && expected->second.has_value();
      ASSERT_EQ(*found, is_there) << name << " in round " << round;
      if (is_there) {
        ASSERT_EQ(value, *expected->second);
      }
    }
  }
}

TEST_F(SpilledStoreTest, DeltasAreMergedOldestFirst) {
  Random random(11);
  const auto store = make_spilled_store(
      context_, {.combine =
                     [](std::string_view older, std::string_view newer, std::string& both) {
                       both.assign(older).append(",").append(newer);
                       return true;
                     },
                 .end_of = {},
                 .now = {}});
  Model model;
  for (int round = 0; round < 70; ++round) {
    const Model run = draw_run(random, 1 + random.below(60), false);
    ASSERT_TRUE(put(*store, run).ok());
    for (const auto& [key, value] : run) {
      std::optional<std::string>& together = model[key];
      together = together ? *together + "," + *value : *value;
    }
  }
  EXPECT_EQ(all_of(*store->scan()), all_of(model));
}

TEST_F(SpilledStoreTest, WhatIsDeadGoesWhenRunsAreMerged) {
  const std::string dead(100, 'x');
  const auto store = make_spilled_store(
      context_, {.combine = {},
                 .end_of = [](std::string_view value) { return value == "alive" ? INT64_MAX : 0; },
                 .now = {}});
  for (int round = 0; round < 4; ++round) {
    Model run;
    for (int key = 0; key < 1000; ++key) {
      const std::string name = std::to_string(round * 1000 + key);
      run[{hash_of(name), name}] = key == 0 ? "alive" : dead;
    }
    ASSERT_TRUE(put(*store, run).ok());
  }
  merge_all(*store);
  EXPECT_EQ(all_of(*store->scan()).size(), 4u);
  EXPECT_LT(store->disk_bytes(), 400u);
}

// As time goes on: each run is of a few hashes, which are done with one after the other.
TEST_F(SpilledStoreTest, WhatIsDroppedIsNotMergedAnyMoreAndItsRunsGo) {
  Random random(17);
  const auto store =
      make_spilled_store(context_, {.combine = concatenated, .end_of = {}, .now = {}});
  Model model;
  for (std::uint64_t first = 0; first < 100; ++first) {
    Model run;
    for (int i = 0; i < 400; ++i) {
      run[{first + random.below(4), "key " + std::to_string(random.below(500))}] =
          std::to_string(first);
    }
    ASSERT_TRUE(put(*store, run).ok());
    for (const auto& [key, value] : run) {
      std::optional<std::string>& together = model[key];
      together = together ? *together + "," + *value : *value;
    }
    for (std::uint64_t hash = first; hash < first + 5; ++hash) {
      const Model part(model.lower_bound({hash, ""}), model.lower_bound({hash + 1, ""}));
      ASSERT_EQ(all_of(*store->scan_hash(hash, 4096)), all_of(part)) << hash << " at " << first;
    }
    store->drop_before(first + 1);
    model.erase(model.begin(), model.lower_bound({first + 1, ""}));
    EXPECT_LT(store->disk_bytes(), 200'000u);
  }
  store->drop_before(200);
  EXPECT_TRUE(store->empty());
  EXPECT_EQ(store->disk_bytes(), 0u);
}

TEST_F(SpilledStoreTest, OneThatIsAbsorbedIsThereAsIfItHadBeenPut) {
  Random random(19);
  const auto one = make_spilled_store(context_, {});
  const auto other = make_spilled_store(context_, {});
  Model model;
  for (int round = 0; round < 9; ++round) {
    for (SpilledStore* const store : {one.get(), other.get()}) {
      Model run;
      for (const auto& [key, value] : draw_run(random, 200, false)) {
        const std::string name = (store == one.get() ? "one " : "other ") + key.second;
        run[{hash_of(name), name}] = value;
      }
      ASSERT_TRUE(put(*store, run).ok());
      for (const auto& [key, value] : run) model[key] = value;
    }
  }
  one->absorb(*other);
  EXPECT_TRUE(other->empty());
  EXPECT_EQ(all_of(*one->scan()), all_of(model));
  for (int round = 0; round < 5; ++round) {
    const Model run = draw_run(random, 200, false);
    ASSERT_TRUE(put(*one, run).ok());
    for (const auto& [key, value] : run) model[key] = value;
  }
  EXPECT_EQ(all_of(*one->scan()), all_of(model));
}

TEST_F(SpilledStoreTest, ScansAreMergedInOrderAndCombinedInTheirs) {
  Random random(23);
  for (std::size_t count : {0, 1, 2, 7, 60}) {
    Model model;
    std::vector<std::unique_ptr<SpilledScan>> scans;
    for (std::size_t i = 0; i < count; ++i) {
      const auto store = make_spilled_store(context_, {});
      const Model run = draw_run(random, random.below(300), false);
      ASSERT_TRUE(put(*store, run).ok());
      scans.push_back(store->scan());
      for (const auto& [key, value] : run) {
        std::optional<std::string>& together = model[key];
        together = together ? *together + "," + *value : *value;
      }
    }
    const auto merged = merge_scans(
        std::move(scans), [](std::string_view older, std::string_view newer, std::string& both) {
          both.assign(older).append(",").append(newer);
          return true;
        });
    EXPECT_EQ(all_of(*merged), all_of(model)) << count;
  }
}

// Equal keys of merged runs become one: what is kept in memory is as if there had been one run.
TEST_F(SpilledStoreTest, WhatIsKeptInMemoryOfMergedRunsIsThatOfTheirEntries) {
  const auto store = make_spilled_store(context_, {});
  const auto key_of = [](std::uint64_t number) { return "key " + std::to_string(number); };
  const auto hash_of_key = [](const std::string& key) {
    return hash_bytes(key.data(), key.size());
  };
  Model run;
  for (std::uint64_t i = 0; i < 50'000; ++i) run[{hash_of_key(key_of(i)), key_of(i)}] = "x";
  std::size_t of_one = 0;
  std::size_t of_merged = 0;
  std::unique_ptr<SpilledScan> scan;
  for (int round = 1; round <= 16; ++round) {
    ASSERT_TRUE(put(*store, run).ok());
    merge_all(*store);
    if (round == 1) of_one = store->memory_bytes();
    if (round == 4) of_merged = store->memory_bytes();
    if (round == 12) scan = store->scan();
  }
  EXPECT_LE(of_merged, of_one * 5 / 4);
  // A scan that began before keeps in memory what it reads: then there are two of everything.
  EXPECT_GE(store->memory_bytes(), of_one * 2);
  scan.reset();
  EXPECT_LE(store->memory_bytes(), of_one * 5 / 4);
  std::string value;
  for (std::uint64_t i = 0; i < 50'000; i += 7) {
    const std::string key = key_of(i);
    ASSERT_TRUE(*store->find(hash_of_key(key), key, value)) << key;
  }
  EXPECT_FALSE(*store->find(hash_of_key("none"), "none", value));
}

TEST_F(SpilledStoreTest, AScanGoesOnOverWhatWasThere) {
  const auto store = make_spilled_store(context_, {});
  ASSERT_TRUE(put(*store, {{{1, "a"}, "1"}, {{2, "b"}, "2"}}).ok());
  const auto scan = store->scan();
  ASSERT_TRUE(put(*store, {{{1, "a"}, "new"}}).ok());
  store->clear();
  EXPECT_EQ(all_of(*scan).front().second, "1");
  EXPECT_TRUE(store->empty());
}

TEST_F(SpilledStoreTest, AScanFromAPlaceGoesOnFromThere) {
  Random random(13);
  const auto store = make_spilled_store(context_, {});
  Model model;
  for (int round = 0; round < 7; ++round) {
    const Model run = draw_run(random, 1500, false);
    ASSERT_TRUE(put(*store, run).ok());
    for (const auto& [key, value] : run) model[key] = value;
  }
  for (int number = 0; number < 3100; number += 50) {
    const std::string name = "key " + std::to_string(number);
    const auto scan = store->scan_from(hash_of(name), name);
    ASSERT_TRUE(scan.ok());
    const Model rest(model.lower_bound({hash_of(name), name}), model.end());
    EXPECT_EQ(all_of(**scan), all_of(rest)) << "from " << name;
  }
}

TEST_F(SpilledStoreTest, FilesHaveNoName) {
  const auto store = make_spilled_store(context_, {});
  ASSERT_TRUE(put(*store, {{{1, "a"}, "1"}}).ok());
  EXPECT_TRUE(node_->files().list_directory("/spill")->empty());
}

TEST_F(SpilledStoreTest, AFullDiskIsSaidByTheOperatorsName) {
  node_->simulation().options().disk_capacity_bytes = 1000;
  const auto store = make_spilled_store(context_, {});
  const Status status = put(*store, {{{1, "a"}, std::string(2000, 'x')}});
  EXPECT_EQ(status.code(), ErrorCode::disk_full);
  EXPECT_NE(status.message().find("'count'"), std::string::npos) << status.message();
}

TEST_F(SpilledStoreTest, FailuresOfADiskAreFailuresOfTheCall) {
  Random random(3);
  for (int seed = 0; seed < 40; ++seed) {
    const auto node = make_simulated_platform({.seed = static_cast<std::uint64_t>(seed)});
    FakeOperatorContext context({.name = "count", .platform = node.get()});
    const auto store = make_spilled_store(context, {});
    node->simulation().options().read_fault_rate = seed % 2 == 0 ? 0.05 : 0;
    node->simulation().options().write_fault_rate = seed % 2 == 0 ? 0 : 0.05;
    Model model;
    Status status;
    for (int round = 0; round < 30 && status.ok(); ++round) {
      const Model run = draw_run(random, 300, true);
      status = put(*store, run);
      if (!status.ok()) break;
      for (const auto& [key, value] : run) model[key] = value;
      std::string value;
      for (const auto& [key, expected] : run) {
        const Result<bool> found = store->find(key.first, key.second, value);
        if (!found.ok()) {
          status = found.status();
          break;
        }
        ASSERT_EQ(*found, expected.has_value());
      }
    }
    // Either it said so, or everything is there.
    if (!status.ok()) {
      EXPECT_EQ(status.code(), ErrorCode::io_error);
      continue;
    }
    node->simulation().options().read_fault_rate = 0;
    EXPECT_EQ(all_of(*store->scan()), all_of(model));
  }
}

// The entries of a snapshot over those of the snapshots before it.
void add_blocks(std::map<std::string, std::optional<std::string>>& all, SpilledBlocks& blocks) {
  for (;;) {
    const Result<std::string_view> block = blocks.next();
    ASSERT_TRUE(block.ok()) << block.status().to_string();
    if (block->empty()) return;
    for (std::size_t at = 0; at < block->size();) {
      SpilledEntry entry;
      ASSERT_TRUE(read_spilled_entry(*block, at, entry));
      std::optional<std::string>& value = all[std::string(entry.key)];
      value.reset();
      if (!entry.removed) value = entry.value;
    }
  }
}

TEST_F(SpilledStoreTest, AFreezeGivesEverythingOrWhatWasWrittenSince) {
  Random random(11);
  const auto store = make_spilled_store(context_, {});
  std::map<std::string, std::optional<std::string>> model, saved;
  int deltas = 0;
  for (int round = 0; round < 200; ++round) {
    // Few large runs and many small ones, which are merged meanwhile.
    const Model run = draw_run(random, 1 + random.below(round % 10 == 0 ? 3000 : 60), true);
    ASSERT_TRUE(put(*store, run).ok());
    for (const auto& [key, value] : run) model[key.second] = value;
    if (!random.chance(0.3)) continue;
    const bool may_be_delta = random.chance(0.9);
    const SpilledStore::Frozen frozen = store->freeze(may_be_delta);
    ASSERT_TRUE(may_be_delta || !frozen.delta);
    const auto model_now = model;
    // It goes on over what there was.
    const Model later = draw_run(random, 30, true);
    ASSERT_TRUE(put(*store, later).ok());
    for (const auto& [key, value] : later) model[key.second] = value;
    if (!frozen.delta) saved.clear();
    deltas += frozen.delta ? 1 : 0;
    add_blocks(saved, *frozen.blocks);
    std::map<std::string, std::string> left, expected;
    for (const auto& [key, value] : saved) {
      if (value) left[key] = *value;
    }
    for (const auto& [key, value] : model_now) {
      if (value) expected[key] = *value;
    }
    ASSERT_EQ(left, expected) << "round " << round;
  }
  EXPECT_GT(deltas, 20);
}

TEST_F(SpilledStoreTest, AFreezeGivesEverythingBehindWhatNoRunSays) {
  const auto store = make_spilled_store(context_, {});
  const auto run_of = [](const std::string& key) {
    return Model{{{hash_of(key), key}, std::string("value")}};
  };
  const auto gives_delta = [&] { return store->freeze(true).delta; };
  ASSERT_TRUE(put(*store, run_of("a")).ok());
  EXPECT_FALSE(gives_delta());  // the first
  EXPECT_TRUE(gives_delta());
  store->clear();
  EXPECT_FALSE(gives_delta());
  ASSERT_TRUE(put(*store, run_of("b")).ok());
  store->drop_before(1);
  EXPECT_FALSE(gives_delta());
  const auto other = make_spilled_store(context_, {});
  ASSERT_TRUE(put(*other, run_of("c")).ok());
  store->absorb(*other);
  EXPECT_FALSE(gives_delta());
  EXPECT_TRUE(gives_delta());
}

// Merges go on in the background while runs come, scans and snapshots are read, and the store is
// cleared, cut and put together with others: whenever that falls, nothing is lost or comes twice.
TEST_F(SpilledStoreTest, WhenAMergeEndsMakesNoDifference) {
  for (std::uint64_t seed = 1; seed <= drawn_cases(60); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const auto node = make_simulated_platform({.seed = seed});
    FakeOperatorContext context({.name = "count", .platform = node.get()});
    Random random(seed);
    const bool deltas = seed % 2 == 0;
    SpilledStoreOptions options;
    if (deltas) options.combine = concatenated;
    auto store = make_spilled_store(context, options);
    Model model;
    std::vector<HeldScan> held;
    for (int step = 0; step < (under_sanitizers ? 75 : 150); ++step) {
      const Model run = draw_run(random, 1 + random.below(120), !deltas);
      ASSERT_TRUE(put(*store, run).ok());
      apply(model, run, deltas);
      // None to all of the steps that are due.
      const Nanoseconds until = node->now() + random.between(0, 3) * random.between(0, 400'000);
      (void)node->run_until([] { return false; }, until);
      if (random.chance(0.5)) {
        ASSERT_TRUE(store->advance().ok());
      }
      if (random.chance(0.1)) held.push_back({store->scan(), all_of(model)});
      if (random.chance(0.05)) {
        held.push_back({store->freeze_entries(false).scan, all_of(model)});
      }
      if (!held.empty() && random.chance(0.1)) read_one(held, random);
      if (random.chance(0.02)) {
        // Behind that merges go on, too.
        const std::uint64_t hash = (random.below(97)) << 57;
        store->drop_before(hash);
        model.erase(model.begin(), model.lower_bound({hash, ""}));
        const auto rest = store->scan_from(hash, "");
        ASSERT_TRUE(rest.ok());
        ASSERT_TRUE(all_of(**rest) == all_of(model)) << "seed " << seed;
        store = make_spilled_store(context, options);
        model.clear();
      }
      if (random.chance(0.02)) {
        const auto other = make_spilled_store(context, options);
        Model added;
        for (const auto& [key, value] : draw_run(random, 100, false)) {
          const std::string name = "other " + std::to_string(step) + key.second;
          added[{hash_of(name), name}] = value;
        }
        for (int times = 0; times < 5; ++times) ASSERT_TRUE(put(*other, added).ok());
        for (int times = 0; times < 5; ++times) apply(model, added, deltas);
        store->absorb(*other);
      }
      ASSERT_TRUE(all_of(*store->scan()) == all_of(model)) << "seed " << seed << ", step " << step;
    }
    store.reset();  // with what is under way
    (void)node->run_until([] { return false; }, never);
    while (!held.empty()) read_one(held, random);
  }
}

// Runs are not kept for a next freeze without end.
TEST_F(SpilledStoreTest, AFreezeGivesEverythingWhereMoreWasWrittenThanThereIs) {
  const auto store = make_spilled_store(context_, {});
  Random random(5);
  const auto same_keys = [&] {
    Model run;
    for (int i = 0; i < 500; ++i) {
      const std::string key = "key " + std::to_string(i);
      run[{hash_of(key), key}] = std::to_string(random.below(1000));
    }
    return run;
  };
  ASSERT_TRUE(put(*store, same_keys()).ok());
  EXPECT_FALSE(store->freeze(true).delta);
  ASSERT_TRUE(put(*store, same_keys()).ok());
  EXPECT_TRUE(store->freeze(true).delta);
  std::uint64_t most = 0;
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(put(*store, same_keys()).ok());
    most = std::max(most, store->disk_bytes());
  }
  EXPECT_FALSE(store->freeze(true).delta);
  ASSERT_TRUE(put(*store, same_keys()).ok());
  const std::uint64_t one = store->disk_bytes() / 4;
  EXPECT_LT(most, 40 * one) << "of 100 runs of the same keys";
}

}  // namespace
}  // namespace hummer::spilled_store_test
