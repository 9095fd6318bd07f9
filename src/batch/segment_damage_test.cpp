// What is no segment, or a damaged one: refused by name, whatever the damage.
#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "batch/big_endian.hpp"
#include "batch/segments_for_test.hpp"

namespace hummer::batch::segment_damage_test {
namespace {

using namespace std::string_literals;

const OwnedRecords few_records{{"key", "value"}, {"", ""}, {std::string(130, 'k'), "v"}, {"", "z"}};

std::string with_crc(std::string bytes) {
  char crc[4];
  put_big_endian(crc,
                 static_cast<std::uint32_t>(crc32(0, reinterpret_cast<const Bytef*>(bytes.data()),
                                                  static_cast<uInt>(bytes.size()))));
  return bytes.append(crc, 4);
}

void expect_corrupt(SegmentFile& file, SegmentPlace place, Codec codec, const std::string& part) {
  for (const std::size_t buffer_bytes : {64, 1 << 20}) {
    const auto read = file.read(place, codec, buffer_bytes);
    ASSERT_FALSE(read.ok()) << name_of(codec) << ": " << part;
    EXPECT_EQ(read.status().code(), ErrorCode::corrupt_file) << read.status().to_string();
    EXPECT_NE(read.status().message().find(file.path()), std::string::npos);
    EXPECT_NE(read.status().message().find(part), std::string::npos) << read.status().to_string();
  }
}

TEST(SegmentDamage, EveryTruncationIsRefused) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    const SegmentPlace place = file.write(codec, few_records);
    const std::string whole = file.bytes();
    for (std::size_t length = 0; length < whole.size(); ++length) {
      file.replace(whole.substr(0, length));
      expect_corrupt(file, place, codec, "the file ends at byte " + std::to_string(length));
      // Where the index agrees with what is left.
      SegmentPlace cut = place;
      cut.stored_bytes = length;
      if (codec == Codec::none) cut.raw_bytes = length - std::min<std::size_t>(length, 4);
      expect_corrupt(file, cut, codec, "segment at byte 0");
    }
  }
}

TEST(SegmentDamage, EveryFlippedBitIsRefused) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    const SegmentPlace place = file.write(codec, few_records);
    const std::string whole = file.bytes();
    for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
      std::string damaged = whole;
      damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << bit % 8));
      file.replace(damaged);
      const auto read = file.read(place, codec);
      ASSERT_FALSE(read.ok()) << name_of(codec) << ' ' << bit;
      EXPECT_TRUE(read.status().code() == ErrorCode::corrupt_file ||
                  read.status().code() == ErrorCode::limit_exceeded)
          << read.status().to_string();
      EXPECT_NE(read.status().message().find(file.path()), std::string::npos);
    }
  }
}

TEST(SegmentDamage, APlaceThatIsAnotherOneIsRefused) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    const SegmentPlace place = file.write(codec, few_records);
    file.replace("xx" + file.bytes() + "yy");
    SegmentPlace right = place;
    right.offset = 2;
    ASSERT_TRUE(file.read(right, codec).ok());
    for (const std::int64_t by : {-2, -1, 1, 2}) {
      SegmentPlace other = right;
      other.offset += static_cast<std::uint64_t>(by);
      EXPECT_FALSE(file.read(other, codec).ok()) << name_of(codec) << ' ' << by;
      other = right;
      other.raw_bytes += static_cast<std::uint64_t>(by);
      EXPECT_FALSE(file.read(other, codec).ok()) << name_of(codec) << ' ' << by;
      other = right;
      other.stored_bytes += static_cast<std::uint64_t>(by);
      EXPECT_FALSE(file.read(other, codec).ok()) << name_of(codec) << ' ' << by;
    }
    constexpr std::uint64_t large = std::uint64_t{1} << 62;
    expect_corrupt(file, {large, place.raw_bytes, place.stored_bytes}, codec, "the file ends");
    expect_corrupt(file, {2, place.raw_bytes, UINT64_MAX - 1}, codec, "the file ends");
    expect_corrupt(file, {2, 1, place.stored_bytes}, codec, "lengths can't be");
    expect_corrupt(file, {2, place.raw_bytes, 4}, codec, "lengths can't be");
    expect_corrupt(file, {2, 0, 0}, codec, "lengths can't be");
    expect_corrupt(file, {2, large, place.stored_bytes}, codec, "segment at byte 2");
  }
}

// Their CRCs are right: whoever wrote them was wrong.
TEST(SegmentDamage, RecordsThatCannotBeAreRefused) {
  struct Case {
    std::string raw;
    std::string part;  // of the message
  };
  const std::string record = "\x01\x01kv";
  const std::vector<Case> cases{
      {record + "\xfe\x01", "byte 4: a record's lengths can't be: key -2, value 1"},
      {record + "\x01\xffkk\xff\xff", "key 1, value -1"},
      {record + "\xff\x01kk\xff\xff", "key -1, value 1"},
      {record + "\x8c\x80\x00\x00\x00\x01k\xff\xff"s, "key 2147483648"},
      {record + "\x88\x7f\xff\xff\xff\xff\xff\xff\xff\x01\xff\xff", "key 9223372036854775807"},
      {record + "\x01\x8c\x7f\xff\xff\xff kkkk\xff\xff", "value 2147483647"},
      {record + "\x03\x02kkvv", "can't be: key 3, value 2, 6 bytes are left"},
      {record + "\x05\x02kkvv\xff\xff", "can't be: key 5, value 2, 8 bytes are left"},
      {record + "\x02\x02kkvv", "the end is missing"},
      {record + "\x02\x02kkvv\xff", "the end is missing"},
      {record + record, "the end is missing"},
      {record + "\x8c\x7f", "the end is missing"},
      {record + "\xff\xff" + record, "4 bytes are behind the end"},
      {record + "\xff\xff\xff\xff", "2 bytes are behind the end"},
  };
  SegmentFile file;
  for (const Case& each : cases) {
    file.replace(with_crc(each.raw));
    const SegmentPlace place{0, each.raw.size(), each.raw.size() + 4};
    for (const std::size_t buffer_bytes : {64, 1 << 20}) {
      const auto read = file.read(place, Codec::none, buffer_bytes);
      ASSERT_FALSE(read.ok()) << each.part;
      EXPECT_EQ(read.status().code(), ErrorCode::corrupt_file);
      EXPECT_NE(read.status().message().find(each.part), std::string::npos)
          << read.status().to_string();
    }
  }
}

TEST(SegmentDamage, BytesBehindTheEndOfTheCompressedStreamAreRefused) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    if (codec == Codec::none) continue;
    const SegmentPlace place = file.write(codec, few_records);
    const std::string whole = file.bytes();
    const std::string compressed = whole.substr(0, whole.size() - 4);
    for (const std::string& behind : {"x"s, "\0"s, compressed}) {
      file.replace(with_crc(compressed + behind));
      SegmentPlace longer = place;
      longer.stored_bytes += behind.size();
      expect_corrupt(file, longer, codec, "segment at byte 0");
    }
  }
}

// A length that is as large as can be, in a segment that is said to have so much: only what comes
// takes memory.
TEST(SegmentDamage, ALengthTakesNoMemoryBeforeItsBytesCome) {
  SegmentFile file;
  const std::string raw = "\x00\x8c\x7f\xff\xff\xff"s + std::string(1000, 'v');
  for (const Codec codec : all_codecs) {
    if (codec == Codec::none) continue;
    std::string stored;
    const auto compressor = make_compressor(codec);
    ASSERT_TRUE(compressor->write(raw, stored).ok() && compressor->finish(stored).ok());
    file.replace(with_crc(stored));
    expect_corrupt(file, {0, std::uint64_t{1} << 40, stored.size() + 4}, codec, "end too early");
  }
}

TEST(SegmentDamage, TheCrcIsComparedBeforeTheLastRecordsGoOut) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    for (const std::size_t count : {1, 3, 511, 512, 513, 1024, 1025}) {
      const OwnedRecords records(count, {"key", "value"});
      const SegmentPlace place = file.write(codec, records);
      std::string damaged = file.bytes();
      damaged.back() = static_cast<char>(damaged.back() ^ 1);
      file.replace(damaged);
      for (std::size_t buffer_bytes = 64; buffer_bytes < 90; ++buffer_bytes) {
        OwnedRecords before;
        const auto read = file.read(place, codec, buffer_bytes, &before);
        ASSERT_FALSE(read.ok());
        EXPECT_NE(read.status().message().find("CRC"), std::string::npos);
        EXPECT_LT(before.size(), count) << name_of(codec) << ' ' << buffer_bytes;
      }
    }
  }
}

TEST(SegmentDamage, AFileThatBecameShorterIsToldFromADamagedOne) {
  auto node = make_simulated_platform({});
  auto writable = node->files().open_for_writing("/segments", WriteMode::truncate);
  SegmentWriter writer(**writable, Codec::none);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(writer.add("key", "value").ok());
  const auto place = writer.finish();
  auto readable = node->files().open_for_reading("/segments");
  SegmentReader reader(**readable, *place, Codec::none, 1000);
  ASSERT_TRUE(reader.next().ok());
  node->truncate_file("/segments", 3000);
  Status status;
  while (status.ok()) status = reader.next().status();
  EXPECT_EQ(status.code(), ErrorCode::file_changed);
  EXPECT_NE(status.message().find("/segments"), std::string::npos);
}

}  // namespace
}  // namespace hummer::batch::segment_damage_test
