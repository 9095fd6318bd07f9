// Another version of a job begins with the state of the one before: what goes on, what is refused
// because it would be lost without a word, and what may go. Embedded and on a cluster.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "checkpoints/simulated_cluster.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 2000;
constexpr Index keys = 7;

// A function with state of its own, which is not by key.
struct Numbering {
  using Output = Index;
  Index seen = 0;
  void process(Index, ProcessOutput<Index>& out) { out.emit(++seen); }
  void snapshot(ByteWriter& out) { out.put_value(seen); }
  void restore(ByteReader& in) { (void)in.get_value(seen); }
};

// How a version of the job differs from the first one. Uids that are empty are generated.
struct Version {
  std::string source = "numbers";
  std::string function = "numbering";
  std::string sink = "numbered";
  bool more_state = false;
  bool more_stateless = false;   // a map and a function without state before everything
  std::string passing = "";      // that function
  std::string stateless = "of";  // what a stateless operator is called
};

// Counts 0, 1, ... by remainder in /out, and numbers them in /numbered.
void build(StreamExecutionEnvironment& env, const Version& version) {
  auto numbers =
      env.generate([](Index i) { return i; }, {.count = record_count, .records_per_second = 5000})
          .uid(version.source);
  if (version.more_stateless) {
    const auto same = [](Index i, ProcessOutput<Index>& out) { out.emit(i); };
    numbers = numbers.map([](Index i) { return i; }).process<Index>(same).uid(version.passing);
  }
  const auto counts = numbers.map([](Index i) { return i % keys; })
                          .name(version.stateless)
                          .uid(version.stateless)
                          .key_by(identity)
                          .count(Emit::every_record)
                          .uid("counts");
  counts.write_file("/out").uid("out");
  numbers.process(Numbering())
      .parallelism(1)
      .uid(version.function)
      .write_file("/numbered")
      .uid(version.sink);
  if (version.more_state) {
    counts.map([](const KeyValue<Index, Index>& count) { return count.key; })
        .key_by(identity)
        .deduplicate()
        .uid("first ones")
        .write_file("/first")
        .uid("first file");
  }
}

JobResult job_of_arguments(StreamExecutionEnvironment& env) {
  Version version;
  version.source = env.argument_or("source", version.source);
  version.function = env.argument_or("function", version.function);
  version.sink = env.argument_or("sink", version.sink);
  version.stateless = env.argument_or("stateless", version.stateless);
  build(env, version);
  return env.execute("upgraded");
}

std::vector<std::string> all_numbers() {
  std::vector<std::string> lines;
  for (Index i = 1; i <= record_count; ++i) lines.push_back(std::to_string(i));
  std::sort(lines.begin(), lines.end());
  return lines;
}

bool has(const Status& status, std::string_view part) {
  return status.message().find(part) != std::string::npos;
}

// What every refusal says, whose state it is about and what can be done.
void expect_refusal(const Status& status, const std::string& state, const std::string& name,
                    const std::string& uid) {
  EXPECT_EQ(status.code(), ErrorCode::invalid_graph) << status.to_string();
  EXPECT_TRUE(has(status, "'" + state + "' of operator '" + name + "' (uid '" + uid + "')"))
      << status.message();
  EXPECT_TRUE(has(status, ".uid(")) << status.message();
  EXPECT_TRUE(has(status, "--allow-dropped-state")) << status.message();
}

EnvironmentOptions with_checkpoints(int parallelism) {
  EnvironmentOptions options;
  options.parallelism = parallelism;
  options.batch_records = 32;
  options.checkpoints.directory = "/checkpoints";
  options.checkpoints.interval_ms = 20;
  return options;
}

// Odd seeds go on from a checkpoint, even ones from a savepoint.
class Upgrades : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options() {
    EnvironmentOptions options = with_checkpoints(1 + static_cast<int>(GetParam() % 3));
    options.platform = node_.get();
    return options;
  }
  // Runs a version until somewhere in the middle. What the next one restores.
  std::string begin(const Version& version) {
    StreamExecutionEnvironment env(options());
    build(env, version);
    JobHandle job = env.execute_async("upgraded");
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(110));
    if (GetParam() % 2 == 1) {
      job.cancel();
      EXPECT_EQ(job.wait().status.code(), ErrorCode::cancelled);
      return "latest";
    }
    const Result<std::string> path = job.stop_with_savepoint("/savepoints");
    EXPECT_TRUE(path.ok()) << path.status().to_string();
    EXPECT_TRUE(job.wait().ok());
    return path.ok() ? *path : "";
  }
  Status go_on(const Version& version, const std::string& restore, bool allow_dropped = false) {
    EnvironmentOptions next = options();
    next.parallelism = 1 + static_cast<int>((GetParam() + 1) % 3);
    next.checkpoints.restore = restore;
    next.checkpoints.allow_dropped_state = allow_dropped;
    StreamExecutionEnvironment env(next);
    build(env, version);
    return env.execute("upgraded").status;
  }
  std::vector<std::string> lines(const std::string& directory) {
    return visible_lines(node_->files(), directory);
  }

  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
};
INSTANTIATE_TEST_SUITE_P(Seeds, Upgrades, testing::Range<std::uint64_t>(1, drawn_cases(6) + 1));

TEST_P(Upgrades, OneMoreOperatorWithStateLeavesTheOthersTheirs) {
  const std::string restore = begin({});
  const Status status = go_on({.more_state = true}, restore);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(lines("/out"), expected_counts(record_count, keys));
  EXPECT_EQ(lines("/numbered"), all_numbers());
  EXPECT_EQ(lines("/first").size(), keys);
}

TEST_P(Upgrades, OperatorsWithoutStateComeGoAndChangeTheirNames) {
  const std::string restore = begin({.more_stateless = GetParam() % 4 < 2});
  const Status status = go_on({.more_stateless = GetParam() % 4 >= 2, .stateless = "key"}, restore);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(lines("/out"), expected_counts(record_count, keys));
  EXPECT_EQ(lines("/numbered"), all_numbers());
}

TEST_P(Upgrades, StateWhoseUidIsGoneIsRefusedAndLeftAsItWas) {
  const std::string restore = begin({});
  expect_refusal(go_on({.source = "others"}, restore), "position", "generate", "numbers");
  expect_refusal(go_on({.function = "another"}, restore), "function", "process", "numbering");
  expect_refusal(go_on({.sink = "elsewhere"}, restore), "prepared", "write_file", "numbered");
  const Status both = go_on({.source = "others", .sink = "elsewhere"}, restore);
  expect_refusal(both, "position", "generate", "numbers");
  expect_refusal(both, "prepared", "write_file", "numbered");
  const Status status = go_on({}, restore);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(lines("/out"), expected_counts(record_count, keys));
  EXPECT_EQ(lines("/numbered"), all_numbers());
}

TEST_P(Upgrades, ASourceThatMayLoseItsPositionStartsOver) {
  const std::string restore = begin({});
  const Status status = go_on({.source = "others"}, restore, true);
  ASSERT_TRUE(status.ok()) << status.to_string();
  const std::size_t numbered = lines("/numbered").size();
  EXPECT_GT(numbered, record_count);
  EXPECT_LT(numbered, 2 * record_count);
  EXPECT_EQ(lines("/out").size(), numbered);
}

TEST_P(Upgrades, AFunctionThatMayLoseItsStateBeginsAnew) {
  const std::string restore = begin({});
  const Status status = go_on({.function = "another"}, restore, true);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(lines("/out"), expected_counts(record_count, keys));
  const std::vector<std::string> numbered = lines("/numbered");
  EXPECT_EQ(numbered.size(), record_count);
  EXPECT_EQ(std::count(numbered.begin(), numbered.end(), "1"), 2);
}

TEST_P(Upgrades, ASinkMayLoseWhatItHasPrepared) {
  const std::string restore = begin({});
  const Status status = go_on({.sink = "elsewhere"}, restore, true);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(lines("/out"), expected_counts(record_count, keys));
  EXPECT_LE(lines("/numbered").size(), record_count);
}

// Given to another operator, state is lost as if nobody had its uid.
TEST_P(Upgrades, AUidOfStateOnAnOperatorThatTakesNoneIsRefused) {
  const std::string restore = begin({});
  const Version to_a_map{.function = "another", .stateless = "numbering"};
  const Version to_a_function{
      .function = "another", .more_stateless = true, .passing = "numbering"};
  for (const Version& moved : {to_a_map, to_a_function}) {
    const Status status = go_on(moved, restore);
    EXPECT_EQ(status.code(), ErrorCode::invalid_graph) << status.to_string();
    EXPECT_TRUE(has(status, "'numbering'")) << status.message();
    EXPECT_TRUE(has(status, "'function'")) << status.message();
    EXPECT_TRUE(has(status, "--allow-dropped-state")) << status.message();
  }
  const Status status = go_on(GetParam() % 2 == 0 ? to_a_map : to_a_function, restore, true);
  EXPECT_TRUE(status.ok()) << status.to_string();
}

// A generated uid changes with what is above its operator; it may be given like any other.
TEST_P(Upgrades, AGeneratedUidMayBeGivenToGoOnWithItsState) {
  Version generated{.source = "", .function = "", .sink = ""};
  const std::string restore = begin(generated);
  ASSERT_FALSE(restore.empty());
  generated.more_stateless = true;
  const Status refused = go_on(generated, restore);
  EXPECT_EQ(refused.code(), ErrorCode::invalid_graph) << refused.to_string();
  EXPECT_FALSE(has(refused, "'generate'")) << "there is nothing above it that could have changed";
  const auto uid_of = [&](const std::string& operator_name) {
    const std::string before = "operator '" + operator_name + "' (uid '";
    const std::size_t at = refused.message().find(before);
    EXPECT_NE(at, std::string::npos) << refused.message();
    const std::size_t from = at + before.size();
    return refused.message().substr(from, refused.message().find('\'', from) - from);
  };
  generated.function = uid_of("process");
  generated.sink = uid_of("write_file");
  const Status status = go_on(generated, restore);
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(lines("/out"), expected_counts(record_count, keys));
  EXPECT_EQ(lines("/numbered"), all_numbers());
}

class ClusterUpgrades : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, ClusterUpgrades, cluster_seeds());

TEST_P(ClusterUpgrades, StateWhoseUidIsGoneIsRefusedAsEmbedded) {
  SimulatedCluster cluster(GetParam(), 2, 2, &job_of_arguments);
  const std::uint64_t first = cluster.submit(with_checkpoints(3));
  ASSERT_TRUE(cluster.until(
      first, [](const wire::JobStatus& now) { return now.checkpoints_completed() >= 3; }));
  EnvironmentOptions options = with_checkpoints(2);
  options.checkpoints.restore = cluster.savepoint(first, "/savepoints", true);
  ASSERT_FALSE(options.checkpoints.restore.empty()) << cluster.last_failure.message();
  ASSERT_EQ(cluster.end_of(first).state(), wire::JOB_FINISHED);

  const auto refusal = [&](const std::string& argument) {
    const wire::JobStatus end = cluster.end_of(cluster.submit(options, {argument}));
    EXPECT_EQ(end.state(), wire::JOB_FAILED) << argument;
    EXPECT_EQ(end.restarts(), 0u) << argument;
    return status_from(end.failure());
  };
  expect_refusal(refusal("--source=others"), "position", "generate", "numbers");
  expect_refusal(refusal("--function=another"), "function", "process", "numbering");
  expect_refusal(refusal("--sink=elsewhere"), "prepared", "write_file", "numbered");

  options.checkpoints.allow_dropped_state = GetParam() % 2 == 0;
  const std::string argument =
      options.checkpoints.allow_dropped_state ? "--sink=elsewhere" : "--stateless=key";
  const wire::JobStatus end = cluster.end_of(cluster.submit(options, {argument}));
  ASSERT_EQ(end.state(), wire::JOB_FINISHED) << end.failure().message();
  EXPECT_EQ(visible_lines(cluster.store.files(), "/out"), expected_counts(record_count, keys));
}

// ---- a type that changes ----

// The first version of an account held whole euros.
struct WholeEuros {
  std::uint32_t euros = 0;
};
struct WholeEurosForm {
  using Value = WholeEuros;
  static constexpr std::uint8_t version = 1;
  static std::string name() { return "bank.Account"; }
  static void encode(const WholeEuros& account, ByteWriter& out) { out.put_value(account.euros); }
  static bool decode(ByteReader& in, WholeEuros& account, std::uint8_t) {
    return in.get_value(account.euros);
  }
};

struct Account {
  std::int64_t cents = 0;
  std::uint32_t bookings = 0;  // since the second version
};
struct AccountForm {
  using Value = Account;
  static constexpr std::uint8_t version = 2;
  static std::string name() { return "bank.Account"; }
  static void encode(const Account& account, ByteWriter& out) {
    out.put_value(account.cents);
    out.put_value(account.bookings);
  }
  static bool decode(ByteReader& in, Account& account, std::uint8_t written_by) {
    if (written_by == 1) {
      WholeEuros before;
      if (!WholeEurosForm::decode(in, before, written_by)) return false;
      account = {.cents = std::int64_t{before.euros} * 100};
      return true;
    }
    return in.get_value(account.cents) && in.get_value(account.bookings);
  }
};

}  // namespace

template <>
struct Codec<WholeEuros> : VersionedCodec<WholeEurosForm> {};
template <>
struct Codec<Account> : VersionedCodec<AccountForm> {};

namespace {

// A euro more with each record: the key and how many there are now.
struct BookWholeEuros {
  ValueState<WholeEuros> account{"account"};
  void process(Index, KeyedOutput<std::string>& out) {
    const WholeEuros now = account.update({}, [](WholeEuros& each) { ++each.euros; });
    out.emit(std::to_string(out.key<Index>()) + "\t" + std::to_string(now.euros));
  }
};
struct Book {
  ValueState<Account> account{"account"};
  void process(Index, KeyedOutput<std::string>& out) {
    const Account now = account.update({}, [](Account& each) {
      each.cents += 100;
      ++each.bookings;
    });
    if (now.cents % 100 != 0) throw std::runtime_error("cents that nobody has booked");
    out.emit(std::to_string(out.key<Index>()) + "\t" + std::to_string(now.cents / 100));
    if (now.bookings == 1) first_bookings->fetch_add(1);
  }
  std::atomic<int>* first_bookings;
  auto states() { return hummer::states(account); }
};

template <typename Function>
JobHandle run_bank(StreamExecutionEnvironment& env, Function function) {
  env.generate([](Index i) { return i; }, {.count = record_count, .records_per_second = 5000})
      .uid("numbers")
      .key_by([](Index i) { return i % keys; })
      .process(function)
      .uid("accounts")
      .write_file("/out")
      .uid("out");
  return env.execute_async("bank");
}

TEST_P(Upgrades, StateOfATypeThatHasChangedGoesOn) {
  EnvironmentOptions next = options();
  {
    StreamExecutionEnvironment env(options());
    JobHandle job = run_bank(env, BookWholeEuros());
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(110));
    const Result<std::string> path = job.stop_with_savepoint("/savepoints");
    ASSERT_TRUE(path.ok()) << path.status().to_string();
    ASSERT_TRUE(job.wait().ok());
    next.checkpoints.restore = *path;
  }
  const std::size_t before = lines("/out").size();
  ASSERT_GT(before, keys);
  ASSERT_LT(before, record_count);

  next.parallelism = 1 + static_cast<int>((GetParam() + 1) % 3);
  std::atomic<int> first_bookings{0};
  {
    StreamExecutionEnvironment env(next);
    JobHandle job = run_bank(env, Book{.first_bookings = &first_bookings});
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(50));
    const Result<std::string> path = job.stop_with_savepoint("/savepoints");
    ASSERT_TRUE(path.ok()) << path.status().to_string();
    ASSERT_TRUE(job.wait().ok());
    next.checkpoints.restore = *path;
  }
  EXPECT_EQ(first_bookings.load(), static_cast<int>(keys));
  {
    // Nor is it tried again and again.
    StreamExecutionEnvironment env(next);
    const JobResult back = run_bank(env, BookWholeEuros()).wait();
    EXPECT_EQ(back.status.code(), ErrorCode::invalid_argument) << back.status.to_string();
    EXPECT_TRUE(has(back.status, "bank.Account@2")) << back.status.message();
    EXPECT_TRUE(has(back.status, "bank.Account@1")) << back.status.message();
  }
  StreamExecutionEnvironment env(next);
  const JobResult result = run_bank(env, Book{.first_bookings = &first_bookings}).wait();
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(lines("/out"), expected_counts(record_count, keys));
  EXPECT_EQ(first_bookings.load(), static_cast<int>(keys)) << "what they know now is kept";
}

// Each key once, with the first version's time to live or this one's.
JobHandle run_first_ones(StreamExecutionEnvironment& env, std::int64_t ttl_ms) {
  env.generate([](Index i) { return i % keys; },
               {.count = record_count, .records_per_second = 5000})
      .uid("numbers")
      .key_by(identity)
      .deduplicate(ttl_ms)
      .uid("first ones")
      .write_file("/out")
      .uid("out");
  return env.execute_async("first ones");
}

TEST_P(Upgrades, ATimeToLiveThatIsNewBeginsWithTheRestore) {
  EnvironmentOptions next = options();
  {
    StreamExecutionEnvironment env(options());
    JobHandle job = run_first_ones(env, 0);
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(110));
    const Result<std::string> path = job.stop_with_savepoint("/savepoints");
    ASSERT_TRUE(path.ok()) << path.status().to_string();
    ASSERT_TRUE(job.wait().ok());
    next.checkpoints.restore = *path;
  }
  StreamExecutionEnvironment env(next);
  const JobResult result = run_first_ones(env, 60'000).wait();
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_EQ(lines("/out").size(), keys) << "all were known";
}

}  // namespace
}  // namespace hummer
