// The workloads that aggregate: their records may be folded ahead of the exchange.
#include "late_merge_job.hpp"
#include "stateful/functions.hpp"

namespace late_merge {
namespace {

using stateful::AdEvent;
using stateful::Bid;
using stateful::Checksum;
using stateful::TaskEvent;
using stateful::Usage;

template <typename Value>
void sum_up_windows(const Job& job,
                    const hummer::DataStream<hummer::Windowed<std::uint64_t, Value>>& results) {
  if (!job.output.empty()) results.write_file(job.output);
  sum_up(results, job.begun_us,
         [](Checksum& sum, const hummer::Windowed<std::uint64_t, Value>& one) {
           sum.add(one.key, one.window.start_ms, one.value);
         });
}

// `Exchanged` is what goes over the exchange where nothing is folded, `Part` what does else. Ahead
// of both, rows are cut down to the key and what is used of them, as in the bare loops.
template <typename Record, typename Exchanged, typename Part>
void note_sizes(Job& job) {
  job.row_bytes = row_bytes<Record>;
  job.exchanged_bytes = sizeof(Exchanged);
  job.part_bytes = sizeof(Part);
}
template <typename Value>
using WindowPart = hummer::SlicePartial<std::uint64_t, Value>;

template <template <typename> typename Maker>
auto timed_rows(const Job& job) {
  return make_rows(job, job.scale().records, Maker<DrawnKey>{job.key, job.time_of(), job.salt},
                   job.time_of());
}

// What is used of a bid and of a task event, in 16 bytes each.
struct Price {
  std::uint64_t auction;
  std::int64_t cents;
};
struct Cpu {
  std::uint64_t job;
  std::uint64_t millionths;
};
static_assert(sizeof(Price) == 16 && sizeof(Cpu) == 16);
struct MeanOfCpu : stateful::MeanUsage {
  void add(Usage& usage, bool, const Cpu& cpu) const {
    usage.sum += cpu.millionths;
    ++usage.count;
  }
};

}  // namespace

// The Yahoo streaming benchmark without its table of campaigns, whose part the advertisements take:
// views per campaign and 10 minutes; events are cut down to what is counted, as there.
void build_ysb(Job& job) {
  note_sizes<AdEvent, std::uint64_t, WindowPart<std::uint64_t>>(job);
  sum_up_windows<std::uint64_t>(job, timed_rows<stateful::AdEventOfKey>(job)
                                         .filter([](const AdEvent& event) {
                                           return event.kind == stateful::AdEventKind::view;
                                         })
                                         .map([](const AdEvent& event) { return event.ad; })
                                         .network(job.network)
                                         .key_by(hummer::identity)
                                         .window(job.tumbling())
                                         .count());
}

// NEXMark 7: the highest bid per auction and minute.
void build_nexmark7(Job& job) {
  note_sizes<Bid, Price, WindowPart<std::int64_t>>(job);
  sum_up_windows<std::int64_t>(
      job, timed_rows<stateful::BidOfKey>(job)
               .map([](const Bid& bid) { return Price{bid.auction, bid.price_cents}; })
               .network(job.network)
               .key_by(&Price::auction)
               .window(job.tumbling())
               .max(&Price::cents));
}

// Cluster monitoring: the mean processor usage per job and 2 seconds.
void build_cm(Job& job) {
  note_sizes<TaskEvent, Cpu, WindowPart<Usage>>(job);
  sum_up_windows<std::uint64_t>(
      job, timed_rows<stateful::TaskEventOfKey>(job)
               .map([](const TaskEvent& event) { return Cpu{event.job, event.cpu}; })
               .network(job.network)
               .key_by(&Cpu::job)
               .window(job.tumbling())
               .aggregate(MeanOfCpu()));
}

// How often each key comes, without windows: each key is emitted once, when the input has ended.
// Records that are not folded go out as parts of their own.
void build_ro(Job& job) {
  using Count = hummer::KeyValue<std::uint64_t, std::uint64_t>;
  note_sizes<KeyedRow, Count, Count>(job);
  const auto counts = make_rows(job, job.scale().records, KeyedRowOfIndex{job.key, job.salt})
                          .network(job.network)
                          .key_by(&KeyedRow::key)
                          .count();
  sum_up(counts, job.begun_us,
         [](Checksum& sum, const Count& one) { sum.add(one.key, one.value); });
}

}  // namespace late_merge
