#include "batch/segment.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "batch/segments_for_test.hpp"

namespace hummer::batch::segment_test {
namespace {

using namespace std::string_literals;

OwnedRecords drawn_records(unsigned seed, std::size_t count) {
  std::mt19937 random(seed);
  // Around what a vint of another length, a buffer of the reader or of the writer begins with.
  const std::vector<std::size_t> borders{0, 1, 64, 127, 128, 255, 256, 4096};
  const auto draw = [&] {
    const std::size_t bytes = borders[random() % borders.size()] + random() % 3;
    std::string text(random() % 4 == 0 ? 0 : bytes, static_cast<char>('a' + random() % 26));
    if (!text.empty()) text[random() % text.size()] = static_cast<char>(random());
    return text;
  };
  OwnedRecords records;
  for (std::size_t i = 0; i < count; ++i) records.emplace_back(draw(), draw());
  return records;
}

// Computed from the form, and the CRCs by another program.
TEST(Segment, HasTheBytesOfHadoopsFile) {
  SegmentFile file;
  const SegmentPlace place =
      file.write(Codec::none, {{"a", "1"}, {"", "xy"}, {std::string(200, 'k'), ""}});
  EXPECT_EQ(file.bytes(),
            "\x01\x01"
            "a1"
            "\x00\x02"
            "xy"
            "\x8f\xc8\x00"s +
                std::string(200, 'k') +
                "\xff\xff"
                "\x90\xae\x18\x7b");
  EXPECT_EQ(place.offset, 0);
  EXPECT_EQ(place.raw_bytes, 213);
  EXPECT_EQ(place.stored_bytes, 217);

  EXPECT_EQ(file.write(Codec::none, {}).stored_bytes, 6);
  EXPECT_EQ(file.bytes(), "\xff\xff\xff\xff\x00\x00"s);

  const SegmentPlace compressed = file.write(Codec::snappy, {});
  EXPECT_EQ(file.bytes(),
            "\x00\x00\x00\x02"
            "\x00\x00\x00\x04"
            "\x02\x04\xff\xff"
            "\xb3\x85\x3a\x81"s);
  EXPECT_EQ(compressed.raw_bytes, 2);
  EXPECT_EQ(compressed.stored_bytes, 16);
}

TEST(Segment, GivesBackWhatWasWrittenWhateverTheBuffer) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    for (const unsigned seed : {1, 2, 3}) {
      const OwnedRecords records = drawn_records(seed, 700);
      const SegmentPlace place = file.write(codec, records);
      EXPECT_EQ(place.stored_bytes, file.bytes().size());
      for (const std::size_t buffer_bytes : {1, 65, 1000, 4096, 100'000, 1 << 20}) {
        const auto read = file.read(place, codec, buffer_bytes);
        ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
        EXPECT_TRUE(*read == records) << name_of(codec) << ' ' << buffer_bytes;
      }
    }
  }
}

TEST(Segment, HasRecordsOfEveryLengthAroundTheWritersBuffer) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    const std::size_t buffer = best_write_bytes(codec);
    for (const std::size_t first : {buffer - 40, buffer - 12, buffer - 5, buffer, buffer + 9}) {
      OwnedRecords records{{std::string(first, 'f'), ""}};
      for (std::size_t i = 0; i < 30; ++i) records.emplace_back("", std::string(i % 3, 'v'));
      records.emplace_back(std::string(2 * buffer, 'g'), std::string(buffer - 1, 'h'));
      records.emplace_back("last", "");
      const SegmentPlace place = file.write(codec, records);
      const auto read = file.read(place, codec, 1 << 16);
      ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
      EXPECT_TRUE(*read == records) << name_of(codec) << ' ' << first;
    }
  }
}

TEST(Segment, ARecordMayBeMuchLargerThanTheBuffers) {
  SegmentFile file;
  std::mt19937 random(1);
  std::string large(5'000'000, ' ');
  for (char& each : large) each = static_cast<char>(random() % 16);
  const OwnedRecords records{{"before", "it"}, {"key", large}, {large, "value"}, {"be", "hind"}};
  for (const Codec codec : all_codecs) {
    const SegmentPlace place = file.write(codec, records);
    for (const std::size_t buffer_bytes : {1000, 1 << 20}) {
      const auto read = file.read(place, codec, buffer_bytes);
      ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
      EXPECT_TRUE(*read == records) << name_of(codec);
    }
  }
}

TEST(Segment, SeveralLieInAFileOneBehindTheOther) {
  SegmentFile file;
  for (const Codec codec : all_codecs) {
    std::vector<OwnedRecords> segments;
    std::vector<SegmentPlace> places;
    {
      const auto writable = file.open_for_writing();
      ASSERT_TRUE(writable->append("something before").ok());
      SegmentWriter writer(*writable, codec);
      for (unsigned i = 0; i < 20; ++i) {
        segments.push_back(drawn_records(i, i % 4 == 0 ? 0 : 10 * i));
        for (const auto& [key, value] : segments.back()) ASSERT_TRUE(writer.add(key, value).ok());
        const auto place = writer.finish();
        ASSERT_TRUE(place.ok());
        places.push_back(*place);
      }
    }
    std::uint64_t end = 16;
    for (std::size_t i = 0; i < segments.size(); ++i) {
      EXPECT_EQ(places[i].offset, end);
      end += places[i].stored_bytes;
      const auto read = file.read(places[i], codec, 5000);
      ASSERT_TRUE(read.ok()) << name_of(codec) << read.status().to_string();
      EXPECT_TRUE(*read == segments[i]) << name_of(codec) << ' ' << i;
    }
    EXPECT_EQ(end, file.bytes().size());
  }
}

TEST(Segment, SpansAreOfHundredsWhereRecordsAreSmall) {
  SegmentFile file;
  const SegmentPlace place = file.write(Codec::none, OwnedRecords(2000, {"key", "value"}));
  auto readable = file.files().open_for_reading(file.path());
  SegmentReader reader(**readable, place, Codec::none);
  std::size_t records = 0, spans = 0;
  for (;;) {
    const auto span = reader.next();
    ASSERT_TRUE(span.ok());
    if (span->empty()) break;
    records += span->size();
    ++spans;
  }
  EXPECT_EQ(records, 2000);
  EXPECT_LE(spans, 8);
}

TEST(Segment, WritingToAFullDiskIsToldAndStaysAFailure) {
  for (const Codec codec : all_codecs) {
    SegmentFile file({.disk_capacity_bytes = 5000});
    const auto writable = file.open_for_writing();
    SegmentWriter writer(*writable, codec);
    std::mt19937 random(1);
    Status status;
    for (int i = 0; i < 1000 && status.ok(); ++i) {
      std::string value(2000, ' ');
      for (char& each : value) each = static_cast<char>(random());
      status = writer.add("key", value);
    }
    EXPECT_EQ(status.code(), ErrorCode::disk_full) << name_of(codec);
    EXPECT_NE(status.message().find(file.path()), std::string::npos);
    EXPECT_EQ(writer.add("", "").code(), ErrorCode::disk_full);
    EXPECT_EQ(writer.finish().status().code(), ErrorCode::disk_full);
  }
}

TEST(Segment, FaultsOfTheDiskAreTold) {
  for (const Codec codec : all_codecs) {
    SegmentFile file;
    const SegmentPlace place = file.write(codec, drawn_records(1, 100));
    file.options().read_fault_rate = 1;
    auto read = file.read(place, codec);
    EXPECT_EQ(read.status().code(), ErrorCode::io_error);
    EXPECT_NE(read.status().message().find(file.path()), std::string::npos);
    file.options().read_fault_rate = 0;

    const auto writable = file.open_for_writing();
    SegmentWriter writer(*writable, codec);
    ASSERT_TRUE(writer.add("key", "value").ok());
    file.options().write_fault_rate = 1;
    EXPECT_EQ(writer.finish().status().code(), ErrorCode::io_error);
    file.options().write_fault_rate = 0;
    // Nobody knows what of it is in the file.
    EXPECT_EQ(writer.finish().status().code(), ErrorCode::io_error);
    EXPECT_EQ(writer.add("key", "value").code(), ErrorCode::io_error);
  }
}

}  // namespace
}  // namespace hummer::batch::segment_test
