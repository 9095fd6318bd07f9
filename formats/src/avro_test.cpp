// Avro through whole jobs: the files of fastavro, splits, schemas that differ, codecs, messages,
// policies, damaged files.
#include <hummer/formats/avro.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <sstream>
#include <stdexcept>

#include <hummer/formats/json.hpp>
#include <hummer/formats/protobuf.hpp>
#include <hummer/hummer.hpp>

#include "avro_codec.hpp"
#include "avro_schema.hpp"
#include "golden_for_test.hpp"
#include "job_files_for_test.hpp"

namespace hummer::formats::avro_test {

enum class Side : std::uint8_t { buy, sell };

}  // namespace hummer::formats::avro_test

template <>
inline constexpr auto hummer::formats::symbols<hummer::formats::avro_test::Side> =
    hummer::formats::named("buy", "sell");

namespace hummer::formats::avro_test {
namespace {

using Codec = AvroOptions::Codec;
using Form = AvroOptions::Form;
using Lines = std::vector<std::string>;

struct Golden {
  std::int64_t id = 0;
  std::string name;
  double price = 0;
  std::int32_t size = 0;
  bool firm = false;
  std::optional<std::string> note;
  friend bool operator==(const Golden&, const Golden&) = default;
};

struct Leg {
  std::string_view venue;
  std::vector<std::int64_t> lots;
};
struct Count {
  std::string_view key;
  std::optional<std::int64_t> value;
};
struct Evolved {
  std::int8_t small = 0;
  double as_double = 0;
  float as_float = 0;
  double widened = 0;
  std::string_view raw;
  std::string hash;
  Side side = Side::buy;
  std::string_view side_text;
  std::string name;
  std::optional<std::int32_t> not_there;
  Leg leg;
  std::vector<Leg> legs;
  std::optional<Leg> last;
  std::vector<Count> counts;
  std::optional<std::int64_t> number;
  std::vector<std::optional<std::int32_t>> marks;
};

std::string hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    text += digits;
  }
  return text;
}

template <typename Each>
std::string joined(const auto& items, const Each& each) {
  std::string text;
  for (const auto& item : items) text += (&item == &items.front() ? "" : " ") + each(item);
  return text;
}
std::string show(const Leg& leg) {
  return std::string(leg.venue) + "[" +
         joined(leg.lots, [](std::int64_t lot) { return std::to_string(lot); }) + "]";
}
template <typename Number>
std::string show(const std::optional<Number>& number) {
  return number ? std::to_string(*number) : "-";
}
std::string show(const Evolved& each) {
  char numbers[100];
  std::snprintf(numbers, sizeof numbers, "%d|%.1f|%.0f|%.2f|", each.small, each.as_double,
                static_cast<double>(each.as_float), each.widened);
  std::string text = numbers;
  for (const std::string& part :
       {hexadecimal(each.raw), hexadecimal(each.hash), std::to_string(static_cast<int>(each.side)),
        std::string(each.side_text), each.name, show(each.leg),
        joined(each.legs, [](const Leg& leg) { return show(leg); }),
        each.last ? show(*each.last) : "-",
        joined(each.counts,
               [](const Count& count) { return std::string(count.key) + "=" + show(count.value); }),
        show(each.number)}) {
    text += part + "|";
  }
  return text + joined(each.marks, [](const auto& mark) { return show(mark); });
}

constexpr SideOutput<FailedRecord<std::string_view>> bad{"bad records"};

class Avro : public testing::Test {
 protected:
  template <typename T>
  std::vector<T> read(const std::string& path, const AvroOptions& options = {},
                      const FileSourceOptions& file = {}, int parallelism = 1,
                      std::uint32_t batch = 1024) {
    std::vector<T> records;
    std::mutex mutex;
    StreamExecutionEnvironment env(on(*node_, parallelism, batch));
    from_avro<T>(env, path, options, file).for_each([&](const T& record) {
      const std::lock_guard lock(mutex);
      records.push_back(record);
    });
    result_ = env.execute("read");
    return records;
  }
  Lines read_evolved(const AvroOptions& options, std::uint32_t batch = 1024) {
    Lines lines;
    StreamExecutionEnvironment env(on(*node_, 1, batch));
    from_avro<Evolved>(env, "/evolved.avro", options).for_each([&](const Evolved& each) {
      lines.push_back(show(each));
    });
    result_ = env.execute("read");
    return lines;
  }
  template <typename T>
  std::string failure_of(const std::string& path, const AvroOptions& options = {}) {
    StreamExecutionEnvironment env(on(*node_));
    from_avro<T>(env, path, options).for_each([](const T&) {});
    const JobResult result = env.execute("read");
    EXPECT_FALSE(result.ok());
    return result.status.to_string();
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
  JobResult result_;
};

std::vector<Golden> sorted(std::vector<Golden> records) {
  const auto key = [](const Golden& each) {
    return std::tie(each.id, each.name, each.price, each.size, each.note);
  };
  std::sort(records.begin(), records.end(),
            [&](const Golden& a, const Golden& b) { return key(a) < key(b); });
  return records;
}

#ifdef HUMMER_WITH_JSON
TEST_F(Avro, FilesOfFastavroHaveTheRecordsThatTheJsonHas) {
  std::vector<Golden> expected;
  {
    put_file(*node_, "/in/records.jsonl", golden_text("records.jsonl"));
    StreamExecutionEnvironment env(on(*node_));
    from_json<Golden>(env, "/in/records.jsonl").for_each([&](const Golden& each) {
      expected.push_back(each);
    });
    ASSERT_TRUE(env.execute("json").ok());
  }
  ASSERT_EQ(expected.size(), 400u);
  for (const std::string codec : {"null", "deflate", "snappy", "zstandard"}) {
    if (!avro_codec_of(codec).ok()) continue;  // built without its library
    put_file(*node_, "/in/records.avro", golden_text("records_" + codec + ".avro"));
    EXPECT_TRUE((read<Golden>("/in/records.avro", {}, {}, 1, 7) == expected)) << codec;
    ASSERT_TRUE(result_.ok()) << result_.status.to_string();
    for (const std::size_t split : {100, 1000, 3000, 20000}) {
      const FileSourceOptions file{.split_size_bytes = split, .block_size_bytes = split / 7};
      const auto records = read<Golden>("/in/records.avro", {}, file, 3, split % 7 + 1);
      ASSERT_TRUE(result_.ok()) << result_.status.to_string();
      EXPECT_TRUE(sorted(records) == sorted(expected)) << codec << " split " << split;
    }
  }
}
#endif

TEST_F(Avro, RecordsAreResolvedToTheStructByNameAliasAndPromotion) {
  put_file(*node_, "/evolved.avro", golden_text("evolved.avro"));
  std::istringstream text(golden_text("evolved.txt"));
  Lines expected;
  for (std::string line; std::getline(text, line);) expected.push_back(line);
  ASSERT_EQ(expected.size(), 40u);
  const AvroOptions options{.aliases = {{"name", "old_name"}}};
  for (const std::uint32_t batch : {1u, 3u, 1024u}) {
    EXPECT_EQ(read_evolved(options, batch), expected);
    ASSERT_TRUE(result_.ok()) << result_.status.to_string();
  }
  EXPECT_NE(failure_of<Evolved>("/evolved.avro").find("'name': the schema has no such field"),
            std::string::npos)
      << failure_of<Evolved>("/evolved.avro");
}

TEST_F(Avro, WhatTheSchemaLacksKeepsItsInitialiserWhereThatIsAllowed) {
  struct Small {
    std::int32_t small = 0;
    std::int32_t more = 17;
  };
  put_file(*node_, "/evolved.avro", golden_text("evolved.avro"));
  const auto records = read<Small>("/evolved.avro", {.refuse_missing_fields = false});
  ASSERT_EQ(records.size(), 40u);
  EXPECT_EQ(records[1].small, -19);
  EXPECT_EQ(records[1].more, 17);
}

TEST_F(Avro, TypesThatDoNotResolveFailTheJobByTheFieldsPath) {
  struct Inner {
    std::int32_t lots = 0;
  };
  struct Text {
    std::string_view small;
  };
  struct Narrow {
    std::int32_t as_float = 0;
  };
  struct Numbered {
    std::int32_t side = 0;
  };
  struct Nested {
    Inner leg;
  };
  struct Mapped {
    std::vector<std::int64_t> counts;
  };
  put_file(*node_, "/evolved.avro", golden_text("evolved.avro"));
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? std::string() : text;
  };
  EXPECT_EQ(
      has(failure_of<Text>("/evolved.avro"), "'small': the schema has int, and the field is text"),
      "");
  EXPECT_EQ(has(failure_of<Narrow>("/evolved.avro"), "'as_float': the schema has long"), "");
  EXPECT_EQ(has(failure_of<Numbered>("/evolved.avro"), "hummer::formats::symbols"), "");
  EXPECT_EQ(has(failure_of<Nested>("/evolved.avro"), "'leg.lots': the schema has an array"), "");
  EXPECT_EQ(has(failure_of<Mapped>("/evolved.avro"), "'counts': the schema has a map"), "");
}

TEST_F(Avro, ValuesThatTheFieldCantHoldAreBadRecordsAndThoseBehindAreRead) {
  struct Odd {
    std::uint8_t small = 0;              // below 0 in the first twenty
    std::optional<std::int32_t> number;  // long enough for all
    std::vector<std::int32_t> marks;     // has nulls
  };
  put_file(*node_, "/evolved.avro", golden_text("evolved.avro"));
  for (const std::uint32_t batch : {1u, 5u, 1024u}) {
    std::vector<int> good;
    Lines failed;
    StreamExecutionEnvironment env(on(*node_, 1, batch));
    const auto records = from_avro<Odd>(env, "/evolved.avro").on_failure(failures_to(bad));
    records.for_each([&](const Odd& odd) { good.push_back(odd.small); });
    records.side_output(bad).for_each([&](const FailedRecord<std::string_view>& each) {
      failed.push_back(each.position + ": " + each.reason);
      EXPECT_FALSE(each.record.empty());
    });
    const JobResult result = env.execute("odd");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(good.size() + failed.size(), 40u);
    EXPECT_EQ(good, (std::vector<int>{0, 1, 4, 5, 8, 9, 12, 13, 16, 17}));
    EXPECT_NE(failed[0].find("'small': the number -20 does not fit"), std::string::npos)
        << failed[0];
    EXPECT_TRUE(failed[0].starts_with("/evolved.avro, byte ")) << failed[0];
    EXPECT_NE(failed.back().find("'marks': the value is null, which the field can't hold"),
              std::string::npos)
        << failed.back();
  }
}

struct Everything {
  bool flag = false;
  std::int8_t i8 = 0;
  std::uint16_t u16 = 0;
  std::uint32_t u32 = 0;
  std::int64_t i64 = 0;
  float f32 = 0;
  double f64 = 0;
  std::string text;
  Side side = Side::buy;
  std::optional<std::string> note;
  std::optional<Side> other;
  std::vector<std::vector<std::int32_t>> lists;
  struct Part {
    std::string name;
    std::optional<double> value;
    friend bool operator==(const Part&, const Part&) = default;
  };
  Part part;
  std::vector<Part> parts;
  std::optional<Part> last;
  friend bool operator==(const Everything&, const Everything&) = default;
};

std::vector<Everything> everything() {
  std::vector<Everything> all(300);
  for (std::size_t i = 0; i < all.size(); ++i) {
    Everything& each = all[i];
    const auto n = static_cast<std::int32_t>(i);
    each.flag = i % 2 == 0;
    each.i8 = static_cast<std::int8_t>(n - 128);
    each.u16 = static_cast<std::uint16_t>(n * 217);
    each.u32 = UINT32_MAX - static_cast<std::uint32_t>(n);
    each.i64 = (i % 3 == 0 ? INT64_MIN : INT64_MAX) / (n + 1);
    each.f32 = static_cast<float>(n) / 3;
    each.f64 = 1.0 / (n + 1);
    each.text = std::string(i, 'x') + "\xc3\xa4";
    each.side = i % 2 == 0 ? Side::sell : Side::buy;
    if (i % 3 == 0) each.note = "";
    if (i % 4 == 0) each.other = Side::sell;
    each.lists.resize(i % 4, std::vector<std::int32_t>(i % 3, n));
    each.part = {"p", i % 2 == 0 ? std::optional(0.5) : std::nullopt};
    each.parts.resize(i % 3, each.part);
    if (i % 5 == 0) each.last = each.part;
  }
  return all;
}

TEST_F(Avro, WhatIsWrittenIsReadAgainWithEachCodec) {
  for (const Codec codec : {Codec::null, Codec::deflate, Codec::snappy, Codec::zstandard}) {
    if (!avro_codec_of(avro_codec_name(codec)).ok()) continue;  // built without its library
    {
      StreamExecutionEnvironment env(on(*node_, 1, 64));
      write_avro(env.from_collection(everything()), "/out.avro", {.codec = codec});
      const JobResult result = env.execute("write");
      ASSERT_TRUE(result.ok()) << result.status.to_string();
    }
    EXPECT_TRUE(read<Everything>("/out.avro") == everything());
    ASSERT_TRUE(result_.ok()) << result_.status.to_string();
  }
}

TEST_F(Avro, ASchemaOfTheOptionsSaysHowRecordsAreWritten) {
  struct Written {
    std::string_view key;
    std::int32_t size = 0;
    std::string_view side;
    std::vector<Count> counts;
  };
  const AvroOptions options{.schema = R"({"type":"record","name":"W","fields":[
        {"name":"size","type":["string","null","long"]},{"name":"key","type":"bytes"},
        {"name":"none","type":["int","null"]},
        {"name":"side","type":{"type":"enum","name":"E","symbols":["b","s"]}},
        {"name":"counts","type":{"type":"map","values":["null","long"]}}]})"};
  {
    StreamExecutionEnvironment env(on(*node_));
    write_avro(env.from_collection(std::vector<Written>{{"\xff", 7, "s", {{"a", 1}, {"b", {}}}}}),
               "/w.avro", options);
    const JobResult result = env.execute("write");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
  }
  const std::string text = get_file(*node_, "/w.avro");
  // The long 7, the byte ff, null, the second symbol, a map of two.
  EXPECT_NE(hexadecimal(text).find("040e02ff0202"
                                   "04026102020262"
                                   "0000"),
            std::string::npos)
      << hexadecimal(text);
  struct Key {
    std::string_view key;
  };
  const auto refused = [&](const std::string& schema) {
    StreamExecutionEnvironment env(on(*node_));
    write_avro(env.from_collection(std::vector<Key>{}), "/w.avro", {.schema = schema});
    return env.execute("write").status.to_string();
  };
  EXPECT_NE(refused(R"({"type":"record","name":"W","fields":[{"name":"key","type":"bytes"},
                         {"name":"more","type":"int"}]})")
                .find("the schema has a field 'more', which the record has not"),
            std::string::npos);
  EXPECT_NE(refused(R"({"type":"record","name":"W","fields":[{"name":"key","type":"int"}]})")
                .find("'key' is text, which can't be written as int"),
            std::string::npos);
  EXPECT_NE(refused(R"({"type":"record","name":"W","fields":[]})")
                .find("the schema has no field for 'key'"),
            std::string::npos);
  EXPECT_NE(refused("{").find("the Avro schema is no JSON"), std::string::npos) << refused("{");
}

TEST_F(Avro, TextThatIsNoUtf8IsNoString) {
  struct Text {
    std::string_view text;
  };
  StreamExecutionEnvironment env(on(*node_));
  write_avro(env.from_collection(std::vector<Text>{{"\xff"}}), "/t.avro");
  const JobResult result = env.execute("write");
  EXPECT_NE(result.status.to_string().find("'text' is no UTF-8"), std::string::npos)
      << result.status.to_string();
}

TEST_F(Avro, MessagesAreRecordsByThemselves) {
  struct Plain {
    std::int32_t size = 0;
    std::string_view name;
  };
  const std::vector<Plain> records{{1, "a"}, {-2, "b"}};
  for (const Form form : {Form::plain, Form::single_object}) {
    const AvroOptions options{.form = form};
    Lines read;
    StreamExecutionEnvironment env(on(*node_));
    decode<Plain>(encode_messages(env.from_collection(records), avro(options)), avro(options))
        .for_each([&](const Plain& each) {
          read.push_back(std::to_string(each.size) + std::string(each.name));
        });
    const JobResult result = env.execute("messages");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(read, (Lines{"1a", "-2b"}));
  }
}

TEST_F(Avro, MessagesOfOtherSchemasAreKnownByTheirFingerprints) {
  struct Old {
    std::string name;
    std::int32_t size = 0;
  };
  struct New {
    std::int64_t size = 0;
    std::string_view title;
  };
  const std::string old_schema = avro_schema_of(shape_of<Old>(), {});
  Lines read;
  StreamExecutionEnvironment env(on(*node_));
  const auto old_ones = encode_messages(env.from_collection(std::vector<Old>{{"n", 3}}),
                                        avro({.form = Form::single_object}));
  decode<New>(old_ones, avro({.form = Form::single_object,
                              .other_schemas = {old_schema},
                              .aliases = {{"title", "name"}}}))
      .for_each([&](const New& each) {
        read.push_back(std::string(each.title) + std::to_string(each.size));
      });
  decode<New>(old_ones, avro({.form = Form::single_object}))
      .on_failure(skip_failures())
      .for_each([&](const New&) { read.push_back("unknown"); });
  const JobResult result = env.execute("messages");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(read, Lines{"n3"});
}

struct Numbered {
  std::int32_t number = 0;
  std::string text;
};

// Files of both kinds that are no lines, with checkpoints: the parts together have each record
// once.
TEST(BinaryFiles, AJobThatIsRestartedReadsAndWritesEachRecordOnce) {
  for (const bool by_avro : {true, false}) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      const auto node = make_simulated_platform({.seed = seed});
      std::vector<Numbered> all;
      for (int i = 0; i < 3000; ++i)
        all.push_back({i, std::string(static_cast<std::size_t>(i) % 9, 'x')});
      const AvroOptions avro_options{.codec = Codec::deflate};
      const FileSourceOptions file{.split_size_bytes = 2000, .block_size_bytes = 300};
      const auto write = [&](const DataStream<Numbered>& records, const std::string& path) {
        if (by_avro) {
          write_avro(records, path, avro_options);
        } else {
          write_protobuf(records, path);
        }
      };
      const auto read = [&](StreamExecutionEnvironment& env, const std::string& path) {
        return by_avro ? from_avro<Numbered>(env, path, {}, file)
                       : from_protobuf<Numbered>(env, path, {}, file);
      };
      {
        StreamExecutionEnvironment env(on(*node, 1, 50));
        write(env.from_collection(all), "/in/a");
        ASSERT_TRUE(env.execute("write").ok());
      }
      std::atomic<int> failures{3};
      std::atomic<int> seen{0};
      EnvironmentOptions options = on(*node, 2, 64);
      options.channel_credits = 2;
      options.checkpoints.directory = "/checkpoints";
      options.checkpoints.interval_ms = 1;
      options.restart = RestartStrategy::fixed_delay(5, 5);
      {
        StreamExecutionEnvironment env(options);
        write(read(env, "/in/a").map([&](const Numbered& each) {
          if (++seen % 1000 == 0 && failures.fetch_sub(1) > 0) throw std::runtime_error("planned");
          return each;
        }),
              "/out");
        const JobResult result = env.execute("restarts");
        ASSERT_TRUE(result.ok()) << result.status.to_string();
        EXPECT_LE(failures.load(), 0);
      }
      std::vector<int> numbers;
      StreamExecutionEnvironment env(on(*node));
      read(env, "/out").for_each([&](const Numbered& each) {
        EXPECT_EQ(each.text.size(), static_cast<std::size_t>(each.number) % 9);
        numbers.push_back(each.number);
      });
      const JobResult result = env.execute("read");
      ASSERT_TRUE(result.ok()) << result.status.to_string();
      std::sort(numbers.begin(), numbers.end());
      ASSERT_EQ(numbers.size(), all.size());
      for (int i = 0; i < 3000; ++i) ASSERT_EQ(numbers[static_cast<std::size_t>(i)], i);
    }
  }
}

TEST_F(Avro, DamagedFilesFailTheJobByNameAndPlace) {
  const std::string good = golden_text("records_deflate.avro");
  const auto failure = [&](std::string text, const AvroOptions& options = {}) {
    put_file(*node_, "/in/bad.avro", text);
    return failure_of<Golden>("/in/bad.avro", options);
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find("/in/bad.avro") != std::string::npos && text.find(part) != std::string::npos
               ? std::string()
               : text;
  };
  EXPECT_EQ(has(failure("text\n"), "no Avro container file"), "");
  EXPECT_EQ(has(failure(good.substr(0, 100)), "ends inside of its head"), "");
  EXPECT_EQ(has(failure(good.substr(0, good.size() - 1)), "the file ends inside"), "");
  std::string other = good;
  other.back() ^= 1;
  EXPECT_EQ(has(failure(other), "do not end with the file's mark"), "");
  other = good;
  other[good.size() - 20] ^= 0x10;
  EXPECT_EQ(has(failure(other), "byte "), "");
  EXPECT_EQ(has(failure(good, {.max_block_bytes = 1000}), "max_block_bytes"), "");
  other = good;
  other.replace(other.find("deflate"), 7, "bzip2xx");
  EXPECT_EQ(has(failure(other), "the file's codec is 'bzip2xx'"), "");
  other = good;
  other.replace(other.find("\"boolean\""), 9, "\"bullean\"");
  EXPECT_EQ(has(failure(other), "the type 'bullean' is not known"), "");
}

}  // namespace
}  // namespace hummer::formats::avro_test
