// memory_per_key --row count|value|join|timer [--keys N]
//
// State of one kind for each of so many keys: a running count (built in), a keyed function's
// ValueState of a number, a record of 100 bytes beside its key that a window join keeps of one
// side, an event timer. When all keys are there it prints {"filled": true} and stands still until
// it reads a line: so long its memory can be looked at from outside, once it has no more to do.
// Then all state is used, and a line of JSON says what came of it. Run by bench/footprint/run.
#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>

#include <hummer/hummer.hpp>

#include "rows.hpp"
#include "stateful/checksum_sink.hpp"

namespace memory_per_key {
namespace {

struct Phases {
  std::atomic<bool> filled{false};
  std::atomic<bool> may_go_on{false};
};

struct Result {
  std::uint64_t key;
  std::uint64_t value;
};

// `first` records, then a pause, then `second` more.
template <typename Record, typename Make>
class PausingSource final : public hummer::SourceFunction<Record> {
 public:
  PausingSource(std::uint64_t first, std::uint64_t second, Make make, Phases* phases)
      : first_(first), second_(second), make_(std::move(make)), phases_(phases) {}

  hummer::OperatorResult produce(hummer::SourceOutput<Record>& out) override {
    if (next_ >= first_ && !phases_->may_go_on) {
      if (first_ > 0 || second_ == 0) phases_->filled = true;
      return hummer::OperatorResult::blocked;
    }
    const std::uint64_t until = next_ < first_ ? first_ : first_ + second_;
    for (; next_ < until && !out.full(); ++next_) out.emit(make_(next_), 0);
    return next_ == first_ + second_ && phases_->may_go_on ? hummer::OperatorResult::done
                                                           : hummer::OperatorResult::more;
  }

 private:
  const std::uint64_t first_;
  const std::uint64_t second_;
  Make make_;
  Phases* const phases_;
  std::uint64_t next_ = 0;
};

// Says so when a key comes for the second time.
struct CountInState {
  hummer::ValueState<std::uint64_t> count{"count"};
  void process(const std::uint64_t& key, hummer::KeyedOutput<Result>& out) {
    const std::uint64_t now = count.update(0, [](std::uint64_t& value) { ++value; });
    if (now == 2) out.emit({key, now});
  }
  auto states() { return hummer::states(count); }
};

struct SetTimer {
  void process(const std::uint64_t& key, hummer::KeyedOutput<Result>& out) {
    out.set_event_timer(timer_of(key));
  }
  void on_timer(hummer::Timestamp time, hummer::KeyedOutput<Result>& out) {
    out.emit({out.key<std::uint64_t>(), static_cast<std::uint64_t>(time)});
  }
};

struct Job {
  hummer::StreamExecutionEnvironment& env;
  Phases& phases;
  std::uint64_t keys;

  template <typename Record, typename Make>
  auto source(const char* name, std::uint64_t first, std::uint64_t second, Make make) {
    return env
        .from_source<Record>(
            name,
            [=, phases = &phases] {
              return std::make_unique<PausingSource<Record, Make>>(first, second, make, phases);
            },
            true)
        .parallelism(1);
  }

  // Each key once, and `again` times behind the pause.
  auto keyed(std::uint64_t again) {
    return source<std::uint64_t>("keys", keys, again * keys, key_of_index(std::max(keys, one)))
        .key_by(hummer::identity);
  }

  auto joined() {
    const stateful::KeyOfIndex key_of = key_of_index(std::max(keys, one));
    const auto kept = source<Kept>(
        "kept", keys, 0, [key_of](std::uint64_t index) { return Kept::of(key_of(index)); });
    const auto others = source<std::uint64_t>("others", 0, keys, key_of);
    return kept.key_by(&Kept::key)
        .join(others.key_by(hummer::identity))
        .window(hummer::TumblingWindows::of(1000))
        .apply([](const Kept& record, const std::uint64_t& other) {
          return Result{other, stateful::first_letters(record.payload)};
        });
  }

  std::optional<hummer::DataStream<Result>> row(const std::string& name) {
    if (name == "count") {
      return keyed(1).count().map(
          [](const hummer::KeyValue<std::uint64_t, std::uint64_t>& one_key) {
            return Result{one_key.key, one_key.value};
          });
    }
    if (name == "value") return keyed(1).process(CountInState{});
    if (name == "timer") return keyed(0).process(SetTimer{});
    if (name == "join") return joined();
    return std::nullopt;
  }

  static constexpr std::uint64_t one = 1;
};

int run(int argc, char** argv) {
  hummer::StreamExecutionEnvironment env(argc, argv);
  const std::string name = env.argument("row", "count, value, join or timer");
  Phases phases;
  SharedChecksum total;
  Job job{env, phases, std::stoull(env.argument_or("keys", "1000000"))};
  const auto results = job.row(name);
  if (!results) {
    std::fprintf(stderr, "memory_per_key: --row takes count, value, join or timer\n");
    return 2;
  }
  stateful::add_checksum("sum", *results, &total, [](stateful::Checksum& sum, const Result& one) {
    sum.add(one.key, one.value);
  }).parallelism(1);
  hummer::JobHandle handle = env.execute_async("memory per key");
  std::thread pause([&] {
    while (!phases.filled && !handle.finished()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    if (!handle.finished()) wait_to_be_measured();
    phases.may_go_on = true;
  });
  const hummer::JobResult result = handle.wait();
  pause.join();
  if (!result.ok()) return result.exit_code();
  report("hummer", name, job.keys, 0, total);
  return 0;
}

}  // namespace
}  // namespace memory_per_key

int main(int argc, char** argv) { return memory_per_key::run(argc, argv); }
