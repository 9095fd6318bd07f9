// `hummer checkpoint export`: keyed state as JSON lines without the job that wrote it.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>

#include <hummer/hummer.hpp>

#include "checkpoint/keyed_piece.hpp"
#include "checkpoint/saved_keys.hpp"
#include "checkpoints/failing_jobs.hpp"
#include "cli/commands/checkpoint.hpp"
#include "job_library/job_libraries.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::exported_state_test {
namespace {

using Index = std::uint64_t;
constexpr Index records = 1200;
constexpr Index keys = 90;
constexpr Index keys_left = 80;  // ten of those below 30, in their fourteenth round, went

enum class Colour : std::uint8_t { red, green };

struct Money {
  std::int64_t cents = 0;
};

}  // namespace
}  // namespace hummer::exported_state_test

template <>
struct hummer::Codec<hummer::exported_state_test::Money> {
  static std::string name() { return "shop.Money/1"; }
  static void encode(const hummer::exported_state_test::Money& money, ByteWriter& out) {
    out.put_value(money.cents);
  }
  static bool decode(ByteReader& in, hummer::exported_state_test::Money& money) {
    return in.get_value(money.cents);
  }
};

namespace hummer::exported_state_test {
namespace {

struct Address {
  static constexpr std::string_view evolving = "bank.Address";
  static constexpr auto fields = hummer::fields("street", "number");
  std::string street = "Main \"1\"";
  std::int16_t number = -1;
};
struct Account {
  static constexpr std::string_view evolving = "bank.Account";
  static constexpr auto fields = hummer::fields("id", "rate", "colour", "homes", "best", "old");
  std::uint64_t id = 0;
  double rate = 0.1;
  Colour colour = Colour::green;
  std::vector<Address> homes;
  std::optional<Address> best;
  bool old = true;
};

// Keys whose remainder by 3 is 0 go again and again.
struct Kinds {
  using Output = Index;
  ValueState<Account> account{"account"};
  ListState<Index> last{"last"};
  MapState<std::string, Index> named{"named"};
  AggregatingState<CountAggregate> number{"number"};
  ValueState<Money> money{"money"};
  ValueState<Index> brief{"brief", {.ttl_ms = 3'600'000}};

  void process(const Index& i, KeyedOutput<Index>& out) {
    const Index key = i % keys;
    number.add(i);
    account.update({}, [&](Account& one) {
      one.id = i;
      if (one.homes.size() < 2) one.homes.push_back({});
    });
    last.update([&](std::vector<Index>& all) { all = {i, key}; });
    named.put("a", i);
    named.put("b\n", key);
    money.set({5});
    if (key == 1) brief.set(7);
    if (key == 2) out.set_event_timer(1'000'000'000);
    if (key % 3 == 0 && i / keys % 2 == 1) {
      account.clear();
      last.clear();
      named.clear();
      number.clear();
      money.clear();
    }
    out.emit(i);
  }
  void on_timer(Timestamp, KeyedOutput<Index>&) {}
};

struct Exported {
  int code = 0;
  std::vector<std::string> lines;  // sorted
  std::string errors;
};

class ExportedState : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options() {
    EnvironmentOptions options;
    options.platform = node_.get();
    options.parallelism = 1 + static_cast<int>(GetParam() % 3);
    options.batch_records = 16;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 35 + static_cast<std::int64_t>(GetParam());
    options.memory_limit_bytes = memory_limit_;
    options.spill_directory = "/spill";
    return options;
  }
  // The records come within a third of a second; another source keeps the job alive.
  static void build(StreamExecutionEnvironment& env) {
    const auto slow =
        env.generate([](Index i) { return i; }, {.count = 1'000, .records_per_second = 0.1})
            .uid("slow")
            .filter([](Index) { return false; });
    const auto fast =
        env.generate([](Index i) { return i; }, {.count = records, .records_per_second = 4000})
            .uid("fast")
            .union_with(slow);
    fast.key_by([](Index i) { return i % keys; })
        .process(Kinds{})
        .uid("kinds")
        .name("all kinds")
        .write_file("/out")
        .uid("out");
    fast.key_by([](Index i) { return std::to_string(i % 7); })
        .count(Emit::every_record)
        .uid("counts")
        .write_file("/counts")
        .uid("counted");
  }
  Exported run(std::vector<std::string> words) {
    const std::size_t written = node_->standard(1).size();
    const std::size_t said = node_->standard(2).size();
    BuiltInJobLibraries libraries;
    Exported exported;
    exported.code = run_checkpoint({.platform = *node_,
                                    .libraries = libraries,
                                    .program = "hummer",
                                    .command = "checkpoint",
                                    .words = std::move(words)});
    std::istringstream out(node_->standard(1).substr(written));
    for (std::string line; std::getline(out, line);) exported.lines.push_back(line);
    std::sort(exported.lines.begin(), exported.lines.end());
    exported.errors = node_->standard(2).substr(said);
    return exported;
  }
  // Which sections the pieces of "kinds" have keys in.
  std::set<std::size_t> sections_of(const std::string& path) {
    std::set<std::size_t> sections;
    const Result<CheckpointMetadata> metadata = CheckpointStore::read_at(node_->files(), path);
    for (const CheckpointFile& file : metadata->files) {
      const Status read =
          CheckpointStore::read_file(node_->files(), path, *metadata, file,
                                     [&](std::string_view uid, std::string_view piece) -> Status {
                                       if (uid != "kinds") return {};
                                       ByteReader in(piece);
                                       KeyedPiece keyed(in);
                                       HUMMER_TRY(keyed.open());
                                       SavedKey key;
                                       for (;;) {
                                         const Result<bool> more = keyed.next(key);
                                         if (!more.ok() || !*more) return more.status();
                                         sections.insert(keyed.section());
                                       }
                                     });
      EXPECT_TRUE(read.ok()) << read.to_string();
    }
    return sections;
  }
  // What both wrote of the same moment: the newest checkpoint, and a savepoint behind it.
  void run_the_job() {
    StreamExecutionEnvironment env(options());
    build(env);
    JobHandle job = env.execute_async("kinds");
    (void)node_->run_until([] { return false; }, node_->now() + milliseconds(600));
    const Result<std::string> savepoint = job.savepoint("/savepoints");
    ASSERT_TRUE(savepoint.ok()) << savepoint.status().to_string();
    savepoint_ = *savepoint;
    job.cancel();
    (void)job.wait();
    const CheckpointStore store(node_->files(), "/checkpoints");
    std::vector<std::uint64_t> ids = *store.ids();
    ASSERT_FALSE(ids.empty());
    for (const std::uint64_t id : ids) {
      if (!store.read(id).ok()) continue;
      checkpoint_ = store.path_of(id);
      builds_on_.clear();
      const Result<CheckpointMetadata> metadata = store.read(id);
      for (const CheckpointFile& file : metadata->files) {
        if (file.checkpoint != 0) builds_on_.insert(file.checkpoint);
      }
    }
  }

  std::size_t memory_limit_ = 0;
  std::unique_ptr<SimulatedPlatform> node_ = make_simulated_platform({.seed = GetParam()});
  std::string savepoint_;
  std::string checkpoint_;
  std::set<std::uint64_t> builds_on_;  // other checkpoints whose files it needs
};
INSTANTIATE_TEST_SUITE_P(Seeds, ExportedState,
                         testing::Range<std::uint64_t>(1, drawn_cases(6) + 1));

TEST_P(ExportedState, EachKeyIsALine) {
  run_the_job();
  if (HasFatalFailure()) return;
  const Exported all = run({"export", savepoint_, "--operator", "kinds"});
  EXPECT_EQ(all.code, 0) << all.errors;
  EXPECT_EQ(all.lines.size(), keys_left);
  const auto line = [&](Index key) {
    const Exported one =
        run({"export", savepoint_, "--operator", "kinds", "--key", std::to_string(key)});
    EXPECT_EQ(one.lines.size(), 1u) << one.errors;
    std::string text = one.lines.empty() ? "" : one.lines.front();
    // Which subtask had it is a matter of the parallelism.
    const std::size_t at = text.find(",\"subtask\":");
    return at == text.npos ? text : text.erase(at, 12);
  };
  const std::string home = R"({"street":"Main \"1\"","number":-1})";
  EXPECT_EQ(line(31),
            R"({"operator":"kinds","name":"all kinds","key":31,"states":{"account":{"id":1111,)"
            R"("rate":0.1,"colour":1,"homes":[)" +
                home + "," + home +
                R"(],"best":null,"old":true},"last":[1111,31],"named":[{"key":"a",)"
                R"("value":1111},{"key":"b\u000a","value":31}],"number":13,"money":)"
                R"({"type":"value<shop.Money/1>","hex":"ffffffffffffff7f0500000000000000"}},)"
                R"("timers":[]})");
  EXPECT_NE(line(1).find(R"("brief":{"value":7,"expires_ms":)"), std::string::npos) << line(1);
  EXPECT_NE(line(2).find(R"("timers":[{"kind":"event","time_ms":1000000000}])"), std::string::npos)
      << line(2);
}

TEST_P(ExportedState, DeltasGiveWhatASavepointHas) {
  run_the_job();
  if (HasFatalFailure()) return;
  EXPECT_FALSE(builds_on_.empty()) << "the test needs a checkpoint that builds on others";
  const Exported whole = run({"export", savepoint_});
  const Exported deltas = run({"export", checkpoint_});
  EXPECT_EQ(deltas.code, 0) << deltas.errors;
  EXPECT_EQ(deltas.lines, whole.lines);
  EXPECT_EQ(whole.lines.size(), keys_left + 7);
  EXPECT_NE(deltas.errors.find("operator 'fast' is left out"), std::string::npos) << deltas.errors;
}

TEST_P(ExportedState, IsThatOfMemoryAndDiskTogether) {
  run_the_job();
  if (HasFatalFailure()) return;
  // When it was, and so when something expires, is another matter.
  const auto without_time = [](std::vector<std::string> lines) {
    for (std::string& line : lines) {
      const std::size_t at = line.find(R"(,"expires_ms":)");
      if (at != line.npos) line.erase(at, line.find('}', at) - at);
    }
    return lines;
  };
  const Exported in_memory = run({"export", savepoint_, "--operator", "kinds"});
  node_ = make_simulated_platform({.seed = GetParam()});
  memory_limit_ = 60'000;  // hardly any
  run_the_job();
  if (HasFatalFailure()) return;
  EXPECT_TRUE(sections_of(savepoint_).contains(1)) << "the test needs keys on disk";
  const Exported whole = run({"export", savepoint_, "--operator", "kinds"});
  EXPECT_EQ(whole.code, 0) << whole.errors;
  EXPECT_TRUE(without_time(whole.lines) == without_time(in_memory.lines))
      << whole.lines.size() << " lines, not " << in_memory.lines.size();
  const Exported deltas = run({"export", checkpoint_, "--operator", "kinds"});
  EXPECT_EQ(deltas.code, 0) << deltas.errors;
  EXPECT_TRUE(deltas.lines == whole.lines) << deltas.lines.size() << " lines";
}

TEST_P(ExportedState, IsFilteredByOperatorStateAndKey) {
  run_the_job();
  if (HasFatalFailure()) return;
  const Exported brief = run({"export", savepoint_, "--state", "brief"});
  EXPECT_EQ(brief.lines.size(), 1u);
  EXPECT_EQ(brief.errors, "") << "it was found: where it is not matters no more";
  const Exported none = run({"export", savepoint_, "--key", "no key"});
  EXPECT_EQ(none.lines.size(), 0u);
  EXPECT_NE(none.errors.find("operator 'fast' is left out"), std::string::npos) << none.errors;
  EXPECT_EQ(run({"export", savepoint_, "--operator", "all kinds", "--state", "last"}).lines.size(),
            keys_left);
  const Exported count = run({"export", savepoint_, "--operator", "counts", "--key", "3"});
  ASSERT_EQ(count.lines.size(), 1u);
  EXPECT_NE(count.lines.front().find(R"("key":"3","states":{"aggregate":171},"timers":[])"),
            std::string::npos)
      << count.lines.front();
  EXPECT_EQ(run({"export", savepoint_, "--operator", "counts", "--key", "\"3\""}).lines.size(), 1u);
  const Exported nobody = run({"export", savepoint_, "--operator", "nobody"});
  EXPECT_EQ(nobody.code, 1);
  EXPECT_NE(nobody.errors.find("'nobody'"), std::string::npos) << nobody.errors;
  const Exported source = run({"export", savepoint_, "--operator", "fast"});
  EXPECT_EQ(source.code, 1);
  EXPECT_NE(source.errors.find("is not by key"), std::string::npos) << source.errors;
  EXPECT_EQ(run({"export", "/nowhere"}).code, 1);
  EXPECT_EQ(run({"exprot", savepoint_}).code, 2);
}

}  // namespace
}  // namespace hummer::exported_state_test
