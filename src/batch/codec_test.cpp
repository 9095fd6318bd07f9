#include "batch/codec.hpp"

#include <gtest/gtest.h>
#include <lz4.h>
#include <snappy.h>

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "batch/segments_for_test.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::batch::codec_test {
namespace {

using namespace std::string_literals;

std::string compressed(Codec codec, std::string_view text, std::size_t piece_bytes = 100'000) {
  const auto compressor = make_compressor(codec);
  std::string stored;
  for (std::size_t at = 0; at < text.size(); at += piece_bytes) {
    EXPECT_TRUE(compressor->write(text.substr(at, piece_bytes), stored).ok());
  }
  EXPECT_TRUE(compressor->finish(stored).ok());
  return stored;
}

Result<std::string> decompressed(Decompressor& decompressor, std::string_view stored,
                                 std::size_t in_bytes = 1 << 30, std::size_t room_bytes = 1 << 20) {
  std::string text;
  std::string room(room_bytes, '\0');
  while (true) {
    // A copy of that size, so that a read past it is seen.
    const std::string piece(stored.substr(0, in_bytes));
    stored.remove_prefix(piece.size());
    std::string_view in = piece;
    std::size_t filled = 0;
    do {
      const auto read = decompressor.read(in, room);
      if (!read.ok()) return read.status();
      filled = *read;
      text.append(room, 0, filled);
      EXPECT_TRUE(filled == room.size() || in.empty());
    } while (filled == room.size());
    if (stored.empty()) break;
  }
  if (!decompressor.at_end()) return Status(ErrorCode::corrupt_file, "not at the end");
  return text;
}

Result<std::string> decompressed(Codec codec, std::string_view stored) {
  return decompressed(*make_decompressor(codec), stored);
}

// Half of it can be compressed.
std::string some_text(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text;
  while (text.size() < bytes) {
    const std::size_t run = 1 + random() % 200;
    if (random() % 2 == 0) {
      text.append(run, static_cast<char>('a' + random() % 26));
    } else {
      for (std::size_t i = 0; i < run; ++i) text.push_back(static_cast<char>(random()));
    }
  }
  text.resize(bytes);
  return text;
}

std::string number(std::uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes.push_back(static_cast<char>(value >> shift));
  return bytes;
}

std::string snappy_chunk(std::string_view text) {
  std::string bytes;
  snappy::Compress(text.data(), text.size(), &bytes);
  return number(static_cast<std::uint32_t>(bytes.size())) + bytes;
}

std::string lz4_chunk(std::string_view text) {
  std::string bytes(LZ4_compressBound(static_cast<int>(text.size())), '\0');
  bytes.resize(LZ4_compress_default(text.data(), bytes.data(), static_cast<int>(text.size()),
                                    static_cast<int>(bytes.size())));
  return number(static_cast<std::uint32_t>(bytes.size())) + bytes;
}

TEST(BatchCodec, IsFoundByItsNameAndByThatOfHadoopsClass) {
  for (const Codec codec : all_codecs) EXPECT_EQ(codec_of(name_of(codec)), codec);
  const std::string package = "org.apache.hadoop.io.compress.";
  EXPECT_EQ(codec_of(package + "SnappyCodec"), Codec::snappy);
  EXPECT_EQ(codec_of(package + "Lz4Codec"), Codec::lz4);
  EXPECT_EQ(codec_of(package + "GzipCodec"), Codec::gzip);
  EXPECT_EQ(codec_of(package + "ZStandardCodec"), Codec::zstd);
  EXPECT_EQ(codec_of(package + "DefaultCodec"), Codec::zlib);
  EXPECT_EQ(codec_of(package + "DeflateCodec"), Codec::zlib);
  for (const std::string& name :
       {""s, package, package + "BZip2Codec", "Snappy"s, "SnappyCodec"s}) {
    EXPECT_EQ(codec_of(name), std::nullopt) << name;
  }
}

TEST(BatchCodec, GivesBackWhatWasWrittenInWhateverPieces) {
  for (const Codec codec : all_codecs) {
    const std::size_t best = best_write_bytes(codec);
    const std::vector<std::size_t> sizes{0,    1,        100,      best - 1,
                                         best, best + 1, 2 * best, 3 * best + 17};
    const auto decompressor = make_decompressor(codec);
    for (const std::size_t size : sizes) {
      const std::string text = some_text(size, static_cast<unsigned>(size));
      for (const std::size_t piece_bytes :
           {std::size_t{777}, best_write_bytes(codec), text.size()}) {
        if (piece_bytes == 0) continue;
        const auto read = decompressed(*decompressor, compressed(codec, text, piece_bytes));
        ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
        EXPECT_TRUE(*read == text) << name_of(codec) << ' ' << size << ' ' << piece_bytes;
        decompressor->reset();
      }
    }
  }
}

TEST(BatchCodec, ReadsByteByByteAndToAnyRoom) {
  const std::string text = some_text(300'000, 1);
  const std::string little = some_text(5'000, 2);
  for (const Codec codec : all_codecs) {
    const std::string stored = compressed(codec, text);
    for (const std::size_t room : {1, 7, 1000, 1 << 20}) {
      const auto decompressor = make_decompressor(codec);
      const auto read = decompressed(*decompressor, stored, 1 << 30, room);
      ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
      EXPECT_TRUE(*read == text) << name_of(codec) << ' ' << room;
    }
    for (const std::size_t room : {1, 64, 100'000}) {
      const auto decompressor = make_decompressor(codec);
      const auto read = decompressed(*decompressor, compressed(codec, little), 1, room);
      ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
      EXPECT_TRUE(*read == little) << name_of(codec) << ' ' << room;
    }
  }
}

TEST(BatchCodec, ACompressorBeginsAnotherStreamAfterReset) {
  for (const Codec codec : all_codecs) {
    const auto compressor = make_compressor(codec);
    for (const std::size_t size : {0, 10, 300'000, 0, 1}) {
      const std::string text = some_text(size, 3);
      std::string stored;
      ASSERT_TRUE(compressor->write(text, stored).ok());
      ASSERT_TRUE(compressor->finish(stored).ok());
      compressor->reset();
      const auto read = decompressed(codec, stored);
      ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
      EXPECT_TRUE(*read == text) << name_of(codec) << ' ' << size;
    }
    // What was begun is forgotten.
    std::string stored;
    ASSERT_TRUE(compressor->write("forgotten", stored).ok());
    compressor->reset();
    stored.clear();
    ASSERT_TRUE(compressor->write("kept", stored).ok());
    ASSERT_TRUE(compressor->finish(stored).ok());
    EXPECT_EQ(*decompressed(codec, stored), "kept") << name_of(codec);
  }
}

TEST(BatchCodec, BlocksAreThoseOfHadoop) {
  EXPECT_EQ(compressed(Codec::snappy, "abc"), number(3) + number(5) +
                                                  "\x03\x08"
                                                  "abc");
  EXPECT_EQ(compressed(Codec::lz4, "abc"), number(3) + number(4) +
                                               "\x30"
                                               "abc");
  EXPECT_EQ(compressed(Codec::snappy, ""), number(0));
  EXPECT_EQ(compressed(Codec::lz4, ""), number(0));
  // Buffers of 262144 bytes, less what they keep free: 43690 + 32, 1028 + 16.
  EXPECT_EQ(best_write_bytes(Codec::snappy), 218'422);
  EXPECT_EQ(best_write_bytes(Codec::lz4), 261'100);
  for (const Codec codec : {Codec::snappy, Codec::lz4}) {
    const std::string text(best_write_bytes(codec) + 1, 'a');
    const std::string stored = compressed(codec, text);
    EXPECT_EQ(stored.substr(0, 4), number(static_cast<std::uint32_t>(text.size() - 1)));
    const std::string last = compressed(codec, "a");
    EXPECT_EQ(stored.substr(stored.size() - last.size()), last);
  }
}

// A write that is larger than Hadoop's buffer becomes one block of several chunks, and an empty one
// behind it where the stream ends there.
TEST(BatchCodec, ReadsBlocksOfSeveralChunksAndAnEmptyOne) {
  const std::string first = some_text(200'000, 4), second = some_text(90'000, 5), third = "end";
  const auto size = static_cast<std::uint32_t>(first.size() + second.size());
  const std::string by_snappy = number(size) + snappy_chunk(first) + snappy_chunk(second) +
                                number(3) + snappy_chunk(third) + number(0);
  const std::string by_lz4 = number(size) + lz4_chunk(first) + lz4_chunk(second) + number(3) +
                             lz4_chunk(third) + number(0);
  for (const auto& [codec, stored] :
       {std::pair(Codec::snappy, by_snappy), std::pair(Codec::lz4, by_lz4)}) {
    for (const std::size_t in_bytes : {1, 1000, 1 << 20}) {
      for (const std::size_t room : {999, 1 << 20}) {
        const auto decompressor = make_decompressor(codec);
        const auto read = decompressed(*decompressor, stored, in_bytes, room);
        ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
        EXPECT_TRUE(*read == first + second + third) << name_of(codec);
      }
    }
  }
}

TEST(BatchCodec, ReadsChunksLargerThanHadoopsUsualBuffer) {
  const std::string text(3'000'000, 'x');
  for (const auto& [codec, chunk] :
       {std::pair(Codec::snappy, snappy_chunk(text)), std::pair(Codec::lz4, lz4_chunk(text))}) {
    const auto decompressor = make_decompressor(codec);
    const auto read = decompressed(*decompressor, number(3'000'000) + chunk, 1 << 30, 1000);
    ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
    EXPECT_TRUE(*read == text) << name_of(codec);
  }
}

TEST(BatchCodec, ReadsSeveralMembersAndFrames) {
  for (const Codec codec : {Codec::gzip, Codec::zstd, Codec::zlib}) {
    const std::string stored =
        compressed(codec, "one ") + compressed(codec, "") + compressed(codec, "two");
    const auto read = decompressed(codec, stored);
    ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
    EXPECT_EQ(*read, "one two") << name_of(codec);
    EXPECT_FALSE(decompressed(codec, "").ok()) << name_of(codec);
  }
}

TEST(BatchCodec, LengthsThatCannotBeAreRefused) {
  struct Case {
    std::string stored;
    ErrorCode code;
    std::string part;  // of the message
  };
  const std::string chunk = snappy_chunk("abc");
  const std::vector<Case> cases{
      {number(0x80000000), ErrorCode::corrupt_file, "block's length is -2147483648"},
      {number(3) + number(0xffffffff), ErrorCode::corrupt_file, "chunk's length is -1"},
      {number(3) + number(0), ErrorCode::corrupt_file, "chunk's length is 0"},
      {number(3) + number((64 << 20) + 1), ErrorCode::limit_exceeded, "at most 67108864"},
      {number(2) + chunk, ErrorCode::corrupt_file, "stands for 3 bytes"},
      {number(3) + snappy_chunk(""), ErrorCode::corrupt_file, "damaged"},
      {number(0) + number(3) + chunk, ErrorCode::corrupt_file, "behind the end"},
      {number(0x7fffffff) + number(5) + "\xff\xff\xff\xff\x07", ErrorCode::corrupt_file, "damaged"},
  };
  for (const Case& each : cases) {
    const auto read = decompressed(Codec::snappy, each.stored);
    ASSERT_FALSE(read.ok()) << each.part;
    EXPECT_EQ(read.status().code(), each.code) << each.part;
    EXPECT_NE(read.status().message().find(each.part), std::string::npos)
        << read.status().to_string();
  }
  EXPECT_FALSE(decompressed(Codec::lz4, number(2) + lz4_chunk("abc")).ok());
  EXPECT_FALSE(decompressed(Codec::lz4, number(3) + number(1) + "\0"s).ok());
  // All of a block's bytes are missing but those that were said to be more.
  EXPECT_FALSE(decompressed(Codec::snappy, number(4) + chunk).ok());
}

TEST(BatchCodec, EveryTruncationIsSeenAndNoDamageGivesMore) {
  const std::string text = some_text(400, 6);
  for (const Codec codec : {Codec::snappy, Codec::lz4, Codec::gzip, Codec::zstd, Codec::zlib}) {
    const std::string stored = compressed(codec, text);
    for (std::size_t length = 1; length < stored.size(); ++length) {
      EXPECT_FALSE(decompressed(codec, stored.substr(0, length)).ok())
          << name_of(codec) << ' ' << length;
    }
    const std::size_t bits = 8 * stored.size();
    const std::size_t step = bits / drawn_cases(bits);
    for (std::size_t bit = 0; bit < bits; bit += step) {
      std::string damaged = stored;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      const auto read = decompressed(codec, damaged);
      if (!read.ok()) {
        EXPECT_FALSE(read.status().message().empty());
      } else {
        EXPECT_LE(read->size(), 100 * text.size());
      }
    }
  }
}

}  // namespace
}  // namespace hummer::batch::codec_test
