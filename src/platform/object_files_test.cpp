#include "platform/object_files.hpp"

#include <gtest/gtest.h>

#include "platform/memory_object_store_for_test.hpp"
#include "platform/platform.hpp"
#include "platform/plugins.hpp"

namespace hummer::object_files_test {
namespace {

class ObjectFilesTest : public testing::Test {
 protected:
  std::string read(const std::string& path, std::uint64_t offset, std::size_t most) {
    const auto file = files.open_for_reading(path);
    EXPECT_TRUE(file.ok()) << file.status().to_string();
    std::string into(most, '\0');
    const auto got = (*file)->read_at(offset, {into.data(), into.size()});
    EXPECT_TRUE(got.ok()) << got.status().to_string();
    into.resize(got.ok() ? *got : 0);
    return into;
  }

  std::unique_ptr<MemoryObjectStore> made = std::make_unique<MemoryObjectStore>();
  MemoryObjectStore& store = *made;
  ObjectFiles files{std::move(made)};
};

TEST_F(ObjectFilesTest, AFileAppearsWhole) {
  {
    auto file = files.open_for_writing("m://b/x", WriteMode::create_new);
    ASSERT_TRUE((*file)->append("half").ok());
  }
  EXPECT_TRUE(store.objects.empty()) << "it was given up";
  auto file = files.open_for_writing("m://b/x", WriteMode::create_new);
  ASSERT_TRUE((*file)->append("one").ok());
  EXPECT_EQ(files.stat("m://b/x").status().code(), ErrorCode::not_found);
  ASSERT_TRUE((*file)->sync().ok());
  EXPECT_EQ(store.objects.at("m://b/x").bytes, "one");
  EXPECT_EQ((*file)->append("more").code(), ErrorCode::invalid_argument);
  auto second = files.open_for_writing("m://b/x", WriteMode::create_new);
  ASSERT_TRUE((*second)->append("two").ok());
  EXPECT_EQ((*second)->sync().code(), ErrorCode::invalid_argument);
  EXPECT_EQ(store.objects.at("m://b/x").bytes, "one");
}

TEST_F(ObjectFilesTest, WhatIsLargeGoesInParts) {
  auto file = files.open_for_writing("m://b/x", WriteMode::truncate);
  const std::string megabyte(1 << 20, 'm');
  for (int i = 0; i < 40; ++i) ASSERT_TRUE((*file)->append(megabyte).ok());
  ASSERT_TRUE((*file)->append("end").ok());
  EXPECT_TRUE(store.objects.empty());
  ASSERT_TRUE((*file)->close().ok());
  EXPECT_EQ(store.objects.at("m://b/x").bytes.size(), 40u * megabyte.size() + 3);
  EXPECT_EQ(store.writes, 3);
  EXPECT_EQ(read("m://b/x", 40u * megabyte.size(), 10), "end");
}

TEST_F(ObjectFilesTest, StretchesOfASegmentAreFiles) {
  store.objects["m://b/x.segment"].bytes = "0123456789";
  EXPECT_EQ(read("m://b/x.segment@3+4", 0, 10), "3456");
  EXPECT_EQ(read("m://b/x.segment@3+4", 2, 10), "56");
  EXPECT_EQ(read("m://b/x.segment@3+4", 4, 10), "");
  EXPECT_TRUE(files.stat("m://b/x.segment@3+4").ok());
  EXPECT_EQ(object_of("m://b/x.segment@3+4"), "m://b/x.segment");
  // The store has less than the metadata say.
  const auto file = files.open_for_reading("m://b/x.segment@8+4");
  char into[4];
  EXPECT_EQ((*file)->read_at(0, into).status().code(), ErrorCode::file_changed);
  for (const char* text :
       {"x.segment@", "x.segment@1", "x.segment@1+", "x.segment@+1", "x@1+2", "x.segment@1+2x",
        "x.segment@-1+2", "x.segment@1+18446744073709551616", "x.segment@2+18446744073709551615"}) {
    EXPECT_FALSE(parse_object_stretch(text)) << text;
  }
}

TEST_F(ObjectFilesTest, ReadingAsksForLittleWhereItJumps) {
  store.objects["m://b/x"].bytes.resize(8 << 20, 'x');
  const auto file = files.open_for_reading("m://b/x");
  char into[100];
  for (const std::uint64_t at : {7u << 20, 1u << 20, 5u << 20}) {
    ASSERT_TRUE((*file)->read_at(at, into).ok());
  }
  EXPECT_EQ(store.bytes_read, 3u * 16 * 1024);
  store.bytes_read = 0;
  for (std::uint64_t at = 0; at < 1 << 20; at += sizeof into) {
    ASSERT_TRUE((*file)->read_at(at, into).ok());
  }
  EXPECT_LT(store.bytes_read, 4u << 20) << "at most about twice what was asked for";
  // Every second stretch, as a restore reads those of its own key groups.
  const auto other = files.open_for_reading("m://b/x");
  store.reads = 0;
  std::string stretch(100'000, '\0');
  for (std::uint64_t at = 0; at < 7u << 20; at += 2 * stretch.size()) {
    ASSERT_TRUE((*other)->read_at(at, {stretch.data(), stretch.size()}).ok());
  }
  EXPECT_LT(store.reads, 15) << "small gaps are read through";
}

TEST_F(ObjectFilesTest, DirectoriesAreThereWithWhatIsInThem) {
  EXPECT_TRUE(files.create_directories("m://b/d/e").ok());
  EXPECT_EQ(files.list_directory("m://b/d").status().code(), ErrorCode::not_found);
  store.objects["m://b/d/e/x"] = {};
  store.objects["m://b/d/y"] = {};
  EXPECT_EQ(*files.list_directory("m://b/d"), (std::vector<std::string>{"e", "y"}));
  EXPECT_TRUE(files.stat("m://b/d")->is_directory);
  EXPECT_TRUE(files.stat("m://b/d/y")->is_regular);
  for (const Status& refused :
       {files.rename("m://b/d/y", "m://b/d/z"), files.lock("m://b/d/y").status(),
        files.open_for_updating("m://b/d/y", false).status(),
        files.open_for_writing("m://b/d/y", WriteMode::append).status()}) {
    EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
    EXPECT_NE(refused.message().find("m://b/d/y"), std::string::npos);
  }
}

TEST_F(ObjectFilesTest, PatternsMatchBehindTheBucket) {
  store.objects["s3://b/d/x.csv"] = {};
  store.objects["s3://b/d/y.txt"] = {};
  store.objects["s3://b/e/z.csv"] = {};
  EXPECT_EQ(*files.glob("s3://b/*/*.csv"),
            (std::vector<std::string>{"s3://b/d/x.csv", "s3://b/e/z.csv"}));
  EXPECT_EQ(*files.glob("s3://b/d/?.txt"), std::vector<std::string>{"s3://b/d/y.txt"});
  EXPECT_TRUE(files.glob("s3://b/none/*")->empty());
  const Status refused = files.must_be_on_disk("s3://b/d", "do otherwise");
  EXPECT_EQ(refused.code(), ErrorCode::invalid_argument);
  EXPECT_NE(refused.message().find("do otherwise"), std::string::npos) << refused.message();
}

TEST(ObjectStoreLoader, TakesSchemesAndNamesWhatIsMissing) {
  EXPECT_EQ(scheme_of("s3://bucket/key"), "s3");
  for (const char* path : {"/a://b", "a/b://c", "://x", "s3:/x", "", "/plain", "C://x"}) {
    EXPECT_EQ(scheme_of(path), "") << path;
  }
  const auto platform = make_linux_platform();
  const Status missing = platform->files().stat("nostore://bucket/key").status();
  EXPECT_EQ(missing.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(missing.message().find("libhummer_nostore.so"), std::string::npos) << missing.message();
  EXPECT_NE(missing.message().find("HUMMER_PLUGIN_PATH"), std::string::npos);
}

}  // namespace
}  // namespace hummer::object_files_test
