#include "runtime/watermark_merger.hpp"

#include <gtest/gtest.h>

namespace hummer {
namespace {

TEST(WatermarkMerger, OneInputPassesThrough) {
  WatermarkMerger merger(1);
  EXPECT_EQ(merger.watermark(0, 5), 5);
  EXPECT_EQ(merger.watermark(0, 5), std::nullopt);
  EXPECT_EQ(merger.watermark(0, 4), std::nullopt);
  EXPECT_EQ(merger.watermark(0, 6), 6);
}

TEST(WatermarkMerger, WaitsForTheSlowestInput) {
  WatermarkMerger merger(3);
  EXPECT_EQ(merger.watermark(0, 10), std::nullopt);
  EXPECT_EQ(merger.watermark(1, 20), std::nullopt);
  EXPECT_EQ(merger.watermark(2, 5), 5);
  EXPECT_EQ(merger.watermark(2, 30), 10);
  EXPECT_EQ(merger.watermark(1, 21), std::nullopt);
  EXPECT_EQ(merger.watermark(0, 25), 21);
}

TEST(WatermarkMerger, EndedInputHoldsNothingBack) {
  WatermarkMerger merger(2);
  EXPECT_EQ(merger.watermark(0, 10), std::nullopt);
  EXPECT_EQ(merger.ended(1), 10);
  EXPECT_FALSE(merger.all_ended());
  EXPECT_EQ(merger.ended(0), std::nullopt);
  EXPECT_TRUE(merger.all_ended());
}

TEST(WatermarkMerger, InactiveInputHoldsNothingBack) {
  WatermarkMerger merger(2);
  EXPECT_EQ(merger.watermark(0, 10), std::nullopt);
  EXPECT_EQ(merger.inactive(1), 10);
  EXPECT_FALSE(merger.all_inactive());
  EXPECT_EQ(merger.watermark(0, 20), 20);
  merger.active(1);  // behind the others: nothing moves until it has caught up
  EXPECT_EQ(merger.watermark(0, 30), std::nullopt);
  EXPECT_EQ(merger.watermark(1, 15), std::nullopt);
  EXPECT_EQ(merger.watermark(1, 25), 25);
}

TEST(WatermarkMerger, AllInactiveUntilAnyIsHeardOf) {
  WatermarkMerger merger(3);
  EXPECT_EQ(merger.watermark(0, 10), std::nullopt);
  EXPECT_EQ(merger.watermark(1, 10), std::nullopt);
  EXPECT_EQ(merger.ended(2), 10);
  EXPECT_EQ(merger.inactive(0), std::nullopt);
  EXPECT_EQ(merger.inactive(0), std::nullopt);
  EXPECT_FALSE(merger.all_inactive());
  EXPECT_EQ(merger.inactive(1), std::nullopt);
  EXPECT_TRUE(merger.all_inactive());
  EXPECT_EQ(merger.watermark(1, 5), 10) << "says that the input is active again";
  EXPECT_FALSE(merger.all_inactive());
  EXPECT_EQ(merger.ended(1), std::nullopt);
  EXPECT_TRUE(merger.all_inactive());
  EXPECT_EQ(merger.ended(0), std::nullopt);
  EXPECT_TRUE(merger.all_ended());
}

}  // namespace
}  // namespace hummer
