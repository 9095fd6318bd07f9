// The Protobuf decoder on damaged messages, and UTF-8 by itself.
#include "protobuf_decoder.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <random>

#include <hummer/hummer.hpp>

#include "base64.hpp"
#include "golden_for_test.hpp"
#include "protobuf_writer.hpp"
#include "support/drawn_cases.hpp"
#include "utf8.hpp"

namespace hummer::formats::protobuf_decoder_test {
namespace {

struct Piece {
  std::string_view venue;
  std::vector<std::int64_t> lots;
};
struct Pair {
  std::string_view key;
  std::int32_t value = 0;
};
struct Drawn {
  std::int32_t i32 = 0;
  std::uint64_t u64 = 0;
  std::int8_t sf32 = 0;
  double real = 0;
  bool flag = false;
  std::string text;
  std::string_view raw;
  std::optional<Piece> maybe;
  std::vector<Piece> parts;
  std::vector<std::int32_t> packed;
  std::vector<Pair> counts;
  std::optional<std::int32_t> number;
  std::optional<std::string_view> word;
};

// What is read of a damaged message is written and read again to the same.
TEST(ProtobufDecoder, DamagedMessagesAreBadOrMeanSomething) {
  const std::string file = golden_text("everything.pb");
  const Result<ProtoSchema> schema = read_descriptor_set(golden_text("golden.desc"));
  ASSERT_TRUE(schema.ok()) << schema.status().to_string();
  auto made = ProtobufPlan::of_message(*schema, "golden.Everything", shape_of<Drawn>());
  ASSERT_TRUE(made.ok()) << made.status().to_string();
  const std::shared_ptr<const ProtobufPlan> plan = std::move(*made);
  std::vector<std::string> messages;
  for (std::size_t at = 0; at < file.size();) {
    const std::size_t size = *protobuf_framing().unit_bytes(std::string_view(file).substr(at));
    messages.push_back(file.substr(at + (size > 129 ? 2 : 1), size - (size > 129 ? 2 : 1)));
    at += size;
  }
  ASSERT_EQ(messages.size(), 60u);
  ProtobufDecoder decoder(shape_of<Drawn>(), plan, nullptr);
  std::mt19937_64 random(1);
  std::size_t good = 0;
  std::size_t bad = 0;
  for (std::uint64_t i = 0; i < drawn_cases(10'000); ++i) {
    std::string damaged = messages[random() % messages.size()];
    for (std::size_t left = random() % 3; left > 0 && !damaged.empty(); --left) {
      const std::size_t at = random() % damaged.size();
      switch (random() % 4) {
        case 0: damaged[at] = static_cast<char>(random()); break;
        case 1: damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8)); break;
        case 2: damaged.erase(at, random() % 5); break;
        default: damaged.insert(at, random() % 3, "\0\xff\x08"[random() % 3]);
      }
    }
    const auto read = [&](const std::string& message, Batch& batch) {
      // Memory of its own, so that a read behind it is seen.
      const auto copy = std::make_unique<char[]>(message.size());
      std::copy(message.begin(), message.end(), copy.get());
      std::size_t at = 0;
      const auto outcome = decoder.decode({copy.get(), message.size()}, at, batch, 1);
      std::string again;
      if (outcome == Decoder::Outcome::done) {
        write_protobuf_message(*plan, batch.values<Drawn>().data(), again);
      }
      return std::make_pair(outcome, again);
    };
    Batch batch(type_of<Drawn>(), 1);
    const auto [outcome, text] = read(damaged, batch);
    if (outcome != Decoder::Outcome::done) {
      ASSERT_EQ(outcome, Decoder::Outcome::bad_record);
      ASSERT_FALSE(decoder.why().empty());
      ++bad;
      continue;
    }
    ++good;
    batch.clear();
    const auto [second, same] = read(text, batch);
    ASSERT_EQ(second, Decoder::Outcome::done) << decoder.why();
    ASSERT_EQ(text, same);
  }
  EXPECT_GT(good, drawn_cases(10'000) / 10);
  EXPECT_GT(bad, drawn_cases(10'000) / 10);
}

TEST(Utf8, IsWhatTheStandardHas) {
  for (const std::string good :
       {"", "plain", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xef\xbf\xbf",
        "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf", "eight by\xc3\xa4te",
        "\xc3\xa4 and more behind it"}) {
    EXPECT_TRUE(is_utf8(good)) << good;
  }
  for (const std::string bad :
       {"\x80", "\xc0\x80", "\xc1\xbf", "\xc3", "\xe0\x9f\xbf", "\xed\xa0\x80", "\xef\xbf",
        "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff", "12345678\xff",
        "\xff"
        "12345678",
        "1234567\xc3"}) {
    EXPECT_FALSE(is_utf8(bad)) << bad;
  }
}

TEST(Base64, GoesThereAndBack) {
  for (const std::string text : {"", "a", "ab", "abc", "\xff\xfe\xfd\xfc"}) {
    EXPECT_EQ(from_base64(to_base64(text)), text);
  }
  EXPECT_EQ(to_base64("Hello"), "SGVsbG8=");
  EXPECT_FALSE(from_base64("SGVsbG8"));
  EXPECT_FALSE(from_base64("SGV*"));
}

}  // namespace
}  // namespace hummer::formats::protobuf_decoder_test
