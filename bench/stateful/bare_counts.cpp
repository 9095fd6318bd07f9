// Bare loops of the rows without event time: counts, functions that count, deduplicate, windows of
// records, asynchronous calls.
#include "bare_aggregate.hpp"

namespace stateful::bare {
namespace {

struct CountTraits {
  using Item = std::uint64_t;
  using Value = std::uint64_t;
  explicit CountTraits(const Run& run) : key_of(run.row.scale, run.row.distribution) {}
  bool make(std::uint64_t index, Item& key) const {
    key = key_of(index);
    return true;
  }
  std::uint64_t key(const Item& key) const { return key; }
  void fold(Value& count, bool, const Item&, Checksum&) const { ++count; }
  void merge(Value& count, const Value& other) const { count += other; }
  void result(std::uint64_t key, std::int64_t, const Value& count, Checksum& sum) const {
    sum.add(key, count);
  }
  KeyOfIndex key_of;
};

// The function may do anything with its state, so each record goes to its key's owner.
struct FunctionTraits : CountTraits {
  explicit FunctionTraits(const Run& run)
      : CountTraits(run), last(run.row.scale.records / run.row.scale.keys) {}
  void fold(Value& count, bool, const Item& key, Checksum& sum) const {
    if (++count == last) sum.add(key, count);
  }
  void result(std::uint64_t, std::int64_t, const Value&, Checksum&) const {}
  std::uint64_t last;
};

struct BroadcastTraits : FunctionTraits {
  using FunctionTraits::FunctionTraits;
  void fold(Value& count, bool, const Item& key, Checksum& sum) const {
    count += steps[key % 16];
    if (count == last) sum.add(key, count);
  }
  // Read anew for each record: nobody knows when another one comes.
  const volatile std::uint64_t steps[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
};

struct Seen {};
struct DeduplicateTraits : CountTraits {
  using Value = Seen;
  using CountTraits::CountTraits;
  void fold(Value&, bool is_new, const Item& key, Checksum& sum) const {
    if (is_new) sum.add(key);
  }
  void merge(Value&, const Value&) const {}
  void result(std::uint64_t, std::int64_t, const Value&, Checksum&) const {}
};

struct Hundred {
  std::uint64_t records;
  std::uint64_t sum;
};
struct CountWindowTraits : CountTraits {
  using Value = Hundred;
  using CountTraits::CountTraits;
  void fold(Value& window, bool, const Item& key, Checksum& sum) const {
    window.sum += key % 1'000;
    if (++window.records < 100) return;
    sum.add(key, window.sum);
    window = {};
  }
  void merge(Value&, const Value&) const {}
  void result(std::uint64_t, std::int64_t, const Value&, Checksum&) const {}
};

// A thousand calls under way at most, results in the order of the records.
class AsyncRow {
  static constexpr std::size_t capacity = 1'000;
  struct Call {
    std::uint64_t key;
    std::uint64_t result;
    bool done;
  };

 public:
  explicit AsyncRow(Worker<AsyncRow>& worker)
      : key_of_(worker.run().row.scale, Distribution::uniform) {}
  void produce(Worker<AsyncRow>& worker) {
    const std::uint64_t records = worker.run().row.scale.records;
    for (std::uint64_t index = worker.thread(); index < records; index += worker.threads()) {
      if (begun_ - taken_ == capacity) take_results();
      Call& call = calls_[begun_++ % capacity];
      call = {key_of_(index), 0, false};
      materialise(call);
      call.result = mixed(call.key);
      call.done = true;
    }
  }
  bool take(Batch&) { return false; }
  void close(std::uint64_t) { take_results(); }
  void finish() {}

  Checksum sum;

 private:
  void take_results() {
    for (; taken_ != begun_ && calls_[taken_ % capacity].done; ++taken_) {
      sum.add(calls_[taken_ % capacity].result);
    }
  }
  KeyOfIndex key_of_;
  std::uint64_t begun_ = 0;
  std::uint64_t taken_ = 0;
  std::array<Call, capacity> calls_;
};

}  // namespace

double count(Run& run) { return run_row<AggregateRow<CountTraits>>(run); }
double function(Run& run) { return run_row<AggregateRow<FunctionTraits>>(run); }
double broadcast(Run& run) { return run_row<AggregateRow<BroadcastTraits>>(run); }
double deduplicate(Run& run) { return run_row<AggregateRow<DeduplicateTraits>>(run); }
double count_window(Run& run) { return run_row<AggregateRow<CountWindowTraits>>(run); }
double async_map(Run& run) { return run_row<AsyncRow>(run); }

}  // namespace stateful::bare
