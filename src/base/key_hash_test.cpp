// Golden values: they decide where records go and what a snapshot holds, so a
// change here breaks every snapshot.
#include <hummer/detail/key_hash.hpp>

#include <gtest/gtest.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <array>

#include "base/hash_pieces.hpp"

namespace hummer::key_hash_test {
namespace {

TEST(KeyHash, GoldenBytes) {
  // Published test values of XXH3-64, seed 0.
  EXPECT_EQ(hash_bytes("", 0), 0x2D06800538D394C2u);
  EXPECT_EQ(hash_bytes("a", 1), 0xE6C632B61E964E1Fu);
  EXPECT_EQ(hash_bytes("\0", 1), 0xC44BDFF4074EECDBu);
}

TEST(KeyHash, GoldenKeys) {
  EXPECT_EQ(key_hash(std::string_view()), 0x2D06800538D394C2u);
  EXPECT_EQ(key_hash(std::string_view("hummer")), 0xFD3E0A6F1F4C4D9Cu);
  EXPECT_EQ(key_hash(std::string(300, 'x')), 0xA5D1B4607DC83554u);
  EXPECT_EQ(key_hash(0), 0x48B2C92616FC193Du);
  EXPECT_EQ(key_hash(-1), 0xCD6B1C920D3F662Cu);
  EXPECT_EQ(key_hash(std::int64_t{1}), 0x2FBC593564DB792Eu);
  EXPECT_EQ(key_hash(std::uint8_t{7}), 0x4C5CCA45D0F4811Fu);
  EXPECT_EQ(key_hash(true), 0xE12EF9D2EB86CEEBu);
  EXPECT_EQ(key_hash(0.0), 0xC77B3ABB6F87ACD9u);
  EXPECT_EQ(key_hash(std::nan("")), 0x0AA61DCFA381C167u);
  EXPECT_EQ(key_hash(std::pair<std::string, int>("a", 1)), 0x332D8FDE124825DFu);
  EXPECT_EQ(key_hash(std::tuple<double, std::string_view>(-0.0, "b")), 0xCB2A7E1D66CBD8E1u);
  EXPECT_EQ(key_hash(std::vector<int>(100, 7)), 0x18FE193331BC8717u) << "beyond the local buffer";
  EXPECT_EQ(key_hash(std::optional<int>()), 0xC44BDFF4074EECDBu);
}

// Long ones are computed by another loop where the processor has wider registers.
TEST(KeyHash, LengthDoesNotChangeTheFunction) {
  std::string text;
  for (int i = 0; i < 70'000; ++i) text.push_back(static_cast<char>(i * 31 % 251));
  for (const std::size_t length : {1023, 1024, 1025, 1087, 4096, 65'472, 70'000}) {
    EXPECT_EQ(hash_bytes(text.data(), length), XXH3_64bits(text.data(), length)) << length;
  }
}

TEST(KeyHash, NumbersHashAsTheirBytes) {
  for (std::uint64_t value = 1; value < UINT64_MAX / 3; value *= 3) {
    ASSERT_EQ(hash_u64(value), XXH3_64bits(&value, sizeof value)) << value;
  }
  for (const std::uint64_t value : {std::uint64_t{0}, UINT64_MAX, std::uint64_t{1} << 63}) {
    EXPECT_EQ(hash_u64(value), XXH3_64bits(&value, sizeof value)) << value;
  }
}

TEST(KeyHash, PiecesHashAsTheWhole) {
  std::string text;
  for (int i = 0; i < 70'000; ++i) text.push_back(static_cast<char>(i * 31 % 251));
  for (const std::size_t length : {0, 1, 200, 1024, 65'472, 70'000}) {
    const std::string_view whole = std::string_view(text).substr(0, length);
    for (const std::size_t cut : {0, 1, 64, 100, 5000}) {
      const std::size_t at = std::min(cut, length);
      const std::array pieces{whole.substr(0, at), std::string_view(),
                              whole.substr(at, (length - at) / 2),
                              whole.substr(at + (length - at) / 2)};
      EXPECT_EQ(hash_pieces(pieces), hash_bytes(whole.data(), whole.size())) << length << ' ' << at;
    }
  }
}

TEST(KeyHash, EqualKeysHaveEqualHashes) {
  EXPECT_EQ(key_hash(-0.0), key_hash(0.0));
  EXPECT_EQ(key_hash(-0.0f), key_hash(0.0f));
  EXPECT_EQ(key_hash(-std::nan("1")), key_hash(std::nan("2")));
  EXPECT_EQ(key_hash(std::string("text")), key_hash(std::string_view("text")));
  using Row = std::array<double, 2>;
  EXPECT_EQ(key_hash(std::array<Row, 2>{Row{0.0, 1}, Row{2, -0.0}}),
            key_hash(std::array<Row, 2>{Row{-0.0, 1}, Row{2, 0.0}}));
}

TEST(KeyGroup, GoldenGroups) {
  EXPECT_EQ(key_group(key_hash(std::string_view("")), 1024), 180u);
  EXPECT_EQ(key_group(key_hash(std::string_view("a")), 1024), 923u);
  EXPECT_EQ(key_group(key_hash(std::string_view("hummer")), 1024), 1012u);
  EXPECT_EQ(key_group(key_hash(1), 1024), 876u);
  EXPECT_EQ(key_group(0, 1024), 0u);
  EXPECT_EQ(key_group(UINT64_MAX, 1024), 1023u);
  EXPECT_EQ(key_group(UINT64_MAX, 1000), 999u);
}

TEST(KeyGroup, OwnersCoverAllGroupsInOrder) {
  EXPECT_EQ(group_owner(0, 3, 1024), 0u);
  EXPECT_EQ(group_owner(341, 3, 1024), 0u);
  EXPECT_EQ(group_owner(342, 3, 1024), 1u);
  EXPECT_EQ(group_owner(682, 3, 1024), 1u);
  EXPECT_EQ(group_owner(683, 3, 1024), 2u);
  EXPECT_EQ(group_owner(1023, 3, 1024), 2u);
  for (const std::uint32_t parallelism : {1u, 2u, 7u, 1000u, 1024u}) {
    std::vector<int> owned(parallelism);
    std::uint32_t before = 0;
    for (std::uint32_t group = 0; group < 1024; ++group) {
      const std::uint32_t owner = group_owner(group, parallelism, 1024);
      ASSERT_LT(owner, parallelism);
      ASSERT_GE(owner, before);
      before = owner;
      ++owned[owner];
    }
    const auto [least, most] = std::minmax_element(owned.begin(), owned.end());
    EXPECT_GE(*least, 1);
    EXPECT_LE(*most - *least, 1);
  }
}

}  // namespace
}  // namespace hummer::key_hash_test
