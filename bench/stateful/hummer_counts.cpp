// The rows of running counts: the built-in aggregate, and a keyed function that does the same, also
// with a rule from a broadcast side.
#include "stateful_hummer.hpp"

namespace stateful {
namespace {

using Count = hummer::KeyValue<std::uint64_t, std::uint64_t>;

void sum_up_counts(const Job& job, const hummer::DataStream<Count>& counts) {
  sum_up(job, counts, [](Checksum& sum, const Count& one) { sum.add(one.key, one.value); });
}

// Emits each key once, with its count, as the built-in does: with the key's last record.
struct CountUp {
  hummer::ValueState<std::uint64_t> count{"count"};
  std::uint64_t last;

  void process(const std::uint64_t& key, hummer::KeyedOutput<Count>& out) {
    const std::uint64_t now = count.update(0, [](std::uint64_t& value) { ++value; });
    if (now == last) out.emit({key, now});
  }
  auto states() { return hummer::states(count); }
};

struct Step {
  std::uint32_t kind;
  std::uint64_t by;
};
// All steps are 1, and so is what counts before one has come: the result does not depend on when
// that is.
struct CountBySteps {
  hummer::ValueState<std::uint64_t> count{"count"};
  hummer::BroadcastState<std::uint32_t, Step> steps{"steps"};
  std::uint64_t last;

  void process(const std::uint64_t& key, hummer::KeyedOutput<Count>& out) {
    const Step* const step = steps.find(static_cast<std::uint32_t>(key % 16));
    const std::uint64_t by = step != nullptr ? step->by : 1;
    const std::uint64_t now = count.update(0, [by](std::uint64_t& value) { value += by; });
    if (now == last) out.emit({key, now});
  }
  void process_broadcast(const Step& step, hummer::BroadcastOutput<Count>& out) {
    out.state(steps).put(step.kind, step);
  }
  auto states() { return hummer::states(count, steps); }
};

std::uint64_t rounds_of(const Job& job) {
  if (job.row.distribution != Distribution::rounds) {
    throw std::invalid_argument("a function that counts wants --distribution rounds");
  }
  return job.scale().records / job.scale().keys;
}

}  // namespace

// How often each key comes. Bounded input: each key is emitted once, at the end.
void build_count(Job& job) { sum_up_counts(job, keys_of(job).key_by(hummer::identity).count()); }

void build_function(Job& job) {
  sum_up_counts(job,
                keys_of(job).key_by(hummer::identity).process(CountUp{.last = rounds_of(job)}));
}

void build_broadcast(Job& job) {
  const auto steps = job.env.generate(
      [](std::uint64_t index) { return Step{static_cast<std::uint32_t>(index), 1}; },
      {.count = 16});
  sum_up_counts(job, keys_of(job)
                         .key_by(hummer::identity)
                         .connect(steps.broadcast())
                         .process(CountBySteps{.last = rounds_of(job)}));
}

}  // namespace stateful
