// Sorts, groups and joins of whole inputs in whole jobs: results are those of plain loops, within
// and beyond the memory that they are given; and which jobs are refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <hummer/testing/mini_cluster.hpp>

#include "pipelines/collected.hpp"
#include "pipelines/on_platforms.hpp"
#include "platform/temporary_folder_for_test.hpp"

namespace hummer::bounded_test {
namespace {

struct Row {
  std::int64_t key = 0;
  std::string text;
  friend auto operator<=>(const Row&, const Row&) = default;
};

// Some are more than a megabyte, which is what operators hold at least.
constexpr std::uint64_t few = 500, many = 40'000;

Row row_of(std::uint64_t i, std::uint64_t keys, std::uint64_t salt = 0) {
  const std::uint64_t drawn = hash_u64(i + salt + 1);
  return {static_cast<std::int64_t>(drawn % keys) - 3,
          "row " + std::to_string(i) + std::string(drawn / keys % 40, '.')};
}

std::vector<Row> rows_of(std::uint64_t count, std::uint64_t keys, std::uint64_t salt = 0) {
  std::vector<Row> rows;
  for (std::uint64_t i = 0; i < count; ++i) rows.push_back(row_of(i, keys, salt));
  return rows;
}

class Bounded : public OnPlatforms {
 protected:
  EnvironmentOptions little_memory() {
    EnvironmentOptions with = options();
    with.bounded_memory_bytes = 1 << 20;
    if (with.batch_records < 100) with.batch_records = 100;
    return with;
  }
  static auto rows(StreamExecutionEnvironment& env, std::uint64_t count, std::uint64_t keys,
                   std::uint64_t salt = 0) {
    return env.generate([keys, salt](std::uint64_t i) { return row_of(i, keys, salt); },
                        {.count = count});
  }
};

TEST_P(Bounded, OneOrderOverAllRecords) {
  for (const std::uint64_t count : {std::uint64_t{0}, few, many}) {
    for (const SortOrder order : {SortOrder::ascending, SortOrder::descending}) {
      Collected<Row> seen;
      EnvironmentOptions with = little_memory();
      // Though then files are read one after the other, who merges reads from all that sort.
      if (count == few) with.exchange = ExchangeMode::blocking;
      StreamExecutionEnvironment env(with);
      rows(env, count, 900).sort(&Row::key, order).for_each(seen.sink()).parallelism(1);
      run(env);
      std::vector<Row> expected = rows_of(count, 900);
      std::stable_sort(expected.begin(), expected.end(), [&](const Row& a, const Row& b) {
        return order == SortOrder::ascending ? a.key < b.key : b.key < a.key;
      });
      std::vector<Row> found = seen.in_order();
      if (parallelism() > 1) {
        // Equal keys of different subtasks have no order between them.
        ASSERT_TRUE(std::is_sorted(found.begin(), found.end(), [&](const Row& a, const Row& b) {
          return order == SortOrder::ascending ? a.key < b.key : b.key < a.key;
        }));
        std::sort(found.begin(), found.end());
        std::sort(expected.begin(), expected.end());
      }
      EXPECT_TRUE(found == expected) << found.size() << " of " << count;
    }
  }
}

TEST_P(Bounded, EachSubtaskSortsWhatItGets) {
  Collected<std::pair<int, std::int64_t>> seen;
  StreamExecutionEnvironment env(little_memory());
  rows(env, many, 5'000)
      .rebalance()
      .sort_partition(&Row::key)
      .for_each([sink = seen.sink(), last = INT64_MIN](const Row& row) mutable {
        sink(std::pair(row.key < last ? 1 : 0, row.key));
        last = row.key;
      });
  run(env);
  std::multiset<std::int64_t> keys, expected;
  for (const auto& [is_out_of_order, key] : seen.in_order()) {
    EXPECT_EQ(is_out_of_order, 0);
    keys.insert(key);
  }
  for (const Row& row : rows_of(many, 5'000)) expected.insert(row.key);
  EXPECT_TRUE(keys == expected);
}

// A sort gives its records when its input has ended, behind all watermarks but the last.
TEST_P(Bounded, WindowsBehindASortMissNothing) {
  const std::vector<Sale> sales = random_sales(5, 2'000);
  std::map<std::pair<std::uint32_t, Timestamp>, std::int64_t> expected;
  for (const Sale& sale : sales) expected[{sale.user, sale.time / 100 * 100}] += sale.value;
  Collected<std::tuple<std::uint32_t, Timestamp, std::int64_t>> seen;
  StreamExecutionEnvironment env(options());
  timed(env, sales)
      .sort(&Sale::value)
      .key_by(&Sale::user)
      .window(TumblingWindows::of(100))
      .sum(&Sale::value)
      .map([](const auto& sum) { return std::tuple(sum.key, sum.window.start_ms, sum.value); })
      .for_each(seen.sink());
  const JobResult result = run(env);
  EXPECT_EQ(result.records_late, 0u);
  ASSERT_EQ(seen.sorted().size(), expected.size());
  for (const auto& [user, start, sum] : seen.sorted()) {
    EXPECT_EQ(sum, (expected[{user, start}])) << user << ", " << start;
  }
}

TEST_P(Bounded, GroupsAreHandedOverOnce) {
  for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{300}}) {
    std::map<std::int64_t, std::vector<std::string>> groups;
    for (const Row& row : rows_of(many, keys)) groups[row.key].push_back(row.text);
    Collected<std::tuple<std::int64_t, std::uint64_t, std::string>> seen;
    StreamExecutionEnvironment env(little_memory());
    rows(env, many, keys)
        .group_by(&Row::key)
        .reduce_group([](const std::int64_t& key, Group<Row>& group,
                         Collector<std::tuple<std::int64_t, std::uint64_t, std::string>>& out) {
          std::uint64_t count = 0;
          std::string largest;
          while (const Row* row = group.next()) {
            ++count;
            largest = std::max(largest, row->text);
          }
          out({key, count, largest});
        })
        .for_each(seen.sink());
    run(env);
    ASSERT_EQ(seen.sorted().size(), groups.size());
    for (const auto& [key, count, largest] : seen.sorted()) {
      EXPECT_EQ(count, groups[key].size()) << key;
      EXPECT_EQ(largest, *std::max_element(groups[key].begin(), groups[key].end())) << key;
    }
  }
}

TEST_P(Bounded, TextIsGroupedByViews) {
  Collected<std::pair<std::string, std::uint64_t>> seen;
  StreamExecutionEnvironment env(options());
  std::vector<std::string> words = {"pear", "fig", "apple", "fig", "pear", "fig"};
  env.from_collection(words)
      .group_by([](std::string_view word) { return word.substr(0, 1); })
      .reduce_group<std::pair<std::string, std::uint64_t>>(
          [](std::string_view letter, auto& group, auto& out) {
            std::uint64_t letters = 0;
            while (const std::string_view* word = group.next()) letters += word->size();
            out({std::string(letter), letters});
          })
      .for_each(seen.sink());
  run(env);
  EXPECT_EQ(seen.sorted(),
            (std::vector<std::pair<std::string, std::uint64_t>>{{"a", 5}, {"f", 9}, {"p", 8}}));
}

// What a function puts out may be a view into a record, which has gone when the next one is there.
TEST_P(Bounded, GroupsPutOutViewsIntoTheirRecords) {
  Collected<std::string> seen;
  StreamExecutionEnvironment env(little_memory());
  rows(env, many, 300)
      .group_by(&Row::text)
      .reduce_group(
          [](const std::string& key, Group<Row>& group, Collector<std::string_view>& out) {
            while (const Row* row = group.next()) out(std::string_view(row->text));
            out(std::string_view(key));
          })
      .for_each([sink = seen.sink()](std::string_view text) mutable { sink(std::string(text)); });
  run(env);
  std::vector<std::string> expected;
  for (const Row& row : rows_of(many, 300)) expected.insert(expected.end(), 2, row.text);
  std::sort(expected.begin(), expected.end());
  EXPECT_TRUE(seen.sorted() == expected) << seen.sorted().size();
}

TEST_P(Bounded, GroupsOfTextPutOutTheirKeys) {
  std::map<std::string, std::uint64_t> counts;
  std::vector<std::string> words;
  for (const Row& row : rows_of(few, 50)) {
    words.push_back("the text of key " + std::to_string(row.key));
    ++counts[words.back()];
  }
  Collected<std::pair<std::string, std::uint64_t>> seen;
  StreamExecutionEnvironment env(options());
  env.from_collection(words)
      .group_by(identity)
      .reduce_group([](std::string_view word, Group<std::string_view>& group,
                       Collector<KeyValue<std::string_view, std::uint64_t>>& out) {
        std::uint64_t count = 0;
        while (group.next() != nullptr) ++count;
        out({word, count});
      })
      .for_each([sink = seen.sink()](const auto& word) mutable {
        sink(std::pair(std::string(word.key), word.value));
      });
  run(env);
  EXPECT_EQ(seen.sorted(),
            (std::vector<std::pair<std::string, std::uint64_t>>(counts.begin(), counts.end())));
}

// Whoever does not write views gets strings.
TEST_P(Bounded, TextIsTakenAsStrings) {
  const std::vector<std::string> words = {"pear", "fig", "apple", "fig", "pear", "fig"};
  const auto length = [](const std::string& word) { return word.size(); };
  Collected<std::string> sorted;
  Collected<std::pair<std::string, std::uint64_t>> by_key, by_word;
  StreamExecutionEnvironment env(options());
  const auto texts = env.from_collection(words);
  texts.sort(length, SortOrder::descending).for_each(sorted.sink()).parallelism(1);
  texts.group_by([](const std::string& word) { return word.substr(0, 1); })
      .reduce_group([](const std::string& letter, Group<std::string>& group,
                       Collector<std::pair<std::string, std::uint64_t>>& out) {
        std::uint64_t letters = 0;
        while (const std::string* word = group.next()) letters += word->size();
        out({letter, letters});
      })
      .for_each(by_key.sink());
  texts.group_by(identity)
      .reduce_group([](const std::string& word, Group<std::string>& group,
                       Collector<std::pair<std::string, std::uint64_t>>& out) {
        std::uint64_t count = 0;
        while (group.next() != nullptr) ++count;
        out({word, count});
      })
      .for_each(by_word.sink());
  run(env);
  ASSERT_EQ(sorted.in_order().size(), words.size());
  EXPECT_EQ(sorted.in_order().front(), "apple");
  EXPECT_EQ(sorted.in_order().back(), "fig");
  using Counts = std::vector<std::pair<std::string, std::uint64_t>>;
  EXPECT_EQ(by_key.sorted(), (Counts{{"a", 5}, {"f", 9}, {"p", 8}}));
  EXPECT_EQ(by_word.sorted(), (Counts{{"apple", 1}, {"fig", 3}, {"pear", 2}}));
}

// ---- joins ----

using Pair = std::pair<std::string, std::string>;

std::multiset<Pair> joined_by_loops(const std::vector<Row>& firsts, const std::vector<Row>& seconds,
                                    JoinKind kind) {
  std::multimap<std::int64_t, const Row*> by_key;
  for (const Row& second : seconds) by_key.emplace(second.key, &second);
  std::set<std::int64_t> keys;
  std::multiset<Pair> pairs;
  for (const Row& first : firsts) {
    keys.insert(first.key);
    const auto [begin, end] = by_key.equal_range(first.key);
    for (auto at = begin; at != end; ++at) pairs.insert({first.text, at->second->text});
    if (begin == end && keeps_first(kind)) pairs.insert({first.text, "-"});
  }
  for (const Row& second : seconds) {
    if (keeps_second(kind) && !keys.contains(second.key)) pairs.insert({"-", second.text});
  }
  return pairs;
}

std::string text_of(const Row& row) { return row.text; }
std::string text_of(const Row* row) { return row == nullptr ? "-" : row->text; }

TEST_P(Bounded, JoinsOfEachKindByEachStrategy) {
  constexpr auto pair_of = [](const auto& a, const auto& b) {
    return Pair(text_of(a), text_of(b));
  };
  const std::uint64_t counts[][2] = {{few, 0}, {0, few}, {few, 2 * few}, {many, many / 4}};
  for (const auto& [first_count, second_count] : counts) {
    const std::uint64_t keys = std::max<std::uint64_t>(first_count, 1);
    const std::vector<Row> firsts = rows_of(first_count, keys);
    const std::vector<Row> seconds = rows_of(second_count, keys, 1'000'000);
    for (const JoinStrategy strategy : {JoinStrategy::sort_merge, JoinStrategy::hybrid_hash}) {
      for (const JoinKind kind :
           {JoinKind::inner, JoinKind::left_outer, JoinKind::right_outer, JoinKind::full_outer}) {
        Collected<Pair> seen;
        StreamExecutionEnvironment env(little_memory());
        const auto join = rows(env, first_count, keys)
                              .key_by(&Row::key)
                              .join(rows(env, second_count, keys, 1'000'000).key_by(&Row::key));
        switch (kind) {
          case JoinKind::inner: join.inner(strategy).apply(pair_of).for_each(seen.sink()); break;
          case JoinKind::left_outer:
            join.left_outer(strategy)
                .apply([pair_of](const Row& a, const Row* b) { return pair_of(a, b); })
                .for_each(seen.sink());
            break;
          case JoinKind::right_outer:
            join.right_outer(strategy)
                .apply([pair_of](const Row* a, const Row& b) { return pair_of(a, b); })
                .for_each(seen.sink());
            break;
          case JoinKind::full_outer:
            join.full_outer(strategy)
                .apply([pair_of](const Row* a, const Row* b) { return pair_of(a, b); })
                .for_each(seen.sink());
            break;
        }
        run(env);
        const std::vector<Pair> found = seen.sorted();
        const std::multiset<Pair> expected = joined_by_loops(firsts, seconds, kind);
        EXPECT_TRUE(std::equal(found.begin(), found.end(), expected.begin(), expected.end()))
            << first_count << " and " << second_count << ", kind " << static_cast<int>(kind)
            << ", strategy " << static_cast<int>(strategy) << ": " << found.size() << " for "
            << expected.size();
      }
    }
  }
}

TEST_P(Bounded, JoinsReturnViewsIntoTheirRecords) {
  for (const JoinStrategy strategy : {JoinStrategy::sort_merge, JoinStrategy::hybrid_hash}) {
    Collected<Pair> seen;
    StreamExecutionEnvironment env(little_memory());
    const auto stream = rows(env, few, 1'000'000);
    stream.key_by(&Row::text)
        .join(stream.key_by(&Row::text))
        .full_outer(strategy)
        .apply([](const Row* a, const Row* b) {
          return std::pair(std::string_view(a->text), std::string_view(b->text));
        })
        .for_each([sink = seen.sink()](const auto& texts) mutable {
          sink(Pair(texts.first, texts.second));
        });
    run(env);
    std::vector<Pair> expected;
    for (const Row& row : rows_of(few, 1'000'000)) expected.emplace_back(row.text, row.text);
    std::sort(expected.begin(), expected.end());
    EXPECT_TRUE(seen.sorted() == expected) << seen.sorted().size();
  }
}

// Both sides come from one source, whose records wait for nobody.
TEST_P(Bounded, AStreamIsJoinedWithItself) {
  Collected<Pair> seen;
  StreamExecutionEnvironment env(little_memory());
  const auto stream = rows(env, few, 100);
  stream.key_by(&Row::key)
      .join(stream.filter([](const Row& row) { return row.key % 2 == 0; }).key_by(&Row::key))
      .inner()
      .apply([](const Row& a, const Row& b) { return Pair(a.text, b.text); })
      .for_each(seen.sink());
  run(env);
  std::vector<Row> even = rows_of(few, 100);
  std::erase_if(even, [](const Row& row) { return row.key % 2 != 0; });
  EXPECT_EQ(seen.sorted().size(), joined_by_loops(rows_of(few, 100), even, JoinKind::inner).size());
}

INSTANTIATE_TEST_SUITE_P(Platforms, Bounded, OnPlatforms::everywhere(),
                         testing::PrintToStringParamName());

// ---- on a cluster ----

// Numbers that are joined with those of the same last digits, sorted by the first.
void sorted_pairs(StreamExecutionEnvironment& env) {
  const std::uint64_t count = std::stoull(env.argument("count"));
  const auto firsts =
      env.generate([](std::uint64_t i) { return row_of(i, 5'000); }, {.count = count});
  const auto seconds =
      env.generate([](std::uint64_t i) { return row_of(i, 5'000, 77); }, {.count = count / 2});
  firsts.key_by(&Row::key)
      .join(seconds.key_by(&Row::key))
      .left_outer()
      .apply([](const Row& a, const Row* b) {
        return Row{a.key, a.text + (b == nullptr ? " alone" : " and " + b->text)};
      })
      .sort(&Row::key)
      .map([](const Row& row) { return std::to_string(row.key) + '\t' + row.text; })
      .parallelism(1)
      .write_file(env.argument("output"));
  env.execute("sorted pairs");
}

// Sorted parts come from two processes to the one task that merges them.
TEST(BoundedJobs, RunOnACluster) {
  const TemporaryFolder folder;
  MiniCluster cluster(&call_job<&sorted_pairs>, {.task_managers = 2});
  ASSERT_TRUE(cluster.start().ok());
  const std::string output = folder / "out";
  const JobResult result =
      cluster.run({"--count", "20000", "--output", output, "--parallelism", "2",
                   "--bounded-memory-bytes", "2MiB", "--batch-records", "100"});
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::multiset<std::string> expected;
  const std::vector<Row> seconds = rows_of(10'000, 5'000, 77);
  std::multimap<std::int64_t, std::string> by_key;
  for (const Row& row : seconds) by_key.emplace(row.key, row.text);
  for (const Row& row : rows_of(20'000, 5'000)) {
    const std::string begin = std::to_string(row.key) + '\t' + row.text;
    const auto [first, last] = by_key.equal_range(row.key);
    for (auto at = first; at != last; ++at) expected.insert(begin + " and " + at->second);
    if (first == last) expected.insert(begin + " alone");
  }
  std::ifstream file(output);
  std::multiset<std::string> seen;
  std::int64_t before = INT64_MIN;
  for (std::string line; std::getline(file, line);) {
    const std::int64_t key = std::stoll(line);
    EXPECT_LE(before, key);
    before = key;
    seen.insert(line);
  }
  EXPECT_TRUE(seen == expected) << seen.size() << " of " << expected.size();
}

// Everything that a stream of lines can do, a stream of text can.
TEST(BoundedJobs, LinesOfTwoFilesAreSortedTogether) {
  const TemporaryFolder folder;
  std::ofstream(folder / "a") << "pear\nfig\n";
  std::ofstream(folder / "b") << "apple\nquince";
  Collected<std::string> seen;
  StreamExecutionEnvironment env;
  env.from_file(folder / "a")
      .union_with(env.from_file(folder / "b"))
      .sort([](const std::string& line) { return line; })
      .for_each(seen.sink())
      .parallelism(1);
  env.from_file(folder / "a")
      .network({.exchange = ExchangeMode::blocking})
      .map([](std::string_view line) { return line.size(); })
      .for_each([](std::size_t) {});
  env.from_file(folder / "a")
      .partition_custom(
          [](const std::string& line, std::uint32_t count) { return line.size() % count; })
      .for_each([](std::string_view) {});
  const JobResult result = env.execute("files");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(seen.in_order(), (std::vector<std::string>{"apple", "fig", "pear", "quince"}));
}

TEST(BoundedJobs, APrintedSortIsInOrder) {
  EnvironmentOptions options;
  options.parallelism = 4;
  options.batch_records = 10;
  StreamExecutionEnvironment env(options);
  env.generate([](std::uint64_t i) { return 100'000 + hash_u64(i) % 100'000; }, {.count = 5'000})
      .sort(identity)
      .print();
  testing::internal::CaptureStdout();
  const JobResult result = env.execute("printed");
  std::istringstream printed(testing::internal::GetCapturedStdout());
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<std::string> lines;
  for (std::string line; std::getline(printed, line);) lines.push_back(line);
  EXPECT_EQ(lines.size(), 5'000u);
  EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
}

// ---- jobs that are refused, cancelled, or fail ----

TEST(BoundedJobs, ASourceThatDoesNotEndIsRefused) {
  StreamExecutionEnvironment env;
  env.from_socket("localhost:1").lines().sort(identity).print();
  const JobResult result = env.execute("endless");
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(result.status.message().find("'sort_partition'"), std::string::npos)
      << result.status.message();
  EXPECT_NE(result.status.message().find("'from_socket'"), std::string::npos)
      << result.status.message();
}

TEST(BoundedJobs, CheckpointsAreRefused) {
  EnvironmentOptions options;
  options.checkpoints.directory = "/checkpoints";
  StreamExecutionEnvironment env(options);
  env.from_collection(std::vector<int>{3, 1, 2}).sort(identity).name("by size").print();
  const JobResult result = env.execute("saved");
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_configuration);
  EXPECT_NE(result.status.message().find("--checkpoint-dir"), std::string::npos)
      << result.status.message();
}

TEST(BoundedJobs, ACancelledSortEndsSoon) {
  EnvironmentOptions options;
  options.parallelism = 1;
  options.bounded_memory_bytes = 1 << 20;
  StreamExecutionEnvironment env(options);
  env.generate([](std::uint64_t i) { return hash_u64(i); }, {.count = std::uint64_t{1} << 40})
      .sort(identity)
      .for_each([](std::uint64_t) {});
  JobHandle job = env.execute_async("long");
  job.cancel();
  EXPECT_EQ(job.wait().status.code(), ErrorCode::cancelled);
}

TEST(BoundedJobs, AFullDiskNamesTheOperator) {
  SimulationOptions small{.seed = 6};
  small.disk_capacity_bytes = 1'000;
  const auto node = make_simulated_platform(small);
  EnvironmentOptions options;
  options.parallelism = 1;
  options.bounded_memory_bytes = 1 << 20;
  options.platform = node.get();
  StreamExecutionEnvironment env(options);
  env.generate([](std::uint64_t i) { return row_of(i, 1000); }, {.count = many})
      .sort_partition(&Row::key)
      .for_each([](const Row&) {});
  const JobResult result = env.execute("full");
  EXPECT_EQ(result.status.code(), ErrorCode::disk_full) << result.status.to_string();
  EXPECT_NE(result.status.message().find("sort_partition"), std::string::npos)
      << result.status.message();
}

}  // namespace
}  // namespace hummer::bounded_test
