// Raw bytes through whole jobs: framings, fields of a struct, damaged files, messages.
#include <hummer/formats/raw.hpp>

#include <gtest/gtest.h>

#include <mutex>

#include "job_files_for_test.hpp"
#include "raw_layout.hpp"

namespace hummer::formats::raw_test {
namespace {

struct Small {
  bool flag = false;
  std::uint8_t number = 0;
};
struct Lists {
  std::vector<int> numbers;
};
struct Behind {
  std::string text;
  int number = 0;
};

using namespace std::string_literals;

constexpr SideOutput<FailedRecord<std::string_view>> bad{"bad records"};

enum class Side : std::uint8_t { buy = 1, sell = 2 };
struct Place {
  std::int16_t x = 0;
  bool inside = false;
};
struct Tick {
  Side side = Side::buy;
  Place place;
  double price = 0;
  std::string_view note;
};

struct Read {
  std::string status;
  std::string records;
  std::string failed;
};

template <typename T, typename Show>
Read read(const std::string& bytes, const RawOptions& options, const Show& show,
          const FileSourceOptions& file = {}) {
  const auto machine = make_simulated_platform({.seed = 1});
  SimulatedPlatform& node = *machine;
  put_file(node, "/in/raw", bytes);
  Read found;
  StreamExecutionEnvironment env(on(node));
  const auto records = from_raw<T>(env, "/in/raw", options, file).on_failure(failures_to(bad));
  records.for_each([&](const T& record) { found.records += show(record) + ";"; });
  records.side_output(bad).for_each([&](const FailedRecord<std::string_view>& each) {
    found.failed +=
        std::to_string(each.record.size()) + " bytes, " + each.position + ": " + each.reason + ";";
  });
  found.status = env.execute("read").status.to_string();
  return found;
}

std::string show_bytes(std::string_view bytes) { return std::string(bytes); }
std::string show_tick(const Tick& tick) {
  return std::to_string(static_cast<int>(tick.side)) + " " + std::to_string(tick.place.x) + " " +
         std::to_string(tick.place.inside) + " " + std::to_string(tick.price) + " " +
         std::string(tick.note);
}

TEST(Raw, RecordsHaveTheirLengthAheadInEachFraming) {
  const std::string long_one(200, 'x');
  EXPECT_EQ(read<std::string_view>("\0\0\0\3abc\0\0\0\0\0\0\0\xc8"s + long_one,
                                   {.framing = RawFraming::u32_big}, show_bytes)
                .records,
            "abc;;" + long_one + ";");
  EXPECT_EQ(read<std::string_view>("\3\0\0\0abc\0\0\0\0\xc8\0\0\0"s + long_one,
                                   {.framing = RawFraming::u32_little}, show_bytes)
                .records,
            "abc;;" + long_one + ";");
  for (const std::size_t block : {1, 7, 1 << 16}) {
    EXPECT_EQ(read<std::string_view>("\3a\nc\0\xc8\1"s + long_one, {.framing = RawFraming::varint},
                                     show_bytes, {.split_size_bytes = 1, .block_size_bytes = block})
                  .records,
              "a\nc;;" + long_one + ";");
  }
  EXPECT_EQ(read<std::string_view>("abcdef", {.framing = RawFraming::fixed, .record_bytes = 3},
                                   show_bytes)
                .records,
            "abc;def;");
}

TEST(Raw, FieldsStandOneBehindTheOther) {
  const std::string little = "\2\xfe\xff\1\0\0\0\0\0\0\xf8\x3fnote"s;
  const std::string big = "\2\xff\xfe\1\x3f\xf8\0\0\0\0\0\0"s;
  EXPECT_EQ(read<Tick>("\x10"s + little + "\x0c" + big.substr(0, 4) + little.substr(4, 8),
                       {.framing = RawFraming::varint}, show_tick)
                .records,
            "2 -2 1 1.500000 note;2 -257 1 1.500000 ;");
  EXPECT_EQ(
      read<Tick>(big + "ab" + big + "cd",
                 {.framing = RawFraming::fixed, .record_bytes = 14, .byte_order = std::endian::big},
                 show_tick)
          .records,
      "2 -2 1 1.500000 ab;2 -2 1 1.500000 cd;");
}

TEST(Raw, ARecordOfOtherBytesIsBadAndABrokenFileFailsTheJob) {
  const auto show = [](const Small& small) { return std::to_string(small.number); };
  const RawOptions varint{.framing = RawFraming::varint};
  const Read mixed = read<Small>("\2\1\5\1\1\3\1\1\1\2\2\6\2\0\7"s, varint, show);
  EXPECT_EQ(mixed.records, "5;7;");
  EXPECT_EQ(mixed.failed,
            "1 bytes, /in/raw, byte 3: it has fewer bytes than its fields take;"
            "3 bytes, /in/raw, byte 5: it has more bytes than its fields take;"
            "2 bytes, /in/raw, byte 9: a bool in it is neither 0 nor 1;");
  const auto fails = [&](const std::string& bytes, const RawOptions& options,
                         const std::string& why) {
    const Read found = read<Small>(bytes, options, show);
    EXPECT_NE(found.status.find(why), std::string::npos) << found.status;
    EXPECT_NE(found.status.find("/in/raw"), std::string::npos) << found.status;
  };
  fails("\2\1\5\2\1"s, varint, "byte 3: the file ends inside of what begins here");
  fails("\2\1\5\x80"s, varint, "byte 3: the file ends inside");
  fails("\xff\xff\xff\xff\xff\1"s, varint, "a varint of more than 32 bits is no length");
  const Read large = read<Small>("\0\0\1\0"s + std::string(256, 'x'), {}, show,
                                 {.block_size_bytes = 64, .max_line_bytes = 128});
  EXPECT_NE(large.status.find("raise the option max_line_bytes"), std::string::npos)
      << large.status;
  fails("\1\5\1"s, {.framing = RawFraming::fixed}, "byte 2: the file ends inside");
}

TEST(Raw, IsRefusedOfRecordsWithoutAPlaceForEachField) {
  const auto why = [](const RecordShape& shape, const RawOptions& options) {
    return raw(options)->check(shape).message();
  };
  EXPECT_NE(why(shape_of<Lists>(), {}).find("'numbers' is a list"), std::string::npos);
  EXPECT_NE(why(shape_of<Behind>(), {}).find("'number' is behind it"), std::string::npos);
  EXPECT_NE(why(shape_of<Tick>(), {.framing = RawFraming::fixed}).find("say its size"),
            std::string::npos);
  EXPECT_NE(why(shape_of<Place>(), {.framing = RawFraming::fixed, .record_bytes = 4})
                .find("the fields take 3"),
            std::string::npos);
  EXPECT_NE(why(shape_of<Place>(), {.record_bytes = 3}).find("set framing to fixed"),
            std::string::npos);
  EXPECT_EQ(why(shape_of<Place>(), {.framing = RawFraming::fixed}), "");
}

TEST(Raw, WhatIsWrittenIsReadAgainAndCounted) {
  const std::string bytes = "\3a\nc\0\1\n"s;
  for (const RawFraming framing :
       {RawFraming::u32_big, RawFraming::u32_little, RawFraming::varint}) {
    const auto machine = make_simulated_platform({.seed = 1});
    SimulatedPlatform& node = *machine;
    put_file(node, "/in/raw", bytes);
    StreamExecutionEnvironment env(on(node));
    write_raw(from_raw<std::string_view>(env, "/in/raw", {.framing = RawFraming::varint}), "/out",
              {.framing = framing});
    const JobResult result = env.execute("write");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(result.records_written, 3u);
    EXPECT_EQ(
        read<std::string_view>(get_file(node, "/out"), {.framing = framing}, show_bytes).records,
        "a\nc;;\n;");
  }
}

TEST(Raw, AMessageIsARecordWithoutALength) {
  const auto machine = make_simulated_platform({.seed = 1});
  StreamExecutionEnvironment env(on(*machine));
  std::string records;
  const auto messages =
      env.from_collection(std::vector<std::string>{"\1\0\1"s, "", "\2\0\2"s, "\3\0\0"s})
          .map([](const std::string& text) { return std::string_view(text); });
  encode_messages(decode<Place>(messages, raw()).on_failure(skip_failures()),
                  raw({.byte_order = std::endian::big}))
      .for_each([&](std::string_view message) { records += std::string(message) + ";"; });
  const JobResult result = env.execute("messages");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(records, "\0\1\1;\0\3\0;"s);
  EXPECT_EQ(result.records_skipped, 2u);
}

}  // namespace
}  // namespace hummer::formats::raw_test
