#include "job_runner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "platform/temporary_folder_for_test.hpp"
#include "word_count.hpp"

namespace hummer::batch::job_runner_test {
namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

class BatchJob : public testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) {
    const std::string path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path;
  }
  Job word_count(const std::string& input) {
    Job job;
    job.inputs = {input};
    job.output = folder_ / "out";
    job.mapper = factory_of<WordMapper>();
    job.combiner = factory_of<SumCombiner>();
    job.reducer = factory_of<SumReducer>();
    job.threads = 2;
    return job;
  }
  Result<JobReport> run(const Job& job) { return run_job(*platform_, job); }
  // The lines of all files.
  static std::map<std::string, std::string> lines_of(const JobReport& report) {
    std::map<std::string, std::string> lines;
    for (const std::string& path : report.files) {
      std::istringstream file(content_of(path));
      for (std::string line; std::getline(file, line);) {
        const std::size_t tab = line.find('\t');
        EXPECT_TRUE(lines.emplace(line.substr(0, tab), line.substr(tab + 1)).second) << line;
      }
    }
    return lines;
  }
  static bool are_sorted(const JobReport& report) {
    return std::ranges::all_of(report.files, [](const std::string& path) {
      std::istringstream file(content_of(path));
      std::vector<std::string> words;
      for (std::string line; std::getline(file, line);) {
        words.push_back(line.substr(0, line.find('\t')));
      }
      return std::ranges::is_sorted(words);
    });
  }
  bool exists(const std::string& name) { return std::filesystem::exists(folder_ / name); }

  TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_ = make_linux_platform();
};

std::uint64_t framework(const JobReport& report, std::string_view name) {
  return report.counters.value(framework_counters, name);
}

struct Text {
  std::string content;
  std::map<std::string, std::string> counts;
  std::uint64_t words = 0;
};

Text drawn_text() {
  Text text;
  std::map<std::string, std::uint64_t> counts;
  std::uint64_t state = 7;
  for (int line = 0; line < 4'000; ++line) {
    for (int word = 0; word < line % 9; ++word) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      const std::string drawn = "word" + std::to_string((state >> 40) % 3'000);
      text.content += drawn + (word % 2 == 0 ? " " : "\t ");
      ++counts[drawn];
      ++text.words;
    }
    text.content += line % 5 == 0 ? "\r\n" : "\n";
  }
  for (const auto& [word, count] : counts) text.counts[word] = std::to_string(count);
  return text;
}

TEST_F(BatchJob, CountsWordsWhateverTheTasksAndTheMemoryAre) {
  const Text text = drawn_text();
  const std::string input = write("text", text.content);
  int number = 0;
  for (const std::uint32_t reducers : {1U, 5U}) {
    // One that is no multiple of anything, for three threads.
    for (const std::size_t memory :
         {std::size_t{256} << 10, std::size_t{400'003}, std::size_t{64} << 20}) {
      for (const std::uint32_t attempts : {1U, 2U}) {
        enum class Form { sorted, folded, folded_and_sorted };
        for (const Form form : {Form::sorted, Form::folded, Form::folded_and_sorted}) {
          Job job = word_count(input);
          job.output = folder_ / ("out" + std::to_string(number++));
          job.reducers = reducers;
          job.memory_bytes = memory;
          job.threads = memory % 2 == 0 ? 2 : 3;
          job.max_attempts = attempts;
          job.split_bytes = 10'000;
          if (form != Form::sorted) {
            job.folder = factory_of<SumFolder>();
            job.combiner = nullptr;
          }
          if (form == Form::folded) job.reducer = nullptr;
          const auto report = run(job);
          ASSERT_TRUE(report.ok()) << report.status().to_string();
          EXPECT_EQ(lines_of(*report), text.counts);
          EXPECT_TRUE(form == Form::folded || are_sorted(*report));
          EXPECT_EQ(report->files.size(), reducers);
          EXPECT_GT(report->map_tasks, 5U);
          EXPECT_EQ(framework(*report, "Map input records"), 4'000U);
          EXPECT_EQ(framework(*report, "Map output records"), text.words);
          EXPECT_EQ(framework(*report, "Reduce input groups"), text.counts.size());
          EXPECT_EQ(framework(*report, "Reduce output records"), text.counts.size());
          if (form == Form::sorted && attempts == 1) {
            EXPECT_EQ(framework(*report, "Spilled Records") > 0, memory < std::size_t{1} << 20);
          }
          EXPECT_TRUE(std::filesystem::exists(job.output + "/_SUCCESS"));
          EXPECT_FALSE(std::filesystem::exists(job.output + "/_temporary"));
        }
      }
    }
  }
}

TEST_F(BatchJob, MergesFilesOfMapTasksInPasses) {
  const Text text = drawn_text();
  Job job = word_count(write("text", text.content));
  job.max_attempts = 2;
  job.split_bytes = 500;  // more files than are read at once
  job.reducers = 3;
  job.memory_bytes = std::size_t{256} << 10;
  const auto report = run(job);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_GT(report->map_tasks, 200U);
  EXPECT_EQ(lines_of(*report), text.counts);
  EXPECT_TRUE(are_sorted(*report));
  EXPECT_FALSE(std::filesystem::exists(job.output + "/_temporary"));
}

TEST_F(BatchJob, WithoutReducersWhatMappersEmitIsTheOutput) {
  Job job;
  job.inputs = {write("text", "a b\nc\n")};
  job.output = folder_ / "out";
  job.mapper = factory_of<WordMapper>();
  job.output_format = raw_output();
  job.reducers = 0;
  const auto report = run(job);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  ASSERT_EQ(report->files, (std::vector<std::string>{job.output + "/part-m-00000"}));
  const std::string one(CountBytes(1).view());
  EXPECT_EQ(content_of(report->files[0]), "a" + one + "b" + one + "c" + one);
}

TEST_F(BatchJob, AnEmptyInputHasEmptyFiles) {
  Job job = word_count(write("text", ""));
  job.reducers = 2;
  const auto report = run(job);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(report->map_tasks, 0U);
  ASSERT_EQ(report->files.size(), 2U);
  EXPECT_EQ(content_of(report->files[0]) + content_of(report->files[1]), "");
}

TEST_F(BatchJob, AMissingInputLeavesNothing) {
  const auto report = run(word_count(folder_ / "missing"));
  EXPECT_EQ(report.status().code(), ErrorCode::not_found);
  EXPECT_NE(report.status().message().find("missing"), std::string::npos);
  EXPECT_FALSE(exists("out"));
}

TEST_F(BatchJob, AnOutputThatExistsIsLeftAlone) {
  std::filesystem::create_directory(folder_ / "out");
  const auto report = run(word_count(write("text", "a\n")));
  EXPECT_EQ(report.status().code(), ErrorCode::invalid_argument);
  EXPECT_TRUE(std::filesystem::is_empty(folder_ / "out"));
}

TEST_F(BatchJob, OptionsThatCantBeAreRefused) {
  const std::string input = write("text", "a\n");
  for (const auto change :
       {+[](Job& job) { job.memory_bytes = 1'000; }, +[](Job& job) { job.max_attempts = 0; },
        +[](Job& job) { job.inputs.clear(); }, +[](Job& job) { job.output.clear(); },
        +[](Job& job) { job.codec = "rar"; }, +[](Job& job) { job.reducers = 1'000'000; },
        +[](Job& job) { job.mapper = nullptr; }}) {
    Job job = word_count(input);
    change(job);
    EXPECT_EQ(run(job).status().code(), ErrorCode::invalid_argument);
    EXPECT_FALSE(exists("out"));
  }
}

class FailingMapper final : public RecordMapper<FailingMapper> {
 public:
  Status map_record(const RecordView& line, MapOutput& output) {
    if (line.value() == "throw") throw std::runtime_error("not that one");
    if (line.value() == "throw 1") throw 1;
    if (line.value() == "fail") return Status(ErrorCode::corrupt_record, "not this one");
    output.emit(line.value(), {});
    return Status();
  }
};

TEST_F(BatchJob, AFailureNamesTaskAndRecord) {
  for (const auto& [line, code, what] :
       {std::tuple("throw", ErrorCode::user_function_failed, "the mapper threw: not that one"),
        std::tuple("throw 1", ErrorCode::user_function_failed,
                   "the mapper threw: something that is no std::exception"),
        std::tuple("fail", ErrorCode::corrupt_record, "the mapper: not this one")}) {
    Job job = word_count(write("text", std::string("a\nbc\n") + line + "\nd\n"));
    job.mapper = factory_of<FailingMapper>();
    const auto report = run(job);
    ASSERT_FALSE(report.ok());
    EXPECT_EQ(report.status().code(), code);
    EXPECT_EQ(report.status().message(),
              "map task 0: '" + job.inputs[0] + "', line at byte 5: " + what);
    EXPECT_FALSE(exists("out"));
  }
}

class FailingReducer final : public GroupedReducer<FailingReducer> {
 public:
  void reduce_group(GroupReader& group, RecordOutput& output) {
    if (group.key() == "b\n") throw std::runtime_error("no b");
    output.emit(group.key(), {});
  }
};

class LineMapper final : public RecordMapper<LineMapper> {
 public:
  void map_record(const RecordView& line, MapOutput& output) {
    output.emit(std::string(line.value()) + "\n", {});
  }
};

TEST_F(BatchJob, AFailureOfAReducerNamesItsKey) {
  Job job = word_count(write("text", "a\nb\nc\n"));
  job.mapper = factory_of<LineMapper>();
  job.combiner = nullptr;
  job.reducer = factory_of<FailingReducer>();
  job.reducers = 1;
  const auto report = run(job);
  EXPECT_EQ(report.status().message(), "reduce task 0: key 'b\\x0a': the reducer threw: no b");
  EXPECT_FALSE(exists("out"));
}

class ThrowingCombiner final : public Combiner {
 public:
  Status combine(GroupReader&, RecordBuffer&) override { throw std::runtime_error("no sums"); }
};

TEST_F(BatchJob, ACombinerMayThrow) {
  const Text text = drawn_text();
  Job job = word_count(write("text", text.content));
  job.combiner = factory_of<ThrowingCombiner>();
  job.memory_bytes = std::size_t{256} << 10;
  const auto report = run(job);
  EXPECT_EQ(report.status().code(), ErrorCode::user_function_failed);
  EXPECT_NE(report.status().message().find("the combiner threw: no sums"), std::string::npos);
  EXPECT_FALSE(exists("out"));
}

// Fails once in each task, after it has emitted.
std::atomic<int> attempts_seen{0};
class OnceFailingMapper final : public Mapper {
 public:
  Status open(TaskContext& context) override {
    attempt_ = context.attempt();
    return Status();
  }
  Status map(std::span<const RecordView> records, MapOutput& output) override {
    for (const RecordView& record : records) output.emit(record.value(), CountBytes(1).view());
    ++attempts_seen;
    if (attempt_ == 1) return Status(ErrorCode::io_error, "for now");
    return Status();
  }

 private:
  std::uint32_t attempt_ = 0;
};

TEST_F(BatchJob, ATaskThatIsTriedAgainCountsOnce) {
  for (const std::uint32_t reducers : {0U, 2U}) {
    Job job = word_count(write("text", "a\nb\nb\n"));
    job.output = folder_ / ("out" + std::to_string(reducers));
    job.mapper = factory_of<OnceFailingMapper>();
    job.reducers = reducers;
    job.max_attempts = 2;
    attempts_seen = 0;
    const auto report = run(job);
    ASSERT_TRUE(report.ok()) << report.status().to_string();
    EXPECT_EQ(attempts_seen, 2);
    EXPECT_EQ(report->failed_attempts, 1U);
    EXPECT_EQ(framework(*report, "Map output records"), 3U);
    if (reducers > 0) {
      EXPECT_EQ(lines_of(*report), (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
    }
  }
}

TEST_F(BatchJob, AJobThatIsStoppedLeavesNothing) {
  const Text text = drawn_text();
  const auto report = run_job(*platform_, word_count(write("text", text.content)),
                              {.stop_asked = [] { return true; }, .progress = {}});
  EXPECT_EQ(report.status().code(), ErrorCode::cancelled);
  EXPECT_FALSE(exists("out"));
}

TEST_F(BatchJob, KeysOfAFolderThatDoNotFitAreSorted) {
  std::string lines;
  std::map<std::string, std::string> counts;
  for (int i = 0; i < 50'000; ++i) {
    const std::string word = "word-number-" + std::to_string(i % 20'000);
    lines += word + "\n";
    counts[word] = i % 20'000 < 10'000 ? "3" : "2";
  }
  Job job = word_count(write("text", lines));
  job.folder = factory_of<SumFolder>();
  job.reducer = nullptr;
  job.memory_bytes = std::size_t{256} << 10;
  job.reducers = 1;
  const auto report = run(job);
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(lines_of(*report), counts);
  EXPECT_EQ(framework(*report, "Reduce input groups"), counts.size());
}

TEST_F(BatchJob, AKeyThatIsLargerThanTheTableIsALimit) {
  Job job = word_count(write("text", std::string(100'000, 'x') + "\n"));
  job.folder = factory_of<SumFolder>();
  job.reducer = nullptr;
  job.memory_bytes = std::size_t{256} << 10;
  const auto report = run(job);
  EXPECT_EQ(report.status().code(), ErrorCode::limit_exceeded);
  EXPECT_NE(report.status().message().find("a key of 100000"), std::string::npos);
  EXPECT_FALSE(exists("out"));
}

TEST_F(BatchJob, RunsOnThePlatformOfTheMachineByItself) {
  const auto report = run_job(word_count(write("text", "a b a\n")));
  ASSERT_TRUE(report.ok()) << report.status().to_string();
  EXPECT_EQ(lines_of(*report), (std::map<std::string, std::string>{{"a", "2"}, {"b", "1"}}));
}

}  // namespace
}  // namespace hummer::batch::job_runner_test
