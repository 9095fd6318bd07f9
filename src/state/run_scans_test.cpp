// Scans over runs whose sizes, hashes and keys are drawn from kinds that stores have: hashes of
// keys, slices in the order of time, one hash for all.
#include <gtest/gtest.h>

#include <functional>

#include "state/spilled_store_test_rig.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::run_scans_test {
namespace {

struct Kind {
  const char* name;
  std::function<std::uint64_t(Random&, const std::string& key)> hash;
};

const Kind kinds[] = {
    {"hashes of keys",
     [](Random&, const std::string& key) { return hash_bytes(key.data(), key.size()); }},
    {"slices", [](Random& random, const std::string&) { return (1 << 20) + random.below(4); }},
    {"slices far apart",
     [](Random& random, const std::string&) { return (random.below(3) + 7) * 60'000'000; }},
    {"one hash", [](Random&, const std::string&) { return std::uint64_t{5}; }},
    {"first and last", [](Random& random, const std::string&) { return random.below(2) * -1; }},
};

class RunScansTest : public SpilledStoreTestRig {
 protected:
  // Keys of eight bytes in any order of theirs, and texts that differ late, or end early.
  static std::string draw_key(Random& random, std::uint64_t keys) {
    const std::uint64_t number = random.below(keys);
    const std::uint64_t spread = number * 0x9E3779B97F4A7C15u;
    switch (number % 4) {
      case 0: return "the same beginning " + std::to_string(number);
      case 1: return std::string(number % 9, '\0');
      default: return {reinterpret_cast<const char*>(&spread), sizeof spread};
    }
  }
  Model draw(Random& random, const Kind& kind, std::size_t entries, bool with_removals) {
    Model run;
    const std::uint64_t keys = 10 + random.below(20'000);
    for (std::size_t i = 0; i < entries; ++i) {
      const std::string key = draw_key(random, keys);
      std::optional<std::string> value(std::to_string(random.below(1000)));
      if (random.chance(0.001)) value->append(random.below(30'000), 'x');
      if (with_removals && random.chance(0.1)) value.reset();
      run[{kind.hash(random, key), key}] = value;
    }
    return run;
  }
  // What a scan from a place on, or of one hash, should give.
  static Model part_of(const Model& model, std::uint64_t first, std::uint64_t last,
                       const std::string& first_key) {
    Model part;
    for (auto at = model.lower_bound({first, first_key}); at != model.end(); ++at) {
      if (at->first.first <= last) part.insert(*at);
    }
    return part;
  }
};

TEST_F(RunScansTest, HaveWhatAModelHasInItsOrder) {
  for (const Kind& kind : kinds) {
    for (std::uint64_t seed = 1; seed <= drawn_cases(24); ++seed) {
      SCOPED_TRACE(std::string(kind.name) + ", seed " + std::to_string(seed));
      Random random(seed);
      const bool deltas = random.chance(0.5);
      SpilledStoreOptions options;
      if (deltas) options.combine = concatenated;
      const auto store = make_spilled_store(context_, options);
      Model model;
      const std::size_t runs = 1 + random.below(7);
      for (std::size_t i = 0; i < runs; ++i) {
        const std::size_t most = random.chance(0.3) ? 6000 : 40;
        const Model run = draw(random, kind, 1 + random.below(most), !deltas);
        ASSERT_TRUE(put(*store, run).ok());
        apply(model, run, deltas);
      }
      ASSERT_TRUE(all_of(*store->scan()) == all_of(model));
      const std::pair<std::uint64_t, std::string> place =
          std::next(model.begin(), static_cast<std::ptrdiff_t>(random.below(model.size())))->first;
      const auto from = store->scan_from(place.first, place.second);
      ASSERT_TRUE(from.ok());
      EXPECT_TRUE(all_of(**from) == all_of(part_of(model, place.first, UINT64_MAX, place.second)));
      EXPECT_TRUE(all_of(*store->scan_hash(place.first, 1 << random.below(16))) ==
                  all_of(part_of(model, place.first, place.first, {})));
      if (random.chance(0.5)) merge_all(*store);
      EXPECT_TRUE(all_of(*store->scan()) == all_of(model));
    }
  }
}

}  // namespace
}  // namespace hummer::run_scans_test
