#include <gtest/gtest.h>
#include <hummer/detail/memory_account.hpp>

namespace hummer::memory_account_test {
namespace {

TEST(MemoryAccount, SumsAreThoseOfAllBelow) {
  auto root = MemoryAccount::make_root("process", 0);
  auto job = root->make_child("job");
  auto first = job->make_child("first");
  auto second = job->make_child("second");
  ASSERT_TRUE(first->set_own(100).ok());
  ASSERT_TRUE(second->set_own(50).ok());
  ASSERT_TRUE(first->set_own(30).ok());
  EXPECT_EQ(root->used_bytes(), 80u);
  const auto metrics = root->metrics();
  ASSERT_EQ(metrics.size(), 4u);
  EXPECT_EQ(metrics[1].name, "job");
  EXPECT_EQ(metrics[1].used_bytes, 80u);
  EXPECT_EQ(metrics[3].depth, 2);
  EXPECT_EQ(metrics[3].used_bytes, 50u);
}

TEST(MemoryAccount, WhatANodeCountedGoesWithIt) {
  auto root = MemoryAccount::make_root("process", 1000);
  {
    auto node = root->make_child("operator");
    node->set_elastic();
    ASSERT_TRUE(node->set_own(700).ok());
    EXPECT_EQ(root->used_bytes(), 700u);
  }
  EXPECT_EQ(root->used_bytes(), 0u);
  auto next = root->make_child("next");
  EXPECT_EQ(next->set_own(1001).code(), ErrorCode::limit_exceeded);
}

TEST(MemoryAccount, OneThatCannotShrinkFailsByName) {
  auto root = MemoryAccount::make_root("this process", 1 << 20);
  auto elastic = root->make_child("count");
  elastic->set_elastic();
  auto rigid = root->make_child("window");
  ASSERT_TRUE(rigid->set_own(600 << 10).ok());
  // The one that can shrink does not fail.
  ASSERT_TRUE(elastic->set_own(600 << 10).ok());
  ASSERT_TRUE(rigid->set_own(700 << 10).ok());
  const Status over = rigid->set_own(1100 << 10);
  EXPECT_EQ(over.code(), ErrorCode::limit_exceeded);
  EXPECT_NE(over.message().find("'window' holds 1100 KiB"), std::string::npos) << over.message();
  EXPECT_NE(over.message().find("--memory-limit"), std::string::npos) << over.message();
  EXPECT_TRUE(rigid->set_own(500 << 10).ok());
}

TEST(MemoryAccount, APartThatCannotShrinkFailsByItsNameAndTheLimitsSource) {
  auto root = MemoryAccount::make_root("this worker", 1 << 20, "half of 2 MiB, a test");
  auto join = root->make_child("join");
  MemoryUse rest, part;
  rest.open(join.get(), true);
  part.open_part(join.get(), "the window that goes out");
  ASSERT_TRUE(rest.set(std::size_t{4} << 20).ok());
  EXPECT_EQ(part.set(std::size_t{2} << 20).to_string(),
            "E3004: 'join: the window that goes out' holds 2048 KiB, which it cannot put on disk; "
            "with it this worker holds 2048 KiB of that kind, and the memory limit is 1024 KiB "
            "(half of 2 MiB, a test), which --memory-limit sets: raise it, or spread the job over "
            "more workers");
  EXPECT_EQ(join->used_bytes(), std::size_t{6} << 20);
}

TEST(MemoryAccount, SharesAreEqualPartsOfWhatTheOthersLeave) {
  constexpr std::size_t mebibyte = 1 << 20;
  auto root = MemoryAccount::make_root("process", 100 * mebibyte);
  auto rigid = root->make_child("channels");
  ASSERT_TRUE(rigid->set_own(20 * mebibyte).ok());
  auto first = root->make_child("first");
  first->set_elastic();
  EXPECT_EQ(first->share_bytes(), 70 * mebibyte);
  ASSERT_TRUE(first->set_own(60 * mebibyte).ok());
  auto second = root->make_child("second");
  second->set_elastic();
  EXPECT_EQ(first->share_bytes(), 35 * mebibyte);
  EXPECT_EQ(second->share_bytes(), 35 * mebibyte);
  ASSERT_TRUE(rigid->set_own(99 * mebibyte).ok());
  EXPECT_EQ(first->share_bytes(), std::size_t{7} * mebibyte / 16);
  EXPECT_EQ(MemoryAccount::make_root("process", 0)->share_bytes(), SIZE_MAX);
}

}  // namespace
}  // namespace hummer::memory_account_test
