// Patterns through whole jobs: groups to fields, the logs that everybody has, bad lines, splits.
#include <hummer/formats/pattern.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <optional>

#include <hummer/formats/csv.hpp>

#include "golden_for_test.hpp"
#include "job_files_for_test.hpp"

namespace hummer::formats::pattern_test {
namespace {

struct Lists {
  std::vector<int> level;
};
struct Structured {
  std::int32_t priority = 0;
  std::optional<std::int64_t> time;
  std::string app;
  std::optional<std::string> pid;
  std::optional<std::string> data;
  std::optional<std::string> message;
};

constexpr SideOutput<FailedRecord<std::string_view>> bad{"bad lines"};

struct Read {
  std::string status;
  std::string records;  // as CSV
  std::string failed;   // a line for each: bytes, what, why
};

template <typename T>
Read read(const std::string& text, const std::shared_ptr<const Format>& format,
          const FailurePolicy& policy = failures_to(bad), const FileSourceOptions& file = {},
          int parallelism = 1) {
  const auto machine = make_simulated_platform({.seed = 1});
  SimulatedPlatform& node = *machine;
  put_file(node, "/in/log", text);
  Read found;
  std::mutex mutex;
  const auto encoder = csv({.separator = '|'})->make_encoder(shape_of<T>());
  StreamExecutionEnvironment env(on(node, parallelism));
  const auto records = from_pattern<T>(env, "/in/log", format, file).on_failure(policy);
  records.for_each([&](const T& record) {
    const std::lock_guard lock(mutex);
    encoder->encode(&record, found.records);
  });
  if (policy.output.type != nullptr) {
    records.side_output(bad).for_each([&](const FailedRecord<std::string_view>& each) {
      const std::lock_guard lock(mutex);
      found.failed += std::string(each.record) + " <- " + each.reason + "\n";
    });
  }
  found.status = env.execute("read").status.to_string();
  return found;
}

struct Line {
  std::string_view level;
  std::int32_t took = 0;
  std::optional<double> load;
  std::string what;
};
const std::string lines_pattern =
    R"((?P<level>[A-Z]+) (?P<what>.*?) in (?P<took>-?\d+) ms(?: at (?P<load>\S+))?)";

TEST(Pattern, GroupsGoToTheFieldsOfTheirNames) {
  const Read found = read<Line>(
      "INFO read a file in 12 ms at 0.5\r\n"
      "\n"
      "WARN in the end in in -3 ms\n"
      "INFO \xff\xfe in 1 ms at -\n"
      "INFO x in 99999999999 ms\n"
      "info x in 1 ms\n"
      "INFO x in 1 ms at noon\n"
      "END  in 7 ms",
      pattern(lines_pattern, {.null_text = "-"}));
  EXPECT_EQ(found.records,
            "INFO|12|0.5|read a file\nWARN|-3||in the end in\nINFO|1||\xff\xfe\nEND|7||\n");
  EXPECT_EQ(
      found.failed,
      "INFO x in 99999999999 ms <- the group 'took': '99999999999' is not a whole number that "
      "it can hold\n"
      "info x in 1 ms <- 'info x in 1 ms' does not match the pattern\n"
      "INFO x in 1 ms at noon <- the group 'load': 'noon' is not a number that it can hold\n");
}

TEST(Pattern, ALineThatDoesNotMatchFailsTheJobAndNamesItsPlace) {
  const Read found =
      read<Line>("INFO x in 1 ms\nsomething else\n", pattern(lines_pattern), fail_job());
  EXPECT_NE(found.status.find("/in/log"), std::string::npos) << found.status;
  EXPECT_NE(found.status.find("line 2"), std::string::npos) << found.status;
  EXPECT_NE(found.status.find("'something else' does not match"), std::string::npos);
}

TEST(Pattern, SplitsAndBlocksOfAnySizeGiveTheSameRecords) {
  std::string text;
  for (int i = 0; i < 200; ++i)
    text += "INFO " + std::string(i % 7, 'x') + " in " + std::to_string(i) + " ms\n";
  const Read whole = read<Line>(text, pattern(lines_pattern));
  EXPECT_EQ(std::count(whole.records.begin(), whole.records.end(), '\n'), 200);
  for (const std::size_t size : {1, 30, 1000}) {
    const Read cut = read<Line>(text, pattern(lines_pattern), failures_to(bad),
                                {.split_size_bytes = size, .block_size_bytes = size});
    EXPECT_EQ(cut.records, whole.records) << size;
  }
}

TEST(Pattern, IsRefusedBeforeTheJobBegins) {
  const auto refused = [](const Read& found, const std::string& why) {
    EXPECT_NE(found.status.find(why), std::string::npos) << found.status;
  };
  refused(read<Line>("", pattern("(?P<level>")), "the pattern can't be read: missing )");
  refused(read<Line>("", pattern("(?P<level>.)(?P<took>.)")), "no group 'what'");
  refused(read<Line>("", pattern(".*")), "there are: none");
  const auto machine = make_simulated_platform({.seed = 1});
  StreamExecutionEnvironment env(on(*machine));
  const auto text = env.from_collection(std::vector<std::string>{"x"});
  (void)encode(from_pattern<Line>(env, "/in", pattern(lines_pattern)), pattern(lines_pattern));
  EXPECT_NE(env.execute("w").status.message().find("a pattern is read, and not written"),
            std::string::npos);
  EXPECT_FALSE(pattern("(?P<level>.)")->check(shape_of<Lists>()).ok());
}

struct Hit {
  std::string_view host;
  std::optional<std::string_view> user;
  std::int64_t time = 0;
  std::optional<std::string_view> method;
  std::string request;
  std::uint16_t status = 0;
  std::optional<std::int64_t> size;
};
struct Agent {
  std::string time;
  std::optional<std::string> path;
  std::optional<std::string> referer;
  std::string agent;
};

TEST(Pattern, WebServersLogsAreRead) {
  const std::string log =
      "127.0.0.1 - frank [10/Oct/2000:13:55:36 -0700] \"GET /apache_pb.gif HTTP/1.0\" 200 2326 "
      "\"http://www.example.com/start.html\" \"Mozilla/4.08 [en] (Win98; I ;Nav)\"\n"
      "::1 - - [26/Nov/2026:11:20:05 +0000] \"\\x16\\x03\\x01 \\\"\" 400 - \"-\" \"a \\\"b\\\"\"\n";
  EXPECT_EQ(read<Agent>(log, combined_log()).records,
            "10/Oct/2000:13:55:36 -0700|/apache_pb.gif|http://www.example.com/start.html|"
            "Mozilla/4.08 [en] (Win98; I ;Nav)\n"
            "26/Nov/2026:11:20:05 +0000|||\"a \\\"\"b\\\"\"\"\n");
  // The same without the fields that the combined form has more.
  std::string common;
  for (const char* const ends : {" \"http", " \"-\""}) {
    const std::size_t end = log.find(ends);
    const std::size_t begin = log.rfind('\n', end);
    common += log.substr(begin + 1, end - begin - 1) + "\n";
  }
  const Read found = read<Hit>(common, common_log());
  EXPECT_EQ(found.records,
            "127.0.0.1|frank|971211336000|GET|GET /apache_pb.gif HTTP/1.0|200|2326\n"
            "::1||1795692005000||\"\\x16\\x03\\x01 \\\"\"\"|400|\n")
      << found.failed;
}

struct Event {
  std::optional<std::int32_t> priority;
  std::int64_t time = 0;
  std::string_view host;
  std::optional<std::string_view> tag;
  std::optional<std::uint32_t> pid;
  std::string_view message;
};

TEST(Pattern, SystemLogsAreRead) {
  const Read old = read<Event>(
      "<34>Oct 11 22:14:15 mymachine su: 'su root' failed for lonvick on /dev/pts/8\n"
      "Nov  6 01:02:03 host sshd[812]: Accepted [x]: y\n"
      "Nov  6 01:02:03 host -- MARK --\n",
      syslog_rfc3164(2026));
  EXPECT_EQ(old.records,
            "34|1791756855000|mymachine|su||'su root' failed for lonvick on /dev/pts/8\n"
            "|1793926923000|host|sshd|812|Accepted [x]: y\n"
            "|1793926923000|host|||-- MARK --\n")
      << old.failed;
  EXPECT_NE(read<Event>("", syslog_rfc3164()).status.find("has no year"), std::string::npos);

  const Read found = read<Structured>(
      "<165>1 2003-10-11T22:14:15.003Z host evntslog - ID47 [ex@3 iut=\"3\" a=\"q\\\"\\]\"][x "
      "y=\"z\"] "
      "An event\n"
      "<34>1 2003-08-24T05:14:15.000003-07:00 192.0.2.1 myproc 8710 - - %% It's time\n"
      "<0>1 - - x - - -\n"
      "<165>1 2003-10-11T22:14:15.003Z host app - ID47 [ex iut=3] An event\n",
      syslog_rfc5424());
  EXPECT_EQ(found.records,
            "165|1065910455003|evntslog||\"[ex@3 iut=\"\"3\"\" a=\"\"q\\\"\"\\]\"\"][x "
            "y=\"\"z\"\"]\"|An event\n"
            "34|1061727255000|myproc|8710||%% It's time\n"
            "0||x|||\n")
      << found.failed;
  EXPECT_NE(found.failed.find("does not match the pattern"), std::string::npos);
}

// Of util-linux's logger (formats/golden/make_logs.py).
TEST(GoldenLogs, OfLoggerAreReadInBothForms) {
  const auto read_golden = [](const std::string& name,
                              const std::shared_ptr<const Format>& format) {
    std::vector<std::string> lines;
    EnvironmentOptions options;
    options.parallelism = 1;
    StreamExecutionEnvironment env(options);
    from_pattern<Event>(env, golden_path(name), format).for_each([&](const Event& event) {
      lines.push_back(std::to_string(event.priority.value_or(-1)) + " " +
                      std::to_string(event.time / 1000) + " " + std::string(event.host) + " " +
                      std::string(event.tag.value_or("-")) + " " +
                      std::to_string(event.pid.value_or(0)) + " " + std::string(event.message));
    });
    const JobResult result = env.execute("golden");
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    return lines;
  };
  const auto old = read_golden("syslog_rfc3164.log", syslog_rfc3164(2026));
  ASSERT_EQ(old.size(), 24u);
  EXPECT_EQ(old[1], "155 1795694472 vm app1 2 a [bracket] and: a colon");
  EXPECT_EQ(old[3], "155 1795694472 vm app0 0 <34> looks like a priority");
  const auto structured = read_golden("syslog_rfc5424.log", syslog_rfc5424());
  ASSERT_EQ(structured.size(), 24u);
  EXPECT_EQ(structured[1], "155 1795694472 vm - 2 a [bracket] and: a colon");
  EXPECT_EQ(structured[4], "14 1795694472 vm - 0 ümlaut");
}

}  // namespace
}  // namespace hummer::formats::pattern_test
