#include <hummer/s3/files.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <set>
#include <thread>

#include "connectors/connector_test_context.hpp"
#include "testing/store_for_test.hpp"
#include "upload_handle.hpp"

namespace hummer::s3::file_store_test {
namespace {

class S3Files : public testing::Test {
 protected:
  void SetUp() override {
    server = StoreForTest::shared();
    if (server == nullptr) GTEST_SKIP() << StoreForTest::why_not();
    server->faults("{}");
    server->reset_counts();
    directory = "s3://tests/" + server->make_folder("files");
    auto made = files(server->settings())->make(context);
    ASSERT_TRUE(made.ok()) << made.status().to_string();
    store = std::move(*made);
  }
  void TearDown() override {
    if (server != nullptr) server->faults("{}");
  }
  std::string upload(const std::string& name, std::string_view bytes) {
    auto begun = store->begin_upload(directory, name);
    EXPECT_TRUE(begun.ok()) << begun.status().to_string();
    EXPECT_TRUE((*begun)->append(bytes).ok());
    const auto handle = (*begun)->finish();
    EXPECT_TRUE(handle.ok()) << handle.status().to_string();
    return handle.ok() ? *handle : std::string();
  }
  std::set<std::string> listed() {
    std::set<std::string> paths;
    auto lister = store->list(directory, [] {});
    EXPECT_TRUE(lister.ok());
    std::vector<StoredFile> found;
    for (;;) {
      const auto step = (*lister)->next(found);
      EXPECT_NE(step, FileLister::Step::failed) << (*lister)->failure().to_string();
      if (step != FileLister::Step::more) break;
    }
    for (const StoredFile& file : found) paths.insert(file.path.substr(directory.size() + 1));
    return paths;
  }

  StoreForTest* server = nullptr;
  std::unique_ptr<Platform> platform = make_simulated_platform({.seed = 1});
  ConnectorTestContext context{*platform};
  std::string directory;
  std::unique_ptr<FileStore> store;
};

TEST_F(S3Files, AreInvisibleUntilPublishedAndPublishedOnce) {
  const std::string handle = upload("dt=1/part-0", "lines");
  EXPECT_TRUE(listed().empty());
  const auto pending = store->pending_uploads(directory);
  ASSERT_TRUE(pending.ok());
  ASSERT_EQ(pending->size(), 1u);
  EXPECT_EQ(pending->front().name, "part-0");
  ASSERT_TRUE(store->publish(handle).ok());
  EXPECT_EQ(listed(), std::set<std::string>{"dt=1/part-0"});
  EXPECT_TRUE(store->publish(handle).ok()) << "once more";
  EXPECT_TRUE(store->abort(handle).ok());
  EXPECT_EQ(*store->get(directory + "/dt=1/part-0", 100), "lines");

  const std::string other = upload("dt=1/part-0", "other lines");
  EXPECT_EQ(store->publish(other).code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(store->abort(other).ok());
  EXPECT_EQ(store->publish(upload("x", "x").substr(0, 20)).code(), ErrorCode::corrupt_record);
  const std::string gone = upload("gone", "x");
  ASSERT_TRUE(store->abort(gone).ok());
  EXPECT_EQ(store->publish(gone).code(), ErrorCode::not_found);
}

TEST_F(S3Files, APublicationWhoseAnswerIsLostIsOne) {
  const std::string handle = upload("part-0", "lines");
  server->faults(R"({"lose": [1, 0, 1], "methods": ["POST"]})");
  EXPECT_TRUE(store->publish(handle).ok());
  EXPECT_EQ(server->failed("lose"), 1);
  EXPECT_EQ(*store->get(directory + "/part-0", 100), "lines");
}

TEST_F(S3Files, AreReadPieceByPieceAsTheyWereFound) {
  std::string bytes;
  for (int i = 0; bytes.size() < 7u << 20; ++i) bytes += std::to_string(i) + "\n";
  ASSERT_TRUE(store->publish(upload("large", bytes)).ok());
  const auto file = store->look_at(directory + "/large");
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  std::atomic<int> woken{0};
  auto reader = store->open(*file, [&] { ++woken; });
  ASSERT_TRUE(reader.ok()) << reader.status().to_string();
  EXPECT_FALSE((*reader)->is_at_hand(0, 1000));
  while (!(*reader)->is_at_hand(0, 1000)) std::this_thread::yield();
  EXPECT_GE(woken, 1);
  std::string read(bytes.size() + 10, '\0');
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t wanted = std::min<std::size_t>(300'000, read.size() - at);
    (void)(*reader)->is_at_hand(at, wanted);
    const auto got = (*reader)->read_at(at, {read.data() + at, wanted});
    ASSERT_TRUE(got.ok()) << got.status().to_string();
    ASSERT_GT(*got, 0u);
    at += *got;
  }
  read.resize(at);
  EXPECT_TRUE(read == bytes);
  EXPECT_EQ(*(*reader)->read_at(bytes.size(), {read.data(), 10}), 0u);

  ASSERT_TRUE(store->put(directory + "/large", "replaced").ok());
  EXPECT_EQ(store->open(*file, [] {}).status().code(), ErrorCode::file_changed);
  char into[10];
  auto stale = (*reader)->read_at(0, into);
  EXPECT_TRUE(stale.status().code() == ErrorCode::file_changed) << "its piece was dropped";
}

TEST_F(S3Files, NotesAndWhatIsHiddenAreNotListed) {
  ASSERT_TRUE(store->prepare_directory(directory).ok());
  ASSERT_TRUE(store->put(directory + "/.notes/a", "1").ok());
  ASSERT_TRUE(store->put(directory + "/.notes/a", "2").ok());
  ASSERT_TRUE(store->put(directory + "/_SUCCESS", "").ok());
  ASSERT_TRUE(store->put(directory + "/d/b", "3").ok());
  EXPECT_EQ(*store->notes(directory, ".notes"), std::vector<std::string>{"a"});
  EXPECT_TRUE(store->notes(directory, ".none")->empty());
  EXPECT_EQ(*store->get(directory + "/.notes/a", 10), "2");
  EXPECT_EQ(store->get(directory + "/d/b", 0).status().code(), ErrorCode::limit_exceeded);
  EXPECT_EQ(store->get(directory + "/d/c", 10).status().code(), ErrorCode::not_found);
  EXPECT_EQ(listed(), std::set<std::string>{"d/b"});
  ASSERT_TRUE(store->hide(directory + "/d/b", directory + "/d/.b").ok());
  EXPECT_TRUE(listed().empty());
  EXPECT_EQ(*store->get(directory + "/d/.b", 10), "3");
  EXPECT_EQ(store->hide(directory + "/d/b", directory + "/d/.c").code(), ErrorCode::not_found);
}

TEST_F(S3Files, ANoteThatIsReplacedWhileItIsReadIsTheOldOrTheNewOne) {
  const std::string path = directory + "/.notes/a";
  const auto text_of = [](int i) {
    return std::string(static_cast<std::size_t>(i % 7) * 100, 'x');
  };
  ASSERT_TRUE(store->put(path, text_of(1)).ok());
  std::atomic<bool> ends{false};
  std::thread other([&] {
    const auto own = s3::files(server->settings())->make(context);
    for (int i = 0; i < 60; ++i) EXPECT_TRUE((*own)->put(path, text_of(i)).ok());
    ends = true;
  });
  while (!ends) {
    const auto read = store->get(path, 1'000);
    ASSERT_TRUE(read.ok()) << read.status().to_string();
    EXPECT_EQ(read->size() % 100, 0u);
  }
  other.join();
}

}  // namespace
}  // namespace hummer::s3::file_store_test
