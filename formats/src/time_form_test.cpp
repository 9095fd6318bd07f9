#include "time_form.hpp"

#include <gtest/gtest.h>

#include <hummer/formats/csv.hpp>
#ifdef HUMMER_WITH_JSON
#include <hummer/formats/json.hpp>
#endif

#include "job_files_for_test.hpp"

namespace hummer::formats::time_form_test {
namespace {

struct Short {
  std::int32_t time = 0;
};

std::string parsed(const TimeField& field, std::string_view text) {
  const Result<TimeForm> form = TimeForm::of(field);
  if (!form.ok()) return form.status().message();
  std::int64_t milliseconds = 0;
  return form->parse(text, milliseconds) ? std::to_string(milliseconds) : "no";
}

// What they come to is from GNU date: date -u -d TIME +%s%3N.
TEST(TimeForm, ReadsWhatLogsAndInterfacesWrite) {
  const TimeField clf{"time", "%d/%b/%Y:%H:%M:%S %z"};
  EXPECT_EQ(parsed(clf, "10/Oct/2000:13:55:36 -0700"), "971211336000");
  EXPECT_EQ(parsed(clf, "10/Oct/2000:13:55:36 +00:00"), "971186136000");
  const TimeField rfc3339{"time", "rfc3339"};
  EXPECT_EQ(parsed(rfc3339, "1985-04-12T23:20:50.52Z"), "482196050520");
  EXPECT_EQ(parsed(rfc3339, "1996-12-19t16:39:57-08:00"), "851042397000");
  EXPECT_EQ(parsed(rfc3339, "1990-12-31 23:59:60Z"), "662688000000");
  EXPECT_EQ(parsed(rfc3339, "1969-12-31T23:59:59.9999Z"), "-1");
  EXPECT_EQ(parsed(rfc3339, "0001-01-01T00:00:00Z"), "-62135596800000");
  EXPECT_EQ(parsed(rfc3339, "9999-12-31T23:59:59Z"), "253402300799000");
  EXPECT_EQ(parsed(rfc3339, "2000-02-29T00:00:00Z"), "951782400000");
  EXPECT_EQ(parsed({"time", "rfc3164", 2026}, "Nov 26 11:20:05"), "1795692005000");
  EXPECT_EQ(parsed({"time", "rfc3164", 2026, 60}, "Nov  6 11:20:05"), "1793960405000");
  EXPECT_EQ(parsed({"time", "%d.%m.%Y 100%%"}, "26.11.2026 100%"), "1795651200000");
}

TEST(TimeForm, RefusesWhatIsNoTime) {
  const TimeField rfc3339{"time", "rfc3339"};
  for (const std::string text :
       {"", "2026", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z", "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z", "2026-01-32T00:00:00Z", "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z", "2026-01-01T00:00:61Z", "2026-01-01T00:00:00",
        "2026-01-01T00:00:00.Z", "2026-01-01T00:00:00+24:00", "2026-01-01T00:00:00Zx",
        "2026-01-01x00:00:00Z", "+026-01-01T00:00:00Z"}) {
    EXPECT_EQ(parsed(rfc3339, text), "no") << text;
  }
  EXPECT_EQ(parsed({"time", "%b %d", 2026}, "nov 26"), "no");
}

TEST(TimeForm, RefusesFormsThatDoNotSayADay) {
  EXPECT_NE(parsed({"time", "%H:%M"}, "").find("says no month or no day"), std::string::npos);
  EXPECT_NE(parsed({"time", "rfc3164"}, "").find("has no year"), std::string::npos);
  EXPECT_NE(parsed({"time", "rfc3339", 2026}, "").find("has a year"), std::string::npos);
  EXPECT_NE(parsed({"time", "%Y-%m-%d %Y"}, "").find("'%Y' twice"), std::string::npos);
  EXPECT_NE(parsed({"time", "%Y-%m-%e %b"}, "").find("'%b' twice"), std::string::npos);
  EXPECT_NE(parsed({"time", "%q"}, "").find("has '%q'"), std::string::npos);
  EXPECT_NE(parsed({"time", "%m %d %"}, "").find("use %Y"), std::string::npos);
  EXPECT_NE(parsed({"time", "rfc3339", 0, 60}, "").find("has an offset"), std::string::npos);
}

TEST(TimeForm, WhatIsWrittenIsReadAgain) {
  for (const TimeField& field :
       {TimeField{"time", "rfc3339"}, TimeField{"time", "%e %b %Y, %H:%M:%S%f %z"},
        TimeField{"time", "%Y/%m/%d %H.%M.%S%f", 0, -330}}) {
    const Result<TimeForm> form = TimeForm::of(field);
    ASSERT_TRUE(form.ok());
    for (const std::int64_t time :
         {std::int64_t{0}, std::int64_t{-1}, std::int64_t{951'782'400'001},
          std::int64_t{-62'135'000'000'000}, 253'402'200'799'000}) {
      std::string text;
      form->append(time, text);
      EXPECT_EQ(parsed(field, text), std::to_string(time)) << text;
    }
  }
}

struct Event {
  std::int64_t time = 0;
  std::optional<std::int64_t> until;
  std::string what;
};

template <typename Format>
std::string copied(const std::string& text, const Format& format) {
  const auto machine = make_simulated_platform({.seed = 1});
  SimulatedPlatform& node = *machine;
  put_file(node, "/in/events", text);
  StreamExecutionEnvironment env(on(node));
  write(decode<Event>(env.from_file("/in/events", FileSourceOptions{.repeat_first_line = true}),
                      format)
            .map([](Event event) {
              event.time += 1;
              return event;
            }),
        "/out", format);
  const JobResult result = env.execute("copy");
  return result.ok() ? get_file(node, "/out") : result.status.to_string();
}

TEST(Times, OfCsvAreNumbersInTheRecordAndTextInTheFile) {
  const TimeFields times{{"time", "rfc3339"}, {"until", "%Y-%m-%d"}};
  EXPECT_EQ(
      copied("what,until,time\nx,2026-11-27,2026-11-26T11:20:05+01:00\ny,,1970-01-01 00:00:00Z\n",
             csv({.times = times})),
      "time,until,what\n2026-11-26T10:20:05.001Z,2026-11-27,x\n1970-01-01T00:00:00.001Z,,y\n");
  const std::string bad = copied("what,until,time\nx,,26.11.\n", csv({.times = times}));
  EXPECT_NE(bad.find("column 'time': '26.11.' is not a time of the form"), std::string::npos)
      << bad;
}

TEST(Times, AreRefusedOfFieldsThatAreNoNumbersOfMilliseconds) {
  const std::string absent = copied("", csv({.times = {{"when", "rfc3339"}}}));
  EXPECT_NE(absent.find("'when', which is no field of the record"), std::string::npos) << absent;
  EXPECT_FALSE(BoundTimes::check(shape_of<Short>(), {{"time", "rfc3339"}}).ok());
}

#ifdef HUMMER_WITH_JSON
TEST(Times, OfJsonAreTextsOfTheObject) {
  const TimeFields times{{"time", "rfc3339"}, {"until", "%Y-%m-%d"}};
  // Of the second one the key, of the third one the time has an escape.
  EXPECT_EQ(
      copied("{\"time\":\"2026-11-26T11:20:05Z\",\"until\":null,\"what\":\"x\"}\n"
             "{\"t\\u0069me\":\"1970-01-01T00:00:00Z\",\"until\":\"1970-01-02\",\"what\":\"y\"}\n"
             "{\"time\":\"1970-01-01T00\\u003a00:00Z\",\"what\":\"z\"}\n",
             json({.times = times})),
      "{\"time\":\"2026-11-26T11:20:05.001Z\",\"what\":\"x\"}\n"
      "{\"time\":\"1970-01-01T00:00:00.001Z\",\"until\":\"1970-01-02\",\"what\":\"y\"}\n"
      "{\"time\":\"1970-01-01T00:00:00.001Z\",\"what\":\"z\"}\n");
  for (const std::string time : {"5", "\"5\"", "null", "{}"}) {
    const std::string bad =
        copied("{\"time\":" + time + ",\"what\":\"x\"}\n", json({.times = times}));
    EXPECT_NE(bad.find("'time' is not a time of the form"), std::string::npos) << time << bad;
  }
}
#endif

}  // namespace
}  // namespace hummer::formats::time_form_test
