#include "shuffle/shuffle_store.hpp"

#include <gtest/gtest.h>

#include "platform/simulation.hpp"

namespace hummer::shuffle_store_test {
namespace {

const std::string chunk(128, 'x');

ShuffleKey key_of(std::uint32_t attempt, std::uint32_t subtask = 0) {
  return {.job = 9, .attempt = attempt, .region = 1, .edge = 2, .subtask = subtask};
}

// Files and directories below `path`, but for locks.
std::vector<std::string> names_below(Files& files, const std::string& path) {
  std::vector<std::string> all;
  const auto names = files.list_directory(path);
  if (!names.ok()) return all;
  for (const std::string& name : *names) {
    if (name == "lock") continue;
    const std::string full = path + "/" + name;
    all.push_back(full);
    if (!files.stat(full)->is_directory) continue;
    for (std::string& each : names_below(files, full)) all.push_back(std::move(each));
  }
  return all;
}

class ShuffleStoreTest : public testing::Test {
 protected:
  void publish(ShuffleStore& store, const ShuffleKey& key) {
    auto draft = store.create(key, 1);
    ASSERT_TRUE(draft.ok()) << draft.status().to_string();
    EXPECT_TRUE((*draft)->writer().append(0, chunk).ok());
    const Status published = store.publish(**draft);
    EXPECT_TRUE(published.ok()) << published.to_string();
  }
  std::size_t files_in(const std::string& directory = "/spill") {
    std::size_t count = 0;
    for (const std::string& path : names_below(node.files(), directory)) {
      count += node.files().stat(path)->is_directory ? 0 : 1;
    }
    return count;
  }

  Simulation simulation{{.seed = 3}};
  SimulatedPlatform& node = simulation.add_node("node");
};

TEST_F(ShuffleStoreTest, WhatIsPublishedIsFound) {
  ShuffleStore store(node, "/spill", {});
  publish(store, key_of(1));
  const auto file = store.open(key_of(1));
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_EQ((*file)->chunks(0).size(), 1u);
  EXPECT_EQ(store.usage().files, 1u);
  EXPECT_EQ(store.usage().bytes, chunk.size());
  EXPECT_EQ(store.open(key_of(2)).status().code(), ErrorCode::not_found);
}

TEST_F(ShuffleStoreTest, ADraftIsNotFoundAndGoesWithItsOwner) {
  ShuffleStore store(node, "/spill", {});
  {
    auto draft = store.create(key_of(1), 1);
    ASSERT_TRUE(draft.ok());
    EXPECT_TRUE((*draft)->writer().append(0, chunk).ok());
    EXPECT_EQ(store.open(key_of(1)).status().code(), ErrorCode::not_found);
    EXPECT_EQ(files_in(), 1u);
  }
  EXPECT_EQ(files_in(), 0u);
}

TEST_F(ShuffleStoreTest, WhatNobodyNeedsIsRemoved) {
  ShuffleStore store(node, "/spill", {});
  publish(store, key_of(1, 0));
  publish(store, key_of(1, 1));
  publish(store, key_of(2));
  const auto still_open = store.open(key_of(2));
  store.keep_only({{9, 1, 1}});
  EXPECT_TRUE(store.open(key_of(1, 0)).ok());
  EXPECT_TRUE(store.open(key_of(1, 1)).ok());
  EXPECT_EQ(store.open(key_of(2)).status().code(), ErrorCode::not_found);
  EXPECT_EQ(files_in(), 2u);
  store.keep_only({{9, 1, 0}, {8, 1, 1}});  // another region, another job
  EXPECT_EQ(files_in(), 0u);
}

TEST_F(ShuffleStoreTest, NothingStaysBehindIt) {
  {
    ShuffleStore store(node, "/spill", {});
    publish(store, key_of(1));
    EXPECT_EQ(files_in(), 1u);
  }
  EXPECT_TRUE(names_below(node.files(), "/spill").empty());
}

TEST_F(ShuffleStoreTest, WithoutFilesItMakesNoDirectory) {
  {
    ShuffleStore store(node, "/spill", {});
    store.keep_only({});
    store.remove_left_overs();
    EXPECT_FALSE(store.open(key_of(1)).ok());
  }
  EXPECT_FALSE(node.files().stat("/spill").ok());
}

TEST_F(ShuffleStoreTest, TwoThatLiveLeaveEachOtherAlone) {
  ShuffleStore one(node, "/spill", {});
  publish(one, key_of(1));
  ShuffleStore other(node, "/spill", {});
  publish(other, key_of(1));
  other.keep_only({});
  EXPECT_TRUE(one.open(key_of(1)).ok());
}

TEST_F(ShuffleStoreTest, WhatAKilledProcessHasLeftIsRemovedByTheNext) {
  SimulatedPlatform& victim = simulation.add_node("victim", node);
  auto killed = std::make_unique<ShuffleStore>(victim, "/spill", Logger());
  publish(*killed, key_of(1));
  auto draft = killed->create(key_of(2), 1);
  ASSERT_TRUE(draft.ok());
  EXPECT_EQ(files_in(), 2u);
  victim.kill();
  draft->reset();
  killed.reset();
  EXPECT_EQ(files_in(), 2u);
  ShuffleStore next(node, "/spill", {});
  next.remove_left_overs();
  EXPECT_TRUE(names_below(node.files(), "/spill").empty());
}

TEST_F(ShuffleStoreTest, AFullDiskIsAnErrorThatNamesTheFile) {
  Simulation small({.seed = 4, .disk_capacity_bytes = 1000});
  SimulatedPlatform& full = small.add_node("full");
  ShuffleStore store(full, "/spill", {});
  auto draft = store.create(key_of(1), 1);
  ASSERT_TRUE(draft.ok());
  const Status appended = (*draft)->writer().append(0, std::string(64 * 64, 'x'));
  EXPECT_EQ(appended.code(), ErrorCode::disk_full);
  EXPECT_NE(appended.message().find("/spill/"), std::string::npos);
}

}  // namespace
}  // namespace hummer::shuffle_store_test
