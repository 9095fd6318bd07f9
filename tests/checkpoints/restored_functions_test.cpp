// What functions, windows and calls keep, each in a job of its own that fails and goes on at the
// same parallelism, and at another one: the file holds what a run without failures would have
// written. Embedded and on a cluster, both simulated.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::restored_functions_test {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 2'400;
constexpr Index keys = 12;  // a multiple of each parallelism: a source subtask has whole keys

// Of the tests that run now; a job's functions may capture nothing that a worker has not.
PlannedFailures planned;

struct Item {
  Index key;
  Index id;
};
Timestamp time_of(Index i) { return static_cast<Timestamp>(2 * i); }

// Four records a millisecond; from it comes the planned failure.
DataStream<Item> items(StreamExecutionEnvironment& env, double rate = 4'000) {
  return env
      .generate([](Index i) { return Item{i % keys, i}; },
                {.count = record_count,
                 .records_per_second = rate,
                 .watermark_interval = 8,
                 .out_of_order_ms = 4},
                [](Index i) { return time_of(i); })
      .map([](const Item& item) {
        planned.maybe_throw();
        return item;
      });
}
// The same without times, which assign_timestamps gives.
DataStream<Item> timeless_items(StreamExecutionEnvironment& env) {
  return env
      .generate([](Index i) { return Item{i % keys, i}; },
                {.count = record_count, .records_per_second = 4'000})
      .map([](const Item& item) {
        planned.maybe_throw();
        return item;
      });
}
std::string text_of(Index first, Index second) {
  return std::to_string(first) + " " + std::to_string(second);
}

// ---- broadcast state ----

constexpr Index rule_step = 5;  // each of these records is a rule

// At every multiple of 200: how many records a key has had, and the sum of the rules before that.
struct Judge {
  ValueState<Index> count{"count"};
  MapState<Timestamp, Index> before{"before"};
  BroadcastState<Index, Index> rules{"rules"};

  void process(const Item&, KeyedOutput<std::string>& out) {
    const Timestamp end = out.time() / 200 * 200 + 200;
    before.update(end, 0, [](Index& n) { ++n; });
    out.set_event_timer(end);
  }
  void process_broadcast(const Item& rule, BroadcastOutput<std::string>& out) {
    out.state(rules).put(rule.id, rule.id);
  }
  void on_timer(Timestamp end, KeyedOutput<std::string>& out) {
    count.update(0, [&](Index& n) { n += before.get_or(end, 0); });
    before.remove(end);
    Index sum = 0;
    for (Index id = 0; time_of(id) < end; id += rule_step) {
      if (const Index* const rule = rules.find(id)) sum += *rule;
    }
    out.emit(text_of(out.key<Index>(), *count.find()) + " of " + std::to_string(sum));
  }
};
void broadcast_state(StreamExecutionEnvironment& env) {
  const auto rules = items(env).filter([](const Item& item) { return item.id % rule_step == 0; });
  items(env).key_by(&Item::key).connect(rules.broadcast()).process(Judge{}).write_file("/out");
}

// ---- two streams ----

void co_group(StreamExecutionEnvironment& env) {
  const auto left = items(env).filter([](const Item& item) { return item.id % 3 != 0; });
  const auto right = items(env).filter([](const Item& item) { return item.id % 50 < 20; });
  left.key_by(&Item::key)
      .co_group(right.key_by(&Item::key))
      .window(TumblingWindows::of(60))
      .apply([](const TimeWindow& window, std::span<const Item> first, std::span<const Item> second,
                KeyedOutput<std::string>& out) {
        out.emit(std::to_string(out.key<Index>()) + " at " + std::to_string(window.start_ms) +
                 ": " + text_of(first.size(), second.size()));
      })
      .write_file("/out");
}

// Sums of both sides, kept until the end and handed on once.
struct BothSums {
  using Output = Item;
  Index first = 0;
  Index second = 0;
  void process_first(const Item& item, ProcessOutput<Item>&) { first += item.id; }
  void process_second(const Item& item, ProcessOutput<Item>&) { second += 3 * item.id; }
  OperatorResult end(ProcessOutput<Item>& out) {
    out.emit(Item{1, std::exchange(first, 0)});
    out.emit(Item{2, std::exchange(second, 0)});
    return OperatorResult::done;
  }
  void snapshot(ByteWriter& out) {
    out.put_value(first);
    out.put_value(second);
  }
  Status restore(ByteReader& in) {
    Index a = 0, b = 0;
    if (!in.get_value(a) || !in.get_value(b)) return {ErrorCode::corrupt_record, "cut short"};
    first += a;
    second += b;
    return {};
  }
};
void connected_streams(StreamExecutionEnvironment& env) {
  items(env)
      .connect(items(env).rebalance())
      .process(BothSums{})
      .key_by(&Item::key)
      .sum(&Item::id)
      .write_file("/out");
}

// ---- calls ----

// Every fifth record gets its answer when its time is over.
struct Slow {
  std::shared_ptr<std::vector<AsyncResult<std::string>>> held =
      std::make_shared<std::vector<AsyncResult<std::string>>>();
  void operator()(const Item& item, AsyncResult<std::string> result) const {
    if (item.id % 5 == 0) return held->push_back(std::move(result));
    result.complete(on_timeout(item));
  }
  std::string on_timeout(const Item& item) const { return "asked for " + std::to_string(item.id); }
};
template <AsyncOrder order>
void calls(StreamExecutionEnvironment& env) {
  items(env)
      .async_map(rebuildable(Slow{}), {.capacity = 50, .timeout_ms = 15, .order = order})
      .write_file("/out");
}

// ---- keyed state ----

// What was written 600 ms ago is gone by one measure and there by the other.
struct Expiring {
  ValueState<Index> kept{"kept", {.ttl_ms = 3'600'000}};
  ValueState<Index> brief{"brief", {.ttl_ms = 200}};
  void process(const Item& item, KeyedOutput<std::string>& out) {
    const bool seen = brief.has_value();
    kept.update(0, [](Index& n) { ++n; });
    brief.set(1);
    out.emit(text_of(item.id % 600, *kept.find()) + (seen ? " again" : " anew"));
  }
};
void state_with_ttl(StreamExecutionEnvironment& env) {
  items(env, 1'000)
      .key_by([](const Item& item) { return item.id % 600; })
      .process(Expiring{})
      .write_file("/out");
}

struct AllKinds {
  ListState<Index> last{"last"};
  ReducingState<Index, std::plus<>> sum{"sum"};
  AggregatingState<CountAggregate> number{"number"};
  void process(const Item& item, KeyedOutput<std::string>& out) {
    last.add(item.id);
    if (last.size() > 4) {
      last.update([](std::vector<Index>& all) { all.erase(all.begin()); });
    }
    number.add(item);
    std::string line = text_of(item.key, sum.add(item.id)) + " " + std::to_string(*number.result());
    for (const Index id : last.get()) line += " " + std::to_string(id);
    out.emit(line);
  }
};
void kinds_of_state(StreamExecutionEnvironment& env) {
  items(env).key_by(&Item::key).process(AllKinds{}).write_file("/out");
}

// Each record once, by a timer of the clock; the last ones at the end.
struct ByTheClock {
  ListState<Index> waiting{"waiting"};
  void process(const Item& item, KeyedOutput<std::string>& out) {
    if (waiting.empty()) out.set_processing_timer(out.processing_time() + 15);
    waiting.add(item.id);
    out.set_event_timer(1'000'000);
  }
  void on_processing_timer(Timestamp, KeyedOutput<std::string>& out) { hand_on(out); }
  void on_timer(Timestamp, KeyedOutput<std::string>& out) { hand_on(out); }
  void hand_on(KeyedOutput<std::string>& out) {
    for (const Index id : waiting.get()) out.emit(std::to_string(id));
    waiting.clear();
  }
};
void processing_timers(StreamExecutionEnvironment& env) {
  items(env).key_by(&Item::key).process(ByTheClock{}).write_file("/out");
}

// ---- windows ----

constexpr auto line_of = [](const auto& one) {
  return text_of(one.key, static_cast<Index>(one.value)) + " at " +
         std::to_string(one.window.start_ms);
};
void count_windows(StreamExecutionEnvironment& env) {
  items(env)
      .key_by(&Item::key)
      .window(CountWindows::of(7, 3))
      .sum(&Item::id)
      .map(line_of)
      .write_file("/out");
}
void global_windows(StreamExecutionEnvironment& env) {
  items(env)
      .key_by(&Item::key)
      .window(GlobalWindows{})
      .trigger(PurgingTrigger(CountTrigger::of(5)))
      .sum(&Item::id)
      .map(line_of)
      .write_file("/out");
}
// Its result is out whenever it has grown by three, and at its end.
struct ByThrees {
  struct State {
    Index seen = 0;
  };
  TriggerResult record(TriggerContext& context, State& state) const {
    context.call_at_event_time(context.window.end_ms);
    return ++state.seen % 3 == 0 ? TriggerResult::fire : TriggerResult::go_on;
  }
  TriggerResult event_time(TriggerContext&, State& state) const {
    return state.seen % 3 == 0 ? TriggerResult::go_on : TriggerResult::fire;
  }
  TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
  void merge(State& state, const State& other) const { state.seen += other.seen; }
};
void windows_with_a_trigger(StreamExecutionEnvironment& env) {
  items(env)
      .key_by(&Item::key)
      .window(SlidingWindows::of(200, 100))
      .trigger(ByThrees())
      .sum(&Item::id)
      .map(line_of)
      .write_file("/out");
}
// Some records come 1.5 s late.
constexpr SideOutput<Item> too_late{"too_late"};
void late_output(StreamExecutionEnvironment& env) {
  const auto counted = timeless_items(env)
                           .assign_timestamps(
                               [](const Item& item) {
                                 const bool late = item.id > 1'200 && item.id % 31 == 0;
                                 return time_of(item.id) - (late ? 1'500 : 0);
                               },
                               WatermarkStrategy::bounded(10))
                           .key_by(&Item::key)
                           .window(TumblingWindows::of(50))
                           .late_output(too_late)
                           .count();
  counted.side_output(too_late)
      .map([](const Item& item) { return std::to_string(item.id) + " is late"; })
      .union_with(counted.map(line_of))
      .write_file("/out");
}

// ---- all of them ----

struct Case {
  const char* name;
  void (*build)(StreamExecutionEnvironment&);
  bool unaligned = true;  // may be tried with
};
constexpr Case cases[] = {
    {"broadcast_state", &broadcast_state},
    {"co_group", &co_group},
    {"connected_streams", &connected_streams},
    {"ordered_calls", &calls<AsyncOrder::ordered>},
    {"unordered_calls", &calls<AsyncOrder::unordered>},
    {"state_with_ttl", &state_with_ttl},
    {"kinds_of_state", &kinds_of_state},
    {"processing_timers", &processing_timers},
    {"count_windows", &count_windows},
    {"global_windows", &global_windows},
    {"windows_with_a_trigger", &windows_with_a_trigger},
    {"late_output", &late_output},
};

JobResult run(StreamExecutionEnvironment& env, std::string_view name) {
  for (const Case& each : cases) {
    if (each.name == name) each.build(env);
  }
  return env.execute(std::string(name));
}
JobResult run_named(StreamExecutionEnvironment& env) { return run(env, env.argument("case")); }

class RestoredFunctions : public testing::TestWithParam<std::tuple<Case, std::uint64_t>> {
 protected:
  const char* name() const { return std::get<0>(GetParam()).name; }
  std::uint64_t seed() const { return std::get<1>(GetParam()); }
  EnvironmentOptions options(int parallelism) const {
    EnvironmentOptions options;
    options.parallelism = parallelism;
    options.batch_records = seed() % 3 == 0 ? 64 : static_cast<std::uint32_t>(3 * seed());
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.checkpoints.unaligned = seed() % 2 == 0;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
  JobResult run_on(SimulatedPlatform& node, EnvironmentOptions options) const {
    options.platform = &node;
    StreamExecutionEnvironment env(options);
    return run(env, name());
  }
  // Those of a run without failures.
  std::vector<std::string> expected() const {
    planned.every = 0;
    const auto node = make_simulated_platform({.seed = seed()});
    const JobResult result = run_on(*node, options(2));
    EXPECT_TRUE(result.ok()) << result.status.to_string();
    auto lines = visible_lines(node->files(), "/out");
    EXPECT_FALSE(lines.empty());
    return lines;
  }
  static void plan(int failures, std::uint64_t every) {
    planned.left = failures;
    planned.seen = 0;
    planned.every = every;
  }
};
std::string name_of(const testing::TestParamInfo<std::tuple<Case, std::uint64_t>>& info) {
  return std::get<0>(info.param).name + ("_" + std::to_string(std::get<1>(info.param)));
}
INSTANTIATE_TEST_SUITE_P(Cases, RestoredFunctions,
                         testing::Combine(testing::ValuesIn(cases),
                                          testing::Range<std::uint64_t>(1, drawn_cases(6) + 1)),
                         name_of);

TEST_P(RestoredFunctions, FailuresAndAnotherParallelismDoNotShow) {
  const auto lines = expected();
  const int parallelism = 2 + static_cast<int>(seed() % 2);
  {
    const auto node = make_simulated_platform({.seed = 100 + seed()});
    plan(2, 700 + 10 * seed());
    const JobResult result = run_on(*node, options(parallelism));
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_LE(planned.left.load(), 0) << "a failure that was planned did not come";
    EXPECT_EQ(visible_lines(node->files(), "/out"), lines);
  }
  for (const int next : {2, 3, 4}) {
    if (next == parallelism) continue;
    SCOPED_TRACE(std::to_string(parallelism) + " to " + std::to_string(next));
    const auto node = make_simulated_platform({.seed = 200 + seed()});
    plan(1, 1'300 + 10 * seed());
    EnvironmentOptions first = options(parallelism);
    first.restart = RestartStrategy::no_restart();
    ASSERT_EQ(run_on(*node, first).status.code(), ErrorCode::user_function_failed);
    EnvironmentOptions second = options(next);
    second.checkpoints.restore = "latest";
    const JobResult result = run_on(*node, second);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    EXPECT_EQ(visible_lines(node->files(), "/out"), lines);
  }
}

class RestoredFunctionsOnACluster : public RestoredFunctions {};
INSTANTIATE_TEST_SUITE_P(Cases, RestoredFunctionsOnACluster,
                         testing::Combine(testing::ValuesIn(cases), testing::Values(1u, 2u)),
                         name_of);

TEST_P(RestoredFunctionsOnACluster, AKilledTaskManagerAndAnotherParallelismDoNotShow) {
  const auto lines = expected();
  SimulatedCluster cluster(seed(), 3, 2, &run_named);
  const std::vector<std::string> arguments{std::string("--case=") + name()};
  EnvironmentOptions first = options(3);
  first.checkpoints.interval_ms = 50;
  const std::uint64_t job = cluster.submit(first, arguments);
  ASSERT_TRUE(cluster.until(
      job, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 2; }));
  cluster.kill(cluster.workers[seed() % 3]);
  cluster.let_pass(milliseconds(20));
  cluster.restart(cluster.workers[seed() % 3]);
  ASSERT_TRUE(cluster.until(job, [](const wire::JobStatus& now) {
    return now.state() == wire::JOB_RUNNING && now.checkpoints_completed() >= 4;
  }));
  EnvironmentOptions second = options(2);
  second.checkpoints.restore = cluster.savepoint(job, "/savepoints", true);
  ASSERT_FALSE(second.checkpoints.restore.empty()) << cluster.last_failure.message();
  ASSERT_EQ(cluster.end_of(job).state(), wire::JOB_FINISHED);
  const wire::JobStatus end = cluster.end_of(cluster.submit(second, arguments));
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), lines);
}

}  // namespace
}  // namespace hummer::restored_functions_test
