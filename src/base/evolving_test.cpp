#include <hummer/evolving.hpp>

#include <gtest/gtest.h>

#include <hummer/codec.hpp>

namespace hummer {
namespace {

namespace first {
struct Account {
  static constexpr std::string_view evolving = "bank.Account";
  std::uint64_t id = 0;
  std::int64_t cents = 0;
};
}  // namespace first
namespace second {
struct Account {
  static constexpr std::string_view evolving = "bank.Account";
  std::uint64_t id = 0;
  std::int64_t cents = 0;
  bool frozen = true;
  std::string owner = "nobody";
};
}  // namespace second

template <typename From, typename To>
bool carry(const From& from, To& to) {
  std::string bytes;
  ByteWriter out(bytes);
  Codec<From>::encode(from, out);
  ByteReader in(out.view());
  return Codec<To>::decode(in, to) && in.left() == 0;
}

TEST(Evolving, FieldsThatCameLaterKeepTheirInitialisers) {
  const std::vector<first::Account> saved = {{1, 100}, {2, -5}};
  std::vector<second::Account> now;
  ASSERT_TRUE(carry(saved, now));
  ASSERT_EQ(now.size(), 2u);
  EXPECT_EQ(now[1].id, 2u);
  EXPECT_EQ(now[1].cents, -5);
  EXPECT_TRUE(now[1].frozen);
  EXPECT_EQ(now[1].owner, "nobody");
}

TEST(Evolving, TheirOwnBytesAreReadWhole) {
  second::Account now;
  ASSERT_TRUE(carry(second::Account{1, 2, false, "Ann"}, now));
  EXPECT_FALSE(now.frozen);
  EXPECT_EQ(now.owner, "Ann");
}

TEST(Evolving, ATargetThatWasUsedIsLikeNew) {
  second::Account used{9, 9, false, "Bob"};
  ASSERT_TRUE(carry(first::Account{1, 2}, used));
  EXPECT_EQ(used.owner, "nobody");
}

TEST(Evolving, BytesOfALaterProgramAreRefused) {
  first::Account before;
  EXPECT_FALSE(carry(second::Account{1, 2, false, "Ann"}, before));
}

struct Celsius {
  double degrees = 0;
};
struct CelsiusForm {
  using Value = Celsius;
  static constexpr std::uint8_t version = 2;
  static std::string name() { return "weather.Celsius"; }
  static void encode(const Celsius& value, ByteWriter& out) { out.put_value(value.degrees); }
  // The first version had tenths.
  static bool decode(ByteReader& in, Celsius& value, std::uint8_t from) {
    if (from >= 2) return in.get_value(value.degrees);
    std::int32_t tenths = 0;
    if (!in.get_value(tenths)) return false;
    value.degrees = tenths / 10.0;
    return true;
  }
};

}  // namespace

template <>
struct Codec<Celsius> : VersionedCodec<CelsiusForm> {};

namespace {

TEST(Evolving, ACodecReadsItsOlderVersions) {
  std::string bytes;
  ByteWriter out(bytes);
  out.put_value(std::uint8_t{1});
  out.put_value(std::int32_t{215});
  ByteReader in(out.view());
  Celsius value;
  ASSERT_TRUE(Codec<Celsius>::decode(in, value));
  EXPECT_DOUBLE_EQ(value.degrees, 21.5);
  Celsius same;
  ASSERT_TRUE(carry(Celsius{-3}, same));
  EXPECT_DOUBLE_EQ(same.degrees, -3);
}

TEST(Evolving, VersionsOfTheFutureAreRefused) {
  for (const std::uint8_t version : {0, 3}) {
    std::string bytes(1, static_cast<char>(version));
    bytes.append(8, '\0');
    ByteReader in(bytes);
    Celsius value;
    EXPECT_FALSE(Codec<Celsius>::decode(in, value)) << int{version};
  }
}

TEST(Evolving, NamesSayWhoReadsWhat) {
  const std::string before = Codec<std::vector<first::Account>>::name();
  const std::string now = Codec<std::vector<second::Account>>::name();
  EXPECT_EQ(before, "vector<bank.Account+{u64,i64}>");
  EXPECT_TRUE(can_read_type(before, now));
  EXPECT_TRUE(can_read_type(now, now));
  EXPECT_FALSE(can_read_type(now, before));
  EXPECT_EQ(Codec<Celsius>::name(), "weather.Celsius@2");

  EXPECT_TRUE(can_read_type("map<u64,A@1>", "map<u64,A@2>"));
  EXPECT_TRUE(can_read_type("map<A@9,u64>", "map<A@10,u64>"));
  EXPECT_FALSE(can_read_type("map<u64,A@3>", "map<u64,A@2>"));
  EXPECT_FALSE(can_read_type("map<u64,A@1>", "map<u64,B@1>"));
  EXPECT_TRUE(can_read_type("A+{B+{u8},u8}", "A+{B+{u8,C{u8,u8}},u8,u16}"));
  EXPECT_FALSE(can_read_type("A+{B{u8},u8}", "A+{B{u8,u8},u8}"));  // B does not evolve
  EXPECT_FALSE(can_read_type("A{u8}", "A{u8,u8}"));
  EXPECT_FALSE(can_read_type("A{u8}", "A+{u8}"));
  EXPECT_FALSE(can_read_type("A+{text}", "A+{text_block}"));
  EXPECT_FALSE(can_read_type("A+{u8}", "A+{u16,u8}"));
  EXPECT_FALSE(can_read_type("A+{u8", "A+{u8,u8}"));
  EXPECT_FALSE(can_read_type(std::string("u8\0", 3), "u8"));  // found by fuzz_evolving
  EXPECT_FALSE(can_read_type("", "u8"));
  EXPECT_FALSE(can_read_type("u8", ""));
}

}  // namespace
}  // namespace hummer
