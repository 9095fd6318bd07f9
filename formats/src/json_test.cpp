// JSON lines through whole jobs: nested records, optionals, lists, policies, bad lines, splits.
#include <hummer/formats/json.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <optional>

#include <hummer/hummer.hpp>

#include "job_files_for_test.hpp"

namespace hummer::formats::json_test {
namespace {

enum class Side : std::uint8_t { buy = 1, sell = 2 };
struct Leg {
  std::string venue;
  std::int32_t size = 0;
  friend bool operator==(const Leg&, const Leg&) = default;
};
struct Order {
  std::uint64_t id = 0;
  std::string symbol;
  double price = 0;
  bool firm = false;
  Side side = Side::buy;
  std::optional<std::string> note;
  Leg first;
  std::vector<Leg> legs;
  std::vector<std::optional<std::int8_t>> marks;
  std::optional<Leg> last;
  friend bool operator==(const Order&, const Order&) = default;
};
struct Small {
  std::string_view name;
  std::int16_t size = 7;
  std::optional<std::string_view> note;
};

constexpr SideOutput<FailedRecord<std::string_view>> bad{"bad lines"};

struct Outcome {
  JobResult result;
  std::vector<std::string> records;  // "name:size:note"
  std::vector<std::string> failed;
};

Outcome read(EnvironmentOptions environment, const std::string& path,
             const JsonOptions& options = {}, const FileSourceOptions& file = {},
             const FailurePolicy& policy = fail_job()) {
  Outcome outcome;
  std::mutex mutex;
  StreamExecutionEnvironment env(std::move(environment));
  const auto records = from_json<Small>(env, path, options, file).on_failure(policy);
  records.for_each([&](const Small& small) {
    const std::lock_guard lock(mutex);
    outcome.records.push_back(std::string(small.name) + ":" + std::to_string(small.size) + ":" +
                              std::string(small.note.value_or("-")));
  });
  if (policy.put != nullptr) {
    records.side_output(bad).for_each([&](const FailedRecord<std::string_view>& failed) {
      const std::lock_guard lock(mutex);
      outcome.failed.push_back(failed.position + ": " + failed.reason);
    });
  }
  outcome.result = env.execute("read");
  return outcome;
}

class Json : public testing::Test {
 protected:
  std::vector<std::string> read_text(const std::string& text, const JsonOptions& options = {}) {
    put_file(*node_, "/in/a.jsonl", text);
    const Outcome outcome = read(on(*node_), "/in/a.jsonl", options);
    EXPECT_TRUE(outcome.result.ok()) << outcome.result.status.to_string();
    return outcome.records;
  }
  std::string failure_of(const std::string& text, const JsonOptions& options = {}) {
    put_file(*node_, "/in/a.jsonl", text);
    const Outcome outcome = read(on(*node_), "/in/a.jsonl", options);
    EXPECT_FALSE(outcome.result.ok()) << text;
    return outcome.result.status.to_string();
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = 1});
};

using Lines = std::vector<std::string>;

TEST_F(Json, MembersAreFoundByNameInAnyOrder) {
  EXPECT_EQ(read_text("{\"name\":\"a\",\"size\":1}\n"
                      " {\"note\": null, \"size\" : -2, \"more\": [1, {\"x\": \"]\"}], "
                      "\"name\":\"b\\\"\\u00e4\\n\"} \r\n\n"
                      "{\"na\\u006de\":\"c\",\"note\":\"n\",\"size\":3}"),
            (Lines{"a:1:-", "b\"\xc3\xa4\n:-2:-", "c:3:n"}));
}

TEST_F(Json, WhatIsMissingOrUnknownIsUpToTheOptions) {
  EXPECT_EQ(read_text("{\"name\":\"a\"}\n{\"size\":1}\n", {.refuse_missing_fields = false}),
            (Lines{"a:7:-", ":1:-"}));
  EXPECT_NE(failure_of("{\"name\":\"a\"}\n").find("the object has no 'size'"), std::string::npos);
  EXPECT_NE(failure_of("{\"name\":\"a\",\"size\":1,\"x\":2}\n", {.refuse_unknown_fields = true})
                .find("'x' is no field of"),
            std::string::npos);
  EXPECT_EQ(read_text("{\"name\":\"a\",\"size\":1,\"size\":2}\n"), (Lines{"a:2:-"}));
}

TEST_F(Json, ABadLineFailsTheJobWithItsPlaceAndReason) {
  const auto reason = [&](const std::string& line) {
    return failure_of("{\"name\":\"a\",\"size\":1}\n" + line);
  };
  EXPECT_NE(reason("{\"name\":1,\"size\":1}").find("/in/a.jsonl, line 2 (byte 22)"),
            std::string::npos)
      << reason("{\"name\":1,\"size\":1}");
  EXPECT_NE(reason("{\"name\":1,\"size\":1}").find("'name' is not text"), std::string::npos);
  EXPECT_NE(reason("{\"name\":\"a\",\"size\":70000}").find("'size' is not a whole number that it"),
            std::string::npos);
  EXPECT_NE(reason("{\"name\":\"a\",\"size\":1.0}").find("'size' is not a whole number"),
            std::string::npos);
  EXPECT_NE(reason("[1]").find("the line is no object"), std::string::npos);
  EXPECT_NE(reason("{\"name\":\"a\",\"size\":1}{}").find("ends before its line does"),
            std::string::npos);
  EXPECT_NE(reason("{\"name\":\"a\",\"size\":1").find("no JSON"), std::string::npos)
      << reason("{\"name\":\"a\",\"size\":1");
  EXPECT_NE(reason("{\"name\":\"\xff\",\"size\":1}").find("no JSON"), std::string::npos);
  EXPECT_NE(reason("nonsense").find("the line is no object"), std::string::npos);
}

TEST_F(Json, NumbersAreThoseOfJson) {
  struct Number {
    double real = 0;
    std::int64_t whole = 0;
  };
  const auto read = [&](const std::string& real, const std::string& whole) {
    // Behind a line, so that there is something to be read ahead of the number.
    put_file(*node_, "/in/n.jsonl",
             "{\"real\":0,\"whole\":0}\n{\"real\":" + real + ",\"whole\": " + whole +
                 " }\n{\"real\":0,\"whole\":0}\n");
    std::vector<Number> numbers;
    StreamExecutionEnvironment env(on(*node_));
    from_json<Number>(env, "/in/n.jsonl")
        .on_failure(skip_failures())
        .for_each([&](const Number& number) { numbers.push_back(number); });
    EXPECT_TRUE(env.execute("numbers").ok());
    return numbers.size() == 3 ? std::optional(numbers[1]) : std::nullopt;
  };
  for (const std::string real :
       {"0", "-0.0", "0.5", "1.25", "-12345.678", "1e5", "1.5E-3", "0e1", "12345678901234567890",
        "0.1234567890123456789", "9007199254740993", "1e308"}) {
    const auto number = read(real, "7");
    ASSERT_TRUE(number) << real;
    EXPECT_EQ(number->real, std::stod(real)) << real;
    EXPECT_EQ(std::signbit(number->real), real.starts_with('-')) << real;
  }
  for (const std::string whole : {"0", "-0", "7", "-12345678", "1234567890123456789",
                                  "9223372036854775807", "-9223372036854775808"}) {
    const auto number = read("1", whole);
    ASSERT_TRUE(number) << whole;
    EXPECT_EQ(number->whole, std::stoll(whole)) << whole;
  }
  for (const std::string bad_real :
       {"01", ".5", "5.", "1.e5", "-", "-.5", "+1", "0x1", "1..2", "--1", "nan", "00.5", "1e999"}) {
    EXPECT_FALSE(read(bad_real, "7")) << bad_real;
  }
  for (const std::string bad_whole :
       {"01", "-01", "1.0", "1e2", "9223372036854775808", "--1", "-", "1-", "+1"}) {
    EXPECT_FALSE(read("1", bad_whole)) << bad_whole;
  }
}

TEST_F(Json, BadLinesAreSkippedOrGoToASideOutput) {
  put_file(*node_, "/in/a.jsonl",
           "{\"name\":\"a\",\"size\":1}\n{\n\n{\"name\":\"b\",\"size\":2}\nx\n"
           "{\"name\":\"c\",\"size\":\"3\"}\n{\"name\":\"d\",\"size\":4}\n{\"name\":\"e");
  for (const std::uint32_t batch : {1u, 2u, 1024u}) {
    const Outcome skipped = read(on(*node_, 1, batch), "/in/a.jsonl", {}, {}, skip_failures());
    ASSERT_TRUE(skipped.result.ok()) << skipped.result.status.to_string();
    EXPECT_EQ(skipped.records, (Lines{"a:1:-", "b:2:-", "d:4:-"}));
    const Outcome aside = read(on(*node_, 1, batch), "/in/a.jsonl", {}, {}, failures_to(bad));
    EXPECT_EQ(aside.records, skipped.records);
    ASSERT_EQ(aside.failed.size(), 4u);
    EXPECT_TRUE(aside.failed[2].starts_with("/in/a.jsonl, line 6 (byte 49): 'size' is not"))
        << aside.failed[2];
  }
}

TEST_F(Json, SplitsAndBlocksAtEveryByteGiveTheSameRecords) {
  const std::string text =
      "{\"name\":\"a\",\"size\":1}\n\n  {\"size\":2,\"name\":\"b\\n\",\"note\":\"n\"}\r\n"
      "{\"name\":\"\",\"size\":3,\"other\":{\"a\":[{}]}}\n{\"name\":\"last\",\"size\":4}";
  Lines expected = read_text(text);
  ASSERT_EQ(expected.size(), 4u);
  std::sort(expected.begin(), expected.end());
  for (std::size_t split = 1; split <= text.size(); ++split) {
    for (const std::size_t block : {std::size_t{1}, split, std::size_t{1000}}) {
      Outcome outcome = read(on(*node_, split % 3 + 1, split % 4 + 1), "/in/a.jsonl", {},
                             {.split_size_bytes = split, .block_size_bytes = block});
      ASSERT_TRUE(outcome.result.ok()) << outcome.result.status.to_string();
      std::sort(outcome.records.begin(), outcome.records.end());
      ASSERT_EQ(outcome.records, expected) << "split " << split << " block " << block;
    }
  }
}

std::vector<Order> orders() {
  Order full{.id = std::numeric_limits<std::uint64_t>::max(),
             .symbol = "quote \" slash \\ tab \t line \n bell \a umlaut \xc3\xa4",
             .price = 0.1 + 0.2,
             .firm = true,
             .side = Side::sell,
             .note = "",
             .first = {"X", -1},
             .legs = {{"Y", 2}, {"", 3}},
             .marks = {std::int8_t{1}, std::nullopt, std::int8_t{-128}},
             .last = Leg{"Z", 4}};
  Order low;
  low.price = -1e300;
  Order one;
  one.legs.resize(1);
  return {full, Order{}, low, one};
}

// What is written is read again as it was: from records to a file to records.
TEST_F(Json, WhatIsWrittenIsReadAgain) {
  {
    StreamExecutionEnvironment env(on(*node_));
    write_json(env.from_collection(orders()), "/out/orders.jsonl");
    ASSERT_TRUE(env.execute("write").ok());
  }
  std::vector<Order> read;
  StreamExecutionEnvironment env(on(*node_));
  from_json<Order>(env, "/out/orders.jsonl").for_each([&](const Order& order) {
    read.push_back(order);
  });
  const JobResult result = env.execute("read");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(read, orders()) << get_file(*node_, "/out/orders.jsonl");
}

TEST_F(Json, MessagesAreRecordsByThemselves) {
  StreamExecutionEnvironment env(on(*node_));
  const DataStream<std::string_view> messages = env.from_collection(
      std::vector<std::string>{"{\"name\":\"a\",\"size\":1}",
                               "{\"name\":", "{\"size\":2,\"name\":\"b\",\"note\":\"x\\ty\"}"});
  const auto records = decode<Small>(messages, json()).on_failure(skip_failures());
  encode_messages(records, json()).write_file("/out");
  const JobResult result = env.execute("messages");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(get_file(*node_, "/out"),
            "{\"name\":\"a\",\"size\":1}\n{\"name\":\"b\",\"size\":2,\"note\":\"x\\ty\"}\n");
}

}  // namespace
}  // namespace hummer::formats::json_test
