// Barriers that overtake, through tasks whose sinks hardly take anything, under the simulated
// platform: what the snapshots of one epoch hold, with what they say was in flight, is each record
// once, whatever the schedule.
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <map>

#include <hummer/detail/operators/two_phase_commit.hpp>

#include "platform/simulation.hpp"
#include "runtime/channel_emitters.hpp"
#include "runtime/stream_task.hpp"

namespace hummer::overtaking_barrier_test {
namespace {

using Number = std::int64_t;
constexpr int sources = 3;
constexpr int consumers = 2;

// source, source + sources, …; its state is how many it has made.
class NumberSource final : public SourceOperator {
 public:
  NumberSource(Number source, Number count) : source_(source), count_(count) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult produce(Output& out) override {
    {
      auto collector = out.collector<Number>();
      while (made_ < count_ && !collector.full()) collector(source_ + sources * made_++);
    }
    if (made_ % 3 == 0) out.set_control(Control::watermark(made_));
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
};

// Each number twice, one output batch after the other: answers `more` within a batch and a record.
// It looks so many records ahead; 0: it does not.
class Twice final : public Operator, public LooksAhead {
 public:
  explicit Twice(std::size_t ahead) : ahead_(ahead) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  Reach reach() const override { return {.records = ahead_, .bytes = SIZE_MAX}; }
  OperatorResult look_ahead(std::span<const Waiting> waiting) override {
    for (const Waiting& each : waiting) {
      for (const Number number : each.batch->values<Number>()) shown_.push_back(number);
    }
    return OperatorResult::done;
  }
  OperatorResult process(Batch& in, Output& out) override {
    const auto numbers = in.values<Number>();
    auto collector = out.collector<Number>();
    std::size_t i = in.position();
    for (; i < numbers.size() && !collector.full(); ++i) {
      collector(numbers[i]);
      collector(numbers[i]);
      if (shown_.empty()) continue;
      EXPECT_EQ(shown_.front(), numbers[i]);
      shown_.pop_front();
    }
    in.advance_to(i);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  const std::size_t ahead_;
  std::deque<Number> shown_;  // and has not come
};

struct HoardOptions {
  bool heeds_watermarks = true;
  int rests = 0;  // further parts of its piece
};

// Keeps everything until a watermark, a barrier or the end, and lets it go one by one.
class Hoard final : public Operator {
 public:
  explicit Hoard(const HoardOptions& options) : options_(options) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult process(Batch& in, Output&) override {
    for (const Number number : in.values<Number>().subspan(in.position())) kept_.push_back(number);
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult watermark(Timestamp, Output& out) override {
    return options_.heeds_watermarks ? flush(out) : OperatorResult::done;
  }
  OperatorResult end(Output& out) override { return flush(out); }
  OperatorResult flush(Output& out) override {
    auto collector = out.collector<Number>();
    while (!kept_.empty() && !collector.full()) {
      collector(kept_.front());
      kept_.pop_front();
    }
    return kept_.empty() ? OperatorResult::done : OperatorResult::more;
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(static_cast<Number>(kept_.size()));
    rests_left_ = options_.rests;
    return {};
  }
  OperatorResult snapshot_rest(ByteWriter& out) override {
    if (rests_left_ == 0) return OperatorResult::done;
    out.put_value(static_cast<Number>(rests_left_));
    return --rests_left_ == 0 ? OperatorResult::done : OperatorResult::more;
  }

 private:
  const HoardOptions options_;
  std::deque<Number> kept_;
  int rests_left_ = 0;
};

// A transaction's handle is its numbers.
class NumberStore final : public TwoPhaseStore {
 public:
  explicit NumberStore(std::vector<Number>& visible) : visible_(visible) {}
  void write(Number number) { open_.push_back(number); }
  Status abort_all_but(const std::vector<std::string>&) override { return {}; }
  Result<std::string> prepare(std::uint64_t) override {
    std::string handle(reinterpret_cast<const char*>(open_.data()), open_.size() * sizeof(Number));
    open_.clear();
    return handle;
  }
  Status commit(const std::string& handle) override {
    ByteReader in(handle);
    for (Number number = 0; in.get_value(number);) visible_.push_back(number);
    return {};
  }

 private:
  std::vector<Number>& visible_;
  std::vector<Number> open_;
};

// Takes one number of every `patience` calls, and makes visible what is committed; its state is all
// that it has taken.
class SlowSink final : public Operator {
 public:
  SlowSink(const std::atomic<bool>& stuck, int patience, std::vector<Number>& visible)
      : stuck_(stuck), patience_(patience), store_(visible) {}
  void declare(Output&) const override {}
  Status open() override { return transactions_.open(context()); }
  OperatorResult process(Batch& in, Output&) override {
    while (!in.finished()) {
      if (stuck_.load() || ++calls_ % patience_ != 0) return OperatorResult::blocked;
      taken_.push_back(in.values<Number>()[in.position()]);
      store_.write(taken_.back());
      in.advance_to(in.position() + 1);
    }
    return OperatorResult::done;
  }
  OperatorResult flush(Output&) override { return transactions_.flush(context()); }
  OperatorResult end(Output&) override { return transactions_.end(context()); }
  Status snapshot(ByteWriter& out) override {
    for (const Number number : taken_) out.put_value(number);
    return {};
  }
  Status commit(std::uint64_t epoch) override { return transactions_.commit(epoch); }

 private:
  const std::atomic<bool>& stuck_;
  const int patience_;
  int calls_ = 0;
  std::vector<Number> taken_;
  NumberStore store_;
  TwoPhaseCommit transactions_{store_};
};

class ByRest final : public Partitioner {
 public:
  static std::size_t owner(Number number, std::size_t targets) {
    return static_cast<std::size_t>(number / 7) % targets;
  }
  OperatorResult scatter(Batch& in, std::vector<Batch>& targets,
                         std::uint32_t soft_limit) override {
    const auto numbers = in.values<Number>();
    for (std::size_t i = in.position(); i < numbers.size(); ++i) {
      Batch& target = targets[owner(numbers[i], targets.size())];
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

// Sources, each with a channel to each consumer; a consumer is twice → hoard → slow sink.
struct Mesh {
  Mesh(std::uint64_t seed, Number count, int patience, const HoardOptions& hoard = {})
      : platform(make_simulated_platform({.seed = seed})) {
    for (int i = 0; i < sources + consumers; ++i) {
      executors.push_back(platform->make_executor({.name = "slot" + std::to_string(i)}));
      tasks.push_back(std::make_unique<StreamTask>(*platform, "task", "slot"));
      tasks.back()->enable_snapshots(
          Guarantee::exactly_once,
          [this, i](StreamTask&, TaskSnapshot snapshot) { take(i, std::move(snapshot)); });
    }
    StageOptions stage{.name = {}};
    stage.batch_records = 1 + static_cast<std::uint32_t>(seed % 5);
    const auto add = [&](StreamTask& task, const char* uid, std::unique_ptr<Operator> op) {
      stage.name = stage.uid = uid;
      task.chain().add_stage(std::move(op), stage);
    };
    for (int i = 0; i < consumers; ++i) {
      stage.subtask = i;
      add(consumer(i), "twice", std::make_unique<Twice>(seed % 3 * 11));
      add(consumer(i), "hoard", std::make_unique<Hoard>(hoard));
      add(consumer(i), "sink", std::make_unique<SlowSink>(stuck, patience + i, visible));
    }
    for (int s = 0; s < sources; ++s) {
      StreamTask& task = *tasks[static_cast<std::size_t>(s)];
      stage.subtask = s;
      add(task, "source", std::make_unique<NumberSource>(s, count * (s + 1)));
      std::vector<RingChannel*> rings;
      for (int i = 0; i < consumers; ++i) {
        channels.push_back(std::make_unique<RingChannel>(1 + seed % 3, task.wake_event(),
                                                         consumer(i).wake_event()));
        consumer(i).add_input(channels.back().get());
        rings.push_back(channels.back().get());
      }
      task.chain().add_emitter(
          0, 0,
          std::make_unique<HashEmitter>(rings, "twice", type_of<Number>(),
                                        std::make_unique<ByRest>(), stage.batch_records),
          {"twice", 0});
    }
  }
  ~Mesh() {
    for (auto& executor : executors) executor->stop();
  }

  StreamTask& consumer(int i) { return *tasks[static_cast<std::size_t>(sources + i)]; }
  void start() {
    for (std::size_t i = 0; i < tasks.size(); ++i) executors[i]->spawn(tasks[i]->invoke());
  }
  void trigger(std::uint64_t epoch, bool unaligned = true) {
    for (int s = 0; s < sources; ++s) {
      tasks[static_cast<std::size_t>(s)]->trigger(epoch, !unaligned, unaligned);
    }
  }
  // Parts of a piece follow each other.
  void take(int task, TaskSnapshot snapshot) {
    EXPECT_TRUE(snapshot.epoch == 0 || snapshot.epoch >= newest[task]) << "an older one's";
    newest[task] = snapshot.epoch;
    EXPECT_EQ(reported[snapshot.epoch].count(task), 0u) << "reported twice";
    std::vector<SnapshotPiece>& pieces = parts[snapshot.epoch][task];
    for (SnapshotPiece& part : snapshot.pieces) {
      if (pieces.empty() || !pieces.back().goes_on) {
        pieces.push_back(std::move(part));
      } else {
        EXPECT_EQ(pieces.back().uid, part.uid);
        pieces.back().bytes += part.bytes;
        pieces.back().goes_on = part.goes_on;
      }
    }
    if (snapshot.complete) reported[snapshot.epoch][task] = std::move(pieces);
  }
  bool run(const std::function<bool()>& predicate, Nanoseconds patience = seconds(100)) {
    return platform->run_until(predicate, platform->now() + patience) == RunEnd::satisfied;
  }
  void pass(Nanoseconds time) {
    const Nanoseconds until = platform->now() + time;
    (void)run([&] { return platform->now() >= until; });
  }
  bool all_ended() const {
    return std::all_of(tasks.begin(), tasks.end(), [](const auto& t) { return t->ended(); });
  }
  // What counts for an epoch: a task's own snapshot, or the one from its end.
  const std::vector<SnapshotPiece>* pieces(std::uint64_t epoch, int task) {
    for (const std::uint64_t each : {epoch, std::uint64_t{0}}) {
      const auto found = reported[each].find(task);
      if (found != reported[each].end()) return &found->second;
    }
    return nullptr;
  }
  bool complete(std::uint64_t epoch) {
    for (int i = 0; i < sources + consumers; ++i) {
      if (pieces(epoch, i) == nullptr) return false;
    }
    return true;
  }

  // Every record that the sources have made, how often it is in the snapshots: two of them are
  // one.
  void expect_each_once(std::uint64_t epoch) {
    std::map<Number, int> halves;
    std::map<int, Number> made;
    for (int task = 0; task < sources + consumers; ++task) {
      for (const SnapshotPiece& piece : *pieces(epoch, task)) {
        if (piece.in_flight) {
          auto reader = InFlightReader::open(piece.bytes);
          ASSERT_TRUE(reader.ok());
          Batch batch;
          for (;;) {
            const Result<bool> more = reader->next(type_of<Number>(), batch);
            ASSERT_TRUE(more.ok());
            if (!*more) break;
            in_flight += batch.size();
            for (const Number number : batch.values<Number>()) {
              halves[number] += piece.uid == "twice" ? 2 : 1;
            }
          }
          continue;
        }
        ByteReader in(piece.bytes);
        std::vector<StateDescription> states;
        ASSERT_TRUE(decode_states(in, states));
        Number number = 0;
        if (piece.uid == "source") {
          ASSERT_TRUE(in.get_value(made[task]));
        } else if (piece.uid == "hoard") {
          ASSERT_TRUE(in.get_value(number));
          EXPECT_EQ(number, 0) << "what it keeps was let go";
        }
        while (piece.uid == "sink" && in.get_value(number)) ++halves[number];
      }
    }
    for (int s = 0; s < sources; ++s) {
      for (Number i = 0; i < made[s]; ++i) {
        EXPECT_EQ(halves[s + sources * i], 2) << s << " " << i << " epoch " << epoch;
      }
      std::erase_if(halves, [&](const auto& entry) {
        return entry.first % sources == s && entry.first < s + sources * made[s];
      });
    }
    EXPECT_TRUE(halves.empty()) << "records from behind the barrier";
  }

  // Of the sinks, in order.
  std::vector<Number> taken(std::uint64_t epoch) {
    std::vector<Number> numbers;
    for (int i = 0; i < consumers; ++i) {
      for (const SnapshotPiece& piece : *pieces(epoch, sources + i)) {
        if (piece.uid != "sink" || piece.in_flight) continue;
        ByteReader in(piece.bytes);
        std::vector<StateDescription> states;
        EXPECT_TRUE(decode_states(in, states));
        for (Number number = 0; in.get_value(number);) numbers.push_back(number);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

  std::unique_ptr<SimulatedPlatform> platform;
  std::atomic<bool> stuck{false};
  std::vector<std::unique_ptr<Executor>> executors;
  std::vector<std::unique_ptr<StreamTask>> tasks;  // sources, then consumers
  std::vector<std::unique_ptr<RingChannel>> channels;
  std::map<std::uint64_t, std::map<int, std::vector<SnapshotPiece>>> reported;
  std::map<std::uint64_t, std::map<int, std::vector<SnapshotPiece>>> parts;  // until complete
  std::map<int, std::uint64_t> newest;  // by task: the epoch that it reported last
  std::vector<Number> visible;
  std::size_t in_flight = 0;
};

class OvertakingSeeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Many, OvertakingSeeds, testing::Range<std::uint64_t>(1, 61));

TEST_P(OvertakingSeeds, EachRecordIsOnceInASnapshotOrInFlight) {
  Mesh mesh(GetParam(), 100, 1 + static_cast<int>(GetParam() % 4));
  mesh.start();
  std::vector<std::uint64_t> epochs;
  for (std::uint64_t epoch = 1; epoch <= 12 && !mesh.all_ended(); ++epoch) {
    mesh.pass(microseconds(70 * GetParam()));
    // A savepoint, which aligns, now and then.
    mesh.trigger(epoch, (epoch + GetParam()) % 4 != 0);
    ASSERT_TRUE(mesh.run([&] { return mesh.complete(epoch); })) << epoch;
    epochs.push_back(epoch);
  }
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  epochs.push_back(0);
  for (const std::uint64_t epoch : epochs) mesh.expect_each_once(epoch);
}

TEST_P(OvertakingSeeds, IsCompleteWhileASinkTakesNothing) {
  Mesh mesh(GetParam(), 200, 2);
  mesh.start();
  mesh.pass(microseconds(31 * GetParam()));
  mesh.stuck = true;
  for (std::uint64_t epoch = 1; epoch <= 5; ++epoch) {
    mesh.pass(milliseconds(10));
    mesh.trigger(epoch);
    ASSERT_TRUE(mesh.run([&] { return mesh.complete(epoch); }, milliseconds(100))) << epoch;
    mesh.expect_each_once(epoch);
    if (epoch == 1) {
      EXPECT_GT(mesh.in_flight, 0u);
    }
  }
  mesh.trigger(6, false);
  EXPECT_FALSE(mesh.run([&] { return mesh.complete(6); }, seconds(1))) << "one that aligns waits";
  mesh.trigger(7);  // which has been given up
  ASSERT_TRUE(mesh.run([&] { return mesh.complete(7); }, milliseconds(100)));
  mesh.expect_each_once(7);
  mesh.stuck = false;
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  mesh.expect_each_once(0);
}

TEST_P(OvertakingSeeds, ABarrierThatWasGivenUpMakesWayForTheNext) {
  Mesh mesh(GetParam(), 200, 2);
  mesh.start();
  mesh.pass(microseconds(200));
  mesh.tasks[0]->trigger(1, false, true);  // the others never announce it
  mesh.pass(microseconds(300));
  EXPECT_FALSE(mesh.complete(1));
  mesh.trigger(2);
  ASSERT_TRUE(mesh.run([&] { return mesh.complete(2); }));
  mesh.expect_each_once(2);
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  mesh.expect_each_once(0);
}

// A barrier that aligns, stuck in the chain behind what the hoard let go ahead of it, is overtaken.
class OvertakenInAChain : public OvertakingSeeds {
 protected:
  void take_unaligned_barrier(Mesh& mesh) {
    mesh.stuck = true;
    mesh.start();
    mesh.pass(microseconds(31 * GetParam()));
    mesh.trigger(1, false);
    mesh.pass(milliseconds(10));
    EXPECT_FALSE(mesh.complete(1));
    mesh.trigger(2);
    ASSERT_TRUE(
        mesh.run([&] { return mesh.newest[sources] == 2 && mesh.newest[sources + 1] == 2; }));
    mesh.stuck = false;
    ASSERT_TRUE(mesh.run([&] { return mesh.complete(2); }, milliseconds(100)));
    mesh.expect_each_once(2);
    mesh.pass(milliseconds(10));
  }
};
INSTANTIATE_TEST_SUITE_P(Many, OvertakenInAChain, testing::Range<std::uint64_t>(1, 31));

TEST_P(OvertakenInAChain, ItsRecordsAreNotCommittedWithTheOneThatOvertook) {
  Mesh mesh(GetParam(), 1000, 1, {.heeds_watermarks = false});
  ASSERT_NO_FATAL_FAILURE(take_unaligned_barrier(mesh));
  for (int i = 0; i < consumers; ++i) mesh.consumer(i).commit(2);
  ASSERT_TRUE(mesh.run(
      [&] { return mesh.consumer(0).committed() == 2 && mesh.consumer(1).committed() == 2; }));
  std::sort(mesh.visible.begin(), mesh.visible.end());
  EXPECT_EQ(mesh.visible, mesh.taken(2)) << "the others are in flight in 2";
  mesh.trigger(3, false);
  ASSERT_TRUE(mesh.run([&] { return mesh.complete(3); }));
  for (int i = 0; i < consumers; ++i) mesh.consumer(i).commit(3);
  ASSERT_TRUE(mesh.run(
      [&] { return mesh.consumer(0).committed() == 3 && mesh.consumer(1).committed() == 3; }));
  std::sort(mesh.visible.begin(), mesh.visible.end());
  EXPECT_EQ(mesh.visible, mesh.taken(3));
}

TEST_P(OvertakenInAChain, ItDoesNotKeepTheOneThatOvertookFromBeingWrittenInParts) {
  Mesh mesh(GetParam(), 1000, 1, {.heeds_watermarks = false, .rests = 50});
  ASSERT_NO_FATAL_FAILURE(take_unaligned_barrier(mesh));
  ASSERT_TRUE(mesh.run([&] { return mesh.all_ended(); }));
  mesh.expect_each_once(0);
}

}  // namespace
}  // namespace hummer::overtaking_barrier_test
