// Windows by key and timers over long random runs against plain models: with all memory, with
// little and with hardly any; snapshots, whole and as deltas, that are written while records come;
// failures, and restores at another parallelism.
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <string>

#include <hummer/detail/operators/factory.hpp>
#include <hummer/detail/operators/keyed_process.hpp>
#include <hummer/detail/operators/keyed_window.hpp>
#include <hummer/detail/testing/fake_operator_context.hpp>

#include "platform/simulation.hpp"
#include "support/drawn_cases.hpp"

namespace hummer::timed_state_test {
namespace {

struct Item {
  std::uint32_t key;
  std::int64_t value;
};
using Row = std::vector<std::int64_t>;

// One subtask, and what its snapshots have come to.
struct Subtask {
  FakeOperatorContext context;
  std::unique_ptr<Operator> op;
  Output out;
  std::vector<std::string> pieces;  // of complete snapshots: whole, then deltas
  std::string piece;                // of the one under way

  Subtask(const OperatorFactory& factory, const FakeOperatorContext::Place& place)
      : context(place), op(factory.make()), out(3) {
    op->set_context(context);
    op->declare(out);
    context.set_snapshot_step_bytes(300);  // many steps
  }
  Status begin_snapshot(bool whole) {
    context.set_may_write_delta(!whole && !pieces.empty());
    piece.clear();
    ByteWriter bytes(piece);
    HUMMER_TRY(op->snapshot(bytes));
    piece.resize(bytes.size());
    return {};
  }
  Result<bool> step_snapshot() {
    std::string step;
    ByteWriter bytes(step);
    const OperatorResult answer = op->snapshot_rest(bytes);
    piece.append(bytes.view());
    if (answer == OperatorResult::failed) return context.failure();
    return answer == OperatorResult::done;
  }
  void keep_snapshot() {
    if (!context.has_written_delta()) pieces.clear();
    pieces.push_back(std::exchange(piece, {}));
  }
};

struct RunMetrics {
  int deltas = 0;
  int restores = 0;
};

// Test: factory(), rows_of(batch, rows), and a model: record(Item, time, rows), watermark(time,
// rows).
template <typename Test>
class RandomRun {
 public:
  explicit RandomRun(std::uint64_t seed)
      : random_(seed), node_(make_simulated_platform({.seed = seed})) {}

  Status run() {
    HUMMER_TRY(start(1 + random_.below(3)));
    HUMMER_TRY(advance(0));
    saved_model_ = model_;
    for (int round = 0; round < (under_sanitizers ? 60 : 150); ++round) {
      HUMMER_TRY(go_on());
      if (random_.chance(0.2)) HUMMER_TRY(snapshot());
      if (random_.chance(0.05)) HUMMER_TRY(fail_and_restore());
    }
    return advance(end_of_time);
  }
  const RunMetrics& metrics() const { return metrics_; }

 private:
  Status start(std::size_t parallelism) {
    std::vector<std::vector<std::string>> pieces;
    for (const auto& each : subtasks_) pieces.push_back(each->pieces);
    subtasks_.clear();
    for (std::size_t i = 0; i < parallelism; ++i) {
      FakeOperatorContext::Place place;
      place.name = "timed";
      place.subtask = static_cast<int>(i);
      place.parallelism = static_cast<int>(parallelism);
      place.platform = node_.get();
      if (random_.chance(0.8)) {
        place.memory_limit_bytes = std::size_t{1} << random_.between(0, 17);
      }
      Subtask& own = *subtasks_.emplace_back(std::make_unique<Subtask>(*Test::factory(), place));
      for (const auto& of_one : pieces) {
        for (const std::string& piece : of_one) {
          ByteReader in(piece);
          HUMMER_TRY(own.op->restore(in));
          if (in.left() != 0) return {ErrorCode::internal, "restore left bytes of a piece"};
        }
      }
      HUMMER_TRY(own.op->open());
    }
    return {};
  }

  Status go_on() {
    // None to all of the steps that merging has to do.
    const Nanoseconds until = node_->now() + random_.between(0, 3) * random_.between(0, 2'000'000);
    (void)node_->run_until([] { return false; }, until);
    if (random_.chance(0.4)) return advance(watermark_ + random_.between(0, 60));
    std::vector<std::pair<Item, Timestamp>> records;
    for (std::uint64_t i = 0, count = 1 + random_.below(80); i < count; ++i) {
      const Timestamp time = watermark_ + random_.between(-60, 150);
      const std::uint64_t among = random_.chance(0.3) ? 10 : 600;  // some keys come often
      records.push_back(
          {{static_cast<std::uint32_t>(random_.below(among)), random_.between(-300, 300)}, time});
    }
    return compare(
        [&](std::size_t at, Operator& op, Output& out, auto&& again) {
          Batch in(type_of<Item>(), static_cast<std::uint32_t>(records.size() + 1));
          std::size_t size = 0;
          for (const auto& [item, time] : records) {
            if (!subtasks_[at]->context.owns_key(Test::key_of(item))) continue;
            in.mutable_values<Item>()[size++] = item;
            in.timestamps().push_back(time);
          }
          in.set_size(size);
          for (;;) {
            const OperatorResult answer = op.process(in, out);
            if (answer != OperatorResult::more) return answer;
            again();
          }
        },
        [&](std::vector<Row>& rows) {
          for (const auto& [item, time] : records) model_.record(item, time, watermark_, rows);
        });
  }
  Status advance(Timestamp time) {
    return compare(
        [&](std::size_t, Operator& op, Output& out, auto&& again) {
          for (;;) {
            const OperatorResult answer =
                time == end_of_time ? op.end(out) : op.watermark(time, out);
            if (answer != OperatorResult::more) return answer;
            again();
          }
        },
        [&](std::vector<Row>& rows) {
          watermark_ = time;
          model_.watermark(time, rows);
        });
  }
  // Both do the same; the rows must be those of the model: in its order where there is one subtask.
  template <typename Call, typename OfModel>
  Status compare(Call&& call, OfModel&& of_model) {
    std::vector<Row> seen, expected;
    for (std::size_t i = 0; i < subtasks_.size(); ++i) {
      Subtask& own = *subtasks_[i];
      const auto take = [&] {
        Test::rows_of(own.out.batch(), seen);
        own.out.batch().clear();
      };
      const OperatorResult answer = call(i, *own.op, own.out, take);
      take();
      if (answer == OperatorResult::failed) return own.context.failure();
    }
    of_model(expected);
    if (subtasks_.size() > 1) {
      std::sort(seen.begin(), seen.end());
      std::sort(expected.begin(), expected.end());
    }
    if (seen == expected) return {};
    return {ErrorCode::internal, "rows differ from the model's: " + std::to_string(seen.size()) +
                                     " and " + std::to_string(expected.size())};
  }

  Status snapshot() {
    const Test model_then = model_;
    const Timestamp watermark_then = watermark_;
    const bool whole = random_.chance(0.2);
    for (auto& each : subtasks_) HUMMER_TRY(each->begin_snapshot(whole));
    for (auto& each : subtasks_) {
      for (;;) {
        const Result<bool> finished = each->step_snapshot();
        if (!finished.ok()) return finished.status();
        if (*finished) break;
        if (random_.chance(0.3)) HUMMER_TRY(go_on());
      }
    }
    for (auto& each : subtasks_) {
      metrics_.deltas += each->context.has_written_delta() ? 1 : 0;
      each->keep_snapshot();
    }
    saved_model_ = model_then;
    saved_watermark_ = watermark_then;
    return {};
  }
  Status fail_and_restore() {
    ++metrics_.restores;
    model_ = saved_model_;
    watermark_ = saved_watermark_;
    HUMMER_TRY(start(1 + random_.below(3)));
    HUMMER_TRY(advance(watermark_));
    return snapshot();  // the pieces of before are those of other subtasks
  }

  Random random_;
  const std::unique_ptr<SimulatedPlatform> node_;
  std::vector<std::unique_ptr<Subtask>> subtasks_;
  Test model_;
  Timestamp watermark_ = 0;
  Test saved_model_;
  Timestamp saved_watermark_ = 0;
  RunMetrics metrics_;
};

template <typename Test>
void expect_model(std::uint64_t seeds) {
  RunMetrics total;
  for (std::uint64_t seed = 1; seed <= drawn_cases(seeds); ++seed) {
    RandomRun<Test> run(seed);
    const Status status = run.run();
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.to_string();
    total.deltas += run.metrics().deltas;
    total.restores += run.metrics().restores;
  }
  if (under_sanitizers) return;  // so few runs need not have both
  EXPECT_GT(total.deltas, 0);
  EXPECT_GT(total.restores, 0);
}

constexpr auto value_of_item = [](const Item& item) { return item.value; };
using ItemSum = SumAggregate<std::int64_t, decltype(value_of_item)>;

// Sums by session, of keys that are text.
struct Sessions {
  static constexpr std::int64_t gap_ms = 40;
  struct Session {
    Timestamp start, end;
    std::int64_t sum;
  };
  std::map<std::string, std::vector<Session>> sessions;

  static std::string key_of(const Item& item) { return std::to_string(item.key); }
  struct KeyOf {
    std::string operator()(const Item& item) const { return key_of(item); }
  };
  using Result = Windowed<std::string_view, std::int64_t>;

  static std::shared_ptr<const OperatorFactory> factory() {
    using Finish = WindowValue<std::string_view, ItemSum>;
    return make_operator_factory([] {
      return std::make_unique<KeyedWindowOperator<Item, std::string_view, KeyOf, SessionWindows,
                                                  EventTimeTrigger, ItemSum, Finish>>(
          KeyOf(), SessionWindows::with_gap(gap_ms), EventTimeTrigger(), 0, ItemSum{value_of_item},
          Finish{{value_of_item}});
    });
  }
  static void rows_of(const Batch& batch, std::vector<Row>& rows) {
    for (const Result& one : batch.values<Result>()) {
      rows.push_back(
          {std::stoll(std::string(one.key)), one.window.start_ms, one.window.end_ms, one.value});
    }
  }
  void record(const Item& item, Timestamp time, Timestamp watermark, std::vector<Row>&) {
    Session all{time, time + gap_ms, item.value};
    std::vector<Session>& own = sessions[key_of(item)];
    const bool joins = std::any_of(own.begin(), own.end(), [&](const Session& one) {
      return one.end > time && one.start < time + gap_ms;
    });
    if (!joins && time + gap_ms <= watermark) return;
    std::erase_if(own, [&](const Session& one) {
      if (one.end <= time || one.start >= time + gap_ms) return false;
      all = {std::min(all.start, one.start), std::max(all.end, one.end), all.sum + one.sum};
      return true;
    });
    own.push_back(all);
  }
  void watermark(Timestamp time, std::vector<Row>& rows) {
    std::map<std::tuple<Timestamp, std::string, Timestamp>, std::int64_t> due;
    for (auto& [key, own] : sessions) {
      std::erase_if(own, [&, name = &key](const Session& one) {
        if (one.end > time) return false;
        due[{one.end, *name, one.start}] = one.sum;
        return true;
      });
    }
    for (const auto& [at, sum] : due) {
      rows.push_back({std::stoll(std::get<1>(at)), std::get<2>(at), std::get<0>(at), sum});
    }
  }
};

// Counts by sliding window, put out with every third record as well (and forgotten then).
struct CountedSlices {
  static constexpr std::int64_t size_ms = 60, slide_ms = 20;
  struct Open {
    std::int64_t sum = 0;
    int records = 0;
    bool filled = false;
  };
  std::map<std::pair<std::uint32_t, Timestamp>, Open> windows;

  struct Trigger {
    struct State {
      std::uint32_t records = 0;
    };
    TriggerResult record(TriggerContext& context, State& state) const {
      context.call_at_event_time(context.window.end_ms);
      return ++state.records % 3 == 0 ? TriggerResult::fire_and_purge : TriggerResult::go_on;
    }
    TriggerResult event_time(TriggerContext&, State&) const { return TriggerResult::fire; }
    TriggerResult processing_time(TriggerContext&, State&) const { return TriggerResult::go_on; }
    void merge(State&, const State&) const {}
  };
  static std::uint32_t key_of(const Item& item) { return item.key; }
  struct KeyOf {
    std::uint32_t operator()(const Item& item) const { return item.key; }
  };
  using Result = Windowed<std::uint32_t, std::int64_t>;

  static std::shared_ptr<const OperatorFactory> factory() {
    using Finish = WindowValue<std::uint32_t, ItemSum>;
    return make_operator_factory([] {
      return std::make_unique<KeyedWindowOperator<Item, std::uint32_t, KeyOf, SlidingWindows,
                                                  Trigger, ItemSum, Finish>>(
          KeyOf(), SlidingWindows::of(size_ms, slide_ms), Trigger(), 0, ItemSum{value_of_item},
          Finish{{value_of_item}});
    });
  }
  static void rows_of(const Batch& batch, std::vector<Row>& rows) {
    for (const Result& one : batch.values<Result>()) {
      rows.push_back({one.key, one.window.start_ms, one.window.end_ms, one.value});
    }
  }
  void record(const Item& item, Timestamp time, Timestamp watermark, std::vector<Row>& rows) {
    SlidingWindows::of(size_ms, slide_ms).each_window(time, [&](const TimeWindow& window) {
      if (window.end_ms <= watermark) return;
      Open& open = windows[{item.key, window.start_ms}];
      open.sum += item.value;
      open.filled = true;
      if (++open.records % 3 != 0) return;
      rows.push_back({item.key, window.start_ms, window.end_ms, open.sum});
      open.sum = 0;
      open.filled = false;
    });
  }
  void watermark(Timestamp time, std::vector<Row>& rows) {
    std::map<std::tuple<Timestamp, std::uint32_t>, Open> due;
    std::erase_if(windows, [&](const auto& each) {
      if (each.first.second + size_ms > time) return false;
      due[{each.first.second, each.first.first}] = each.second;
      return true;
    });
    for (const auto& [at, open] : due) {
      const auto [start, key] = at;
      if (open.filled) rows.push_back({key, start, start + size_ms, open.sum});
    }
  }
};

// Timers of all sorts: many of a key, some taken back, some that set others.
struct Alarms {
  std::set<std::pair<Timestamp, std::uint32_t>> timers;
  std::map<std::uint32_t, std::int64_t> fired;

  static std::uint32_t key_of(const Item& item) { return item.key; }
  struct KeyOf {
    std::uint32_t operator()(const Item& item) const { return item.key; }
  };
  struct Function {
    ValueState<std::int64_t> fired{"fired"};
    void process(const Item& item, KeyedOutput<Row>& out) {
      const Timestamp at = std::abs(item.value) / 4 * 10;
      item.value > -100 ? out.set_event_timer(at) : out.delete_event_timer(at);
    }
    OperatorResult on_timer(Timestamp time, KeyedOutput<Row>& out) {
      if (out.full()) return OperatorResult::more;
      const std::int64_t number = fired.update(0, [](std::int64_t& n) { ++n; });
      out.emit(Row{out.key<std::uint32_t>(), time, number});
      if (number % 4 == 0) fired.clear();
      if (number % 3 == 0) out.set_event_timer(time + 35);
      return OperatorResult::done;
    }
  };
  static std::shared_ptr<const OperatorFactory> factory() {
    using Input = KeyedInput<Item, KeyOf>;
    return make_operator_factory([] {
      return std::make_unique<KeyedProcessOperator<std::uint32_t, Row, Function, Input>>(
          Function(), Input{KeyOf()});
    });
  }
  static void rows_of(const Batch& batch, std::vector<Row>& rows) {
    const auto own = batch.values<Row>();
    rows.insert(rows.end(), own.begin(), own.end());
  }
  void record(const Item& item, Timestamp, Timestamp, std::vector<Row>&) {
    const Timestamp at = std::abs(item.value) / 4 * 10;
    if (item.value > -100) {
      timers.emplace(at, item.key);
    } else {
      timers.erase({at, item.key});
    }
  }
  void watermark(Timestamp time, std::vector<Row>& rows) {
    while (!timers.empty() && timers.begin()->first <= time) {
      const auto [at, key] = *timers.begin();
      timers.erase(timers.begin());
      const std::int64_t number = ++fired[key];
      rows.push_back({key, at, number});
      if (number % 4 == 0) fired.erase(key);
      if (number % 3 == 0 && time != end_of_time) timers.emplace(at + 35, key);
    }
  }
};

TEST(TimedState, SessionsAreThoseOfAModel) { expect_model<Sessions>(12); }
TEST(TimedState, WindowsWithATriggerAreThoseOfAModel) { expect_model<CountedSlices>(12); }
TEST(TimedState, TimersAreThoseOfAModel) { expect_model<Alarms>(12); }

}  // namespace
}  // namespace hummer::timed_state_test
