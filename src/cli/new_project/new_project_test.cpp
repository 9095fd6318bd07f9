#include "cli/new_project/new_project.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "cli/commands/new.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::new_project_test {
namespace {

std::string text_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

class NewProject : public testing::Test {
 protected:
  int run(std::vector<std::string> words) {
    BuiltInJobLibraries none;
    return run_new({.platform = *platform_,
                    .libraries = none,
                    .program = "hummer",
                    .command = "new",
                    .words = std::move(words)});
  }

  TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_ = make_linux_platform();
};

TEST_F(NewProject, HasItsNameInAllFilesAndNothingOfTheTemplateIsLeft) {
  const auto written = write_new_project(platform_->files(), "clicks", folder_ / "made/as_needed");
  ASSERT_TRUE(written.ok()) << written.status().to_string();
  std::vector<std::string> names;
  for (const std::string& path : *written) {
    names.push_back(std::filesystem::path(path).filename());
    EXPECT_EQ(text_of(path).find("@NAME@"), std::string::npos) << path;
    EXPECT_FALSE(text_of(path).empty()) << path;
  }
  EXPECT_EQ(names, (std::vector<std::string>{".gitignore", "CMakeLists.txt", "README.md",
                                             "clicks.cpp", "clicks.hpp", "clicks_test.cpp"}));
  const std::string made = folder_ / "made/as_needed/";
  EXPECT_NE(text_of(made + "CMakeLists.txt").find("hummer_add_job(clicks clicks.cpp)"),
            std::string::npos);
  EXPECT_NE(text_of(made + "clicks.cpp").find("HUMMER_JOB(clicks_job::run)"), std::string::npos);
}

TEST_F(NewProject, IsNotWrittenOverWhatIsThere) {
  const std::string directory = folder_ / "project";
  std::filesystem::create_directory(directory);
  EXPECT_EQ(run({"first", "--directory", directory}), 0);
  const std::string before = text_of(directory + "/README.md");
  EXPECT_EQ(run({"second", "--directory", directory}), 2);
  EXPECT_EQ(text_of(directory + "/README.md"), before);
  EXPECT_FALSE(std::filesystem::exists(directory + "/second.cpp"));

  const Status full = write_new_project(platform_->files(), "third", directory).status();
  EXPECT_EQ(full.code(), ErrorCode::invalid_argument);
  EXPECT_NE(full.message().find("--directory"), std::string::npos);
  const Status file =
      write_new_project(platform_->files(), "third", directory + "/README.md").status();
  EXPECT_EQ(file.code(), ErrorCode::invalid_argument);
  EXPECT_NE(file.message().find("is a file"), std::string::npos);
}

TEST_F(NewProject, NamesThatWillNotDoAreRefusedWithOneThatWill) {
  for (const char* name : {"a", "wc", "Clicks2", "class", "word_count"}) {
    EXPECT_TRUE(check_project_name(name).ok()) << name;
  }
  const std::pair<std::string, std::string> refused[] = {
      {"word-count", "call it word_count"},
      {"2nd", "call it job_2nd"},
      {"../away", "call it away"},
      {"_x", "call it x"},
      {"test", "call it test_job"},
      {"hummer", "call it hummer_job"},
      {std::string(101, 'x'), "100 of them at most"}};
  for (const auto& [name, cure] : refused) {
    const Status status = check_project_name(name);
    EXPECT_EQ(status.code(), ErrorCode::invalid_argument) << name;
    EXPECT_NE(status.message().find(cure), std::string::npos) << status.message();
  }
  EXPECT_EQ(check_project_name("").code(), ErrorCode::invalid_argument);
  EXPECT_EQ(run({"word-count", "--directory", folder_ / "x"}), 2);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "x"));
}

}  // namespace
}  // namespace hummer::new_project_test
