#include <hummer/detail/state/keyed_timers.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <set>
#include <tuple>

#include "platform/random.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::keyed_timers_test {
namespace {

struct Entry : TextEntry {
  TimersOfKey* timers = nullptr;
  int key = 0;
};
constexpr EntryParts parts{.timers = sizeof(TextEntry)};

TEST(KeyedTimers, AreThoseOfASet) {
  Random random(5);
  for (int round = 0; round < 20; ++round) {
    KeyedTimers timers{KeyForm()};
    timers.set_parts(parts, {.event = true, .processing = true});
    std::set<std::pair<Timestamp, int>> model[2];
    std::deque<Entry> entries(1 + random.below(60));
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i].key = static_cast<int>(i);
      // Their first bytes tell the half of them apart.
      entries[i].text = std::to_string(1'000'0000 + i / 2) + (i % 2 == 0 ? "a" : "b");
    }
    for (int step = 0; step < 3000; ++step) {
      const TimerKind kind = random.chance(0.5) ? TimerKind::event : TimerKind::processing;
      std::set<std::pair<Timestamp, int>>& own = model[static_cast<std::size_t>(kind)];
      Entry& entry = entries[random.below(entries.size())];
      const Timestamp time = random.between(-20, 20);
      const std::uint64_t what = random.below(100);
      if (what < 50) {
        ASSERT_EQ(timers.add(kind, time, entry), own.emplace(time, entry.key).second);
      } else if (what < 70) {
        ASSERT_EQ(timers.remove(kind, time, entry), own.erase({time, entry.key}) > 0);
      } else if (what < 98) {
        ASSERT_EQ(timers.empty(kind), own.empty());
        if (own.empty()) continue;
        ASSERT_EQ(timers.first(kind).time, own.begin()->first);
        ASSERT_EQ(static_cast<Entry&>(*timers.first(kind).entry).key, own.begin()->second);
        ASSERT_TRUE(timers.remove(kind, timers.first(kind).time, *timers.first(kind).entry));
        own.erase(own.begin());
      } else {
        timers.clear(entry);
        for (auto& each : model) {
          std::erase_if(each, [&](const auto& timer) { return timer.second == entry.key; });
        }
      }
      std::size_t count = 0;
      for (const auto& each : model) {
        for (const auto& timer : each) count += timer.second == entry.key ? 1 : 0;
      }
      ASSERT_EQ(timers.count(entry), count);
      ASSERT_EQ(entry.timers == nullptr, count == 0);
    }
    for (Entry& entry : entries) timers.clear(entry);
    EXPECT_EQ(timers.memory_bytes(), 0u);
  }
}

// Thousands, near and far, that are taken in order while others come: behind those that were looked
// at and before them.
TEST(KeyedTimers, ManyAreThoseOfASet) {
  Random random(7);
  for (int round = 0; round < 30; ++round) {
    KeyedTimers timers{KeyForm()};
    timers.set_parts(parts, {.event = round % 2 == 0, .processing = true});
    const TimerKind kind = round % 4 == 0 ? TimerKind::event : TimerKind::processing;
    std::set<std::pair<Timestamp, int>> model;
    std::deque<Entry> entries(random.chance(0.3) ? 20 : 4000);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      entries[i].key = static_cast<int>(i);
      entries[i].text = std::to_string(1'000'0000 + i / 3) + std::string(i % 3, 'a');
    }
    const int width = static_cast<int>(random.between(1, 50));
    const double removed = random.chance(0.5) ? 0.05 : 0.4;
    Timestamp now = random.between(-1'000, 1'000);
    const auto set = [&](Timestamp time) {
      Entry& entry = entries[random.below(entries.size())];
      ASSERT_EQ(timers.add(kind, time, entry), model.emplace(time, entry.key).second);
    };
    set(end_of_time - 1);  // is looked at while it is the only one
    ASSERT_EQ(timers.first(kind).time, end_of_time - 1);
    for (int step = 0; step < 20'000; ++step) {
      if (random.chance(step < 8'000 ? 0.9 : 0.45)) {
        const auto reach = static_cast<Timestamp>(random.below(std::uint64_t{1} << width));
        set(random.chance(0.05) ? now - random.between(0, 9) : now + reach);
      } else if (!model.empty() && random.chance(removed)) {
        auto one = model.lower_bound({now + random.between(-5, 1 << 10), 0});
        if (one == model.end()) one = model.begin();
        ASSERT_TRUE(
            timers.remove(kind, one->first, entries[static_cast<std::size_t>(one->second)]));
        model.erase(one);
      } else if (!model.empty()) {
        now = std::max(now, model.begin()->first == end_of_time - 1 ? now : model.begin()->first);
        ASSERT_EQ(timers.first(kind).time, model.begin()->first);
        StoreEntry& first = *timers.first(kind).entry;
        ASSERT_EQ(static_cast<Entry&>(first).key, model.begin()->second);
        ASSERT_TRUE(timers.remove(kind, model.begin()->first, first));
        model.erase(model.begin());
      }
    }
    for (; !model.empty(); model.erase(model.begin())) {
      ASSERT_EQ(timers.first(kind).time, model.begin()->first);
      StoreEntry& first = *timers.first(kind).entry;
      ASSERT_EQ(static_cast<Entry&>(first).key, model.begin()->second);
      ASSERT_TRUE(timers.remove(kind, model.begin()->first, first));
    }
    EXPECT_TRUE(timers.empty(kind));
    EXPECT_EQ(timers.memory_bytes(), 0u);
  }
}

constexpr int fired_in_all = static_cast<int>(drawn_cases(1'000'000));

// A key that sets and fires timers for ever, `ahead` of them at a time, beside one that is far.
TEST(KeyedTimers, WhatHasFiredTakesNoMemory) {
  for (const bool has_far : {false, true}) {
    for (const Timestamp ahead : {1, 2, 10}) {
      KeyedTimers timers{KeyForm()};
      timers.set_parts(parts, {.event = true, .processing = true});
      Entry entry;
      if (has_far) {
        ASSERT_TRUE(timers.add(TimerKind::event, end_of_time - 1, entry));
      }
      std::size_t early_bytes = 0, late_bytes = 0;
      Timestamp now = 0;
      for (int fired = 0; fired < fired_in_all;) {
        for (Timestamp i = 1; i <= ahead; ++i) {
          ASSERT_TRUE(timers.add(TimerKind::event, now + i, entry));
        }
        for (Timestamp i = 1; i <= ahead; ++i, ++fired) {
          now = timers.first(TimerKind::event).time;
          ASSERT_TRUE(timers.remove(TimerKind::event, now, *timers.first(TimerKind::event).entry));
          std::size_t& most = fired < 10'000 ? early_bytes : late_bytes;
          most = std::max(most, timers.memory_bytes());
        }
      }
      EXPECT_LE(late_bytes, early_bytes) << ahead << " ahead, " << has_far;
      timers.clear(entry);
      EXPECT_EQ(timers.memory_bytes(), 0u);
    }
  }
}

// As the one before, where the key is never without one: the next is set before the last one fires.
TEST(KeyedTimers, AKeyThatIsNeverWithoutOneTakesNoMore) {
  KeyedTimers timers{KeyForm()};
  timers.set_parts(parts, {.event = true});
  Entry entry;
  ASSERT_TRUE(timers.add(TimerKind::event, 0, entry));
  std::size_t early_bytes = 0;
  for (Timestamp time = 1; time <= fired_in_all; ++time) {
    ASSERT_TRUE(timers.add(TimerKind::event, time, entry));
    ASSERT_EQ(timers.first(TimerKind::event).time, time - 1);
    ASSERT_TRUE(timers.remove(TimerKind::event, time - 1, entry));
    if (time <= 10'000) {
      early_bytes = std::max(early_bytes, timers.memory_bytes());
    } else {
      ASSERT_LE(timers.memory_bytes(), early_bytes);
    }
  }
}

}  // namespace
}  // namespace hummer::keyed_timers_test
