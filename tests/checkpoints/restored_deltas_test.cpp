// An operator of one's own, without keys, that writes deltas: each goes with the piece that it
// builds on, at the same parallelism and at another one.
#include <gtest/gtest.h>

#include <numeric>

#include <hummer/hummer.hpp>

#include "checkpoints/failing_jobs.hpp"
#include "platform/simulation.hpp"
#include "state/checkpoint_store.hpp"

namespace hummer::restored_deltas_test {
namespace {

using Index = std::uint64_t;
constexpr Index record_count = 3'000;

// How many records came, said at the end. A delta says the newest number, in place of the one
// before.
class Counter final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<Index>()); }
  OperatorResult process(Batch& in, Output&) override {
    own_ += in.size() - in.position();
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult end(Output& out) override {
    out.collector<Index>()(std::exchange(own_, 0));
    return OperatorResult::done;
  }
  std::vector<StateDescription> states() override { return {{"count", "u64"}}; }
  Status snapshot(ByteWriter& out) override {
    const bool delta = context().may_write_delta();
    if (delta) context().wrote_delta();
    out.put_value(static_cast<std::uint8_t>(delta));
    out.put_value(own_);
    if (!delta) out.put_text(std::string(1'000, ' '));  // deltas are small beside it
    return {};
  }
  Status restore(ByteReader& in) override {
    std::uint8_t delta = 0;
    Index count = 0;
    std::string_view rest;
    if (!in.get_value(delta) || !in.get_value(count) || (delta == 0 && !in.get_text(rest)) ||
        (delta != 0 && restored_.empty())) {
      return {ErrorCode::corrupt_record, "a delta without what it builds on"};
    }
    if (delta == 0) restored_.emplace_back();
    restored_.back() = count;
    return {};
  }
  Status open() override {
    own_ = std::accumulate(restored_.begin(), restored_.end(), Index{0});
    return {};
  }

 private:
  Index own_ = 0;
  std::vector<Index> restored_;
};

JobResult run(EnvironmentOptions options, PlannedFailures& failures) {
  StreamExecutionEnvironment env(std::move(options));
  env.generate([](Index i) { return i; }, {.count = record_count, .records_per_second = 10'000})
      .map([&failures](Index i) {
        failures.maybe_throw();
        return i;
      })
      .transform<Index>("counter",
                        make_operator_factory([] { return std::make_unique<Counter>(); }))
      .write_file("/out");
  return env.execute("counters");
}

TEST(RestoredDeltas, GoWithTheirPieceWhereAnOperatorHasNoKeys) {
  for (const int next : {1, 2, 3, 4}) {
    SCOPED_TRACE("3 to " + std::to_string(next));
    const auto node = make_simulated_platform({.seed = 1});
    EnvironmentOptions first;
    first.platform = node.get();
    first.parallelism = 3;
    first.checkpoints.directory = "/checkpoints";
    first.checkpoints.interval_ms = 20;
    first.restart = RestartStrategy::no_restart();
    PlannedFailures failures;
    failures.left = 1;
    failures.every = 2'000;
    ASSERT_EQ(run(first, failures).status.code(), ErrorCode::user_function_failed);
    std::vector<SkippedCheckpoint> skipped;
    const auto newest = CheckpointStore(node->files(), "/checkpoints").newest(skipped);
    ASSERT_TRUE(newest.ok()) << newest.status().to_string();
    ASSERT_TRUE(std::any_of(newest->files.begin(), newest->files.end(),
                            [](const CheckpointFile& file) { return file.builds_on != 0; }));

    EnvironmentOptions second = first;
    second.parallelism = next;
    second.checkpoints.restore = "latest";
    const JobResult result = run(second, failures);
    ASSERT_TRUE(result.ok()) << result.status.to_string();
    Index sum = 0;
    for (const std::string& line : visible_lines(node->files(), "/out")) sum += std::stoull(line);
    EXPECT_EQ(sum, record_count);
  }
}

}  // namespace
}  // namespace hummer::restored_deltas_test
