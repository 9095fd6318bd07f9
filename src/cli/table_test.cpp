#include "cli/table.hpp"

#include <gtest/gtest.h>

namespace hummer::table_test {
namespace {

TEST(Table, IsAlignedForPeopleAndTabSeparatedForPrograms) {
  Table table({"job", "name", "state"});
  table.add({"7", "Wörter", "running"});
  table.add({"12", "a\tb\nc", "failed"});
  EXPECT_EQ(table.text(true),
            "job  name    state\n"
            "7    Wörter  running\n"
            "12   a b c   failed\n");
  EXPECT_EQ(table.text(false), "job\tname\tstate\n7\tWörter\trunning\n12\ta b c\tfailed\n");
}

TEST(WallTime, IsTheCalendarsDate) {
  EXPECT_EQ(format_wall_time(0), "-");
  EXPECT_EQ(format_wall_time(951'782'400'000), "2000-02-29 00:00:00");
  EXPECT_EQ(format_wall_time(1'700'000'000'999), "2023-11-14 22:13:20");
  EXPECT_EQ(format_wall_time(4'102'444'799'000), "2099-12-31 23:59:59");
}

TEST(Duration, HasTheUnitThatFits) {
  EXPECT_EQ(format_duration(12.34), "12.3 s");
  EXPECT_EQ(format_duration(245), "4 min 5 s");
  EXPECT_EQ(format_duration(7380), "2 h 3 min");
}

}  // namespace
}  // namespace hummer::table_test
