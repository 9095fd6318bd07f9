// Barriers through tasks with several inputs, under the simulated platform: what the snapshots of
// one epoch hold fits together, whatever the schedule.
#include <gtest/gtest.h>

#include <map>

#include "platform/simulation.hpp"
#include "runtime/channel_emitters.hpp"
#include "runtime/stream_task.hpp"

namespace hummer::task_snapshot_test {
namespace {

using Number = std::int64_t;
constexpr std::size_t sources = 3;
constexpr std::size_t consumers = 2;

// source, source + sources, source + 2 * sources, …; its state is how many it has made.
class PartSource final : public SourceOperator {
 public:
  PartSource(Number source, Number count, int pause_every)
      : source_(source), count_(count), pause_every_(pause_every) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult produce(Output& out) override {
    if (pause_every_ > 0 && ++calls_ % pause_every_ == 0) {
      context().wake();
      return OperatorResult::blocked;
    }
    auto collector = out.collector<Number>();
    while (made_ < count_ && !collector.full()) {
      collector(source_ + static_cast<Number>(sources) * made_++);
    }
    return made_ == count_ ? OperatorResult::done : OperatorResult::more;
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(made_);
    return {};
  }

 private:
  Number source_;
  Number count_;
  Number made_ = 0;
  int pause_every_;
  int calls_ = 0;
};

// Its state is how many records of each source it has got.
class CountBySource final : public Operator {
 public:
  explicit CountBySource(std::vector<std::uint64_t>& commits) : commits_(commits) {}
  void declare(Output&) const override {}
  OperatorResult process(Batch& in, Output&) override {
    for (const Number number : in.values<Number>()) ++counts_[number % sources];
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  Status snapshot(ByteWriter& out) override {
    for (const Number count : counts_) out.put_value(count);
    return {};
  }
  Status commit(std::uint64_t epoch) override {
    commits_.push_back(epoch);
    return {};
  }

 private:
  std::vector<std::uint64_t>& commits_;
  Number counts_[sources] = {};
};

class ByDigits final : public Partitioner {
 public:
  OperatorResult scatter(Batch& in, std::vector<Batch>& targets,
                         std::uint32_t soft_limit) override {
    const auto numbers = in.values<Number>();
    for (std::size_t i = in.position(); i < numbers.size(); ++i) {
      Batch& target = targets[static_cast<std::size_t>(numbers[i] / 7) % targets.size()];
      target.mutable_values<Number>()[target.size()] = numbers[i];
      target.set_size(target.size() + 1);
      if (target.size() >= soft_limit) {
        in.advance_to(i + 1);
        return in.finished() ? OperatorResult::done : OperatorResult::more;
      }
    }
    in.advance_to(numbers.size());
    return OperatorResult::done;
  }
};

// `sources` tasks, each with a channel to each of `consumers` tasks.
struct Mesh {
  Mesh(std::uint64_t seed, Guarantee guarantee, Number count)
      : platform(make_simulated_platform({.seed = seed})), count_of_source(count) {
    const StageOptions stage{.name = "stage", .uid = "stage", .batch_records = batch_records};
    commits.resize(consumers);
    for (std::size_t i = 0; i < sources + consumers; ++i) {
      executors.push_back(platform->make_executor({.name = "slot" + std::to_string(i)}));
      tasks.push_back(std::make_unique<StreamTask>(*platform, "task", "slot"));
      tasks[i]->enable_snapshots(guarantee, [this, i](StreamTask&, TaskSnapshot snapshot) {
        ASSERT_EQ(snapshot.pieces.size(), 1u);
        EXPECT_EQ(snapshot.pieces[0].uid, "stage");
        ByteReader piece(snapshot.pieces[0].bytes);
        std::vector<StateDescription> states;
        ASSERT_TRUE(decode_states(piece, states));
        EXPECT_TRUE(states.empty());
        const std::size_t bytes = piece.left();
        reported[snapshot.epoch][i] = std::string(piece.take(bytes), bytes);
      });
    }
    for (std::size_t i = 0; i < consumers; ++i) {
      consumer(i).chain().add_stage(std::make_unique<CountBySource>(commits[i]), stage);
    }
    for (std::size_t s = 0; s < sources; ++s) {
      tasks[s]->chain().add_stage(
          std::make_unique<PartSource>(static_cast<Number>(s), count * static_cast<Number>(s + 1),
                                       2 * (static_cast<int>(seed + s) % 3)),
          stage);
      std::vector<RingChannel*> rings;
      for (std::size_t i = 0; i < consumers; ++i) {
        channels.push_back(std::make_unique<RingChannel>(1 + seed % 3, tasks[s]->wake_event(),
                                                         consumer(i).wake_event()));
        consumer(i).add_input(channels.back().get());
        rings.push_back(channels.back().get());
      }
      tasks[s]->chain().add_emitter(
          0, 0,
          std::make_unique<HashEmitter>(rings, "consumer", type_of<Number>(),
                                        std::make_unique<ByDigits>(), batch_records));
    }
  }
  ~Mesh() {
    for (auto& executor : executors) executor->stop();
  }

  StreamTask& consumer(std::size_t i) { return *tasks[sources + i]; }
  void start() {
    for (std::size_t i = 0; i < tasks.size(); ++i) executors[i]->spawn(tasks[i]->invoke());
  }
  void trigger(std::uint64_t epoch) {
    for (std::size_t s = 0; s < sources; ++s) tasks[s]->trigger(epoch);
  }
  // Lets virtual time pass until predicate().
  bool run(const std::function<bool()>& predicate) {
    return platform->run_until(predicate, platform->now() + seconds(100)) == RunEnd::satisfied;
  }
  bool all_ended() const {
    for (const auto& task : tasks) {
      if (!task->ended()) return false;
    }
    return true;
  }
  // The snapshot of `task` that counts for an epoch: its own, or the one from its end.
  std::string_view piece(std::uint64_t epoch, std::size_t task) {
    auto& of_epoch = reported[epoch];
    if (const auto found = of_epoch.find(task); found != of_epoch.end()) return found->second;
    const auto found = reported[0].find(task);
    return found == reported[0].end() ? std::string_view() : std::string_view(found->second);
  }
  bool complete(std::uint64_t epoch) {
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      if (piece(epoch, i).empty()) return false;
    }
    return true;
  }
  // What the sources had made, and what had been counted of it.
  std::pair<std::vector<Number>, std::vector<Number>> sums(std::uint64_t epoch) {
    std::vector<Number> made(sources);
    std::vector<Number> counted(sources);
    for (std::size_t s = 0; s < sources; ++s) {
      ByteReader in(piece(epoch, s));
      EXPECT_TRUE(in.get_value(made[s]));
    }
    for (std::size_t i = 0; i < consumers; ++i) {
      ByteReader in(piece(epoch, sources + i));
      for (std::size_t s = 0; s < sources; ++s) {
        Number count = 0;
        EXPECT_TRUE(in.get_value(count));
        counted[s] += count;
      }
    }
    return {made, counted};
  }

  static constexpr std::uint32_t batch_records = 4;
  std::unique_ptr<SimulatedPlatform> platform;
  Number count_of_source;
  std::vector<std::unique_ptr<Executor>> executors;
  std::vector<std::unique_ptr<StreamTask>> tasks;  // sources, then consumers
  std::vector<std::unique_ptr<RingChannel>> channels;
  std::vector<std::vector<std::uint64_t>> commits;
  std::map<std::uint64_t, std::map<std::size_t, std::string>> reported;  // epoch, task
};

class SnapshotSeeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Many, SnapshotSeeds, testing::Range<std::uint64_t>(1, 31));

TEST_P(SnapshotSeeds, OneEpochsSnapshotsFitTogether) {
  Mesh mesh(GetParam(), Guarantee::exactly_once, 300);
  mesh.start();
  std::vector<std::uint64_t> epochs;
  for (std::uint64_t epoch = 1; epoch <= 8 && !mesh.all_ended(); ++epoch) {
    (void)mesh.run([&, until = mesh.platform->now() + microseconds(50 * GetParam())] {
      return mesh.platform->now() >= until;
    });
    mesh.trigger(epoch);
    ASSERT_TRUE(mesh.run([&] { return mesh.complete(epoch); })) << epoch;
    epochs.push_back(epoch);
  }
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  epochs.push_back(0);
  for (const std::uint64_t epoch : epochs) {
    const auto [made, counted] = mesh.sums(epoch);
    EXPECT_EQ(made, counted) << "epoch " << epoch;
  }
  EXPECT_EQ(mesh.sums(0).first, (std::vector<Number>{300, 600, 900}));
}

TEST_P(SnapshotSeeds, AtLeastOnceCountsNothingTooLittle) {
  Mesh mesh(GetParam(), Guarantee::at_least_once, 300);
  mesh.start();
  (void)mesh.run([&] { return mesh.platform->now() >= microseconds(40 * GetParam()); });
  mesh.trigger(1);
  ASSERT_TRUE(mesh.run([&] { return mesh.complete(1); }));
  const auto [made, counted] = mesh.sums(1);
  for (std::size_t s = 0; s < sources; ++s) EXPECT_GE(counted[s], made[s]);
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  EXPECT_EQ(mesh.sums(0).first, mesh.sums(0).second);
}

TEST_P(SnapshotSeeds, ABarrierThatWasGivenUpMakesWayForTheNext) {
  Mesh mesh(GetParam(), Guarantee::exactly_once, 2000);
  mesh.start();
  (void)mesh.run([&] { return mesh.platform->now() >= microseconds(300); });
  mesh.tasks[0]->trigger(1);  // the others never send it
  (void)mesh.run([&] { return mesh.platform->now() >= microseconds(600); });
  EXPECT_FALSE(mesh.complete(1));
  mesh.trigger(2);
  ASSERT_TRUE(mesh.run([&] { return mesh.complete(2); }));
  EXPECT_EQ(mesh.sums(2).first, mesh.sums(2).second);
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
}

TEST_P(SnapshotSeeds, TasksThatHaveEndedStayToCommit) {
  Mesh mesh(GetParam(), Guarantee::exactly_once, 50);
  mesh.start();
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  for (auto& task : mesh.tasks) task->commit(3);
  ASSERT_TRUE(mesh.run([&] { return !mesh.commits[0].empty() && !mesh.commits[1].empty(); }));
  for (auto& task : mesh.tasks) EXPECT_NE(task->metrics().state, TaskState::finished);
  for (auto& task : mesh.tasks) {
    task->commit(4);
    task->finish_committed();
  }
  ASSERT_TRUE(mesh.run([&] {
    return std::all_of(mesh.tasks.begin(), mesh.tasks.end(), [](const auto& task) {
      return task->metrics().state == TaskState::finished;
    });
  }));
  for (const auto& commits : mesh.commits) {
    EXPECT_EQ(commits, (std::vector<std::uint64_t>{3, 4}));
  }
  for (auto& task : mesh.tasks) EXPECT_TRUE(task->result().ok());
}

TEST(TaskSnapshot, CancelReachesATaskThatWaitsToCommit) {
  Mesh mesh(5, Guarantee::exactly_once, 50);
  mesh.start();
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  for (auto& task : mesh.tasks) task->cancel();
  ASSERT_TRUE(mesh.run([&] {
    return std::all_of(mesh.tasks.begin(), mesh.tasks.end(), [](const auto& task) {
      return task->metrics().state == TaskState::finished;
    });
  }));
  EXPECT_EQ(mesh.tasks[0]->result().code(), ErrorCode::cancelled);
}

}  // namespace
}  // namespace hummer::task_snapshot_test
