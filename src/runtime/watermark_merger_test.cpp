#include "runtime/watermark_merger.hpp"

#include <gtest/gtest.h>

#include <string>

namespace hummer::watermark_merger_test {
namespace {

using Kind = Control::Kind;

// What it has to say: times of watermarks, '-' for inactive, '+' for active.
std::string said(WatermarkMerger& merger) {
  std::string all;
  while (const Control control = merger.next()) {
    if (!all.empty()) all += ' ';
    all += control.kind == Kind::watermark  ? std::to_string(control.time)
           : control.kind == Kind::inactive ? "-"
                                            : "+";
  }
  return all;
}
std::string behind(WatermarkMerger& merger, std::size_t index, Timestamp time) {
  merger.watermark(index, time);
  return said(merger);
}
std::string ended(WatermarkMerger& merger, std::size_t index) {
  merger.ended(index);
  return said(merger);
}
std::string inactive(WatermarkMerger& merger, std::size_t index) {
  merger.inactive(index);
  return said(merger);
}
std::string active(WatermarkMerger& merger, std::size_t index) {
  merger.active(index);
  return said(merger);
}

TEST(WatermarkMerger, OneInputPassesThrough) {
  WatermarkMerger merger(1);
  EXPECT_EQ(behind(merger, 0, 5), "5");
  EXPECT_EQ(behind(merger, 0, 5), "");
  EXPECT_EQ(behind(merger, 0, 4), "");
  EXPECT_EQ(inactive(merger, 0), "-");
  EXPECT_EQ(active(merger, 0), "+");
  EXPECT_EQ(inactive(merger, 0), "-");
  EXPECT_EQ(behind(merger, 0, 6), "6") << "a watermark says that it is active, too";
  EXPECT_EQ(active(merger, 0), "");
}

TEST(WatermarkMerger, WaitsForTheSlowestInput) {
  WatermarkMerger merger(3);
  EXPECT_EQ(behind(merger, 0, 10), "");
  EXPECT_EQ(behind(merger, 1, 20), "");
  EXPECT_EQ(behind(merger, 2, 5), "5");
  EXPECT_EQ(behind(merger, 2, 30), "10");
  EXPECT_EQ(behind(merger, 1, 21), "");
  EXPECT_EQ(behind(merger, 0, 25), "21");
}

TEST(WatermarkMerger, EndedInputHoldsNothingBack) {
  WatermarkMerger merger(2);
  EXPECT_EQ(behind(merger, 0, 10), "");
  EXPECT_EQ(ended(merger, 1), "10");
  EXPECT_FALSE(merger.all_ended());
  EXPECT_EQ(ended(merger, 0), "");
  EXPECT_TRUE(merger.all_ended());
}

TEST(WatermarkMerger, InactiveInputHoldsNothingBack) {
  WatermarkMerger merger(2);
  EXPECT_EQ(behind(merger, 0, 10), "");
  EXPECT_EQ(inactive(merger, 1), "10");
  EXPECT_EQ(behind(merger, 0, 20), "20");
  EXPECT_EQ(active(merger, 1), "");
  EXPECT_EQ(behind(merger, 0, 30), "") << "behind the others: it has to catch up";
  EXPECT_EQ(behind(merger, 1, 15), "");
  EXPECT_EQ(behind(merger, 1, 25), "25");
}

TEST(WatermarkMerger, AllInactiveUntilAnyIsHeardOf) {
  WatermarkMerger merger(3);
  EXPECT_EQ(behind(merger, 0, 10), "");
  EXPECT_EQ(behind(merger, 1, 10), "");
  EXPECT_EQ(ended(merger, 2), "10");
  EXPECT_EQ(inactive(merger, 0), "");
  EXPECT_EQ(inactive(merger, 0), "");
  EXPECT_EQ(inactive(merger, 1), "-");
  EXPECT_EQ(behind(merger, 1, 5), "+") << "its watermark is not above those before";
  EXPECT_EQ(ended(merger, 1), "-");
  EXPECT_EQ(ended(merger, 0), "");
  EXPECT_TRUE(merger.all_ended());
}

// In whatever order they become inactive, or end.
TEST(WatermarkMerger, WhenAllAreInactiveTheLatestOfThemCounts) {
  for (const std::size_t first : {0u, 1u}) {
    for (const bool one_ends : {false, true}) {
      WatermarkMerger merger(2);
      EXPECT_EQ(behind(merger, 0, 100), "");
      EXPECT_EQ(behind(merger, 1, 50), "50");
      const std::string begins = one_ends ? ended(merger, first) : inactive(merger, first);
      EXPECT_EQ(begins, first == 1 ? "100" : "");
      EXPECT_EQ(inactive(merger, 1 - first), first == 1 ? "-" : "100 -");
      EXPECT_EQ(behind(merger, 1 - first, 101), "101");
    }
  }
}

}  // namespace
}  // namespace hummer::watermark_merger_test
