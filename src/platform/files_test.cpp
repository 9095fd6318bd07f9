#include "platform/files.hpp"

#include <gtest/gtest.h>

#include <unistd.h>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include "platform/platform.hpp"
#include "platform/simulation.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::files_test {
namespace {

using Names = std::vector<std::string>;

// Every test runs on both forms, in a directory of its own.
class FilesTest : public testing::TestWithParam<bool> {
 protected:
  FilesTest() {
    if (GetParam()) {
      platform_ = make_simulated_platform({.seed = 3});
      root_ = "/test";
      EXPECT_TRUE(files().create_directories(root_).ok());
    } else {
      platform_ = make_linux_platform();
      root_ = folder_.emplace().path();
    }
  }
  Files& files() { return platform_->files(); }
  std::string path(const std::string& name) const { return root_ + "/" + name; }
  void write(const std::string& name, const std::string& text,
             WriteMode mode = WriteMode::truncate) {
    auto file = files().open_for_writing(path(name), mode);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    ASSERT_TRUE((*file)->append(text).ok());
    ASSERT_TRUE((*file)->close().ok());
  }
  std::string read(const std::string& name) {
    auto file = files().open_for_reading(path(name));
    if (!file.ok()) return file.status().to_string();
    std::string text((*file)->size_bytes() + 10, '?');
    const auto got = (*file)->read_at(0, text);
    if (!got.ok()) return got.status().to_string();
    text.resize(*got);
    return text;
  }
  // The code, after checking that the message names the path.
  template <typename Outcome>
  ErrorCode code_naming(const Outcome& outcome, const std::string& name) {
    const Status& status = status_of(outcome);
    EXPECT_NE(status.message().find(path(name)), std::string::npos) << status.to_string();
    return status.code();
  }
  static const Status& status_of(const Status& status) { return status; }
  template <typename T>
  static const Status& status_of(const Result<T>& result) {
    return result.status();
  }

  std::unique_ptr<Platform> platform_;
  std::optional<TemporaryFolder> folder_;  // with a disk that is not simulated
  std::string root_;
};
INSTANTIATE_TEST_SUITE_P(Forms, FilesTest, testing::Bool(),
                         [](const auto& form) { return form.param ? "Simulated" : "Linux"; });

TEST_P(FilesTest, WriteAppendRead) {
  write("a", "one");
  write("a", "two", WriteMode::append);
  EXPECT_EQ(read("a"), "onetwo");
  write("a", "three");
  EXPECT_EQ(read("a"), "three");
  auto file = files().open_for_reading(path("a"));
  ASSERT_TRUE(file.ok());
  char text[3];
  EXPECT_EQ(*(*file)->read_at(2, text), 3u);
  EXPECT_EQ(std::string(text, 3), "ree");
  EXPECT_EQ(*(*file)->read_at(4, text), 1u);
  EXPECT_EQ(*(*file)->read_at(5, text), 0u);
  EXPECT_EQ(*(*file)->read_at(99, text), 0u);
}

TEST_P(FilesTest, FailuresHaveTheRightCodeAndNameThePath) {
  write("file", "x");
  ASSERT_TRUE(files().create_directories(path("directory/below")).ok());
  EXPECT_EQ(code_naming(files().open_for_reading(path("missing")), "missing"),
            ErrorCode::not_found);
  EXPECT_EQ(code_naming(files().open_for_reading(path("directory")), "directory"),
            ErrorCode::not_a_file);
  EXPECT_EQ(
      code_naming(files().open_for_writing(path("directory"), WriteMode::truncate), "directory"),
      ErrorCode::not_a_file);
  EXPECT_EQ(code_naming(files().open_for_writing(path("no/file"), WriteMode::truncate), "no/file"),
            ErrorCode::not_found);
  EXPECT_EQ(code_naming(files().open_for_writing(path("file"), WriteMode::create_new), "file"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_naming(files().stat(path("missing")), "missing"), ErrorCode::not_found);
  EXPECT_EQ(code_naming(files().list_directory(path("missing")), "missing"), ErrorCode::not_found);
  EXPECT_EQ(code_naming(files().remove(path("missing")), "missing"), ErrorCode::not_found);
  EXPECT_EQ(code_naming(files().remove(path("directory")), "directory"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code_naming(files().rename(path("missing"), path("other")), "missing"),
            ErrorCode::not_found);
  EXPECT_EQ(files().create_directories(path("file/below")).code(), ErrorCode::not_a_file);
}

TEST_P(FilesTest, AppendAfterCloseFails) {
  auto file = files().open_for_writing(path("a"), WriteMode::truncate);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE((*file)->append("x").ok());
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_EQ((*file)->size_bytes(), 1u);
  EXPECT_TRUE((*file)->close().ok());
  EXPECT_TRUE((*file)->close().ok());
  EXPECT_EQ((*file)->append("y").code(), ErrorCode::invalid_argument);
}

TEST_P(FilesTest, UpdatesInPlace) {
  EXPECT_EQ(code_naming(files().open_for_updating(path("a"), false), "a"), ErrorCode::not_found);
  EXPECT_EQ(code_naming(files().open_for_updating(root_ + "/no/a", true), "no/a"),
            ErrorCode::not_found);
  auto file = files().open_for_updating(path("a"), true);
  ASSERT_TRUE(file.ok()) << file.status().to_string();
  EXPECT_TRUE((*file)->write_at(0, "hello world").ok());
  EXPECT_TRUE((*file)->write_at(6, "there").ok());
  EXPECT_EQ(read("a"), "hello there");
  EXPECT_TRUE((*file)->write_at(13, "!").ok());
  EXPECT_EQ(read("a"), std::string("hello there\0\0!", 14));
  char text[5];
  EXPECT_EQ(*(*file)->read_at(12, text), 2u);
  EXPECT_EQ(*(*file)->read_at(14, text), 0u);
  EXPECT_TRUE((*file)->truncate(5).ok());
  EXPECT_EQ(*(*file)->size_bytes(), 5u);
  EXPECT_EQ(read("a"), "hello");
  EXPECT_TRUE((*file)->truncate(7).ok());
  EXPECT_TRUE((*file)->sync().ok());
  EXPECT_EQ(read("a"), std::string("hello\0\0", 7));
  auto again = files().open_for_updating(path("a"), false);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE((*again)->write_at(0, "H").ok());
  EXPECT_EQ(*(*file)->read_at(0, text), 5u);
  EXPECT_EQ(std::string(text, 5), "Hello");
}

TEST_P(FilesTest, ALockHasOneHolder) {
  auto first = files().lock(path("lock"));
  ASSERT_TRUE(first.ok() && *first != nullptr);
  auto second = files().lock(path("lock"));
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  EXPECT_EQ(*second, nullptr);
  first->reset();
  second = files().lock(path("lock"));
  EXPECT_TRUE(second.ok() && *second != nullptr);
  EXPECT_EQ(code_naming(files().lock(path("no/lock")), "no/lock"), ErrorCode::not_found);
}

TEST_P(FilesTest, NamesChange) {
  ASSERT_TRUE(files().create_directories(path("d/e")).ok());
  ASSERT_TRUE(files().create_directories(path("d/e")).ok());
  write("d/b", "b");
  write("d/a", "a");
  EXPECT_EQ(*files().list_directory(path("d")), (Names{"a", "b", "e"}));
  ASSERT_TRUE(files().rename(path("d/a"), path("d/b")).ok());
  EXPECT_EQ(read("d/b"), "a");
  EXPECT_TRUE(files().stat(path("d/e"))->is_directory);
  EXPECT_EQ(files().stat(path("d/b"))->size_bytes, 1u);
  EXPECT_TRUE(files().remove(path("d/e")).ok());
  EXPECT_TRUE(files().sync_directory(path("d")).ok());
  EXPECT_EQ(*files().list_directory(path("d")), (Names{"b"}));
}

TEST_P(FilesTest, RenamesOverNothing) {
  write("a", "a");
  write("b", "b");
  EXPECT_EQ(code_naming(files().rename_new(path("a"), path("b")), "b"),
            ErrorCode::invalid_argument);
  EXPECT_EQ(read("a"), "a");
  EXPECT_EQ(read("b"), "b");
  EXPECT_TRUE(files().rename_new(path("a"), path("c")).ok());
  EXPECT_EQ(read("c"), "a");
  EXPECT_EQ(files().stat(path("a")).status().code(), ErrorCode::not_found);
  EXPECT_EQ(code_naming(files().rename_new(path("a"), path("d")), "a"), ErrorCode::not_found);
}

TEST_P(FilesTest, GlobFindsWhatMatches) {
  ASSERT_TRUE(files().create_directories(path("logs/2020")).ok());
  ASSERT_TRUE(files().create_directories(path("logs/2021")).ok());
  for (const char* name : {"logs/2020/a.txt", "logs/2021/a.txt", "logs/2021/b.gz", "logs/.hidden"})
    write(name, "");
  EXPECT_EQ(*files().glob(path("logs/*/a.txt")),
            (Names{path("logs/2020/a.txt"), path("logs/2021/a.txt")}));
  EXPECT_EQ(*files().glob(path("logs/202[1-9]/?.*")),
            (Names{path("logs/2021/a.txt"), path("logs/2021/b.gz")}));
  EXPECT_EQ(*files().glob(path("logs/*")), (Names{path("logs/2020"), path("logs/2021")}));
  EXPECT_EQ(*files().glob(path("logs/2020/a.txt/*")), Names{});
  EXPECT_EQ(*files().glob(path("none/*")), Names{});
  EXPECT_EQ(*files().glob(path("logs")), Names{path("logs")});
}

TEST_P(FilesTest, MappingIsReadablePastItsEnd) {
  const std::size_t page = 4096;
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, page - 65, page - 64, page - 63,
                                 page - 1, page, page + 1, 3 * page}) {
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 26);
    write("mapped", text);
    auto file = files().open_for_reading(path("mapped"));
    ASSERT_TRUE(file.ok());
    for (const std::size_t offset : {std::size_t{0}, size / 2, size}) {
      auto mapping = (*file)->map(offset, size - offset);
      ASSERT_TRUE(mapping.ok()) << mapping.status().to_string();
      EXPECT_EQ((*mapping)->text(), std::string_view(text).substr(offset));
      unsigned sum = 0;
      for (std::size_t i = 0; i < Mapping::readable_past_end; ++i) {
        sum += static_cast<unsigned char>((*mapping)->data()[(*mapping)->size() + i]);
      }
      EXPECT_LE(sum, 64u * 255u);
      EXPECT_FALSE((*mapping)->truncated());
      (*mapping)->prefault(0, size);
      (*mapping)->release_before(size / 2);
      EXPECT_EQ((*mapping)->text(), std::string_view(text).substr(offset));
    }
    EXPECT_EQ((*file)->map(0, size + 1).status().code(), ErrorCode::file_changed);
    EXPECT_EQ((*file)->map(size + 1, 0).status().code(), ErrorCode::file_changed);
  }
}

TEST_P(FilesTest, TruncationUnderAMappingIsAFlag) {
  const std::string text(100'000, 'x');
  for (const std::size_t left : {std::size_t{0}, std::size_t{10'000}, std::size_t{99'999}}) {
    write("shrinking", text);
    auto file = files().open_for_reading(path("shrinking"));
    ASSERT_TRUE(file.ok());
    auto whole = (*file)->map(0, text.size());
    auto head = (*file)->map(0, left);
    auto middle = (*file)->map(50'000, 10'000);
    ASSERT_TRUE(whole.ok() && head.ok() && middle.ok());
    EXPECT_EQ((*middle)->text(), std::string_view(text).substr(0, 10'000));
    if (GetParam()) {
      static_cast<SimulatedPlatform&>(*platform_).truncate_file(path("shrinking"), left);
    } else {
      ASSERT_EQ(::truncate(path("shrinking").c_str(), static_cast<off_t>(left)), 0);
    }
    std::size_t count = 0;
    for (const char c : (*whole)->text()) count += c == 'x' ? 1 : 0;
    for (const char c : (*middle)->text()) count += c == 'x' ? 1 : 0;
    EXPECT_GE(count, left);
    EXPECT_TRUE((*whole)->truncated());
    EXPECT_EQ((*middle)->truncated(), left < 60'000);
    EXPECT_FALSE((*head)->truncated());
  }
}

TEST(LinuxFiles, FullDiskIsNamed) {
  auto platform = make_linux_platform();
  auto file = platform->files().open_for_writing("/dev/full", WriteMode::append);
  if (!file.ok()) GTEST_SKIP() << "no /dev/full";
  const Status status = (*file)->append("x");
  EXPECT_EQ(status.code(), ErrorCode::disk_full);
  EXPECT_NE(status.message().find("/dev/full"), std::string::npos);
}

TEST(LinuxFiles, UnreadableFileIsPermissionDenied) {
  const TemporaryFolder folder;
  const std::string name = folder / "locked";
  std::ofstream(name) << "unreadable";
  std::filesystem::permissions(folder.path(), std::filesystem::perms::all);
  std::filesystem::permissions(name, std::filesystem::perms::none);
  auto platform = make_linux_platform();
  const bool is_root = ::geteuid() == 0;  // who may read everything
  ASSERT_EQ(is_root ? ::seteuid(65534) : 0, 0);
  const ErrorCode code = platform->files().open_for_reading(name).status().code();
  ASSERT_EQ(is_root ? ::seteuid(0) : 0, 0);
  EXPECT_EQ(code, ErrorCode::permission_denied);
}

TEST(LinuxFilesDeathTest, AFaultOutsideMappingsStillEndsTheProcess) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        ::signal(SIGBUS, SIG_DFL);  // a sanitizer's handler would exit instead
        auto platform = make_linux_platform();
        ::raise(SIGBUS);
      },
      testing::KilledBySignal(SIGBUS), "");
}

TEST(Wildcards, Match) {
  EXPECT_TRUE(matches_wildcard("*", "abc"));
  EXPECT_TRUE(matches_wildcard("a*c*", "abcd"));
  EXPECT_TRUE(matches_wildcard("*.txt", "a.b.txt"));
  EXPECT_FALSE(matches_wildcard("*.txt", "a.txt.gz"));
  EXPECT_FALSE(matches_wildcard("*", ".hidden"));
  EXPECT_TRUE(matches_wildcard(".*", ".hidden"));
  EXPECT_TRUE(matches_wildcard("[!a-c]x", "dx"));
  EXPECT_FALSE(matches_wildcard("[!a-c]x", "bx"));
  EXPECT_TRUE(matches_wildcard("[]]", "]"));
  EXPECT_TRUE(matches_wildcard("[a", "[a"));
  EXPECT_TRUE(matches_wildcard("\\*", "*"));
  EXPECT_FALSE(matches_wildcard("\\*", "a"));
  EXPECT_FALSE(has_wildcard("\\*a"));
  EXPECT_TRUE(has_wildcard("a?"));
  EXPECT_TRUE(matches_wildcard("", ""));
  EXPECT_FALSE(matches_wildcard("?", ""));
}

TEST(ParentOf, GoesByTheTextAlone) {
  EXPECT_EQ(parent_of("/a/b/c"), "/a/b");
  EXPECT_EQ(parent_of("a/b/"), "a");
  EXPECT_EQ(parent_of("/a"), "/");
  EXPECT_EQ(parent_of("/"), "/");
  EXPECT_EQ(parent_of("a"), ".");
}

}  // namespace
}  // namespace hummer::files_test
