// What tests of spilled stores share: a model of what a store should hold, and a store that is told
// the same, on a simulated disk.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hummer/detail/key_hash.hpp>
#include <hummer/detail/state/spilled_store.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>

#include "platform/simulation.hpp"

namespace hummer {

// By hash and key; without a value: removed.
using SpilledEntriesModel =
    std::map<std::pair<std::uint64_t, std::string>, std::optional<std::string>>;

// As one run.
inline Status put_run(SpilledStore& store, const SpilledEntriesModel& run) {
  HUMMER_TRY(store.begin_run(run.size()));
  for (const auto& [key, value] : run) {
    SpilledEntry entry;
    entry.hash = key.first;
    entry.key = key.second;
    entry.removed = !value.has_value();
    if (value) entry.value = *value;
    HUMMER_TRY(store.add(entry));
  }
  return store.finish_run();
}

class SpilledStoreTestRig : public ::testing::Test {
 protected:
  using Model = SpilledEntriesModel;

  static std::uint64_t hash_of(const std::string& key) {
    // Few hashes, so that many keys share one.
    return hash_bytes(key.data(), key.size()) % 97 << 57 | hash_bytes(key.data(), key.size()) % 5;
  }
  Status put(SpilledStore& store, const Model& run) { return put_run(store, run); }
  Model draw_run(Random& random, std::size_t entries, bool with_removals) {
    Model run;
    for (std::size_t i = 0; i < entries; ++i) {
      const std::string key = "key " + std::to_string(random.below(3000));
      std::optional<std::string> value(std::to_string(random.below(1000)));
      if (random.chance(0.02)) value->append(random.below(20'000), 'x');
      if (with_removals && random.chance(0.2)) value.reset();
      run[{hash_of(key), key}] = value;
    }
    return run;
  }
  std::vector<std::pair<std::string, std::string>> all_of(SpilledScan& scan) {
    std::vector<std::pair<std::string, std::string>> all;
    for (;;) {
      const Result<bool> found = scan.next();
      EXPECT_TRUE(found.ok()) << found.status().to_string();
      if (!found.ok() || !*found) return all;
      all.emplace_back(scan.entry().key, scan.entry().value);
    }
  }
  // What is under way in the background comes to its end, and is taken in; what that begins, too.
  void merge_all(SpilledStore& store) {
    for (int level = 0; level < 10; ++level) {
      (void)node_->run_until([] { return false; }, never);
      ASSERT_TRUE(store.advance().ok());
    }
  }
  static std::vector<std::pair<std::string, std::string>> all_of(const Model& model) {
    std::vector<std::pair<std::string, std::string>> all;
    for (const auto& [key, value] : model) {
      if (value) all.emplace_back(key.second, *value);
    }
    return all;
  }

  // A run of a store whose values are put together by concatenated(), or are each the newest.
  static void apply(Model& model, const Model& run, bool deltas) {
    for (const auto& [key, value] : run) {
      const auto [at, is_new] = model.try_emplace(key, value);
      if (is_new) continue;
      at->second = deltas ? *at->second + "," + *value : value;
    }
  }
  static bool concatenated(std::string_view older, std::string_view newer, std::string& both) {
    both.assign(older).append(",").append(newer);
    return true;
  }

  // Scans that are read later than they began: they have what there was then.
  struct HeldScan {
    std::unique_ptr<SpilledScan> scan;
    std::vector<std::pair<std::string, std::string>> expected;
  };
  // Any one of them, which goes. REQUIRES: there is one.
  void read_one(std::vector<HeldScan>& held, Random& random) {
    const auto one = held.begin() + static_cast<std::ptrdiff_t>(random.below(held.size()));
    EXPECT_TRUE(all_of(*one->scan) == one->expected);
    held.erase(one);
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
  FakeOperatorContext context_{{.name = "count", .platform = node_.get()}};
};

}  // namespace hummer
