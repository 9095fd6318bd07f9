// This file only: as a debug build would have it.
#define HUMMER_CHECK_VIEWS

#include <hummer/detail/operators/view_check.hpp>

#include <gtest/gtest.h>

#include <array>

#include <hummer/detail/operators/flat_map.hpp>
#include <hummer/detail/operators/map.hpp>
#include <hummer/detail/operators/process.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>

namespace hummer::view_check_test {
namespace {

TEST(CheckView, KeptBuffersAndTheImageAreSafe) {
  Batch batch(type_of<std::string_view>(), 4);
  EXPECT_TRUE(check_view("a literal", batch).ok());
  EXPECT_TRUE(check_view({}, batch).ok());
  EXPECT_TRUE(check_view(batch.copy_text("in the arena"), batch).ok());
  const BufferRef buffer = BufferRef::allocate(8);
  const std::string_view inside(buffer->data(), 8);
  EXPECT_FALSE(check_view(inside, batch).ok());
  batch.keep(buffer);
  EXPECT_TRUE(check_view(inside, batch).ok());
}

TEST(CheckView, StackAndHeapAreNot) {
  const Batch batch(type_of<std::string_view>(), 4);
  const char local[] = "on the stack";
  EXPECT_FALSE(check_view(local, batch).ok());
#ifndef __SANITIZE_ADDRESS__  // which may keep locals elsewhere
  EXPECT_NE(check_view(local, batch).message().find("in the stack"), std::string::npos);
#endif
  const std::string heap(100, 'x');
  EXPECT_NE(check_view(heap, batch).message().find("no kept buffer holds"), std::string::npos);
}

TEST(CheckView, FindsViewsInsideOfValues) {
  struct Row {
    int number = 0;
    std::vector<std::pair<int, std::string_view>> names;
    std::optional<std::array<std::string_view, 2>> title;
  };
  std::string found;
  const Row row{1, {{1, "a"}, {2, "b"}}, std::array<std::string_view, 2>{"c", "d"}};
  detail::for_each_view(row, [&](std::string_view view) { found += view; });
  EXPECT_EQ(found, "abcd");
}

struct Outcome {
  OperatorResult answer;
  std::string message;
};

template <typename Subject>
Outcome run(Subject subject, const std::vector<std::string_view>& texts) {
  FakeOperatorContext context;
  Output out;
  subject.set_context(context);
  subject.declare(out);
  Batch in(type_of<std::string_view>(), 8);
  Collector<std::string_view> fill(in, 8);
  for (const std::string_view text : texts) fill(fill.copy(text));
  fill.commit();
  const OperatorResult answer = subject.process(in, out);
  return {answer, context.failure().message()};
}

TEST(CheckViews, AMapThatReturnsAViewOfALocalFails) {
  const auto shout = [](std::string_view text) {
    static thread_local std::string changed;
    changed = std::string(text) + "! (longer than a short string)";
    return std::string_view(changed);
  };
  const auto [answer, message] =
      run(MapOperator<std::string_view, std::string_view, decltype(shout)>(shout), {"a", "b"});
  EXPECT_EQ(answer, OperatorResult::failed);
  EXPECT_NE(message.find("record 0 of the output: view into a temporary"), std::string::npos)
      << message;
}

TEST(CheckViews, SoundFunctionsPass) {
  const auto tail = [](std::string_view text) { return text.substr(1); };
  EXPECT_EQ(
      run(MapOperator<std::string_view, std::string_view, decltype(tail)>(tail), {"ab"}).answer,
      OperatorResult::done);
  const auto copy = [](std::string_view text) { return std::string(text); };
  EXPECT_EQ(
      run(MapOperator<std::string_view, std::string_view, decltype(copy)>(copy), {"ab"}).answer,
      OperatorResult::done);
}

TEST(CheckViews, FlatMapAndProcessAreCheckedToo) {
  using Pair = std::pair<int, std::string_view>;
  const auto flat = [](std::string_view text, Collector<Pair>& out) {
    const std::string local(text);
    out(Pair{1, text});
    out(Pair{2, local});
  };
  EXPECT_NE(run(FlatMapOperator<std::string_view, Pair, decltype(flat)>(flat), {"a"})
                .message.find("record 1 of the output: view into a temporary"),
            std::string::npos);
  const auto process = [](std::string_view text, ProcessOutput<Pair>& out) {
    const std::string local(text);
    out(Pair{2, local});
  };
  EXPECT_EQ(run(ProcessOperator<Pair, decltype(process), std::string_view>(process), {"a"}).answer,
            OperatorResult::failed);
}

}  // namespace
}  // namespace hummer::view_check_test
