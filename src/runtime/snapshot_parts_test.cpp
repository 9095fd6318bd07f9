// Pieces that a chain writes in parts, while records go on, and what may be a delta.
#include <gtest/gtest.h>

#include "platform/simulation.hpp"
#include "platform/wake_event.hpp"
#include "runtime/chain_driver.hpp"

namespace hummer::snapshot_parts_test {
namespace {

// Its state takes `steps` calls to write; it writes a delta where it may.
class InSteps final : public Operator {
 public:
  InSteps(std::string name, int steps, int& idles)
      : name_(std::move(name)), steps_(steps), idles_(idles) {}
  void declare(Output& out) const override { out.add_port(type_of<int>()); }
  OperatorResult process(Batch& in, Output&) override {
    in.advance_to(in.size());
    return OperatorResult::done;
  }
  Status snapshot(ByteWriter& out) override {
    if (context().may_write_delta()) context().wrote_delta();
    out.put(name_.data(), name_.size());
    left_ = steps_;
    return {};
  }
  OperatorResult snapshot_rest(ByteWriter& out) override {
    if (left_ == 0) return OperatorResult::done;
    out.put_value(static_cast<char>('0' + left_));
    return --left_ == 0 ? OperatorResult::done : OperatorResult::more;
  }
  OperatorResult idle(Output&) override {
    ++idles_;
    return OperatorResult::done;
  }
  OperatorResult end(Output&) override {
    EXPECT_EQ(left_, 0) << "the rest of a snapshot comes before the end";
    return OperatorResult::done;
  }

 private:
  std::string name_;
  const int steps_;
  int& idles_;
  int left_ = 0;
};

// Bytes that say that an operator has no states of a type.
constexpr std::size_t no_states = 2;

class SnapshotParts : public testing::Test {
 protected:
  void SetUp() override {
    driver_.add_stage(std::make_unique<InSteps>("a", 3, idles_), {.name = "a", .uid = "a"});
    driver_.add_stage(std::make_unique<InSteps>("b", 0, idles_), {.name = "b", .uid = "b"});
    driver_.add_stage(std::make_unique<InSteps>("c", 2, idles_), {.name = "c", .uid = "c"});
    driver_.set_on_snapshot([this](TaskSnapshot part) {
      epochs_.push_back(part.epoch);
      complete_ = part.complete;
      for (const SnapshotPiece& piece : part.pieces) {
        if (!goes_on_) order_ += piece.uid;
        EXPECT_TRUE(!goes_on_ || order_.back() == piece.uid[0]) << "a piece's parts are in a row";
        pieces_[piece.uid] += goes_on_ ? piece.bytes : piece.bytes.substr(no_states);
        deltas_ += piece.delta && !goes_on_ ? 1 : 0;
        goes_on_ = piece.goes_on;
      }
    });
    ASSERT_TRUE(driver_.open(*executor_).ok());
  }
  void barrier(std::uint64_t epoch, std::uint64_t last_complete, bool whole = false) {
    epochs_.clear();
    pieces_.clear();
    order_.clear();
    deltas_ = 0;
    complete_ = goes_on_ = false;
    driver_.set_last_complete(last_complete);
    offer(Control::barrier(epoch, whole));
  }
  void offer(Control control) {
    Element element;
    element.control = control;
    driver_.offer(element);
    ASSERT_EQ(driver_.run(), OperatorResult::done);
  }
  void finish() {
    while (driver_.snapshot_under_way()) ASSERT_NE(driver_.step_snapshot(), OperatorResult::failed);
  }

  std::unique_ptr<SimulatedPlatform> platform_ = make_simulated_platform({.seed = 1});
  std::unique_ptr<Executor> executor_ = platform_->make_executor({.name = "slot"});
  WakeEvent wake_event_;
  TaskMetrics metrics_;
  ChainDriver driver_{*platform_, wake_event_, metrics_};
  std::vector<std::uint64_t> epochs_;
  std::map<std::string, std::string> pieces_;
  std::string order_;
  int deltas_ = 0;
  int idles_ = 0;
  bool complete_ = false;
  bool goes_on_ = false;
};

TEST_F(SnapshotParts, FollowWhileOtherElementsCome) {
  barrier(7, 0);
  EXPECT_TRUE(driver_.snapshot_under_way());
  EXPECT_FALSE(complete_);
  for (int i = 0; driver_.snapshot_under_way(); ++i) {
    ASSERT_LT(i, 10);
    offer(Control::watermark(i));
    ASSERT_NE(driver_.step_snapshot(), OperatorResult::failed);
  }
  EXPECT_TRUE(complete_);
  EXPECT_FALSE(goes_on_);
  EXPECT_EQ(order_, "bac");
  EXPECT_EQ(pieces_, (std::map<std::string, std::string>{{"a", "a321"}, {"b", "b"}, {"c", "c21"}}));
  EXPECT_EQ(epochs_, std::vector<std::uint64_t>(epochs_.size(), 7));
}

TEST_F(SnapshotParts, AreWrittenBeforeTheEndWhichWaitsInSteps) {
  barrier(7, 0);
  Element end;
  end.control = Control::end();
  driver_.offer(end);
  EXPECT_EQ(idles_, 0);
  while (driver_.run() == OperatorResult::blocked) {
    EXPECT_EQ(idles_, 3) << "what was held back has gone";
    ASSERT_FALSE(complete_);
    ASSERT_NE(driver_.step_snapshot(), OperatorResult::failed);
  }
  EXPECT_TRUE(driver_.idle());
  EXPECT_TRUE(complete_);
  EXPECT_EQ(pieces_["a"], "a321");
  pieces_.clear();
  ASSERT_TRUE(driver_.begin_last_snapshot().ok());
  while (driver_.snapshot_under_way()) ASSERT_NE(driver_.step_snapshot(), OperatorResult::failed);
  EXPECT_TRUE(complete_);
  EXPECT_FALSE(goes_on_);
  EXPECT_EQ(pieces_, (std::map<std::string, std::string>{{"a", "a321"}, {"b", "b"}, {"c", "c21"}}));
  EXPECT_EQ(epochs_.back(), 0u);
}

TEST_F(SnapshotParts, ADeltaBuildsOnWhatIsCompleteAndNothingElse) {
  barrier(1, 0);
  finish();
  EXPECT_EQ(deltas_, 0) << "the first is whole";
  barrier(2, 1);
  finish();
  EXPECT_EQ(deltas_, 3);
  barrier(3, 1);
  finish();
  EXPECT_EQ(deltas_, 0) << "2 was not completed";
  barrier(4, 3);  // and another comes before the rest was written
  barrier(5, 4);
  finish();
  EXPECT_EQ(deltas_, 1) << "only what was written at once";
  EXPECT_EQ(order_, "bac");
  EXPECT_EQ(pieces_["a"], "a321");
  barrier(6, 5, true);
  finish();
  EXPECT_EQ(deltas_, 0) << "a savepoint";
  barrier(7, 6);
  finish();
  EXPECT_EQ(deltas_, 0) << "nothing builds on a savepoint";
  int in_a_row = 0;
  for (std::uint64_t epoch = 8; epoch < 40; ++epoch) {
    barrier(epoch, epoch - 1);
    finish();
    if (deltas_ == 0) break;
    ++in_a_row;
  }
  EXPECT_GE(in_a_row, 1);
  EXPECT_LE(in_a_row, 20) << "a restart would read ever more files";
}

}  // namespace
}  // namespace hummer::snapshot_parts_test
