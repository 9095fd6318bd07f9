// Text and its owners, as a job's author meets them: views of local variables are found in every
// build, and std::string may stand wherever a stream has text.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include <hummer/hummer.hpp>

#include "platform/simulation.hpp"

namespace hummer::local_text_test {
namespace {

using Count = KeyValue<std::string, std::uint64_t>;
using Text = DataStream<std::string_view>;

std::vector<std::string> seen;  // of the job in hand

const auto see = [](const std::string& text) { seen.push_back(text); };

template <typename Describe>
Status run(Describe describe, CheckViews check_views = CheckViews::automatic) {
  seen.clear();
  const auto platform = make_simulated_platform({.seed = 5});
  EnvironmentOptions options;
  options.parallelism = 2;
  options.platform = platform.get();
  options.check_views = check_views;
  StreamExecutionEnvironment env(options);
  describe(env.from_collection(std::vector<std::string>{"one", "two", "two"}));
  const Status status = env.execute("text").status;
  std::sort(seen.begin(), seen.end());
  return status;
}

// A view of a local variable that is gone when it returns.
template <std::size_t padding>
const char* shout(std::string_view text, std::string& changed) {
  changed = std::string(text) + std::string(padding, '!');
  return changed.data();
}
constexpr std::size_t in_the_stack = 1;
constexpr std::size_t on_the_heap = 40;

template <std::size_t padding>
struct Shout {
  std::string_view operator()(std::string_view text) const {
    std::string changed;
    return {shout<padding>(text, changed), text.size() + padding};
  }
};

void expect_temporary(const Status& status) {
  EXPECT_EQ(status.code(), ErrorCode::user_function_failed);
  EXPECT_NE(status.message().find("view into a temporary"), std::string::npos)
      << status.to_string();
}

TEST(LocalText, AViewOfALocalVariableFailsTheJob) {
  expect_temporary(run([](const Text& text) { text.map(Shout<in_the_stack>()).for_each(see); }));
  expect_temporary(run([](const Text& text) { text.map(Shout<on_the_heap>()).for_each(see); }));
  expect_temporary(run([](const Text& text) {
    text.flat_map([](std::string_view each, Collector<KeyValue<int, std::string_view>>& out) {
          const std::string changed = std::string(each) + "!";
          out(KeyValue<int, std::string_view>{1, each});
          out(KeyValue<int, std::string_view>{2, changed});
        })
        .print();
  }));
  EXPECT_TRUE(seen.empty());
}

TEST(LocalText, ThatIsSwitchedOff) {
  // Not of a view that is gone, but of one that the engine can't know.
  static const std::string kept(100, 'x');
  const auto outlive = [](const Text& text) {
    text.map([](std::string_view) { return std::string_view(kept); }).for_each(see);
  };
  expect_temporary(run(outlive));
  if (views_are_checked) return;  // a debug build, where nothing switches it off
  EXPECT_TRUE(run(outlive, CheckViews::off).ok());
  EXPECT_EQ(seen, std::vector<std::string>(3, kept));
}

TEST(LocalText, SoundViewsPass) {
  const Status status = run([](const Text& text) {
    text.map([](std::string_view each) { return each.substr(1); })
        .map([](std::string_view each) { return each == "wo" ? "t" : each; })
        .map([](std::string_view each) { return std::string(each) + "!"; })
        .for_each(see);
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(seen, (std::vector<std::string>{"ne!", "t!", "t!"}));
}

#ifndef __SANITIZE_ADDRESS__  // which keeps locals elsewhere, and finds it itself
TEST(LocalText, AKeyThatIsAViewOfALocalVariableFailsTheJob) {
  for (const Emit emit : {Emit::at_end, Emit::every_record}) {
    const Status status = run([&](const Text& text) {
      text.key_by(Shout<in_the_stack>()).count(emit).for_each([](const Count&) {});
    });
    EXPECT_EQ(status.code(), ErrorCode::user_function_failed);
    EXPECT_NE(status.message().find("the key is a view of a local variable"), std::string::npos)
        << status.to_string();
  }
}
#endif

// ---- std::string stays std::string ----

TEST(OwnedText, FunctionsTakeStringsWhereTheStreamHasViews) {
  const Status status = run([](const Text& text) {
    text.map([](const std::string& each) { return each + "!"; })
        .filter([](const std::string& each) { return each != "one!"; })
        .flat_map([](const std::string& each, Collector<std::string>& out) { out(each + "?"); })
        .key_by([](const std::string& each) { return each; })
        .count()
        .map([](const Count& count) { return count.key + std::to_string(count.value); })
        .for_each(see);
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(seen, std::vector<std::string>{"two!?2"});
}

TEST(OwnedText, AStreamOfViewsIsAStreamOfStringsWhereThatIsAskedFor) {
  const Status status = run([](const Text& text) {
    const DataStream<Count> counts = text.key_by(identity).count();
    counts.for_each([](const Count& count) { seen.push_back(count.key); });
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two"}));
}

struct Numbered {
  ValueState<std::uint64_t> count{"count"};
  void process(const std::string& text, KeyedOutput<std::string_view>& out) {
    count.set(count.get_or(0) + 1);
    out.emit(out.key<std::string>() + "=" + text + std::to_string(count.get_or(0)));
  }
};

TEST(OwnedText, TheKeyInHandIsAString) {
  const Status status =
      run([](const Text& text) { text.key_by(identity).process(Numbered()).for_each(see); });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(seen, (std::vector<std::string>{"one=one1", "two=two1", "two=two2"}));
}

TEST(OwnedText, WindowFunctionsTakeStrings) {
  const Status status = run([](const Text& text) {
    const auto windows = text.assign_timestamps([](const std::string&) { return std::int64_t{1}; },
                                                WatermarkStrategy::bounded(0))
                             .key_by([](const std::string& each) { return each; })
                             .window(TumblingWindows::of(10));
    windows
        .aggregate(CountAggregate{},
                   [](const std::string& key, const TimeWindow&, const std::uint64_t& count,
                      Collector<std::string>& out) { out(key + std::to_string(count)); })
        .for_each(see);
    windows
        .process([](const std::string& key, const TimeWindow&, std::span<const std::string> all,
                    Collector<std::string>& out) { out(key + ":" + all.front()); })
        .for_each(see);
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(seen, (std::vector<std::string>{"one1", "one:one", "two2", "two:two"}));
}

class Seen final : public SinkFunction<Count> {
 public:
  OperatorResult write(std::span<const Count> counts) override {
    for (const Count& count : counts) seen.push_back(count.key);
    return OperatorResult::done;
  }
};

TEST(OwnedText, SinksOfStringsTakeAStreamOfViews) {
  const Status status = run([](const Text& text) {
    text.key_by(identity).count().add_sink("seen", [] { return std::make_unique<Seen>(); });
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two"}));
}

TEST(OwnedText, WhereNothingCanTellThereAreViews) {
  const Status status = run([](const Text& text) {
    text.key_by(identity).count().for_each([](const auto& count) {
      static_assert(std::is_same_v<std::remove_cvref_t<decltype(count.key)>, std::string_view>);
      seen.emplace_back(count.key);
    });
  });
  ASSERT_TRUE(status.ok()) << status.to_string();
  EXPECT_EQ(seen, (std::vector<std::string>{"one", "two"}));
}

}  // namespace
}  // namespace hummer::local_text_test
