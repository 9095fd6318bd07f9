// Jobs that keep state of every kind, each small and alone: what restores, failures and versions of
// the engine must not change is what they have written to /out in the end.
//
//   stateful_jobs::planned.every = 700;                  // failures; see PlannedFailures
//   stateful_jobs::write_input(node->files());           // for `files`
//   StreamExecutionEnvironment env(options);
//   stateful_jobs::run_stateful_job(env, "count_windows");
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"

namespace hummer::stateful_jobs {

using Index = std::uint64_t;
constexpr Index record_count = 2'400;
constexpr Index keys = 12;  // a multiple of each parallelism: a source subtask has whole keys

// Those of the test that runs; a job's functions may capture nothing that a worker has not.
inline PlannedFailures planned;

struct Item {
  Index key;
  Index id;
};
inline Timestamp time_of(Index i) { return static_cast<Timestamp>(2 * i); }

// Four records a millisecond; from it comes the planned failure.
inline DataStream<Item> items(StreamExecutionEnvironment& env, double rate = 4'000) {
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
inline DataStream<Item> timeless_items(StreamExecutionEnvironment& env) {
  return env
      .generate([](Index i) { return Item{i % keys, i}; },
                {.count = record_count, .records_per_second = 4'000})
      .map([](const Item& item) {
        planned.maybe_throw();
        return item;
      });
}
inline std::string text_of(Index first, Index second) {
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
inline void broadcast_state(StreamExecutionEnvironment& env) {
  const auto rules = items(env).filter([](const Item& item) { return item.id % rule_step == 0; });
  items(env).key_by(&Item::key).connect(rules.broadcast()).process(Judge{}).write_file("/out");
}

// ---- two streams ----

inline void co_group(StreamExecutionEnvironment& env) {
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
inline void connected_streams(StreamExecutionEnvironment& env) {
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
inline void state_with_ttl(StreamExecutionEnvironment& env) {
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
inline void kinds_of_state(StreamExecutionEnvironment& env) {
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
inline void processing_timers(StreamExecutionEnvironment& env) {
  items(env).key_by(&Item::key).process(ByTheClock{}).write_file("/out");
}

// ---- windows ----

constexpr auto line_of = [](const auto& one) {
  return text_of(one.key, static_cast<Index>(one.value)) + " at " +
         std::to_string(one.window.start_ms);
};
inline void count_windows(StreamExecutionEnvironment& env) {
  items(env)
      .key_by(&Item::key)
      .window(CountWindows::of(7, 3))
      .sum(&Item::id)
      .map(line_of)
      .write_file("/out");
}
inline void global_windows(StreamExecutionEnvironment& env) {
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
inline void windows_with_a_trigger(StreamExecutionEnvironment& env) {
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
inline void late_output(StreamExecutionEnvironment& env) {
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

inline void tumbling_windows(StreamExecutionEnvironment& env) {
  items(env)
      .key_by(&Item::key)
      .window(TumblingWindows::of(60))
      .count()
      .map(line_of)
      .write_file("/out");
}
inline void sliding_windows(StreamExecutionEnvironment& env) {
  items(env)
      .key_by(&Item::key)
      .window(SlidingWindows::of(200, 50))
      .max(&Item::id)
      .map(line_of)
      .write_file("/out");
}
inline void session_windows(StreamExecutionEnvironment& env) {
  items(env)
      .filter([](const Item& item) { return item.id % 200 < 120; })
      .key_by(&Item::key)
      .window(SessionWindows::with_gap(40))
      .sum(&Item::id)
      .map(line_of)
      .write_file("/out");
}

// ---- running aggregates and joins ----

struct Named {
  std::string name;
  Index id;
};
inline void running_aggregates(StreamExecutionEnvironment& env) {
  const auto line_of_key = [](const auto& one) { return text_of(one.key, one.value); };
  items(env)
      .key_by(&Item::key)
      .count(Emit::every_record)
      .map(line_of_key)
      .union_with(items(env).key_by(&Item::key).sum(&Item::id, Emit::every_record).map(line_of_key))
      .write_file("/out");
}
inline void aggregates_of_texts(StreamExecutionEnvironment& env) {
  items(env)
      .map([](const Item& item) {
        return Named{std::string(item.key, '-') + std::to_string(item.key), item.id};
      })
      .key_by(&Named::name)
      .sum(&Named::id)
      .map([](const auto& sum) { return std::string(sum.key) + " " + std::to_string(sum.value); })
      .write_file("/out");
}
inline void first_and_best(StreamExecutionEnvironment& env) {
  const auto firsts = items(env)
                          .key_by([](const Item& item) { return item.id % 700; })
                          .deduplicate()
                          .map([](const Item& item) { return item.id % 700; });
  const auto best = items(env)
                        .key_by(&Item::key)
                        .top_n(
                            2, [](const Item& item) { return item.id * 7919 % 1'000; }, 150)
                        .map([](const Ranked<Item>& ranked) { return ranked.record.id; });
  firsts.union_with(best).write_file("/out");
}
inline void joins(StreamExecutionEnvironment& env) {
  const auto text = [](const Item& a, const Item& b) { return text_of(a.id, b.id); };
  const auto left = items(env).filter([](const Item& item) { return item.id % 3 != 0; });
  const auto right = items(env).filter([](const Item& item) { return item.id % 50 < 20; });
  left.key_by(&Item::key)
      .join(right.key_by(&Item::key))
      .window(TumblingWindows::of(100))
      .apply(text)
      .union_with(left.key_by(&Item::key)
                      .interval_join(right.key_by(&Item::key))
                      .between(-50, 30)
                      .apply(text))
      .write_file("/out");
}

// ---- files ----

// Lines of /in, no faster than the calls behind them take them.
inline void write_input(Files& files) {
  EXPECT_TRUE(files.make_directory("/in").ok());
  for (const std::string name : {"/in/first", "/in/second"}) {
    auto file = files.open_for_writing(name, WriteMode::create_new);
    ASSERT_TRUE(file.ok()) << file.status().to_string();
    std::string text;
    for (Index i = 0; i < record_count / 2; ++i) text += std::to_string(i) + "\n";
    EXPECT_TRUE((*file)->append(text).ok());
    EXPECT_TRUE((*file)->close().ok());
  }
}
inline void files(StreamExecutionEnvironment& env) {
  env.from_file("/in", {.split_size_bytes = 500, .block_size_bytes = 64})
      .map([](std::string_view line) {
        planned.maybe_throw();
        const Index id = std::stoull(std::string(line));
        return Item{id % keys, id};
      })
      .async_map(rebuildable(Slow{}),
                 {.capacity = 4, .timeout_ms = 3, .order = AsyncOrder::ordered})
      .write_file("/out");
}

// ---- all of them ----

struct StatefulJob {
  const char* name;
  void (*build)(StreamExecutionEnvironment&);
};
inline constexpr StatefulJob all[] = {
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
    {"tumbling_windows", &tumbling_windows},
    {"sliding_windows", &sliding_windows},
    {"session_windows", &session_windows},
    {"running_aggregates", &running_aggregates},
    {"aggregates_of_texts", &aggregates_of_texts},
    {"first_and_best", &first_and_best},
    {"joins", &joins},
    {"files", &files},
};

inline JobResult run_stateful_job(StreamExecutionEnvironment& env, std::string_view name) {
  for (const StatefulJob& each : all) {
    if (each.name == name) each.build(env);
  }
  return env.execute(std::string(name));
}
// On a cluster: `--case=NAME`.
inline JobResult run_named_job(StreamExecutionEnvironment& env) {
  return run_stateful_job(env, env.argument("case"));
}

}  // namespace hummer::stateful_jobs
