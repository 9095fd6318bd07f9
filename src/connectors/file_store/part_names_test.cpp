#include "connectors/file_store/part_names.hpp"

#include <gtest/gtest.h>
#include <hummer/files.hpp>

namespace hummer::part_names_test {
namespace {

TEST(PartNames, ANameIsReadAsItWasWritten) {
  for (const char* suffix : {"", ".csv", ".csv.zst"}) {
    const std::string text = to_text(PartName{3, 12, 7, 2, 0xabcdef}, suffix);
    const auto parsed = parse_part(text);
    ASSERT_TRUE(parsed) << text;
    EXPECT_EQ(parsed->subtask, 3);
    EXPECT_EQ(parsed->epoch, 12u);
    EXPECT_EQ(parsed->number, 7u);
    EXPECT_EQ(parsed->attempt, 2u);
    EXPECT_EQ(parsed->sink, 0xabcdefu);
  }
  // Those of write_file, and of others.
  for (const char* name : {"part-00000-0000000001-00000000000000ab", "part-00000", "a.csv", "part-",
                           "part-00000-1-1-1-abx", "part--1-1-1-1-ab"}) {
    EXPECT_FALSE(parse_part(name)) << name;
  }
  const auto note = parse_note_name(to_text(NoteName{0xfe, 9}));
  ASSERT_TRUE(note);
  EXPECT_EQ(note->sink, 0xfeu);
  EXPECT_EQ(note->subtask, 9);
}

TEST(PartNames, ANoteIsReadAsItWasWritten) {
  SinkNote note{.committed = 41, .resumed = 40, .watermark = -7, .partitions = {}};
  note.partitions["dt=2026-11-26/hour=11"] = 1234;
  note.partitions[""] = end_of_time;
  const std::string text = to_text(note, "operator x");
  const SinkNote read = parse_note(text);
  EXPECT_EQ(read.committed, 41u);
  EXPECT_EQ(read.resumed, 40u);
  EXPECT_EQ(read.watermark, -7);
  EXPECT_EQ(read.partitions, note.partitions);
  EXPECT_EQ(parse_note("committed 12").committed, 0u);  // cut off
  EXPECT_EQ(parse_note("committed 12x\ncommitted 3\n").committed, 3u);
  EXPECT_TRUE(parse_note("partition 5 ../outside\n").partitions.empty());
}

TEST(PartNames, WhatLeavesTheDirectoryOrHidesIsRefused) {
  for (const char* path : {"", "a", "dt=1", "dt=1/hour=2", "a.b/c_d"}) {
    EXPECT_TRUE(check_partition_path(path).ok()) << path;
  }
  for (const char* path : {"..", "../a", "a/../b", "a/..", ".", ".a", "_a", "a/_b", "a/.b", "/a",
                           "a/", "a//b", "a\nb", "a\x7f"}) {
    EXPECT_EQ(check_partition_path(path).code(), ErrorCode::invalid_argument) << path;
  }
  EXPECT_FALSE(check_partition_path(std::string(256, 'a')).ok());
  EXPECT_FALSE(check_partition_path(std::string_view("a\0b", 3)).ok());
}

TEST(PartitionPath, EscapesWhatAValueHolds) {
  EXPECT_EQ(partition_path({{"country", "fr"}, {"site", "a/b"}}), "country=fr/site=a%2Fb");
  EXPECT_EQ(partition_path({{"x", "100% \"x\"=y:z"}}), "x=100%25 %22x%22%3Dy%3Az");
  EXPECT_EQ(partition_path({{"x", ""}}), "x=__HIVE_DEFAULT_PARTITION__");
  EXPECT_EQ(partition_path({{"x", "../.."}}), "x=..%2F..");
  EXPECT_EQ(partition_path({{"x", "\n\x7f"}}), "x=%0A%7F");
  EXPECT_EQ(partition_path({{"x", "é"}}), "x=é");
}

struct Event {
  Timestamp time_ms;
};

TEST(CalendarPartitions, AreDaysAndHoursOfUtc) {
  auto hour = hourly(&Event::time_ms);
  const auto at = [&](Timestamp time) { return hour(Event{time}); };
  EXPECT_EQ(at(0).path, "dt=1970-01-01/hour=00");
  EXPECT_EQ(at(0).ends_at, 3'600'000);
  EXPECT_EQ(at(3'599'999).path, "dt=1970-01-01/hour=00");
  EXPECT_EQ(at(3'600'000).path, "dt=1970-01-01/hour=01");
  EXPECT_EQ(at(-1).path, "dt=1969-12-31/hour=23");
  EXPECT_EQ(at(-1).ends_at, 0);
  EXPECT_EQ(at(951'782'400'000).path, "dt=2000-02-29/hour=00");
  EXPECT_EQ(at(951'868'800'000).path, "dt=2000-03-01/hour=00");
  EXPECT_EQ(at(4'107'542'399'999).path, "dt=2100-02-28/hour=23");
  EXPECT_EQ(at(4'107'542'400'000).path, "dt=2100-03-01/hour=00");
  auto day = daily([](const Event& event) { return event.time_ms; });
  EXPECT_EQ(day(Event{1'764'155'000'000}).path, "dt=2025-11-26");
  EXPECT_EQ(day(Event{1'764'155'000'000}).ends_at, 1'764'201'600'000);
  // Beyond the years that four digits name there is one partition.
  EXPECT_EQ(at(INT64_MIN / 2).path, at(INT64_MAX / 2).path);
}

// Against a plain count of days, over four centuries.
TEST(CalendarPartitions, NameEveryDayOnce) {
  auto day = daily(&Event::time_ms);
  Timestamp time = 946'684'800'000;  // 2000-01-01
  for (int year = 2000; year < 2400; ++year) {
    const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    const int days[] = {31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    for (int month = 1; month <= 12; ++month) {
      for (int date = 1; date <= days[month - 1]; ++date, time += 86'400'000) {
        char expected[32];
        std::snprintf(expected, sizeof expected, "dt=%04d-%02d-%02d", year, month, date);
        ASSERT_EQ(day(Event{time}).path, expected);
      }
    }
  }
}

}  // namespace
}  // namespace hummer::part_names_test
