// Entries in blocks of few key groups: nothing is lost, entries of a key stay in order, and blocks
// say what is in them.
#include <hummer/detail/state/grouped_entries.hpp>

#include <gtest/gtest.h>

#include <map>
#include <span>
#include <string>
#include <vector>

#include <hummer/detail/testing/fake_operator_context.hpp>

namespace hummer::grouped_entries_test {
namespace {

struct Block {
  std::string bytes;
  KeyGroups groups;
};

// As many entries as `keys`, `rounds` of each: its hash and the round.
std::vector<Block> write(FakeOperatorContext* context, std::uint64_t keys, std::uint32_t rounds,
                         std::size_t until_bytes) {
  GroupedEntries entries;
  entries.begin(context);
  std::vector<Block> blocks;
  const auto take = [&](const ByteWriter& out) {
    if (context == nullptr) {
      if (out.size() > 0) blocks.push_back({std::string(out.view()), {}});
      return;
    }
    std::size_t at = 0;
    for (const KeyGroupBlock& block : context->take_blocks()) {
      EXPECT_EQ(block.begin, at) << "all bytes are of certain groups";
      blocks.push_back(
          {std::string(out.view().substr(block.begin, block.end - block.begin)), block.groups});
      at = block.end;
    }
    EXPECT_EQ(at, out.size());
  };
  std::uint64_t i = 0;
  for (bool all = false; !all;) {
    std::string space;
    ByteWriter out(space);
    entries.begin_step();
    while (i < keys * rounds && !entries.enough(out, until_bytes)) {
      const std::uint64_t hash = hash_u64(i % keys);
      const auto round = static_cast<std::uint32_t>(i++ / keys);
      entries.add(hash, out, [&](ByteWriter& to) {
        to.put_value(hash);
        to.put_value(round);
      });
    }
    all = i == keys * rounds && entries.flush(out, until_bytes);
    take(out);
  }
  EXPECT_EQ(entries.memory_bytes(), 0u);
  return blocks;
}

void expect_all(const std::vector<Block>& blocks, std::uint64_t keys, std::uint32_t rounds) {
  std::map<std::uint64_t, std::uint32_t> seen;
  for (const Block& block : blocks) {
    for (ByteReader in(block.bytes); in.left() > 0;) {
      std::uint64_t hash = 0;
      std::uint32_t round = 0;
      ASSERT_TRUE(in.get_value(hash) && in.get_value(round));
      EXPECT_TRUE(block.groups.holds(key_group(hash, default_key_groups)));
      EXPECT_EQ(round, seen[hash]++) << "in order";
    }
  }
  EXPECT_EQ(seen.size(), keys);
  for (const auto& [hash, times] : seen) EXPECT_EQ(times, rounds);
}

TEST(GroupedEntries, ComeInBlocksOfFewGroups) {
  for (const std::size_t until :
       {std::size_t{1}, std::size_t{1000}, std::size_t{64} << 10, SIZE_MAX}) {
    FakeOperatorContext context({.subtask = 0, .parallelism = 1});
    const auto blocks = write(&context, 50'000, 4, until);
    expect_all(blocks, 50'000, 4);
    EXPECT_LT(blocks.size(), 400u);
    // The last of each range may be put together.
    ASSERT_GT(blocks.size(), 200u);
    for (const Block& block : std::span(blocks).first(blocks.size() - 32)) {
      EXPECT_LT(block.groups.last - block.groups.first, default_key_groups / 32u);
    }
  }
}

TEST(GroupedEntries, FewBecomeOneBlock) {
  FakeOperatorContext context({.subtask = 0, .parallelism = 1});
  const auto blocks = write(&context, 100, 1, 64 << 10);
  expect_all(blocks, 100, 1);
  EXPECT_EQ(blocks.size(), 1u);
}

// Keys are whose they are, also where an operator has some that the subtask does not own.
TEST(GroupedEntries, OfOthersSayWhatTheyAre) {
  FakeOperatorContext context({.subtask = 2, .parallelism = 5});
  expect_all(write(&context, 20'000, 2, 10'000), 20'000, 2);
  FakeOperatorContext without_groups({.subtask = 2'000, .parallelism = 3'000});
  expect_all(write(&without_groups, 1'000, 2, 10'000), 1'000, 2);
}

TEST(GroupedEntries, WithoutAContextAreOfNoCertainGroups) {
  const auto blocks = write(nullptr, 1'000, 3, 1000);
  expect_all(blocks, 1'000, 3);
}

// Each block has the sections of its entries, whole.
TEST(GroupedEntries, SectionsAreWholeInEachBlock) {
  FakeOperatorContext context({.subtask = 0, .parallelism = 1});
  GroupedEntries entries;
  entries.begin(&context);
  std::string space;
  ByteWriter out(space);
  constexpr std::uint64_t keys = 3'000;
  constexpr char sections = 7;
  for (char section = 0; section < sections; ++section) {
    entries.begin_section({&section, 1}, ".", true);
    for (std::uint64_t key = 0; key < keys; ++key) {
      entries.add(hash_u64(key), out, [&](ByteWriter& to) { to.put_value(key); });
    }
  }
  ASSERT_TRUE(entries.flush(out, SIZE_MAX));
  std::map<std::pair<char, std::uint64_t>, int> seen;
  for (const KeyGroupBlock& block : context.take_blocks()) {
    char last = -1;
    for (ByteReader in(out.view().substr(block.begin, block.end - block.begin)); in.left() > 0;) {
      char section = 0;
      std::string_view bytes;
      char end = 0;
      ASSERT_TRUE(in.get_value(section) && in.get_text(bytes) && in.get_value(end));
      EXPECT_EQ(end, '.');
      if (block.groups.last - block.groups.first < default_key_groups / 32u) {
        EXPECT_GT(section, last);
      }
      last = section;
      for (ByteReader of_section(bytes); of_section.left() > 0;) {
        std::uint64_t key = 0;
        ASSERT_TRUE(of_section.get_value(key));
        ++seen[{section, key}];
      }
    }
  }
  EXPECT_EQ(seen.size(), sections * keys);
  for (const auto& [entry, times] : seen) EXPECT_EQ(times, 1);
}

TEST(KeyGroups, OfSubtasksAreThoseThatTheyOwn) {
  for (const std::uint32_t groups : {1u, 2u, 7u, 1024u, 32768u}) {
    for (const std::uint32_t parallelism : {1u, 2u, 3u, 5u, 8u, 1000u}) {
      std::vector<KeyGroups> own;
      for (std::uint32_t i = 0; i < parallelism; ++i) {
        own.push_back(KeyGroups::of_subtask(i, parallelism, groups));
      }
      for (std::uint32_t group = 0; group < groups; ++group) {
        const std::uint32_t owner = group_owner(group, parallelism, groups);
        EXPECT_TRUE(own[owner].holds(group));
        if (owner > 0) EXPECT_FALSE(own[owner - 1].holds(group));
        if (owner + 1 < parallelism) EXPECT_FALSE(own[owner + 1].holds(group));
      }
    }
  }
}

}  // namespace
}  // namespace hummer::grouped_entries_test
