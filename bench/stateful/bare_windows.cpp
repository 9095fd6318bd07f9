// Bare loops of the rows with windows on a grid. Records are made whole, and what is used of them
// goes on.
#include "bare_aggregate.hpp"

namespace stateful::bare {
namespace {

struct YsbTraits {
  using Item = std::uint64_t;
  using Value = std::uint64_t;
  explicit YsbTraits(const Run& run)
      : make_event{{run.row.scale, run.row.distribution}, TimeOfIndex(run.row.scale)} {}
  bool make(std::uint64_t index, Item& ad) const {
    const AdEvent event = make_event(index);
    materialise(event);
    ad = event.ad;
    return event.kind == AdEventKind::view;
  }
  std::uint64_t key(const Item& ad) const { return ad; }
  void fold(Value& count, bool, const Item&, Checksum&) const { ++count; }
  void merge(Value& count, const Value& other) const { count += other; }
  void result(std::uint64_t ad, std::int64_t start, const Value& count, Checksum& sum) const {
    sum.add(ad, start, count);
  }
  AdEventOfIndex make_event;
};

struct Price {
  std::uint64_t auction;
  std::int64_t cents;
};
struct Nexmark7Traits {
  using Item = Price;
  using Value = std::int64_t;
  explicit Nexmark7Traits(const Run& run)
      : make_bid{{run.row.scale, run.row.distribution}, TimeOfIndex(run.row.scale)} {}
  bool make(std::uint64_t index, Item& price) const {
    const Bid bid = make_bid(index);
    materialise(bid);
    price = {bid.auction, bid.price_cents};
    return true;
  }
  std::uint64_t key(const Item& price) const { return price.auction; }
  void fold(Value& highest, bool is_new, const Item& price, Checksum&) const {
    if (is_new || price.cents > highest) highest = price.cents;
  }
  void merge(Value& highest, const Value& other) const { highest = std::max(highest, other); }
  void result(std::uint64_t auction, std::int64_t start, const Value& highest,
              Checksum& sum) const {
    sum.add(auction, start, highest);
  }
  BidOfIndex make_bid;
};

struct Cpu {
  std::uint64_t job;
  std::uint64_t cpu;
};
struct Usage {
  std::uint64_t sum;
  std::uint64_t count;
};
struct CmTraits {
  using Item = Cpu;
  using Value = Usage;
  explicit CmTraits(const Run& run)
      : make_event{{run.row.scale, run.row.distribution}, TimeOfIndex(run.row.scale)} {}
  bool make(std::uint64_t index, Item& cpu) const {
    const TaskEvent event = make_event(index);
    materialise(event);
    cpu = {event.job, event.cpu};
    return true;
  }
  std::uint64_t key(const Item& cpu) const { return cpu.job; }
  void fold(Value& usage, bool, const Item& cpu, Checksum&) const {
    usage.sum += cpu.cpu;
    ++usage.count;
  }
  void merge(Value& usage, const Value& other) const {
    usage.sum += other.sum;
    usage.count += other.count;
  }
  void result(std::uint64_t job, std::int64_t start, const Value& usage, Checksum& sum) const {
    sum.add(job, start, usage.sum / usage.count);
  }
  TaskEventOfIndex make_event;
};

// The three highest, best first; all are at least 0.
struct Best {
  std::int64_t cents[3];
  std::uint32_t count;
};
struct TopTraits : Nexmark7Traits {
  using Value = Best;
  using Nexmark7Traits::Nexmark7Traits;
  void fold(Value& best, bool, const Item& price, Checksum&) const {
    if (best.count == 3 && price.cents <= best.cents[2]) return;
    std::uint32_t at = best.count < 3 ? best.count++ : 2;
    for (; at > 0 && best.cents[at - 1] < price.cents; --at) best.cents[at] = best.cents[at - 1];
    best.cents[at] = price.cents;
  }
  void merge(Value& best, const Value& other) const {
    Checksum none;
    for (std::uint32_t i = 0; i < other.count; ++i) fold(best, false, {0, other.cents[i]}, none);
  }
  void result(std::uint64_t key, std::int64_t start, const Value& best, Checksum& sum) const {
    for (std::uint32_t i = 0; i < best.count; ++i) sum.add(key, start, i + 1, best.cents[i]);
  }
};

// A trigger sees each record of its window, so records go to their owner.
struct TriggerTraits {
  struct Item {
    std::uint64_t key;
    std::int64_t start_ms;
  };
  using Value = std::uint64_t;
  explicit TriggerTraits(const Run& run)
      : key_of(run.row.scale, run.row.distribution),
        time_of(run.row.scale),
        windows(static_cast<std::uint64_t>(run.row.scale.window_ms)) {}
  bool make(std::uint64_t index, Item& item) const {
    const auto time = static_cast<std::uint64_t>(time_of(index));
    item = {key_of(index), static_cast<std::int64_t>(time - windows.rest(time))};
    return true;
  }
  std::uint64_t key(const Item& item) const { return item.key; }
  void fold(Value& count, bool, const Item& item, Checksum& sum) const {
    if (++count % 100 == 0) sum.add(item.key, item.start_ms, count);
  }
  void merge(Value&, const Value&) const {}
  void result(std::uint64_t key, std::int64_t start, const Value& count, Checksum& sum) const {
    sum.add(key, start, count);
  }
  KeyOfIndex key_of;
  TimeOfIndex time_of;
  Divisor windows;
};

}  // namespace

double ysb(Run& run) { return run_row<AggregateRow<YsbTraits>>(run); }
double nexmark7(Run& run) { return run_row<AggregateRow<Nexmark7Traits>>(run); }
double cm(Run& run) { return run_row<AggregateRow<CmTraits>>(run); }
double top_n(Run& run) { return run_row<AggregateRow<TopTraits>>(run); }
double trigger(Run& run) { return run_row<AggregateRow<TriggerTraits>>(run); }

}  // namespace stateful::bare
