// Windows whose slices outgrow memory, in long random runs against an operator that has all it
// wants: tumbling and sliding, with late records, and with snapshots from which others go on.
#include <hummer/detail/operators/slice_window.hpp>

#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "operators/window_test_parts.hpp"
#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::spilling_windows_test {
namespace {

using Input = RecordInput<Sale, std::int64_t, ShopOf>;
using Window = SliceWindowOperator<Input, std::int64_t, SaleSum, SumValue>;

struct TimedSale {
  Sale sale;
  Timestamp time;
};
using Results = std::vector<std::tuple<std::int64_t, Timestamp, std::int64_t>>;

using Pieces = std::vector<std::string>;  // of a subtask: a whole one, and deltas

// A subtask in surroundings of its own. Its results are in `results` until somebody takes them.
class Subtask {
 public:
  Subtask(WindowGrid grid, std::int64_t lateness_ms, const FakeOperatorContext::Place& place)
      : context_(place),
        window_(Input{shop_of}, grid, lateness_ms, SaleSum{amount_of}, SumValue{{amount_of}}) {
    window_.set_context(context_);
    window_.declare(out_);
    context_.set_snapshot_step_bytes(1000);  // many steps
  }

  Status start(const std::vector<Pieces>& restored) {
    for (const Pieces& of_one : restored) {
      for (const std::string& piece : of_one) {
        ByteReader in(piece);
        context_.set_delta_follows(&piece != &of_one.back());
        HUMMER_TRY(window_.restore(in));
      }
    }
    return window_.open();
  }
  // Those of the records whose keys are its own.
  Status process(const std::vector<TimedSale>& sales) {
    Batch in(type_of<Sale>(), static_cast<std::uint32_t>(sales.size()));
    std::size_t count = 0;
    for (const TimedSale& one : sales) {
      if (!context_.owns_key(one.sale.shop)) continue;
      in.mutable_values<Sale>()[count++] = one.sale;
      in.timestamps().push_back(one.time);
      in.set_size(count);
    }
    return call([&] { return window_.process(in, out_); });
  }
  Status watermark(Timestamp time) {
    return call([&] { return window_.watermark(time, out_); });
  }
  Status end() {
    return call([&] { return window_.end(out_); });
  }

  Status begin_snapshot(bool may_be_delta) {
    bytes_.clear();
    ByteWriter out(bytes_);
    context_.set_may_write_delta(may_be_delta);
    HUMMER_TRY(window_.snapshot(out));
    bytes_.resize(out.size());
    return {};
  }
  // True: it is complete.
  Result<bool> step_snapshot() {
    std::string step;
    ByteWriter out(step);
    const OperatorResult answer = window_.snapshot_rest(out);
    bytes_.append(out.view());
    if (answer == OperatorResult::failed) return context_.failure();
    if (answer != OperatorResult::done) return false;
    if (!context_.has_written_delta()) pieces.clear();
    pieces.push_back(bytes_);
    return true;
  }
  std::size_t disk_bytes() { return context_.memory()->disk_bytes(); }

  Results results;
  Pieces pieces;  // of its snapshot

 private:
  template <typename Call>
  Status call(Call&& function) {
    for (;;) {
      const OperatorResult answer = function();
      for (const SumWindow& one : out_.batch().values<SumWindow>()) {
        results.emplace_back(one.key, one.window.start_ms, one.value);
      }
      out_.batch().clear();
      if (answer == OperatorResult::failed) return context_.failure();
      if (answer == OperatorResult::done) return {};
    }
  }

  FakeOperatorContext context_;
  Window window_;
  Output out_;
  std::string bytes_;
};

struct Faults {
  double read = 0;
  double write = 0;
};

class RandomRun {
 public:
  RandomRun(std::uint64_t seed, WindowGrid grid, std::int64_t lateness_ms, Faults faults)
      : random_(seed),
        seed_(seed),
        grid_(grid),
        lateness_ms_(lateness_ms),
        node_(make_simulated_platform({.seed = seed})),
        free_(grid, lateness_ms, {}) {
    node_->simulation().options().read_fault_rate = faults.read;
    node_->simulation().options().write_fault_rate = faults.write;
  }

  // Ok, or how it failed or what was wrong.
  Status run() {
    HUMMER_TRY(free_.start({}));
    HUMMER_TRY(start({}));
    for (int round = 0; round < (under_sanitizers ? 25 : 60); ++round) {
      HUMMER_TRY(go_on());
      if (random_.chance(0.2)) HUMMER_TRY(snapshot());
    }
    HUMMER_TRY(free_.end());
    for (auto& subtask : subtasks_) HUMMER_TRY(subtask->end());
    return compare();
  }
  bool has_spilled() const { return has_spilled_; }

 private:
  // New subtasks, as many as it happens, with whatever memory.
  Status start(const std::vector<Pieces>& pieces) {
    const int count = static_cast<int>(random_.between(1, 3));
    subtasks_.clear();
    for (int i = 0; i < count; ++i) {
      const std::size_t limit = random_.chance(0.2) ? 0 : std::size_t{1} << random_.between(0, 21);
      subtasks_.push_back(
          std::make_unique<Subtask>(grid_, lateness_ms_,
                                    FakeOperatorContext::Place{.name = "windows",
                                                               .subtask = i,
                                                               .parallelism = count,
                                                               .platform = node_.get(),
                                                               .memory_limit_bytes = limit}));
      HUMMER_TRY(subtasks_.back()->start(pieces));
    }
    return {};
  }
  std::vector<TimedSale> draw() {
    std::vector<TimedSale> sales;
    const std::int64_t shops = random_.chance(0.3) ? 20 : 4000;
    // Few are late at times: their keys are looked up.
    const std::uint64_t count = 1 + random_.below(random_.chance(0.3) ? 10 : 1500);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Timestamp time = now_ + random_.between(random_.chance(0.1) ? -60 : -10, 30);
      sales.push_back({{random_.between(0, shops), random_.between(1, 9)}, time});
    }
    return sales;
  }
  // The same for all.
  Status go_on() {
    // The background has none to all of its turns.
    const Nanoseconds time = random_.between(0, 3) * random_.between(0, 400'000);
    (void)node_->run_until([] { return false; }, node_->now() + time);
    const std::vector<TimedSale> sales = draw();
    HUMMER_TRY(free_.process(sales));
    for (auto& subtask : subtasks_) HUMMER_TRY(subtask->process(sales));
    HUMMER_TRY(compare());
    if (random_.chance(0.5)) {
      now_ += random_.between(0, 25);
      HUMMER_TRY(free_.watermark(now_ - 10));
      for (auto& subtask : subtasks_) HUMMER_TRY(subtask->watermark(now_ - 10));
    }
    return compare();
  }
  Status compare() {
    Results seen;
    for (auto& subtask : subtasks_) {
      seen.insert(seen.end(), subtask->results.begin(), subtask->results.end());
      subtask->results.clear();
      has_spilled_ |= subtask->disk_bytes() > 0;
    }
    std::sort(seen.begin(), seen.end());
    std::sort(free_.results.begin(), free_.results.end());
    const bool same = seen == free_.results;
    free_.results.clear();
    if (same) return {};
    return {ErrorCode::internal,
            "results differ from those with memory, seed " + std::to_string(seed_)};
  }
  // Records go on while it is written. Where it is restored, what came meanwhile has never been.
  Status snapshot() {
    const bool is_restored = random_.chance(0.6);
    const bool may_be_delta = random_.chance(0.7);
    for (auto& subtask : subtasks_) HUMMER_TRY(subtask->begin_snapshot(may_be_delta));
    const Timestamp then = now_;
    for (auto& subtask : subtasks_) {
      for (;;) {
        const Result<bool> complete = subtask->step_snapshot();
        if (!complete.ok()) return complete.status();
        if (*complete) break;
        if (!random_.chance(0.1)) continue;
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
    for (const auto& subtask : subtasks_) pieces.push_back(subtask->pieces);
    return start(pieces);
  }

  Random random_;
  const std::uint64_t seed_;
  const WindowGrid grid_;
  const std::int64_t lateness_ms_;
  std::unique_ptr<SimulatedPlatform> node_;
  Subtask free_;
  std::vector<std::unique_ptr<Subtask>> subtasks_;
  Timestamp now_ = 0;
  bool has_spilled_ = false;
};

struct Case {
  WindowGrid grid;
  std::int64_t lateness_ms;
};

const Case cases[] = {{TumblingWindows::of(40), 0},     {TumblingWindows::of(40), 50},
                      {SlidingWindows::of(40, 10), 0},  {SlidingWindows::of(40, 10), 30},
                      {SlidingWindows::of(10, 25), 20},  // with gaps
                      {SlidingWindows::of(50, 20), 0}};

constexpr std::uint64_t seeds = drawn_cases(6);

TEST(SpillingWindows, LongRunsAreThoseWithMemory) {
  for (const Case& one : cases) {
    std::uint64_t spilled = 0;
    for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
      RandomRun run(seed, one.grid, one.lateness_ms, {});
      const Status status = run.run();
      EXPECT_TRUE(status.ok()) << status.to_string() << " windows of " << one.grid.size_ms << " by "
                               << one.grid.slide_ms << ", lateness " << one.lateness_ms;
      spilled += run.has_spilled() ? 1 : 0;
    }
    if (!under_sanitizers) EXPECT_GT(2 * spilled, seeds);  // some of the short ones do not
  }
}

TEST(SpillingWindows, ADiskThatFailsFailsTheOperatorAndNothingElse) {
  int failures = 0;
  for (std::uint64_t seed = 1; seed <= drawn_cases(12); ++seed) {
    const bool reads = seed % 2 == 0;
    RandomRun run(seed, SlidingWindows::of(40, 10), 30,
                  {.read = reads ? 0.002 : 0, .write = reads ? 0 : 0.02});
    const Status status = run.run();
    if (status.ok()) continue;
    ++failures;
    EXPECT_EQ(status.code(), ErrorCode::io_error) << status.to_string();
    EXPECT_NE(status.message().find("the state of operator 'windows' on disk"), std::string::npos)
        << status.message();
  }
  if (!under_sanitizers) EXPECT_GT(failures, 3);
}

}  // namespace
}  // namespace hummer::spilling_windows_test
