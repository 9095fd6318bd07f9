#include "base/nearest_name.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace hummer::nearest_name_test {
namespace {

TEST(NearestName, OneMistakeIsForgiven) {
  const std::vector<std::string> names{"parallelism", "quiet",  "spin-us",
                                       "id",          "tls-ca", "tls-key"};
  EXPECT_EQ(nearest_name("paralelism", names), "parallelism");
  EXPECT_EQ(nearest_name("spin_us", names), "spin-us");
  EXPECT_EQ(nearest_name("tls-c", names), "tls-ca");
  EXPECT_EQ(nearest_name("tls-kye", names), "tls-key");
  EXPECT_EQ(nearest_name("di", names), "id");
}

TEST(NearestName, WhatIsNotLikeAnyIsNone) {
  const std::vector<std::string> names{"parallelism", "id"};
  EXPECT_EQ(nearest_name("nothing-like-it", names), "");
  EXPECT_EQ(nearest_name("xyz", names), "");
  EXPECT_EQ(nearest_name(std::string(1 << 20, 'p'), names), "");
  EXPECT_EQ(suggestion("ie", names, "--", ""), ", did you mean --id?");
  EXPECT_EQ(suggestion("zzz", names), "");
}

}  // namespace
}  // namespace hummer::nearest_name_test
