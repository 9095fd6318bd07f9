#include "connectors/file_store/local_file_store.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "connectors/connector_test_context.hpp"

namespace hummer::local_file_store_test {
namespace {

class LocalFileStoreTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(store_.prepare_directory("/out").ok()); }

  std::string finished(const std::string& name, std::string_view text) {
    auto upload = store_.begin_upload("/out", name);
    EXPECT_TRUE(upload.ok()) << upload.status().to_string();
    EXPECT_TRUE((*upload)->append(text).ok());
    Result<std::string> handle = (*upload)->finish();
    EXPECT_TRUE(handle.ok()) << handle.status().to_string();
    return handle.ok() ? *handle : std::string();
  }
  std::vector<std::string> listed(const std::string& directory) {
    auto lister = store_.list(directory, [] {});
    EXPECT_TRUE(lister.ok());
    std::vector<StoredFile> files;
    FileLister::Step step = FileLister::Step::more;
    while (step == FileLister::Step::more) step = (*lister)->next(files);
    EXPECT_EQ(step, FileLister::Step::done) << (*lister)->failure().to_string();
    std::vector<std::string> paths;
    for (const StoredFile& file : files) paths.push_back(file.path);
    std::sort(paths.begin(), paths.end());
    return paths;
  }
  std::size_t pending() { return store_.pending_uploads("/out")->size(); }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({});
  LocalFileStore store_{platform_->files()};
};

using Paths = std::vector<std::string>;

TEST_F(LocalFileStoreTest, ListsWhatIsNotHiddenAtAnyDepth) {
  for (const char* path :
       {"/in/a", "/in/sub/b", "/in/sub/deeper/c", "/in/.d", "/in/_e", "/in/.f/g", "/in/sub/_h/i"}) {
    put_file(*platform_, path, "x");
  }
  EXPECT_EQ(listed("/in"), (Paths{"/in/a", "/in/sub/b", "/in/sub/deeper/c"}));
  auto missing = store_.list("/missing", [] {});
  std::vector<StoredFile> files;
  ASSERT_EQ((*missing)->next(files), FileLister::Step::failed);
  EXPECT_EQ((*missing)->failure().code(), ErrorCode::not_found);
}

TEST_F(LocalFileStoreTest, AnUploadIsInvisibleUntilItIsPublishedAndOnceMoreIsNothing) {
  const std::string handle = finished("dt=1/part", "text");
  EXPECT_EQ(listed("/out"), Paths{});
  EXPECT_EQ(pending(), 1u);
  ASSERT_TRUE(store_.publish(handle).ok());
  ASSERT_TRUE(store_.publish(handle).ok());
  EXPECT_EQ(listed("/out"), Paths{"/out/dt=1/part"});
  EXPECT_EQ(get_file(*platform_, "/out/dt=1/part"), "text");
  EXPECT_EQ(pending(), 0u);
  ASSERT_TRUE(store_.abort(handle).ok());
  EXPECT_EQ(listed("/out"), Paths{"/out/dt=1/part"});
}

TEST_F(LocalFileStoreTest, NothingIsReplaced) {
  put_file(*platform_, "/out/part", "somebody else's");
  const std::string handle = finished("part", "text");
  EXPECT_EQ(store_.publish(handle).code(), ErrorCode::invalid_argument);
  EXPECT_EQ(get_file(*platform_, "/out/part"), "somebody else's");
}

TEST_F(LocalFileStoreTest, WhatIsGoneIsNotFound) {
  const std::string handle = finished("part", "text");
  ASSERT_TRUE(store_.abort(handle).ok());
  ASSERT_TRUE(store_.abort(handle).ok());
  EXPECT_EQ(store_.publish(handle).code(), ErrorCode::not_found);
  EXPECT_EQ(store_.publish("no handle").code(), ErrorCode::corrupt_record);
}

TEST_F(LocalFileStoreTest, OneThatIsLetGoOfLeavesNothing) {
  {
    auto upload = store_.begin_upload("/out", "part");
    ASSERT_TRUE((*upload)->append("text").ok());
    EXPECT_EQ(pending(), 1u);
  }
  EXPECT_EQ(pending(), 0u);
}

// Of one that was cut off and still writes.
TEST_F(LocalFileStoreTest, ASavedUploadHasExactlyTheBytesThatItHadThen) {
  auto upload = store_.begin_upload("/out", "part");
  ASSERT_TRUE((*upload)->append("saved").ok());
  const Result<std::string> token = (*upload)->save();
  ASSERT_TRUE(token.ok());
  ASSERT_TRUE((*upload)->append(" and more").ok());
  const Result<std::string> handle = store_.finish_saved(*token);
  ASSERT_TRUE(handle.ok()) << handle.status().to_string();
  ASSERT_TRUE((*upload)->append(" behind it").ok());
  ASSERT_TRUE(store_.publish(*handle).ok());
  EXPECT_EQ(get_file(*platform_, "/out/part"), "saved");
  // Another attempt does all of it again.
  const Result<std::string> again = store_.finish_saved(*token);
  ASSERT_TRUE(again.ok());
  ASSERT_TRUE(store_.publish(*again).ok());
  ASSERT_TRUE(store_.abort(*token).ok());
  const Result<std::string> later = store_.finish_saved(*token);
  ASSERT_TRUE(later.ok());
  ASSERT_TRUE(store_.publish(*later).ok());
  upload->reset();
  EXPECT_EQ(get_file(*platform_, "/out/part"), "saved");
  EXPECT_EQ(pending(), 0u);
}

TEST_F(LocalFileStoreTest, ASavedUploadThatWasPublishedWithMoreIsCopiedFromThere) {
  auto upload = store_.begin_upload("/out", "part");
  ASSERT_TRUE((*upload)->append("saved").ok());
  const Result<std::string> token = (*upload)->save();
  ASSERT_TRUE((*upload)->append(" and more").ok());
  ASSERT_TRUE(store_.publish(*(*upload)->finish()).ok());
  const Result<std::string> handle = store_.finish_saved(*token);
  ASSERT_TRUE(handle.ok());
  EXPECT_EQ(store_.publish(*handle).code(), ErrorCode::invalid_argument);
  ASSERT_TRUE(store_.hide("/out/part", "/out/.part.superseded").ok());
  ASSERT_TRUE(store_.publish(*handle).ok());
  EXPECT_EQ(get_file(*platform_, "/out/part"), "saved");
  EXPECT_EQ(get_file(*platform_, "/out/.part.superseded"), "saved and more");
}

TEST_F(LocalFileStoreTest, ASavedUploadWithoutItsBytesIsCorrupt) {
  auto upload = store_.begin_upload("/out", "part");
  ASSERT_TRUE((*upload)->append("saved").ok());
  const Result<std::string> token = (*upload)->save();
  platform_->truncate_file("/out/.hummer/part.pending", 3);
  EXPECT_EQ(store_.finish_saved(*token).status().code(), ErrorCode::corrupt_file);
}

TEST_F(LocalFileStoreTest, AChangedFileIsNamed) {
  put_file(*platform_, "/in/a", "0123456789");
  const Result<StoredFile> file = store_.look_at("/in/a");
  ASSERT_TRUE(file.ok());
  ASSERT_TRUE(store_.open(*file, [] {}).ok());
  const std::int64_t modified = file->modified_ms;
  for (const char* other : {"0123456789 longer", "01234x6789"}) {
    put_file(*platform_, "/in/a", other);
    platform_->set_modified("/in/a", modified);
    const auto opened = store_.open(*file, [] {});
    EXPECT_EQ(opened.status().code(), ErrorCode::file_changed);
    EXPECT_NE(opened.status().message().find("'/in/a'"), std::string::npos);
  }
}

// A power cut behind each operation of writing, saving, finishing and publishing two files: what
// was answered is there.
TEST(LocalFileStoreCrash, WhatWasAnsweredSurvivesAPowerCutAtAnyOperation) {
  for (std::uint64_t operations = 1;; ++operations) {
    Simulation simulation({.seed = operations});
    SimulatedPlatform& node = simulation.add_node("writer");
    std::string token, handle;
    bool published = false, noted = false;
    {
      LocalFileStore store(node.files());
      if (!store.prepare_directory("/out").ok()) FAIL();
      node.kill_at_disk_operation(operations);
      auto upload = store.begin_upload("/out", "dt=1/part");
      if (upload.ok() && (*upload)->append("saved").ok()) {
        if (Result<std::string> saved = (*upload)->save(); saved.ok()) token = *saved;
        if ((*upload)->append(" more").ok()) {
          if (Result<std::string> done = (*upload)->finish(); done.ok()) handle = *done;
        }
      }
      noted = store.put("/out/.hummer/note", "noted").ok();
      published = !handle.empty() && store.publish(handle).ok();
    }
    const bool ended = node.alive();
    node.kill();
    node.crash_disk();
    SimulatedPlatform& next = simulation.restart_node(node);
    LocalFileStore store(next.files());
    if (noted) {
      EXPECT_EQ(*store.get("/out/.hummer/note", 100), "noted");
    } else if (const Result<std::string> note = store.get("/out/.hummer/note", 100); note.ok()) {
      EXPECT_EQ(*note, "noted") << "a part of it, at " << operations;
    }
    if (published) {
      EXPECT_EQ(get_file(next, "/out/dt=1/part"), "saved more");
    }
    if (!handle.empty()) {
      ASSERT_TRUE(store.publish(handle).ok()) << operations;
      EXPECT_EQ(get_file(next, "/out/dt=1/part"), "saved more");
    } else if (!token.empty()) {
      const Result<std::string> made = store.finish_saved(token);
      ASSERT_TRUE(made.ok()) << made.status().to_string();
      ASSERT_TRUE(store.publish(*made).ok());
      EXPECT_EQ(get_file(next, "/out/dt=1/part"), "saved");
    }
    if (ended) break;
    ASSERT_LT(operations, 100u);
  }
}

}  // namespace
}  // namespace hummer::local_file_store_test
