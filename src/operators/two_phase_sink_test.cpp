#include <hummer/detail/operators/two_phase_sink.hpp>

#include <gtest/gtest.h>

#include <map>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/testing/operator_harness.hpp>

namespace hummer::two_phase_sink_test {
namespace {

using Lines = std::vector<std::string>;

// What lies in a store: transactions by handle, and what has become visible.
struct Store {
  Lines open;
  std::map<std::string, Lines> prepared;
  Lines visible;
  Lines aborted_all_but;

  // Everything that was written, in order, wherever it is.
  Lines all() const {
    Lines lines = visible;
    for (const auto& [handle, some] : prepared) lines.insert(lines.end(), some.begin(), some.end());
    lines.insert(lines.end(), open.begin(), open.end());
    return lines;
  }
};

// Answers `blocked` on every other call.
class StoreWriter final : public TwoPhaseWriter {
 public:
  explicit StoreWriter(Store& store) : store_(store) {}
  Status open(OperatorContext&) override { return {}; }
  Status abort_all_but(const std::vector<std::string>& handles) override {
    store_.aborted_all_but = handles;
    return {};
  }
  OperatorResult write(std::string_view text) override {
    if (++calls_ % 2 == 1) return OperatorResult::blocked;
    while (!text.empty()) {
      const std::size_t end = text.find('\n');
      store_.open.emplace_back(text.substr(0, end));
      text.remove_prefix(end + 1);
    }
    return OperatorResult::done;
  }
  Result<std::string> prepare(std::uint64_t) override {
    if (store_.open.empty()) return std::string();
    char handle[16];
    std::snprintf(handle, sizeof handle, "%06zu", store_.prepared.size() + store_.visible.size());
    store_.prepared[handle] = std::exchange(store_.open, {});
    return std::string(handle);
  }
  Status commit(const std::string& handle) override {
    const auto found = store_.prepared.find(handle);
    if (found == store_.prepared.end()) return {};  // has happened already
    store_.visible.insert(store_.visible.end(), found->second.begin(), found->second.end());
    store_.prepared.erase(found);
    return {};
  }
  void close() override {}

 private:
  Store& store_;
  int calls_ = 0;
};

template <typename T>
auto sink_factory(Store& store) {
  return make_operator_factory([&store] {
    return std::make_unique<TwoPhaseSinkOperator>(std::make_unique<StoreWriter>(store),
                                                  append_lines<T>);
  });
}

TEST(TwoPhaseSinkOperator, WritesEveryLineOnceUnderAnySchedule) {
  Store store;
  OperatorHarness<int> harness(sink_factory<int>(store));
  harness.options().state_only_by_flush = true;
  harness.record(1).record(2).watermark(5).record(3).idle().record(4);
  harness.effects([&] { store = {}; }, [&] { return store.all(); }, {"1", "2", "3", "4"});
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

// The operator by itself: two epochs, then a restart in another process.
class TwoPhaseSink : public testing::Test {
 protected:
  using Sink = TwoPhaseSinkOperator;

  std::unique_ptr<Sink> make() {
    auto sink = std::make_unique<Sink>(std::make_unique<StoreWriter>(store_), append_lines<int>);
    sink->set_context(context_);
    return sink;
  }
  void write(Sink& sink, std::vector<int> numbers) {
    Batch batch(type_of<int>(), 16);
    std::copy(numbers.begin(), numbers.end(), batch.mutable_values<int>());
    batch.set_size(numbers.size());
    while (sink.process(batch, out_) != OperatorResult::done) {
    }
  }
  std::string barrier(Sink& sink, std::uint64_t epoch) {
    context_.set_epoch(epoch);
    while (sink.flush(out_) != OperatorResult::done) {
    }
    return snapshot(sink);
  }
  std::string snapshot(Sink& sink) {
    std::string bytes;
    ByteWriter writer(bytes);
    EXPECT_TRUE(sink.snapshot(writer).ok());
    return std::string(writer.view());
  }

  Store store_;
  FakeOperatorContext context_;
  Output out_;
};

TEST_F(TwoPhaseSink, CommitsWhatBelongsToTheEpochAndNothingElse) {
  auto sink = make();
  ASSERT_TRUE(sink->open().ok());
  write(*sink, {1, 2});
  barrier(*sink, 1);
  write(*sink, {3});
  barrier(*sink, 2);
  write(*sink, {4});
  EXPECT_TRUE(store_.visible.empty());
  ASSERT_TRUE(sink->commit(1).ok());
  EXPECT_EQ(store_.visible, (Lines{"1", "2"}));
  ASSERT_TRUE(sink->commit(1).ok());
  ASSERT_TRUE(sink->commit(2).ok());
  EXPECT_EQ(store_.visible, (Lines{"1", "2", "3"}));
  while (sink->end(out_) != OperatorResult::done) {
  }
  ASSERT_TRUE(sink->commit(3).ok());
  EXPECT_EQ(store_.visible, (Lines{"1", "2", "3", "4"}));
}

TEST_F(TwoPhaseSink, ARestartCommitsWhatItsCheckpointHoldsAndForgetsTheRest) {
  auto sink = make();
  ASSERT_TRUE(sink->open().ok());
  write(*sink, {1});
  const std::string state = barrier(*sink, 1);
  write(*sink, {2});
  barrier(*sink, 2);  // this checkpoint never completed
  sink.reset();
  auto again = make();
  ByteReader in(state);
  ASSERT_TRUE(again->restore(in).ok());
  ASSERT_TRUE(again->open().ok());
  EXPECT_EQ(store_.aborted_all_but, Lines{"000000"});
  ASSERT_TRUE(again->commit(1).ok());
  EXPECT_EQ(store_.visible, Lines{"1"});
}

// The file sink names what it makes visible by its epoch: two of one would be one file.
TEST_F(TwoPhaseSink, AnInputThatBecomesInactiveIsNoBarrier) {
  const auto become_inactive = [this](Sink& sink) {
    while (sink.flush(out_) != OperatorResult::done) {
    }
  };
  auto sink = make();
  ASSERT_TRUE(sink->open().ok());
  write(*sink, {1});
  become_inactive(*sink);
  EXPECT_TRUE(store_.prepared.empty());
  barrier(*sink, 1);
  ASSERT_TRUE(sink->commit(1).ok());
  write(*sink, {2});
  become_inactive(*sink);
  write(*sink, {3});
  become_inactive(*sink);
  ASSERT_TRUE(sink->commit(1).ok());
  EXPECT_EQ(store_.visible, Lines{"1"});
  barrier(*sink, 2);
  EXPECT_EQ(store_.prepared.size(), 1u);
  ASSERT_TRUE(sink->commit(2).ok());
  EXPECT_EQ(store_.visible, (Lines{"1", "2", "3"}));
}

// The same of what comes behind the end.
TEST_F(TwoPhaseSink, TheEndAfterARestartIsOfAnEpochOfItsOwn) {
  auto sink = make();
  context_.set_epoch(5);  // restored; nothing was prepared at its barrier
  ASSERT_TRUE(sink->open().ok());
  write(*sink, {1});
  while (sink->end(out_) != OperatorResult::done) {
  }
  ASSERT_TRUE(sink->commit(5).ok());
  EXPECT_TRUE(store_.visible.empty());
  ASSERT_TRUE(sink->commit(6).ok());
  EXPECT_EQ(store_.visible, Lines{"1"});
}

TEST_F(TwoPhaseSink, RefusesWhatIsNoState) {
  auto sink = make();
  ByteReader in("nonsense");
  EXPECT_EQ(sink->restore(in).code(), ErrorCode::corrupt_record);
}

}  // namespace
}  // namespace hummer::two_phase_sink_test
