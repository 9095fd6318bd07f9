// A task with several inputs: its head learns by which one a batch came, the
// watermark is that of all of them; and an operator that woke its task is called.
#include <gtest/gtest.h>

#include "platform/simulation.hpp"
#include "runtime/channel_emitters.hpp"
#include "runtime/stream_task.hpp"

namespace hummer::several_inputs_test {
namespace {

using Number = std::int64_t;

// first, first + 2 … below `count`, with watermarks.
class Stepping final : public SourceOperator {
 public:
  Stepping(Number first, Number count) : next_(first), count_(count) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult produce(Output& out) override {
    auto collector = out.collector<Number>();
    while (next_ < count_ && !collector.full()) {
      collector(next_);
      next_ += 2;
    }
    if (next_ >= count_) return OperatorResult::done;
    out.set_control(Control::watermark(next_ - 1));
    return OperatorResult::more;
  }

 private:
  Number next_;
  Number count_;
};

struct SeenByInput {
  std::vector<Number> numbers[2];
  bool late = false;
  bool ended = false;
};

class ByInput final : public Operator {
 public:
  explicit ByInput(SeenByInput& seen) : seen_(seen) {}
  void declare(Output&) const override {}
  OperatorResult process(Batch&, Output&) override {
    return context().fail({ErrorCode::internal, "input?"});
  }
  OperatorResult process_input(int input, Batch& in, Output&) override {
    for (const Number number : in.values<Number>()) {
      seen_.late = seen_.late || number <= watermark_;
      seen_.numbers[input].push_back(number);
    }
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult watermark(Timestamp time, Output&) override {
    watermark_ = time;
    return OperatorResult::done;
  }
  OperatorResult end(Output&) override {
    seen_.ended = true;
    return OperatorResult::done;
  }

 private:
  SeenByInput& seen_;
  Timestamp watermark_ = no_timestamp;
};

class SeveralInputs : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Many, SeveralInputs, testing::Range<std::uint64_t>(1, 21));

// Four sources, two of which feed each input of the operator; to their end.
void run_behind_four_sources(std::uint64_t seed, std::unique_ptr<Operator> op) {
  auto platform = make_simulated_platform({.seed = seed});
  StreamTask consumer(*platform, "consumer", "slot");
  StageOptions stage;
  stage.name = "stage";
  stage.batch_records = 1 + static_cast<std::uint32_t>(seed % 5);
  consumer.chain().add_stage(std::move(op), stage);
  std::vector<std::unique_ptr<StreamTask>> producers;
  std::vector<std::unique_ptr<RingChannel>> channels;
  std::vector<std::unique_ptr<Executor>> executors;
  for (int i = 0; i < 4; ++i) {
    producers.push_back(std::make_unique<StreamTask>(*platform, "producer", "slot"));
    channels.push_back(std::make_unique<RingChannel>(1 + seed % 3, producers.back()->wake_event(),
                                                     consumer.wake_event()));
    consumer.add_input(channels.back().get(), i % 2);
    producers.back()->chain().add_stage(std::make_unique<Stepping>(i, 100), stage);
    producers.back()->chain().add_emitter(
        0, 0,
        std::make_unique<ForwardEmitter>(std::vector<RingChannel*>{channels.back().get()}, "c"));
  }
  for (auto& producer : producers) {
    executors.push_back(platform->make_executor({.name = "up"}));
    executors.back()->spawn(producer->invoke());
  }
  executors.push_back(platform->make_executor({.name = "down"}));
  executors.back()->spawn(consumer.invoke());
  EXPECT_EQ(platform->run_until([&] { return consumer.metrics().state == TaskState::finished; },
                                seconds(3600)),
            RunEnd::satisfied);
  EXPECT_TRUE(consumer.result().ok()) << consumer.result().to_string();
  for (auto& executor : executors) executor->stop();
}

TEST_P(SeveralInputs, TheHeadLearnsTheInput) {
  SeenByInput seen;
  run_behind_four_sources(GetParam(), std::make_unique<ByInput>(seen));
  for (Number input = 0; input < 2; ++input) {
    EXPECT_EQ(seen.numbers[input].size(), 99u);
    for (const Number number : seen.numbers[input]) EXPECT_EQ(number % 2, input);
  }
  EXPECT_FALSE(seen.late);
  EXPECT_TRUE(seen.ended);
}

// Reads one channel to its end before the next, the last one first; or whatever comes.
class OneByOne final : public Operator, public ChoosesInput {
 public:
  OneByOne(std::vector<std::vector<Number>>& seen, bool chooses) : seen_(seen), chooses_(chooses) {}
  void declare(Output&) const override {}
  OperatorResult process(Batch&, Output&) override {
    return context().fail({ErrorCode::internal, "input?"});
  }
  OperatorResult process_input(int input, Batch& in, Output&) override {
    EXPECT_EQ(static_cast<std::size_t>(input), comes_by_ % 2);
    for (const Number number : in.values<Number>()) seen_[comes_by_].push_back(number);
    if (chooses_) EXPECT_TRUE(comes_by_ == 3 || ended_[comes_by_ + 1]) << comes_by_;
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult end(Output&) override {
    EXPECT_EQ(ended_, std::vector<bool>(4, true));
    return OperatorResult::done;
  }
  void set_channels(const std::vector<int>& inputs) override {
    EXPECT_EQ(inputs, (std::vector<int>{0, 1, 0, 1}));
    ended_.resize(inputs.size());
  }
  std::size_t wanted_channel() const override {
    if (!chooses_) return any;
    std::size_t channel = ended_.size() - 1;
    while (ended_[channel]) --channel;
    return channel;
  }
  void comes_by(std::size_t channel) override { comes_by_ = channel; }
  void has_ended(std::size_t channel) override { ended_[channel] = true; }

 private:
  std::vector<std::vector<Number>>& seen_;
  const bool chooses_;
  std::vector<bool> ended_;
  std::size_t comes_by_ = 0;
};

TEST_P(SeveralInputs, TheHeadMayChooseTheChannel) {
  for (const bool chooses : {true, false}) {
    std::vector<std::vector<Number>> seen(4);
    run_behind_four_sources(GetParam(), std::make_unique<OneByOne>(seen, chooses));
    for (std::size_t channel = 0; channel < seen.size(); ++channel) {
      std::vector<Number> expected;
      for (auto number = static_cast<Number>(channel); number < 100; number += 2) {
        expected.push_back(number);
      }
      EXPECT_EQ(seen[channel], expected);
    }
  }
}

// Wakes its task whenever the test says so.
class Sleeper final : public Operator {
 public:
  void declare(Output&) const override {}
  OperatorResult process(Batch& in, Output&) override {
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult idle(Output&) override {
    ++idle_calls;
    return OperatorResult::done;
  }
  int idle_calls = 0;
};

TEST_P(SeveralInputs, AnOperatorThatWakesItsTaskIsCalledWithoutInput) {
  auto platform = make_simulated_platform({.seed = GetParam()});
  StreamTask task(*platform, "task", "slot");
  WakeEvent nobody;
  RingChannel channel(1, nobody, task.wake_event());
  task.add_input(&channel);
  auto made = std::make_unique<Sleeper>();
  Sleeper& sleeper = *made;
  task.chain().add_stage(std::move(made), {});
  auto executor = platform->make_executor({.name = "slot"});
  executor->spawn(task.invoke());
  for (int expected : {0, 1, 2}) {
    (void)platform->run_until([] { return false; }, platform->now() + milliseconds(10));
    EXPECT_EQ(sleeper.idle_calls, expected);
    sleeper.context().wake();
  }
  (void)platform->run_until([] { return false; }, platform->now() + milliseconds(10));
  EXPECT_EQ(sleeper.idle_calls, 3);
  executor->stop();
}

}  // namespace
}  // namespace hummer::several_inputs_test
