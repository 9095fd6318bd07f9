// Keyed state, joins and asynchronous calls through the public API, embedded:
// every result equals that of a plain loop over the same records, at parallelism
// 1, 2 and 4, whatever the schedule.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <thread>
#include <tuple>

#include "pipelines/collected.hpp"
#include "platform/simulation.hpp"

namespace hummer::keyed_test {
namespace {

struct KeyedSetting {
  std::uint64_t seed;  // of the records, and of the simulation
  int parallelism;
  std::uint32_t batch_records;
  bool on_linux;
};
std::ostream& operator<<(std::ostream& out, const KeyedSetting& setting) {
  return out << "seed" << setting.seed << "_p" << setting.parallelism << "_b"
             << setting.batch_records << (setting.on_linux ? "_linux" : "");
}
std::vector<KeyedSetting> keyed_settings() {
  std::vector<KeyedSetting> all;
  for (std::uint64_t seed = 1; seed <= 9; ++seed) {
    all.push_back({seed, 1 << seed % 3, seed % 2 == 0 ? 3u : 64u, false});
  }
  all.push_back({21, 1, 1024, true});
  all.push_back({22, 2, 16, true});
  all.push_back({23, 4, 1024, true});
  return all;
}

struct Left {
  std::uint32_t key;
  Timestamp time;
  int id;
};
struct Right {
  std::uint32_t key;
  Timestamp time;
  int id;
};
constexpr Timestamp disorder_ms = 50;

// Records of a few keys, out of order within disorder_ms.
template <typename T>
std::vector<T> random_records(std::uint64_t seed, int count) {
  std::mt19937_64 random(seed);
  std::vector<T> records;
  for (int i = 0; i < count; ++i) {
    const auto time =
        static_cast<Timestamp>(5 * i) + static_cast<Timestamp>(random() % disorder_ms);
    records.push_back({static_cast<std::uint32_t>(random() % 7), time, i});
  }
  return records;
}

class Keyed : public testing::TestWithParam<KeyedSetting> {
 protected:
  Keyed()
      : platform_(GetParam().on_linux ? nullptr
                                      : make_simulated_platform({.seed = GetParam().seed})),
        lefts_(random_records<Left>(GetParam().seed * 2, 300)),
        rights_(random_records<Right>(GetParam().seed * 2 + 1, 260)) {}

  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.parallelism = GetParam().parallelism;
    options.batch_records = GetParam().batch_records;
    options.channel_credits = 2;
    options.platform = platform_.get();
    return options;
  }
  template <typename T>
  static DataStream<T> timed(StreamExecutionEnvironment& env, const std::vector<T>& records) {
    return env.generate(
        [records](std::uint64_t i) { return records[i]; },
        {.count = records.size(), .watermark_interval = 5, .out_of_order_ms = disorder_ms},
        [records](std::uint64_t i) { return records[i].time; });
  }
  static void run(StreamExecutionEnvironment& env) {
    const JobResult result = env.execute("keyed");
    ASSERT_TRUE(result.ok()) << result.status.to_string();
  }

  std::unique_ptr<SimulatedPlatform> platform_;
  std::vector<Left> lefts_;
  std::vector<Right> rights_;
};
INSTANTIATE_TEST_SUITE_P(Settings, Keyed, testing::ValuesIn(keyed_settings()),
                         testing::PrintToStringParamName());

using Ids = std::pair<int, int>;
constexpr auto ids = [](const Left& left, const Right& right) { return Ids(left.id, right.id); };

template <typename Windows>
std::vector<Timestamp> window_starts(const Windows& windows, Timestamp time) {
  std::vector<Timestamp> starts;
  for (Timestamp start = -windows.size_ms; start <= time; ++start) {
    const bool on_the_grid = (start - windows.offset_ms) % windows.slide_ms == 0;
    if (on_the_grid && time < start + windows.size_ms) starts.push_back(start);
  }
  return starts;
}

TEST_P(Keyed, WindowJoinEqualsTheNestedLoop) {
  for (const auto& windows :
       {SlidingWindows::of(40, 40, 7), SlidingWindows::of(60, 25), SlidingWindows::of(20, 50)}) {
    StreamExecutionEnvironment env(options());
    Collected<Ids> out;
    timed(env, lefts_)
        .key_by(&Left::key)
        .join(timed(env, rights_).key_by(&Right::key))
        .window(windows)
        .apply(ids)
        .for_each(out.sink());
    run(env);
    std::vector<Ids> expected;
    for (const Left& left : lefts_) {
      for (const Right& right : rights_) {
        if (left.key != right.key) continue;
        for (const Timestamp start : window_starts(windows, left.time)) {
          if (right.time >= start && right.time < start + windows.size_ms) {
            expected.emplace_back(left.id, right.id);
          }
        }
      }
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(out.sorted(), expected);
    EXPECT_FALSE(expected.empty());
  }
}

TEST_P(Keyed, SessionCoGroupEqualsTheSortedLoop) {
  constexpr std::int64_t gap_ms = 30;
  using Row = std::tuple<std::uint32_t, Timestamp, Timestamp, int, int>;
  StreamExecutionEnvironment env(options());
  Collected<Row> out;
  timed(env, lefts_)
      .key_by(&Left::key)
      .co_group(timed(env, rights_).key_by(&Right::key))
      .window(SessionWindows::with_gap(gap_ms))
      .apply([](TimeWindow window, std::span<const Left> lefts, std::span<const Right> rights,
                KeyedOutput<Row>& collector) {
        collector.emit(Row(collector.key<std::uint32_t>(), window.start_ms, window.end_ms,
                           static_cast<int>(lefts.size()), static_cast<int>(rights.size())));
      })
      .for_each(out.sink());
  run(env);
  std::map<std::uint32_t, std::vector<std::pair<Timestamp, bool>>> by_key;
  for (const Left& left : lefts_) by_key[left.key].emplace_back(left.time, true);
  for (const Right& right : rights_) by_key[right.key].emplace_back(right.time, false);
  std::vector<Row> expected;
  for (auto& [key, times] : by_key) {
    std::sort(times.begin(), times.end());
    for (const auto& [time, is_left] : times) {
      if (expected.empty() || std::get<0>(expected.back()) != key ||
          time >= std::get<2>(expected.back())) {
        expected.emplace_back(key, time, time, 0, 0);
      }
      std::get<2>(expected.back()) = time + gap_ms;
      ++(is_left ? std::get<3>(expected.back()) : std::get<4>(expected.back()));
    }
  }
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(out.sorted(), expected);
}

TEST_P(Keyed, IntervalJoinEqualsTheNestedLoop) {
  for (const auto& [lower, upper] : {std::pair(-30, 20), std::pair(10, 90), std::pair(-90, -10)}) {
    StreamExecutionEnvironment env(options());
    Collected<Ids> out;
    timed(env, lefts_)
        .key_by(&Left::key)
        .interval_join(timed(env, rights_).key_by(&Right::key))
        .between(lower, upper)
        .apply(ids)
        .for_each(out.sink());
    run(env);
    std::vector<Ids> expected;
    for (const Left& left : lefts_) {
      for (const Right& right : rights_) {
        const Timestamp apart = right.time - left.time;
        if (left.key == right.key && apart >= lower && apart <= upper) {
          expected.emplace_back(left.id, right.id);
        }
      }
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(out.sorted(), expected);
  }
}

// One stream may be both sides, by different keys.
TEST_P(Keyed, AStreamJoinsItself) {
  StreamExecutionEnvironment env(options());
  Collected<Ids> out;
  const auto stream = timed(env, lefts_);
  stream.key_by([](const Left& left) { return left.id; })
      .interval_join(stream.key_by([](const Left& left) { return left.id - 1; }))
      .between(-100, 100)
      .apply([](const Left& a, const Left& b) { return Ids(a.id, b.id); })
      .for_each(out.sink());
  run(env);
  std::vector<Ids> expected;
  for (int i = 0; i + 1 < static_cast<int>(lefts_.size()); ++i) expected.emplace_back(i, i + 1);
  EXPECT_EQ(out.sorted(), expected);
}

TEST_P(Keyed, TopNEqualsSorting) {
  using Row = std::tuple<std::uint32_t, Timestamp, std::uint32_t, int>;
  const auto score = [](const Left& left) { return left.id * 7919 % 101; };
  StreamExecutionEnvironment env(options());
  Collected<Row> out;
  timed(env, lefts_)
      .key_by(&Left::key)
      .top_n(3, score, 100)
      .map([](const Ranked<Left>& ranked) {
        return Row(ranked.record.key, ranked.window_start, ranked.rank, ranked.record.id);
      })
      .for_each(out.sink());
  run(env);
  std::map<std::pair<std::uint32_t, Timestamp>, std::vector<std::pair<int, int>>> windows;
  for (const Left& left : lefts_) {
    windows[{left.key, left.time / 100 * 100}].emplace_back(-score(left), left.id);
  }
  for (const Row& row : out.sorted()) {
    const auto& [key, start, rank, id] = row;
    auto& best = windows[{key, start}];
    std::sort(best.begin(), best.end());
    EXPECT_EQ(best[rank - 1].first, -score(lefts_[static_cast<std::size_t>(id)]));
  }
  std::size_t rows = 0;
  for (const auto& [window, best] : windows) rows += std::min<std::size_t>(best.size(), 3);
  EXPECT_EQ(out.sorted().size(), rows);
}

TEST_P(Keyed, DeduplicateAndTextKeys) {
  StreamExecutionEnvironment env(options());
  Collected<std::string> out;
  env.generate([](std::uint64_t i) { return "word" + std::to_string(i % 37); }, {.count = 1000})
      .key_by(identity)
      .deduplicate()
      .for_each(out.sink());
  run(env);
  std::set<std::string> expected;
  for (int i = 0; i < 37; ++i) expected.insert("word" + std::to_string(i));
  EXPECT_EQ(out.sorted(), std::vector<std::string>(expected.begin(), expected.end()));
}

// How long each key was silent, by state and timers.
struct Silence {
  ValueState<Timestamp> last{"last"};
  void process(const Left& left, KeyedOutput<std::string>& out) {
    last.set(std::max(last.get_or(left.time), left.time));
    out.set_event_timer(left.time + 40);
  }
  void on_timer(Timestamp time, KeyedOutput<std::string>& out) {
    if (last.get_or(0) + 40 != time) return;
    out.emit(std::to_string(out.key<std::uint32_t>()) + " at " + std::to_string(time));
  }
};

TEST_P(Keyed, TimersSeeTheStateOfTheirKey) {
  StreamExecutionEnvironment env(options());
  Collected<std::string> out;
  timed(env, lefts_).key_by(&Left::key).process(Silence{}).for_each(out.sink());
  run(env);
  // A timer fires before later records of its key have come, or after: what it must have seen is
  // all before it. So: silences in the sorted records are all found.
  std::map<std::uint32_t, std::vector<Timestamp>> by_key;
  for (const Left& left : lefts_) by_key[left.key].push_back(left.time);
  const auto rows = out.sorted();
  for (auto& [key, times] : by_key) {
    std::sort(times.begin(), times.end());
    const std::string last = std::to_string(key) + " at " + std::to_string(times.back() + 40);
    EXPECT_TRUE(std::binary_search(rows.begin(), rows.end(), last)) << last;
  }
}

struct ByRule {
  BroadcastState<std::uint32_t, int> rules{"rules"};
  ListState<int> early{"early"};
  void process(const Left& left, KeyedOutput<Ids>& out) {
    const int* const rule = rules.find(left.key);
    if (rule == nullptr) {
      early.add(left.id);  // until its rule is there
      out.set_event_timer(end_of_time - 1);
    } else {
      out.emit(Ids(left.id, *rule));
    }
  }
  void on_timer(Timestamp, KeyedOutput<Ids>& out) {
    for (const int id : early.get()) out.emit(Ids(id, *rules.find(out.key<std::uint32_t>())));
    early.clear();
  }
  void process_broadcast(const std::pair<std::uint32_t, int>& rule, BroadcastOutput<Ids>& out) {
    out.state(rules).put(rule.first, rule.second);
  }
};

TEST_P(Keyed, BroadcastRulesReachEverySubtask) {
  StreamExecutionEnvironment env(options());
  Collected<Ids> out;
  std::vector<std::pair<std::uint32_t, int>> rules;
  for (std::uint32_t key = 0; key < 7; ++key) rules.emplace_back(key, static_cast<int>(key) * 10);
  timed(env, lefts_)
      .key_by(&Left::key)
      .connect(env.from_collection(rules).broadcast())
      .process(ByRule{})
      .for_each(out.sink());
  run(env);
  std::vector<Ids> expected;
  for (const Left& left : lefts_) expected.emplace_back(left.id, static_cast<int>(left.key) * 10);
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(out.sorted(), expected);
}

// Without keys: every record of both comes once, each to its hook; what every subtask needs is a
// broadcast.
TEST_P(Keyed, ConnectedStreamsNeedNoKeys) {
  struct Tag {
    int seconds = 0;
    void process_first(const Left& left, ProcessOutput<Ids>& out) { out.emit(Ids(left.id, 1)); }
    void process_second(const Right& right, ProcessOutput<Ids>& out) {
      ++seconds;
      out.emit(Ids(right.id, 2));
    }
    void end(ProcessOutput<Ids>& out) { out.emit(Ids(-1, seconds)); }
  };
  for (const bool broadcast : {false, true}) {
    StreamExecutionEnvironment env(options());
    Collected<Ids> out;
    const auto second = timed(env, rights_).rebalance();
    timed(env, lefts_)
        .rebalance()
        .connect(broadcast ? second.broadcast() : second)
        .process(Tag{})
        .for_each(out.sink());
    run(env);
    const int copies = broadcast ? GetParam().parallelism : 1;
    std::vector<Ids> expected;
    for (const Left& left : lefts_) expected.emplace_back(left.id, 1);
    for (int i = 0; i < copies; ++i) {
      for (const Right& right : rights_) expected.emplace_back(right.id, 2);
    }
    std::sort(expected.begin(), expected.end());
    std::vector<Ids> found;
    int seconds = 0;
    for (const Ids& one : out.sorted()) {
      if (std::get<0>(one) == -1) {
        seconds += std::get<1>(one);
      } else {
        found.push_back(one);
      }
    }
    EXPECT_EQ(found, expected);
    EXPECT_EQ(seconds, static_cast<int>(rights_.size()) * copies);
  }
}

TEST_P(Keyed, ConnectedStreamsShareState) {
  struct Count {
    using Output = std::tuple<std::uint32_t, int, int>;
    ValueState<std::pair<int, int>> seen{"seen"};
    void process_first(const Left&, KeyedOutput<Output>& out) { add(out, 1, 0); }
    void process_second(const Right&, KeyedOutput<Output>& out) { add(out, 0, 1); }
    void add(KeyedOutput<Output>& out, int first, int second) {
      seen.update({0, 0}, [&](auto& pair) {
        pair.first += first;
        pair.second += second;
      });
      out.set_event_timer(end_of_time - 1);
    }
    void on_timer(Timestamp, KeyedOutput<Output>& out) {
      const auto pair = seen.get_or({0, 0});
      out.emit(Output(out.key<std::uint32_t>(), pair.first, pair.second));
    }
  };
  StreamExecutionEnvironment env(options());
  Collected<Count::Output> out;
  timed(env, lefts_)
      .connect(timed(env, rights_))
      .key_by(&Left::key, &Right::key)
      .process(Count{})
      .for_each(out.sink());
  run(env);
  std::map<std::uint32_t, std::pair<int, int>> counts;
  for (const Left& left : lefts_) ++counts[left.key].first;
  for (const Right& right : rights_) ++counts[right.key].second;
  std::vector<Count::Output> expected;
  for (const auto& [key, pair] : counts) expected.emplace_back(key, pair.first, pair.second);
  EXPECT_EQ(out.sorted(), expected);
}

// Answers from a thread of its own, each lot turned round.
class Answerer {
 public:
  Answerer() : thread_([this] { run(); }) {}
  ~Answerer() {
    stopped_.store(true);
    thread_.join();
  }
  void ask(int id, AsyncResult<std::string> result) {
    const std::lock_guard lock(mutex_);
    asked_.emplace_back(id, std::move(result));
  }

 private:
  void run() {
    while (!stopped_.load()) {
      std::vector<std::pair<int, AsyncResult<std::string>>> taken;
      {
        const std::lock_guard lock(mutex_);
        taken.swap(asked_);
      }
      for (auto one = taken.rbegin(); one != taken.rend(); ++one) {
        one->second.complete("answer " + std::to_string(one->first));
      }
      std::this_thread::yield();
    }
  }
  std::mutex mutex_;
  std::vector<std::pair<int, AsyncResult<std::string>>> asked_;
  std::atomic<bool> stopped_{false};
  std::thread thread_;
};

TEST_P(Keyed, AsyncMapGivesEachRecordItsResult) {
  for (const AsyncOrder order : {AsyncOrder::ordered, AsyncOrder::unordered}) {
    // A simulated platform has one thread: answers at once.
    const auto answerer = GetParam().on_linux ? std::make_shared<Answerer>() : nullptr;
    StreamExecutionEnvironment env(options());
    Collected<std::string> out;
    timed(env, lefts_)
        .async_map(
            [answerer](const Left& left, AsyncResult<std::string> result) {
              if (answerer == nullptr) return result.complete("answer " + std::to_string(left.id));
              answerer->ask(left.id, std::move(result));
            },
            {.capacity = 8, .order = order})
        .for_each(out.sink());
    run(env);
    std::vector<std::string> expected;
    for (const Left& left : lefts_) expected.push_back("answer " + std::to_string(left.id));
    if (order == AsyncOrder::ordered && GetParam().parallelism == 1) {
      EXPECT_EQ(out.in_order(), expected);
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(out.sorted(), expected);
  }
}

}  // namespace
}  // namespace hummer::keyed_test
