// Window joins in long random runs against a plain loop: tumbling and sliding, with late records,
// with hardly any memory, and with snapshots from which others go on.
#include <hummer/detail/operators/window_join.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <hummer/detail/testing/fake_operator_context.hpp>
#include <hummer/detail/testing/take_snapshot.hpp>

#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::window_join_test {
namespace {

// One that is kept in its encoding, and one that is kept as it lies in memory, with padding.
struct Left {
  std::string shop;
  int id;
};
struct Right {
  std::int64_t id;
  int shop;
};
static_assert(!LoggedRecords<Left>::in_place && LoggedRecords<Right>::in_place);
static_assert(!is_bitwise<Right>);

std::string name_of(int shop) { return "the shop with number " + std::to_string(shop); }
constexpr auto left_shop = [](const Left& left) -> const std::string& { return left.shop; };
constexpr auto right_shop = [](const Right& right) { return name_of(right.shop); };
using LeftShop = std::remove_const_t<decltype(left_shop)>;
using RightShop = std::remove_const_t<decltype(right_shop)>;

// Key, end of the window, and ids of both sides; of a co-group of all of them.
struct Joined {
  std::string shop;
  Timestamp end = 0;
  std::vector<std::int64_t> left;
  std::vector<std::int64_t> right;
  auto operator<=>(const Joined&) const = default;
};
constexpr auto pair_of = [](const Left& left, const Right& right) {
  return Joined{left.shop, 0, {left.id}, {right.id}};
};
constexpr auto all_of = [](TimeWindow window, std::span<const Left> lefts,
                           std::span<const Right> rights, KeyedOutput<Joined>& out) {
  Joined all{out.key<std::string>(), window.end_ms, {}, {}};
  for (const Left& left : lefts) all.left.push_back(left.id);
  for (const Right& right : rights) all.right.push_back(right.id);
  out.emit(std::move(all));
};

std::unique_ptr<Operator> make_join(const WindowGrid& grid, bool co_group) {
  const KeyedInput<Left, LeftShop> left{left_shop};
  const KeyedInput<Right, RightShop> right{right_shop};
  using K = std::string_view;
  if (co_group) {
    return std::make_unique<
        WindowJoinOperator<K, Left, Right, Joined, decltype(all_of), LeftShop, RightShop, true>>(
        grid, all_of, left, right);
  }
  return std::make_unique<
      WindowJoinOperator<K, Left, Right, Joined, decltype(pair_of), LeftShop, RightShop, false>>(
      grid, pair_of, left, right);
}

struct Drawn {
  int shop;
  std::int64_t id;
  Timestamp time;
  std::size_t side;
};
using Pieces = std::vector<std::string>;  // of a subtask: a whole one, and deltas

// Those of a window and key stay in order.
void order(std::vector<Joined>& results) {
  std::stable_sort(results.begin(), results.end(), [](const Joined& a, const Joined& b) {
    return std::tie(a.end, a.shop) < std::tie(b.end, b.shop);
  });
}

class Subtask {
 public:
  Subtask(const WindowGrid& grid, bool co_group, const FakeOperatorContext::Place& place)
      : context_(place), join_(make_join(grid, co_group)) {
    join_->set_context(context_);
    join_->declare(out_);
    out_.set_soft_limit(7);
    context_.set_snapshot_step_bytes(1000);  // many steps
  }
  Status start(const std::vector<Pieces>& restored) {
    for (const Pieces& of_one : restored) {
      for (const std::string& piece : of_one) {
        ByteReader in(piece);
        context_.set_delta_follows(&piece != &of_one.back());
        HUMMER_TRY(join_->restore(in));
      }
    }
    return join_->open();
  }
  // Those of the records whose keys are its own.
  Status process(const std::vector<Drawn>& records) {
    HUMMER_TRY(process_side<Left>(0, records, [](const Drawn& one) {
      return Left{name_of(one.shop), static_cast<int>(one.id)};
    }));
    return process_side<Right>(1, records,
                               [](const Drawn& one) { return Right{one.id, one.shop}; });
  }
  Status watermark(Timestamp time) {
    return call([&] { return join_->watermark(time, out_); });
  }
  Status end() {
    return call([&] { return join_->end(out_); });
  }
  Status begin_snapshot(bool may_be_delta) {
    bytes_.clear();
    ByteWriter out(bytes_);
    context_.set_may_write_delta(may_be_delta);
    HUMMER_TRY(join_->snapshot(out));
    bytes_.resize(out.size());
    return {};
  }
  // True: it is complete.
  Result<bool> step_snapshot() {
    std::string step;
    ByteWriter out(step);
    const OperatorResult answer = join_->snapshot_rest(out);
    bytes_.append(out.view());
    if (answer == OperatorResult::failed) return context_.failure();
    if (answer != OperatorResult::done) return false;
    if (!context_.has_written_delta()) pieces.clear();
    pieces.push_back(bytes_);
    return true;
  }
  Pieces snapshot(bool may_be_delta) {
    EXPECT_TRUE(begin_snapshot(may_be_delta).ok());
    for (;;) {
      const Result<bool> complete = step_snapshot();
      EXPECT_TRUE(complete.ok());
      if (*complete) return pieces;
    }
  }
  std::size_t disk_bytes() { return context_.memory()->disk_bytes(); }
  bool owns(int shop) const { return context_.owns_key(name_of(shop)); }

  std::vector<Joined> results;
  std::vector<std::int64_t> late;
  Pieces pieces;  // of its snapshot

 private:
  template <typename T, typename Make>
  Status process_side(std::size_t side, const std::vector<Drawn>& records, Make make) {
    Batch in(type_of<T>(), static_cast<std::uint32_t>(records.size()));
    std::size_t count = 0;
    for (const Drawn& one : records) {
      if (one.side != side || !owns(one.shop)) continue;
      new (in.mutable_values<T>() + count++) T(make(one));
      in.timestamps().push_back(one.time);
      in.set_size(count);
    }
    return call([&] { return join_->process_input(static_cast<int>(side), in, out_); });
  }
  template <typename Call>
  Status call(Call&& function) {
    for (;;) {
      const OperatorResult answer = function();
      const auto& times = out_.batch().timestamps();
      for (const Joined& one : out_.batch().values<Joined>()) {
        results.push_back(one);
        results.back().end =
            times[static_cast<std::size_t>(&one - out_.batch().values<Joined>().data())] + 1;
      }
      for (const Left& one : out_.batch(1).values<Left>()) late.push_back(one.id);
      for (const Right& one : out_.batch(2).values<Right>()) late.push_back(one.id);
      for (std::size_t port = 0; port < 3; ++port) out_.batch(port).clear();
      if (answer == OperatorResult::failed) return context_.failure();
      if (answer == OperatorResult::done) return {};
    }
  }

  FakeOperatorContext context_;
  std::unique_ptr<Operator> join_;
  Output out_;
  std::string bytes_;
};

// The same by a loop over all that there is.
class PlainLoop {
 public:
  PlainLoop(const WindowGrid& grid, bool co_group) : grid_(grid), co_group_(co_group) {}

  void process(const std::vector<Drawn>& records) {
    for (const Drawn& one : records) {
      bool in_some = false;
      bool in_time = false;
      grid_.each_window(one.time, [&](const TimeWindow& window) {
        in_some = true;
        in_time |= window.end_ms > watermark_;
      });
      if (in_time) records_.push_back(one);
      if (in_some && !in_time) late.push_back(one.id);
    }
  }
  void watermark(Timestamp time) {
    if (time <= watermark_) return;
    std::map<std::pair<Timestamp, std::string>, std::array<std::vector<Drawn>, 2>> groups;
    for (const Drawn& one : records_) {
      grid_.each_window(one.time, [&](const TimeWindow& window) {
        if (window.end_ms <= watermark_ || window.end_ms > time) return;
        groups[{window.end_ms, name_of(one.shop)}][one.side].push_back(one);
      });
    }
    for (auto& [at, sides] : groups) {
      for (auto& side : sides) {
        std::stable_sort(side.begin(), side.end(),
                         [](const Drawn& a, const Drawn& b) { return a.time < b.time; });
      }
      put_out(at.first, at.second, sides);
    }
    watermark_ = time;
    std::erase_if(records_, [&](const Drawn& one) {
      return grid_.last_end(grid_.slice_of(one.time)) <= watermark_;
    });
  }

  std::vector<Joined> results;
  std::vector<std::int64_t> late;

 private:
  void put_out(Timestamp end, const std::string& shop,
               const std::array<std::vector<Drawn>, 2>& sides) {
    if (co_group_) {
      Joined& all = results.emplace_back(Joined{shop, end, {}, {}});
      for (const Drawn& one : sides[0]) all.left.push_back(one.id);
      for (const Drawn& one : sides[1]) all.right.push_back(one.id);
      return;
    }
    for (const Drawn& left : sides[0]) {
      for (const Drawn& right : sides[1]) {
        results.push_back(Joined{shop, end, {left.id}, {right.id}});
      }
    }
  }

  const WindowGrid grid_;
  const bool co_group_;
  std::vector<Drawn> records_;
  Timestamp watermark_ = no_timestamp;
};

struct Faults {
  double read = 0;
  double write = 0;
};

class RandomRun {
 public:
  RandomRun(std::uint64_t seed, const WindowGrid& grid, bool co_group, Faults faults)
      : random_(seed),
        seed_(seed),
        grid_(grid),
        co_group_(co_group),
        node_(make_simulated_platform({.seed = seed})),
        plain_(grid, co_group) {
    node_->simulation().options().read_fault_rate = faults.read;
    node_->simulation().options().write_fault_rate = faults.write;
  }

  // Ok, or how it failed or what was wrong.
  Status run() {
    HUMMER_TRY(start({}));
    for (int round = 0; round < (under_sanitizers ? 20 : 50); ++round) {
      HUMMER_TRY(go_on());
      if (random_.chance(0.25)) HUMMER_TRY(snapshot());
    }
    plain_.watermark(end_of_time);
    for (auto& subtask : subtasks_) HUMMER_TRY(subtask->end());
    return compare();
  }
  bool has_spilled() const { return has_spilled_; }
  bool has_restored_deltas() const { return has_restored_deltas_; }

 private:
  // New subtasks, as many as it happens, with whatever memory.
  Status start(const std::vector<Pieces>& pieces) {
    const int count = static_cast<int>(random_.between(1, 3));
    subtasks_.clear();
    for (int i = 0; i < count; ++i) {
      const std::size_t limit = random_.chance(0.2) ? 0 : std::size_t{1} << random_.between(17, 22);
      subtasks_.push_back(
          std::make_unique<Subtask>(grid_, co_group_,
                                    FakeOperatorContext::Place{.name = "join",
                                                               .subtask = i,
                                                               .parallelism = count,
                                                               .platform = node_.get(),
                                                               .memory_limit_bytes = limit}));
      HUMMER_TRY(subtasks_.back()->start(pieces));
    }
    return {};
  }
  std::vector<Drawn> draw() {
    std::vector<Drawn> records;
    const std::int64_t shops = random_.chance(0.2) ? 20 : 2000;
    const std::uint64_t count = 1 + random_.below(shops == 20 ? 30 : 1500);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Timestamp time = now_ + random_.between(random_.chance(0.1) ? -60 : -10, 30);
      records.push_back({static_cast<int>(random_.between(0, shops)), ++ids_, time,
                         static_cast<std::size_t>(random_.chance(0.7) ? 1 : 0)});
    }
    return records;
  }
  Status go_on() {
    const std::vector<Drawn> records = draw();
    plain_.process(records);
    for (auto& subtask : subtasks_) HUMMER_TRY(subtask->process(records));
    if (random_.chance(0.5)) {
      now_ += random_.between(0, 25);
      plain_.watermark(now_ - 10);
      for (auto& subtask : subtasks_) HUMMER_TRY(subtask->watermark(now_ - 10));
    }
    return compare();
  }
  Status compare() {
    std::vector<Joined> seen;
    std::vector<std::int64_t> late;
    for (auto& subtask : subtasks_) {
      seen.insert(seen.end(), subtask->results.begin(), subtask->results.end());
      late.insert(late.end(), subtask->late.begin(), subtask->late.end());
      subtask->results.clear();
      subtask->late.clear();
      has_spilled_ |= subtask->disk_bytes() > 0;
    }
    order(seen);
    order(plain_.results);
    std::sort(late.begin(), late.end());
    std::sort(plain_.late.begin(), plain_.late.end());
    const bool same = seen == plain_.results && late == plain_.late;
    plain_.results.clear();
    plain_.late.clear();
    if (same) return {};
    return {ErrorCode::internal, "results are not the plain loop's, seed " + std::to_string(seed_)};
  }
  // Records go on while it is written. Where it is restored, what came meanwhile has never been.
  Status snapshot() {
    const bool is_restored = random_.chance(0.4);
    const bool may_be_delta = random_.chance(0.8);
    for (auto& subtask : subtasks_) HUMMER_TRY(subtask->begin_snapshot(may_be_delta));
    const Timestamp then = now_;
    for (auto& subtask : subtasks_) {
      for (;;) {
        const Result<bool> complete = subtask->step_snapshot();
        if (!complete.ok()) return complete.status();
        if (*complete) break;
        if (!random_.chance(0.03)) continue;
        if (!is_restored) {
          HUMMER_TRY(go_on());
        } else {
          for (auto& each : subtasks_) HUMMER_TRY(each->process(draw()));
          now_ += random_.between(0, 25);
          for (auto& each : subtasks_) HUMMER_TRY(each->watermark(now_ - 10));
        }
      }
    }
    if (!is_restored) return {};
    now_ = then;
    std::vector<Pieces> pieces;
    for (const auto& subtask : subtasks_) {
      pieces.push_back(subtask->pieces);
      has_restored_deltas_ |= subtask->pieces.size() > 1;
    }
    return start(pieces);
  }

  Random random_;
  const std::uint64_t seed_;
  const WindowGrid grid_;
  const bool co_group_;
  std::unique_ptr<SimulatedPlatform> node_;
  PlainLoop plain_;
  std::vector<std::unique_ptr<Subtask>> subtasks_;
  Timestamp now_ = 0;
  std::int64_t ids_ = 0;
  bool has_spilled_ = false;
  bool has_restored_deltas_ = false;
};

constexpr std::uint64_t seeds = drawn_cases(3);

// Under sanitizers runs are short ones, of which some happen to see neither disk nor deltas.
void expect_most(std::uint64_t count) {
  if (!under_sanitizers) EXPECT_GT(2 * count, seeds);
}

TEST(WindowJoinState, LongRunsAreThoseOfThePlainLoop) {
  for (const WindowGrid& grid :
       {WindowGrid(TumblingWindows::of(40)), WindowGrid(SlidingWindows::of(40, 10)),
        WindowGrid(SlidingWindows::of(10, 25)),  // with gaps
        WindowGrid(SlidingWindows::of(50, 20))}) {
    for (const bool co_group : {false, true}) {
      std::uint64_t spilled = 0;
      std::uint64_t by_deltas = 0;
      for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
        RandomRun run(seed, grid, co_group, {});
        const Status status = run.run();
        EXPECT_TRUE(status.ok()) << status.to_string() << " windows of " << grid.size_ms << " by "
                                 << grid.slide_ms << (co_group ? ", co-group" : "");
        spilled += run.has_spilled() ? 1 : 0;
        by_deltas += run.has_restored_deltas() ? 1 : 0;
      }
      expect_most(spilled);
      expect_most(by_deltas);
    }
  }
}

TEST(WindowJoinState, ADiskThatFailsFailsTheOperatorAndNothingElse) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) {
    const bool reads = seed % 2 == 0;
    RandomRun run(seed, SlidingWindows::of(40, 10), false,
                  {.read = reads ? 0.002 : 0, .write = reads ? 0 : 0.02});
    const Status status = run.run();
    if (status.ok()) continue;
    ++failures;
    EXPECT_EQ(status.code(), ErrorCode::io_error) << status.to_string();
    EXPECT_NE(status.message().find("the state of operator 'join' on disk"), std::string::npos)
        << status.message();
  }
  if (!under_sanitizers) EXPECT_GT(failures, 3);
}

// One of two had put a window out when both were saved; a third goes on at the other's watermark.
TEST(WindowJoinState, AWindowOfASubtaskThatWasAheadDoesNotGoOutAgain) {
  const WindowGrid grid = SlidingWindows::of(20, 10);
  std::vector<Pieces> pieces;
  int shops[2] = {0, 0};
  for (int i = 0; i < 2; ++i) {
    Subtask subtask(grid, false, {.subtask = i, .parallelism = 2});
    ASSERT_TRUE(subtask.start({}).ok());
    while (!subtask.owns(shops[i])) ++shops[i];
    ASSERT_TRUE(subtask.process({{shops[i], 1, 5, 0}, {shops[i], 2, 6, 1}}).ok());
    ASSERT_TRUE(subtask.watermark(0).ok());
    (void)subtask.snapshot(false);
    if (i == 0) {
      ASSERT_TRUE(subtask.watermark(12).ok());
    }
    EXPECT_EQ(subtask.results.size(), i == 0 ? 1u : 0u);
    pieces.push_back(subtask.snapshot(true));
    EXPECT_EQ(pieces.back().size(), 2u);
  }
  Subtask both(grid, false, {.subtask = 0, .parallelism = 1});
  ASSERT_TRUE(both.start(pieces).ok());
  const Pieces again = both.snapshot(false);  // and once more before that watermark is reached
  Subtask last(grid, false, {.subtask = 0, .parallelism = 1});
  ASSERT_TRUE(last.start({again}).ok());
  ASSERT_TRUE(last.watermark(30).ok());
  order(last.results);
  const auto result = [&](int of, Timestamp end) {
    return Joined{name_of(shops[of]), end, {1}, {2}};
  };
  std::vector<Joined> expected{result(1, 10), result(0, 20), result(1, 20)};
  order(expected);
  EXPECT_EQ(last.results, expected);
}

TEST(WindowJoinState, ADeltaHasOnlyWhatHasComeSince) {
  const auto node = make_simulated_platform({.seed = 1});
  for (const std::size_t limit : {std::size_t{0}, std::size_t{1} << 18}) {
    Subtask subtask(TumblingWindows::of(1000), false,
                    {.platform = node.get(), .memory_limit_bytes = limit});
    ASSERT_TRUE(subtask.start({}).ok());
    std::vector<Drawn> records;
    for (int i = 0; i < 20'000; ++i) {
      records.push_back({i, i, i % 1000, static_cast<std::size_t>(i % 2)});
    }
    ASSERT_TRUE(subtask.process(records).ok());
    EXPECT_EQ(subtask.disk_bytes() > 0, limit > 0);
    const std::size_t whole = subtask.snapshot(true).back().size();
    records.resize(200);
    ASSERT_TRUE(subtask.process(records).ok());
    const std::size_t delta = subtask.snapshot(true).back().size();
    EXPECT_EQ(subtask.pieces.size(), 2u);
    EXPECT_GT(whole, 1'500'000u);
    EXPECT_LT(delta, whole / 50);
    EXPECT_GT(delta, whole / 200);
  }
}

}  // namespace
}  // namespace hummer::window_join_test
