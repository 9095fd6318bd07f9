#include "platform/name_message.hpp"

#include <gtest/gtest.h>

#include "platform/name_configuration.hpp"

namespace hummer::name_message_test {
namespace {

const NameQuestion question{.id = 0x1234, .labels = labels_of("www.test"), .type = NameType::ipv4};

// An answer's head and question, and then `records`.
std::string message(std::uint8_t records_in_it, const std::string& records,
                    const std::string& flags = "\x81\x80") {
  std::string bytes = encode_question(question);
  bytes.replace(2, 2, flags);
  bytes[7] = static_cast<char>(records_in_it);
  return bytes + records;
}
std::string text(const char* bytes, std::size_t size) { return {bytes, size}; }
#define BYTES(literal) text(literal, sizeof(literal) - 1)

const std::string address_record =
    BYTES("\xc0\x0c\x00\x01\x00\x01\x00\x00\x00\x3c\x00\x04\x0a\x00\x00\x01");

TEST(NameMessage, NamesAreLabels) {
  EXPECT_EQ(labels_of("www.Example-1.org"), BYTES("\3www\11example-1\3org\0"));
  EXPECT_EQ(labels_of("a."), BYTES("\1a\0"));
  EXPECT_EQ(name_of(labels_of("_srv.a_b.test")), "_srv.a_b.test");
  for (const char* wrong : {"", ".", "a..b", ".a", "a b", "a/b", "\xc3\xa4", "a..", "*"}) {
    EXPECT_EQ(labels_of(wrong), "") << wrong;
  }
  EXPECT_EQ(labels_of(std::string(63, 'a') + ".b").size(), 67u);
  EXPECT_EQ(labels_of(std::string(64, 'a') + ".b"), "");
  std::string longest;
  for (int i = 0; i < 127; ++i) longest += "a.";
  EXPECT_EQ(labels_of(longest).size(), 255u);
  EXPECT_EQ(labels_of("b" + longest + "a"), "");
}

TEST(NameMessage, AnAnswerIsRead) {
  NameAnswer answer;
  ASSERT_EQ(read_answer(message(1, address_record), question, answer), AnswerReading::read);
  ASSERT_EQ(answer.addresses.size(), 1u);
  EXPECT_EQ(answer.addresses[0].to_string(), "10.0.0.1:0");
  EXPECT_EQ(answer.kept_s, 60u);
}

TEST(NameMessage, WhatIsCutAnywhereIsNoAnswer) {
  const std::string whole = message(1, address_record);
  NameAnswer answer;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    // Of its own length, so that a sanitizer sees what is read behind it.
    const std::string cut(whole.data(), size);
    EXPECT_NE(read_answer(cut, question, answer), AnswerReading::read) << size;
    EXPECT_TRUE(answer.addresses.empty());
  }
}

TEST(NameMessage, OtherNumbersQuestionsAndQuestionsThemselvesAreForeign) {
  NameAnswer answer;
  const auto reading = [&](std::string bytes) { return read_answer(bytes, question, answer); };
  std::string bytes = message(1, address_record);
  bytes[1] = '\x35';
  EXPECT_EQ(reading(bytes), AnswerReading::foreign);
  EXPECT_EQ(reading(message(1, address_record, BYTES("\x01\x80"))), AnswerReading::foreign);
  bytes = message(1, address_record);
  bytes[13] = 'x';
  EXPECT_EQ(reading(bytes), AnswerReading::foreign);
  bytes = message(1, address_record);
  bytes[5] = 0;
  EXPECT_EQ(reading(bytes), AnswerReading::foreign);
  bytes = message(1, address_record);
  bytes[23] = 28;
  EXPECT_EQ(reading(bytes), AnswerReading::foreign);
  bytes = message(1, address_record);
  bytes[13] = 'W';  // letters of either size are equal
  EXPECT_EQ(reading(bytes), AnswerReading::read);
}

TEST(NameMessage, PointersLeadBackwardsOnly) {
  NameAnswer answer;
  const std::string rest = address_record.substr(2);
  const auto reading = [&](const std::string& owner) {
    return read_answer(message(1, owner + rest), question, answer);
  };
  // The record begins at 26.
  EXPECT_EQ(reading(BYTES("\xc0\x1a")), AnswerReading::damaged);     // to itself
  EXPECT_EQ(reading(BYTES("\xc0\x40")), AnswerReading::damaged);     // forwards
  EXPECT_EQ(reading(BYTES("\xff\xff")), AnswerReading::damaged);     // out of it
  EXPECT_EQ(reading(BYTES("\1a\xc0\x1a")), AnswerReading::damaged);  // round in a circle
  EXPECT_EQ(reading(BYTES("\x80\x0c")), AnswerReading::damaged);     // no such label
  // To a name that is there, behind it.
  const std::string name_as_address = rest.substr(0, rest.size() - 4) + BYTES("\1a\0\0");
  EXPECT_EQ(read_answer(message(1, BYTES("\xc0\x26") + name_as_address), question, answer),
            AnswerReading::damaged);
  EXPECT_EQ(reading(BYTES("\3www\xc0\x10")), AnswerReading::read);
  EXPECT_EQ(answer.addresses.size(), 1u);
}

TEST(NameMessage, LengthsAreNotBelieved) {
  NameAnswer answer;
  const auto reading = [&](const std::string& records) {
    return read_answer(message(1, records), question, answer);
  };
  std::string record = address_record;
  record[11] = 5;
  EXPECT_EQ(reading(record + "x"), AnswerReading::damaged);
  record[3] = 16;  // another type, longer than what is there
  record[10] = '\xff';
  EXPECT_EQ(reading(record), AnswerReading::damaged);
  EXPECT_EQ(read_answer(message(255, address_record), question, answer), AnswerReading::damaged);
  // An alias that is shorter than its record says.
  EXPECT_EQ(reading(BYTES("\xc0\x0c\0\5\0\1\0\0\0\x3c\0\4\1a\0\0")), AnswerReading::damaged);
}

TEST(NameMessage, ConfigurationTakesWhatItKnows) {
  const NameConfiguration found = parse_name_configuration(
      "nameserver 10.0.0.1\nnameserver fe80::1%eth0\nnameserver 2001:db8::5\n"
      "nameserver\nnameserver x\nsearch a.test b.test\nsortlist 1\n"
      "options ndots:3 timeout:99 attempts:x rotate edns0",
      53);
  ASSERT_EQ(found.servers.size(), 2u);
  EXPECT_EQ(found.servers[1].to_string(), "[2001:db8::5]:53");
  EXPECT_EQ(found.search, (std::vector<std::string>{"a.test", "b.test"}));
  EXPECT_EQ(found.dots, 3u);
  EXPECT_EQ(found.timeout_ns, seconds(30));
  EXPECT_EQ(found.attempts, 2);
  EXPECT_TRUE(found.rotate);
  EXPECT_EQ(parse_name_configuration("", 53).servers[0].to_string(), "127.0.0.1:53");
}

}  // namespace
}  // namespace hummer::name_message_test
