// Sorts, merges and groups of whole inputs under the harness, and beyond their memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include <hummer/detail/bounded_operations.hpp>
#include <hummer/detail/operators/bounded_operators.hpp>
#include <hummer/testing/operator_harness.hpp>

#include "operators/group_operator.hpp"
#include "operators/merge_operator.hpp"
#include "operators/sort_operator.hpp"
#include "platform/random.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::bounded_sort_test {
namespace {

struct Sale {
  std::int32_t shop = 0;
  std::string item;
  friend bool operator==(const Sale&, const Sale&) = default;
};

constexpr auto shop_of = [](const Sale& sale) { return sale.shop; };
using ShopOf = std::remove_const_t<decltype(shop_of)>;
constexpr std::size_t memory_bytes = std::size_t{1} << 20;

template <typename T, typename KeyOf>
auto sort_factory(KeyOf key_of, SortOrder order = SortOrder::ascending) {
  return make_bounded_factory([=](std::size_t memory) -> std::unique_ptr<Operator> {
    if (order == SortOrder::ascending) {
      return std::make_unique<SortOperator>(
          std::make_unique<RecordCodingOf<T, KeyOf, KeyBytes::ordered, true>>(key_of), memory);
    }
    return std::make_unique<SortOperator>(
        std::make_unique<RecordCodingOf<T, KeyOf, KeyBytes::reversed, true>>(key_of), memory);
  });
}

template <typename Harness>
void expect_ok(Harness& harness) {
  const auto platform = make_simulated_platform({.seed = 1});
  harness.options().place.platform = platform.get();
  harness.options().with_snapshots = false;  // a job with one of them has none
  const HarnessReport report = harness.run();
  EXPECT_TRUE(report.ok()) << report.text();
}

TEST(SortOperator, SortsStablyAndEmitsAtTheEnd) {
  OperatorHarness<Sale> harness(sort_factory<Sale>(shop_of));
  harness.records({{3, "a"}, {1, "b"}, {3, "c"}}).idle();
  harness.records({{-2, "d"}, {1, "e"}, {3, "f"}, {1, ""}});
  harness.output<Sale>().records(
      {{-2, "d"}, {1, "b"}, {1, "e"}, {1, ""}, {3, "a"}, {3, "c"}, {3, "f"}});
  expect_ok(harness);
}

TEST(SortOperator, DescendsStably) {
  OperatorHarness<Sale> harness(sort_factory<Sale>(shop_of, SortOrder::descending));
  harness.records({{1, "b"}, {3, "a"}, {1, "e"}, {3, "c"}});
  harness.output<Sale>().records({{3, "a"}, {3, "c"}, {1, "b"}, {1, "e"}});
  expect_ok(harness);
}

TEST(SortOperator, KeepsViewsAndTimestampsAndHoldsWatermarksBack) {
  const auto text = [](std::string_view line) { return line; };
  OperatorHarness<std::string_view> harness(sort_factory<std::string_view>(text));
  harness.record("pear", 5).watermark(5).record("apple", 9).record("fig").watermark(12);
  harness.output<std::string_view>().record("apple", 9).record("fig").record("pear", 5);
  expect_ok(harness);
}

TEST(SortOperator, KeepsTheTimesOfSomeOfManyRecords) {
  const auto itself = [](std::int64_t number) { return number; };
  OperatorHarness<std::int64_t> harness(sort_factory<std::int64_t>(itself));
  auto expected = harness.output<std::int64_t>();
  // Stretches that are longer than what is read of a sort at once.
  for (std::int64_t number = 0; number < 800; ++number) {
    const Timestamp time = number / 200 % 2 == 0 ? number : no_timestamp;
    harness.record(number, time);
    expected.record(number, time);
  }
  expect_ok(harness);
}

TEST(SortOperator, NothingOfNothing) {
  OperatorHarness<Sale> harness(sort_factory<Sale>(shop_of));
  harness.output<Sale>();
  expect_ok(harness);
}

TEST(SortOperator, NamesTheRecordWhoseKeyThrows) {
  const auto key_of = [](const Sale& sale) {
    if (sale.item == "bad") throw std::runtime_error("no key");
    return sale.shop;
  };
  OperatorHarness<Sale> harness(sort_factory<Sale>(key_of));
  harness.records({{1, "good"}, {2, "bad"}});
  harness.output<Sale>();
  harness.expect_failure("record 1: no key");
  expect_ok(harness);
}

// ---- by hand, with inputs that are larger than the memory ----

template <typename T>
class ByHand {
 public:
  ByHand(std::unique_ptr<Operator> op, Platform& platform)
      : context_({.name = "sort", .platform = &platform}), operator_(std::move(op)) {
    operator_->set_context(context_);
    operator_->declare(out_);
    EXPECT_TRUE(operator_->open().ok());
  }
  template <typename In>
  void process(const std::vector<In>& records) {
    for (std::size_t at = 0; at < records.size(); at += 1000) {
      const std::size_t count = std::min<std::size_t>(records.size() - at, 1000);
      Batch in(type_of<In>(), 1000);
      for (std::size_t i = 0; i < count; ++i) new (in.mutable_values<In>() + i) In(records[at + i]);
      in.set_size(count);
      call([&] { return operator_->process(in, out_); });
    }
  }
  std::vector<T> end() {
    call([&] { return operator_->end(out_); });
    EXPECT_EQ(context_.memory()->disk_bytes(), 0u) << "files that are gone do not count";
    return std::move(seen_);
  }
  std::size_t most_disk_bytes() const { return most_disk_bytes_; }
  std::size_t most_used_bytes() const { return most_used_bytes_; }
  std::size_t calls() const { return calls_; }
  Operator& op() { return *operator_; }

 private:
  template <typename Call>
  void call(Call&& call) {
    for (;;) {
      const OperatorResult answer = call();
      ++calls_;
      for (const T& record : out_.batch().template values<T>()) seen_.push_back(record);
      out_.batch().clear();
      most_disk_bytes_ = std::max(most_disk_bytes_, context_.memory()->disk_bytes());
      most_used_bytes_ = std::max(most_used_bytes_, context_.memory()->used_bytes());
      if (answer == OperatorResult::done) return;
      ASSERT_EQ(answer, OperatorResult::more) << context_.failure().to_string();
    }
  }

  FakeOperatorContext context_;
  std::unique_ptr<Operator> operator_;
  Output out_;
  std::vector<T> seen_;
  std::size_t most_disk_bytes_ = 0;
  std::size_t most_used_bytes_ = 0;
  std::size_t calls_ = 0;
};

std::vector<Sale> drawn_sales(std::uint64_t seed, std::size_t count, std::uint64_t shops) {
  Random random(seed);
  std::vector<Sale> sales;
  for (std::size_t i = 0; i < count; ++i) {
    sales.push_back({static_cast<std::int32_t>(random.below(shops)) - 7, std::to_string(i)});
  }
  return sales;
}

TEST(SortOperator, SortsWhatIsLargerThanItsMemory) {
  const auto platform = make_simulated_platform({.seed = 2});
  std::vector<Sale> sales = drawn_sales(2, drawn_cases(120'000), 900);
  ByHand<Sale> run(sort_factory<Sale>(shop_of)->make(), *platform);
  run.process(sales);
  std::stable_sort(sales.begin(), sales.end(),
                   [](const Sale& a, const Sale& b) { return a.shop < b.shop; });
  EXPECT_TRUE(run.end() == sales);
  if (!under_sanitizers) EXPECT_GT(run.most_disk_bytes(), std::size_t{2} << 20);
  EXPECT_LE(run.most_used_bytes(), memory_bytes);
  EXPECT_GT(run.most_used_bytes(), memory_bytes / 3);
}

// ---- merging ----

auto merge_of_sales() {
  return std::make_unique<MergeOperator>(
      std::make_unique<RecordCodingOf<Sale, ShopOf, KeyBytes::ordered>>(shop_of));
}

TEST(MergeOperator, PassesOneSortedInputOn) {
  OperatorHarness<Sale> harness(
      make_operator_factory([]() -> std::unique_ptr<Operator> { return merge_of_sales(); }));
  harness.records({{1, "a"}, {1, "b"}, {2, "c"}, {5, "d"}});
  harness.output<Sale>().records({{1, "a"}, {1, "b"}, {2, "c"}, {5, "d"}});
  expect_ok(harness);
}

TEST(MergeOperator, KeepsViewsAndTimestamps) {
  const auto text = [](std::string_view line) { return line; };
  using Coding =
      RecordCodingOf<std::string_view, std::remove_const_t<decltype(text)>, KeyBytes::ordered>;
  OperatorHarness<std::string_view> harness(
      make_operator_factory([text]() -> std::unique_ptr<Operator> {
        return std::make_unique<MergeOperator>(std::make_unique<Coding>(text));
      }));
  harness.record("apple", 5).record("fig").record("pear", 9);
  harness.output<std::string_view>().record("apple", 5).record("fig").record("pear", 9);
  expect_ok(harness);
}

// Channels as a task reads them: the one that is wanted, else any; some end with a batch, some
// without one, and some are empty.
TEST(MergeOperator, MergesChannelsThatItChooses) {
  for (std::uint64_t seed = 1; seed <= static_cast<std::uint64_t>(drawn_cases(300)); ++seed) {
    Random random(seed);
    const std::size_t count = 1 + random.below(7);
    std::vector<std::vector<Sale>> channels(count);
    std::vector<std::pair<Sale, std::size_t>> expected;
    for (std::size_t c = 0; c < count; ++c) {
      const std::size_t records = random.below(4) == 0 ? 0 : random.below(60);
      std::vector<Sale>& sales = channels[c];
      for (std::size_t i = 0; i < records; ++i) {
        sales.push_back({static_cast<std::int32_t>(random.below(9)), std::to_string(c)});
      }
      std::stable_sort(sales.begin(), sales.end(),
                       [](const Sale& a, const Sale& b) { return a.shop < b.shop; });
      for (std::size_t i = 0; i < records; ++i) {
        sales[i].item += "." + std::to_string(i);
        expected.emplace_back(sales[i], c);
      }
    }
    std::stable_sort(expected.begin(), expected.end(),
                     [](const auto& a, const auto& b) { return a.first.shop < b.first.shop; });

    FakeOperatorContext context;
    MergeOperator merge(std::make_unique<RecordCodingOf<Sale, ShopOf, KeyBytes::ordered>>(shop_of));
    merge.set_context(context);
    Output out(1 + static_cast<std::uint32_t>(random.below(20)));
    merge.declare(out);
    merge.set_channels(std::vector<int>(count, 0));
    std::vector<Sale> seen;
    const auto call = [&](auto&& make) {
      for (;;) {
        const OperatorResult answer = make();
        for (const Sale& sale : out.batch().values<Sale>()) seen.push_back(sale);
        out.batch().clear();
        if (answer == OperatorResult::done) return;
        ASSERT_EQ(answer, OperatorResult::more);
      }
    };
    std::vector<std::size_t> at(count, 0);
    std::vector<bool> ended(count, false);
    std::size_t live = count;
    while (live > 0) {
      std::size_t channel = merge.wanted_channel();
      ASSERT_NE(channel, ChoosesInput::any);
      ASSERT_FALSE(ended[channel]);
      const std::size_t left = channels[channel].size() - at[channel];
      const std::size_t taken = std::min<std::size_t>(left, 1 + random.below(10));
      const bool ends = taken == left && (taken == 0 || random.below(2) == 0);
      Batch in(type_of<Sale>(), 16);
      for (std::size_t i = 0; i < taken; ++i) {
        new (in.mutable_values<Sale>() + i) Sale(channels[channel][at[channel]++]);
      }
      in.set_size(taken);
      if (taken > 0) merge.comes_by(channel);
      if (ends) {
        merge.has_ended(channel);
        ended[channel] = true;
        --live;
      }
      if (taken > 0) call([&] { return merge.process(in, out); });
    }
    call([&] { return merge.end(out); });
    ASSERT_EQ(seen.size(), expected.size()) << "seed " << seed;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ASSERT_TRUE(seen[i] == expected[i].first) << "seed " << seed << ", record " << i;
    }
  }
}

// ---- groups ----

using Total = std::pair<std::int32_t, std::string>;

template <typename Function>
auto group_factory(Function function) {
  return make_bounded_factory([function](std::size_t memory) -> std::unique_ptr<Operator> {
    return std::make_unique<GroupOperator>(
        std::make_unique<RecordCodingOf<Sale, ShopOf, KeyBytes::ordered>>(shop_of),
        std::make_unique<detail::GroupFunctionOf<Sale, ShopOf, Total, Function>>(shop_of, function),
        memory);
  });
}

constexpr auto join_items = [](const std::int32_t& shop, Group<Sale>& group,
                               Collector<Total>& out) {
  std::string items;
  while (const Sale* sale = group.next()) items += sale->item;
  out(Total(shop, items));
};

TEST(GroupOperator, HandsEachGroupOnceInOrder) {
  OperatorHarness<Sale> harness(group_factory(join_items));
  harness.records({{3, "a"}, {1, "b"}, {3, "c"}}).idle().records({{-2, "d"}, {1, "e"}, {3, "f"}});
  harness.output<Total>().records({{-2, "d"}, {1, "be"}, {3, "acf"}});
  expect_ok(harness);
}

TEST(GroupOperator, PassesOverWhatAFunctionLeaves) {
  OperatorHarness<Sale> harness(
      group_factory([](const std::int32_t& shop, Group<Sale>& group, Collector<Total>& out) {
        if (shop == 1) return;
        out(Total(shop, group.next()->item));
      }));
  harness.records({{3, "a"}, {1, "b"}, {3, "c"}, {2, "d"}, {1, "e"}, {3, "f"}});
  harness.output<Total>().records({{2, "d"}, {3, "a"}});
  expect_ok(harness);
}

TEST(GroupOperator, AGroupMayBeLargerThanTheMemory) {
  const auto platform = make_simulated_platform({.seed = 3});
  std::vector<Sale> sales = drawn_sales(3, drawn_cases(90'000), 40);
  for (std::size_t i = 0; i < sales.size(); ++i) {
    if (i % 3 != 0) sales[i].shop = 5;
  }
  std::map<std::int32_t, std::pair<std::uint64_t, std::uint64_t>> expected;
  const auto add = [](auto& total, const Sale& sale) {
    ++total.first;
    total.second = total.second * 31 + std::stoull(sale.item);  // in order
  };
  for (const Sale& sale : sales) add(expected[sale.shop], sale);
  ByHand<Total> run(
      group_factory([add](const std::int32_t& shop, Group<Sale>& group, Collector<Total>& out) {
        std::pair<std::uint64_t, std::uint64_t> total;
        while (const Sale* sale = group.next()) add(total, *sale);
        out(Total(shop, std::to_string(total.first) + " " + std::to_string(total.second)));
      })->make(),
      *platform);
  run.process(sales);
  std::vector<Total> totals;
  for (const auto& [shop, total] : expected) {
    totals.emplace_back(shop, std::to_string(total.first) + " " + std::to_string(total.second));
  }
  EXPECT_TRUE(run.end() == totals);
}

}  // namespace
}  // namespace hummer::bounded_sort_test
