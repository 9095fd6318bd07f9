// The harness itself: each deliberately broken operator must be caught, for the
// right reason; the sound one next to it must pass.
#include <hummer/testing/operator_harness.hpp>

#include <gtest/gtest.h>

#include <deque>

#include <hummer/detail/operators/factory.hpp>

namespace hummer::operator_harness_test {
namespace {

template <typename Subject, typename... Argument>
auto factory_of(Argument... arguments) {
  return make_operator_factory([=] { return std::make_unique<Subject>(arguments...); });
}

// Puts out its input; each enumerator is one mistake.
enum class Mistake {
  none,
  loses_when_full,
  doubles_when_full,
  loses_the_last,
  emits_after_end,
  answers_done_early,
  moves_back,
  answers_more_for_ever,
  ignores_the_limit,
  writes_to_shared_input,
  drops_timestamps,
  fails_without_a_word,
  repeats_for_ever,
};

class Copy final : public Operator {
 public:
  explicit Copy(Mistake mistake) : mistake_(mistake) {}
  void declare(Output& out) const override { out.add_port(type_of<int>()); }

  OperatorResult process(Batch& in, Output& out) override {
    last_output_ = &out;
    const auto values = in.values<int>();
    if (mistake_ == Mistake::fails_without_a_word) return OperatorResult::failed;
    if (mistake_ == Mistake::writes_to_shared_input) const_cast<int&>(values[0]) = 77;
    if (mistake_ == Mistake::moves_back && in.position() > 1) {
      in.advance_to(0);
      return OperatorResult::more;
    }
    Batch& target = out.batch();
    Collector<int> collector(target, out.soft_limit());
    std::size_t taken = in.position();
    const bool limited = mistake_ != Mistake::ignores_the_limit;
    for (; taken < values.size(); ++taken) {
      if (limited && collector.full()) break;
      if (mistake_ == Mistake::answers_more_for_ever && values[taken] == 3) break;
      collector(values[taken]);
      const bool timed = in.has_timestamps() && mistake_ != Mistake::drops_timestamps;
      if (timed) {
        target.timestamps().resize(collector.size() - 1, no_timestamp);
        target.timestamps().push_back(in.timestamps()[taken]);
      } else if (in.has_timestamps() && values[taken] > 1) {
        target.timestamps().push_back(1);
      }
    }
    if (taken < values.size()) {
      if (mistake_ == Mistake::loses_when_full) ++taken;
      if (mistake_ == Mistake::doubles_when_full && taken > in.position() + 1) --taken;
      if (mistake_ == Mistake::answers_done_early) {
        in.advance_to(taken);
        return OperatorResult::done;
      }
    }
    if (mistake_ == Mistake::repeats_for_ever) return OperatorResult::more;
    in.advance_to(taken);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }
  OperatorResult end(Output& out) override {
    last_output_ = &out;
    return OperatorResult::done;
  }
  Status close() override {
    if (mistake_ == Mistake::emits_after_end && last_output_ != nullptr) {
      last_output_->collector<int>().emit(1);
    }
    return {};
  }

 private:
  Mistake mistake_;
  Output* last_output_ = nullptr;
};

HarnessReport run_copy(Mistake mistake) {
  OperatorHarness<int> harness(factory_of<Copy>(mistake));
  harness.record(1, 10).record(2, 20).record(3, 30).record(4, 40).record(5, 50);
  auto expected = harness.output<int>();
  expected.record(1, 10).record(2, 20).record(3, 30).record(4, 40);
  if (mistake != Mistake::loses_the_last) expected.record(5, 50);
  return harness.run();
}

void expect_caught(const HarnessReport& report, std::string_view reason) {
  EXPECT_FALSE(report.ok());
  EXPECT_NE(report.text().find(reason), std::string::npos) << report.text();
  EXPECT_NE(report.text().find("schedule"), std::string::npos) << report.text();
  EXPECT_EQ(report.status().code(), ErrorCode::operator_failed);
}

TEST(OperatorHarness, ASoundOperatorPasses) {
  const HarnessReport report = run_copy(Mistake::none);
  EXPECT_TRUE(report.ok()) << report.text();
  EXPECT_TRUE(report.status().ok());
}

TEST(OperatorHarness, CatchesALostRecordWhenTheOutputIsFull) {
  expect_caught(run_copy(Mistake::loses_when_full), "expected 2 at 20, got 3 at 30");
}
TEST(OperatorHarness, CatchesADoubledRecordWhenTheOutputIsFull) {
  expect_caught(run_copy(Mistake::doubles_when_full), "got 2 at 20");
}
TEST(OperatorHarness, CatchesARecordTooMany) {
  expect_caught(run_copy(Mistake::loses_the_last), "expected nothing more, got 5 at 50");
}
TEST(OperatorHarness, CatchesOutputAfterTheEnd) {
  expect_caught(run_copy(Mistake::emits_after_end), "after the end");
}
TEST(OperatorHarness, CatchesOutputWithoutEnd) {
  expect_caught(run_copy(Mistake::repeats_for_ever), "stopped after");
}
TEST(OperatorHarness, CatchesDoneWithRecordsLeft) {
  expect_caught(run_copy(Mistake::answers_done_early), "done with 4 records left");
}
TEST(OperatorHarness, CatchesAPositionThatMovesBack) {
  expect_caught(run_copy(Mistake::moves_back), "position back");
}
TEST(OperatorHarness, CatchesMoreForEver) {
  expect_caught(run_copy(Mistake::answers_more_for_ever), "without progress");
}
TEST(OperatorHarness, CatchesOutputBeyondTheLimit) {
  expect_caught(run_copy(Mistake::ignores_the_limit), "with a limit of 1");
}
TEST(OperatorHarness, CatchesAWriteToASharedBatch) {
  OperatorHarness<int> harness(factory_of<Copy>(Mistake::writes_to_shared_input));
  harness.record(1);
  harness.output<int>().record(77);
  expect_caught(harness.run(), "record 0 of a shared batch was changed");
}
TEST(OperatorHarness, CatchesMissingTimestamps) {
  expect_caught(run_copy(Mistake::drops_timestamps), "port 0");
}
TEST(OperatorHarness, CatchesAFailureWithoutAReason) {
  expect_caught(run_copy(Mistake::fails_without_a_word), "failed without saying why");
}

// Puts out text that may be gone. `Kept` is what it remembers of the last record.
enum class Text { sound, last_record, local_string, own_old_output };

class EchoText final : public Operator {
 public:
  explicit EchoText(Text kind) : kind_(kind) {}
  void declare(Output& out) const override { out.add_port(type_of<std::string_view>()); }
  OperatorResult process(Batch& in, Output& out) override {
    const auto values = in.values<std::string_view>();
    Collector<std::string_view> collector = out.collector<std::string_view>();
    std::size_t taken = in.position();
    for (; taken < values.size() && !collector.full(); ++taken) {
      const std::string_view value = values[taken];
      const std::string local(value);
      switch (kind_) {
        case Text::sound: collector(value); break;
        case Text::local_string: collector(std::string_view(local)); break;
        case Text::last_record:
          collector(last_.empty() ? value : last_);
          last_ = value;
          break;
        case Text::own_old_output:
          if (last_.empty()) last_ = collector.copy(value);
          collector(last_);
          break;
      }
    }
    in.advance_to(taken);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  Text kind_;
  std::string_view last_;
};

HarnessReport run_text(Text kind, const std::vector<std::string_view>& expected) {
  OperatorHarness<std::string_view> harness(factory_of<EchoText>(kind));
  harness.options().with_snapshots = false;
  harness.records({"first", "second", "third"});
  harness.output<std::string_view>().records(expected);
  return harness.run();
}

TEST(OperatorHarness, ViewsIntoTheInputAreSound) {
  const HarnessReport report = run_text(Text::sound, {"first", "second", "third"});
  EXPECT_TRUE(report.ok()) << report.text();
}
TEST(OperatorHarness, CatchesAViewIntoReleasedInput) {
  expect_caught(run_text(Text::last_record, {"first", "first", "second"}), "view into a temporary");
}
TEST(OperatorHarness, CatchesAViewIntoALocalString) {
  expect_caught(run_text(Text::local_string, {"first", "second", "third"}),
                "view into a temporary");
}
TEST(OperatorHarness, CatchesAViewIntoOutputThatHasGone) {
  expect_caught(run_text(Text::own_old_output, {"first", "first", "first"}),
                "view into a temporary");
}

// Reads what it remembers of an earlier call: by text or by address of the record.
template <bool by_text>
class LooksBack final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<char>()); }
  OperatorResult process(Batch& in, Output& out) override {
    const auto values = in.values<std::string_view>();
    Collector<char> collector = out.collector<char>();
    std::size_t taken = in.position();
    for (; taken < values.size() && !collector.full(); ++taken) {
      collector(last_.empty() ? '-' : last_[0]);
      if (by_text) {
        last_ = values[taken];
      } else {
        owned_ = values[taken];
        last_ = owned_;
      }
    }
    in.advance_to(taken);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

 private:
  std::string_view last_;
  std::string owned_;
};

template <bool by_text>
HarnessReport run_looking_back() {
  OperatorHarness<std::string_view> harness(factory_of<LooksBack<by_text>>());
  harness.options().with_snapshots = false;
  harness.records({"a", "b", "c"});
  harness.output<char>().records({'-', 'a', 'b'});
  return harness.run();
}

TEST(OperatorHarness, CatchesAReadOfReleasedInput) {
  EXPECT_TRUE(run_looking_back<false>().ok()) << "a copy is sound";
  expect_caught(run_looking_back<true>(), "expected 97, got -35");
}

// Holds records back until a watermark; may forget them.
enum class Hold { sound, behind_the_watermark, forgets_on_restore, forgets_when_full };

class HoldBack final : public Operator {
 public:
  explicit HoldBack(Hold kind) : kind_(kind) {}
  void declare(Output& out) const override { out.add_port(type_of<int>()); }
  OperatorResult process(Batch& in, Output&) override {
    for (std::size_t i = in.position(); i < in.size(); ++i) {
      held_.push_back({in.values<int>()[i], in.has_timestamps() ? in.timestamps()[i] : 0});
    }
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult watermark(Timestamp, Output& out) override {
    return kind_ == Hold::behind_the_watermark ? OperatorResult::done : release(out);
  }
  OperatorResult end(Output& out) override { return release(out); }
  Status snapshot(ByteWriter& out) override {
    const bool forgets = kind_ == Hold::forgets_on_restore;
    out.put_value(static_cast<std::uint32_t>(forgets ? 0 : held_.size()));
    for (const Entry& entry : held_) {
      if (!forgets) out.put_value(entry);
    }
    return {};
  }
  Status restore(ByteReader& in) override {
    std::uint32_t count = 0;
    if (!in.get_value(count)) return {ErrorCode::corrupt_record, "cut short"};
    for (std::uint32_t i = 0; i < count; ++i) {
      if (!in.get_value(held_.emplace_back())) return {ErrorCode::corrupt_record, "cut short"};
    }
    return {};
  }

 private:
  struct Entry {
    int value = 0;
    Timestamp time = 0;
  };
  OperatorResult release(Output& out) {
    while (!held_.empty()) {
      if (out.full()) {
        if (kind_ == Hold::forgets_when_full) held_.pop_front();
        return OperatorResult::more;
      }
      const std::size_t before = out.batch().size();
      out.collector<int>().emit(held_.front().value);
      out.batch().timestamps().resize(before, no_timestamp);
      out.batch().timestamps().push_back(held_.front().time);
      held_.pop_front();
    }
    return OperatorResult::done;
  }

  Hold kind_;
  std::deque<Entry> held_;
};

HarnessReport run_hold(Hold kind, bool name_watermarks = true) {
  OperatorHarness<int> harness(factory_of<HoldBack>(kind));
  harness.record(1, 1).record(2, 2).watermark(3).record(4, 4).record(5, 5);
  auto expected = harness.output<int>();
  expected.record(1).record(2);
  if (name_watermarks) expected.watermark(3);
  expected.record(4).record(5);
  return harness.run();
}

TEST(OperatorHarness, StateThatIsKeptPasses) {
  const HarnessReport report = run_hold(Hold::sound);
  EXPECT_TRUE(report.ok()) << report.text();
}
TEST(OperatorHarness, CatchesAWatermarkHandledBeforeBufferedData) {
  expect_caught(run_hold(Hold::behind_the_watermark), "behind watermark 3");
  expect_caught(run_hold(Hold::behind_the_watermark, false), "behind watermark 3");
}
TEST(OperatorHarness, CatchesStateLostOnRestore) {
  expect_caught(run_hold(Hold::forgets_on_restore), "snapshot and restore");
}
TEST(OperatorHarness, CatchesHeldRecordsLostWhenTheOutputIsFull) {
  expect_caught(run_hold(Hold::forgets_when_full), "expected 2");
}

// Adds up until a flush; keeps nothing in its snapshot.
class SumByFlush final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<int>()); }
  OperatorResult process(Batch& in, Output&) override {
    for (std::size_t i = in.position(); i < in.size(); ++i) sum_ += in.values<int>()[i];
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  OperatorResult flush(Output& out) override {
    if (sum_ == 0) return OperatorResult::done;
    if (out.full()) return OperatorResult::more;
    out.collector<int>().emit(std::exchange(sum_, 0));
    return OperatorResult::done;
  }
  OperatorResult end(Output& out) override { return flush(out); }

 private:
  int sum_ = 0;
};

HarnessReport run_sum(bool by_flush, int total) {
  OperatorHarness<int> harness(factory_of<SumByFlush>());
  harness.options().state_only_by_flush = by_flush;
  harness.records({1, 2, 3}).idle().record(4);
  harness.output<int>().record(total).normalise([](std::vector<int> parts) {
    int sum = 0;
    for (const int part : parts) sum += part;
    return std::vector<int>{sum};
  });
  return harness.run();
}

TEST(OperatorHarness, StateOnlyByFlush) {
  const HarnessReport report = run_sum(true, 10);
  EXPECT_TRUE(report.ok()) << report.text();
  expect_caught(run_sum(true, 11), "expected 11, got 10");
  expect_caught(run_sum(false, 10), "snapshot and restore");
}

TEST(OperatorHarness, UnorderedComparesBetweenWatermarks) {
  const auto run = [](bool unordered, int first, int third) {
    OperatorHarness<int> harness(factory_of<Copy>(Mistake::none));
    harness.records({1, 2}).watermark(9).record(3);
    auto expected = harness.output<int>().record(first).record(3 - first);
    expected.watermark(9).record(third);
    if (unordered) expected.unordered();
    return harness.run();
  };
  EXPECT_TRUE(run(false, 1, 3).ok());
  EXPECT_TRUE(run(true, 2, 3).ok());
  EXPECT_FALSE(run(false, 2, 3).ok());
  EXPECT_FALSE(run(true, 2, 2).ok());
}

TEST(OperatorHarness, CatchesAPortOfAnotherTypeOrNone) {
  OperatorHarness<int> harness(factory_of<Copy>(Mistake::none));
  harness.record(1).output<long>().record(1);
  expect_caught(harness.run(), "port 0 holds i32, expected i64");
  OperatorHarness<int> other(factory_of<Copy>(Mistake::none));
  other.record(1).output<int>(1).record(1);
  expect_caught(other.run(), "port 1 is not declared");
  OperatorHarness<int> silent(factory_of<Copy>(Mistake::none));
  silent.record(1);
  expect_caught(silent.run(), "expected nothing more");
}

TEST(OperatorHarness, CatchesAMissingFailure) {
  OperatorHarness<int> harness(factory_of<Copy>(Mistake::none));
  harness.record(1).output<int>().record(1);
  harness.expect_failure("something");
  expect_caught(harness.run(), "did not fail");
}

// Counts to four; may forget where it was.
template <bool remembers>
class CountToFour final : public SourceOperator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<int>()); }
  OperatorResult produce(Output& out) override {
    Collector<int> collector = out.collector<int>();
    while (next_ < 4 && !collector.full()) collector(next_++);
    return next_ == 4 ? OperatorResult::done : OperatorResult::more;
  }
  Status snapshot(ByteWriter& out) override {
    out.put_value(remembers ? next_ : 0);
    return {};
  }
  Status restore(ByteReader& in) override {
    return in.get_value(next_) ? Status() : Status(ErrorCode::corrupt_record, "cut short");
  }

 private:
  int next_ = 0;
};

TEST(SourceHarness, CatchesAPositionLostOnRestore) {
  SourceHarness sound(factory_of<CountToFour<true>>());
  sound.output<int>().records({0, 1, 2, 3});
  const HarnessReport report = sound.run();
  EXPECT_TRUE(report.ok()) << report.text();
  SourceHarness broken(factory_of<CountToFour<false>>());
  broken.output<int>().records({0, 1, 2, 3});
  expect_caught(broken.run(), "expected 1, got 0");
}

}  // namespace
}  // namespace hummer::operator_harness_test
