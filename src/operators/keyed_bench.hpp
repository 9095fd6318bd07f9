// Bench: an operator under a clock that the test moves, at some subtask. WordBench: one with a
// keyed function of words, whose keys are their first letters.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/detail/testing/take_snapshot.hpp>

namespace hummer {

template <typename Op>
struct Bench {
  FakeOperatorContext context;
  Op op;
  Output out;

  template <typename User, typename... Inputs>
  explicit Bench(FakeOperatorContext::Place place, User user, Inputs... inputs)
      : context(place), op(std::move(user), inputs...) {
    op.set_context(context);
    op.declare(out);
  }
  template <typename T>
  void process(const std::vector<T>& values, int input = 0, Timestamp time = no_timestamp) {
    Batch in(type_of<T>(), static_cast<std::uint32_t>(values.size()));
    {
      Collector<T> collector(in, static_cast<std::uint32_t>(values.size()));
      for (const T& value : values) collector(value);
    }
    if (time != no_timestamp) in.timestamps().assign(values.size(), time);
    ASSERT_EQ(op.process_input(input, in, out), OperatorResult::done);
  }
  template <typename Out>
  std::vector<Out> take() {
    const auto values = out.batch().template values<Out>();
    std::vector<Out> result(values.begin(), values.end());
    out.batch().clear();
    return result;
  }
  std::string snapshot() {
    const Result<std::string> bytes = take_snapshot(op);
    EXPECT_TRUE(bytes.ok());
    return *bytes;
  }
  Status restore(const std::string& piece) {
    ByteReader in(piece);
    HUMMER_TRY(op.restore(in));
    EXPECT_EQ(in.left(), 0u);
    return {};
  }
  void pass(std::int64_t milliseconds) {
    for (std::int64_t i = 0; i < milliseconds; ++i) {
      context.advance(1'000'000);
      while (context.take_due_timer())
        ASSERT_EQ(op.timer(context.now(), out), OperatorResult::done);
    }
  }
};

inline constexpr auto key_of_word = [](std::string_view word) { return word.substr(0, 1); };
using Word = KeyedInput<std::string_view, decltype(key_of_word)>;
template <typename User, typename Out>
using WordBench = Bench<KeyedProcessOperator<std::string_view, Out, User, Word>>;

}  // namespace hummer
