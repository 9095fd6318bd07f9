// Options count as execute() finds them: every option of the table, set before the streams are
// described and after, gives the same job.
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <typeinfo>
#include <vector>

#include <fmt/format.h>

#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/hummer.hpp>

#include "api/job_build.hpp"
#include "api/options/option_programs.hpp"
#include "graph/job_graph.hpp"
#include "platform/simulation.hpp"

namespace hummer::planned_options_test {
namespace {

using Number = std::int64_t;

class Store final : public TwoPhaseSinkFunction<Number> {
 public:
  OperatorResult write(std::span<const Number>) override { return OperatorResult::done; }
  Result<std::string> prepare(std::uint64_t) override { return std::string(); }
  Status commit(const std::string&) override { return {}; }
  Status abort_all_but(const std::vector<std::string>&) override { return {}; }
};

// Each call that puts an operator into the graph whose form options may decide.
void describe_streams(StreamExecutionEnvironment& env) {
  const auto numbers = env.from_collection(std::vector<Number>{1, 2, 3})
                           .assign_timestamps([](const Number& number) { return number; },
                                              WatermarkStrategy::bounded(10));
  numbers.print();
  numbers.write_file("-");
  numbers.write_file("/out/lines");
  numbers.write_file("/out/many").parallelism(3);
  numbers.rebalance().write_file("/out/rebalanced");
  numbers.network({.credits = 3}).write_file("/out/network").name("named").uid("file");
  numbers.add_sink("store", [] { return std::make_unique<Store>(); });
  env.from_file("/in").write_file("/out/text");
  env.from_file("/in").flat_map(split_words).key_by(identity).count().write_file("/out/words");

  const auto nothing = [](const auto&) {};
  const auto keyed = numbers.key_by(identity);
  for (const Emit emit : {Emit::automatic, Emit::at_end, Emit::every_epoch, Emit::every_record}) {
    keyed.count(emit).for_each(nothing);
    keyed.sum(identity, emit).for_each(nothing);
  }
  keyed.reduce([](const Number& a, const Number& b) { return a + b; }).for_each(nothing);
  keyed.deduplicate().for_each(nothing);
  keyed.top_n(3, identity, 10).for_each(nothing);
  for (const WindowStrategy strategy :
       {WindowStrategy::automatic, WindowStrategy::late_merge, WindowStrategy::repartition}) {
    const auto tumbling = keyed.window(TumblingWindows::of(10)).strategy(strategy);
    tumbling.count().for_each(nothing);
    const SideOutput<Number> late{"late"};
    const auto sums = tumbling.late_output(late).sum(identity).name("sums");
    sums.for_each(nothing);
    sums.side_output(late).write_file("/out/late");
    keyed.window(SlidingWindows::of(10, 5)).strategy(strategy).max(identity).for_each(nothing);
    numbers.broadcast().window_all(TumblingWindows::of(5)).strategy(strategy).count().print();
  }
  keyed.window(TumblingWindows::of(10).in_processing_time()).count().for_each(nothing);
  keyed.window(SessionWindows::with_gap(10)).count().for_each(nothing);
  keyed.window(CountWindows::of(10)).count().for_each(nothing);
  keyed.join(keyed)
      .window(TumblingWindows::of(10))
      .apply([](const Number& a, const Number& b) { return a + b; })
      .for_each(nothing);
}

using Change = std::function<void(EnvironmentOptions&)>;
// Of the job in hand: a job function has no other argument.
Change change;
bool change_behind;

JobResult build(StreamExecutionEnvironment& env) {
  if (!change_behind) change(env.options());
  describe_streams(env);
  if (change_behind) change(env.options());
  return env.execute("numbers");
}

// How many of 5,000 numbers an operator ahead of an exchange hands on at once: its limit shows.
std::size_t handed_on(const StreamNode& node) {
  if (!node.name.starts_with("partial_")) return 0;
  const std::unique_ptr<Operator> op = node.factory->make();
  FakeOperatorContext context;
  op->set_context(context);
  Output out;
  op->declare(out);
  if (!op->open().ok()) return 0;
  Batch in(type_of<Number>(), 5'000);
  {
    Collector<Number> numbers(in, 5'000);
    for (Number number = 0; number < 5'000; ++number) numbers(number);
  }
  for (Number number = 0; number < 5'000; ++number) in.timestamps().push_back(0);
  (void)op->process(in, out);
  return out.batch().size();
}

// All that a job is, in text.
std::string in_words(const BuiltJob& job) {
  std::string text;
  for (const StreamNode& node : job.graph.nodes) {
    const std::unique_ptr<Operator> op = node.factory->make();
    const bool of_words = node.output_type.find("text") != std::string::npos;
    text += fmt::format("{} {} uid {} parallelism {} hands on {}: {}\n", node.id, node.name,
                        node.uid, node.parallelism.value_or(0), of_words ? 0 : handed_on(node),
                        typeid(*op).name());
  }
  for (const StreamEdge& edge : job.graph.edges) {
    text += fmt::format("{}:{} -> {} {} credits {}", edge.from, edge.from_port, edge.to,
                        to_string(edge.routing), edge.network.credits);
    if (edge.routing == Routing::hash) {
      const std::unique_ptr<Partitioner> partitioner = edge.partitioner->make(2, 1024);
      text += fmt::format(" {}", typeid(*partitioner).name());
    }
    text += "\n";
  }
  const Result<JobGraph> fused = fuse(job.graph);
  text += fused.ok() ? fmt::format("{:016x}", fused->fingerprint) : fused.status().to_string();
  return text;
}

std::string built(const Change& with, bool behind) {
  change = with;
  change_behind = behind;
  EnvironmentOptions options;
  options.parallelism = 2;
  const Result<BuiltJob> job = build_job(&build, {}, options);
  EXPECT_TRUE(job.ok()) << job.status().to_string();
  return job.ok() ? in_words(*job) : "";
}

// Values that are not the default.
std::vector<std::string> samples_of(const Option& option) {
  if (!option.choices.empty()) return {option.choices.begin(), option.choices.end()};
  switch (option.type) {
    case OptionType::on_off: return {"true"};
    case OptionType::size: return {"4096"};
    case OptionType::integer: return {"1", "7"};
    case OptionType::decimal: return {"1.5"};
    case OptionType::address: return {"127.0.0.1:1"};
    default: return {"/a/text"};
  }
}

TEST(PlannedOptions, EveryOptionCountsAlsoBehindTheStreams) {
  const std::string as_it_was = built([](EnvironmentOptions&) {}, false);
  std::set<std::string> deciding;
  for (const Option& option : program_of<EnvironmentOptions>().options) {
    if (option.store == nullptr) continue;
    for (const std::string& text : samples_of(option)) {
      const Result<OptionValue> value = parse_option(option, std::span(&text, 1));
      if (!value.ok()) continue;
      const auto store = [&](EnvironmentOptions& options) {
        option.store(option, *value, &options);
      };
      const std::string before = built(store, false);
      EXPECT_EQ(built(store, true), before) << option.name << " = " << text;
      if (before != as_it_was) deciding.insert(std::string(option.name));
    }
  }
  // That the words above would show it.
  EXPECT_EQ(deciding, (std::set<std::string>{"checkpoint-dir", "parallelism", "partial-state-bytes",
                                             "window-strategy"}));
}

TEST(PlannedOptions, CheckpointsThatAreEnabledBehindTheStreamsMakeTheSinkTransactional) {
  const auto platform = make_simulated_platform({.seed = 7});
  EnvironmentOptions options;
  options.parallelism = 2;
  options.platform = platform.get();
  StreamExecutionEnvironment env(options);
  env.generate([](std::uint64_t i) { return i; }, {.count = 1'000})
      .key_by([](const std::uint64_t& number) { return number % 10; })
      .count()
      .write_file("/out");
  env.options().checkpoints.directory = "/checkpoints";
  env.options().checkpoints.interval_ms = 100;
  const JobResult result = env.execute("numbers");
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  const Result<FileInformation> out = platform->files().stat("/out");
  ASSERT_TRUE(out.ok()) << out.status().to_string();
  EXPECT_TRUE(out->is_directory);
}

}  // namespace
}  // namespace hummer::planned_options_test
