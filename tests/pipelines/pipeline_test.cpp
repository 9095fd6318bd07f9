// Whole jobs through the public API, embedded: under the simulated platform with
// many seeds and awkward batch sizes, and under Linux.
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <thread>
#include <tuple>
#include <utility>

#include "pipelines/collected.hpp"
#include "platform/simulation.hpp"

namespace hummer::pipeline_test {
namespace {

struct Setting {
  std::uint64_t seed;  // 0: Linux
  int parallelism;
  std::uint32_t batch_records;
};

std::ostream& operator<<(std::ostream& out, const Setting& setting) {
  return out << (setting.seed == 0 ? "linux" : "seed" + std::to_string(setting.seed)) << "_p"
             << setting.parallelism << "_b" << setting.batch_records;
}

class Pipeline : public testing::TestWithParam<Setting> {
 protected:
  Pipeline()
      : platform_(GetParam().seed == 0 ? nullptr
                                       : make_simulated_platform({.seed = GetParam().seed})) {}

  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.parallelism = GetParam().parallelism;
    options.batch_records = GetParam().batch_records;
    options.channel_credits = 2;
    options.platform = platform_.get();
    return options;
  }

  std::unique_ptr<SimulatedPlatform> platform_;
};

std::vector<Setting> settings() {
  std::vector<Setting> all;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    all.push_back({seed, 1 + static_cast<int>(seed % 4),
                   seed % 3 == 0 ? 1024u : static_cast<std::uint32_t>(seed)});
  }
  all.push_back({0, 1, 1024});
  all.push_back({0, 2, 1});
  all.push_back({0, 4, 1024});
  return all;
}
INSTANTIATE_TEST_SUITE_P(Settings, Pipeline, testing::ValuesIn(settings()),
                         testing::PrintToStringParamName());

using Index = std::uint64_t;
constexpr Index count = 1000;
constexpr auto same = [](Index i) { return i; };

TEST_P(Pipeline, MapFilterFlatMap) {
  StreamExecutionEnvironment env(options());
  Collected<Index> out;
  env.generate(same, {.count = count})
      .map([](Index i) { return i * 3; })
      .filter([](Index i) { return i % 2 == 0; })
      .flat_map([](Index i, Collector<Index>& collector) {
        collector(i);
        collector(i + 1);
      })
      .for_each(out.sink());
  const JobResult result = env.execute("map");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<Index> expected;
  for (Index i = 0; i < count; i += 2) expected.insert(expected.end(), {i * 3, i * 3 + 1});
  EXPECT_EQ(out.sorted(), expected);
  EXPECT_EQ(result.records_read, count);
  EXPECT_EQ(result.records_written, expected.size());
}

TEST_P(Pipeline, OneSubtaskKeepsOrder) {
  StreamExecutionEnvironment env(options());
  Collected<std::string> out;
  env.from_collection(std::vector<std::string>{"to", "be", "or", "not", "to", "be"})
      .map([](std::string_view word) { return std::string(word) + "!"; })
      .parallelism(1)
      .disable_chaining()
      .for_each(out.sink())
      .parallelism(1);
  ASSERT_TRUE(env.execute("order").ok());
  EXPECT_EQ(out.in_order(), (std::vector<std::string>{"to!", "be!", "or!", "not!", "to!", "be!"}));
}

struct Sale {
  std::uint32_t shop;
  std::int32_t amount;
};

TEST_P(Pipeline, KeyedAggregatesEqualTheDirectComputation) {
  StreamExecutionEnvironment env(options());
  const auto sale = [](Index i) {
    return Sale{static_cast<std::uint32_t>(i * i % 37), static_cast<std::int32_t>(i % 101) - 50};
  };
  auto keyed = env.generate(sale, {.count = count}).key_by(&Sale::shop);
  using Row = std::pair<std::uint32_t, std::int64_t>;
  Collected<Row> counts, sums, minima, maxima;
  const auto row = [](const auto& kv) { return Row(kv.key, static_cast<std::int64_t>(kv.value)); };
  keyed.count().map(row).for_each(counts.sink());
  keyed.sum(&Sale::amount).map(row).for_each(sums.sink());
  keyed.min(&Sale::amount).map(row).for_each(minima.sink());
  keyed.max(&Sale::amount).map(row).for_each(maxima.sink());
  const JobResult result = env.execute("aggregates");
  ASSERT_TRUE(result.ok()) << result.status.to_string();

  std::map<std::uint32_t, std::vector<std::int64_t>> shops;
  for (Index i = 0; i < count; ++i) shops[sale(i).shop].push_back(sale(i).amount);
  std::vector<Row> expected[4];
  for (const auto& [shop, amounts] : shops) {
    std::int64_t sum = 0;
    for (const std::int64_t amount : amounts) sum += amount;
    expected[0].emplace_back(shop, amounts.size());
    expected[1].emplace_back(shop, sum);
    expected[2].emplace_back(shop, *std::min_element(amounts.begin(), amounts.end()));
    expected[3].emplace_back(shop, *std::max_element(amounts.begin(), amounts.end()));
  }
  EXPECT_EQ(counts.sorted(), expected[0]);
  EXPECT_EQ(sums.sorted(), expected[1]);
  EXPECT_EQ(minima.sorted(), expected[2]);
  EXPECT_EQ(maxima.sorted(), expected[3]);
}

TEST_P(Pipeline, TwoSumsOfOneKeyedStreamStayApart) {
  StreamExecutionEnvironment env(options());
  auto keyed = env.generate(same, {.count = 100}).key_by([](Index i) { return i % 3; });
  Collected<Index> once, twice;
  keyed.sum([](Index i) { return i; })
      .map([](const auto& kv) { return kv.value; })
      .for_each(once.sink());
  keyed.sum([](Index i) { return 2 * i; })
      .map([](const auto& kv) { return kv.value; })
      .for_each(twice.sink());
  ASSERT_TRUE(env.execute("sums").ok());
  EXPECT_EQ(once.sorted(), (std::vector<Index>{1617, 1650, 1683}));
  EXPECT_EQ(twice.sorted(), (std::vector<Index>{3234, 3300, 3366}));
}

TEST_P(Pipeline, ReduceWithOwnedText) {
  struct Longest {
    std::string word;
    std::uint64_t seen;
  };
  StreamExecutionEnvironment env(options());
  Collected<std::tuple<char, std::string, std::uint64_t>> out;
  env.from_collection(std::vector<std::string>{"pear", "plum", "apple", "apricot", "peach", "fig"})
      .map([](std::string_view word) { return Longest{std::string(word), 1}; })
      .key_by([](const Longest& l) { return static_cast<std::uint8_t>(l.word[0]); })
      .reduce([](const Longest& a, const Longest& b) {
        const bool first =
            a.word.size() != b.word.size() ? a.word.size() > b.word.size() : a.word < b.word;
        return Longest{first ? a.word : b.word, a.seen + b.seen};
      })
      .map([](const auto& kv) {
        return std::tuple<char, std::string, std::uint64_t>(static_cast<char>(kv.key),
                                                            kv.value.word, kv.value.seen);
      })
      .for_each(out.sink());
  ASSERT_TRUE(env.execute("reduce").ok());
  using Row = std::tuple<char, std::string, std::uint64_t>;
  EXPECT_EQ(out.sorted(),
            (std::vector<Row>{{'a', "apricot", 2}, {'f', "fig", 1}, {'p', "peach", 3}}));
}

TEST_P(Pipeline, EveryRecordEmitsTheRunningTotalInOrderPerKey) {
  StreamExecutionEnvironment env(options());
  Collected<std::pair<Index, Index>> out;
  env.generate(same, {.count = 300})
      .key_by([](Index i) { return i % 7; })
      .count(Emit::every_record)
      .map([](const KeyValue<Index, Index>& kv) { return std::pair(kv.key, kv.value); })
      .for_each(out.sink());
  ASSERT_TRUE(env.execute("running").ok());
  std::map<Index, Index> last;
  for (const auto& [key, total] : out.in_order()) EXPECT_EQ(total, ++last[key]);
  EXPECT_EQ(out.in_order().size(), 300u);
}

TEST_P(Pipeline, EveryEpochEndsWithTheTotals) {
  StreamExecutionEnvironment env(options());
  Collected<std::pair<std::string, Index>> out;
  env.generate([](Index i) { return "key" + std::to_string(i % 5); }, {.count = 500})
      .key_by(identity)
      .count(Emit::every_epoch)
      .map([](const KeyValue<std::string_view, Index>& kv) {
        return std::pair<std::string, Index>(kv.key, kv.value);
      })
      .for_each(out.sink());
  ASSERT_TRUE(env.execute("epochs").ok());
  std::map<std::string, Index> last;
  for (const auto& [key, total] : out.in_order()) {
    EXPECT_GT(total, last[key]);
    last[key] = total;
  }
  ASSERT_EQ(last.size(), 5u);
  for (const auto& [key, total] : last) EXPECT_EQ(total, 100u) << key;
}

TEST_P(Pipeline, SmallPartialStateGivesTheSameResult) {
  EnvironmentOptions small = options();
  small.partial_state_bytes = 1;
  StreamExecutionEnvironment env(small);
  Collected<std::pair<std::string, Index>> out;
  env.generate([](Index i) { return std::to_string(i % 300); }, {.count = 3000})
      .key_by(identity)
      .count()
      .map([](const auto& kv) { return std::pair<std::string, Index>(kv.key, kv.value); })
      .for_each(out.sink());
  ASSERT_TRUE(env.execute("small").ok());
  ASSERT_EQ(out.sorted().size(), 300u);
  for (const auto& [key, total] : out.sorted()) EXPECT_EQ(total, 10u) << key;
}

TEST_P(Pipeline, ACustomPartitionSaysWhichSubtaskGetsARecord) {
  StreamExecutionEnvironment env(options());
  Collected<std::pair<Index, bool>> out;
  // Each subtask has a copy of the function: it sees one remainder.
  const auto checked = [first = Index{0}, partitions = Index{0},
                        has_first = false](const std::pair<Index, Index>& record) mutable {
    if (!std::exchange(has_first, true)) std::tie(first, partitions) = record;
    return std::pair(record.first,
                     record.second == partitions && (record.first - first) % partitions == 0);
  };
  const auto parallelism = static_cast<Index>(GetParam().parallelism);
  env.generate(same, {.count = count})
      .partition_custom([](Index i, std::uint32_t partitions) { return i % partitions; })
      .map([parallelism](Index i) { return std::pair(i, parallelism); })
      .map(checked)
      .for_each(out.sink());
  const JobResult result = env.execute("custom");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<std::pair<Index, bool>> expected;
  for (Index i = 0; i < count; ++i) expected.emplace_back(i, true);
  EXPECT_EQ(out.sorted(), expected);
}

TEST_P(Pipeline, ACustomPartitionThatIsNotThereEndsTheJob) {
  StreamExecutionEnvironment env(options());
  Collected<Index> out;
  env.generate(same, {.count = count})
      .partition_custom(
          [](Index i, std::uint32_t partitions) { return i == 500 ? partitions : 0U; })
      .for_each(out.sink());
  const JobResult result = env.execute("custom");
  if (GetParam().parallelism == 1) {  // with one subtask there is nothing to choose
    EXPECT_TRUE(result.ok());
    return;
  }
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status.message().find("partition_custom: its function answered"),
            std::string::npos)
      << result.status.message();
}

TEST_P(Pipeline, ANegativePartitionIsNamedAsItWas) {
  if (GetParam().parallelism == 1) return;
  StreamExecutionEnvironment env(options());
  Collected<Index> out;
  env.generate(same, {.count = count})
      .partition_custom([](Index, std::uint32_t) { return -1; })
      .for_each(out.sink());
  const JobResult result = env.execute("custom");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status.message().find("its function answered -1, and there are"),
            std::string::npos)
      << result.status.message();
}

TEST_P(Pipeline, UnionBroadcastAndRebalance) {
  StreamExecutionEnvironment env(options());
  Collected<Index> together, everywhere;
  auto a = env.generate(same, {.count = 100});
  auto b = env.generate([](Index i) { return i + 1000; }, {.count = 50});
  a.union_with(b).rebalance().map([](Index i) { return i; }).for_each(together.sink());
  a.broadcast().map([](Index i) { return i; }).parallelism(3).for_each(everywhere.sink());
  const JobResult result = env.execute("edges");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  std::vector<Index> expected, thrice;
  for (Index i = 0; i < 100; ++i) {
    expected.push_back(i);
    thrice.insert(thrice.end(), 3, i);
  }
  for (Index i = 0; i < 50; ++i) expected.push_back(i + 1000);
  EXPECT_EQ(together.sorted(), expected);
  EXPECT_EQ(everywhere.sorted(), thrice);
}

constexpr SideOutput<Index> odd{"odd"};

struct SplitOdd {
  using Output = Index;
  SideOutputPorts side_outputs() const { return hummer::side_outputs(odd); }
  void process(Index i, ProcessOutput<Index>& out) {
    if (i % 2 == 1) {
      out.side(odd, i);
    } else {
      out.emit(i);
    }
  }
};

TEST_P(Pipeline, SideOutput) {
  StreamExecutionEnvironment env(options());
  Collected<Index> evens, odds;
  auto split = env.generate(same, {.count = 100}).process(SplitOdd{});
  split.for_each(evens.sink());
  split.side_output(odd).for_each(odds.sink());
  const JobResult result = env.execute("side");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(evens.sorted().size(), 50u);
  for (const Index i : evens.sorted()) EXPECT_EQ(i % 2, 0u);
  EXPECT_EQ(odds.sorted().size(), 50u);
  for (const Index i : odds.sorted()) EXPECT_EQ(i % 2, 1u);
}

TEST_P(Pipeline, ResourceGroupsGetSlotsOfTheirOwn) {
  StreamExecutionEnvironment env(options());
  Collected<Index> out;
  env.generate(same, {.count = 100})
      .map([](Index i) { return i + 1; })
      .resource_group("other")
      .for_each(out.sink());
  const JobResult result = env.execute("groups");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(out.sorted().size(), 100u);
}

TEST_P(Pipeline, EdgesOverTcpGiveTheSameResult) {
  StreamExecutionEnvironment env(options());
  Collected<std::pair<std::string, Index>> out;
  NetworkSettings network;
  network.transport = Transport::tcp;
  network.buffer_size_bytes = 4096;
  network.credits = 2;
  NetworkSettings own_slots = network;
  own_slots.sender_slots = 1;
  own_slots.receiver_slots = 1;
  env.generate([](Index i) { return "key" + std::to_string(i % 50); }, {.count = 2000})
      .network(network)
      .map([](std::string_view text) { return std::string(text) + "!"; })
      .network(own_slots)
      .key_by(identity)
      .count()
      .map([](const auto& kv) { return std::pair<std::string, Index>(kv.key, kv.value); })
      .for_each(out.sink());
  const JobResult result = env.execute("tcp");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  ASSERT_EQ(out.sorted().size(), 50u);
  for (const auto& [key, total] : out.sorted()) EXPECT_EQ(total, 40u) << key;
}

TEST_P(Pipeline, ThrowingFunctionFailsTheJobByName) {
  StreamExecutionEnvironment env(options());
  env.generate(same, {.count = 10'000'000})
      .map([](Index i) -> Index {
        if (i == 4321) throw std::runtime_error("no such fruit");
        return i;
      })
      .name("to_fruit")
      .key_by([](Index i) { return i % 10; })
      .count()
      .for_each([](const auto&) {});
  const JobResult result = env.execute("throws");
  EXPECT_EQ(result.status.code(), ErrorCode::user_function_failed);
  EXPECT_NE(result.status.message().find("'to_fruit'"), std::string::npos)
      << result.status.message();
  EXPECT_NE(result.status.message().find("no such fruit"), std::string::npos);
  EXPECT_NE(result.status.message().find("index 4321"), std::string::npos)
      << result.status.message();
  EXPECT_EQ(result.exit_code(), 1);
}

TEST_P(Pipeline, CancelAndStop) {
  for (const bool cancel : {true, false}) {
    auto platform =
        GetParam().seed == 0 ? nullptr : make_simulated_platform({.seed = GetParam().seed});
    EnvironmentOptions chosen = options();
    chosen.platform = platform.get();
    StreamExecutionEnvironment env(chosen);
    Collected<Index> out;
    env.generate(same, {.records_per_second = 1000.0}).rebalance().for_each(out.sink());
    JobHandle job = env.execute_async("endless");
    if (platform) {
      (void)platform->run_until([] { return false; }, platform->now() + milliseconds(200));
    } else {
      while (out.in_order().empty()) std::this_thread::yield();
    }
    cancel ? job.cancel() : job.stop();
    const JobResult result = job.wait();
    if (cancel) {
      EXPECT_EQ(result.status.code(), ErrorCode::cancelled);
      EXPECT_EQ(result.exit_code(), 130);
    } else {
      EXPECT_TRUE(result.ok()) << result.status.to_string();
      EXPECT_EQ(result.records_read, result.records_written);
    }
    EXPECT_FALSE(out.in_order().empty());
  }
}

TEST(PipelineMistakes, AreNamedBeforeAnythingRuns) {
  StreamExecutionEnvironment empty(EnvironmentOptions{});
  EXPECT_EQ(empty.execute("empty").status.code(), ErrorCode::invalid_graph);

  StreamExecutionEnvironment env(EnvironmentOptions{});
  env.generate(same, {.count = 1})
      .parallelism(2)
      .forward()
      .map(same)
      .parallelism(3)
      .for_each([](Index) {});
  const JobResult result = env.execute("forward");
  EXPECT_EQ(result.status.code(), ErrorCode::invalid_graph);
  EXPECT_NE(result.status.message().find("rebalance"), std::string::npos)
      << result.status.message();
}

struct SubtaskOfWord {
  std::uint32_t subtask = 0;
  void open(OperatorContext& context) { subtask = static_cast<std::uint32_t>(context.subtask()); }
  void process(const std::string& word,
               ProcessOutput<std::pair<std::string, std::uint32_t>>& out) const {
    out.emit({word, subtask});
  }
};

// The operator that makes the strings is not one that the author sees.
TEST_P(Pipeline, EdgesAheadOfAFunctionOfStringsLeadToIt) {
  StreamExecutionEnvironment env(options());
  const std::vector<std::string> words = {"a", "b", "c"};
  Collected<std::pair<std::string, std::uint32_t>> dealt;
  Collected<std::string> everywhere;
  const auto text = env.from_collection(words).name("words");
  text.broadcast()
      .map([](const std::string& word) { return word; })
      .parallelism(5)
      .for_each([sink = everywhere.sink()](std::string_view word) { sink(std::string(word)); });
  text.partition_custom([](std::string_view, std::uint32_t partitions) { return partitions - 1; })
      .process(SubtaskOfWord{})
      .parallelism(5)
      .for_each(dealt.sink());
  const JobResult result = env.execute("strings");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(everywhere.in_order().size(), 5 * words.size());
  EXPECT_EQ(dealt.sorted(),
            (std::vector<std::pair<std::string, std::uint32_t>>{{"a", 4}, {"b", 4}, {"c", 4}}));
}

JobResult run_with(std::vector<const char*> words) {
  words.insert(words.begin(), "job");
  words.push_back("--quiet");
  StreamExecutionEnvironment env(static_cast<int>(words.size()), words.data());
  const std::string number = env.argument("number", "a number");
  env.generate(same, {.count = 1}).for_each([](Index) {});
  return env.execute("arguments");
}

TEST(CommandLine, ArgumentsAndOptions) {
  EXPECT_EQ(run_with({"--number", "5", "--parallelism=2"}).exit_code(), 0);
  EXPECT_EQ(run_with({}).status.code(), ErrorCode::invalid_argument);
  const JobResult misspelt = run_with({"--number", "5", "--paralelism", "2"});
  EXPECT_EQ(misspelt.status.code(), ErrorCode::unknown_option);
  EXPECT_EQ(misspelt.exit_code(), 2);
  EXPECT_NE(misspelt.status.message().find("--parallelism"), std::string::npos);
  EXPECT_EQ(run_with({"--number", "5", "--parallelism", "many"}).status.code(),
            ErrorCode::invalid_argument);
  EXPECT_EQ(run_with({"--number", "5", "stray"}).status.code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hummer::pipeline_test
