// CountWindowOperator: windows of the last `size` records of a key, every `slide` records.
//
// The records of a key are cut into parts of gcd(size, slide) of them; a window
// merges its parts. As long as a key has had fewer than `size` records, its windows
// hold fewer. What is incomplete at the end of the stream does not go out.
//
// A result has the time of the record that completed it. State: the parts by key, within the
// operator's share of memory (spilling_accumulators.hpp).
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include <hummer/detail/operators/batch_run.hpp>
#include <hummer/detail/operators/record_keys.hpp>
#include <hummer/detail/operators/record_text.hpp>
#include <hummer/detail/operators/spilling_accumulators.hpp>
#include <hummer/detail/operators/window_results.hpp>
#include <hummer/detail/state/table_state.hpp>

namespace hummer {

template <typename In, typename K, typename KeyOf, typename Aggregate, typename Finish>
class CountWindowOperator final : public Operator {
  using Accumulator = typename Aggregate::Accumulator;
  using Out = typename Finish::Output;

  struct State {
    std::uint64_t seen = 0;
    std::vector<Accumulator> parts;
  };
  // What is restored of a key is all of it.
  struct Whole {
    using Accumulator = State;
    void merge(State& to, bool, const State& from) const { to = from; }
  };

 public:
  CountWindowOperator(KeyOf key_of, CountWindows windows, Aggregate aggregate, Finish finish)
      : keys_(std::move(key_of)),
        windows_(windows),
        aggregate_(std::move(aggregate)),
        finish_(std::move(finish)) {}

  void declare(Output& out) const override { out.add_port(type_of<Out>()); }
  Status open() override {
    HUMMER_TRY(windows_.check());
    part_size_ = std::gcd(windows_.size, windows_.slide);
    state_.open(context(), false);
    return {};
  }

  OperatorResult process(Batch& in, Output& out) override {
    const auto records = in.values<In>();
    Batch& target = out.batch();
    const BatchRun run = next_run(in, target, out.soft_limit());
    const bool timed = in.has_timestamps();
    {
      RecordInHand in_hand(in);
      auto collector = out.collector<Out>();
      const auto key_at = [&](std::size_t i) -> K {
        in_hand.set(run.first + i);
        return keys_.take(i, records[run.first + i]);
      };
      if (state_.must_fetch()) {
        if (Status status = state_.fetch(run.count, key_at); !status.ok()) {
          return context().fail(std::move(status));
        }
      }
      state_.table().update(run.count, key_at, [&](State& state, bool, std::size_t i) {
        in_hand.set(run.first + i);
        if (!add(state, records[run.first + i])) return;
        const std::size_t before = collector.size();
        auto&& total = total_of(state);  // its text is there until that is copied
        finish_(keys_.taken(i, records[run.first + i]), all_time, total, collector);
        collector.commit();
        copy_record_text<Accumulator, Out>(in, target, before);
        stamp(target, before, collector.size(),
              timed ? in.timestamps()[run.first + i] : no_timestamp);
      });
      in_hand.set(run.first + run.count);
    }
    const Status views = check_new_views<Out>(context(), in, target, run.used);
    if (!views.ok()) return context().fail(views);
    if (state_.limited()) {
      if (Status status = state_.keep_within_share(0, parts_bytes()); !status.ok()) {
        return context().fail(std::move(status));
      }
    }
    return in.finished() ? OperatorResult::done : OperatorResult::more;
  }

  std::vector<StateDescription> states() override {
    return {table_state<K, Accumulator>("windows")};
  }
  Status snapshot(ByteWriter& out) override { return state_.snapshot(out); }
  OperatorResult snapshot_rest(ByteWriter& out) override { return state_.snapshot_rest(out); }
  Status restore(ByteReader& in) override {
    state_.open(context(), false);
    return state_.restore(in);
  }

 private:
  // What the parts hold beside the table, at most.
  std::size_t parts_bytes() {
    const std::size_t of_key = static_cast<std::size_t>(windows_.size / part_size_);
    return state_.table().size() * of_key * sizeof(Accumulator);
  }
  // Whether a window is complete.
  bool add(State& state, const In& record) {
    const bool is_new = state.seen % part_size_ == 0;
    if (is_new) {
      const std::size_t most = windows_.size / part_size_;
      if (state.parts.size() >= most) state.parts.erase(state.parts.begin());
      state.parts.emplace_back();
    }
    aggregate_.add(state.parts.back(), is_new, record);
    return ++state.seen % windows_.slide == 0;
  }
  Accumulator total_of(const State& state) const {
    Accumulator total{};
    bool is_new = true;
    for (const Accumulator& part : state.parts) {
      aggregate_.merge(total, is_new, part);
      is_new = false;
    }
    return total;
  }

  RecordKeys<In, K, KeyOf> keys_;
  const CountWindows windows_;
  const Aggregate aggregate_;
  Finish finish_;
  std::uint64_t part_size_ = 1;
  const Whole whole_{};
  SpillingAccumulators<K, Whole> state_{whole_};
};

}  // namespace hummer
