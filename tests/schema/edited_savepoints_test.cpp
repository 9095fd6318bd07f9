// Savepoints that are read and written without their job: a key is repaired, states come from
// elsewhere, and a job goes on with that at any parallelism.
#include <gtest/gtest.h>

#include <map>
#include <sstream>

#include <hummer/hummer.hpp>
#include <hummer/savepoint.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "schema/repaired_state.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::edited_savepoints_test {
namespace {

using Index = std::uint64_t;
constexpr Index records = 2400;
constexpr Index keys = 12;  // a multiple of each parallelism

struct Account {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("count", "sum");
  std::uint32_t count = 0;
  Index sum = 0;
};
// Of a later version.
struct WiderAccount {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("sum", "owner", "count");
  Index sum = 0;
  std::string owner = "nobody";
  std::int64_t count = 0;
};

// "key i count sum", and at the end of the stream "key end sum".
struct Bank {
  using Output = std::string;
  ValueState<Account> account{"account"};
  MapState<std::string, Index> notes{"notes"};
  BroadcastState<Index, Index> rules{"rules"};
  void process(const Index& i, KeyedOutput<std::string>& out) {
    const Account now = account.update({}, [&](Account& one) {
      ++one.count;
      one.sum += i;
    });
    out.emit(std::to_string(i % keys) + " " + std::to_string(i) + " " + std::to_string(now.count) +
             " " + std::to_string(now.sum) + " " + std::to_string(notes.get_or("repaired", 0)) +
             " " + std::to_string(rules.size()));
  }
  void process_broadcast(const Index& rule, BroadcastOutput<std::string>& out) {
    out.state(rules).put(rule, rule);
  }
  void on_timer(Timestamp time, KeyedOutput<std::string>& out) {
    const Account* const now = account.find();
    out.emit(std::to_string(out.key<Index>()) + " timer " + std::to_string(time) + " " +
             (now == nullptr ? "none" : std::to_string(now->sum)));
  }
};
// What is needed of it here.
template <typename A>
struct BankStates {
  ValueState<A> account{"account"};
  MapState<std::string, Index> notes{"notes"};
};
using Edit = SavepointEdit<Index, BankStates<Account>>;

class EditedSavepoints : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(int parallelism) {
    EnvironmentOptions options;
    options.platform = node_.get();
    options.parallelism = parallelism;
    options.batch_records = 16;
    options.checkpoints.directory = "/checkpoints";
    return options;
  }
  static void build(StreamExecutionEnvironment& env) {
    const auto rules = env.generate([](Index i) { return i; }, {.count = 3}).uid("rules");
    env.generate([](Index i) { return i; }, {.count = records, .records_per_second = 4000},
                 [](Index i) { return static_cast<Timestamp>(i); })
        .uid("numbers")
        .key_by([](Index i) { return i % keys; })
        .connect(rules.broadcast())
        .process(Bank{})
        .uid("bank")
        .write_file("/out")
        .uid("out");
  }
  // To somewhere in its middle; what it wrote.
  void begin() {
    StreamExecutionEnvironment env(options(1 + static_cast<int>(GetParam() % 3)));
    build(env);
    JobHandle job = env.execute_async("bank");
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(150));
    const Result<std::string> path = job.stop_with_savepoint("/savepoints");
    ASSERT_TRUE(path.ok()) << path.status().to_string();
    ASSERT_TRUE(job.wait().ok());
    savepoint_ = *path;
    for (const std::string& line : visible_lines(node_->files(), "/out")) note(line);
    ASSERT_EQ(accounts_.size(), keys);
    ASSERT_LT(next_[0], records);
  }
  void note(const std::string& line) {
    std::istringstream words(line);
    Index key = 0, i = 0;
    Account one;
    words >> key >> i >> one.count >> one.sum;
    next_[key] = std::max(next_[key], i + keys);
    Account& known = accounts_[key];
    if (one.count > known.count) known = one;
  }
  // Goes on to the end, and compares each further line.
  void expect_to_go_on(const std::string& savepoint, int parallelism,
                       std::map<Index, Account> model, Index repaired) {
    const auto before = visible_lines(node_->files(), "/out");
    EnvironmentOptions next = options(parallelism);
    next.checkpoints.restore = savepoint;
    StreamExecutionEnvironment env(next);
    build(env);
    const Status status = env.execute("bank").status;
    ASSERT_TRUE(status.ok()) << status.to_string();
    std::vector<std::string> expected = before;
    for (Index i = 0; i < records; ++i) {
      // Subtasks of the source are not all as far.
      if (i < next_[i % keys]) continue;
      Account& one = model[i % keys];
      ++one.count;
      one.sum += i;
      expected.push_back(std::to_string(i % keys) + " " + std::to_string(i) + " " +
                         std::to_string(one.count) + " " + std::to_string(one.sum) + " " +
                         (i % keys == repaired ? "9" : "0") + " 3");
    }
    for (const auto& [key, time] : timers_) {
      expected.push_back(std::to_string(key) + " timer " + std::to_string(time) + " " +
                         std::to_string(model[key].sum));
    }
    std::sort(expected.begin(), expected.end());
    EXPECT_EQ(visible_lines(node_->files(), "/out"), expected);
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
  std::string savepoint_;
  std::map<Index, Index> next_;  // by key: the first record that comes behind the savepoint
  std::map<Index, Account> accounts_;
  std::map<Index, Timestamp> timers_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, EditedSavepoints,
                         testing::Range<std::uint64_t>(1, drawn_cases(3) + 1));

TEST_P(EditedSavepoints, EachKeyIsRead) {
  begin();
  if (HasFatalFailure()) return;
  const auto edit = Edit::open(savepoint_, "bank", node_.get());
  ASSERT_TRUE(edit.ok()) << edit.status().to_string();
  std::map<Index, Index> found;
  (*edit)->for_each([&](const Index& key, BankStates<Account>& states) {
    found[key] = states.account.find()->sum;
  });
  ASSERT_EQ(found.size(), keys);
  for (const auto& [key, sum] : found) EXPECT_EQ(sum, accounts_[key].sum) << key;
  EXPECT_EQ((*edit)->at(5).account.find()->count, accounts_[5].count);
  EXPECT_FALSE((*edit)->at(500).account.has_value());
}

TEST_P(EditedSavepoints, AJobGoesOnWithARepairedKeyAtAnyParallelism) {
  for (const int parallelism : {1, 2, 3}) {
    node_ = make_simulated_platform({.seed = GetParam()});
    next_.clear();
    accounts_.clear();
    begin();
    if (HasFatalFailure()) return;
    const auto edit = Edit::open(savepoint_, "bank", node_.get());
    ASSERT_TRUE(edit.ok()) << edit.status().to_string();
    (*edit)->at(7).account.set({1000, 5});
    (*edit)->at(7).notes.put("repaired", 9);
    (*edit)->at(8).account.clear();
    (*edit)->at(700).account.set({0, 77});
    (*edit)->at(700);
    (*edit)->set_event_timer(records + 5);
    timers_ = {{700, records + 5}};
    const Status written = (*edit)->write("/repaired");
    ASSERT_TRUE(written.ok()) << written.to_string();
    const auto metadata = CheckpointStore::read_at(node_->files(), "/repaired");
    ASSERT_TRUE(metadata.ok());
    EXPECT_TRUE(CheckpointStore::verify_at(node_->files(), "/repaired", *metadata).ok());
    std::map<Index, Account> model = accounts_;
    model[7] = {1000, 5};
    model[8] = {};
    model[700] = {0, 77};
    expect_to_go_on("/repaired", parallelism, model, 7);
  }
}

TEST_P(EditedSavepoints, StatesComeFromElsewhere) {
  begin();
  if (HasFatalFailure()) return;
  const auto edit = Edit::replace(savepoint_, "bank", node_.get());
  ASSERT_TRUE(edit.ok()) << edit.status().to_string();
  std::size_t there = 0;
  (*edit)->for_each([&](const Index&, BankStates<Account>&) { ++there; });
  EXPECT_EQ(there, 0u);
  std::map<Index, Account> model;
  for (Index key = 0; key < 2000; ++key) {
    model[key] = {static_cast<std::uint32_t>(key), 3 * key};
    (*edit)->at(key).account.set(model[key]);
  }
  ASSERT_TRUE((*edit)->write("/filled").ok());
  expect_to_go_on("/filled", 1 + static_cast<int>((GetParam() + 1) % 3), model, UINT64_MAX);
}

TEST_P(EditedSavepoints, TypesThatNameTheirFieldsMayHaveChanged) {
  begin();
  if (HasFatalFailure()) return;
  const auto edit =
      SavepointEdit<Index, BankStates<WiderAccount>>::open(savepoint_, "bank", node_.get());
  ASSERT_TRUE(edit.ok()) << edit.status().to_string();
  const WiderAccount* const account = (*edit)->at(5).account.find();
  ASSERT_NE(account, nullptr);
  EXPECT_EQ(account->owner, "nobody");
  EXPECT_EQ(account->sum, accounts_[5].sum);
}

// The example of docs/state_without_a_job.md.
struct Payments {
  using Output = std::string;
  ValueState<repaired_state::Account> account{"account"};
  void process(const Index& i, KeyedOutput<std::string>& out) {
    account.update({}, [](repaired_state::Account& one) { one.cents += 100; });
    out.emit(std::to_string(i));
  }
};

TEST_P(EditedSavepoints, TheExampleRepairsAndFills) {
  StreamExecutionEnvironment env(options(2));
  env.generate([](Index i) { return i; }, {.count = 100'000, .records_per_second = 4000})
      .uid("payments")
      .key_by([](Index i) { return i % 50; })
      .process(Payments{})
      .uid("accounts")
      .write_file("/out")
      .uid("out");
  JobHandle job = env.execute_async("accounts");
  (void)node_->run_until([] { return false; }, node_->now() + milliseconds(150));
  const Result<std::string> path = job.stop_with_savepoint("/savepoints");
  ASSERT_TRUE(path.ok()) << path.status().to_string();
  ASSERT_TRUE(job.wait().ok());
  const auto cents = [&](const std::string& savepoint, Index key) {
    const auto edit = repaired_state::Edit::open(savepoint, "accounts", node_.get());
    EXPECT_TRUE(edit.ok()) << edit.status().to_string();
    const repaired_state::Account* const account = (*edit)->at(key).account.find();
    return account == nullptr ? INT64_MIN : account->cents;
  };
  const std::int64_t before = cents(*path, 42);
  Status status = repaired_state::repair(*path, "/repaired", node_.get());
  ASSERT_TRUE(status.ok()) << status.to_string();
  const std::int64_t after = before == 700 ? INT64_MIN : before - 700;
  EXPECT_EQ(cents("/repaired", 42), after);
  EXPECT_EQ(cents("/repaired", 41), cents(*path, 41));
  std::istringstream lines("42 17 Ann\n1000 0 Bob\n");
  status = repaired_state::fill("/repaired", lines, "/filled", node_.get());
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(cents("/filled", 42), 17);
  EXPECT_EQ(cents("/filled", 1000), 0);
  EXPECT_EQ(cents("/filled", 41), INT64_MIN);
}

TEST_P(EditedSavepoints, WhatCannotBeEditedIsRefused) {
  begin();
  if (HasFatalFailure()) return;
  const auto message = [](const auto& edit) { return edit.status().message(); };
  const auto nobody = Edit::open(savepoint_, "nobody", node_.get());
  EXPECT_EQ(nobody.status().code(), ErrorCode::not_found);
  EXPECT_NE(message(nobody).find("'bank'"), std::string::npos) << message(nobody);
  const auto source = Edit::open(savepoint_, "numbers", node_.get());
  EXPECT_EQ(source.status().code(), ErrorCode::invalid_argument) << source.status().to_string();
  const auto other_key =
      SavepointEdit<std::string, BankStates<Account>>::open(savepoint_, "bank", node_.get());
  EXPECT_NE(message(other_key).find("keys are of type u64"), std::string::npos)
      << message(other_key);
  const auto other_state =
      SavepointEdit<Index, BankStates<std::uint8_t>>::open(savepoint_, "bank", node_.get());
  EXPECT_NE(message(other_state).find("state 'account'"), std::string::npos)
      << message(other_state);
  const auto edit = Edit::open(savepoint_, "bank", node_.get());
  ASSERT_TRUE(edit.ok());
  EXPECT_EQ((*edit)->write(savepoint_).code(), ErrorCode::invalid_argument);
}

}  // namespace
}  // namespace hummer::edited_savepoints_test
