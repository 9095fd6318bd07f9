// A task whose operator looks ahead: what it is shown comes next, in that order, whatever the
// schedule; elements of inputs of different types keep theirs.
#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "platform/simulation.hpp"
#include "runtime/channel_emitters.hpp"
#include "runtime/stream_task.hpp"

namespace hummer::gathered_input_test {
namespace {

using Number = std::int64_t;
struct Pair {
  Number number = 0;
  Number twice = 0;
};

Number number_of(Number number) { return number; }
Number number_of(const Pair& pair) { return pair.number; }

// first, first + 4 … below `count`, with watermarks. Its state is how many it has made.
template <typename Record>
class Stepping final : public SourceOperator {
 public:
  Stepping(Number first, Number count) : first_(first), next_(first), count_(count) {}
  void declare(Output& out) const override { out.add_port(type_of<Record>()); }
  OperatorResult produce(Output& out) override {
    auto collector = out.collector<Record>();
    while (next_ < count_ && !collector.full()) {
      if constexpr (std::is_same_v<Record, Pair>) {
        collector(Pair{next_, 2 * next_});
      } else {
        collector(next_);
      }
      next_ += 4;
    }
    if (next_ >= count_) return OperatorResult::done;
    if (next_ % 3 == 0) out.set_control(Control::watermark(next_ - 1));
    return OperatorResult::more;
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value((next_ - first_) / 4);
    return {};
  }

 private:
  const Number first_;
  Number next_;
  const Number count_;
};

struct Seen {
  std::vector<Number> numbers[2];
  std::size_t shown = 0;
  std::size_t disordered = 0;
  std::size_t late = 0;
  bool ended = false;
};

// Two inputs, of numbers and of pairs. How far it looks ahead changes as it goes.
class LookingAhead final : public Operator, public LooksAhead {
 public:
  LookingAhead(Random& random, Seen& seen) : random_(random), seen_(seen) {}
  void declare(Output&) const override {}

  Reach reach() const override { return reach_; }
  OperatorResult look_ahead(std::span<const Waiting> waiting) override {
    if (waiting.empty()) {
      EXPECT_GT(further_calls_, 0u) << "nothing more was to be done";
      return --further_calls_ > 0 ? OperatorResult::more : OperatorResult::done;
    }
    EXPECT_TRUE(shown_.empty()) << "not all of what was shown before has come";
    EXPECT_EQ(further_calls_, 0u);
    for (const Waiting& each : waiting) {
      if (each.input == 0) {
        show(each.batch->values<Number>());
      } else {
        show(each.batch->values<Pair>());
      }
    }
    seen_.shown += shown_.size();
    further_calls_ = random_.below(3);
    return further_calls_ > 0 ? OperatorResult::more : OperatorResult::done;
  }
  OperatorResult process(Batch&, Output&) override { return OperatorResult::failed; }
  OperatorResult process_input(int input, Batch& in, Output&) override {
    EXPECT_EQ(further_calls_, 0u);
    if (random_.chance(0.1)) return OperatorResult::more;
    if (input == 0) {
      take(in.values<Number>(), 0);
    } else {
      take(in.values<Pair>(), 1);
    }
    in.advance_to(in.size());
    reach_ = random_.chance(0.2) ? Reach()
                                 : Reach{.records = 1 + random_.below(60),
                                         .bytes = random_.chance(0.1) ? 1 : SIZE_MAX};
    return OperatorResult::done;
  }
  OperatorResult watermark(Timestamp time, Output&) override {
    watermark_ = std::max(watermark_, time);
    return OperatorResult::done;
  }
  // How many it has taken.
  Status snapshot(ByteWriter& out) override {
    out.put_value(static_cast<Number>(seen_.numbers[0].size() + seen_.numbers[1].size()));
    return {};
  }
  OperatorResult end(Output&) override {
    seen_.ended = true;
    EXPECT_TRUE(shown_.empty());
    return OperatorResult::done;
  }

 private:
  template <typename Record>
  void show(std::span<const Record> records) {
    for (const Record& record : records) shown_.push_back(number_of(record));
  }
  template <typename Record>
  void take(std::span<const Record> records, int input) {
    for (const Record& record : records) {
      const Number number = number_of(record);
      seen_.numbers[input].push_back(number);
      seen_.late += number <= watermark_ ? 1 : 0;
      if (shown_.empty()) continue;
      seen_.disordered += shown_.front() != number ? 1 : 0;
      shown_.pop_front();
    }
  }

  Random& random_;
  Seen& seen_;
  Reach reach_;
  std::deque<Number> shown_;
  std::uint64_t further_calls_ = 0;  // to look_ahead
  Timestamp watermark_ = no_timestamp;
};

// Four sources, two channels to each input of an operator that looks ahead.
struct Rig {
  static constexpr Number count = 800;

  explicit Rig(std::uint64_t seed)
      : random(seed), platform(make_simulated_platform({.seed = seed})) {
    tasks.push_back(std::make_unique<StreamTask>(*platform, "consumer", "slot"));
    executors.push_back(platform->make_executor({.name = "down"}));
    StageOptions stage;
    stage.name = stage.uid = "stage";
    stage.batch_records = 1 + static_cast<std::uint32_t>(seed % 5);
    consumer().chain().add_stage(std::make_unique<LookingAhead>(random, seen), stage);
    for (int i = 0; i < 4; ++i) {
      tasks.push_back(std::make_unique<StreamTask>(*platform, "producer", "slot"));
      StreamTask& producer = *tasks.back();
      channels.push_back(std::make_unique<RingChannel>(1 + seed % 7, producer.wake_event(),
                                                       consumer().wake_event()));
      consumer().add_input(channels.back().get(), i % 2);
      std::unique_ptr<Operator> source;
      if (i % 2 == 0) {
        source = std::make_unique<Stepping<Number>>(i, count);
      } else {
        source = std::make_unique<Stepping<Pair>>(i, count);
      }
      producer.chain().add_stage(std::move(source), stage);
      producer.chain().add_emitter(
          0, 0,
          std::make_unique<ForwardEmitter>(std::vector<RingChannel*>{channels.back().get()}, "c"));
    }
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      tasks[i]->enable_snapshots(Guarantee::exactly_once,
                                 [this, i](StreamTask&, TaskSnapshot snapshot) {
                                   if (snapshot.epoch != 0) keep(i, snapshot);
                                 });
    }
  }
  ~Rig() {
    for (auto& executor : executors) executor->stop();
  }

  StreamTask& consumer() { return *tasks.front(); }
  // Some sources in the consumer's slot, if the seed says so.
  void start(std::uint64_t seed) {
    executors.front()->spawn(consumer().invoke());
    for (std::size_t i = 1; i < tasks.size(); ++i) {
      if (seed % 3 != 0 || i > 2) executors.push_back(platform->make_executor({.name = "up"}));
      executors.back()->spawn(tasks[i]->invoke());
    }
  }
  void run_to_end() {
    ASSERT_EQ(platform->run_until([&] { return consumer().ended(); }, seconds(3600)),
              RunEnd::satisfied);
  }
  void keep(std::size_t task, const TaskSnapshot& snapshot) {
    ByteReader in(snapshot.pieces.front().bytes);
    std::vector<StateDescription> states;
    EXPECT_TRUE(decode_states(in, states) && in.get_value(saved[snapshot.epoch][task]));
  }

  Random random;
  Seen seen;
  std::unique_ptr<SimulatedPlatform> platform;
  std::vector<std::unique_ptr<StreamTask>> tasks;  // the consumer first
  std::vector<std::unique_ptr<RingChannel>> channels;
  std::vector<std::unique_ptr<Executor>> executors;
  std::map<std::uint64_t, std::map<std::size_t, Number>> saved;  // by epoch and task
};

class GatheredInputSeeds : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Many, GatheredInputSeeds, testing::Range<std::uint64_t>(1, 61));

TEST_P(GatheredInputSeeds, WhatIsShownComesNext) {
  Rig rig(GetParam());
  rig.start(GetParam());
  rig.run_to_end();
  const Seen& seen = rig.seen;
  for (Number input = 0; input < 2; ++input) {
    const std::vector<Number>& numbers = seen.numbers[input];
    EXPECT_EQ(numbers.size(), static_cast<std::size_t>(Rig::count / 2));
    for (const Number number : numbers) EXPECT_EQ(number % 2, input);
    for (Number first = input; first < 4; first += 2) {  // of one channel
      Number last = -1;
      for (const Number number : numbers) {
        if (number % 4 != first) continue;
        EXPECT_LT(last, number);
        last = number;
      }
    }
  }
  EXPECT_EQ(seen.disordered, 0u);
  EXPECT_EQ(seen.late, 0u);
  EXPECT_TRUE(seen.ended);
  EXPECT_GT(seen.shown, static_cast<std::size_t>(Rig::count / 2));
}

TEST_P(GatheredInputSeeds, ABarrierComesBehindWhatWasGathered) {
  Rig rig(GetParam());
  rig.start(GetParam());
  for (std::uint64_t epoch = 1; epoch <= 8; ++epoch) {
    for (std::size_t i = 1; i < rig.tasks.size(); ++i) rig.tasks[i]->trigger(epoch);
    (void)rig.platform->run_until(
        [&] { return rig.saved[epoch].size() == rig.tasks.size() || rig.consumer().ended(); },
        seconds(100));
    const Nanoseconds until =
        rig.platform->now() + static_cast<Nanoseconds>(rig.random.below(microseconds(200)));
    (void)rig.platform->run_until([] { return false; }, until);
  }
  rig.run_to_end();
  std::size_t whole = 0;
  for (const auto& [epoch, counts] : rig.saved) {
    if (counts.size() < rig.tasks.size()) continue;  // a source had ended
    Number made = 0;
    for (const auto& [task, number] : counts) made += task == 0 ? 0 : number;
    EXPECT_EQ(counts.at(0), made) << "epoch " << epoch;
    ++whole;
  }
  EXPECT_GT(whole, 0u);
}

// Counts what it makes.
class Counting final : public SourceOperator {
 public:
  explicit Counting(Number& made) : made_(made) {}
  void declare(Output& out) const override { out.add_port(type_of<Number>()); }
  OperatorResult produce(Output& out) override {
    auto collector = out.collector<Number>();
    while (made_ < count && !collector.full()) collector(made_++);
    return made_ == count ? OperatorResult::done : OperatorResult::more;
  }
  static constexpr Number count = 4000;

 private:
  Number& made_;
};

// How much was made by then, at the first record of each part that was shown and at its last one.
class PartByPart final : public Operator, public LooksAhead {
 public:
  PartByPart(const Number& made, std::vector<std::pair<Number, Number>>& parts)
      : made_(made), parts_(parts) {}
  void declare(Output&) const override {}
  Reach reach() const override { return {.records = part_records, .bytes = SIZE_MAX}; }
  OperatorResult look_ahead(std::span<const Waiting> waiting) override {
    for (const Waiting& each : waiting) left_ += each.batch->size();
    if (!waiting.empty()) parts_.emplace_back(made_, 0);
    calls_left_ = waiting.empty() ? calls_left_ - 1 : 20;
    return calls_left_ > 0 ? OperatorResult::more : OperatorResult::done;
  }
  OperatorResult process(Batch& in, Output&) override {
    left_ -= in.size();
    in.advance_to(in.size());
    if (left_ == 0) parts_.back().second = made_;
    return OperatorResult::done;
  }
  static constexpr std::size_t part_records = 100;

 private:
  const Number& made_;
  std::vector<std::pair<Number, Number>>& parts_;
  std::size_t left_ = 0;
  int calls_left_ = 0;
};

// The source in its slot does not wait until all is handed out that was gathered: by then the next
// part is there.
TEST(GatheredInput, IsGatheredWhileWhatCameBeforeIsHandedOut) {
  const auto platform = make_simulated_platform({.seed = 1});
  const auto executor = platform->make_executor({.name = "slot"});
  StreamTask consumer(*platform, "consumer", "slot");
  StreamTask producer(*platform, "producer", "slot");
  Number made = 0;
  std::vector<std::pair<Number, Number>> parts;
  RingChannel channel(2, producer.wake_event(), consumer.wake_event());
  StageOptions stage;
  stage.name = stage.uid = "stage";
  stage.batch_records = 5;
  consumer.chain().add_stage(std::make_unique<PartByPart>(made, parts), stage);
  consumer.add_input(&channel);
  producer.chain().add_stage(std::make_unique<Counting>(made), stage);
  producer.chain().add_emitter(
      0, 0, std::make_unique<ForwardEmitter>(std::vector<RingChannel*>{&channel}, "c"));
  bool finished = false;
  consumer.set_on_finished([&](StreamTask&) { finished = true; });
  executor->spawn(consumer.invoke());
  executor->spawn(producer.invoke());
  ASSERT_EQ(platform->run_until([&] { return finished; }, seconds(3600)), RunEnd::satisfied);
  executor->stop();
  ASSERT_GT(parts.size(), 10u);
  for (std::size_t i = 1; i + 4 < parts.size(); ++i) {
    const auto [at_first, at_last] = parts[i];
    EXPECT_GT(at_last - at_first, static_cast<Number>(PartByPart::part_records / 2))
        << "of part " << i << " of " << parts.size();
  }
}

}  // namespace
}  // namespace hummer::gathered_input_test
