// Job libraries as hummer_add_job builds them, loaded into this process, which exports the engine
// as `hummer` does; and the three forms of one job, run as programs.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <hummer/hummer.hpp>
#include <sstream>

#include "api/job_build.hpp"
#include "graph/job_graph.hpp"
#include "job_library/dynamic_job_libraries.hpp"
#include "job_library/engine_abi.hpp"
#include "platform/temporary_folder_for_test.hpp"
#include "support/test_paths.hpp"

namespace hummer::loaded_libraries_test {
namespace {

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::uint64_t hash_of(const std::string& bytes) { return hash_bytes(bytes.data(), bytes.size()); }

class LoadedLibraries : public ::testing::Test {
 protected:
  // The job's name and what it wrote.
  std::string run(JobFunction job, const std::string& name) {
    const std::string output = folder_ / name;
    const char* arguments[] = {"job", "--output", output.c_str(), "--quiet"};
    StreamExecutionEnvironment env(4, arguments);
    const JobResult result = job(env);
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(result.counter("made"), 3u);  // by the engine that has the library loaded
    return result.job_name + "\n" + read_file(output);
  }
  Status refusal(const std::string& bytes) {
    return DynamicJobLibraries().load(hash_of(bytes), bytes).status();
  }

  const TemporaryFolder folder_;
};

TEST_F(LoadedLibraries, TwoVersionsOfOneJobRunSideBySide) {
  DynamicJobLibraries libraries;
  const std::string one = read_file(test_path("versions_1"));
  const std::string two = read_file(test_path("versions_2"));
  EXPECT_EQ(libraries.find(hash_of(one)), nullptr);
  const Result<JobFunction> first = libraries.load(hash_of(one), one);
  const Result<JobFunction> second = libraries.load(hash_of(two), two);
  ASSERT_TRUE(first.ok()) << first.status().to_string();
  ASSERT_TRUE(second.ok()) << second.status().to_string();
  ASSERT_NE(*first, *second);
  EXPECT_EQ(libraries.find(hash_of(one)), *first);
  EXPECT_EQ(libraries.find(hash_of(two)), *second);

  const std::string of_one = "version 1: 0\nversion 1: 10\nversion 1: 20\n";
  const std::string of_two = "version 2: 0\nversion 2: 1000\nversion 2: 2000\n";
  EXPECT_EQ(run(*first, "a"), "Versions, call 1\n" + of_one);
  EXPECT_EQ(run(*second, "b"), "Versions, call 1\n" + of_two);
  EXPECT_EQ(run(*first, "c"), "Versions, call 2\n" + of_one);
  EXPECT_EQ(*libraries.load(hash_of(one), one), *first);
}

TEST_F(LoadedLibraries, BuildTheSameGraphEachTime) {
  DynamicJobLibraries libraries;
  const std::string bytes = read_file(test_path("versions_1"));
  const Result<JobFunction> job = libraries.load(hash_of(bytes), bytes);
  ASSERT_TRUE(job.ok()) << job.status().to_string();
  const Result<BuiltJob> built = build_job(*job, {"--output", "x"}, {});
  const Result<BuiltJob> again = build_job(*job, {"--output", "x"}, {});
  ASSERT_TRUE(built.ok() && again.ok()) << built.status().to_string();
  EXPECT_EQ(built->job_name, "Versions, call 1");
  EXPECT_EQ(again->job_name, "Versions, call 2");
  // But for the job's name, which counts calls here.
  EXPECT_EQ(fuse(built->graph)->fingerprint, fuse(again->graph)->fingerprint);
}

TEST_F(LoadedLibraries, ForeignOnesAreRefusedBeforeTheirCodeRuns) {
  const std::filesystem::path trace = folder_ / "trace";
  ::setenv("HUMMER_TEST_TRACE", trace.c_str(), 1);

  const Status foreign = refusal(read_file(test_path("foreign")));
  EXPECT_EQ(foreign.code(), ErrorCode::invalid_argument);
  EXPECT_NE(foreign.message().find("built for another engine (hummer 0.0.9"), std::string::npos)
      << foreign.message();
  EXPECT_NE(foreign.message().find(engine_abi()), std::string::npos);
  EXPECT_NE(foreign.message().find("build it again"), std::string::npos);

  const Status without_note = refusal(read_file(test_path("without_note")));
  EXPECT_EQ(without_note.code(), ErrorCode::invalid_argument);
  EXPECT_NE(without_note.message().find("hummer_add_job"), std::string::npos);

  EXPECT_FALSE(std::filesystem::exists(trace));
  ::unsetenv("HUMMER_TEST_TRACE");
}

TEST_F(LoadedLibraries, DamagedOnesAreRefused) {
  const std::string whole = read_file(test_path("versions_1"));
  EXPECT_EQ(refusal("#!/bin/sh\n").code(), ErrorCode::corrupt_file);
  EXPECT_EQ(refusal("").code(), ErrorCode::corrupt_file);
  for (std::size_t part = 1; part < 16; ++part) {
    EXPECT_FALSE(refusal(whole.substr(0, whole.size() / 16 * part)).ok()) << part;
  }
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  const Status status = DynamicJobLibraries().load(hash_of(whole), flipped).status();
  EXPECT_EQ(status.code(), ErrorCode::corrupt_file);
  EXPECT_NE(status.message().find("damaged"), std::string::npos);
}

// ---- the forms of one job ----

std::vector<std::string> sorted_lines(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST_F(LoadedLibraries, ProgramStaticProgramAndLibraryGiveEqualResults) {
  {
    std::ofstream input(folder_ / "input");
    for (int i = 0; i < 20000; ++i) input << "w" << i % 97 << " x" << i % 13 << "\n";
  }
  const std::string arguments =
      " --quiet --parallelism 2 --input " + (folder_ / "input") + " --output ";
  const std::vector<std::pair<std::string, std::string>> forms = {
      {"program", test_path("wordcount")},
      {"static", test_path("wordcount_static")},
      {"library", test_path("hummer") + " run " + test_path("wordcount_library")},
  };
  for (const auto& [form, command] : forms) {
    EXPECT_EQ(std::system((command + arguments + (folder_ / form)).c_str()), 0) << form;
    const std::vector<std::string> lines = sorted_lines(folder_ / form);
    EXPECT_EQ(lines.size(), 97u + 13u) << form;
    EXPECT_EQ(lines, sorted_lines(folder_ / "program")) << form;
  }
}

TEST_F(LoadedLibraries, HummerRefusesAForeignLibraryByItsName) {
  const std::filesystem::path trace = folder_ / "trace", message = folder_ / "message";
  const std::string command = "HUMMER_TEST_TRACE=" + trace.string() + " " + test_path("hummer") +
                              " run " + test_path("foreign") + " 2>" + message.string();
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 2);
  EXPECT_NE(read_file(message).find(test_path("foreign")), std::string::npos);
  EXPECT_NE(read_file(message).find("build it again"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(trace));
}

}  // namespace
}  // namespace hummer::loaded_libraries_test
