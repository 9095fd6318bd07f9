// Tasks, channels and emitters together, under the simulated platform: order,
// nothing lost or doubled, bounded channels, controls behind their data, ends,
// failures and cancellation, for many seeds.
#include "runtime/stream_task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include <hummer/detail/operators/assign_timestamps.hpp>

#include "platform/simulation.hpp"
#include "runtime/channel_emitters.hpp"

namespace hummer::stream_task_test {
namespace {

using Number = std::int64_t;

// 0, 1, 2 … with a watermark behind every batch; pauses when asked to.
class CountingSource final : public SourceOperator {
 public:
  CountingSource(Number count, int pause_every) : count_(count), pause_every_(pause_every) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult produce(Output& out) override {
    if (pause_every_ > 0 && ++calls_ % pause_every_ == 0) {
      context().wake();
      return OperatorResult::blocked;
    }
    auto collector = out.collector<Number>();
    while (next_ < count_ && !collector.full()) collector(next_++);
    if (next_ == count_) return OperatorResult::done;
    out.set_control(Control::watermark(next_ - 1));
    return OperatorResult::more;
  }

 private:
  Number count_;
  Number next_ = 0;
  int pause_every_;
  int calls_ = 0;
};

// Each number `copies` times; throws at `poison`.
class Repeat final : public Operator {
 public:
  explicit Repeat(int copies, Number poison = -1) : copies_(copies), poison_(poison) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult process(Batch& in, Output& out) override {
    const auto numbers = in.values<Number>();
    auto collector = out.collector<Number>();
    std::size_t i = in.position();
    for (; i < numbers.size() && !collector.full(); ++i) {
      in.advance_to(i);
      if (numbers[i] == poison_) throw std::runtime_error("poison");
      for (int copy = 0; copy < copies_; ++copy) collector(numbers[i]);
    }
    in.advance_to(i);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  int copies_;
  Number poison_;
};

struct Seen {
  std::vector<Number> numbers;
  std::vector<Timestamp> watermarks;
  bool late = false;  // a record at or below the watermark came after it
  bool ended = false;
  int flushes = 0;
};

// Collects; answers blocked on every other call when asked to.
class Collect final : public Operator {
 public:
  Collect(Seen& seen, bool blocks) : seen_(seen), blocks_(blocks) {}
  void declare(Output&) const override {}
  OperatorResult process(Batch& in, Output&) override {
    if (blocks_ && (calls_++ % 2) == 0) return OperatorResult::blocked;
    const auto numbers = in.values<Number>();
    // One record per call when it blocks: as awkward as can be.
    const std::size_t end = blocks_ ? in.position() + 1 : numbers.size();
    for (std::size_t i = in.position(); i < end; ++i) {
      if (!seen_.watermarks.empty() && numbers[i] <= seen_.watermarks.back()) seen_.late = true;
      seen_.numbers.push_back(numbers[i]);
    }
    in.advance_to(end);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }
  OperatorResult watermark(Timestamp time, Output&) override {
    seen_.watermarks.push_back(time);
    return OperatorResult::done;
  }
  OperatorResult flush(Output&) override {
    ++seen_.flushes;
    return OperatorResult::done;
  }
  OperatorResult end(Output&) override {
    seen_.ended = true;
    return OperatorResult::done;
  }

 private:
  Seen& seen_;
  bool blocks_;
  int calls_ = 0;
};

class ByModulo final : public Partitioner {
 public:
  explicit ByModulo(std::uint32_t targets) : targets_(targets) {}
  OperatorResult scatter(Batch& in, std::vector<Batch>& targets,
                         std::uint32_t soft_limit) override {
    const auto numbers = in.values<Number>();
    for (std::size_t i = in.position(); i < numbers.size(); ++i) {
      Batch& target = targets[static_cast<std::size_t>(numbers[i]) % targets_];
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

 private:
  std::uint32_t targets_;
};

// One upstream task (source → repeat) and `consumers` downstream ones.
struct Pipeline {
  Pipeline(std::uint64_t seed, int consumer_count, std::uint32_t credits, std::uint32_t batch)
      : platform(make_simulated_platform({.seed = seed})), batch_records(batch) {
    seen.resize(static_cast<std::size_t>(consumer_count));
    executors.push_back(platform->make_executor({.name = "up"}));
    producer = std::make_unique<StreamTask>(*platform, "producer", "slot 0");
    for (int i = 0; i < consumer_count; ++i) {
      executors.push_back(platform->make_executor({.name = "down" + std::to_string(i)}));
      consumers.push_back(std::make_unique<StreamTask>(*platform, "consumer", "slot"));
      channels.push_back(std::make_unique<RingChannel>(credits, producer->wake_event(),
                                                       consumers.back()->wake_event()));
      consumers.back()->add_input(channels.back().get());
      pointers.push_back(channels.back().get());
    }
  }
  ~Pipeline() {
    for (auto& executor : executors) executor->stop();
  }

  void build(Number count, int pause_every, int copies, bool sinks_block, Number poison = -1) {
    const StageOptions stage{.name = "stage", .batch_records = batch_records};
    producer->chain().add_stage(std::make_unique<CountingSource>(count, pause_every), stage);
    producer->chain().add_stage(std::make_unique<Repeat>(copies, poison), stage);
    for (std::size_t i = 0; i < consumers.size(); ++i) {
      consumers[i]->chain().add_stage(std::make_unique<Collect>(seen[i], sinks_block), stage);
    }
  }
  template <typename Form, typename... More>
  void emit(More&&... more) {
    producer->chain().add_emitter(
        1, 0, std::make_unique<Form>(pointers, "consumer", std::forward<More>(more)...));
  }
  // False: it can never end.
  bool run() {
    executors[0]->spawn(producer->invoke());
    for (std::size_t i = 0; i < consumers.size(); ++i) {
      executors[i + 1]->spawn(consumers[i]->invoke());
    }
    return platform->run_until([this] { return finished(); }, seconds(3600)) == RunEnd::satisfied;
  }
  bool finished() const {
    for (const auto& task : consumers) {
      if (task->metrics().state != TaskState::finished) return false;
    }
    return producer->metrics().state == TaskState::finished;
  }
  std::vector<Number> all_sorted() const {
    std::vector<Number> all;
    for (const Seen& one : seen) all.insert(all.end(), one.numbers.begin(), one.numbers.end());
    std::sort(all.begin(), all.end());
    return all;
  }

  std::unique_ptr<SimulatedPlatform> platform;
  std::uint32_t batch_records;
  std::vector<std::unique_ptr<Executor>> executors;
  std::unique_ptr<StreamTask> producer;
  std::vector<std::unique_ptr<StreamTask>> consumers;
  std::vector<std::unique_ptr<RingChannel>> channels;
  std::vector<RingChannel*> pointers;
  std::vector<Seen> seen;
};

std::vector<Number> expected(Number count, int copies) {
  std::vector<Number> all;
  for (Number i = 0; i < count; ++i) all.insert(all.end(), static_cast<std::size_t>(copies), i);
  return all;
}

class Seeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Many, Seeds, testing::Range<std::uint64_t>(1, 41));

TEST_P(Seeds, ForwardKeepsOrderAndWatermarks) {
  Pipeline pipeline(GetParam(), 1, 1 + GetParam() % 3, 1 + GetParam() % 7);
  pipeline.build(100, 2 + static_cast<int>(GetParam() % 4), 1 + static_cast<int>(GetParam() % 3),
                 GetParam() % 2 == 0);
  pipeline.emit<ForwardEmitter>();
  ASSERT_TRUE(pipeline.run());
  EXPECT_TRUE(pipeline.producer->result().ok()) << pipeline.producer->result().to_string();
  const Seen& seen = pipeline.seen[0];
  EXPECT_EQ(seen.numbers, expected(100, 1 + static_cast<int>(GetParam() % 3)));
  EXPECT_FALSE(seen.late);
  EXPECT_TRUE(seen.ended);
  EXPECT_TRUE(std::is_sorted(seen.watermarks.begin(), seen.watermarks.end()));
  EXPECT_FALSE(seen.watermarks.empty());
}

TEST_P(Seeds, HashSendsEachKeyToItsOwner) {
  Pipeline pipeline(GetParam(), 3, 1 + GetParam() % 2, 1 + GetParam() % 5);
  pipeline.build(200, 2 + static_cast<int>(GetParam() % 3), 2, GetParam() % 2 == 0);
  pipeline.emit<HashEmitter>(type_of<Number>(), std::make_unique<ByModulo>(3),
                             pipeline.batch_records);
  ASSERT_TRUE(pipeline.run());
  EXPECT_EQ(pipeline.all_sorted(), expected(200, 2));
  for (std::size_t i = 0; i < 3; ++i) {
    const Seen& seen = pipeline.seen[i];
    EXPECT_TRUE(std::is_sorted(seen.numbers.begin(), seen.numbers.end()));
    EXPECT_FALSE(seen.late);
    EXPECT_TRUE(seen.ended);
    for (const Number number : seen.numbers) EXPECT_EQ(number % 3, static_cast<Number>(i));
  }
}

// As one does that was filled from a block of a network and went round.
TEST(HashEmitter, BatchesMayComeBackWithLessRoom) {
  WakeEvent producer, consumer;
  RingChannel first(4, producer, consumer), second(4, producer, consumer);
  constexpr std::uint32_t records = 8;
  HashEmitter emitter({&first, &second}, "consumer", type_of<Number>(),
                      std::make_unique<ByModulo>(2), records);
  for (int round = 0; round < 100; ++round) {
    Element element;
    element.batch = Batch(type_of<Number>(), records);
    auto* numbers = element.batch.mutable_values<Number>();
    for (std::uint32_t i = 0; i < records; ++i) numbers[i] = 2 * i;
    element.batch.set_size(records);
    element.control = Control::watermark(round);
    ASSERT_EQ(emitter.offer(element), OperatorResult::done);
    for (RingChannel* channel : {&first, &second}) {
      while (channel->poll()) {
        Element got;
        got.batch = Batch(type_of<Number>(), 1);
        channel->take(got);
        ASSERT_LE(got.batch.size(), got.batch.capacity());
      }
    }
  }
}

TEST_P(Seeds, RebalanceLosesAndDoublesNothing) {
  Pipeline pipeline(GetParam(), 3, 1, 1 + GetParam() % 5);
  pipeline.build(200, 0, 1, GetParam() % 2 == 0);
  pipeline.emit<RebalanceEmitter>();
  ASSERT_TRUE(pipeline.run());
  EXPECT_EQ(pipeline.all_sorted(), expected(200, 1));
  for (const Seen& seen : pipeline.seen) EXPECT_TRUE(seen.ended && !seen.late);
}

TEST_P(Seeds, BroadcastGivesEverybodyEverything) {
  Pipeline pipeline(GetParam(), 3, 1, 1 + GetParam() % 5);
  pipeline.build(100, 2, 1, GetParam() % 2 == 0);
  pipeline.emit<BroadcastEmitter>();
  ASSERT_TRUE(pipeline.run());
  for (const Seen& seen : pipeline.seen) {
    EXPECT_EQ(seen.numbers, expected(100, 1));
    EXPECT_TRUE(seen.ended && !seen.late);
  }
}

TEST_P(Seeds, SameSeedSameTrace) {
  std::uint64_t hashes[2];
  for (std::uint64_t& hash : hashes) {
    Pipeline pipeline(GetParam(), 2, 2, 3);
    pipeline.build(50, 3, 1, true);
    pipeline.emit<RebalanceEmitter>();
    ASSERT_TRUE(pipeline.run());
    hash = pipeline.platform->simulation().trace_hash();
  }
  EXPECT_EQ(hashes[0], hashes[1]);
}

TEST_P(Seeds, ThrowingFunctionFailsBothSides) {
  Pipeline pipeline(GetParam(), 2, 1, 1 + GetParam() % 5);
  pipeline.build(1000, 0, 1, false, 77);
  pipeline.emit<RebalanceEmitter>();
  ASSERT_TRUE(pipeline.run());
  const Status& failure = pipeline.producer->result();
  EXPECT_EQ(failure.code(), ErrorCode::user_function_failed);
  EXPECT_NE(failure.message().find("record 77 of its input"), std::string::npos)
      << failure.message();
  EXPECT_NE(failure.message().find("poison"), std::string::npos);
  for (const auto& consumer : pipeline.consumers) {
    EXPECT_EQ(consumer->result().code(), ErrorCode::peer_gone);
  }
  for (const Seen& seen : pipeline.seen) EXPECT_FALSE(seen.ended);
}

TEST_P(Seeds, CancelEndsTasksThatAreBlocked) {
  Pipeline pipeline(GetParam(), 1, 1, 1);
  pipeline.build(1'000'000, 0, 1, true);
  pipeline.emit<ForwardEmitter>();
  pipeline.executors[0]->spawn(pipeline.producer->invoke());
  // The consumer never starts: the channel is full for ever.
  EXPECT_NE(pipeline.platform->run_until([&] { return pipeline.finished(); }, seconds(5)),
            RunEnd::satisfied);
  EXPECT_LE(pipeline.channels[0]->occupancy(), 1 + RingChannel::control_credits);
  pipeline.producer->cancel();
  EXPECT_EQ(
      pipeline.platform->run_until(
          [&] { return pipeline.producer->metrics().state == TaskState::finished; }, seconds(10)),
      RunEnd::satisfied);
  EXPECT_EQ(pipeline.producer->result().code(), ErrorCode::cancelled);
}

// A call that is under way when its task is cancelled and told to commit; it returns all the same.
class ReturnsLate final : public Operator {
 public:
  explicit ReturnsLate(StreamTask& task) : task_(task) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult process(Batch& in, Output& out) override {
    task_.cancel();
    task_.commit(7);
    auto collector = out.collector<Number>();
    for (const Number number : in.values<Number>()) collector(number);
    in.advance_to(in.size());
    return OperatorResult::done;
  }

 private:
  StreamTask& task_;
};

class CountsCalls final : public Operator {
 public:
  CountsCalls(int& calls, int& closed) : calls_(calls), closed_(closed) {}
  void declare(Output&) const override {}
  OperatorResult process(Batch& in, Output&) override {
    ++calls_;
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult end(Output&) override {
    ++calls_;
    return OperatorResult::done;
  }
  Status commit(std::uint64_t) override {
    ++calls_;
    return {};
  }
  Status close() override {
    ++closed_;
    return {};
  }

 private:
  int& calls_;
  int& closed_;
};

TEST(StreamTask, WhatReturnsAfterACancellationGoesNowhere) {
  const auto platform = make_simulated_platform({});
  const auto executor = platform->make_executor({.name = "slot"});
  StreamTask task(*platform, "task", "slot 0");
  int calls = 0, closed = 0;
  const StageOptions stage{.name = "stage"};
  task.chain().add_stage(std::make_unique<CountingSource>(10, 0), stage);
  task.chain().add_stage(std::make_unique<ReturnsLate>(task), stage);
  task.chain().add_stage(std::make_unique<CountsCalls>(calls, closed), stage);
  executor->spawn(task.invoke());
  ASSERT_EQ(
      platform->run_until([&] { return task.metrics().state == TaskState::finished; }, seconds(10)),
      RunEnd::satisfied);
  EXPECT_EQ(task.result().code(), ErrorCode::cancelled);
  EXPECT_EQ(calls, 0);
  EXPECT_EQ(task.committed(), 0u);
  EXPECT_TRUE(task.close().ok());
  EXPECT_EQ(closed, 1);
  executor->stop();
}

// Puts out numbers behind the end of its input until it is told to stop, or for very long.
class EmitsAtItsEnd final : public Operator {
 public:
  explicit EmitsAtItsEnd(const bool& stop) : stop_(stop) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult process(Batch& in, Output&) override {
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult end(Output& out) override {
    auto collector = out.collector<Number>();
    while (!collector.full()) collector(1);
    return stop_ || ++calls_ == 100'000 ? OperatorResult::done : OperatorResult::more;
  }

 private:
  const bool& stop_;
  int calls_ = 0;
};

TEST(StreamTask, OthersOfItsSlotHaveTheirTurnWhileOneElementMakesMuch) {
  const auto platform = make_simulated_platform({});
  const auto executor = platform->make_executor({.name = "slot"});
  StreamTask first(*platform, "first", "slot 0");
  StreamTask second(*platform, "second", "slot 0");
  Seen seen, seen_of_first;
  const StageOptions stage{.name = "stage", .batch_records = 8};
  first.chain().add_stage(std::make_unique<CountingSource>(1, 0), stage);
  first.chain().add_stage(std::make_unique<EmitsAtItsEnd>(seen.ended), stage);
  first.chain().add_stage(std::make_unique<Collect>(seen_of_first, false), stage);
  second.chain().add_stage(std::make_unique<CountingSource>(500, 0), stage);
  second.chain().add_stage(std::make_unique<Collect>(seen, false), stage);
  executor->spawn(first.invoke());
  executor->spawn(second.invoke());
  ASSERT_EQ(platform->run_until([&] { return first.metrics().state == TaskState::finished; },
                                seconds(60)),
            RunEnd::satisfied);
  EXPECT_TRUE(seen.ended) << "the first went through its end in one go";
  EXPECT_EQ(seen.numbers.size(), 500u);
  executor->stop();
}

TEST(StreamTask, CanBeCancelledWhileOneElementMakesMuch) {
  const auto platform = make_simulated_platform({});
  const auto executor = platform->make_executor({.name = "slot"});
  StreamTask task(*platform, "task", "slot 0");
  Seen seen;
  const bool never_stop = false;
  const StageOptions stage{.name = "stage", .batch_records = 8};
  task.chain().add_stage(std::make_unique<CountingSource>(1, 0), stage);
  task.chain().add_stage(std::make_unique<EmitsAtItsEnd>(never_stop), stage);
  task.chain().add_stage(std::make_unique<Collect>(seen, false), stage);
  executor->spawn(task.invoke());
  const auto state = [&] { return task.metrics().state.load(); };
  ASSERT_EQ(platform->run_until([&] { return seen.numbers.size() > 100; }, seconds(60)),
            RunEnd::satisfied);
  task.cancel();
  ASSERT_EQ(platform->run_until([&] { return state() == TaskState::finished; }, seconds(60)),
            RunEnd::satisfied);
  EXPECT_EQ(task.result().code(), ErrorCode::cancelled);
  EXPECT_FALSE(seen.ended);
  executor->stop();
}

TEST_P(Seeds, StopEndsTheStreamInGoodOrder) {
  Pipeline pipeline(GetParam(), 1, 2, 3);
  pipeline.build(1'000'000'000, 0, 1, false);
  pipeline.emit<ForwardEmitter>();
  pipeline.executors[0]->spawn(pipeline.producer->invoke());
  pipeline.executors[1]->spawn(pipeline.consumers[0]->invoke());
  (void)pipeline.platform->run_until([] { return false; }, milliseconds(50));
  pipeline.producer->stop();
  ASSERT_EQ(pipeline.platform->run_until([&] { return pipeline.finished(); }, seconds(60)),
            RunEnd::satisfied);
  EXPECT_TRUE(pipeline.producer->result().ok());
  EXPECT_TRUE(pipeline.seen[0].ended);
  EXPECT_EQ(pipeline.seen[0].numbers,
            expected(static_cast<Number>(pipeline.seen[0].numbers.size()), 1));
  EXPECT_GT(pipeline.seen[0].numbers.size(), 0u);
}

Task<void> invoke_after(Nanoseconds delay, StreamTask& task) {
  co_await sleep_for(delay);
  co_await task.invoke();
}

// While a task is blocked its input waits for it, and is not idle.
TEST_P(Seeds, AnInputIsNotIdleWhileItsTaskIsBlocked) {
  Pipeline pipeline(GetParam(), 1, 1 + GetParam() % 3, 1 + GetParam() % 7);
  const auto time_of = [](const Number& number) { return number; };
  const auto strategy = WatermarkStrategy::ascending().with_idleness(50);
  const StageOptions stage{.name = "stage", .batch_records = pipeline.batch_records};
  pipeline.producer->chain().add_stage(std::make_unique<CountingSource>(1000, 0), stage);
  pipeline.producer->chain().add_stage(
      std::make_unique<AssignTimestampsOperator<Number, std::remove_const_t<decltype(time_of)>,
                                                BoundedWatermarks>>(time_of, strategy),
      stage);
  pipeline.consumers[0]->chain().add_stage(std::make_unique<Collect>(pipeline.seen[0], false),
                                           stage);
  pipeline.emit<ForwardEmitter>();
  pipeline.executors[0]->spawn(pipeline.producer->invoke());
  pipeline.executors[1]->spawn(invoke_after(milliseconds(100), *pipeline.consumers[0]));
  ASSERT_EQ(pipeline.platform->run_until([&] { return pipeline.finished(); }, seconds(60)),
            RunEnd::satisfied);
  EXPECT_EQ(pipeline.seen[0].numbers, expected(1000, 1));
  EXPECT_EQ(pipeline.seen[0].flushes, 0) << "it was called inactive";
}

}  // namespace
}  // namespace hummer::stream_task_test
