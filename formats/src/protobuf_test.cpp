// Protobuf through whole jobs: files of its own library with and without descriptors, and what we
// write, read by that library; messages, policies, files that are damaged.
#include <hummer/formats/protobuf.hpp>

#include <gtest/gtest.h>

#include <fstream>
#include <optional>
#include <sstream>

#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <google/protobuf/dynamic_message.h>

#include <hummer/formats/avro.hpp>
#include <hummer/formats/infer.hpp>
#include <hummer/hummer.hpp>

#include "golden_for_test.hpp"
#include "inferred_everything_for_test.hpp"
#include "job_files_for_test.hpp"
#include "varint.hpp"

namespace hummer::formats::protobuf_test {
namespace {

using Lines = std::vector<std::string>;

struct Record {
  std::int64_t id = 0;
  std::string name;
  double price = 17;  // what is not there is 0 all the same
  std::int32_t size = 0;
  bool firm = true;
  std::optional<std::string> note;
  friend bool operator==(const Record&, const Record&) = default;
};
struct Part {
  std::string_view venue = "initial";
  std::vector<std::int64_t> lots;
};
struct Entry {
  std::string_view key;
  std::int32_t value = 9;
};
enum class Side : std::int8_t { hold = -1, buy, sell };
struct Everything {
  std::int32_t i32 = 0;
  std::int64_t i64 = 0;
  std::uint32_t u32 = 0;
  std::uint64_t u64 = 0;
  std::int32_t s32 = 0;
  std::int64_t s64 = 0;
  std::uint32_t f32 = 0;
  std::uint64_t f64 = 0;
  std::int8_t sf32 = 0;
  std::int64_t sf64 = 0;
  double real = 0;
  double wide = 0;
  bool flag = true;
  std::string text;
  std::string_view raw = "x";
  Side side = Side::sell;
  Part part;
  std::optional<Part> maybe;
  std::vector<Part> parts;
  std::vector<std::int32_t> packed;
  std::vector<std::int64_t> unpacked;
  std::vector<std::string_view> texts;
  std::vector<Entry> counts;
  std::optional<std::int32_t> number;
  std::optional<std::string_view> word;
  std::optional<Part> piece;
  std::optional<std::int32_t> zero;
  std::uint8_t small = 4;
};
enum class Level : std::uint8_t {};
struct Older {
  std::int32_t id = 0;
  std::int64_t size = 0;
  std::string_view name;
  double price = 0;
  bool firm = false;
  Level level = {};
  Level other = {};
  std::vector<std::int32_t> marks;
  std::vector<std::int32_t> packed;
};

Lines golden_lines(const std::string& name) {
  std::istringstream text(golden_text(name));
  Lines lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}
ProtobufOptions golden(const std::string& message) {
  return {.descriptor_file = golden_path("golden.desc"), .message = "golden." + message};
}

std::string joined(const auto& items, const auto& show) {
  std::string text;
  for (const auto& item : items) text += (&item == &items.front() ? "" : " ") + show(item);
  return text;
}
const auto number_text = [](auto number) { return std::to_string(number); };
std::string show_part(const Part& part) {
  return std::string(part.venue) + "[" + joined(part.lots, number_text) + "]";
}
std::string show(const Everything& e) {
  char reals[80];
  std::snprintf(reals, sizeof reals, "%.3f|%.3f|%d|", e.real, e.wide, e.flag ? 1 : 0);
  std::string raw;
  for (const char c : e.raw) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", static_cast<unsigned char>(c));
    raw += digits;
  }
  std::string text;
  const auto add = [&](const std::string& part) { text += part + "|"; };
  for (const std::int64_t each : {std::int64_t{e.i32}, e.i64, std::int64_t{e.u32}}) {
    add(std::to_string(each));
  }
  add(std::to_string(e.u64));
  add(std::to_string(e.s32));
  add(std::to_string(e.s64));
  add(std::to_string(e.f32));
  add(std::to_string(e.f64));
  add(std::to_string(e.sf32));
  add(std::to_string(e.sf64));
  text += reals;
  add(e.text);
  add(raw);
  add(std::to_string(static_cast<int>(e.side)));
  add(show_part(e.part));
  add(e.maybe ? show_part(*e.maybe) : "-");
  add(joined(e.parts, show_part));
  add(joined(e.packed, number_text));
  add(joined(e.unpacked, number_text));
  add(joined(e.texts, [](std::string_view each) { return std::string(each); }));
  add(joined(e.counts, [](const Entry& each) {
    return std::string(each.key) + "=" + std::to_string(each.value);
  }));
  add(e.number ? std::to_string(*e.number) : "-");
  add(e.word ? std::string(*e.word) : "-");
  add(e.piece ? show_part(*e.piece) : "-");
  add(e.zero ? std::to_string(*e.zero) : "-");
  return text + std::to_string(e.small);
}
std::string show(const Older& o) {
  char text[200];
  std::snprintf(text, sizeof text, "%d|%ld|%s|%.1f|%d|%d|%d|", o.id, static_cast<long>(o.size),
                std::string(o.name).c_str(), o.price, o.firm ? 1 : 0, static_cast<int>(o.level),
                static_cast<int>(o.other));
  return text + joined(o.marks, number_text) + "|" + joined(o.packed, number_text);
}

class Protobuf : public testing::Test {
 protected:
  template <typename T>
  Lines read(const std::string& path, const ProtobufOptions& options, std::uint32_t batch = 1024,
             const FileSourceOptions& file = {}) {
    Lines lines;
    StreamExecutionEnvironment env(on(*node_, 1, batch));
    from_protobuf<T>(env, path, options, file).for_each([&](const T& each) {
      lines.push_back(show(each));
    });
    result_ = env.execute("read");
    return lines;
  }
  template <typename T>
  std::string refusal_of(const ProtobufOptions& options) {
    StreamExecutionEnvironment env(on(*node_));
    from_protobuf<T>(env, "/in.pb", options).for_each([](const T&) {});
    return env.execute("refused").status.to_string();
  }
  std::string failure_of(const std::string& text) {
    put_file(*node_, "/in.pb", text);
    read<Older>("/in.pb", golden("Older"));
    EXPECT_FALSE(result_.ok());
    return result_.status.to_string();
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
  JobResult result_;
};

TEST_F(Protobuf, AnInferredStructHoldsWhatItsMessageHas) {
  const auto found = infer_protobuf(golden_text("golden.desc"), "golden.Everything", "Everything",
                                    "golden.desc", "in.pb");
  ASSERT_TRUE(found.ok()) << found.status().to_string();
  std::ifstream file(golden_path("../src/inferred_everything_for_test.hpp"));
  std::ostringstream header;
  header << file.rdbuf();
  std::string structs = std::move(header).str();
  structs.erase(0, structs.find("enum class"));
  structs.resize(structs.find("\n}  // namespace"));
  EXPECT_EQ(*found,
            "// By golden.Everything of golden.desc.\n"
            "// \"part.next\" is left out: it is a message within itself.\n" +
                structs +
                "// hummer::formats::from_protobuf<Everything>(env, \"in.pb\", {.descriptor_file = "
                "\"golden.desc\", .message = \"golden.Everything\"});\n");
  put_file(*node_, "/in.pb", golden_text("everything.pb"));
  StreamExecutionEnvironment env(on(*node_));
  write_protobuf(from_protobuf<inferred::Everything>(env, "/in.pb", golden("Everything")),
                 "/copy.pb", golden("Everything"));
  const JobResult copied = env.execute("copy");
  ASSERT_TRUE(copied.ok()) << copied.status.to_string();
  EXPECT_EQ(read<Everything>("/copy.pb", golden("Everything")), golden_lines("everything.txt"));
}

TEST_F(Protobuf, WhatNoStructCanSayIsLeftOutOfAnInferredOne) {
  const auto inferred_of = [](const char* descriptors, const char* message) {
    const auto found = infer_protobuf(golden_text(descriptors), message, "Record", "x.desc", "");
    return found.ok() ? *found : found.status().to_string();
  };
  EXPECT_EQ(inferred_of("golden.desc", "golden.Older"),
            "// By golden.Older of x.desc.\n"
            "// \"extra\" is left out: it is a group, which is not read.\n"
            "enum class Level : std::int32_t { HIGH = 3, LOW = 4 };\n"
            "struct Record {\n"
            "  std::int32_t id = 0;\n"
            "  std::int32_t size = 0;\n"
            "  std::string name;\n"
            "  double price = 0;\n"
            "  bool firm = false;\n"
            "  std::optional<Level> level;\n"
            "  Level other = {};\n"
            "  std::vector<std::int32_t> marks;\n"
            "  std::vector<std::int32_t> packed;\n"
            "};\n"
            "// hummer::formats::from_protobuf<Record>(env, path, {.descriptor_file = \"x.desc\", "
            ".message = \"golden.Older\"});\n");
  EXPECT_EQ(inferred_of("known.desc", "golden.Empty"),
            "E1000: the message golden.Empty has no field that a struct could have: \"flags\" is "
            "left out: a std::vector of bool is none of records");
  EXPECT_EQ(inferred_of("golden.desc", "golden.Old"),
            "E1000: the descriptors have no message 'golden.Old'; they have "
            "golden.Everything, golden.Older, golden.Older.Extra, golden.Part, golden.Record");
}

TEST_F(Protobuf, FilesOfItsOwnLibraryAreReadByADescriptor) {
  put_file(*node_, "/in.pb", golden_text("everything.pb"));
  const Lines expected = golden_lines("everything.txt");
  ASSERT_EQ(expected.size(), 60u);
  for (const std::uint32_t batch : {1u, 3u, 1024u}) {
    for (const std::size_t block : {1, 100, 1 << 16}) {
      const FileSourceOptions file{.split_size_bytes = 100, .block_size_bytes = block};
      EXPECT_EQ(read<Everything>("/in.pb", golden("Everything"), batch, file), expected);
      ASSERT_TRUE(result_.ok()) << result_.status.to_string();
    }
  }
}

TEST_F(Protobuf, WhatIsNotThereIsTheDefaultOfTheProtoFile) {
  put_file(*node_, "/in.pb", golden_text("older.pb"));
  EXPECT_EQ(read<Older>("/in.pb", golden("Older")), golden_lines("older.txt"));
  ASSERT_TRUE(result_.ok()) << result_.status.to_string();
}

TEST_F(Protobuf, TheRecordsAreThoseOfTheAvroFiles) {
  put_file(*node_, "/in.pb", golden_text("records.pb"));
  put_file(*node_, "/in.avro", golden_text("records_null.avro"));
  std::vector<Record> expected;
  std::vector<Record> records;
  StreamExecutionEnvironment env(on(*node_));
  from_avro<Record>(env, "/in.avro").for_each([&](const Record& each) {
    expected.push_back(each);
  });
  from_protobuf<Record>(env, "/in.pb", golden("Record")).for_each([&](const Record& each) {
    records.push_back(each);
  });
  const JobResult result = env.execute("both");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  ASSERT_EQ(records.size(), 400u);
  EXPECT_TRUE(records == expected);
}

// The library's own reading of what we have written, message by message.
TEST_F(Protobuf, WhatIsWrittenIsReadByItsOwnLibraryAndByUs) {
  put_file(*node_, "/in.pb", golden_text("everything.pb"));
  {
    StreamExecutionEnvironment env(on(*node_, 1, 7));
    write_protobuf(from_protobuf<Everything>(env, "/in.pb", golden("Everything")), "/out.pb",
                   golden("Everything"));
    const JobResult result = env.execute("copy");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
  }
  EXPECT_EQ(read<Everything>("/out.pb", golden("Everything")), golden_lines("everything.txt"));

  google::protobuf::FileDescriptorSet set;
  ASSERT_TRUE(set.ParseFromString(golden_text("golden.desc")));
  google::protobuf::DescriptorPool pool;
  for (const auto& file : set.file()) ASSERT_NE(pool.BuildFile(file), nullptr);
  google::protobuf::DynamicMessageFactory factory;
  const auto& prototype = *factory.GetPrototype(pool.FindMessageTypeByName("golden.Everything"));
  const auto parse = [&](const std::string& text) {
    Lines shown;
    for (const char* at = text.data(); at != text.data() + text.size();) {
      std::uint64_t size = 0;
      at = read_varint(at, text.data() + text.size(), size);
      const std::unique_ptr<google::protobuf::Message> message(prototype.New());
      EXPECT_TRUE(message->ParseFromArray(at, static_cast<int>(size)));
      // Recursive parts are more than our struct has.
      const auto* reflection = message->GetReflection();
      const auto* descriptor = message->GetDescriptor();
      const auto strip = [](google::protobuf::Message* part) {
        part->GetReflection()->ClearField(part, part->GetDescriptor()->FindFieldByName("next"));
      };
      for (const char* name : {"part", "maybe", "piece"}) {
        const auto* field = descriptor->FindFieldByName(name);
        // A struct is always there.
        if (std::string(name) == "part" || reflection->HasField(*message, field)) {
          strip(reflection->MutableMessage(message.get(), field));
        }
      }
      const auto* parts = descriptor->FindFieldByName("parts");
      for (int i = 0; i < reflection->FieldSize(*message, parts); ++i) {
        strip(reflection->MutableRepeatedMessage(message.get(), parts, i));
      }
      shown.push_back(message->DebugString());
      at += size;
    }
    return shown;
  };
  EXPECT_EQ(parse(get_file(*node_, "/out.pb")), parse(golden_text("everything.pb")));
}

TEST_F(Protobuf, WithoutADescriptorFieldsHaveTheirNumbers) {
  struct Plain {
    std::string_view name;
    std::int32_t size = 3;
    std::optional<bool> flag;
    std::vector<Entry> entries;
    std::vector<double> reals;
  };
  std::vector<Plain> records(2);
  records[0] = {"a", 0, false, {{"k", 0}, {"", 5}}, {1.5, -2}};
  records[1].size = -1;
  Lines read;
  StreamExecutionEnvironment env(on(*node_));
  const auto messages = encode_messages(env.from_collection(records), protobuf());
  messages.for_each([&](std::string_view message) { read.push_back(std::string(message)); });
  decode<Plain>(messages, protobuf()).for_each([&](const Plain& each) {
    read.push_back(std::string(each.name) + std::to_string(each.size) +
                   (each.flag ? std::to_string(*each.flag) : "-") +
                   joined(each.entries,
                          [](const Entry& entry) {
                            return std::string(entry.key) + std::to_string(entry.value);
                          }) +
                   joined(each.reals, number_text));
  });
  const JobResult result = env.execute("messages");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::sort(read.begin(), read.end());
  const std::string first(
      "\n\1a\x18\0\"\3\n\1k\"\2\x10\5*\x10\0\0\0\0\0\0\xf8\x3f\0\0\0\0\0\0\0\xc0", 32);
  const std::string second("\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\1", 11);
  Lines expected{first, second, "a00k0 51.500000 -2.000000", "-1-"};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(read, expected);
}

// By the rules: of a oneof the last one counts, a message that comes again goes on with what is
// there, numbers of a list come packed or by themselves, and of a number the last one counts.
TEST_F(Protobuf, WhatComesTwiceIsMergedByTheRules) {
  const auto shown = [&](const std::string& message) {
    put_file(*node_, "/in.pb", static_cast<char>(message.size()) + message);
    const Lines lines = read<Everything>("/in.pb", golden("Everything"));
    EXPECT_TRUE(result_.ok()) << result_.status.to_string();
    return lines.empty() ? "" : lines[0];
  };
  const std::string zeros = "0|0|0|0|0|0|0|0|0|0|0.000|0.000|0|||0|";
  const std::string number("\xc0\1\5", 3);
  const std::string word("\xca\1\1w", 4);
  const std::string piece("\xd2\1\3\n\1p", 6);
  EXPECT_EQ(shown(number + word), zeros + "[]|-||||||-|w|-|-|0");
  EXPECT_EQ(shown(word + piece + number), zeros + "[]|-||||||5|-|-|-|0");
  EXPECT_EQ(shown(number + piece), zeros + "[]|-||||||-|-|p[]|-|0");
  const std::string venue("\x92\1\3\n\1m", 6);
  const std::string lots("\x92\1\4\x12\2\1\2", 7);
  EXPECT_EQ(shown(venue + lots), zeros + "[]|m[1 2]||||||-|-|-|-|0");
  const std::string packed("\xa2\1\2\1\2\xa0\1\4\xa2\1\0", 11);
  EXPECT_EQ(shown(packed), zeros + "[]|-||-1 1 2||||-|-|-|-|0");
  EXPECT_EQ(shown("\x08\1\x08\2").substr(0, 4), "2|0|");
}

TEST_F(Protobuf, StructsThatDoNotFitAreRefusedByTheFieldsPath) {
  struct Missing {
    std::int32_t nowhere = 0;
  };
  struct Text {
    std::string_view id;
  };
  struct Group {
    std::vector<Missing> extra;
  };
  struct Choice {
    std::int32_t number = 0;
  };
  struct Inner {
    std::int32_t venue = 0;
  };
  struct Nested {
    std::vector<Inner> parts;
  };
  struct Single {
    Inner parts;
  };
  struct Lists {
    std::vector<std::vector<std::int32_t>> lists;
  };
  const auto has = [](const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos ? std::string() : text;
  };
  EXPECT_EQ(has(refusal_of<Missing>(golden("Older")), "'nowhere' is no field of the message"), "");
  EXPECT_EQ(has(refusal_of<Text>(golden("Older")), "'id' is of type int32"), "");
  EXPECT_EQ(has(refusal_of<Group>(golden("Older")), "'extra' is a group, which is not read"), "");
  EXPECT_EQ(has(refusal_of<Choice>(golden("Everything")), "'number' is a member of a oneof"), "");
  EXPECT_EQ(has(refusal_of<Nested>(golden("Everything")), "'parts.venue' is of type string"), "");
  EXPECT_EQ(has(refusal_of<Single>(golden("Everything")), "'parts' is repeated"), "");
  EXPECT_EQ(has(refusal_of<Lists>({}), "'lists' is a list in another"), "");
  EXPECT_EQ(has(refusal_of<Text>(golden("Nothing")), "golden.Nothing' is no message"), "");
  EXPECT_EQ(has(refusal_of<Text>({.descriptor_file = "/no/such", .message = "m"}), "'/no/such'"),
            "");
  EXPECT_EQ(has(refusal_of<Text>({.descriptor_file = golden_path("records.pb"), .message = "m"}),
                "records.pb': "),
            "");
}

TEST_F(Protobuf, BadMessagesAreSkippedAndThoseBehindAreRead) {
  const std::string good("\2\x08\7", 3);  // id 7
  const std::vector<std::pair<std::string, std::string>> bad{
      {std::string("\2\x10\1", 3), "'id': it is required, and missing"},
      {std::string("\4\x08\1\x1a\5", 5), "'name': the message ends inside of it"},
      {std::string("\5\x08\1\x1a\1\xff", 6), "'name': the string is no UTF-8"},
      {std::string("\3\x08\1\x08", 4), "'id': what stands there is no number"},
      {std::string("\3\x08\1\x66", 4), "a field is of no type that there is"},
      {std::string("\4\x08\1\x4b\x54", 5), "a group ends that did not begin"},
      {std::string("\4\x08\1\0\1", 5), "a field has the number 0"},
      {std::string("\5\x08\1\x30\xb0\x09", 6), "'level': the number does not fit"}};
  std::string text = good;
  for (const auto& [message, reason] : bad) {
    EXPECT_NE(failure_of(good + message + good).find("/in.pb, byte 3: " + reason),
              std::string::npos)
        << failure_of(good + message + good);
    text += message + good;
  }
  put_file(*node_, "/in.pb", text);
  for (const std::uint32_t batch : {1u, 1024u}) {
    std::size_t count = 0;
    std::size_t failed = 0;
    static constexpr SideOutput<FailedRecord<std::string_view>> aside{"bad messages"};
    StreamExecutionEnvironment env(on(*node_, 1, batch));
    const auto records =
        from_protobuf<Older>(env, "/in.pb", golden("Older")).on_failure(failures_to(aside));
    records.for_each([&](const Older& each) { count += each.id == 7 ? 1 : 0; });
    records.side_output(aside).for_each([&](const FailedRecord<std::string_view>& each) {
      EXPECT_EQ(each.record, bad[failed++].first.substr(1));
    });
    const JobResult result = env.execute("skip");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(count, bad.size() + 1);
    EXPECT_EQ(failed, bad.size());
  }
}

TEST_F(Protobuf, AFileThatIsCutOrHasNoLengthsFailsTheJob) {
  EXPECT_NE(failure_of(std::string("\2\x08\7\3\x08", 5)).find("byte 3: the file ends inside"),
            std::string::npos);
  EXPECT_NE(failure_of(std::string(12, '\xff')).find("no length of a message"), std::string::npos);
}

TEST_F(Protobuf, WhatTheMessageCantSayIsRefusedByName) {
  const auto failure = [&](const Everything& record) {
    StreamExecutionEnvironment env(on(*node_));
    write_protobuf(env.from_collection(std::vector<Everything>{record}), "/out.pb",
                   golden("Everything"));
    return env.execute("write").status.to_string();
  };
  Everything both;
  both.number = 1;
  both.word = "w";
  EXPECT_NE(failure(both).find("are of one oneof, and both are there"), std::string::npos)
      << failure(both);
  Everything text;
  text.text = "\xff";
  EXPECT_NE(failure(text).find("'text' is no UTF-8"), std::string::npos);
  struct Empty {
    std::optional<std::int32_t> id;
  };
  struct More {
    std::int32_t id = 0;
    std::optional<std::int32_t> nowhere;
  };
  const auto write = [&](const auto& records) {
    StreamExecutionEnvironment env(on(*node_));
    write_protobuf(env.from_collection(records), "/out.pb", golden("Older"));
    return env.execute("write").status.to_string();
  };
  EXPECT_NE(write(std::vector<Empty>(1)).find("'id' is required, and empty"), std::string::npos);
  EXPECT_NE(write(std::vector<More>(1)).find("no field for 'nowhere'"), std::string::npos);
  Everything real;
  real.real = 0.1;
  EXPECT_NE(failure(real).find("'real' is a number that float can't be"), std::string::npos);
  Everything wide;
  wide.unpacked = {1LL << 40};
  EXPECT_NE(failure(wide).find("'unpacked' is a number that int32 can't be"), std::string::npos);
}

}  // namespace
}  // namespace hummer::formats::protobuf_test
