// Large pieces that are restored with hardly any memory: most of what was read goes to disk before
// the rest is read.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <hummer/aggregate.hpp>
#include <hummer/bytes.hpp>
#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/merge_aggregate.hpp>
#include <hummer/detail/operators/slice_window.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/detail/testing/take_snapshot.hpp>

#include "platform/simulation.hpp"

namespace hummer::restored_share_test {
namespace {

constexpr std::uint64_t keys = 30'000;
constexpr std::size_t limit_bytes = 256 << 10;

// A piece in parts of about a thousand bytes, as a file gives it.
class PartedPiece final : public ByteSource {
 public:
  explicit PartedPiece(std::string_view bytes) : bytes_(bytes) {}
  std::size_t left() const override { return bytes_.size(); }
  std::string_view next(std::string_view rest, std::size_t length) override {
    if (length > rest.size() + bytes_.size()) return {};
    const std::string_view more = bytes_.substr(0, std::max(length - rest.size(), part_bytes));
    bytes_.remove_prefix(more.size());
    auto part = std::make_unique<std::string>(std::string(rest) + std::string(more));
    before_ = std::move(part_);
    part_ = std::move(part);
    return *part_;
  }
  void let_go() override {
    if (before_ == nullptr) return;
    before_->assign(before_->size(), '#');  // who still looks at it sees that
    before_.reset();
  }

 private:
  static constexpr std::size_t part_bytes = 1000;
  std::string_view bytes_;
  std::unique_ptr<std::string> before_;
  std::unique_ptr<std::string> part_;
};

struct Bench {
  FakeOperatorContext context;
  std::unique_ptr<Operator> op;
  Output out;

  Bench(std::unique_ptr<Operator> made, SimulatedPlatform& node, std::size_t limit)
      : context({.platform = &node, .memory_limit_bytes = limit}), op(std::move(made)) {
    op->set_context(context);
    op->declare(out);
  }
};

using Delta = KeyValue<std::string_view, std::uint64_t>;
constexpr auto value_of = [](const Delta& delta) { return delta.value; };
using Total = SumAggregate<std::uint64_t, decltype(value_of)>;

std::unique_ptr<Operator> totals(bool at_the_end) {
  return std::make_unique<MergeAggregateOperator<std::string_view, Total>>(Total{value_of},
                                                                           !at_the_end);
}

class RestoredShare : public testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(AtTheEndOrNot, RestoredShare, testing::Bool());

TEST_P(RestoredShare, TotalsGoToDiskWhileTheyAreRead) {
  const auto node = make_simulated_platform({.seed = 1});
  Bench before(totals(GetParam()), *node, 0);
  ASSERT_TRUE(before.op->open().ok());
  for (std::uint64_t key = 0; key < keys; ++key) {
    const std::string name = "the key with number " + std::to_string(key);
    Batch in(type_of<Delta>(), 1);
    Collector<Delta>(in, 1)(Delta{name, key});
    ASSERT_EQ(before.op->process(in, before.out), OperatorResult::done);
  }
  const Result<std::string> piece = take_snapshot(*before.op);
  ASSERT_TRUE(piece.ok());
  ASSERT_GT(piece->size(), 4 * limit_bytes);

  Bench after(totals(GetParam()), *node, limit_bytes);
  PartedPiece parts(*piece);
  ByteReader in(parts);
  ASSERT_TRUE(after.op->restore(in).ok());
  EXPECT_EQ(in.left(), 0u);
  EXPECT_LE(after.context.memory()->used_bytes(), limit_bytes);
  EXPECT_GT(after.context.memory()->disk_bytes(), 0u);
  ASSERT_TRUE(after.op->open().ok());
  const Result<std::string> again = take_snapshot(*after.op);
  ASSERT_TRUE(again.ok());

  // All of it is there: the second piece is as good as the first.
  Bench last(totals(true), *node, 0);
  ByteReader whole(*again);
  ASSERT_TRUE(last.op->restore(whole).ok());
  ASSERT_TRUE(last.op->open().ok());
  std::uint64_t seen = 0;
  std::uint64_t sum = 0;
  for (OperatorResult answer = OperatorResult::more; answer == OperatorResult::more;) {
    answer = last.op->end(last.out);
    for (const Delta& delta : last.out.batch().values<Delta>()) {
      ++seen;
      sum += delta.value;
    }
    last.out.batch().clear();
  }
  EXPECT_EQ(seen, keys);
  EXPECT_EQ(sum, keys * (keys - 1) / 2);
}

}  // namespace
}  // namespace hummer::restored_share_test
