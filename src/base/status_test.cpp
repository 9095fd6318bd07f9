#include <hummer/status.hpp>

#include <gtest/gtest.h>

namespace hummer::status_test {
namespace {

TEST(Status, SuccessSaysNothing) {
  const Status status;
  EXPECT_TRUE(status.ok());
  EXPECT_EQ(status.code(), ErrorCode::ok);
  EXPECT_EQ(status.message(), "");
  EXPECT_EQ(status.to_string(), "ok");
  EXPECT_TRUE(status.with_context("reading").ok());
}

TEST(Status, AFailureKeepsItsCodeUnderContext) {
  const Status status(ErrorCode::not_found, "'a.txt' does not exist");
  EXPECT_EQ(status.to_string(), "E4000: 'a.txt' does not exist");
  const Status more = status.with_context("from_file");
  EXPECT_EQ(more.code(), ErrorCode::not_found);
  EXPECT_EQ(more.message(), "from_file: 'a.txt' does not exist");
}

TEST(Status, CopiesAreIndependent) {
  Status status(ErrorCode::io_error, "first");
  const Status copy = status;
  status = Status(ErrorCode::disk_full, "second");
  EXPECT_EQ(copy.message(), "first");
  Status& same = status;
  status = same;
  EXPECT_EQ(status.message(), "second");
  status = Status();
  EXPECT_TRUE(status.ok());
}

TEST(Result, HoldsAValueOrWhyThereIsNone) {
  const auto half = [](int number) -> Result<int> {
    if (number % 2 != 0) return Status(ErrorCode::invalid_argument, "odd");
    return number / 2;
  };
  ASSERT_TRUE(half(4).ok());
  EXPECT_EQ(*half(4), 2);
  EXPECT_FALSE(half(3).ok());
  EXPECT_EQ(half(3).status().code(), ErrorCode::invalid_argument);
}

TEST(Status, TryReturnsTheFirstFailure) {
  const auto run = [](bool fails) -> Status {
    HUMMER_TRY(fails ? Status(ErrorCode::cancelled, "early") : Status());
    return {ErrorCode::timed_out, "late"};
  };
  EXPECT_EQ(run(true).code(), ErrorCode::cancelled);
  EXPECT_EQ(run(false).code(), ErrorCode::timed_out);
}

TEST(StatusDeathTest, AssertionsStayOn) {
  EXPECT_DEATH(HUMMER_ASSERT(1 + 1 == 3), "assertion failed: 1 \\+ 1 == 3 at .*status_test.cpp");
}

}  // namespace
}  // namespace hummer::status_test
