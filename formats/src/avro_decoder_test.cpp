// Avro's parts by themselves: schemas and their fingerprints, codecs, decoders on damaged bytes;
// and what we write, read by Avro's own library.
#include "avro_decoder.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <random>

#include <hummer/hummer.hpp>
#ifdef HUMMER_TESTS_LIBAVRO
#include <avro.h>
#endif

#include "avro_container.hpp"
#include "avro_encoder.hpp"
#include "decoded_for_test.hpp"
#include "golden_for_test.hpp"
#include "job_files_for_test.hpp"
#include "support/drawn_cases.hpp"
#include "varint.hpp"

namespace hummer::formats::avro_decoder_test {
namespace {

using Codec = AvroOptions::Codec;

TEST(Varint, IsReadAndWrittenAtEachLengthAndNotBehindItsEnd) {
  for (unsigned bits = 0; bits < 64; ++bits) {
    for (const std::uint64_t value :
         {std::uint64_t{1} << bits, (std::uint64_t{1} << bits) - 1, UINT64_MAX >> bits}) {
      std::string text;
      append_varint(value, text);
      const std::size_t size = text.size();
      for (const std::size_t more : {0, 7, 20}) {
        // Bytes of their own, so that a read behind them is seen.
        const std::vector<char> bytes = [&] {
          std::vector<char> made(text.begin(), text.end());
          made.resize(size + more, '\xff');
          return made;
        }();
        const char* const end = bytes.data() + bytes.size();
        std::uint64_t read = 0;
        ASSERT_EQ(read_varint(bytes.data(), end, read), bytes.data() + size) << value;
        ASSERT_EQ(read, value);
        for (std::size_t cut = 0; cut < size && more == 0; ++cut) {
          ASSERT_EQ(read_varint(bytes.data(), bytes.data() + cut, read), nullptr);
        }
      }
      ASSERT_EQ(folded(unfolded(value)), value);
    }
  }
  std::uint64_t read = 0;
  const std::string long_one(11, '\x80');
  EXPECT_EQ(read_varint(long_one.data(), long_one.data() + 11, read), nullptr);
  const std::string large = std::string(9, '\xff') + "\2";
  EXPECT_EQ(read_varint(large.data(), large.data() + 10, read), nullptr);
}

// What the specification and other implementations have for these.
TEST(AvroSchema, HasTheCanonicalFormAndFingerprintOfTheSpecification) {
  const auto of = [](const std::string& text) {
    const Result<AvroSchema> schema = AvroSchema::parse(text);
    EXPECT_TRUE(schema.ok()) << schema.status().to_string();
    return std::make_pair(schema->canonical_form(), schema->fingerprint());
  };
  EXPECT_EQ(of("\"int\""),
            std::make_pair(std::string("\"int\""), std::uint64_t{0x7275d51a3f395c8f}));
  EXPECT_EQ(of(" {\"type\": \"null\"}").second, 0x63dd24e7cc258f8aU);
  EXPECT_EQ(of(R"({"type":"record","doc":"d","name":"R","namespace":"a.b","aliases":["S"],"fields":[
               {"name":"f","default":1,"type":{"type":"long","logicalType":"timestamp-millis"}},
               {"name":"g","type":["null",{"type":"array","items":"R"}]},
               {"name":"e","type":{"type":"enum","symbols":["x","y"],"name":"c.E"}},
               {"name":"h","type":{"size":4,"name":"F","type":"fixed"}},
               {"name":"i","type":{"type":"map","values":"c.E"}}]})")
                .first,
            R"({"name":"a.b.R","type":"record","fields":[{"name":"f","type":"long"},)"
            R"({"name":"g","type":["null",{"type":"array","items":"a.b.R"}]},)"
            R"({"name":"e","type":{"name":"c.E","type":"enum","symbols":["x","y"]}},)"
            R"({"name":"h","type":{"name":"a.b.F","type":"fixed","size":4}},)"
            R"({"name":"i","type":{"type":"map","values":"c.E"}}]})");
}

TEST(AvroSchema, TextsThatAreNoneAreRefusedWithTheReason) {
  const auto why = [](const std::string& text) {
    const Result<AvroSchema> schema = AvroSchema::parse(text);
    return schema.ok() ? "none" : schema.status().message();
  };
  const std::vector<std::pair<std::string, std::string>> refused{
      {"", "no JSON"},
      {"{\"type\":", "no JSON"},
      {"\"x\\q\"", "an unknown escape"},
      {"\"other\"", "the type 'other' is not known"},
      {"[]", "a union without branches"},
      {"[\"int\",[\"null\"]]", "a union inside of a union"},
      {"17", "neither a name, a list nor an object"},
      {R"({"type":"record","name":"1x","fields":[]})", "'1x' is no name"},
      {R"({"type":"record","name":"x"})", "has no list \"fields\""},
      {R"({"type":"record","name":"x","fields":[{"name":"a","type":"int"},{"name":"a","type":"int"}]})",
       "two fields 'a'"},
      {R"({"type":"enum","name":"x","symbols":[]})", "has no \"symbols\""},
      {R"({"type":"fixed","name":"x","size":-1})", "has no \"size\""},
      {R"({"type":"array"})", "an array without \"items\""},
      {std::string(100, '['), "inside of each other"},
      {std::string(2 << 20, ' '), "bytes"}};
  for (const auto& [text, reason] : refused) {
    EXPECT_NE(why(text).find(reason), std::string::npos) << text.substr(0, 80) << ": " << why(text);
  }
}

TEST(AvroCodec, UnpacksWhatItHasPackedAndNoMoreThanIsAllowed) {
  for (const Codec which : {Codec::deflate, Codec::snappy, Codec::zstandard}) {
    if (!avro_codec_of(avro_codec_name(which)).ok()) continue;
    AvroCodec codec(which);
    for (const std::size_t size : {0, 1, 1000, 300'000}) {
      const std::string text(size, 'x');
      std::string packed = "ahead";
      ASSERT_TRUE(codec.pack(text, packed).ok());
      const std::string block = packed.substr(5);
      const Result<std::string_view> unpacked = codec.unpack(block, 1 << 20);
      ASSERT_TRUE(unpacked.ok()) << unpacked.status().to_string();
      ASSERT_EQ(*unpacked, text);
      if (size == 0) continue;
      EXPECT_TRUE(codec.unpack(block, size).ok());
      EXPECT_EQ(codec.unpack(block, size - 1).status().code(), ErrorCode::limit_exceeded);
      for (std::size_t cut = 0; cut < block.size(); cut += block.size() / 20 + 1) {
        EXPECT_FALSE(codec.unpack(block.substr(0, cut), 1 << 20).ok()) << cut;
      }
    }
  }
}

struct Part {
  std::string_view venue;
  std::vector<std::optional<std::int64_t>> lots;
};
struct Drawn {
  std::int8_t small = 0;
  double as_double = 0;
  std::string_view raw;
  std::string hash;
  std::string_view side_text;
  Part leg;
  std::vector<Part> legs;
  std::optional<Part> last;
  std::optional<std::string_view> number;
};

// Files that are nearly good: whatever they have, it ends, and no byte behind them is read.
TEST(AvroDecoder, DamagedFilesEndWithRecordsAndReasons) {
  std::mt19937_64 random(1);
  const auto show = [](const Drawn& each) {
    std::string text = std::string(each.raw) + each.hash + std::string(each.side_text) +
                       std::string(each.leg.venue) + std::string(each.number.value_or(""));
    for (const Part& part : each.legs) text += part.venue;
    if (each.last) text += each.last->venue;
    return text;
  };
  std::size_t good = 0;
  std::size_t failed = 0;
  for (const std::string name :
       {"evolved.avro", "records_deflate.avro", "records_snappy.avro", "records_zstandard.avro"}) {
    const std::string text = golden_text(name);
    ASSERT_FALSE(text.empty());
    const std::size_t head = read_avro_head(text)->size;
    for (std::uint64_t i = 0; i < drawn_cases(2500); ++i) {
      std::string damaged = text;
      // Mostly behind the head.
      for (std::size_t left = random() % 4 + 1; left > 0; --left) {
        const std::size_t from = random() % 8 == 0 ? 0 : head;
        const std::size_t at = from + random() % (damaged.size() - from);
        switch (random() % 4) {
          case 0: damaged[at] = static_cast<char>(random()); break;
          case 1: damaged[at] = static_cast<char>(damaged[at] ^ (1 << random() % 8)); break;
          case 2: damaged.erase(at, random() % 5); break;
          default: damaged.insert(at, random() % 3, "\0\xff\x7f"[random() % 3]);
        }
      }
      AvroDecoder decoder(shape_of<Drawn>(),
                          {.refuse_missing_fields = false, .max_block_bytes = 1 << 20});
      const auto copy = std::make_unique<char[]>(damaged.size() + read_slack_bytes);
      std::copy(damaged.begin(), damaged.end(), copy.get());
      const TextBlock block{copy.get(), damaged.size(), 0, nullptr};
      std::size_t at = 0;
      if (!decoder.begin(block, at).ok()) {
        ++failed;
        continue;
      }
      Batch batch(type_of<Drawn>(), 16);
      auto outcome = Decoder::Outcome::full;
      while (outcome == Decoder::Outcome::full || outcome == Decoder::Outcome::bad_record) {
        batch.clear();
        outcome = decoder.decode(block.view(), at, batch, 1 + random() % 16);
        for (const Drawn& each : batch.values<Drawn>()) good += show(each).size() > 0 ? 1 : 0;
        ASSERT_LE(at, damaged.size());
        if (outcome == Decoder::Outcome::bad_record) {
          ASSERT_FALSE(decoder.why().empty());
          (void)decoder.skip_record(block.view(), at);
        }
      }
      failed += outcome == Decoder::Outcome::failed ? 1 : 0;
    }
  }
  EXPECT_GT(good, 0u);
  EXPECT_GT(failed, 0u);
}

#ifdef HUMMER_TESTS_LIBAVRO
struct Written {
  std::int64_t id = 0;
  std::string name;
  double price = 0;
  std::optional<std::int32_t> size;
  std::vector<std::string> words;
  friend bool operator==(const Written&, const Written&) = default;
};

TEST(AvroFiles, AreReadByItsOwnLibrary) {
  std::vector<Written> records(500);
  for (std::size_t i = 0; i < records.size(); ++i) {
    records[i] = {static_cast<std::int64_t>(i * i) - 1000, std::string(i % 50, 'n'),
                  static_cast<double>(i) / 7, std::nullopt, std::vector<std::string>(i % 4, "w")};
    if (i % 2 == 0) records[i].size = static_cast<std::int32_t>(i);
  }
  for (const Codec codec : {Codec::null, Codec::deflate}) {
    const auto node = make_simulated_platform({.seed = 1});
    StreamExecutionEnvironment env(on(*node, 1, 100));
    write_avro(env.from_collection(records), "/out.avro", {.codec = codec});
    ASSERT_TRUE(env.execute("write").ok());
    const std::string path = testing::TempDir() + "hummer_written.avro";
    std::ofstream(path, std::ios::binary) << get_file(*node, "/out.avro");
    avro_file_reader_t reader = nullptr;
    ASSERT_EQ(avro_file_reader(path.c_str(), &reader), 0) << avro_strerror();
    avro_schema_t schema = avro_file_reader_get_writer_schema(reader);
    avro_value_iface_t* const type = avro_generic_class_from_schema(schema);
    std::vector<Written> read;
    avro_value_t value;
    avro_generic_value_new(type, &value);
    for (; avro_file_reader_read_value(reader, &value) == 0; avro_value_reset(&value)) {
      Written each;
      avro_value_t field;
      const char* text = nullptr;
      std::size_t size = 0;
      const auto get = [&](const char* name) {
        ASSERT_EQ(avro_value_get_by_name(&value, name, &field, nullptr), 0);
      };
      get("id");
      avro_value_get_long(&field, &each.id);
      get("name");
      avro_value_get_string(&field, &text, &size);
      each.name = text;
      get("price");
      avro_value_get_double(&field, &each.price);
      get("size");
      int branch = 0;
      avro_value_get_discriminant(&field, &branch);
      if (branch == 1) {
        avro_value_t inside;
        avro_value_get_current_branch(&field, &inside);
        avro_value_get_int(&inside, &each.size.emplace());
      }
      get("words");
      avro_value_get_size(&field, &size);
      for (std::size_t i = 0; i < size; ++i) {
        avro_value_t word;
        avro_value_get_by_index(&field, i, &word, nullptr);
        std::size_t length = 0;
        avro_value_get_string(&word, &text, &length);
        each.words.push_back(text);
      }
      read.push_back(each);
    }
    EXPECT_TRUE(read == records) << read.size();
    avro_value_decref(&value);
    avro_value_iface_decref(type);
    avro_schema_decref(schema);
    avro_file_reader_close(reader);
  }
}
#endif

}  // namespace
}  // namespace hummer::formats::avro_decoder_test
