// WindowGrid against plain arithmetic of twice the width, also at both ends of time.
#include <gtest/gtest.h>

#include <numeric>
#include <random>
#include <vector>

#include <hummer/windows.hpp>

namespace hummer::windows_test {
namespace {

__extension__ using Wide = __int128;

Timestamp clamped(Wide time) {
  if (time > end_of_time) return end_of_time;
  return time < no_timestamp ? no_timestamp : static_cast<Timestamp>(time);
}
Wide floor_of(const WindowGrid& grid, Wide time, Wide step) {
  Wide rest = (time - grid.offset_ms) % step;
  if (rest < 0) rest += step;
  return time - rest;
}
// A window that would begin at or before the smallest timestamp is none; ends are cut.
std::vector<TimeWindow> windows_of(const WindowGrid& grid, Timestamp time) {
  std::vector<TimeWindow> windows;
  for (Wide start = floor_of(grid, time, grid.slide_ms);
       start + grid.size_ms > time && start > no_timestamp; start -= grid.slide_ms) {
    windows.insert(windows.begin(), TimeWindow{clamped(start), clamped(start + grid.size_ms)});
  }
  return windows;
}

TEST(WindowGrid, EachWindowAtEveryTime) {
  std::mt19937_64 random(7);
  const auto below = [&](std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
  };
  for (int turn = 0; turn < 4000; ++turn) {
    WindowGrid grid;
    grid.slide_ms = 1 + below(turn % 3 == 0 ? 3 : 60);
    grid.size_ms = turn % 2 == 0 ? grid.slide_ms : 1 + below(200);
    grid.offset_ms = below(2 * grid.slide_ms - 1) - (grid.slide_ms - 1);
    ASSERT_TRUE(grid.check().ok());
    const std::int64_t near = below(300);
    for (const Timestamp time :
         {end_of_time - near, end_of_time, no_timestamp + 1 + near, near, -near}) {
      std::vector<TimeWindow> seen;
      grid.each_window(time, [&](const TimeWindow& window) { seen.push_back(window); });
      const std::vector<TimeWindow> expected = windows_of(grid, time);
      const auto what = testing::Message()
                        << "time " << time << " size " << grid.size_ms << " slide " << grid.slide_ms
                        << " offset " << grid.offset_ms;
      ASSERT_EQ(seen, expected) << what;
      ASSERT_EQ(grid.slice_of(time), clamped(floor_of(grid, time, grid.slice_ms()))) << what;
      // No window's end is behind the end of time.
      if (time != end_of_time) {
        ASSERT_EQ(grid.last_end(time) > time, !expected.empty()) << what;
      }
      if (expected.empty()) continue;
      ASSERT_EQ(grid.first_start(time), expected.front().start_ms) << what;
      ASSERT_EQ(grid.last_start(time), expected.back().start_ms) << what;
    }
  }
}

TEST(WindowGrid, WindowsAsLongAsTime) {
  const WindowGrid grid{INT64_MAX, INT64_MAX};
  std::vector<TimeWindow> seen;
  const auto note = [&](const TimeWindow& window) { seen.push_back(window); };
  for (const Timestamp time : {Timestamp{-5}, Timestamp{5}, end_of_time}) {
    grid.each_window(time, note);
  }
  EXPECT_EQ(seen,
            (std::vector<TimeWindow>{{-INT64_MAX, 0}, {0, INT64_MAX}, {INT64_MAX, end_of_time}}));
}

}  // namespace
}  // namespace hummer::windows_test
