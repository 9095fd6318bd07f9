#include <hummer/detail/operators/two_phase_sink_function_operator.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_bench.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::two_phase_sink_function_test {
namespace {

using Numbers = std::vector<int>;

// Transactions by handle, and what has become visible.
struct Ledger {
  std::map<std::string, Numbers> prepared;
  Numbers visible;
  int transactions = 0;

  // All that was prepared, in order, as it will be when it is committed.
  std::vector<std::string> all() const {
    std::vector<std::string> lines;
    const auto add = [&](const Numbers& numbers) {
      for (const int number : numbers) lines.push_back(std::to_string(number));
    };
    add(visible);
    for (const auto& [handle, numbers] : prepared) add(numbers);
    return lines;
  }
};

// What it has taken is lost with it until it is prepared.
class LedgerSink final : public TwoPhaseSinkFunction<int> {
 public:
  explicit LedgerSink(Ledger& ledger) : ledger_(ledger) {}
  // Answers `blocked` on every other call.
  void stubborn() { stubborn_ = true; }
  Status abort_all_but(const std::vector<std::string>& handles) override {
    std::erase_if(ledger_.prepared, [&](const auto& each) {
      return std::find(handles.begin(), handles.end(), each.first) == handles.end();
    });
    return {};
  }
  OperatorResult write(std::span<const int> records) override {
    if (blocks()) return OperatorResult::blocked;
    open_.insert(open_.end(), records.begin(), records.end());
    return OperatorResult::done;
  }
  OperatorResult flush() override {
    return blocks() ? OperatorResult::blocked : OperatorResult::done;
  }
  Result<std::string> prepare(std::uint64_t) override {
    if (open_.empty()) return std::string();
    const std::string handle(1, static_cast<char>('a' + ledger_.transactions++));
    ledger_.prepared[handle] = std::exchange(open_, {});
    return handle;
  }
  Status commit(const std::string& handle) override {
    const auto found = ledger_.prepared.find(handle);
    if (found == ledger_.prepared.end()) return {};  // has happened already
    ledger_.visible.insert(ledger_.visible.end(), found->second.begin(), found->second.end());
    ledger_.prepared.erase(found);
    return {};
  }

 private:
  bool blocks() { return stubborn_ && ++calls_ % 2 == 1; }

  Ledger& ledger_;
  Numbers open_;
  bool stubborn_ = false;
  int calls_ = 0;
};

auto factory(Ledger& ledger, bool commits_at_end = false) {
  return make_operator_factory([&ledger, commits_at_end] {
    return std::make_unique<TwoPhaseSinkFunctionOperator<int>>(std::make_unique<LedgerSink>(ledger),
                                                               commits_at_end);
  });
}

TEST(TwoPhaseSinkFunctionOperator, EveryRecordIsPreparedOnceUnderAnySchedule) {
  Ledger ledger;
  OperatorHarness<int> harness(make_operator_factory([&ledger] {
    auto sink = std::make_unique<LedgerSink>(ledger);
    sink->stubborn();
    return std::make_unique<TwoPhaseSinkFunctionOperator<int>>(std::move(sink));
  }));
  harness.options().state_only_by_flush = true;
  harness.record(1).record(2).watermark(5).record(3).idle().inactive().record(4);
  harness.effects([&] { ledger = {}; }, [&] { return ledger.all(); }, {"1", "2", "3", "4"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(TwoPhaseSinkFunctionOperator, RecordsBecomeVisibleWithTheirCheckpoint) {
  Ledger ledger;
  const auto sinks = factory(ledger);
  OperatorBench<int> bench(sinks);
  bench.record(1);
  const std::string first = bench.snapshot();
  bench.record(2);
  (void)bench.snapshot();
  EXPECT_TRUE(ledger.visible.empty());
  bench.commit(1);
  EXPECT_EQ(ledger.visible, Numbers{1});
  EXPECT_EQ(ledger.prepared.size(), 1u);

  // The second checkpoint never was complete.
  OperatorBench<int> again(sinks);
  ASSERT_TRUE(again.restore(first).ok());
  again.record(2);
  EXPECT_TRUE(ledger.prepared.empty());
  again.commit(1);
  EXPECT_EQ(ledger.visible, Numbers{1});
  again.end();
  again.commit(2);
  EXPECT_EQ(ledger.visible, (Numbers{1, 2}));
  EXPECT_TRUE(again.status().ok());
}

TEST(TwoPhaseSinkFunctionOperator, WithoutCheckpointsTheEndCommits) {
  Ledger ledger;
  OperatorBench<int> bench(factory(ledger, true));
  bench.record(1);
  EXPECT_TRUE(ledger.visible.empty());
  bench.end();
  EXPECT_EQ(ledger.visible, Numbers{1});
}

}  // namespace
}  // namespace hummer::two_phase_sink_function_test
