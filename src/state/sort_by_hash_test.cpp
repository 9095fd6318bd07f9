#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <hummer/detail/key_hash.hpp>

#include "platform/random.hpp"
#include "state/sort_by_hash.hpp"

namespace hummer::sort_by_hash_test {
namespace {

struct Item {
  std::uint64_t hash;
  std::string key;
  bool operator<(const Item& other) const {
    return hash != other.hash ? hash < other.hash : key < other.key;
  }
  bool operator==(const Item&) const = default;
};

// Hashes that are spread, those of some key groups, few, one, and the ends of all.
TEST(SortByHashTest, IsAnOrderWhateverTheHashesAre) {
  Random random(5);
  for (const std::size_t count : {0u, 1u, 2u, 12u, 40u, 255u, 256u, 257u, 5000u}) {
    for (int kind = 0; kind < 5; ++kind) {
      std::vector<Item> items;
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t drawn = hash_u64(random.below(UINT64_MAX));
        const std::uint64_t hash = kind == 0   ? drawn
                                   : kind == 1 ? std::uint64_t{7} << 60 | drawn >> 10
                                   : kind == 2 ? drawn % 3 << 40
                                   : kind == 3 ? UINT64_MAX
                                               : (drawn % 2 == 0 ? drawn % 9 : ~(drawn % 9));
        items.push_back({hash, std::to_string(random.below(100))});
      }
      std::vector<Item> sorted = items;
      std::sort(sorted.begin(), sorted.end());
      std::vector<Item> by_hash_alone = items;
      sort_by_hash(
          std::span(items), [](const Item& item) { return item.hash; },
          [](const Item& a, const Item& b) { return a < b; });
      ASSERT_EQ(items == sorted, true) << count << " items of kind " << kind;

      const auto less = [](const Item& a, const Item& b) { return a.hash < b.hash; };
      std::vector<Item> stable = by_hash_alone;
      std::stable_sort(stable.begin(), stable.end(), less);
      std::vector<Item> space;
      stable_sort_by_hash(by_hash_alone, space, [](const Item& item) { return item.hash; }, less);
      ASSERT_EQ(by_hash_alone == stable, true) << count << " items of kind " << kind;
    }
  }
}

}  // namespace
}  // namespace hummer::sort_by_hash_test
