// Unaligned checkpoints of jobs behind a bottleneck that fail and start again, also at another
// parallelism and over TCP: the files hold what a run without failures would have written.
// Embedded, under the simulated platform with many seeds.
#include <gtest/gtest.h>

#include <hummer/hummer.hpp>

#include "checkpoint/snapshot_files.hpp"
#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::unaligned_checkpoints_test {
namespace {

using Index = std::uint64_t;

// Lets one record through, then answers `blocked` until it is tried again; nothing at all while
// `closed`.
template <typename T>
class Bottleneck final : public Operator {
 public:
  explicit Bottleneck(const std::atomic<bool>* closed) : closed_(closed) {}
  void declare(Output& out) const override { out.add_port(type_of<T>()); }
  OperatorResult process(Batch& in, Output& out) override {
    if (in.finished()) return OperatorResult::done;
    if (closed_ != nullptr && closed_->load()) return OperatorResult::blocked;
    // Blocked with output would be asked again at once.
    if (std::exchange(passed_, false)) return OperatorResult::blocked;
    passed_ = true;
    Batch& target = out.batch();
    const std::size_t used = target.size();
    out.collector<T>()(in.values<T>()[in.position()]);
    if (in.has_timestamps()) {
      target.timestamps().resize(used, no_timestamp);
      target.timestamps().push_back(in.timestamps()[in.position()]);
    }
    in.advance_to(in.position() + 1);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  const std::atomic<bool>* closed_;
  bool passed_ = false;
};

template <typename T>
DataStream<T> through_bottleneck(const DataStream<T>& stream,
                                 const std::atomic<bool>* closed = nullptr) {
  return stream.template transform<T>("bottleneck", make_operator_factory([closed] {
                                        return std::make_unique<Bottleneck<T>>(closed);
                                      }));
}

struct Item {
  Index key;
  Index id;
};

struct Job {
  Index count = 1200;
  bool over_tcp = false;
  PlannedFailures* failures = nullptr;
  const std::atomic<bool>* closed = nullptr;  // of the bottleneck
};

NetworkSettings way(const Job& job) {
  NetworkSettings settings;
  if (job.over_tcp) {
    settings.transport = Transport::tcp;
    settings.credits = 2;
    settings.buffer_size_bytes = NetworkSettings::min_buffer_size_bytes;
  }
  return settings;
}

// Per-key counts in order, windows, totals at the end: each behind an exchange whose far side is
// slow, so that at every barrier much is on its way.
JobResult run_job(EnvironmentOptions options, const Job& job) {
  StreamExecutionEnvironment env(std::move(options));
  const auto fail = [failures = job.failures](const auto& record) {
    failures->maybe_throw();
    return record;
  };
  const auto items =
      env.generate([](Index i) { return Item{i % 7, i}; },
                   {.count = job.count, .watermark_interval = 16, .out_of_order_ms = 8},
                   [](Index i) { return static_cast<Timestamp>(i * 2 + (i % 3 == 0 ? 7 : 0)); });
  through_bottleneck(items.map([](const Item& item) { return item.key; })
                         .network(way(job))
                         .key_by(identity)
                         .count(Emit::every_record),
                     job.closed)
      .map(fail)
      .write_file("/running");
  // Behind it subtasks stand at different watermarks, in the middle of firing.
  through_bottleneck(
      items.network(way(job)).key_by(&Item::key).window(SlidingWindows::of(200, 50)).count(),
      job.closed)
      .write_file("/windows");
  through_bottleneck(
      items.map([](const Item& item) { return std::to_string(item.id % 13); }).network(way(job)))
      .rebalance()
      .map(fail)
      .key_by(identity)
      .count()
      .write_file("/totals");
  return env.execute("bottlenecks");
}

std::vector<std::string> everything(SimulatedPlatform& node) {
  return visible_lines_of(node.files(), {"/running", "/windows", "/totals"});
}

class UnalignedCheckpoints : public testing::TestWithParam<std::uint64_t> {
 protected:
  EnvironmentOptions options(SimulatedPlatform& node, int parallelism) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = parallelism;
    options.batch_records =
        GetParam() % 3 == 0 ? 64 : static_cast<std::uint32_t>(GetParam() % 9 + 1);
    options.channel_credits = 2;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 30;
    options.checkpoints.unaligned = true;
    options.checkpoints.alignment_timeout_ms = GetParam() % 4 == 1 ? 4 : 0;
    options.restart = RestartStrategy::fixed_delay(20, 5);
    return options;
  }
};
INSTANTIATE_TEST_SUITE_P(Seeds, UnalignedCheckpoints,
                         testing::Range<std::uint64_t>(1, drawn_cases(24) + 1));

TEST_P(UnalignedCheckpoints, FailuresAndAnotherParallelismDoNotShow) {
  PlannedFailures none;
  Job job{.over_tcp = GetParam() % 2 == 0, .failures = &none};
  auto undisturbed = make_simulated_platform({.seed = GetParam()});
  EnvironmentOptions plain = options(*undisturbed, 2);
  plain.checkpoints.unaligned = false;
  ASSERT_TRUE(run_job(plain, job).ok());
  const auto expected = everything(*undisturbed);

  auto node = make_simulated_platform({.seed = 100 + GetParam()});
  PlannedFailures failures;
  job.failures = &failures;
  failures.left = 3;
  failures.every = 300 + 20 * GetParam();
  // Not 1, where there are no partial halves: the operators would be others.
  const int parallelism = 2 + static_cast<int>(GetParam() % 3);
  const JobResult result = run_job(options(*node, parallelism), job);
  ASSERT_TRUE(result.ok()) << result.status.to_string();
  EXPECT_LE(failures.left.load(), 0) << "a failure that was planned did not come";
  EXPECT_EQ(everything(*node), expected);

  auto other = make_simulated_platform({.seed = 200 + GetParam()});
  failures.left = 1;
  failures.seen = 0;
  failures.every = 900 + 10 * GetParam();
  EnvironmentOptions first = options(*other, parallelism);
  first.restart = RestartStrategy::no_restart();
  ASSERT_EQ(run_job(first, job).status.code(), ErrorCode::user_function_failed);
  EnvironmentOptions second = options(*other, 2 + (parallelism + static_cast<int>(GetParam())) % 3);
  second.checkpoints.restore = "latest";
  const JobResult resumed = run_job(second, job);
  ASSERT_TRUE(resumed.ok()) << resumed.status.to_string();
  EXPECT_EQ(everything(*other), expected);
}

TEST_P(UnalignedCheckpoints, AreCompleteWhileNothingMoves) {
  for (const bool unaligned : {true, false}) {
    auto node = make_simulated_platform({.seed = GetParam()});
    std::atomic<bool> closed{true};
    EnvironmentOptions stuck = options(*node, 2);
    stuck.checkpoints.unaligned = unaligned;
    stuck.checkpoints.interval_ms = 100;
    stuck.checkpoints.timeout_ms = 200;
    stuck.checkpoints.tolerated_failures = 1000;
    stuck.checkpoints.keep_at_end = true;
    StreamExecutionEnvironment env(std::move(stuck));
    through_bottleneck(env.generate([](Index i) { return i % 5; }, {})
                           .network(way({.over_tcp = GetParam() % 2 == 0}))
                           .key_by(identity)
                           .count(Emit::every_record),
                       &closed)
        .write_file("/out");
    JobHandle handle = env.execute_async("stuck");
    const Nanoseconds until = node->now() + seconds(3);
    (void)node->run_until([&] { return node->now() >= until; }, until);
    const auto newest = CheckpointStore(node->files(), "/checkpoints").ids();
    ASSERT_TRUE(newest.ok());
    if (unaligned) {
      ASSERT_FALSE(newest->empty());
      EXPECT_GE(newest->back(), 25u) << "one every 100 ms, all of them complete";
    }
    std::vector<SkippedCheckpoint> skipped;
    EXPECT_EQ(CheckpointStore(node->files(), "/checkpoints").newest(skipped).ok(), unaligned);
    handle.cancel();
    (void)handle.wait();
  }
}

// State of many keys, of which few change from one checkpoint to the next: deltas.
JobResult count_many_keys(EnvironmentOptions options, PlannedFailures& failures) {
  constexpr Index keys = 600;
  StreamExecutionEnvironment env(std::move(options));
  through_bottleneck(env.generate([](Index i) { return i < keys ? i : i % 11; }, {.count = 1500})
                         .key_by(identity)
                         .count(Emit::every_record))
      .map([&failures](const auto& record) {
        failures.maybe_throw();
        return record;
      })
      .write_file("/running");
  return env.execute("many keys");
}

// Whether earlier checkpoints' files, which this one builds on, hold records in flight.
bool builds_on_records_in_flight(Files& files, const std::string& path,
                                 const CheckpointMetadata& checkpoint) {
  bool found = false;
  for (const CheckpointFile& file : checkpoint.files) {
    if (file.checkpoint == 0) continue;
    const auto look = [&](std::string_view, std::string_view piece) {
      found |= !piece.empty() && piece[0] == static_cast<char>(piece_in_flight);
      return Status();
    };
    EXPECT_TRUE(CheckpointStore::read_file(files, path, checkpoint, file, look).ok());
  }
  return found;
}

TEST_P(UnalignedCheckpoints, RecordsInFlightAtAnEarlierCheckpointComeOnce) {
  PlannedFailures failures;
  auto undisturbed = make_simulated_platform({.seed = GetParam()});
  EnvironmentOptions plain = options(*undisturbed, 2);
  plain.checkpoints.unaligned = false;
  ASSERT_TRUE(count_many_keys(plain, failures).ok());

  auto node = make_simulated_platform({.seed = 300 + GetParam()});
  failures.seen = 0;
  failures.left = 1;
  failures.every = 900 + 10 * GetParam();
  EnvironmentOptions first = options(*node, 2);
  first.batch_records = 64;
  first.restart = RestartStrategy::no_restart();
  ASSERT_EQ(count_many_keys(first, failures).status.code(), ErrorCode::user_function_failed);

  std::vector<SkippedCheckpoint> skipped;
  const CheckpointStore store(node->files(), "/checkpoints");
  const auto newest = store.newest(skipped);
  ASSERT_TRUE(newest.ok()) << newest.status().to_string();
  ASSERT_TRUE(builds_on_records_in_flight(node->files(), store.path_of(newest->id), *newest))
      << "this job no longer leaves what this test is about";

  EnvironmentOptions second = options(*node, 2);
  second.checkpoints.restore = "latest";
  const JobResult resumed = count_many_keys(second, failures);
  ASSERT_TRUE(resumed.ok()) << resumed.status.to_string();
  EXPECT_EQ(visible_lines_of(node->files(), {"/running"}),
            visible_lines_of(undisturbed->files(), {"/running"}));
}

}  // namespace
}  // namespace hummer::unaligned_checkpoints_test
