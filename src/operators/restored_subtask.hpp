// RestoredSubtask<T>: a subtask of an operator under test that goes on with what earlier ones had
// saved, each at a watermark of its own.
//
//   RestoredSubtask<Sale> subtask(*factory, {1'000, 500}, 0, 2);   // the first of two
//   subtask.take({1, 1}, 950);
//   EXPECT_EQ(subtask.late(), 1u);
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/detail/testing/take_snapshot.hpp>

namespace hummer {

template <typename T>
class RestoredSubtask {
 public:
  RestoredSubtask(const OperatorFactory& factory, const std::vector<std::string>& pieces,
                  int subtask, int parallelism)
      : context_({.subtask = subtask, .parallelism = parallelism}), op_(factory.make()) {
    begin(*op_, context_, out_, pieces);
  }
  // no_timestamp among `watermarks`: of one that has seen none.
  RestoredSubtask(const OperatorFactory& factory, const std::vector<Timestamp>& watermarks,
                  int subtask, int parallelism)
      : context_({.subtask = subtask, .parallelism = parallelism}) {
    std::vector<std::string> pieces;
    for (std::size_t i = 0; i < watermarks.size(); ++i) {
      FakeOperatorContext context(
          {.subtask = static_cast<int>(i), .parallelism = static_cast<int>(watermarks.size())});
      const auto op = factory.make();
      Output out;
      begin(*op, context, out, {});
      if (watermarks[i] != no_timestamp) {
        EXPECT_EQ(op->watermark(watermarks[i], out), OperatorResult::done);
      }
      const Result<std::string> piece = take_snapshot(*op);
      EXPECT_TRUE(piece.ok()) << piece.status().to_string();
      pieces.push_back(*piece);
    }
    op_ = factory.make();
    begin(*op_, context_, out_, pieces);
  }

  void take(const T& record, Timestamp time) {
    Batch in(type_of<T>(), 1);
    in.mutable_values<T>()[0] = record;
    in.timestamps().push_back(time);
    in.set_size(1);
    EXPECT_EQ(op_->process(in, out_), OperatorResult::done);
  }
  // Records that were counted as late; and those of a port.
  std::uint64_t late() const { return context_.late_records(); }
  std::size_t given(std::size_t port) { return out_.batch(port).size(); }
  Operator& op() { return *op_; }
  Output& out() { return out_; }

 private:
  static void begin(Operator& op, FakeOperatorContext& context, Output& out,
                    const std::vector<std::string>& pieces) {
    op.set_context(context);
    op.declare(out);
    context.set_restored(!pieces.empty());
    for (const std::string& piece : pieces) {
      ByteReader in(piece);
      EXPECT_TRUE(op.restore(in).ok());
    }
    EXPECT_TRUE(op.open().ok());
  }

  FakeOperatorContext context_;
  std::unique_ptr<Operator> op_;
  Output out_;
};

}  // namespace hummer
