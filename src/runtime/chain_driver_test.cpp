// The chain driver step by step, without a task: what it keeps alive, what it
// does when an emitter has no credit, and what it forwards when.
#include "runtime/chain_driver.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <deque>
#include <stdexcept>
#include <vector>

#include "platform/simulation.hpp"
#include "platform/wake_event.hpp"

namespace hummer::chain_driver_test {
namespace {

// Text that turns into garbage when the last reference to it is dropped; the memory stays.
class Perishable final : public Buffer {
 public:
  explicit Perishable(std::string& text) : Buffer(text.data(), text.size()) {}

 protected:
  ~Perishable() override { std::memset(data_, '?', size_); }
};

// Hands on the first byte of every text; what it puts out points into its input.
class FirstByte final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<std::string_view>()); }
  OperatorResult process(Batch& in, Output& out) override {
    const auto texts = in.values<std::string_view>();
    auto collector = out.collector<std::string_view>();
    std::size_t i = in.position();
    for (; i < texts.size() && !collector.full(); ++i) collector(texts[i].substr(0, 1));
    in.advance_to(i);
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }
};

// What an emitter was given, read when the driver has gone on.
struct Journal {
  struct Entry {
    Batch batch;
    Control control;
  };
  std::deque<Entry> entries;
  int credit = 1000;
  std::uint64_t announced = 0;

  std::string text() const {
    std::string all;
    for (const Entry& entry : entries) {
      for (const std::string_view one : entry.batch.values<std::string_view>()) all += one;
      if (entry.control.kind == Control::Kind::watermark) all += '|';
      if (entry.control.kind == Control::Kind::end) all += '.';
      if (entry.control.kind == Control::Kind::idle) all += '~';
      if (entry.control.kind == Control::Kind::inactive) all += '-';
    }
    return all;
  }
};

class JournalEmitter final : public Emitter {
 public:
  explicit JournalEmitter(Journal& journal) : journal_(journal) {}
  OperatorResult offer(Element& element) override {
    if (element.batch.empty() && !element.control) return OperatorResult::done;
    if (journal_.credit == 0) return OperatorResult::blocked;
    --journal_.credit;
    journal_.entries.push_back({});
    std::swap(journal_.entries.back().batch, element.batch);
    journal_.entries.back().control = std::exchange(element.control, {});
    return OperatorResult::done;
  }
  void send_out_of_band(std::uint64_t epoch, std::string) override { journal_.announced = epoch; }
  void abandon() override {}
  std::string describe() const override { return "→ journal"; }

 private:
  Journal& journal_;
};

struct Rig {
  explicit Rig(int stages, std::uint32_t batch_records = 2) {
    for (int i = 0; i < stages; ++i) {
      driver.add_stage(std::make_unique<FirstByte>(),
                       {.name = "first byte", .batch_records = batch_records});
    }
    if (stages == 0) return;  // the test does it
    driver.add_emitter(static_cast<std::size_t>(stages) - 1, 0,
                       std::make_unique<JournalEmitter>(journal));
    EXPECT_TRUE(driver.open(*executor).ok());
  }
  ~Rig() {
    EXPECT_TRUE(driver.close().ok());
    executor->stop();
  }

  // Texts in a buffer that only the offered batch keeps.
  void offer(const std::string& texts, Control control = {}) {
    memory.push_back(texts);
    const BufferRef buffer = BufferRef::adopt(new Perishable(memory.back()));
    Element element;
    element.batch = Batch(type_of<std::string_view>(), static_cast<std::uint32_t>(texts.size()));
    {
      Collector<std::string_view> collector(element.batch, 100);
      for (std::size_t i = 0; i < texts.size(); ++i) {
        collector(std::string_view(memory.back()).substr(i, 1));
      }
    }
    element.batch.keep(buffer);
    element.control = control;
    driver.offer(element);
  }

  std::unique_ptr<SimulatedPlatform> platform = make_simulated_platform({});
  std::unique_ptr<Executor> executor = platform->make_executor({.name = "slot"});
  WakeEvent wake_event;
  TaskMetrics metrics;
  std::deque<std::string> memory;
  Journal journal;
  ChainDriver driver{*platform, wake_event, metrics};
};

TEST(ChainDriver, OutputKeepsTheBuffersOfItsInput) {
  Rig rig(3);
  rig.offer("abcde");
  EXPECT_EQ(rig.driver.run(), OperatorResult::done);
  rig.offer("fg", Control::watermark(1));
  EXPECT_EQ(rig.driver.run(), OperatorResult::done);
  EXPECT_EQ(rig.journal.text(), "abcdefg|");
  EXPECT_EQ(rig.memory[0], "abcde");
  rig.journal.entries.clear();
  EXPECT_EQ(rig.memory[0], "?????") << "and lets go of them when nobody needs them";
}

TEST(ChainDriver, GoesOnWhereAnEmitterHadNoCredit) {
  for (int credit = 0; credit < 6; ++credit) {
    Rig rig(2, 1);
    rig.journal.credit = credit;
    rig.offer("abc", Control::watermark(1));
    OperatorResult answer = rig.driver.run();
    int blocked = 0;
    while (answer == OperatorResult::blocked) {
      ++blocked;
      EXPECT_FALSE(rig.driver.blocked_by_operator());
      EXPECT_EQ(rig.driver.describe_block(), "→ journal");
      EXPECT_EQ(rig.driver.run(), OperatorResult::blocked) << "nothing moves without credit";
      rig.journal.credit = 1;
      answer = rig.driver.run();
    }
    EXPECT_EQ(answer, OperatorResult::done);
    EXPECT_GE(blocked, credit < 3 ? 1 : 0);
    EXPECT_EQ(rig.journal.text(), "abc|");
  }
}

TEST(ChainDriver, TheEndGoesBehindEverything) {
  Rig rig(2, 1);
  rig.offer("ab", Control::end());
  EXPECT_EQ(rig.driver.run(), OperatorResult::done);
  EXPECT_EQ(rig.journal.text(), "ab.");
  EXPECT_TRUE(rig.driver.idle());
}

// Makes a watermark behind each 'w', and says that it is inactive at 'i', with the next idle.
class OwnWatermarks final : public Operator {
 public:
  void declare(Output& out) const override { out.add_port(type_of<std::string_view>()); }
  bool makes_watermarks() const override { return true; }
  OperatorResult process(Batch& in, Output& out) override {
    const auto texts = in.values<std::string_view>();
    {
      auto collector = out.collector<std::string_view>();
      for (const std::string_view text : texts) {
        collector(text);
        if (text == "w") out.set_control(Control::watermark(1));
        pauses_ = pauses_ || text == "i";
      }
    }
    in.advance_to(texts.size());
    return OperatorResult::done;
  }
  OperatorResult idle(Output& out) override {
    if (std::exchange(pauses_, false)) out.set_control(Control::inactive());
    return OperatorResult::done;
  }

 private:
  bool pauses_ = false;
};

TEST(ChainDriver, WatermarksOfAnOperatorReplaceThoseOfItsInput) {
  Rig rig(0);
  rig.driver.add_stage(std::make_unique<OwnWatermarks>(), {.name = "own"});
  rig.driver.add_stage(std::make_unique<FirstByte>(), {.name = "first byte"});
  rig.driver.add_emitter(1, 0, std::make_unique<JournalEmitter>(rig.journal));
  ASSERT_TRUE(rig.driver.open(*rig.executor).ok());
  const auto text_of = [&](const std::string& texts, Control control) {
    rig.journal.entries.clear();
    rig.offer(texts, control);
    EXPECT_EQ(rig.driver.run(), OperatorResult::done);
    EXPECT_TRUE(rig.driver.idle());
    return rig.journal.text();
  };
  EXPECT_EQ(text_of("ab", Control::watermark(9)), "ab");
  EXPECT_EQ(text_of("aw", {}), "aw|");
  EXPECT_EQ(text_of("aw", Control::watermark(9)), "aw|");
  EXPECT_EQ(text_of("aw", Control::idle()), "aw|~");
  EXPECT_EQ(text_of("i", Control::idle()), "i-~");
  EXPECT_EQ(text_of("b", Control::inactive()), "b");
  EXPECT_EQ(text_of("b", Control::active()), "b");
  EXPECT_EQ(text_of("w", Control::end()), "w|.");
}

// A function of the author's that runs inside an emitter, such as the key of a hash edge.
class ThrowingEmitter final : public Emitter {
 public:
  OperatorResult offer(Element&) override { throw std::runtime_error("no key"); }
  void send_out_of_band(std::uint64_t, std::string) override {}
  void abandon() override {}
  std::string describe() const override { return "→ nowhere"; }
};

TEST(ChainDriver, AnExceptionInAnEmitterFailsTheTask) {
  Rig rig(1);
  rig.driver.add_emitter(0, 0, std::make_unique<ThrowingEmitter>());
  rig.offer("a");
  EXPECT_EQ(rig.driver.run(), OperatorResult::failed);
  EXPECT_EQ(rig.driver.failure().code(), ErrorCode::user_function_failed);
  EXPECT_NE(rig.driver.failure().message().find("no key"), std::string::npos);
  EXPECT_NE(rig.driver.failure().message().find("first byte"), std::string::npos);
}

// Remembers what it is told of the time.
class ClockReader final : public Operator {
 public:
  explicit ClockReader(std::vector<std::int64_t>& read) : read_(read) {}
  void declare(Output& out) const override { out.add_port(type_of<std::string_view>()); }
  Status open() override {
    read_.push_back(context().now());
    return {};
  }
  OperatorResult process(Batch& in, Output&) override {
    read_.push_back(context().now());
    in.advance_to(in.size());
    return OperatorResult::done;
  }

 private:
  std::vector<std::int64_t>& read_;
};

TEST(ChainDriver, TheClockOfOperatorsDoesNotGoBack) {
  Rig rig(0);
  std::vector<std::int64_t> read;
  rig.driver.add_stage(std::make_unique<ClockReader>(read), {.name = "clock reader"});
  rig.driver.add_emitter(0, 0, std::make_unique<JournalEmitter>(rig.journal));
  ASSERT_TRUE(rig.driver.open(*rig.executor).ok());
  const std::int64_t opened = read.at(0);
  for (const std::int64_t now : {opened - 1000, opened + 5, opened + 2}) {
    rig.driver.set_now(now);
    rig.offer("a");
    EXPECT_EQ(rig.driver.run(), OperatorResult::done);
  }
  EXPECT_EQ(read, (std::vector<std::int64_t>{opened, opened, opened + 5, opened + 5}));
}

}  // namespace
}  // namespace hummer::chain_driver_test
