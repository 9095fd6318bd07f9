// A year of schema changes: ten versions of one job, each restored from a savepoint of the one
// before and of the first, at changing parallelism. What each record left in each state is compared
// with a model. What cannot be read is refused by name before the job begins.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "schema/account_versions.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::schema {
namespace {

using Index = std::uint64_t;
constexpr Index keys = 12;  // a multiple of each parallelism: a source subtask has whole keys

struct Item {
  Index key = 0;
  Index i = 0;
};

template <int version>
struct Touched {
  using Accumulator = Account<version>;
  using Result = std::string;
  void add(Accumulator& account, bool, const Item& item) const { touch(account, item.key, item.i); }
  // Of a key that a subtask restores: there is nothing else of it.
  void merge(Accumulator& account, bool is_new, const Accumulator& other) const {
    if (is_new) account = other;
  }
  Result result(const Accumulator& account) const { return text_of(fields_of(account)); }
};

// A sum with its number of records in another field.
template <int version>
struct Summed {
  using Accumulator = Account<version>;
  using Result = std::string;
  void add(Accumulator& account, bool, const Item& item) const {
    account.cents += static_cast<decltype(account.cents)>(item.i);
    ++account.id;
  }
  void merge(Accumulator& account, bool, const Accumulator& other) const {
    account.cents += other.cents;
    account.id = static_cast<decltype(account.id)>(account.id + other.id);
  }
  Result result(const Accumulator& account) const {
    return std::to_string(account.id) + " of " + std::to_string(account.cents);
  }
};

// Each kind of keyed state.
template <int version>
struct Bank {
  using Output = std::string;
  ValueState<Account<version>> account{"account"};
  ListState<Account<version>> history{"history"};
  MapState<Index, Account<version>> by_day{"by day"};
  AggregatingState<Touched<version>> total{"total"};

  void process(const Item& item, KeyedOutput<std::string>& out) {
    const auto change = [&](Account<version>& one) { touch(one, item.key, item.i); };
    account.update({}, change);
    if (history.size() < 3) history.add({});
    history.update([&](std::vector<Account<version>>& all) {
      for (Account<version>& one : all) change(one);
    });
    by_day.update(item.i / keys % 2, {}, change);
    total.add(item);
    std::string line = std::to_string(item.i) + " " + std::to_string(version);
    line += " value " + text_of(fields_of(*account.find()));
    for (const Account<version>& one : history.get()) line += "list " + text_of(fields_of(one));
    by_day.for_each(
        [&](Index, const Account<version>& one) { line += "map " + text_of(fields_of(one)); });
    out.emit(line + "total " + *total.result());
  }
};

template <int version>
void build(StreamExecutionEnvironment& env, Index count) {
  const auto items =
      env.generate([](Index i) { return Item{i % keys, i}; },
                   {.count = count, .records_per_second = 4000, .watermark_interval = 8},
                   [](Index i) { return static_cast<Timestamp>(i); })
          .uid("items");
  items.key_by(&Item::key).process(Bank<version>{}).uid("bank").write_file("/kept").uid("kept");
  items.key_by(&Item::key)
      .aggregate("touched", Touched<version>(), Emit::every_record)
      .uid("running")
      .map([](const KeyValue<Index, std::string>& one) { return one.value; })
      .write_file("/running")
      .uid("ran");
  const auto of_window = [](const auto& one) {
    return std::to_string(one.key) + " from " + std::to_string(one.window.start_ms) + ": " +
           one.value;
  };
  items.key_by(&Item::key)
      .window(TumblingWindows::of(1000))
      .aggregate(Summed<version>())
      .uid("windows")
      .map(of_window)
      .write_file("/windows")
      .uid("windowed");
  items.filter([](const Item& item) { return item.i % 400 < 200; })
      .key_by(&Item::key)
      .window(SessionWindows::with_gap(150))
      .aggregate(Summed<version>())
      .uid("sessions")
      .map(of_window)
      .write_file("/sessions")
      .uid("sat");
}

// About 640 for each version, more for the last; of each record all that its key has is compared,
// so half of them cost a quarter.
constexpr Index records = under_sanitizers ? 3500 : 7000;
constexpr int version_ms = under_sanitizers ? 80 : 160;

class YearOfChanges : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(int version) {
    EnvironmentOptions options;
    options.platform = node_.get();
    options.parallelism = 1 + (version + static_cast<int>(GetParam())) % 3;
    options.batch_records = 16;
    options.checkpoints.directory = "/checkpoints";
    return options;
  }
  // Runs a version on what the last one left, to somewhere in its middle, or to the end.
  template <int version>
  void run(bool to_the_end = false) {
    if (HasFatalFailure()) return;
    EnvironmentOptions own = options(version);
    own.checkpoints.restore = savepoint_;
    StreamExecutionEnvironment env(own);
    build<version>(env, records);
    if (to_the_end) {
      const Status status = env.execute("bank").status;
      ASSERT_TRUE(status.ok()) << version << ": " << status.to_string();
      return;
    }
    JobHandle job = env.execute_async("bank");
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(version_ms));
    const Result<std::string> path = job.stop_with_savepoint("/savepoints");
    const JobResult ended = job.wait();
    ASSERT_TRUE(path.ok()) << version << ": " << path.status().to_string() << " "
                           << ended.status.to_string();
    savepoint_ = *path;
  }
  std::vector<std::string> lines(const std::string& directory) {
    return visible_lines(node_->files(), directory);
  }

  // What `count` accounts of one key are like, in the order of their making.
  struct Key {
    Model value, total;
    std::vector<Model> list;
    std::map<Index, Model> map;
    int version = 0;
    void become(int next) {
      value.become(next);
      total.become(next);
      for (Model& one : list) one.become(next);
      for (auto& one : map) one.second.become(next);
      version = next;
    }
  };
  void expect_what_the_model_has() {
    std::map<Index, std::string> kept;  // by number
    for (const std::string& line : lines("/kept")) {
      ASSERT_TRUE(kept.emplace(std::stoull(line), line).second) << "twice: " << line;
    }
    ASSERT_EQ(kept.size(), records);
    ASSERT_EQ(kept.rbegin()->first, records - 1);
    std::vector<std::string> running;
    std::map<Index, Key> model;
    for (const auto& [i, line] : kept) {
      std::istringstream words(line);
      Index number = 0;
      int version = 0;
      words >> number >> version;
      Key& key = model[i % keys];
      if (key.version != version) key.become(version);
      const auto made = [&] {
        Model one;
        one.become(version);
        return one;
      };
      if (key.list.size() < 3) key.list.push_back(made());
      Model& of_day = key.map.try_emplace(i / keys % 2, made()).first->second;
      for (Model* one : {&key.value, &key.total, &of_day}) one->touch(i % keys, i);
      for (Model& one : key.list) one.touch(i % keys, i);
      std::string expected = std::to_string(i) + " " + std::to_string(version);
      expected += " value " + text_of(key.value.fields());
      for (const Model& one : key.list) expected += "list " + text_of(one.fields());
      for (const auto& one : key.map) expected += "map " + text_of(one.second.fields());
      expected += "total " + text_of(key.total.fields());
      ASSERT_EQ(line, expected);
      running.push_back(text_of(key.total.fields()));
    }
    std::sort(running.begin(), running.end());
    EXPECT_EQ(lines("/running"), running);
    expect_windows();
  }
  void expect_windows() {
    std::map<std::pair<Index, Index>, std::pair<Index, Index>> windows, sessions;
    for (Index i = 0; i < records; ++i) {
      auto& window = windows[{i % keys, i / 1000 * 1000}];
      window.first += 1;
      window.second += i;
      if (i % 400 >= 200) continue;
      const Index begin = i / 400 * 400;  // a multiple of 400, whose remainder is 4 or more
      const Index first = begin + (i % keys + keys - begin % keys) % keys;
      auto& session = sessions[{i % keys, first}];
      session.first += 1;
      session.second += i;
    }
    const auto text = [](const auto& all) {
      std::vector<std::string> lines;
      for (const auto& [where, sum] : all) {
        lines.push_back(std::to_string(where.first) + " from " + std::to_string(where.second) +
                        ": " + std::to_string(sum.first) + " of " + std::to_string(sum.second));
      }
      std::sort(lines.begin(), lines.end());
      return lines;
    };
    EXPECT_EQ(lines("/windows"), text(windows));
    EXPECT_EQ(lines("/sessions"), text(sessions));
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
  std::string savepoint_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, YearOfChanges,
                         testing::Range<std::uint64_t>(1, drawn_cases(3) + 1));

TEST_P(YearOfChanges, EachVersionGoesOnFromTheOneBefore) {
  [&]<int... number>(std::integer_sequence<int, number...>) {
    (run<number + 1>(), ...);
  }(std::make_integer_sequence<int, versions - 1>());
  run<versions>(true);
  if (!HasFatalFailure()) expect_what_the_model_has();
}

TEST_P(YearOfChanges, EachVersionGoesOnFromTheFirst) {
  [&]<int... number>(std::integer_sequence<int, number...>) {
    const auto one = [&]<int version>(std::integral_constant<int, version>) {
      if (HasFatalFailure()) return;
      node_ = make_simulated_platform({.seed = GetParam()});
      savepoint_.clear();
      run<1>();
      run<version>(true);
      if (!HasFatalFailure()) expect_what_the_model_has();
    };
    (one(std::integral_constant<int, number + 2>()), ...);
  }(std::make_integer_sequence<int, versions - 1>());
}

// ---- what is refused ----

template <typename T>
struct OneValue {
  using Output = Index;
  ValueState<T> value{"value"};
  void process(const Item& item, KeyedOutput<Index>& out) {
    value.update({}, [](T&) {});
    out.emit(item.i);
  }
};

struct Saved {
  static constexpr std::string_view evolving = "bank.One";
  static constexpr auto fields = hummer::fields("amount", "name");
  std::int64_t amount = 0;
  std::string name;
};
struct Narrowed {
  static constexpr std::string_view evolving = "bank.One";
  static constexpr auto fields = hummer::fields("amount", "name");
  std::int32_t amount = 0;
  std::string name;
};
struct TextAsNumber {
  static constexpr std::string_view evolving = "bank.One";
  static constexpr auto fields = hummer::fields("name");
  std::uint64_t name = 0;
};
struct ChangedInside {
  static constexpr std::string_view evolving = "bank.One";
  static constexpr auto fields = hummer::fields("name", "amount");
  std::vector<std::string> name;
  std::int64_t amount = 0;
};
struct Fewer {
  static constexpr std::string_view evolving = "bank.One";
  static constexpr auto fields = hummer::fields("name");
  std::string name;
};

template <typename T>
void build_one(StreamExecutionEnvironment& env, Index count) {
  env.generate([](Index i) { return Item{i % keys, i}; },
               {.count = count, .records_per_second = 4000})
      .uid("items")
      .key_by(&Item::key)
      .process(OneValue<T>{})
      .uid("one")
      .write_file("/one")
      .uid("written");
}

TEST_P(YearOfChanges, WhatCannotBeReadIsRefusedByName) {
  {
    StreamExecutionEnvironment env(options(1));
    build_one<Saved>(env, 2000);
    JobHandle job = env.execute_async("one");
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(100));
    const Result<std::string> path = job.stop_with_savepoint("/savepoints");
    ASSERT_TRUE(path.ok());
    ASSERT_TRUE(job.wait().ok());
    savepoint_ = *path;
  }
  const std::size_t written = lines("/one").size();
  const auto refusal = [&]<typename T>(std::type_identity<T>) {
    EnvironmentOptions own = options(2);
    own.checkpoints.restore = savepoint_;
    StreamExecutionEnvironment env(own);
    build_one<T>(env, 2000);
    return env.execute("one").status;
  };
  const auto names = [](const Status& status, std::string_view reason) {
    EXPECT_EQ(status.code(), ErrorCode::invalid_argument) << status.to_string();
    EXPECT_NE(status.message().find("state 'value' is value<bank.One#{"), std::string::npos)
        << status.to_string();
    EXPECT_NE(status.message().find(reason), std::string::npos) << status.to_string();
  };
  names(refusal(std::type_identity<Narrowed>()), "field 'amount' of bank.One was i64 and is i32");
  names(refusal(std::type_identity<TextAsNumber>()),
        "field 'name' of bank.One was string and is u64");
  names(refusal(std::type_identity<ChangedInside>()),
        "field 'name' of bank.One was string and is vector<string>");
  EXPECT_EQ(lines("/one").size(), written) << "none of them began";
  const Status fewer = refusal(std::type_identity<Fewer>());
  EXPECT_TRUE(fewer.ok()) << fewer.to_string();
}

}  // namespace
}  // namespace hummer::schema
