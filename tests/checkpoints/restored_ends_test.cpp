// A subtask of a source whose stream had ended, beside others that go on, and then a restart at
// another parallelism, where its successor has splits of theirs.
#include <gtest/gtest.h>

#include <map>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer::restored_ends_test {
namespace {

using Index = std::uint64_t;

// Splits 1 and 4 end at once, the others go on: one subtask of three has ended long before.
class ShortAndLong final : public SourceFunction<Index> {
 public:
  static constexpr SplitId splits = 6;
  static constexpr Index length = 200;
  bool has_splits() const override { return true; }
  Status open(OperatorContext& context) override {
    context_ = &context;
    for (SplitId id = 0; id < splits; ++id) {
      if (context.splits()->begin(id)) open_.push_back(id);
    }
    return {};
  }
  OperatorResult produce(SourceOutput<Index>& out) override {
    if (open_.empty()) return OperatorResult::done;
    if (context_->now() < next_at_) return OperatorResult::blocked;
    next_at_ = context_->now() + 1'000'000;
    context_->call_at(next_at_);
    const SplitId id = open_.front();
    if (!out.split(id)) return OperatorResult::more;
    const bool is_short = id % 3 == 1;
    out.emit(id * length + positions_[id]++);
    std::rotate(open_.begin(), open_.begin() + 1, open_.end());
    if (positions_[id] == (is_short ? 10 : length)) {
      out.finish_split(id);
      open_.pop_back();
    }
    return OperatorResult::blocked;
  }
  Status snapshot_split(SplitId id, ByteWriter& out) override {
    out.put_value(positions_[id]);
    return {};
  }
  Status restore_split(SplitId id, ByteReader& in) override {
    return in.get_value(positions_[id]) ? Status() : Status(ErrorCode::corrupt_record, "cut short");
  }

 private:
  OperatorContext* context_ = nullptr;
  std::int64_t next_at_ = 0;
  std::vector<SplitId> open_;
  std::map<SplitId, Index> positions_;
};

struct SaysThatItEnds {
  using Output = std::string;
  void process(const Index& i, ProcessOutput<std::string>& out) { out.emit(std::to_string(i)); }
  void end(ProcessOutput<std::string>& out) { out.emit("end"); }
};

// A file has the last lines only when the end of its sink is called. At the same parallelism none
// is called twice; at another one each subtask's is.
TEST(RestoredEnds, ASubtaskThatHadEndedEndsAgainWhereItHasAnothersInput) {
  PlannedFailures planned;
  const auto run_at = [&planned](SimulatedPlatform& node, int parallelism, bool resumed) {
    EnvironmentOptions options;
    options.platform = &node;
    options.parallelism = parallelism;
    options.checkpoints.directory = "/checkpoints";
    options.checkpoints.interval_ms = 20;
    options.restart = RestartStrategy::no_restart();
    if (resumed) options.checkpoints.restore = "latest";
    StreamExecutionEnvironment env(options);
    env.from_source<Index>(
           "short and long", [] { return std::make_unique<ShortAndLong>(); }, true)
        .map([&planned](Index i) {
          planned.maybe_throw();
          return i;
        })
        .process(SaysThatItEnds{})
        .write_file("/out");
    return env.execute("ends");
  };
  std::vector<std::string> expected;
  for (SplitId id = 0; id < ShortAndLong::splits; ++id) {
    for (Index i = 0; i < (id % 3 == 1 ? 10 : ShortAndLong::length); ++i) {
      expected.push_back(std::to_string(id * ShortAndLong::length + i));
    }
  }
  std::sort(expected.begin(), expected.end());
  for (const int next : {1, 2, 3, 4}) {
    SCOPED_TRACE("3 to " + std::to_string(next));
    const auto node = make_simulated_platform({.seed = 1});
    planned.left = 1;
    planned.seen = 0;
    planned.every = 500;
    ASSERT_EQ(run_at(*node, 3, false).status.code(), ErrorCode::user_function_failed);
    ASSERT_FALSE(CheckpointStore(node->files(), "/checkpoints").ids()->empty());
    const JobResult result = run_at(*node, next, true);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    std::vector<std::string> lines = visible_lines(node->files(), "/out");
    EXPECT_EQ(std::erase(lines, "end"), next == 3 ? 3u : 1u + static_cast<unsigned>(next));
    EXPECT_EQ(lines, expected);
  }
}

}  // namespace
}  // namespace hummer::restored_ends_test
