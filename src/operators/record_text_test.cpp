// What functions emit may point into text that their input owns: a std::string of a record goes
// with its batch, so the operator copies what is no buffer's.
#include <hummer/detail/operators/record_text.hpp>

#include <hummer/detail/operators/count_window.hpp>
#include <hummer/detail/operators/flat_map.hpp>
#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/detail/operators/keyed_window.hpp>
#include <hummer/detail/operators/map.hpp>
#include <hummer/detail/operators/process.hpp>
#include <hummer/detail/operators/slice_window.hpp>
#include <hummer/split_words.hpp>
#include <hummer/words.hpp>

#include "operators/window_test_parts.hpp"
#include "support/expect_ok.hpp"

namespace hummer::record_text_test {
namespace {

struct Note {
  std::int64_t id;
  std::string text;
};
const std::vector<Note> notes = {{1, "short"},
                                 {2, ""},
                                 {1, "a note of several words, too long to lie in itself"},
                                 {2, "two words"}};
constexpr auto id_of = [](const Note& note) { return note.id; };
constexpr auto text_of = [](const Note& note) { return std::string_view(note.text); };
using IdOf = std::remove_const_t<decltype(id_of)>;
using TextOf = std::remove_const_t<decltype(text_of)>;
using Titled = std::pair<std::int64_t, std::optional<std::string_view>>;

TEST(RecordText, AMapReturnsViews) {
  OperatorHarness<Note> views(make_operator_factory(
      [] { return std::make_unique<MapOperator<Note, std::string_view, TextOf>>(text_of); }));
  const auto titled = [](const Note& note) {
    return note.text.empty() ? Titled(note.id, {}) : Titled(note.id, note.text);
  };
  using Title = decltype(titled);
  OperatorHarness<Note> inside(make_operator_factory(
      [=] { return std::make_unique<MapOperator<Note, Titled, Title>>(titled); }));
  for (const Note& note : notes) {
    views.record(note);
    inside.record(note);
    views.output<std::string_view>().record(note.text);
    inside.output<Titled>().record(titled(note));
  }
  expect_ok(views.run());
  expect_ok(inside.run());
}

TEST(RecordText, AFlatMapEmitsWordsAndLiterals) {
  const auto split = [](const Note& note, Collector<std::string_view>& out) {
    for (const std::string_view word : words(note.text)) out(word);
    out(std::to_string(note.id));
    out("end");
  };
  using Split = decltype(split);
  OperatorHarness<Note> harness(make_operator_factory(
      [=] { return std::make_unique<FlatMapOperator<Note, std::string_view, Split>>(split); }));
  auto expected = harness.output<std::string_view>();
  harness.options().expansion_max = 20;
  for (const Note& note : notes) {
    harness.record(note);
    for (const std::string_view word : words(note.text)) expected.record(word);
    expected.record(std::to_string(note.id)).record("end");
  }
  expect_ok(harness.run());
}

struct Repeat {
  ValueState<std::int64_t> seen{"seen"};
  void process(const Note& note, KeyedOutput<std::string_view>& out) {
    seen.set(seen.get_or(0) + 1);
    out.emit(text_of(note));
  }
};

TEST(RecordText, ProcessFunctionsEmitViews) {
  const auto echo = [](const Note& note, ProcessOutput<std::string_view>& out) {
    out.emit(text_of(note));
  };
  using Echo = decltype(echo);
  OperatorHarness<Note> plain(make_operator_factory(
      [=] { return std::make_unique<ProcessOperator<std::string_view, Echo, Note>>(echo); }));
  OperatorHarness<Note> keyed(make_operator_factory([] {
    using Input = KeyedInput<Note, IdOf>;
    using Operator = KeyedProcessOperator<std::int64_t, std::string_view, Repeat, Input>;
    return std::make_unique<Operator>(Repeat{}, Input{id_of});
  }));
  for (const Note& note : notes) {
    plain.record(note);
    keyed.record(note);
    plain.output<std::string_view>().record(note.text);
    keyed.output<std::string_view>().record(note.text);
  }
  expect_ok(plain.run());
  expect_ok(keyed.run());
}

// The first text of each window.
template <typename MakeOperator>
void expect_first_texts(MakeOperator make, bool by_count) {
  OperatorHarness<Note> harness(make_operator_factory(make));
  for (const Note& note : notes) harness.record(note, 1);
  auto expected = harness.output<std::string_view>().unordered();
  const Timestamp time = by_count ? 1 : 9;
  expected.record(notes[0].text, time).record(notes[1].text, time);
  expect_ok(harness.run());
}
TEST(RecordText, WindowFunctionsEmitViewsOfTheirRecords) {
  using Bag = BagAggregate<Note>;
  const auto first = [](std::int64_t, const TimeWindow&, std::span<const Note> all,
                        Collector<std::string_view>& out) { out(text_of(all[0])); };
  using Finish = WindowFunction<std::int64_t, Bag, std::string_view, decltype(first)>;
  using Input = RecordInput<Note, std::int64_t, IdOf>;
  const Finish finish{Bag(), first};
  const auto grid = TumblingWindows::of(10);
  expect_first_texts(
      [=] {
        return std::make_unique<SliceWindowOperator<Input, std::int64_t, Bag, Finish>>(
            Input{id_of}, grid, 0, Bag(), finish);
      },
      false);
  expect_first_texts(
      [=] {
        using Operator = KeyedWindowOperator<Note, std::int64_t, IdOf, TumblingWindows,
                                             EventTimeTrigger, Bag, Finish>;
        return std::make_unique<Operator>(id_of, grid, EventTimeTrigger(), 0, Bag(), finish);
      },
      false);
  expect_first_texts(
      [=] {
        using Operator = CountWindowOperator<Note, std::int64_t, IdOf, Bag, Finish>;
        return std::make_unique<Operator>(id_of, CountWindows::of(2), Bag(), finish);
      },
      true);
}

}  // namespace
}  // namespace hummer::record_text_test
