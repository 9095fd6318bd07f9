#include "observability/process_log.hpp"

#include <gtest/gtest.h>

#include "platform/simulation.hpp"

namespace hummer::process_log_test {
namespace {

TEST(LogLevels, OneForAllAndOthersForSingleRooms) {
  const LogLevels levels = *LogLevels::parse("net=debug,warning,cli=error");
  EXPECT_TRUE(levels.wants(LogModule::net, LogLevel::debug));
  EXPECT_TRUE(levels.wants(LogModule::cluster, LogLevel::warning));
  EXPECT_FALSE(levels.wants(LogModule::cluster, LogLevel::info));
  EXPECT_TRUE(levels.wants(LogModule::cli, LogLevel::error));
  EXPECT_FALSE(levels.wants(LogModule::cli, LogLevel::warning));
}

TEST(LogLevels, WhatIsWrongIsNamed) {
  for (const auto& [text, part] :
       {std::pair("loud", "'loud' is no log level"), std::pair("", "'' is no log level"),
        std::pair("info,", "'' is no log level"), std::pair("nte=info", "no module 'nte'"),
        std::pair("net=", "'' is no log level")}) {
    const Result<LogLevels> parsed = LogLevels::parse(text);
    ASSERT_FALSE(parsed.ok()) << text;
    EXPECT_NE(parsed.status().message().find(part), std::string::npos) << parsed.status().message();
  }
}

LogLine line_about(std::string text) {
  LogLine line;
  line.wall_time_ms = 1'700'000'000'123;
  line.level = LogLevel::warning;
  line.module = LogModule::cluster;
  line.job = 7;
  line.attempt = 2;
  line.task = "count[1]";
  line.text = std::move(text);
  return line;
}

TEST(LogLine, TextAndJsonSayTheSame) {
  EXPECT_EQ(format_log_line(line_about("lost"), "jobmanager", LogFormat::text),
            "2023-11-14 22:13:20.123 warning cluster jobmanager job=7 attempt=2 task=count[1]: "
            "lost\n");
  EXPECT_EQ(format_log_line(line_about("lost"), "jobmanager", LogFormat::json),
            R"({"time":"2023-11-14T22:13:20.123Z","level":"warning","module":"cluster",)"
            R"("process":"jobmanager","job":7,"attempt":2,"task":"count[1]","message":"lost"})"
            "\n");
  LogLine bare;
  bare.wall_time_ms = 1'700'000'000'000;
  bare.text = "up";
  EXPECT_EQ(format_log_line(bare, "x", LogFormat::text),
            "2023-11-14 22:13:20.000 info cluster x: up\n");
}

TEST(LogLine, NothingInATextLooksLikeAnotherLineOrSteersATerminal) {
  const std::string hostile = "a\nb\r\x1b[2J\t\"\\ \xc3\xa4 \xff \xc2\x9b \xed\xa0\x80 \xe2\x82";
  const std::string text = format_log_line(line_about(hostile), "x", LogFormat::text);
  EXPECT_NE(text.find(": a\\nb\\u000d\\u001b[2J\\t\"\\ \xc3\xa4 \xef\xbf\xbd"), text.npos) << text;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    EXPECT_GE(static_cast<unsigned char>(text[i]), 0x20u);
  }
  EXPECT_EQ(text.find('\xff'), text.npos);
  EXPECT_EQ(text.find("\xc2\x9b"), text.npos);
  const std::string json = format_log_line(line_about(hostile), "x", LogFormat::json);
  EXPECT_NE(json.find(R"("message":"a\nb\u000d\u001b[2J\t\"\\ )"), json.npos) << json;
}

class ProcessLogTest : public testing::Test {
 protected:
  ProcessLogTest() : platform_(make_simulated_platform({})) {}
  std::unique_ptr<SimulatedPlatform> platform_;
};

TEST_F(ProcessLogTest, KeepsTheLastLinesByNumber) {
  ProcessLog log(*platform_, {.process = "p", .levels = {}, .kept_lines = 3});
  const Logger logger(&log, LogModule::net);
  logger.debug("not wanted");
  for (int i = 1; i <= 5; ++i) {
    logger.info("line " + std::to_string(i), {.job = i % 2 == 0 ? 8u : 9u});
  }
  LogLines page = log.read({});
  EXPECT_EQ(page.first, 3u);
  EXPECT_EQ(page.last, 5u);
  ASSERT_EQ(page.lines.size(), 3u);
  EXPECT_EQ(page.lines.front().text, "line 3");
  EXPECT_EQ(page.lines.front().number, 3u);
  EXPECT_EQ(page.lines.front().module, LogModule::net);

  page = log.read({.after = 4});
  ASSERT_EQ(page.lines.size(), 1u);
  EXPECT_EQ(page.lines.front().text, "line 5");
  EXPECT_TRUE(log.read({.after = 5}).lines.empty());
  EXPECT_TRUE(log.read({.after = UINT64_MAX - 1}).lines.empty());
  EXPECT_EQ(log.read({.job = 8}).lines.size(), 1u);
  EXPECT_TRUE(log.read({.level = LogLevel::warning}).lines.empty());
  EXPECT_EQ(log.written(LogLevel::info), 5u);
  EXPECT_EQ(log.written(LogLevel::debug), 0u);
}

TEST_F(ProcessLogTest, BytesAreBoundedToo) {
  ProcessLog log(*platform_, {.process = "p", .levels = {}, .kept_bytes = 10'000});
  const Logger logger(&log, LogModule::cli);
  for (int i = 0; i < 100; ++i) logger.error(std::string(1000, 'x'));
  EXPECT_LE(log.read({}).lines.size(), 10u);
  EXPECT_GE(log.read({}).lines.size(), 8u);
  logger.error(std::string(100'000, 'y'));
  for (const LogLine& line : log.read({}).lines) EXPECT_LT(line.text.size(), 17'000u);
}

TEST_F(ProcessLogTest, AFollowerMissesNothingOfALongLog) {
  ProcessLog log(*platform_, {.process = "p", .levels = {}});
  const Logger logger(&log, LogModule::cli);
  for (int i = 0; i < 300; ++i) logger.info(std::string(10'000, 'x'));
  std::size_t seen = 0;
  std::uint64_t after = 0;
  int pages = 0;
  for (LogLines page = log.read({}); !page.lines.empty(); page = log.read({.after = after})) {
    seen += page.lines.size();
    after = page.last;
    ++pages;
  }
  EXPECT_EQ(seen, 300u);
  EXPECT_GT(pages, 1);
}

}  // namespace
}  // namespace hummer::process_log_test
