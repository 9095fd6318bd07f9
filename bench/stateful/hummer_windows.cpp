// The rows of aggregates per key and window, on a grid, by sessions, by count and with a trigger.
#include "functions.hpp"
#include "stateful_hummer.hpp"

namespace stateful {
namespace {

template <typename Value>
void sum_up_windows(const Job& job,
                    const hummer::DataStream<hummer::Windowed<std::uint64_t, Value>>& results) {
  sum_up(job, results, [](Checksum& sum, const hummer::Windowed<std::uint64_t, Value>& one) {
    sum.add(one.key, one.window.start_ms, one.value);
  });
}

template <typename Record>
auto in_time(const Job& job, Record make) {
  return job.env.generate(make, {.count = job.scale().records}, job.time_of());
}
auto bids(const Job& job) { return in_time(job, BidOfIndex{job.key_of(), job.time_of()}); }

// A trigger of the author's own: with each hundredth record, and at the window's end.
struct EveryHundredth {
  struct State {
    std::uint32_t records = 0;
  };
  hummer::TriggerResult record(hummer::TriggerContext& context, State& state) const {
    context.call_at_event_time(context.window.end_ms);
    if (++state.records < 100) return hummer::TriggerResult::go_on;
    state.records = 0;
    return hummer::TriggerResult::fire;
  }
  hummer::TriggerResult event_time(hummer::TriggerContext&, State&) const {
    return hummer::TriggerResult::fire;
  }
  hummer::TriggerResult processing_time(hummer::TriggerContext&, State&) const {
    return hummer::TriggerResult::go_on;
  }
  void merge(State& state, const State& other) const { state.records += other.records; }
};

}  // namespace

// The Yahoo streaming benchmark without its table of campaigns: views per advertisement and 10
// minutes; the events are cut down to what is counted, as there.
void build_ysb(Job& job) {
  sum_up_windows<std::uint64_t>(
      job, in_time(job, AdEventOfIndex{job.key_of(), job.time_of()})
               .filter([](const AdEvent& event) { return event.kind == AdEventKind::view; })
               .map([](const AdEvent& event) { return event.ad; })
               .key_by(hummer::identity)
               .window(hummer::TumblingWindows::of(job.scale().window_ms))
               .strategy(job.strategy)
               .count());
}

// NEXMark 7: the highest bid per minute, here per auction.
void build_nexmark7(Job& job) {
  sum_up_windows<std::int64_t>(job, bids(job)
                                        .key_by(&Bid::auction)
                                        .window(hummer::TumblingWindows::of(job.scale().window_ms))
                                        .strategy(job.strategy)
                                        .max(&Bid::price_cents));
}

// Cluster monitoring: the mean processor usage per job and 2 seconds.
void build_cm(Job& job) {
  sum_up_windows<std::uint64_t>(job, in_time(job, TaskEventOfIndex{job.key_of(), job.time_of()})
                                         .key_by(&TaskEvent::job)
                                         .window(hummer::TumblingWindows::of(job.scale().window_ms))
                                         .strategy(job.strategy)
                                         .aggregate(MeanUsage()));
}

// How many bids a person makes in each session.
void build_sessions(Job& job) {
  const House house(job.scale(), bids_per_person);
  const auto made = job.env.generate(
      [house](std::uint64_t index) {
        Bid bid;
        house.make(index, bid);
        return bid;
      },
      {.count = job.scale().records},
      [house](std::uint64_t index) { return house.time_of_other(index); });
  const auto counts = made.key_by(&Bid::bidder)
                          .window(hummer::SessionWindows::with_gap(job.scale().window_ms))
                          .count();
  sum_up(job, counts, [](Checksum& sum, const hummer::Windowed<std::uint64_t, std::uint64_t>& one) {
    sum.add(one.key, one.window.start_ms, one.window.end_ms, one.value);
  });
}

// The three highest prices per key and 10 seconds.
void build_top_n(Job& job) {
  const auto best =
      bids(job)
          .key_by(&Bid::auction)
          .top_n(3, [](const Bid& bid) { return bid.price_cents; }, job.scale().window_ms);
  sum_up(job, best, [](Checksum& sum, const hummer::Ranked<Bid>& one) {
    sum.add(one.record.auction, one.window_start, one.rank, one.record.price_cents);
  });
}

// Per hundred records of a key the sum of a value that depends on the key alone: the result does
// not depend on which hundred.
void build_count_window(Job& job) {
  const auto sums = job.env.generate(job.key_of(), {.count = job.scale().records})
                        .key_by(hummer::identity)
                        .window(hummer::CountWindows::of(100))
                        .sum([](std::uint64_t key) { return key % 1'000; });
  sum_up(job, sums, [](Checksum& sum, const hummer::Windowed<std::uint64_t, std::uint64_t>& one) {
    sum.add(one.key, one.value);
  });
}

// The count so far of each hundredth record per key and minute, and at its end.
void build_trigger(Job& job) {
  sum_up_windows<std::uint64_t>(job, in_time(job, job.key_of())
                                         .key_by(hummer::identity)
                                         .window(hummer::TumblingWindows::of(job.scale().window_ms))
                                         .trigger(EveryHundredth())
                                         .count());
}

}  // namespace stateful
