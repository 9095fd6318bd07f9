#include <gtest/gtest.h>

#include <map>

#include "state/spilled_store_test_rig.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::spilled_run_test {
namespace {

using SpilledRunTest = SpilledStoreTestRig;

const SpilledStoreOptions hashed{.combine = {}, .end_of = {}, .now = {}, .keys_are_hashed = true};

// Many runs of the same keys do not become several large ones.
TEST_F(SpilledRunTest, MostOfWhatIsOnDiskIsUpToDate) {
  Random random(17);
  const auto store = make_spilled_store(context_, hashed);
  const auto key_of = [](std::uint64_t number) { return "key " + std::to_string(number); };
  const auto run_of = [&](std::size_t entries) {
    Model run;
    while (run.size() < entries) {
      const std::string key = key_of(random.below(20'000));
      run[{hash_bytes(key.data(), key.size()), key}] = "value";
    }
    return run;
  };
  ASSERT_TRUE(put(*store, run_of(20'000)).ok());
  const std::uint64_t once = store->disk_bytes();
  for (int round = 0; round < 200; ++round) {
    ASSERT_TRUE(put(*store, run_of(1000)).ok());
    merge_all(*store);
    ASSERT_LE(store->disk_bytes(), once * 2) << "in round " << round;
  }
}

// Where the first bytes of keys say which comes first, where they are the same or end, and where
// they are zero.
TEST_F(SpilledRunTest, KeysWithTheSameFirstBytesStayApart) {
  using namespace std::string_literals;
  std::vector<std::string> keys{""s};
  for (const std::string& part : {"\0"s, "\0\0\0"s, "a"s, "\xff"s, "12345678"s}) {
    for (std::size_t i = keys.size(); i-- > 0;) {
      keys.push_back(part + keys[i]);
      keys.push_back(keys[i] + part);
    }
  }
  Random random(3);
  for (const bool combined : {false, true}) {
    SpilledStoreOptions options;
    if (combined) {
      options.combine = [](std::string_view older, std::string_view newer, std::string& both) {
        both.append(older).append(newer);
        return true;
      };
    }
    const auto store = make_spilled_store(context_, options);
    Model all;
    for (int run = 0; run < 40; ++run) {
      Model drawn;
      for (int i = 0; i < 60; ++i) {
        const std::string& key = keys[random.below(keys.size())];
        drawn[{random.below(2) * UINT64_MAX, key}] = std::to_string(run) + " ";
      }
      ASSERT_TRUE(put(*store, drawn).ok());
      for (const auto& [key, value] : drawn) {
        all[key] = combined ? all[key].value_or("") + *value : *value;
      }
      if (run % 7 == 0) merge_all(*store);
      ASSERT_EQ(all_of(*store->scan()), all_of(all)) << "behind run " << run;
    }
  }
}

// The oldest run needs a filter only where keys are looked up that are nowhere.
TEST_F(SpilledRunTest, WhereEachKeyIsFoundTheOldestRunHasNoFilter) {
  for (const bool some_are_new : {false, true}) {
    const auto store = make_spilled_store(context_, hashed);
    const auto key_of = [](std::uint64_t number) { return "key " + std::to_string(number); };
    const auto hash_of_key = [](const std::string& key) {
      return hash_bytes(key.data(), key.size());
    };
    Model run;
    for (std::uint64_t i = 0; i < 20'000; ++i) run[{hash_of_key(key_of(i)), key_of(i)}] = "x";
    ASSERT_TRUE(put(*store, run).ok());
    const std::size_t with_filter = store->memory_bytes();
    std::string value;
    for (int round = 0; round < 3; ++round) {
      ASSERT_TRUE(put(*store, run).ok());
      for (std::uint64_t i = 0; i < 1000; ++i) {
        const std::string key = key_of(some_are_new ? i * 40 : i * 20);
        ASSERT_EQ(*store->find(hash_of_key(key), key, value), !some_are_new || i < 500);
      }
    }
    merge_all(*store);
    if (some_are_new) {
      EXPECT_GE(store->memory_bytes(), with_filter);
    } else {
      EXPECT_LE(store->memory_bytes(), with_filter / 2);
    }
    for (std::uint64_t i = 0; i < 20'000; i += 7) {
      ASSERT_TRUE(*store->find(hash_of_key(key_of(i)), key_of(i), value));
    }
    EXPECT_FALSE(*store->find(hash_of_key("none"), "none", value));
  }
}

// A merge of small new runs ends while one of large older ones of the same level is still under
// way; then the store gets runs of another one, and merges are given up.
TEST_F(SpilledRunTest, MergedRunsKeepTheirPlaceInOrderOfAge) {
  const auto run_of = [](std::uint64_t first, std::uint64_t end, const std::string& value) {
    Model run;
    for (std::uint64_t i = first; i < end; ++i) {
      const std::string key = "key " + std::to_string(i);
      run[{hash_bytes(key.data(), key.size()), key}] = value;
    }
    return run;
  };
  const Model others = run_of(900'000, 900'001, "other");
  std::size_t merging = 0;  // so often that was under way
  for (Nanoseconds wait = 0; wait < milliseconds(20);
       wait += milliseconds(under_sanitizers ? 3 : 1)) {
    const auto store = make_spilled_store(context_, hashed);
    const auto other = make_spilled_store(context_, hashed);
    Model model = others;
    ASSERT_TRUE(put(*other, others).ok());
    for (int round = 0; round < 8; ++round) {
      const bool large = round < 4;
      const Model run = run_of(0, large ? 20'000 : 50, "of run " + std::to_string(round));
      for (const auto& [key, value] : run) model[key] = value;
      ASSERT_TRUE(put(*store, run).ok());
    }
    const std::uint64_t before = store->disk_bytes();
    (void)node_->run_until([] { return false; }, node_->now() + wait);
    ASSERT_TRUE(store->advance().ok());
    merging += store->disk_bytes() >= before ? 1 : 0;
    store->absorb(*other);
    ASSERT_TRUE(all_of(*store->scan()) == all_of(model)) << wait;
    merge_all(*store);
    ASSERT_TRUE(all_of(*store->scan()) == all_of(model)) << wait;
  }
  EXPECT_GT(merging, 1u);
}

// Many keys at once, near each other and far apart, there, removed, replaced and never there.
TEST_F(SpilledRunTest, ManyKeysAreFoundAsEachByItself) {
  for (const bool by_bytes : {false, true}) {
    for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) {
      Random random(seed);
      const auto store = make_spilled_store(context_, by_bytes ? hashed : SpilledStoreOptions());
      const auto hash_of_key = [&](const std::string& key) {
        return by_bytes ? hash_bytes(key.data(), key.size()) : hash_of(key);
      };
      Model model;
      const int runs = 1 + static_cast<int>(random.below(6));
      for (int round = 0; round < runs; ++round) {
        Model run;
        for (const auto& [key, value] : draw_run(random, 20 + random.below(3000), true)) {
          run[{hash_of_key(key.second), key.second}] = value;
          model[{hash_of_key(key.second), key.second}] = value;
        }
        ASSERT_TRUE(put(*store, run).ok());
      }
      for (const std::size_t count : {1u, 7u, 300u, 4000u}) {
        MissingKeys keys;
        for (std::size_t i = 0; i < count; ++i) {
          const std::string key = "key " + std::to_string(random.below(4000));
          keys.add(hash_of_key(key), key);
        }
        keys.sort();
        std::map<std::string, std::string> found;
        const std::size_t middle = random.below(keys.size() + 1);
        const auto take = [&](std::size_t key, std::string_view value) {
          EXPECT_TRUE(found.emplace(keys.bytes(key), value).second);
        };
        ASSERT_TRUE(store->find_all(keys, 0, middle, take).ok());
        ASSERT_TRUE(store->find_all(keys, middle, keys.size(), take).ok());
        std::size_t there = 0;
        for (std::size_t i = 0; i < keys.size(); ++i) {
          ASSERT_TRUE(i == 0 || keys.hash(i - 1) < keys.hash(i) ||
                      (keys.hash(i - 1) == keys.hash(i) && keys.bytes(i - 1) < keys.bytes(i)));
          const std::string key(keys.bytes(i));
          const auto kept = model.find({keys.hash(i), key});
          const bool is_there = kept != model.end() && kept->second.has_value();
          ASSERT_EQ(found.count(key), is_there ? 1u : 0u) << key << " seed " << seed;
          if (!is_there) continue;
          ++there;
          EXPECT_EQ(found[key], *kept->second);
          std::string value;
          ASSERT_TRUE(*store->find(keys.hash(i), key, value));
          EXPECT_EQ(found[key], value);
        }
        EXPECT_EQ(found.size(), there);
      }
    }
  }
}

// Of keys whose hash is that of their bytes it is not on disk; what comes back is the same.
TEST_F(SpilledRunTest, HashesOfKeysBytesAreNotKept) {
  const auto with = make_spilled_store(context_, {});
  const auto without = make_spilled_store(context_, hashed);
  Random random(19);
  Model model;
  for (int round = 0; round < 9; ++round) {
    Model run;
    for (int i = 0; i < 2000; ++i) {
      const std::string key(random.below(300), static_cast<char>('a' + random.below(26)));
      std::optional<std::string> value;
      if (!random.chance(0.2)) value.emplace(random.below(400), 'v');
      run[{hash_bytes(key.data(), key.size()), key}] = value;
    }
    for (const auto& [key, value] : run) model[key] = value;
    ASSERT_TRUE(put(*with, run).ok());
    ASSERT_TRUE(put(*without, run).ok());
    merge_all(*with);
    merge_all(*without);
    ASSERT_EQ(all_of(*without->scan()), all_of(model));
  }
  EXPECT_LT(without->disk_bytes(), with->disk_bytes());
  std::string value;
  for (const auto& [key, expected] : model) {
    ASSERT_EQ(*without->find(key.first, key.second, value), expected.has_value());
    if (expected) ASSERT_EQ(value, *expected);
  }
  // A snapshot has the hashes.
  const SpilledStore::Frozen frozen = without->freeze(false);
  for (;;) {
    const Result<std::string_view> block = frozen.blocks->next();
    ASSERT_TRUE(block.ok());
    if (block->empty()) break;
    for (std::size_t at = 0; at < block->size();) {
      SpilledEntry entry;
      ASSERT_TRUE(read_spilled_entry(*block, at, entry));
      ASSERT_EQ(entry.hash, hash_bytes(entry.key.data(), entry.key.size()));
    }
  }
}

}  // namespace
}  // namespace hummer::spilled_run_test
