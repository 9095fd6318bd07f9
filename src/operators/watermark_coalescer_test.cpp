#include <hummer/detail/operators/watermark_coalescer.hpp>

#include <gtest/gtest.h>

#include <hummer/windows.hpp>

namespace hummer {
namespace {

class WatermarkCoalescerTest : public testing::Test {
 protected:
  // What a call hands on: a watermark's time, or no_timestamp.
  Timestamp sent_by(OperatorResult answer, OperatorResult expected) {
    EXPECT_EQ(answer, expected);
    const Control control = out_.take_control();
    EXPECT_TRUE(!control || control.kind == Control::Kind::watermark);
    return control ? control.time : no_timestamp;
  }
  Timestamp watermark(Timestamp time, OperatorResult expected = OperatorResult::done) {
    return sent_by(coalescer_.watermark(time, out_), expected);
  }

  Output out_;
  WatermarkCoalescer coalescer_{TumblingWindows::of(1'000)};
};

TEST_F(WatermarkCoalescerTest, ThoseThatEndNoSliceGoTogether) {
  EXPECT_EQ(watermark(5), 5) << "the first one, at once";
  const Timestamp last = 5 + WatermarkCoalescer::together;
  for (Timestamp time = 6; time < last; ++time) EXPECT_EQ(watermark(time), no_timestamp) << time;
  EXPECT_EQ(watermark(last), last) << "as many as go together";
  EXPECT_EQ(watermark(last + 1), no_timestamp);
}

TEST_F(WatermarkCoalescerTest, TheLastOneInASliceGoesAheadOfTheOneThatEndsIt) {
  EXPECT_EQ(watermark(5), 5);
  EXPECT_EQ(watermark(6), no_timestamp);
  EXPECT_EQ(watermark(999), no_timestamp);
  EXPECT_EQ(watermark(1'000, OperatorResult::more), 999);
  EXPECT_EQ(watermark(1'000), 1'000);
  EXPECT_EQ(watermark(2'000), 2'000) << "nothing is held ahead of it";
  EXPECT_EQ(watermark(9'999), 9'999);
}

TEST_F(WatermarkCoalescerTest, NothingIsHeldWhereNothingMoreIsAtHandOrAtABarrier) {
  EXPECT_EQ(watermark(1), 1);
  EXPECT_EQ(watermark(2), no_timestamp);
  EXPECT_EQ(sent_by(coalescer_.idle(out_), OperatorResult::done), 2);
  EXPECT_EQ(sent_by(coalescer_.idle(out_), OperatorResult::done), no_timestamp);
  EXPECT_EQ(watermark(3), no_timestamp);
  EXPECT_EQ(sent_by(coalescer_.flush(out_), OperatorResult::more), 3);
  EXPECT_EQ(sent_by(coalescer_.flush(out_), OperatorResult::done), no_timestamp);
}

// Owners go on without an input that is inactive, until its next watermark comes.
TEST_F(WatermarkCoalescerTest, TheFirstOneOfAnInputThatWasInactiveGoesAtOnce) {
  EXPECT_EQ(watermark(1), 1);
  EXPECT_EQ(watermark(2), no_timestamp);
  EXPECT_EQ(sent_by(coalescer_.inactive(out_), OperatorResult::more), 2);
  EXPECT_EQ(coalescer_.inactive(out_), OperatorResult::done);
  EXPECT_EQ(out_.take_control().kind, Control::Kind::inactive);
  EXPECT_EQ(watermark(3), 3);
  EXPECT_EQ(watermark(4), no_timestamp);
  EXPECT_EQ(coalescer_.active(out_), OperatorResult::done);
  EXPECT_EQ(out_.take_control().kind, Control::Kind::active);
}

}  // namespace
}  // namespace hummer
