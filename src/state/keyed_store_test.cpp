#include <hummer/detail/state/keyed_store.hpp>

#include <gtest/gtest.h>

#include <span>
#include <string>
#include <vector>

#include <hummer/identity.hpp>
#include <hummer/keyed_states.hpp>

namespace hummer::keyed_store_test {
namespace {

// Of one incremental snapshot: the bytes of its entries.
std::size_t written_bytes(KeyedStore<std::uint64_t>& store, bool delta) {
  std::string head, space;
  ByteWriter begin(head);
  const Result<bool> is_delta = store.freeze(true, begin);
  EXPECT_TRUE(is_delta.ok() && *is_delta == delta);
  ByteWriter out(space);
  while (!*store.write_frozen(out, SIZE_MAX)) {
  }
  return out.size();
}

// Generations are counted in 16 bits: what changed 65,536 snapshots ago has not changed now.
TEST(KeyedStore, AGenerationThatComesAgainIsAnother) {
  ValueState<std::uint64_t> count{"count"};
  KeyedStore<std::uint64_t> store(TimerKinds{});
  ASSERT_TRUE(store.bind({&count}).ok());
  const std::uint64_t still = 1, busy = 2;
  const auto set = [&](const std::uint64_t& key, std::uint64_t value) {
    store.set_key(key);
    count.set(value);
    store.leave_key();
  };
  set(still, 1);
  set(busy, 1);
  const std::size_t both = written_bytes(store, false);
  constexpr std::size_t end_mark = 1;
  for (std::uint64_t i = 0; i < 150'000; ++i) {
    const bool changes = i % 1000 == 0;
    if (changes) set(busy, i);
    ASSERT_EQ(written_bytes(store, true), changes ? (both - end_mark) / 2 + end_mark : end_mark)
        << i;
  }
}

// What is expected may be gone, and another's, when its turn comes.
TEST(KeyedStore, WhatIsExpectedMayChangeBefore) {
  ValueState<std::uint64_t> count{"count"};
  KeyedStore<std::uint64_t> store(TimerKinds{});
  ASSERT_TRUE(store.bind({&count}).ok());
  const std::vector<std::uint64_t> keys = {7, 7, 8, 7, 8};
  const auto expected = [&] { return store.expect(std::span(keys), identity); };
  ASSERT_EQ(expected(), 5u);
  const auto at = [&](std::size_t i) { store.set_expected_key(keys[i], i); };
  at(0);
  EXPECT_FALSE(count.has_value());
  count.set(70);
  at(1);
  EXPECT_EQ(count.get_or(0), 70u);
  store.leave_key();
  EXPECT_EQ(expected(), 5u);
  at(0);
  count.clear();  // its entry goes, and its place is the next one's
  at(2);
  EXPECT_FALSE(count.has_value());
  count.set(80);
  at(3);
  EXPECT_FALSE(count.has_value());
  count.set(71);
  at(4);
  EXPECT_EQ(count.get_or(0), 80u);
  store.leave_key();
  EXPECT_EQ(store.size(), 2u);
  // Its place is nobody's.
  EXPECT_EQ(expected(), 5u);
  at(0);
  count.clear();
  at(1);
  EXPECT_FALSE(count.has_value());
  count.set(72);
  store.set_key(keys[0]);
  EXPECT_EQ(count.get_or(0), 72u);
  store.leave_key();
}

}  // namespace
}  // namespace hummer::keyed_store_test
