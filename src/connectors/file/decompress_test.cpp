#include "connectors/file/gzip_decompressor.hpp"

#include <algorithm>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "connectors/file/file_reader_for_test.hpp"

namespace hummer::decompress_test {
namespace {

// gzip has two libraries, of which a machine may lack the quick one.
enum class Library { zlib, isal, zstd };

std::string compress(Library library, const std::string& text) {
  return library == Library::zstd ? zstd(text) : gzip(text);
}

std::unique_ptr<Decompressor> make(Library library, const std::string& name) {
  if (library == Library::zlib) return make_zlib_decompressor(name);
  if (library == Library::isal) return make_isal_decompressor(name);
  return make_decompressor(CompressionFormat::zstd, name);
}

// Feeds `input` in pieces and takes the output in pieces of the given sizes.
Result<std::string> decompress(Library library, std::string_view input, std::size_t input_step,
                               std::size_t output_step) {
  const auto decompressor = make(library, "some/file");
  std::string text;
  std::string space(output_step, '\0');
  std::size_t at = 0;
  while (true) {
    const std::size_t give = std::min(input_step, input.size() - at);
    const auto step = decompressor->run({input.data() + at, give}, space);
    if (!step.ok()) return step.status();
    at += step->consumed;
    text.append(space, 0, step->produced);
    if (step->consumed == 0 && step->produced == 0) {
      EXPECT_EQ(at, input.size()) << "stuck with input and output at hand";
      break;
    }
  }
  if (Status status = decompressor->finish(); !status.ok()) return status;
  return text;
}

std::string sample_text() {
  std::string text;
  for (int i = 0; i < 3000; ++i) text += "line " + std::to_string(i * 7919 % 1009) + "\n";
  return text;
}

class DecompressTest : public testing::TestWithParam<Library> {
 protected:
  void SetUp() override {
    if (make(GetParam(), "") == nullptr) GTEST_SKIP() << "libisal2 is not installed";
  }
};

TEST_P(DecompressTest, GivesBackTheBytesInStepsOfAnySize) {
  const std::string text = sample_text();
  const std::string packed = compress(GetParam(), text);
  for (const auto& [in, out] :
       {std::pair{1, 1}, {1, 100000}, {100000, 1}, {7, 13}, {100000, 100000}}) {
    const auto result = decompress(GetParam(), packed, in, out);
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    EXPECT_EQ(*result, text) << in << " in, " << out << " out";
  }
}

TEST_P(DecompressTest, ReadsMembersOneBehindTheOther) {
  const std::string packed = compress(GetParam(), "first\n") + compress(GetParam(), "") +
                             compress(GetParam(), "second\n") + compress(GetParam(), "");
  for (const std::size_t step : {1, 3, 1000}) {
    const auto result = decompress(GetParam(), packed, step, step);
    ASSERT_TRUE(result.ok()) << result.status().to_string();
    EXPECT_EQ(*result, "first\nsecond\n");
  }
}

TEST_P(DecompressTest, TruncationAnywhereIsCorruptAndNamesFileAndOffset) {
  const std::string packed = compress(GetParam(), "some text that ends too early");
  for (std::size_t length = 1; length < packed.size(); ++length) {
    const auto result = decompress(GetParam(), packed.substr(0, length), 5, 5);
    ASSERT_FALSE(result.ok()) << length;
    EXPECT_EQ(result.status().code(), ErrorCode::corrupt_file);
    EXPECT_NE(result.status().message().find("some/file"), std::string::npos);
    EXPECT_NE(result.status().message().find("byte " + std::to_string(length)), std::string::npos)
        << result.status().message();
  }
}

TEST_P(DecompressTest, TrailingGarbageIsCorrupt) {
  for (const std::string garbage : {"x", "garbage", "\n"}) {
    const auto result = decompress(GetParam(), compress(GetParam(), "text") + garbage, 1000, 1000);
    ASSERT_FALSE(result.ok()) << garbage;
    EXPECT_EQ(result.status().code(), ErrorCode::corrupt_file);
  }
}

TEST_P(DecompressTest, AFlippedBitIsNeverTakenForOtherText) {
  const std::string text = "counted words in a short text, counted again";
  std::string packed = compress(GetParam(), text);
  int found = 0;
  for (std::size_t byte = 0; byte < packed.size(); ++byte) {
    std::string damaged = packed;
    damaged[byte] = static_cast<char>(damaged[byte] ^ 0x10);
    const auto result = decompress(GetParam(), damaged, 1000, 1000);
    // zstd without checksum may not notice; gzip's header holds bytes without meaning.
    if (!result.ok()) {
      ++found;
    } else if (GetParam() != Library::zstd) {
      EXPECT_EQ(*result, text);
    }
  }
  EXPECT_GT(found, 0);
}

TEST_P(DecompressTest, AFailureStays) {
  const auto decompressor = make(GetParam(), "f");
  std::string space(100, '\0');
  const std::string garbage = "this is not compressed at all";
  EXPECT_FALSE(decompressor->run(garbage, space).ok());
  EXPECT_FALSE(decompressor->run(compress(GetParam(), "good"), space).ok());
  EXPECT_FALSE(decompressor->finish().ok());
}

TEST_P(DecompressTest, AnEmptyInputIsEmpty) {
  const auto result = decompress(GetParam(), "", 10, 10);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, "");
}

TEST(GzipDecompressor, RefusesReservedHeaderFlagsInAnyMemberAndInStepsOfAnySize) {
  const std::string good = gzip("good");
  for (const Library library : {Library::zlib, Library::isal}) {
    if (make(library, "") == nullptr) continue;
    for (const int flag : {0x20, 0x40, 0x80}) {
      std::string flagged = good;
      flagged[3] = static_cast<char>(flag);
      for (const std::size_t input_step : {1, 2, 3, 4, 5, 1000}) {
        for (const std::string& packed : {flagged, good + flagged}) {
          const auto result = decompress(library, packed, input_step, 100);
          ASSERT_FALSE(result.ok()) << flag << ", " << input_step << " bytes a step";
          EXPECT_EQ(result.status().code(), ErrorCode::corrupt_file);
        }
      }
    }
  }
}

TEST(ZstdDecompressor, RefusesTheFormatsFromBeforeItsFirstStableOneInStepsOfAnySize) {
  // The head of a frame of zstd 0.7, and that of 0.6 behind a byte of a real one: once taken in
  // steps of one size and refused in those of another.
  for (const std::string_view old : {std::string_view("\x27\xb5\x2f\xfd\x30\x45\xff\x20\xfd", 9),
                                     std::string_view("\x28\x26\xb5\x2f\xfd\x00\x00\x00\x00", 9)}) {
    for (const std::size_t input_step : {std::size_t{1}, std::size_t{4}, old.size()}) {
      const auto result = decompress(Library::zstd, std::string(old), input_step, 100);
      ASSERT_FALSE(result.ok()) << input_step;
      EXPECT_EQ(result.status().code(), ErrorCode::corrupt_file);
    }
  }
}

TEST(ZstdDecompressor, RefusesAFrameThatGivesLessThanItAnnouncesInStepsOfAnySize) {
  // Announces 65071 bytes, gives 1416, and ends with an empty block.
  const std::string short_frame(
      "\x28\xb5\x2f\xfd\x42\x0d\x00\x00\x2f\xfd\x42\x2c\x00\x1a\x05\x00\x00", 17);
  for (const std::size_t input_step : {std::size_t{1}, std::size_t{2}, short_frame.size()}) {
    const auto result = decompress(Library::zstd, short_frame, input_step, 65536);
    ASSERT_FALSE(result.ok()) << input_step;
    EXPECT_EQ(result.status().code(), ErrorCode::corrupt_file);
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, DecompressTest,
                         testing::Values(Library::zlib, Library::isal, Library::zstd));

TEST(DetectCompression, GoesByTheFirstBytes) {
  EXPECT_EQ(detect_compression(gzip("x").substr(0, 4)), CompressionFormat::gzip);
  EXPECT_EQ(detect_compression(zstd("x").substr(0, 4)), CompressionFormat::zstd);
  EXPECT_EQ(detect_compression(std::string_view("\x5a\x2a\x4d\x18", 4)), CompressionFormat::zstd);
  EXPECT_EQ(detect_compression("text"), CompressionFormat::none);
  EXPECT_EQ(detect_compression("\x1f"), CompressionFormat::none);
  EXPECT_EQ(detect_compression(""), CompressionFormat::none);
}

}  // namespace
}  // namespace hummer::decompress_test
