// Splits of a source: who reads which, watermarks of several together, alignment, restore at
// another parallelism.
#include <hummer/source_splits.hpp>

#include <map>
#include <random>

#include <hummer/detail/operators/assign_timestamps.hpp>
#include <hummer/detail/operators/generator_source.hpp>
#include <hummer/detail/operators/source_function_operator.hpp>

#include "operators/window_test_parts.hpp"
#include "support/expect_ok.hpp"

namespace hummer::source_splits_test {
namespace {

using Kind = Control::Kind;

constexpr std::int64_t idle_ms = 50;
constexpr std::int64_t out_of_order_ms = 10;
constexpr auto time_of = [](const Sale& sale) { return sale.amount; };

// assign_timestamps behind a source with splits, which the test plays.
class AssignedSplits {
 public:
  using Settings = WatermarkSettings<BoundedWatermarks>;
  using Assign =
      AssignTimestampsOperator<Sale, std::remove_const_t<decltype(time_of)>, BoundedWatermarks>;

  explicit AssignedSplits(const Settings& settings, int subtask = 0, int parallelism = 1,
                          const std::vector<std::string>& pieces = {},
                          const std::vector<SplitId>& restored = {})
      : context_({.subtask = subtask, .parallelism = parallelism}),
        assign_(time_of, settings.every(1)) {
    splits_ = &context_.begin_splits();
    assign_.set_context(context_);
    assign_.declare(out_);
    EXPECT_TRUE(assign_.takes_all_pieces());
    for (const std::string& piece : pieces) {
      ByteReader in(piece);
      EXPECT_TRUE(assign_.restore(in).ok());
      EXPECT_EQ(in.left(), 0u);
    }
    for (const SplitId id : restored) splits_->begin(id);
    EXPECT_TRUE(assign_.open().ok());
  }

  SourceSplits& splits() { return *splits_; }
  // The control behind a batch of this split with these times.
  Control behind(SplitId id, const std::vector<Timestamp>& times) {
    splits_->activate(splits_->number(id));
    return process(splits_->number(id), times);
  }
  Control behind_none(const std::vector<Timestamp>& times) { return process(no_split, times); }
  // What follows when the source has nothing more at hand.
  Control idle() {
    EXPECT_EQ(assign_.idle(out_), OperatorResult::done);
    return out_.take_control();
  }
  Control after(std::int64_t milliseconds) {
    context_.advance(milliseconds * 1'000'000);
    if (context_.take_due_timer()) {
      EXPECT_EQ(assign_.timer(context_.now(), out_), OperatorResult::done);
    }
    return out_.take_control();
  }
  bool is_paused(SplitId id) {
    splits_->apply_changes();
    return splits_->paused(id);
  }
  std::int64_t now_ms() const { return context_.now() / 1'000'000; }
  std::string snapshot() {
    std::string bytes;
    ByteWriter out(bytes);
    EXPECT_TRUE(assign_.snapshot(out).ok());
    return std::string(out.view());
  }
  Status close() { return assign_.close(); }

 private:
  Control process(SplitNumber number, const std::vector<Timestamp>& times) {
    Batch in(type_of<Sale>(), static_cast<std::uint32_t>(times.size()));
    for (std::size_t i = 0; i < times.size(); ++i) in.mutable_values<Sale>()[i] = {0, times[i]};
    in.set_size(times.size());
    in.set_split(number);
    std::vector<Timestamp> stamped;
    Control latest;
    for (OperatorResult answer = OperatorResult::more; answer == OperatorResult::more;) {
      answer = assign_.process(in, out_);
      EXPECT_NE(answer, OperatorResult::blocked);
      const auto& given = out_.batch().timestamps();
      stamped.insert(stamped.end(), given.begin(), given.end());
      out_.batch().clear();
      if (const Control control = out_.take_control()) latest = control;
    }
    EXPECT_EQ(stamped, times);
    return latest;
  }

  FakeOperatorContext context_;
  SourceSplits* splits_ = nullptr;
  Assign assign_;
  Output out_;
};

// What the watermark must be, looked at anew after each step.
class Model {
 public:
  void begin(SplitId id, std::int64_t now_ms) { splits_[id] = {.last_ms = now_ms}; }
  void records(SplitId id, const std::vector<Timestamp>& times, std::int64_t now_ms) {
    Split& split = splits_[id];
    for (const Timestamp time : times) split.latest = std::max(split.latest, time);
    split.last_ms = now_ms;
    split.timed_out = split.idle = false;
  }
  void set_idle(SplitId id) { splits_[id].idle = true; }
  void finish(SplitId id) { splits_.erase(id); }
  void look_at(std::int64_t now_ms) {
    for (auto& [id, split] : splits_) split.timed_out |= now_ms - split.last_ms >= idle_ms;
  }
  Control control() {
    std::optional<Timestamp> lowest;
    for (const auto& [id, split] : splits_) {
      if (split.idle || split.timed_out) continue;
      const Timestamp own =
          split.latest == no_timestamp ? no_timestamp : split.latest - out_of_order_ms;
      lowest = lowest ? std::min(*lowest, own) : own;
    }
    const bool was_inactive = std::exchange(inactive_, !lowest);
    if (!lowest) return was_inactive ? Control{} : Control::inactive();
    if (*lowest <= said_) return was_inactive ? Control::active() : Control{};
    said_ = *lowest;
    return Control::watermark(said_);
  }

 private:
  struct Split {
    Timestamp latest = no_timestamp;
    std::int64_t last_ms = 0;
    bool idle = false;
    bool timed_out = false;
  };
  std::map<SplitId, Split> splits_;
  Timestamp said_ = no_timestamp;
  bool inactive_ = false;
};

TEST(SourceSplits, TheWatermarkIsTheLeastOfThoseThatCountAndNeverFallsBack) {
  for (std::uint32_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    const auto below = [&](std::uint32_t n) { return random() % n; };
    AssignedSplits assigned(
        WatermarkStrategy::bounded(out_of_order_ms).with_idleness(seed % 3 == 0 ? 0 : idle_ms));
    Model model;
    std::map<SplitId, Timestamp> open;
    SplitId next = 0;
    for (int step = 0; step < 120; ++step) {
      SCOPED_TRACE(step);
      Control control;
      const std::uint32_t what = open.empty() ? 0 : below(20);
      auto split = open.begin();
      if (!open.empty()) std::advance(split, below(static_cast<std::uint32_t>(open.size())));
      if (what == 0) {
        const SplitId id = next++;
        EXPECT_TRUE(assigned.splits().begin(id));
        open[id] = below(2000);
        model.begin(id, assigned.now_ms());
        control = assigned.idle();
      } else if (what == 1) {
        assigned.splits().finish(split->first);
        EXPECT_FALSE(assigned.splits().begin(split->first));
        model.finish(split->first);
        open.erase(split);
        control = assigned.idle();
      } else if (what == 2) {
        assigned.splits().set_idle(split->first);
        model.set_idle(split->first);
        control = assigned.idle();
      } else if (what < 7) {
        control = assigned.after(below(40));
        if (seed % 3 != 0) model.look_at(assigned.now_ms());
      } else {
        std::vector<Timestamp> times;
        for (std::uint32_t i = 0; i <= below(4); ++i) {
          split->second += below(20);
          times.push_back(split->second - below(out_of_order_ms + 1));
        }
        model.records(split->first, times, assigned.now_ms());
        control = assigned.behind(split->first, times);
      }
      const Control expected = model.control();
      ASSERT_EQ(control.kind, expected.kind);
      if (control.kind == Kind::watermark) {
        ASSERT_EQ(control.time, expected.time);
      }
    }
  }
}

TEST(SourceSplits, WhatIsSaidOfOneTakesEffectBehindItsRecords) {
  AssignedSplits assigned(WatermarkStrategy::ascending());
  ASSERT_TRUE(assigned.splits().begin(0));
  ASSERT_TRUE(assigned.splits().begin(1));
  EXPECT_EQ(assigned.behind(1, {100}).kind, Kind::none) << "nothing is known of the other";
  EXPECT_EQ(assigned.behind(0, {10}).time, 10);
  assigned.splits().finish(0);
  EXPECT_TRUE(assigned.splits().is_finished(0));
  EXPECT_EQ(assigned.behind(0, {11}).time, 11) << "a batch of it was still on its way";
  EXPECT_EQ(assigned.idle().time, 100);
  EXPECT_EQ(assigned.idle().kind, Kind::none);
}

TEST(SourceSplits, RecordsOfNoSplitMoveNoWatermark) {
  AssignedSplits assigned(WatermarkStrategy::ascending());
  ASSERT_TRUE(assigned.splits().begin(0));
  EXPECT_EQ(assigned.behind_none({500}).kind, Kind::none);
  EXPECT_EQ(assigned.behind(0, {20}).time, 20);
}

TEST(SourceSplits, ASubtaskWithoutAnyHoldsNobodyBack) {
  AssignedSplits assigned(WatermarkStrategy::ascending());
  EXPECT_EQ(assigned.idle().kind, Kind::inactive);
  ASSERT_TRUE(assigned.splits().begin(0));
  EXPECT_EQ(assigned.behind(0, {20}).time, 20);
}

TEST(SourceSplits, OneThatIsTooFarAheadOfItsAlignmentIsPaused) {
  const WatermarkAlignment group;
  const auto settings = WatermarkStrategy::ascending().aligned(group, 100);
  AssignedSplits first(settings);
  std::optional<AssignedSplits> second(settings);
  ASSERT_TRUE(first.splits().begin(0));
  ASSERT_TRUE(first.splits().begin(1));
  ASSERT_TRUE(second->splits().begin(0));
  EXPECT_FALSE(first.is_paused(0)) << "it has given nothing";
  (void)first.behind(0, {1000});
  EXPECT_TRUE(first.is_paused(0)) << "nothing is known of the others";
  EXPECT_FALSE(first.is_paused(1));
  (void)first.behind(1, {950});
  (void)second->behind(0, {700});
  EXPECT_TRUE(first.is_paused(0));
  EXPECT_TRUE(first.is_paused(1)) << "both are ahead of the one in the other subtask";
  EXPECT_FALSE(second->is_paused(0));
  (void)second->behind(0, {850});
  EXPECT_TRUE(first.is_paused(0));
  EXPECT_FALSE(first.is_paused(1));
  second->splits().set_idle(0);
  (void)second->idle();
  EXPECT_FALSE(first.is_paused(0)) << "the other is idle, and the slower one near enough";
  (void)second->behind(0, {851});
  EXPECT_TRUE(first.is_paused(0)) << "and comes back";
  EXPECT_TRUE(second->close().ok());
  EXPECT_FALSE(first.is_paused(0)) << "it has ended";
  (void)first.behind(0, {5000});
  EXPECT_TRUE(first.is_paused(0));
  first.splits().finish(1);
  (void)first.idle();
  EXPECT_FALSE(first.is_paused(0)) << "nobody is left to wait for";
}

// The time for which a split had to wait for others is none for which it had nothing.
TEST(SourceSplits, OneThatIsPausedIsNotIdle) {
  const WatermarkAlignment group;
  AssignedSplits assigned(
      WatermarkStrategy::ascending().aligned(group, 100).with_idleness(idle_ms));
  ASSERT_TRUE(assigned.splits().begin(0));
  ASSERT_TRUE(assigned.splits().begin(1));
  (void)assigned.behind(0, {1000});
  EXPECT_EQ(assigned.behind(1, {500}).time, 500);
  for (Timestamp time = 501; time < 510; ++time) {
    ASSERT_TRUE(assigned.is_paused(0));
    EXPECT_EQ(assigned.after(idle_ms / 2 + 1).kind, Kind::none);
    EXPECT_EQ(assigned.behind(1, {time}).time, time);
  }
  EXPECT_EQ(assigned.behind(1, {5000}).time, 1000) << "split 0 counts";
  ASSERT_FALSE(assigned.is_paused(0));
  EXPECT_EQ(assigned.after(idle_ms - 1).kind, Kind::none) << "from here on it may be idle";
  EXPECT_EQ(assigned.behind(0, {1001}).time, 1001) << "it is not late";
  EXPECT_EQ(assigned.after(idle_ms).time, 5000) << "split 1 has waited for it";
}

TEST(SourceSplits, WatermarksAreRestoredWhereTheSplitsAreNow) {
  const auto settings = WatermarkStrategy::bounded(10);
  AssignedSplits first(settings, 0, 2);
  AssignedSplits second(settings, 1, 2);
  for (const SplitId id : {0, 2}) ASSERT_TRUE(first.splits().begin(id));
  ASSERT_TRUE(second.splits().begin(1));
  (void)first.behind(0, {500});
  (void)first.behind(2, {300});
  (void)second.behind(1, {100});
  const std::vector<std::string> pieces{first.snapshot(), second.snapshot()};

  AssignedSplits one(settings, 0, 1, pieces, {0, 1, 2});
  EXPECT_EQ(one.behind(1, {99}).kind, Kind::none) << "it is not earlier than it was";
  EXPECT_EQ(one.behind(1, {200}).time, 190);
  EXPECT_EQ(one.behind(1, {900}).time, 290) << "that of split 2, which gave nothing since";

  AssignedSplits third(settings, 2, 3, pieces, {2});
  EXPECT_EQ(third.idle().time, 290);
}

// Splits of different lengths, the record of each is its number and its place; `most` of a call.
struct Place {
  std::uint64_t split;
  std::uint64_t index;
  friend auto operator<=>(const Place&, const Place&) = default;
};
class Places final : public SourceFunction<Place> {
 public:
  static constexpr SplitId splits = 5;
  static std::uint64_t length(SplitId id) { return 3 + id % 3; }

  bool has_splits() const override { return true; }
  Status open(OperatorContext& context) override {
    for (SplitId id = 0; id < splits; ++id) {
      if (context.splits()->begin(id)) positions_.try_emplace(id, 0);
    }
    return {};
  }
  OperatorResult produce(SourceOutput<Place>& out) override {
    for (auto at = positions_.begin(); at != positions_.end();) {
      auto& [id, next] = *at;
      if (out.split(id)) {
        for (; next < length(id) && !out.full(); ++next) out.emit(Place{id, next});
      }
      if (next < length(id)) return OperatorResult::more;
      out.finish_split(id);
      at = positions_.erase(at);
    }
    return OperatorResult::done;
  }
  Status snapshot_split(SplitId id, ByteWriter& out) override {
    out.put_value(positions_.at(id));
    return {};
  }
  Status restore_split(SplitId id, ByteReader& in) override {
    return in.get_value(positions_[id]) ? Status() : Status(ErrorCode::corrupt_record, "cut short");
  }

 private:
  std::map<SplitId, std::uint64_t> positions_;
};
const auto places = make_operator_factory(
    [] { return std::make_unique<SourceFunctionOperator<Place>>(std::make_unique<Places>()); });

std::vector<Place> all_places(int subtask, int parallelism) {
  std::vector<Place> all;
  for (SplitId id = 0; id < Places::splits; ++id) {
    if (static_cast<int>(id) % parallelism != subtask) continue;
    for (std::uint64_t i = 0; i < Places::length(id); ++i) all.push_back({id, i});
  }
  return all;
}

TEST(SourceFunctionOperator, ReadsItsSplitsUnderEverySchedule) {
  for (const int parallelism : {1, 2, 7}) {
    for (int subtask = 0; subtask < parallelism; ++subtask) {
      SourceHarness harness(places);
      harness.options().place.subtask = subtask;
      harness.options().place.parallelism = parallelism;
      harness.output<Place>().records(all_places(subtask, parallelism));
      expect_ok(harness.run());
    }
  }
}

TEST(GeneratorSource, ItsSplitsAreReadInTurn) {
  constexpr auto itself = [](std::uint64_t index) { return static_cast<long>(index); };
  SourceHarness harness(make_operator_factory([=] {
    return std::make_unique<GeneratorSource<long, std::remove_const_t<decltype(itself)>>>(
        itself, GeneratorOptions{.count = 11, .splits = 4});
  }));
  harness.options().place.parallelism = 3;
  harness.output<long>().records({0, 3, 4, 7, 8}).unordered();
  expect_ok(harness.run());
}

// One subtask of a source with splits, by itself.
class SourceSubtask {
 public:
  SourceSubtask(const OperatorFactory& factory, int subtask, int parallelism,
                const std::vector<std::string>& pieces = {})
      : context_({.subtask = subtask, .parallelism = parallelism}), source_(factory.make()) {
    context_.begin_splits();
    source_->set_context(context_);
    source_->declare(out_);
    EXPECT_TRUE(source_->takes_all_pieces());
    for (const std::string& piece : pieces) {
      ByteReader in(piece);
      EXPECT_TRUE(source_->restore(in).ok());
    }
    EXPECT_TRUE(source_->open().ok());
  }
  // False: it has ended. Each batch is of one split, which its records are of.
  template <typename T, typename SplitOf>
  bool produce(std::vector<T>& seen, SplitOf split_of) {
    context_.splits()->apply_changes();
    const OperatorResult answer = static_cast<SourceOperator&>(*source_).produce(out_);
    for (const T& record : out_.batch().template values<T>()) {
      EXPECT_EQ(context_.splits()->id(out_.batch().split()), split_of(record));
      seen.push_back(record);
    }
    out_.batch().clear();
    EXPECT_NE(answer, OperatorResult::failed) << context_.failure().to_string();
    return answer == OperatorResult::more;
  }
  std::string snapshot() {
    std::string bytes;
    ByteWriter out(bytes);
    EXPECT_TRUE(source_->snapshot(out).ok());
    return std::string(out.view());
  }

 private:
  FakeOperatorContext context_;
  Output out_{2};
  std::unique_ptr<Operator> source_;
};

// Some calls at one parallelism, the rest at another: nothing is lost, nothing comes twice, and
// each split keeps its order.
template <typename T, typename SplitOf>
void expect_all_at_every_parallelism(const OperatorFactory& factory, const std::vector<T>& all,
                                     SplitOf split_of) {
  for (const int before : {1, 2, 3, 7}) {
    for (const int after : {1, 2, 4, 9}) {
      for (int calls = 0; calls < 8; ++calls) {
        SCOPED_TRACE(testing::Message() << before << " to " << after << " after " << calls);
        std::vector<T> seen;
        std::vector<std::string> pieces;
        for (int subtask = 0; subtask < before; ++subtask) {
          SourceSubtask source(factory, subtask, before);
          for (int i = 0; i < calls && source.produce(seen, split_of); ++i) continue;
          pieces.push_back(source.snapshot());
        }
        for (int subtask = 0; subtask < after; ++subtask) {
          SourceSubtask source(factory, subtask, after, pieces);
          while (source.produce(seen, split_of)) continue;
        }
        std::map<SplitId, T> last;
        for (const T& record : seen) {
          const auto [at, is_first] = last.try_emplace(split_of(record), record);
          if (is_first) continue;
          EXPECT_LT(at->second, record);
          at->second = record;
        }
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(seen, all);
      }
    }
  }
}

TEST(SourceFunctionOperator, SplitsAreDealtAnewAtAnotherParallelism) {
  expect_all_at_every_parallelism(*places, all_places(0, 1),
                                  [](const Place& place) { return place.split; });
}

TEST(GeneratorSource, SplitsAreDealtAnewAtAnotherParallelism) {
  constexpr auto itself = [](std::uint64_t index) { return index; };
  const auto factory = make_operator_factory([=] {
    return std::make_unique<GeneratorSource<std::uint64_t, std::remove_const_t<decltype(itself)>>>(
        itself, GeneratorOptions{.count = 23, .splits = 5});
  });
  std::vector<std::uint64_t> all(23);
  for (std::uint64_t i = 0; i < all.size(); ++i) all[i] = i;
  expect_all_at_every_parallelism(*factory, all, [](std::uint64_t index) { return index % 5; });
}

TEST(SourceFunctionOperator, RecordsOfNoSplitAreAMistakeWhereThereAreSplits) {
  class Forgetful final : public SourceFunction<int> {
    bool has_splits() const override { return true; }
    OperatorResult produce(SourceOutput<int>& out) override {
      out.emit(1);
      return OperatorResult::done;
    }
  };
  SourceHarness harness(make_operator_factory(
      [] { return std::make_unique<SourceFunctionOperator<int>>(std::make_unique<Forgetful>()); }));
  harness.output<int>().normalise([](const auto&) { return std::vector<int>(); });
  harness.expect_failure("call out.split(id) before out.emit");
  expect_ok(harness.run());
}

}  // namespace
}  // namespace hummer::source_splits_test
