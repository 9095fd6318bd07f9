// Sources that answer `blocked` and wake nobody, run by the contract's own text
// (hummer/source_function.hpp): they are called again, less and less often.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <hummer/detail/operators/for_each_sink.hpp>
#include <hummer/detail/operators/source_function_operator.hpp>

#include "platform/simulation.hpp"
#include "runtime/stream_task.hpp"

namespace hummer::quiet_source_test {
namespace {

struct Tick {
  SplitId split;
  std::uint64_t offset;
};

// A log whose records appear by the clock, in each partition one every `step_ns`. Nobody tells.
class Log {
 public:
  Log(Platform& platform, std::uint64_t partitions, std::uint64_t records, Nanoseconds step_ns)
      : platform_(platform),
        partitions_(partitions),
        records_(records),
        step_ns_(step_ns),
        began_(platform.now()) {}
  std::uint64_t partitions() const { return partitions_; }
  bool ended(std::uint64_t offset) const { return offset >= records_; }
  bool has(SplitId, std::uint64_t offset) const {
    return !ended(offset) &&
           platform_.now() - began_ >= static_cast<Nanoseconds>(offset + 1) * step_ns_;
  }
  Tick at(SplitId id, std::uint64_t offset) const { return {id, offset}; }

 private:
  Platform& platform_;
  const std::uint64_t partitions_;
  const std::uint64_t records_;
  const Nanoseconds step_ns_;
  const Nanoseconds began_;
};

// The first example of the header.
class Ticker final : public SourceFunction<Tick> {
 public:
  Ticker(Log& log, int& calls) : log_(log), calls_(calls) {}
  OperatorResult produce(SourceOutput<Tick>& out) override {
    ++calls_;
    while (!out.full() && log_.has(0, next_)) out.emit(log_.at(0, next_++));
    return log_.ended(next_) ? OperatorResult::done
           : out.full()      ? OperatorResult::more
                             : OperatorResult::blocked;
  }

 private:
  Log& log_;
  int& calls_;
  std::uint64_t next_ = 0;
};

// The one with splits. It never ends by itself.
class Partitions final : public SourceFunction<Tick> {
 public:
  explicit Partitions(Log& log) : log_(log) {}
  bool has_splits() const override { return true; }
  Status open(OperatorContext& context) override {
    for (SplitId id = 0; id < log_.partitions(); ++id) {
      if (context.splits()->begin(id)) ids_.push_back(id);
    }
    return {};
  }
  OperatorResult produce(SourceOutput<Tick>& out) override {
    if (ids_.empty()) return OperatorResult::blocked;
    std::rotate(ids_.begin(), ids_.begin() + 1, ids_.end());
    for (const SplitId id : ids_) {
      if (!log_.has(id, offsets_[id]) || !out.split(id)) continue;
      while (!out.full() && log_.has(id, offsets_[id])) out.emit(log_.at(id, offsets_[id]++));
      return OperatorResult::more;
    }
    return OperatorResult::blocked;
  }

 private:
  Log& log_;
  std::vector<SplitId> ids_;
  std::map<SplitId, std::uint64_t> offsets_;
};

class QuietSource : public testing::TestWithParam<std::uint64_t> {
 protected:
  ~QuietSource() override { executor_->stop(); }
  void start(std::unique_ptr<SourceFunction<Tick>> source) {
    const StageOptions stage{.name = "stage", .batch_records = GetParam() % 2 == 0 ? 1024u : 3u};
    task_.chain().add_stage(std::make_unique<SourceFunctionOperator<Tick>>(std::move(source)),
                            stage);
    const auto see = [this](const Tick& tick) { seen_.push_back(tick); };
    task_.chain().add_stage(std::make_unique<ForEachSinkOperator<Tick, decltype(see)>>(see), stage);
    executor_->spawn(task_.invoke());
  }
  bool until(const std::function<bool()>& predicate) {
    return platform_->run_until(predicate, platform_->now() + seconds(600)) == RunEnd::satisfied;
  }
  bool finished() const { return task_.metrics().state == TaskState::finished; }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({.seed = GetParam()});
  std::unique_ptr<Executor> executor_ = platform_->make_executor({.name = "slot"});
  StreamTask task_{*platform_, "source", "slot 0"};
  std::vector<Tick> seen_;
};
INSTANTIATE_TEST_SUITE_P(Seeds, QuietSource, testing::Range<std::uint64_t>(1, 9));

TEST_P(QuietSource, IsCalledAgainAfterAShortWhile) {
  Log log(*platform_, 1, 50, milliseconds(30));
  int calls = 0;
  start(std::make_unique<Ticker>(log, calls));
  ASSERT_TRUE(until([&] { return finished(); })) << seen_.size() << " records came";
  EXPECT_TRUE(task_.result().ok()) << task_.result().to_string();
  ASSERT_EQ(seen_.size(), 50u);
  for (std::size_t i = 0; i < seen_.size(); ++i) EXPECT_EQ(seen_[i].offset, i);
  // 1.5 s at 10 ms a call are 150, twice that where it is asked once more ahead of each wait.
  EXPECT_LT(calls, 1500);
}

TEST_P(QuietSource, TheSplitExampleOfTheHeaderGivesWhatAppears) {
  Log log(*platform_, 3, 20, milliseconds(40));
  start(std::make_unique<Partitions>(log));
  ASSERT_TRUE(until([&] { return seen_.size() == 60; })) << seen_.size() << " records came";
  task_.stop();
  ASSERT_TRUE(until([&] { return finished(); }));
  EXPECT_TRUE(task_.result().ok()) << task_.result().to_string();
  std::map<SplitId, std::uint64_t> next;
  for (const Tick& tick : seen_) EXPECT_EQ(tick.offset, next[tick.split]++) << tick.split;
}

TEST_P(QuietSource, IsAskedLessAndLessOften) {
  Log log(*platform_, 1, 1, seconds(60));
  int calls = 0;
  start(std::make_unique<Ticker>(log, calls));
  ASSERT_TRUE(until([&] { return finished(); }));
  EXPECT_EQ(seen_.size(), 1u);
  EXPECT_GT(calls, 60);
  EXPECT_LT(calls, 60'000 / 10 * 3);
}

// One that has asked for a call is called then.
class Punctual final : public SourceFunction<Tick> {
 public:
  explicit Punctual(int& calls) : calls_(calls) {}
  Status open(OperatorContext& context) override {
    context_ = &context;
    return {};
  }
  OperatorResult produce(SourceOutput<Tick>& out) override {
    ++calls_;
    if (next_ == 5) return OperatorResult::done;
    if (context_->now() >= at_) {
      out.emit(Tick{0, next_++});
      at_ = context_->now() + 1'000'000'000;
    }
    context_->call_at(at_);
    return OperatorResult::blocked;
  }

 private:
  int& calls_;
  OperatorContext* context_ = nullptr;
  std::uint64_t next_ = 0;
  std::int64_t at_ = 0;
};

TEST_P(QuietSource, OneWithATimerIsLeftAloneUntilThen) {
  int calls = 0;
  start(std::make_unique<Punctual>(calls));
  ASSERT_TRUE(until([&] { return finished(); }));
  EXPECT_EQ(seen_.size(), 5u);
  EXPECT_LT(calls, 40);
}

}  // namespace
}  // namespace hummer::quiet_source_test
